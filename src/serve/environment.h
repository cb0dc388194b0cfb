// The environment of reinforcement learning: reset, step, state over HTTP and over a WebSocket that holds its session,
// as OpenEnv's clients speak. The reward is the score of the bench.
#pragma once

#include "serve/http_server.h"
#include "serve/pool.h"

namespace passnet::serve {

class Environment {
 public:
  Environment(Pool& pool, std::string version) : pool_(pool), version_(std::move(version)) {}

  Reply handle(const Request& request);
  std::unique_ptr<Socket> accept(const Request& request);  // at /ws

  // What HTTP and WebSockets share. An error's code says whose fault it is.
  struct Answer {
    Json data;
    std::string_view error;  // INVALID_JSON, VALIDATION_ERROR, ...; empty: none
    static Answer failed(std::string_view code, std::string message) {
      return {{{"message", std::move(message)}, {"code", code}}, code};
    }
  };
  Answer reset(const Json& data, std::shared_ptr<Work>& work);
  Answer step(const Json& action, const Json& options, Work& work, const Gone& gone);
  Json state(Work& work) const;
  Json schema() const;
  Json metadata() const;
  Pool& pool() { return pool_; }

 private:
  Answer stepped(const Json& action, const Json& options, Work& work, const Gone& gone);
  Json observation(Work& work, std::string text, bool error) const;

  Pool& pool_;
  const std::string version_;
};

}  // namespace passnet::serve
