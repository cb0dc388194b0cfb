#include "bench/job.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

#include "base/cache.h"
#include "base/json.h"
#include "base/line_file.h"
#include "base/process.h"
#include "bench/cores.h"
#include "bench/device.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "ops/lower.h"
#include "tile_cpu/compile.h"

namespace passnet {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kDeviceStage = "device";  // the worker tries its device
// An eager that is slow (halves have no fast kernels everywhere) is no fault of the candidate's.
constexpr double kSlowEager = 1;  // seconds
constexpr int kEagerCalls = 24;   // more than a stage makes of such

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// `each` is called with the name and the value of every option that a worker is told.
template <class Options, class Each>
void each_option(Options& o, const Each& each) {
  each("seed", o.seed);
  each("secret", o.secret);
  each("at", o.at);
  each("draws", o.draws);
  each("checked", o.checked);
  each("cuda_graphs", o.cuda_graphs);
  each("baseline", o.baseline);
  each("pattern_limit", o.load.pattern_limit);
  each("replacement_func_limit", o.load.replacement_func_limit);
  each("open_policy", o.load.open_policy);
  each("input_passes", o.load.input_folder);
  each("warmup", o.timing.warmup);
  each("trials", o.timing.trials);
  each("budget_s", o.timing.budget_s);
  each("noise_limit", o.timing.noise_limit);
  each("repeats", o.timing.repeats);
  each("order_seed", o.timing.order_seed);
}

json options_json(const EvaluateOptions& o) {
  json out = {{"strict", o.match == MatchMode::strict}, {"device", device_text(o.device)}};
  each_option(o, [&](const char* name, const auto& value) { out[name] = value; });
  return out;
}

EvaluateOptions options_from(const json& j) {
  EvaluateOptions o;
  o.match = j.at("strict").get<bool>() ? MatchMode::strict : MatchMode::normal;
  o.device = device_from_name(j.at("device").get<std::string>()).take();
  each_option(o, [&](const char* name, auto& value) { j.at(name).get_to(value); });
  return o;
}

json candidate_json(const Candidate& c) {
  return {{"kind", static_cast<int>(c.kind)}, {"name", c.name}, {"path", c.path}, {"mode", c.mode}};
}
Candidate candidate_from(const json& j) {
  return {static_cast<Candidate::Kind>(j.at("kind").get<int>()), j.at("name"), j.at("path"), j.at("mode")};
}

Record failed(Status status, Error error) {
  Record r;
  r.status = status;
  r.errors.push_back(std::move(error));
  return r;
}

void answer(guard::Channel& channel, Record record, bool worth_timing, double trial_seconds) {
  record.conditions.torch_version = (*engine_load().take()).torch_version();
  const json message = {{"record", to_json(record)}, {"worth_timing", worth_timing}, {"trial_seconds", trial_seconds}};
  channel.send(message.dump(-1, ' ', false, json::error_handler_t::replace));
}

struct Answer {
  Record record;
  bool worth_timing = false;
  double trial_seconds = 0;
};
// Nothing that comes from a worker may harm us, whatever it is.
Result<Answer> answer_from(const std::string& message) {
  try {
    const json j = json_read<json>(message);
    if (j.is_discarded()) return Error{Code::integrity, {}, "it is no JSON, or nested too deeply", {}};
    Answer out;
    auto record = record_from_json(j.at("record"));
    if (!record) return std::move(record.error());
    out.record = std::move(*record);
    j.at("worth_timing").get_to(out.worth_timing);
    j.at("trial_seconds").get_to(out.trial_seconds);
    return out;
  } catch (const json::exception& error) {
    return Error{Code::integrity, {}, error.what(), {}};
  }
}

// Files that may still be read: on a GPU, libraries load parts of themselves late, and kernels may lie in the cache.
guard::SealOptions seal_options(DeviceType device) {
  guard::SealOptions out;
  if (device != DeviceType::cuda) return out;
  out.cuda = true;
  (void)cuda::nvrtc();  // opened, for what may have to be compiled after all
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> folders;
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find('/'), end = line.rfind('/');
        at != std::string::npos && line.find(".so", end) != std::string::npos)
      folders.insert(line.substr(at, end - at));
  out.readable.assign(folders.begin(), folders.end());
  if (auto cache = cache_folder()) out.readable.push_back(*cache);
  return out;
}

// Whether a worker can use the device, and what that is called.
void probe(guard::Channel& channel, DeviceType device) {
  channel.stage(kDeviceStage);
  device_ready(*engine_load().take(), device).take();
  Record found;
  found.conditions.hardware = device_name(device);
  answer(channel, std::move(found), false, 0);
}

void serve(guard::Channel& channel, const json& request) {
  if (request.contains("probe")) return probe(channel, device_from_name(request.at("probe").get<std::string>()).take());
  EvaluateOptions options = options_from(request.at("options"));
  options.stage = [&](std::string_view name) { channel.stage(name); };
  options.seal = [device = options.device] { return guard::seal(seal_options(device)); };
  const Candidate candidate = candidate_from(request.at("candidate"));
  std::string passes;
  if (candidate.kind == Candidate::Kind::passes) {
    auto folder = candidate.folder_for(request.at("task").get<std::string>(), request.at("sample").get<std::string>());
    if (!folder) return answer(channel, failed(Status::compile_fail, folder.error()), false, 0);
    passes = std::move(*folder);
  }
  Engine& engine = *engine_load().take();
  if (options.device == DeviceType::cuda) channel.stage(kDeviceStage);
  device_ready(engine, options.device).take();
  if (options.device == DeviceType::cuda)  // so that no candidate takes it from those beside it
    engine.limit_memory(options.device, request.at("memory_bytes").get<double>() /
                                            static_cast<double>(cuda::device().take()->memory_bytes));
  const auto cores = request.at("cores").get<std::vector<int>>();
  bool alone = false;
  const auto take_cores = [&] {
    if (!cores.empty()) pin(cores);
    engine.set_threads(request.at("threads").get<int>());
    alone = true;
  };
  options.settle = [&, all = cores.empty() ? allowed_cores() : cores](EvaluateOptions::Work work) {
    if (!alone) return;
    if (work == EvaluateOptions::Work::run)
      pin_threads(engine);
    else
      pin(all);
  };
  if (request.at("alone").get<bool>())
    take_cores();
  else
    engine.set_threads(1);
  Evaluator evaluator(request.at("graph").get<std::string>(), candidate, passes, engine, options);
  const Evaluation& verified = evaluator.verify();
  answer(channel, make_record(verified), evaluator.worth_timing(), 0);
  if (!evaluator.worth_timing()) return;
  if (auto go = channel.receive(1e9); !go || *go != "time") return;
  take_cores();
  const Evaluation& timed = evaluator.time();
  answer(channel, make_record(timed), false, timed.timing.trial_seconds);
}

}  // namespace

void job_load() {
  settle_malloc();
  Engine& engine = *engine_load().take();
  engine.set_threads(1);  // nothing runs in parallel before the fork
  // A small graph run once: the operator table is read and torch's first-call work is done before workers are forked.
  GraphSources sources;
  sources.path = "warm-up";
  sources.model =
      "import torch\nclass GraphModule(torch.nn.Module):\n  def forward(self, x, y):\n"
      "    a = torch.nn.functional.relu(x)\n    b = a + y\n    return (b.reshape(-1), b.softmax(-1), b.sum(0))\n";
  sources.input_meta = R"(
class Program_weight_tensor_meta_x:
  name = "x"; shape = [2, 3]; dtype = "torch.float32"; device = "cpu"; mean = 0.0; std = 1.0; data = None
class Program_weight_tensor_meta_y:
  name = "y"; shape = [2, 3]; dtype = "torch.float32"; device = "cpu"; mean = 0.0; std = 1.0; data = None
)";
  const GraphFolder graph = read_graph_sources(std::move(sources)).take();
  const Program program = lower_graph(graph.graph).take();
  std::vector<TensorRef> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(engine.allocate({{2, 3}, {3, 1}, Dtype::float32, DeviceType::cpu}).take());
    engine.fill(inputs.back(), 1).take();
  }
  engine.prepare(program, graph.graph, DeviceType::cpu).take()->run(inputs).take();
  // What every worker would do again: find the compiler and hash (OpenSSL's first hash reads its configuration), build
  // the filter of system calls.
  (void)tile_cpu::content_key("");
  guard::prepare_seal(seal_options(DeviceType::cpu));
}

void job_serve(guard::Channel& channel) {
  auto request = channel.receive(60);
  if (!request) return;
  try {
    serve(channel, json_read<json>(*request));
  } catch (const Failure& failure) {
    answer(channel, failed(Status::runtime_fail, failure.error), false, 0);
  }
}

std::string probe_device(DeviceType device, guard::Template& workers) {
  constexpr double kPatience = 120;  // a GPU that is slow to start
  if (device != DeviceType::cuda) return device_name(device);
  const auto broken = [](std::string why) {
    fail({Code::environment, {}, "the GPU does not work: " + std::move(why), {"'nvidia-smi' shows its state"}});
  };
  const auto worker = workers.fork({}).take();
  worker->channel().send(json{{"probe", device_text(device)}}.dump());
  auto message = worker->channel().receive(kPatience);
  if (!message) broken("a process that tries it ended: " + worker->kill().text);
  auto found = answer_from(*message);
  if (!found) broken(found.error().message);
  if (!found->record.errors.empty()) fail(found->record.errors[0]);
  return found->record.conditions.hardware;
}

JobRun::JobRun(const Job& job, guard::Template& workers) : job_(job) {
  guard::Limits limits;
  limits.memory_bytes = job.memory_bytes;
  limits.seconds = 2 * job.timeout_s + 3600;  // it may wait long for its turn to be timed
  worker_ = workers.fork(limits).take();
}

void JobRun::died(std::string_view stage, Status status, std::string message) {
  record_ = failed(status, {Code::run,
                            {job_.graph, 0, 0, {}},
                            std::move(message),
                            {fmt::format("in stage '{}' of {}", worker_->channel().last_stage(), stage)}});
  worth_timing_ = false;
}

// By our clock, and before the candidate's first instruction.
void JobRun::watch_eager() {
  const bool is_eager = worker_->channel().last_stage() == kEagerStage;
  if (is_eager && !eager_begin_) eager_begin_ = Clock::now();
  if (!is_eager && eager_begin_ && !eager_seconds_) eager_seconds_ = since(*eager_begin_);
}

bool JobRun::receive(std::string_view stage, const Cancelled& cancelled) {
  const auto begin = Clock::now();
  while (true) {
    auto message = worker_->channel().receive(0.2);
    if (message) {
      auto answer = message->size() > kLineLimit ? Error{Code::limit, {}, "it is too long for a record", {}}
                                                 : answer_from(*message);
      if (!answer) {
        worker_->kill();
        died(stage, Status::integrity, fmt::format("the worker's answer makes no sense: {}", answer.error().message));
        return false;
      }
      record_ = std::move(answer->record);
      worth_timing_ = answer->worth_timing;
      device_refused_ = worker_->channel().last_stage() == kDeviceStage && !record_.errors.empty() &&
                        record_.errors[0].code == Code::environment;
      seconds_ += since(begin);
      record_.seconds = seconds_;
      record_.overhead_seconds = seconds_ - answer->trial_seconds;
      break;
    }
    if (message.error().code == Code::internal) {
      died(stage, Status::crash, message.error().message);
      return false;
    }
    if (message.error().code != Code::limit) {
      const guard::Death death = worker_->kill();
      if (death.environment) fail({Code::environment, {}, death.text, {}});
      killed_by_others_ = death.signal == SIGKILL && !death.by_us;
      // What the sandbox ends, and what comes over the channel without being ours, is no accident.
      const bool attack = death.signal == SIGSYS || message.error().code == Code::integrity;
      died(stage, attack ? Status::integrity : Status::crash,
           message.error().code == Code::integrity ? message.error().message
                                                   : fmt::format("the worker ended: {}", death.text));
      return false;
    }
    if (cancelled()) {
      gave_up_ = true;
      worker_->kill();
      return false;
    }
    watch_eager();
    const double slow_eager = eager_seconds_.value_or(0) > kSlowEager ? *eager_seconds_ : 0;
    if (since(begin) > job_.timeout_s + kEagerCalls * slow_eager) {
      worker_->kill();
      died(stage, Status::timeout, fmt::format("took longer than {} s", job_.timeout_s));
      if (slow_eager > 0)
        record_.errors[0].notes.push_back(
            fmt::format("not counting {} calls of eager, of {:.1f} s each", kEagerCalls, slow_eager));
      return false;
    }
  }
  return true;
}

void JobRun::verify(const Cancelled& cancelled) {
  const json request = {{"task", job_.task},
                        {"sample", job_.sample},
                        {"graph", job_.graph},
                        {"candidate", candidate_json(job_.candidate)},
                        {"options", options_json(job_.options)},
                        {"alone", job_.alone},
                        {"memory_bytes", job_.memory_bytes},
                        {"threads", job_.threads},
                        {"cores", job_.cores}};
  worker_->channel().send(request.dump(-1, ' ', false, json::error_handler_t::replace));
  receive("verification", cancelled);
}

void JobRun::time(const Cancelled& cancelled) {
  const Record verified = record_;
  worker_->channel().send("time");
  if (!receive("timing", cancelled) && !gave_up_) {
    record_.outputs = verified.outputs;
    record_.matches = verified.matches;
    record_.kernels = verified.kernels;
  }
}

}  // namespace passnet
