#include "author/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "bench/contents.h"
#include "bench/device.h"
#include "pass/load.h"

namespace passnet::author {

namespace {

std::string made_of(const std::vector<std::string>& graphs, bool measure, int threads, DeviceType device) {
  std::string all = fmt::format("{} {} {}\n", measure ? "measured" : "estimated", threads, device_text(device));
  Contents contents;
  for (const std::string& graph : graphs) all += contents.of(graph, "", "") + "\n";
  return sha256_hex(all) + "\n";
}

std::string reason_of(const ProcessResult& ended, const ProcessLimits& limits) {
  if (ended.timed_out) return fmt::format("it took more than {:.0f} s", limits.seconds);
  if (const std::string_view said = text_trim(ended.output); !said.empty()) return std::string(said);
  constexpr int kSignals = 128;
  return ended.status > kSignals ? "killed by " + signal_text(ended.status - kSignals)
                                 : fmt::format("it ended with status {} and said nothing", ended.status);
}

}  // namespace

Result<bool> author_in_process(const std::vector<std::string>& graphs, const std::string& folder, bool measure,
                               int threads, DeviceType device) {
  const std::string order = folder + "/" + kOutputOrder;
  const std::string note = folder + ".made_of", all = made_of(graphs, measure, threads, device);
  const auto before = file_read(note);
  if (!file_exists(order) || !before || *before != all) {
    std::error_code ignored;  // what stays is written over
    std::filesystem::remove(note, ignored);
    std::filesystem::remove_all(folder, ignored);
    std::vector<std::string> command = {"/proc/self/exe", "author",    "--single-wrapper",     "-o",
                                        folder,           "--threads", std::to_string(threads)};
    command.insert(command.end(), {"--device", std::string(device_text(device))});
    if (!measure) command.emplace_back("--no-measure");
    command.emplace_back("--");
    command.insert(command.end(), graphs.begin(), graphs.end());
    std::vector<std::string> environment;
    for (char** item = environ; *item != nullptr; ++item) environment.emplace_back(*item);
    ProcessLimits limits;
    limits.seconds = 600;
    // of addresses, which CUDA and sanitizers reserve by the terabyte
    limits.memory_bytes = std::int64_t{64} << (device == DeviceType::cuda || kAddressSanitizer ? 50 : 30);
    auto result = process_run(command, environment, limits);
    if (!result) return std::move(result.error());
    if (result->status != 0 || !file_exists(order))
      return Error{Code::run, {}, "the author failed: " + reason_of(*result, limits), {}};
    if (auto written = file_write(note, all); !written) return std::move(written.error());
  }
  auto text = file_read(order);
  if (!text) return std::move(text.error());
  return text->find('"') != std::string::npos;
}

}  // namespace passnet::author
