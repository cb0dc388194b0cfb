// Progress on stderr: a bar with rate and time left on a terminal, a plain line every few seconds otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace passnet::cli {

class Progress {
 public:
  Progress(std::string what, std::size_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::size_t failed);

 private:
  void draw();

  std::string what_;
  std::size_t total_, done_ = 0, failed_ = 0;
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point begin_, last_;
};

}  // namespace passnet::cli
