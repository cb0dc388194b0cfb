#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/text.h"

namespace passnet::cli {

namespace {

constexpr int kShownT[] = {-10, -5, -3, -1, 0, 1, 2, 3, 4};
constexpr std::size_t kShownTasks = 3;

struct Column {
  std::string name;
  std::vector<ScoreTask> tasks;
  ScoreCard card;
  std::map<Status, std::size_t> statuses;
  std::size_t slower = 0;  // right, and slower than eager beyond the noise
  double geomean = 0;      // of the speedups that were measured
};

Column make_column(const CandidateResults& results) {
  Column c;
  c.name = results.candidate;
  c.tasks = results.tasks();
  c.card = score_card(c.tasks);
  c.statuses = results.statuses();
  double logs = 0;
  std::size_t timed = 0;
  for (const GraphResult& g : results.graphs) {
    if (g.speedup.value <= 0) continue;
    ++timed;
    logs += std::log(g.speedup.value);
    if (g.status == Status::correct && g.speedup.high < 1) ++c.slower;
  }
  c.geomean = timed > 0 ? std::exp(logs / static_cast<double>(timed)) : 0;
  return c;
}

std::string percent(std::size_t part, std::size_t all) {
  return fmt::format("{:.1f} %", all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// Rows of equal columns, the first one to the left.
class Table {
 public:
  void row(std::string head, std::vector<std::string> cells) { rows_.push_back({std::move(head), std::move(cells)}); }
  std::string text() const {
    std::size_t head = 0;
    std::vector<std::size_t> widths;
    for (const auto& [name, cells] : rows_) {
      head = std::max(head, name.size());
      widths.resize(std::max(widths.size(), cells.size()), 8);
      for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
    }
    std::string out;
    for (const auto& [name, cells] : rows_) {
      std::string line = fmt::format("{:<{}}", name, head);
      for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("  {:>{}}", cells[i], widths[i]);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> rows_;
};

std::string tasks_text(const Column& c) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < c.card.task_as.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return c.card.task_as[a] > c.card.task_as[b]; });
  std::string out;
  const auto list = [&](std::string_view what, auto begin, auto end) {
    out += fmt::format("{} tasks of {}:", what, c.name);
    for (; begin != end; ++begin) out += fmt::format("  {} {:.3f}", c.tasks[*begin].name, c.card.task_as[*begin]);
    out += "\n";
  };
  if (order.size() < 2) return out;
  const std::size_t best = std::min(kShownTasks, order.size()), worst = std::min(kShownTasks, order.size() - best);
  list("best", order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best));
  if (worst > 0) list("worst", order.rbegin(), order.rbegin() + static_cast<std::ptrdiff_t>(worst));
  return out;
}

}  // namespace

std::string speedup_text(const Ratio& ratio) {
  if (ratio.within_noise())
    return fmt::format("{:.2f}x, within noise ({:.2f} to {:.2f})", ratio.value, ratio.low, ratio.high);
  return fmt::format("{:.2f}x ({:.2f} to {:.2f})", ratio.value, ratio.low, ratio.high);
}

std::string record_text(const Record& r) {
  std::string line =
      fmt::format("{}  {}  {}", text_printable(r.graph), text_printable(r.candidate), status_name(r.status));
  if (r.timed)
    line += fmt::format("  {}  {:.4g} ms against {:.4g} ms", speedup_text(r.speedup), r.compiled.e2e.median,
                        r.eager.e2e.median);
  if (r.timed && r.gpu_speedup.value > 0) line += fmt::format("  on the GPU {:.2f}x", r.gpu_speedup.value);
  if (r.tightest_t && *r.tightest_t > -5) line += fmt::format("  right from t = {}", *r.tightest_t);
  if (!r.errors.empty()) {
    line += "\n  " + error_line(r.errors[0]);
    for (const std::string& note : r.errors[0].notes) line += "\n    note: " + note;
  }
  return line;
}

std::string bench_table(const Results& results) {
  std::vector<Column> columns;
  for (const CandidateResults& r : results.candidates) columns.push_back(make_column(r));
  Table table;
  const auto row = [&](std::string head, const std::function<std::string(const Column&)>& cell) {
    std::vector<std::string> cells;
    for (const Column& c : columns) cells.push_back(cell(c));
    table.row(std::move(head), std::move(cells));
  };
  row("", [](const Column& c) { return c.name; });
  row("AS",
      [](const Column& c) { return c.card.score.as ? fmt::format("{:.3f}", *c.card.score.as) : std::string("-"); });
  for (const int t : kShownT)
    row(fmt::format("ES({})", t), [&](const Column& c) { return fmt::format("{:.3f}", c.card.score.es[step_of(t)]); });
  row("mean speedup (geometric)",
      [](const Column& c) { return c.geomean > 0 ? fmt::format("{:.3f}", c.geomean) : std::string("-"); });
  for (std::size_t i = 0; i < kFastThan.size(); ++i)
    row(fmt::format("right and over {}x", kFastThan[i]),
        [&](const Column& c) { return fmt::format("{:.1f} %", 100 * c.card.fast[i]); });
  row("right at t = -5", [](const Column& c) { return fmt::format("{:.1f} %", 100 * c.card.right); });
  row("right, slower beyond noise", [](const Column& c) { return percent(c.slower, c.card.graphs); });
  row("graphs", [](const Column& c) { return std::to_string(c.card.graphs); });
  row("tasks", [](const Column& c) { return std::to_string(c.tasks.size()); });
  for (const StatusRow& s : status_rows()) {
    const auto count = [&](const Column& c) {
      const auto at = c.statuses.find(s.status);
      return at == c.statuses.end() ? std::size_t{0} : at->second;
    };
    if (std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return count(c) > 0; }))
      row(std::string("  ") + std::string(s.name), [&](const Column& c) { return std::to_string(count(c)); });
  }
  std::string out = table.text();
  for (const Column& c : columns) out += tasks_text(c);
  return out;
}

}  // namespace passnet::cli
