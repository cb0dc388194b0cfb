#include "bench/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text.h"

namespace passnet {

namespace {

constexpr int kMaxMessageBytes = 2000;

// `[all_close_atol_1.00E-05_rtol_1.30E-06]` for every law and t. Four are equal: those of t = 0.
std::string close_key(std::size_t law, int t) {
  const Tolerance tol = tolerance(law, t);
  return fmt::format("[all_close_atol_{:.2E}_rtol_{:.2E}]", tol.atol, tol.rtol);
}

// ---- writing

// What the reader looks for: it must not be made up from the text of others.
constexpr std::string_view kMarkers[] = {"[Processing]", "[Config]",   "[Datatype]", "[DataType]",
                                         "[Shape]",      "match:True", "[Correct",   "[Performance]",
                                         "[Speedup]",    "all_close",  "Exception:", "No passes modified",
                                         "Error:",       "[Result]"};

// One line without markers; the first letter of one becomes an underscore.
std::string plain(std::string_view text) {
  std::string out = text_printable(text, ' ');
  for (const std::string_view marker : kMarkers)
    for (std::size_t at = out.find(marker); at != std::string::npos; at = out.find(marker, at)) out[at] = '_';
  return out;
}

std::string word(std::string_view text) {
  std::string out = plain(text);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out.empty() ? "unknown" : out;
}

class Lines {
 public:
  template <class... A>
  void add(fmt::format_string<A...> format, A&&... arguments) {
    text_ += kLogPrefix;
    text_ += ' ';
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(arguments)...);
    text_ += '\n';
  }
  void raw(std::string_view line) { text_.append(line) += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// One value an output, separated by blanks.
template <class F>
std::string row(const std::vector<OutputRecord>& outputs, F&& value) {
  std::string out;
  for (const OutputRecord& o : outputs) {
    if (!out.empty()) out += ' ';
    out += value(o);
  }
  return out;
}

// Python's list of strings.
template <class F>
std::string list(const std::vector<OutputRecord>& outputs, F&& value) {
  std::string out;
  for (const OutputRecord& o : outputs) out += (out.empty() ? "" : ", ") + std::string(value(o));
  return '[' + out + ']';
}
std::string shape_text(const OutputRecord& o) { return fmt::format("[{}]", fmt::join(o.shape, ", ")); }
std::string compiled_shape_text(const OutputRecord& o) {
  return fmt::format("[{}]", fmt::join(o.compiled_shape, ", "));
}

std::string six_digits(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "NaN"; }
std::string times_text(const Summary& s) {
  return fmt::format(R"({{"median": {}, "iqr": {}, "mean": {}, "std": {}, "min": {}, "max": {}}})",
                     six_digits(s.median), six_digits(s.iqr), six_digits(s.mean), six_digits(s.std), six_digits(s.min),
                     six_digits(s.max));
}
std::string times_text(const Times& t) {
  if (t.gpu_ms.empty()) return fmt::format(R"({{"e2e": {}}})", times_text(t.e2e));
  return fmt::format(R"({{"e2e": {}, "gpu": {}}})", times_text(t.e2e), times_text(t.gpu));
}

void write_head(Lines& lines, const Record& r) {
  const Conditions& c = r.conditions;
  lines.add("[Processing] {}", plain(r.graph));
  const std::size_t slash = r.graph.find_last_of('/', r.graph.find_last_not_of('/'));
  lines.add("[Config] model: {}", plain(slash == std::string::npos ? r.graph : r.graph.substr(slash + 1)));
  lines.add("[Config] device: {}", plain(c.device));
  lines.add("[Config] hardware: {}", plain(c.hardware));
  lines.add("[Config] compiler: {}", plain(r.candidate));
  lines.add("[Config] warmup: {}", c.warmup);
  lines.add("[Config] trials: {}", c.trials);
  lines.add("[Config] compile_framework_version: {}", plain(c.torch_version));
  if (!r.task.empty()) lines.add("[Config] task: {}", plain(r.task));
}

void write_types(Lines& lines, const std::vector<OutputRecord>& outputs, bool match) {
  const auto eager = [](const OutputRecord& o) { return word(o.dtype); };
  const auto compiled = [](const OutputRecord& o) {
    return word(o.compiled_dtype.empty() ? o.dtype : o.compiled_dtype);
  };
  const auto quoted = [](auto name) { return [name](const OutputRecord& o) { return '\'' + name(o) + '\''; }; };
  lines.add("[Datatype][eager]: {}", row(outputs, eager));
  lines.add("[Datatype][compiled]: {}", row(outputs, compiled));
  lines.add("[DataType] eager:{} compiled:{} match:{}", list(outputs, quoted(eager)), list(outputs, quoted(compiled)),
            match ? "True" : "False");
}

// The outputs; and one more entry that carries the blame where something else was worse than all of them: another draw,
// or an input that was changed. Where there are none, one that says how right the record is.
std::vector<OutputRecord> outputs_to_blame(const Record& r) {
  Record said;
  said.tightest_t = kTightest;
  said.outputs = r.outputs;
  const int all = record_tightest_t(r);
  if (score_class(r.status) == Status::correct && (record_tightest_t(said) < all || r.outputs.empty())) {
    OutputRecord& other = said.outputs.emplace_back();
    other.dtype = "float32";
    other.tightest_t.fill(all);
  }
  return std::move(said.outputs);
}

void write_correctness(Lines& lines, const std::vector<OutputRecord>& outputs) {
  lines.add("[Correctness][equal]: {}", row(outputs, [](const OutputRecord& o) { return o.equal ? "1" : "0"; }));
  for (int t = kTightest; t <= kLoosest; ++t)
    for (std::size_t law = 0; law < kLaws; ++law)
      lines.add("[Correctness]{}: {}", close_key(law, t), row(outputs, [&](const OutputRecord& o) {
                  // A key of t = 0 stands for every law; each output is read by its own.
                  const auto own = law_of_name(o.dtype);
                  return o.tightest_t[t == 0 && own ? *own : law] <= t ? "1" : "0";
                }));
  lines.add("[Correctness][max_diff]: {}",
            row(outputs, [](const OutputRecord& o) { return python_float(o.max_diff); }));
  lines.add("[Correctness][mean_diff]: {}",
            row(outputs, [](const OutputRecord& o) { return python_float(o.mean_diff); }));
}

void write_times(Lines& lines, const Record& r) {
  if (!r.timed) return;
  lines.add("[Performance][eager]: {}", times_text(r.eager));
  lines.add("[Performance][compiled]: {}", times_text(r.compiled));
  if (r.speedup.value > 0) lines.add("[Speedup][e2e]: {}", python_float(r.speedup.value));  // all digits: scores agree
  if (!r.eager.gpu_ms.empty() && r.gpu_speedup.value > 0)
    lines.add("[Speedup][gpu]: {}", python_float(r.gpu_speedup.value));
}

void write_errors(Lines& lines, const Record& r) {
  for (const Error& error : r.errors) lines.raw(plain(error_line(error)).substr(0, kMaxMessageBytes));
}

// ---- reading

// What a line of the sample that is being read has said so far.
class Sample {
 public:
  explicit Sample(std::string_view path) { out_.path = path; }
  void line(std::string_view line);
  LogSample take();

 private:
  void correctness(std::string_view line);
  bool right_at(int t) const;

  LogSample out_;
  bool eager_ = false, compiled_ = false, shapes_ = false, types_ = false, raised_ = false, missed_ = false;
  std::vector<std::string> dtypes_;                            // eager's
  std::unordered_map<std::string, std::vector<bool>> by_key_;  // entries of the keys that a score looks at
};

const std::array<std::array<std::string, kSteps>, kLaws>& close_keys() {
  static const auto keys = [] {
    std::array<std::array<std::string, kSteps>, kLaws> out;
    for (std::size_t law = 0; law < kLaws; ++law)
      for (int t = kTightest; t <= kLoosest; ++t) out[law][step_of(t)] = close_key(law, t);
    return out;
  }();
  return keys;
}
constexpr std::string_view kEqualKey = "[equal]";

// What the reader looks for. One without a marker, which others' texts could say, does not compile.
struct Tag {
  std::string_view text;
  consteval Tag(const char* tag) : text(tag) {  // NOLINT(google-explicit-constructor)
    if (std::none_of(std::begin(kMarkers), std::end(kMarkers),
                     [&](std::string_view marker) { return text.find(marker) != std::string_view::npos; }))
      throw "a tag without a marker";
  }
};

bool has(std::string_view line, Tag tag) { return line.find(tag.text) != std::string_view::npos; }

// What follows `tag` in the line, trimmed; nothing where it is not there or nothing follows.
std::string_view after(std::string_view line, Tag tag) {
  const std::size_t at = line.find(tag.text);
  return at == std::string_view::npos ? std::string_view{} : text_trim(line.substr(at + tag.text.size()));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
template <class F>
void for_words(std::string_view text, F&& use) {
  for (std::size_t i = 0; i < text.size();) {
    while (i < text.size() && is_blank(text[i])) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    if (i > begin) use(text.substr(begin, i - begin));
  }
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void Sample::correctness(std::string_view line) {
  constexpr std::string_view kStart = Tag("[Correctness]").text;
  const std::size_t at = line.find(kStart);
  if (at == std::string_view::npos) return;
  const std::size_t key_at = at + kStart.size(), end = line.rfind("]: ");
  if (end == std::string_view::npos || end < key_at || line[key_at] != '[') return;
  const std::string_view values = line.substr(end + 3);
  if (values.empty()) return;
  const std::string_view key = line.substr(key_at, end + 1 - key_at);
  if (key != kEqualKey && !key.starts_with("[all_close_")) return;
  std::vector<bool> entries;
  for_words(values, [&](std::string_view w) {
    const auto value = number(w);
    entries.push_back(value && *value != 0 && !std::isnan(*value));
  });
  by_key_[std::string(key)] = std::move(entries);
}

void Sample::line(std::string_view line) {
  // The first of these that a line has counts; an error counts beside them.
  if (has(line, "[Datatype][eager]"))
    eager_ = true;
  else if (has(line, "[Datatype][compiled]"))
    compiled_ = true;
  else if (has(line, "[Shape]") && has(line, "match:True"))
    shapes_ = true;
  else if (has(line, "[DataType]") && has(line, "match:True"))
    types_ = true;
  else if (has(line, "all_close"))
    eager_ = compiled_ = shapes_ = true;
  else if (has(line, "No passes modified"))
    missed_ = true;
  raised_ = raised_ || has(line, "Exception:") || has(line, "Error:");

  if (const auto task = after(line, "[Config] task: "); !task.empty()) out_.task = task;
  if (const auto names = after(line, "[Datatype][eager]: "); !names.empty()) {
    dtypes_.clear();
    for_words(names, [&](std::string_view w) { dtypes_.emplace_back(w); });
  }
  if (const auto text = after(line, "[Speedup][e2e]: "); !text.empty()) {
    const auto value = number(text);
    out_.row.speedup = value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
  }
  correctness(line);
}

bool Sample::right_at(int t) const {
  const auto equal = by_key_.find(std::string(kEqualKey));
  const std::size_t outputs = equal == by_key_.end() ? 0 : equal->second.size();
  if (outputs == 0) return false;  // nothing was compared
  for (std::size_t i = 0; i < outputs; ++i) {
    if (i >= dtypes_.size()) return false;
    const auto law = law_of_name(dtypes_[i]);
    const auto entries = law ? by_key_.find(close_keys()[*law][step_of(t)]) : equal;
    if (entries == by_key_.end() || i >= entries->second.size() || !entries->second[i]) return false;
  }
  return true;
}

LogSample Sample::take() {
  ScoreRow& row = out_.row;
  row.status = !eager_      ? Status::eager_fail
               : !compiled_ ? Status::compile_fail
               : !shapes_   ? Status::shape_mismatch
               : !types_    ? Status::type_mismatch
               : raised_    ? Status::runtime_fail
               : missed_    ? Status::pass_miss
                            : Status::correct;
  if (row.status == Status::correct)
    for (int t = kTightest; t <= kLoosest; ++t) row.right.set(step_of(t), right_at(t));
  else
    row.speedup.reset();
  return std::move(out_);
}

}  // namespace

std::string log_text(const Record& r) {
  Lines lines;
  write_head(lines, r);
  const Status status = score_class(r.status);
  const std::vector<OutputRecord> outputs = outputs_to_blame(r);
  const auto failed = [&](std::string_view side) {
    write_errors(lines, r);
    lines.add("[Result] status: failed");
    lines.add("[Fail due to {} model execution error.]", side);
    return lines.take();
  };
  if (status == Status::eager_fail) return failed("eager");
  if (status == Status::compile_fail) {
    lines.add("[Datatype][eager]: {}", row(outputs, [](const OutputRecord& o) { return word(o.dtype); }));
    return failed("compiled");
  }
  write_types(lines, outputs, status != Status::type_mismatch);
  if (status == Status::correct)
    write_correctness(lines, outputs);
  else  // the grammar finds a status only behind these
    lines.add("[Shape] eager:{} compiled:{} match:{}", list(outputs, shape_text), list(outputs, compiled_shape_text),
              status != Status::shape_mismatch ? "True" : "False");
  if (status == Status::pass_miss)
    lines.raw("[PassMgrBackend] Warning: No passes modified the graph. Returning original.");
  if (status == Status::runtime_fail) lines.raw(fmt::format("RuntimeError: {}", status_name(r.status)));
  if (status != Status::correct) write_errors(lines, r);
  lines.add("[Result] status: {}", status == Status::runtime_fail ? "failed" : "success");
  if (status == Status::correct) write_times(lines, r);
  return lines.take();
}

std::vector<LogSample> log_read(std::string_view text) {
  constexpr std::string_view kStart = Tag("[Processing]").text;
  std::vector<LogSample> out;
  std::optional<Sample> sample;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const std::size_t at = line.find(kStart); at != std::string_view::npos) {
      if (sample) out.push_back(sample->take());
      sample.emplace(text_trim(line.substr(at + kStart.size())));
    }
    if (sample && !line.empty()) sample->line(line);
  }
  if (sample) out.push_back(sample->take());
  return out;
}

}  // namespace passnet
