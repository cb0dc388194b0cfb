#include "bench/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/embedded.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "bench/device.h"
#include "fx/printer.h"

extern char** environ;

namespace passnet {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr Embedded kScripts[] = {
#include "peer_script.inc"
};

constexpr double kPatience = 600;  // seconds for one answer: torch.compile may take minutes

Error peer_error(std::string message) { return {Code::run, {}, "Python: " + std::move(message), {}}; }

// The process and its pipes.
class Python {
 public:
  static Result<std::unique_ptr<Python>> start() {
    auto out = std::unique_ptr<Python>(new Python);
    const std::string python = peer_python();
    int to[2], from[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)  // which can be written without a signal
      return Error{Code::environment, {}, "cannot make a socket", {}};
    out->to_ = to[1];
    if (::pipe2(from, O_CLOEXEC) != 0) {
      ::close(to[0]);
      return Error{Code::environment, {}, "cannot make a pipe", {}};
    }
    out->from_ = from[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const std::string script(kScripts[0].text);
    std::vector<const char*> arguments = {python.c_str(), "-u", "-c", script.c_str(), nullptr};
    const int error = ::posix_spawn(&out->pid_, python.c_str(), &actions, &attributes,
                                    const_cast<char* const*>(arguments.data()), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(to[0]);
    ::close(from[1]);
    if (error != 0) {
      out->pid_ = 0;
      return Error{Code::environment,
                   {},
                   fmt::format("cannot start {}: {}", python, std::strerror(error)),
                   {"set PASSNET_PYTHON to a Python that has torch"}};
    }
    return out;
  }
  ~Python() {
    if (to_ >= 0) ::close(to_);
    if (from_ >= 0) ::close(from_);
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Python(const Python&) = delete;
  Python& operator=(const Python&) = delete;

  Result<json> ask(const json& request) {
    const std::string line = request.dump() + "\n";
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t n = ::send(to_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return gone();
      done += static_cast<std::size_t>(n);
    }
    auto answer = read_line();
    if (!answer) return std::move(answer.error());
    const json parsed = json_read<json>(*answer);
    if (!parsed.is_object()) return peer_error("an answer that is no JSON");
    if (parsed.contains("error")) return peer_error(parsed["error"].get<std::string>());
    return parsed;
  }

 private:
  Python() = default;
  static Error gone() {
    return {Code::environment,
            {},
            "the Python process ended before it answered",
            {fmt::format("does '{} -c \"import torch\"' work?", peer_python())}};
  }
  Result<std::string> read_line() {
    const auto deadline = Clock::now() + std::chrono::duration<double>(kPatience);
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd p{from_, POLLIN, 0};
      if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) == 0) return peer_error("no answer in time");
      char chunk[65536];
      const ssize_t n = ::read(from_, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return gone();
      buffer_.append(chunk, static_cast<std::size_t>(n));
    }
  }

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
  std::string buffer_;
};

// A folder in memory where there is one, gone with its owner. One who was killed leaves it; the next removes it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::string base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    remove_left_ones(base);
    path_ = fmt::format("{}/{}XXXXXX", base, kName);
    if (::mkdtemp(path_.data()) == nullptr) fail(Code::environment, fmt::format("cannot make a folder in {}", base));
    lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::flock(lock_, LOCK_SH);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::close(lock_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  static constexpr std::string_view kName = "passnet-peer-";
  static void remove_left_ones(const std::string& base) {
    constexpr std::chrono::minutes kSurelyLocked{1};
    std::error_code ignored;
    for (std::filesystem::directory_iterator at(base, ignored), end; !ignored && at != end; at.increment(ignored)) {
      std::error_code unknown;
      const auto changed = at->last_write_time(unknown);
      if (!at->path().filename().string().starts_with(kName) || unknown ||
          std::filesystem::file_time_type::clock::now() - changed < kSurelyLocked)
        continue;
      const int fd = ::open(at->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) continue;
      if (::flock(fd, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(at->path(), unknown);
      ::close(fd);
    }
  }

  std::string path_;
  int lock_ = -1;
};

class PeerSide final : public Side {
 public:
  PeerSide(Python& python, DeviceType device) : python_(python), device_(device) {}
  int block() const override { return 20; }
  void begin_block(int count) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until the other side's idle threads sleep
    const json answer =
        python_.ask({{"op", "trials"}, {"count", count}, {"cold", !series_.warm}, {"events", series_.events}}).take();
    ms_ = answer.at("ms").get<std::vector<double>>();
    gpu_ms_ = answer.at("gpu_ms").get<std::vector<double>>();
    next_ = 0;
  }
  double call_ms() override { return ms_.at(next_++); }
  std::optional<double> gpu_ms() const override {
    return next_ > 0 && next_ <= gpu_ms_.size() ? std::optional(gpu_ms_[next_ - 1]) : std::nullopt;
  }
  bool set_series(Series series) override {
    series_ = series;
    return device_ == DeviceType::cuda;
  }

 private:
  Python& python_;
  DeviceType device_;
  std::vector<double> ms_, gpu_ms_;
  std::size_t next_ = 0;
  Series series_;
};

class PeerSubject final : public Subject {
 public:
  PeerSubject(Engine& engine, DeviceType device, std::unique_ptr<Python> python)
      : engine_(engine), device_(device), python_(std::move(python)) {}

  Result<std::monostate> load(const Candidate& candidate, const GraphFolder& graph) {
    auto answer = python_->ask({{"op", "load"},
                                {"model", print_model(graph.graph, PrintStyle::plain)},
                                {"kind", candidate.kind == Candidate::Kind::inductor ? "inductor" : "eager"},
                                {"mode", candidate.mode},
                                {"device", device_text(device_)}});
    if (!answer) return std::move(answer.error());
    return std::monostate{};
  }

  Result<RunValue> run(std::vector<TensorRef>& inputs) override {
    return guarded([&] {
      const json answer = python_->ask({{"op", "run"}, {"inputs", write(inputs)}, {"folder", folder_.path()}}).take();
      const json& changed = answer.at("inputs");
      for (std::size_t i = 0; i < inputs.size(); ++i) engine_.copy(inputs[i], read(changed.at(i))).take();
      return value(answer.at("value"));
    });
  }
  void set_threads(int count) override { python_->ask({{"op", "threads"}, {"count", count}}).take(); }

  std::unique_ptr<Side> side(Timed timed) override {
    python_->ask({{"op", "hold"}, {"inputs", write(timed.inputs)}, {"changing", timed.changing}}).take();
    return std::make_unique<PeerSide>(*python_, device_);
  }

 private:
  json write(const std::vector<TensorRef>& tensors) {
    json out = json::array();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorRef flat = engine_.contiguous_on_cpu(tensors[i]).take();
      const std::size_t bytes = static_cast<std::size_t>(describe(flat).element_count()) * dtype_row(flat.dtype).size;
      const std::string path = fmt::format("{}/input_{}", folder_.path(), i);
      file_write(path, {static_cast<const char*>(flat.data), bytes}).take();
      out.push_back({{"file", path}, {"shape", flat.sizes.vec()}, {"dtype", dtype_row(flat.dtype).name}});
    }
    return out;
  }
  TensorRef read(const json& tensor) {
    TensorDesc desc;
    desc.sizes = tensor.at("shape").get<std::vector<std::int64_t>>();
    desc.strides = contiguous_strides(desc.sizes);
    const auto dtype = dtype_from_name(tensor.at("dtype").get<std::string>());
    if (!dtype) fail(peer_error("an output of unknown dtype"));
    desc.dtype = *dtype;
    TensorRef out = engine_.allocate(desc).take();
    const std::string bytes = file_read(tensor.at("file").get<std::string>(), std::size_t{64} << 30).take();
    const std::size_t want = static_cast<std::size_t>(desc.element_count()) * dtype_row(desc.dtype).size;
    if (bytes.size() != want) fail(peer_error("an output of the wrong size"));
    if (want > 0) std::memcpy(out.data, bytes.data(), want);
    return out;
  }
  RunValue value(const json& v) {
    RunValue out;
    if (v.contains("tensor")) {
      out.kind = RunValue::Kind::tensor;
      out.tensor = read(v.at("tensor"));
    } else if (v.contains("list")) {
      out.kind = RunValue::Kind::list;
      for (const json& item : v.at("list")) out.items.push_back(value(item));
    } else if (v.contains("text")) {
      out.kind = RunValue::Kind::text;
      out.text = v.at("text").get<std::string>();
    } else if (const json& plain = v.at("plain"); plain.is_boolean()) {
      out.kind = RunValue::Kind::boolean;
      out.integer = plain.get<bool>() ? 1 : 0;
    } else if (plain.is_number_integer()) {
      out.kind = RunValue::Kind::integer;
      out.integer = plain.get<std::int64_t>();
    } else if (plain.is_number()) {
      out.kind = RunValue::Kind::real;
      out.real = plain.get<double>();
    } else if (plain.is_string()) {
      out.kind = RunValue::Kind::text;
      out.text = plain.get<std::string>();
    }
    return out;
  }

  Engine& engine_;
  DeviceType device_;
  TemporaryFolder folder_;
  std::unique_ptr<Python> python_;
};

}  // namespace

std::string peer_python() {
  if (const char* given = std::getenv("PASSNET_PYTHON"); given != nullptr && *given != 0)
    return program_find(given).value_or(given);
  std::error_code ignored;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto own = binary.parent_path().parent_path() / ".venv/bin/python";
  if (file_exists(own.string())) return own.string();
  return program_find("python3").value_or("/usr/bin/python3");
}

// A torch that was not installed as a package has no version that can be asked for without loading it.
constexpr const char* kLook = R"(
import importlib.metadata as m, importlib.util as u, platform as p
try:
    torch = m.version('torch')
except m.PackageNotFoundError:
    torch = 'unknown' if u.find_spec('torch') else ''
print(p.python_version(), torch)
)";

PeerPython peer_look() {
  PeerPython out;
  out.path = peer_python();
  std::vector<std::string> environment;  // a torch may be on PYTHONPATH
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const auto ran = process_run({out.path, "-c", kLook}, environment);
  if (!ran) {
    out.trouble = ran.error().message;
    return out;
  }
  const auto words = text_split(text_trim(ran->output), ' ');
  if (ran->status != 0 || words.size() != 2) return out;
  out.version = words[0];
  out.torch = words[1];
  return out;
}

Result<std::monostate> peer_ready() {
  const PeerPython python = peer_look();
  if (!python.torch.empty()) return std::monostate{};
  return Error{Code::environment,
               {},
               python.trouble.empty() ? fmt::format("{} has no torch", python.path) : python.trouble,
               {"set PASSNET_PYTHON to a Python that has torch"}};
}

Result<std::unique_ptr<Subject>> peer_subject(const Candidate& candidate, const GraphFolder& graph, Engine& engine,
                                              DeviceType device) {
  auto python = Python::start();
  if (!python) return std::move(python.error());
  return guarded([&]() -> std::unique_ptr<Subject> {
    auto out = std::make_unique<PeerSubject>(engine, device, std::move(*python));
    out->load(candidate, graph).take();
    return out;
  });
}

}  // namespace passnet
