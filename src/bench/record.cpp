#include "bench/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace passnet {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// ---- writing

ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
ordered_json numbers(const std::vector<double>& values) {
  ordered_json out = ordered_json::array();
  for (const double v : values) out.push_back(number(v));
  return out;
}

ordered_json json_of(const Summary& s) {
  return {{"count", s.count},       {"median", number(s.median)}, {"iqr", number(s.iqr)},
          {"mean", number(s.mean)}, {"std", number(s.std)},       {"min", number(s.min)},
          {"max", number(s.max)},   {"low", number(s.low)},       {"high", number(s.high)}};
}
ordered_json json_of(const Ratio& r) {
  return {{"value", number(r.value)}, {"low", number(r.low)}, {"high", number(r.high)}};
}
ordered_json json_of(const Times& t) {
  ordered_json out = {{"e2e", json_of(t.e2e)}, {"e2e_ms", numbers(t.e2e_ms)}};
  if (!t.gpu_ms.empty()) {
    out["gpu"] = json_of(t.gpu);
    out["gpu_ms"] = numbers(t.gpu_ms);
  }
  if (t.warm_e2e.count > 0) out["warm"] = {{"e2e", json_of(t.warm_e2e)}};
  if (t.warm_gpu.count > 0) out["warm"]["gpu"] = json_of(t.warm_gpu);
  return out;
}
ordered_json json_of(const cuda::GpuState& g) {
  ordered_json out = ordered_json::object();
  if (g.sm_mhz >= 0) out["sm_mhz"] = g.sm_mhz;
  if (g.memory_mhz >= 0) out["memory_mhz"] = g.memory_mhz;
  if (g.celsius >= 0) out["celsius"] = g.celsius;
  return out;
}
ordered_json json_of(const GpuRecord& g) {
  ordered_json out = {{"before", json_of(g.before)}, {"after", json_of(g.after)}};
  if (g.foreign_processes) out["foreign_processes"] = *g.foreign_processes;
  return out;
}
ordered_json json_of(const OutputRecord& o) {
  return {{"dtype", o.dtype},
          {"compiled_dtype", o.compiled_dtype},
          {"shape", o.shape},
          {"compiled_shape", o.compiled_shape},
          {"equal", o.equal},
          {"tightest_t", o.tightest_t},
          {"max_diff", number(o.max_diff)},
          {"mean_diff", number(o.mean_diff)},
          {"wrong", o.wrong},
          {"worst", o.worst},
          {"worst_expected", number(o.worst_expected)},
          {"worst_got", number(o.worst_got)}};
}
ordered_json json_of(const KernelRecord& k) {
  return {{"name", k.name}, {"constexprs", k.constexprs}, {"grid", k.grid}};
}
ordered_json json_of(const Error& e) {
  ordered_json out = {{"code", code_name(e.code)}, {"message", e.message}};
  if (!e.where.file.empty()) out["file"] = e.where.file;
  if (e.where.line != 0) out["line"] = e.where.line;
  if (e.where.column != 0) out["column"] = e.where.column;
  if (!e.where.text.empty()) out["text"] = e.where.text;
  if (!e.notes.empty()) out["notes"] = e.notes;
  return out;
}
ordered_json json_of(const Conditions& c) {
  ordered_json out = {{"device", c.device},   {"hardware", c.hardware}, {"torch_version", c.torch_version},
                      {"version", c.version}, {"guard", c.guard},       {"threads", c.threads},
                      {"warmup", c.warmup},   {"trials", c.trials},     {"budget_s", c.budget_s}};
  if (c.cuda_graphs) out["cuda_graphs"] = true;
  if (!c.options.empty()) out["options"] = c.options;
  return out;
}
template <class T>
ordered_json list_of(const std::vector<T>& items) {
  ordered_json out = ordered_json::array();
  for (const T& item : items) out.push_back(json_of(item));
  return out;
}

// ---- reading: a key that is not there leaves the default, one of another type is an error that names it

[[noreturn]] void wrong(const char* key, std::string_view want) {
  fail(Code::syntax, fmt::format("not a record: '{}' has to be {}", key, want));
}

const json* find(const json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

double number_from(const json& value, const char* key) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& word = value.get_ref<const std::string&>();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
  }
  wrong(key, "a number");
}

void read(const json& o, const char* key, std::string& out) {
  const json* value = find(o, key);
  if (value == nullptr) return;
  if (!value->is_string()) wrong(key, "a string");
  out = value->get<std::string>();
}
void read(const json& o, const char* key, bool& out) {
  const json* value = find(o, key);
  if (value == nullptr) return;
  if (!value->is_boolean()) wrong(key, "true or false");
  out = value->get<bool>();
}
void read(const json& o, const char* key, double& out) {
  if (const json* value = find(o, key)) out = number_from(*value, key);
}
template <class T>
T integer_from(const json& value, const char* key) {
  if (value.is_number_unsigned() && std::in_range<T>(value.get<std::uint64_t>()))
    return static_cast<T>(value.get<std::uint64_t>());
  if (!value.is_number_unsigned() && value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>()))
    return static_cast<T>(value.get<std::int64_t>());
  wrong(key, "an integer in its range");
}
template <class T>
requires std::is_integral_v<T>
void read(const json& o, const char* key, T& out) {
  if (const json* value = find(o, key)) out = integer_from<T>(*value, key);
}

const json* find_array(const json& o, const char* key) {
  const json* value = find(o, key);
  if (value != nullptr && !value->is_array()) wrong(key, "an array");
  return value;
}
const json* find_object(const json& o, const char* key) {
  const json* value = find(o, key);
  if (value != nullptr && !value->is_object()) wrong(key, "an object");
  return value;
}

void read(const json& o, const char* key, std::vector<double>& out) {
  if (const json* list = find_array(o, key))
    for (const json& item : *list) out.push_back(number_from(item, key));
}
void read(const json& o, const char* key, std::vector<std::int64_t>& out) {
  if (const json* list = find_array(o, key))
    for (const json& item : *list) out.push_back(integer_from<std::int64_t>(item, key));
}
void read(const json& o, const char* key, std::vector<std::string>& out) {
  if (const json* list = find_array(o, key))
    for (const json& item : *list) {
      if (!item.is_string()) wrong(key, "a list of strings");
      out.push_back(item.get<std::string>());
    }
}
template <class T, std::size_t n>
void read(const json& o, const char* key, std::array<T, n>& out) {
  const json* list = find_array(o, key);
  if (list == nullptr) return;
  if (list->size() != n) wrong(key, fmt::format("a list of {}", n));
  for (std::size_t i = 0; i < n; ++i) out[i] = integer_from<T>((*list)[i], key);
}

void read(const json& o, const char* key, Summary& out) {
  const json* s = find_object(o, key);
  if (s == nullptr) return;
  read(*s, "count", out.count);
  read(*s, "median", out.median);
  read(*s, "iqr", out.iqr);
  read(*s, "mean", out.mean);
  read(*s, "std", out.std);
  read(*s, "min", out.min);
  read(*s, "max", out.max);
  read(*s, "low", out.low);
  read(*s, "high", out.high);
}
void read(const json& o, const char* key, Ratio& out) {
  const json* r = find_object(o, key);
  if (r == nullptr) return;
  read(*r, "value", out.value);
  read(*r, "low", out.low);
  read(*r, "high", out.high);
}
void read(const json& o, const char* key, Times& out) {
  const json* t = find_object(o, key);
  if (t == nullptr) return;
  read(*t, "e2e", out.e2e);
  read(*t, "e2e_ms", out.e2e_ms);
  read(*t, "gpu", out.gpu);
  read(*t, "gpu_ms", out.gpu_ms);
  if (const json* warm = find_object(*t, "warm")) {
    read(*warm, "e2e", out.warm_e2e);
    read(*warm, "gpu", out.warm_gpu);
  }
}
void read(const json& o, const char* key, cuda::GpuState& out) {
  const json* g = find_object(o, key);
  if (g == nullptr) return;
  read(*g, "sm_mhz", out.sm_mhz);
  read(*g, "memory_mhz", out.memory_mhz);
  read(*g, "celsius", out.celsius);
}
void read(const json& o, const char* key, std::optional<GpuRecord>& out) {
  const json* g = find_object(o, key);
  if (g == nullptr) return;
  out.emplace();
  read(*g, "before", out->before);
  read(*g, "after", out->after);
  if (const json* n = find(*g, "foreign_processes"))
    out->foreign_processes = integer_from<int>(*n, "foreign_processes");
}
void read(const json& o, const char* key, Conditions& out) {
  const json* c = find_object(o, key);
  if (c == nullptr) return;
  read(*c, "device", out.device);
  read(*c, "hardware", out.hardware);
  read(*c, "torch_version", out.torch_version);
  read(*c, "version", out.version);
  read(*c, "guard", out.guard);
  read(*c, "threads", out.threads);
  read(*c, "warmup", out.warmup);
  read(*c, "trials", out.trials);
  read(*c, "budget_s", out.budget_s);
  read(*c, "cuda_graphs", out.cuda_graphs);
  read(*c, "options", out.options);
}
void read(const json& o, OutputRecord& out) {
  read(o, "dtype", out.dtype);
  read(o, "compiled_dtype", out.compiled_dtype);
  read(o, "shape", out.shape);
  read(o, "compiled_shape", out.compiled_shape);
  read(o, "equal", out.equal);
  read(o, "tightest_t", out.tightest_t);
  read(o, "max_diff", out.max_diff);
  read(o, "mean_diff", out.mean_diff);
  read(o, "wrong", out.wrong);
  read(o, "worst", out.worst);
  read(o, "worst_expected", out.worst_expected);
  read(o, "worst_got", out.worst_got);
}
void read(const json& o, KernelRecord& out) {
  read(o, "name", out.name);
  read(o, "constexprs", out.constexprs);
  read(o, "grid", out.grid);
}
void read(const json& o, StageTime& out) {
  read(o, "name", out.name);
  read(o, "seconds", out.seconds);
}
void read(const json& o, Error& out) {
  std::string code;
  read(o, "code", code);
  for (int c = 0; c <= static_cast<int>(Code::internal); ++c)
    if (code_name(static_cast<Code>(c)) == code) out.code = static_cast<Code>(c);
  read(o, "message", out.message);
  read(o, "file", out.where.file);
  read(o, "line", out.where.line);
  read(o, "column", out.where.column);
  read(o, "text", out.where.text);
  read(o, "notes", out.notes);
}
template <class T>
void read_list(const json& o, const char* key, std::vector<T>& out) {
  const json* list = find_array(o, key);
  if (list == nullptr) return;
  for (const json& item : *list) {
    if (!item.is_object()) wrong(key, "a list of objects");
    read(item, out.emplace_back());
  }
}

Record read_record(const json& o) {
  if (!o.is_object()) fail(Code::syntax, "not a record: not a JSON object");
  for (const char* key : {"task", "graph", "candidate", "status"})
    if (find(o, key) == nullptr) wrong(key, "there");
  Record r;
  std::string status;
  read(o, "task", r.task);
  read(o, "graph", r.graph);
  read(o, "candidate", r.candidate);
  read(o, "attempt", r.attempt);
  read(o, "baseline", r.baseline);
  read(o, "contents", r.contents);
  read(o, "status", status);
  const auto known = status_from_name(status);
  if (!known) fail(Code::syntax, fmt::format("not a record: unknown status {}", python_string(status)));
  r.status = *known;
  if (const json* t = find(o, "tightest_t")) r.tightest_t = integer_from<int>(*t, "tightest_t");
  read_list(o, "outputs", r.outputs);
  read_list(o, "errors", r.errors);
  read(o, "notes", r.notes);
  read(o, "matches", r.matches);
  read_list(o, "kernels", r.kernels);
  read(o, "timed", r.timed);
  read(o, "timed_inputs", r.timed_inputs);
  read(o, "eager", r.eager);
  read(o, "compiled", r.compiled);
  read(o, "speedup", r.speedup);
  if (find(o, "speedup_again") != nullptr) read(o, "speedup_again", r.speedup_again.emplace());
  read(o, "gpu_speedup", r.gpu_speedup);
  read(o, "warmups", r.warmups);
  read(o, "trials", r.trials);
  read(o, "gpu", r.gpu);
  read(o, "finished", r.finished);
  read(o, "seconds", r.seconds);
  read(o, "overhead_seconds", r.overhead_seconds);
  read_list(o, "stages", r.stages);
  read(o, "conditions", r.conditions);
  return r;
}

}  // namespace

std::optional<std::size_t> law_of_name(std::string_view dtype) {
  const auto known = dtype_from_name(dtype);
  return known ? law_of(*known) : std::nullopt;
}

int record_tightest_t(const Record& record) {
  int t = record.tightest_t.value_or(kNever);
  for (const OutputRecord& output : record.outputs) {
    const auto law = law_of_name(output.dtype);
    t = std::max(t, law ? output.tightest_t[*law] : output.equal ? kTightest : kNever);
  }
  return std::clamp(t, kTightest, kNever);
}

bool doubtfully_slower(const Record& record) {
  constexpr double kDoubtful = 0.9;  // beyond what workers were seen to differ by
  return record.status == Status::correct && record.timed && record.speedup.high < 1 &&
         record.speedup.value > kDoubtful;
}

void widen_interval(Record& record, const Record& other_worker) {
  if (!other_worker.timed) return;
  const Ratio& other = other_worker.speedup;
  record.speedup.low = std::min(record.speedup.low, other.low);
  record.speedup.high = std::max(record.speedup.high, other.high);
  record.speedup_again = other;
}

nlohmann::ordered_json to_json(const Record& r) {
  ordered_json out = {{"record", kRecordVersion},       {"task", r.task},       {"graph", r.graph},
                      {"candidate", r.candidate},       {"attempt", r.attempt}, {"baseline", r.baseline},
                      {"status", status_name(r.status)}};
  if (!r.contents.empty()) out["contents"] = r.contents;
  if (r.tightest_t) out["tightest_t"] = *r.tightest_t;
  out["outputs"] = list_of(r.outputs);
  out["errors"] = list_of(r.errors);
  out["notes"] = r.notes;
  out["matches"] = r.matches;
  out["kernels"] = list_of(r.kernels);
  out["timed"] = r.timed;
  if (r.timed) {
    out["timed_inputs"] = r.timed_inputs;
    out["speedup"] = json_of(r.speedup);
    if (r.speedup_again) out["speedup_again"] = json_of(*r.speedup_again);
    if (!r.eager.gpu_ms.empty()) out["gpu_speedup"] = json_of(r.gpu_speedup);
    out["eager"] = json_of(r.eager);
    out["compiled"] = json_of(r.compiled);
  }
  out["warmups"] = r.warmups;
  out["trials"] = r.trials;
  if (r.gpu) out["gpu"] = json_of(*r.gpu);
  out["finished"] = r.finished;
  out["seconds"] = number(r.seconds);
  out["overhead_seconds"] = number(r.overhead_seconds);
  for (const StageTime& stage : r.stages) out["stages"].push_back({{"name", stage.name}, {"seconds", stage.seconds}});
  out["conditions"] = json_of(r.conditions);
  return out;
}

std::string record_line(const Record& record) {
  return to_json(record).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

Result<Record> record_from_json(const nlohmann::json& json) {
  return guarded([&] { return read_record(json); });
}

Result<Record> record_from_line(std::string_view line) {
  const json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return Error{Code::syntax, {}, "not a record: not JSON", {}};
  return record_from_json(parsed);
}

}  // namespace passnet
