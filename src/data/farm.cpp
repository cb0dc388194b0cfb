#include "data/farm.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "base/process.h"
#include "guard/worker.h"

namespace passnet::data {

namespace {

constexpr char kOk = '+', kError = '-';  // the first byte of an answer

void load() { (*engine_load().take()).set_threads(1); }

void serve(const FarmWork& work, guard::Channel& channel) {
  const auto request = channel.receive(60);
  if (!request) return;
  std::string answer;
  try {
    answer = kOk + work(*request, *engine_load().take());
  } catch (const Failure& failure) {
    answer = kError + error_line(failure.error);
  } catch (const std::bad_alloc&) {
    answer = std::string(1, kError) + "out of memory";
  }
  channel.send(answer);
}

FarmAnswer ask(guard::Template& workers, const std::string& request, double timeout_s) {
  const auto worker = workers.fork({}).take();
  worker->channel().send(request);
  auto answer = worker->channel().receive(timeout_s);
  if (answer && !answer->empty()) return {answer->front() == kOk, answer->substr(1)};
  if (!answer && answer.error().code == Code::limit) return {false, fmt::format("takes longer than {} s", timeout_s)};
  if (!answer && answer.error().code == Code::internal) return {false, answer.error().message};
  const guard::Death death = worker->kill();
  if (death.environment) fail({Code::environment, {}, death.text, {}});
  return {false, death.text};
}

}  // namespace

void farm_run(const FarmOptions& options, const FarmWork& work, std::size_t count,
              const std::function<std::string(std::size_t)>& request,
              const std::function<void(std::size_t, FarmAnswer)>& done) {
  const auto workers = guard::template_start(load, [&work](guard::Channel& channel) { serve(work, channel); }).take();
  std::mutex mutex;
  parallel_run(options.jobs, count, [&](std::size_t i) {
    FarmAnswer answer = ask(*workers, request(i), options.timeout_s);
    const std::lock_guard hold(mutex);
    done(i, std::move(answer));
  });
}

}  // namespace passnet::data
