#include "bench/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

#include "base/json.h"

namespace passnet {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <class T, class S>
concept Is = std::is_same_v<std::remove_const_t<T>, S>;

// ---- the fields of each struct, once: io(key, field), or io.where(there, key, field) for what is not always written.
// What is optional is written where it has a value.

template <class Io, Is<Summary> T>
void fields(Io& io, T& s) {
  io("count", s.count);
  io("median", s.median);
  io("iqr", s.iqr);
  io("mean", s.mean);
  io("std", s.std);
  io("min", s.min);
  io("max", s.max);
  io("low", s.low);
  io("high", s.high);
}
template <class Io, Is<Ratio> T>
void fields(Io& io, T& r) {
  io("value", r.value);
  io("low", r.low);
  io("high", r.high);
}
struct Warm {
  Summary e2e, gpu;
};
template <class Io, Is<Warm> T>
void fields(Io& io, T& w) {
  io("e2e", w.e2e);
  io.where(w.gpu.count > 0, "gpu", w.gpu);
}
template <class Io, Is<Times> T>
void fields(Io& io, T& t) {
  const bool gpu = !t.gpu_ms.empty();
  io("e2e", t.e2e);
  io("e2e_ms", t.e2e_ms);
  io.where(gpu, "gpu", t.gpu);
  io.where(gpu, "gpu_ms", t.gpu_ms);
  Warm warm{t.warm_e2e, t.warm_gpu};
  io.where(warm.e2e.count > 0, "warm", warm);
  if constexpr (!std::is_const_v<T>) std::tie(t.warm_e2e, t.warm_gpu) = std::tie(warm.e2e, warm.gpu);
}
template <class Io, Is<cuda::GpuState> T>
void fields(Io& io, T& g) {
  io.where(g.sm_mhz >= 0, "sm_mhz", g.sm_mhz);
  io.where(g.memory_mhz >= 0, "memory_mhz", g.memory_mhz);
  io.where(g.celsius >= 0, "celsius", g.celsius);
}
template <class Io, Is<GpuRecord> T>
void fields(Io& io, T& g) {
  io("before", g.before);
  io("after", g.after);
  io("foreign_processes", g.foreign_processes);
}
template <class Io, Is<OutputRecord> T>
void fields(Io& io, T& o) {
  io("dtype", o.dtype);
  io("compiled_dtype", o.compiled_dtype);
  io("shape", o.shape);
  io("compiled_shape", o.compiled_shape);
  io("equal", o.equal);
  io("tightest_t", o.tightest_t);
  io("max_diff", o.max_diff);
  io("mean_diff", o.mean_diff);
  io("wrong", o.wrong);
  io("worst", o.worst);
  io("worst_expected", o.worst_expected);
  io("worst_got", o.worst_got);
}
template <class Io, Is<KernelRecord> T>
void fields(Io& io, T& k) {
  io("name", k.name);
  io("constexprs", k.constexprs);
  io("grid", k.grid);
}
template <class Io, Is<Error> T>
void fields(Io& io, T& e) {
  io("code", e.code);
  io("message", e.message);
  io.where(!e.where.file.empty(), "file", e.where.file);
  io.where(e.where.line != 0, "line", e.where.line);
  io.where(e.where.column != 0, "column", e.where.column);
  io.where(!e.where.text.empty(), "text", e.where.text);
  io.where(!e.notes.empty(), "notes", e.notes);
}
template <class Io, Is<StageTime> T>
void fields(Io& io, T& s) {
  io("name", s.name);
  io("seconds", s.seconds);
}
template <class Io, Is<Conditions> T>
void fields(Io& io, T& c) {
  io("device", c.device);
  io("hardware", c.hardware);
  io("torch_version", c.torch_version);
  io("version", c.version);
  io("guard", c.guard);
  io("threads", c.threads);
  io("warmup", c.warmup);
  io("trials", c.trials);
  io("budget_s", c.budget_s);
  io.where(c.cuda_graphs, "cuda_graphs", c.cuda_graphs);
  io.where(!c.options.empty(), "options", c.options);
}
template <class Io, Is<Record> T>
void fields(Io& io, T& r) {
  io("task", r.task);
  io("graph", r.graph);
  io("candidate", r.candidate);
  io("attempt", r.attempt);
  io("baseline", r.baseline);
  io("status", r.status);
  io.where(!r.contents.empty(), "contents", r.contents);
  io("tightest_t", r.tightest_t);
  io("outputs", r.outputs);
  io("errors", r.errors);
  io("notes", r.notes);
  io("matches", r.matches);
  io("kernels", r.kernels);
  io("timed", r.timed);
  io.where(r.timed, "timed_inputs", r.timed_inputs);
  io.where(r.timed, "speedup", r.speedup);
  io.where(r.timed, "speedup_again", r.speedup_again);
  io.where(r.timed && !r.eager.gpu_ms.empty(), "gpu_speedup", r.gpu_speedup);
  io.where(r.timed, "eager", r.eager);
  io.where(r.timed, "compiled", r.compiled);
  io("warmups", r.warmups);
  io("trials", r.trials);
  io("gpu", r.gpu);
  io("finished", r.finished);
  io("seconds", r.seconds);
  io("overhead_seconds", r.overhead_seconds);
  io.where(!r.stages.empty(), "stages", r.stages);
  io("conditions", r.conditions);
}

// ---- writing

class Writer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    out_[key] = made(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void where(bool there, const char* key, const T& value) {
    if (there) (*this)(key, value);
  }
  ordered_json take() { return std::move(out_); }

 private:
  static ordered_json made(double v) {
    if (std::isfinite(v)) return v;
    return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  }
  static ordered_json made(const std::string& v) { return v; }
  static ordered_json made(Status v) { return status_name(v); }
  static ordered_json made(Code v) { return code_name(v); }
  template <std::integral T>
  static ordered_json made(T v) {
    return v;
  }
  template <class T, std::size_t n>
  static ordered_json made(const std::array<T, n>& v) {
    return v;
  }
  template <class T>
  static ordered_json made(const std::vector<T>& items) {
    ordered_json out = ordered_json::array();
    for (const T& item : items) out.push_back(made(item));
    return out;
  }
  template <class T>
  requires std::is_class_v<T>
  static ordered_json made(const T& v) {
    Writer inner;
    fields(inner, v);
    return inner.take();
  }

  ordered_json out_ = ordered_json::object();
};

// ---- reading: a key that is not there leaves the default, one of another type is an error that names it

class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, T& out) {
    if (const json* value = find(key)) read(*value, key, out);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& out) {
    if (const json* value = find(key)) read(*value, key, out.emplace());
  }
  template <class T>
  void where(bool, const char* key, T& out) {
    (*this)(key, out);
  }
  void require(const char* key) const {
    if (find(key) == nullptr) wrong(key, "there");
  }

 private:
  const json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  [[noreturn]] static void wrong(const char* key, std::string_view want) {
    fail(Code::syntax, fmt::format("not a record: '{}' has to be {}", key, want));
  }
  static const std::string& text(const json& value, const char* key) {
    if (!value.is_string()) wrong(key, "a string");
    return value.get_ref<const std::string&>();
  }

  static void read(const json& value, const char* key, std::string& out) { out = text(value, key); }
  static void read(const json& value, const char* key, bool& out) {
    if (!value.is_boolean()) wrong(key, "true or false");
    out = value.get<bool>();
  }
  static void read(const json& value, const char* key, double& out) {
    const std::string word = value.is_string() ? value.get<std::string>() : "";
    if (value.is_number())
      out = value.get<double>();
    else if (word == "nan")
      out = std::numeric_limits<double>::quiet_NaN();
    else if (word == "inf" || word == "-inf")
      out = word == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    else
      wrong(key, "a number");
  }
  static void read(const json& value, const char* key, Status& out) {
    const auto known = status_from_name(text(value, key));
    if (!known) fail(Code::syntax, fmt::format("not a record: unknown status {}", python_string(text(value, key))));
    out = *known;
  }
  static void read(const json& value, const char* key, Code& out) {
    for (int c = 0; c <= static_cast<int>(Code::internal); ++c)
      if (code_name(static_cast<Code>(c)) == text(value, key)) out = static_cast<Code>(c);
  }
  template <std::integral T>
  static void read(const json& value, const char* key, T& out) {
    if (value.is_number_unsigned() && std::in_range<T>(value.get<std::uint64_t>()))
      out = static_cast<T>(value.get<std::uint64_t>());
    else if (!value.is_number_unsigned() && value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>()))
      out = static_cast<T>(value.get<std::int64_t>());
    else
      wrong(key, "an integer in its range");
  }
  template <class T, std::size_t n>
  static void read(const json& value, const char* key, std::array<T, n>& out) {
    if (!value.is_array() || value.size() != n) wrong(key, fmt::format("a list of {}", n));
    for (std::size_t i = 0; i < n; ++i) read(value[i], key, out[i]);
  }
  template <class T>
  static void read(const json& value, const char* key, std::vector<T>& out) {
    if (!value.is_array()) wrong(key, "an array");
    for (const json& item : value) {
      if (std::is_same_v<T, std::string> && !item.is_string()) wrong(key, "a list of strings");
      if (std::is_class_v<T> && !std::is_same_v<T, std::string> && !item.is_object()) wrong(key, "a list of objects");
      read(item, key, out.emplace_back());
    }
  }
  template <class T>
  requires std::is_class_v<T>
  static void read(const json& value, const char* key, T& out) {
    if (!value.is_object()) wrong(key, "an object");
    Reader inner(value);
    fields(inner, out);
  }

  const json& object_;
};

Record read_record(const json& o) {
  if (!o.is_object()) fail(Code::syntax, "not a record: not a JSON object");
  Reader io(o);
  int version = kRecordVersion;
  io("record", version);
  if (version > kRecordVersion)
    fail(Code::syntax, fmt::format("a record of version {}; this passnet reads up to {}", version, kRecordVersion));
  for (const char* key : {"task", "graph", "candidate", "status"}) io.require(key);
  Record r;
  fields(io, r);
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
  Writer io;
  io("record", kRecordVersion);
  fields(io, r);
  return io.take();
}

std::string record_line(const Record& record) {
  return to_json(record).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

Result<Record> record_from_json(const nlohmann::json& json) {
  return guarded([&] { return read_record(json); });
}

Result<Record> record_from_line(std::string_view line) {
  const json parsed = json_read<json>(line);
  if (parsed.is_discarded()) return Error{Code::syntax, {}, "not a record: not JSON", {}};
  return record_from_json(parsed);
}

RecordKey record_key(const std::string& task, const std::string& graph, const std::string& candidate) {
  namespace fs = std::filesystem;
  fs::path path = fs::path(graph).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // it ended with a slash
  const fs::path above = path.parent_path().filename();
  const bool inside = above == task || (above.empty() && path.is_relative() && path != "." && path != "..");
  return {task, (inside ? path.filename() : path).string(), candidate};
}

}  // namespace passnet
