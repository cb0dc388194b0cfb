#include "author/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>

#include "base/cache.h"
#include "tile_cpu/compile.h"

namespace passnet::author {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWin = 1.05;          // measured: eager has to take this many times as long in the mean,
constexpr double kLoss = 0.97;         // and at least this on every graph
constexpr double kLeastGain = 0.5;     // microseconds of a call that count as a gain
constexpr double kClear = 1.15;        // a gain below it is measured twice
constexpr double kExpectedWin = 1.05;  // estimated
constexpr double kBetter = 1.03;       // so many times as fast another plan has to be
constexpr double kNoise = 0.3;         // with less noise than this;
constexpr double kDisturbed = 4;       // more is no plan's doing: a thread waited for a core that somebody else holds
constexpr double kPlanShare = 0.4;     // of the time of a task, for trying other plans
constexpr double kFewestCalls = 12;    // of long calls, to compare and to time them;
constexpr double kLongMeasurement = 0.5;  // seconds that are worth a look at the clock
constexpr double kLongCall = 0.03;        // seconds of a call for which no other plans are tried,
constexpr double kShare = 0.05;           // nor where a pass is expected to take less of it

double input_bytes(const GraphFolder& graph) {
  double out = 1;
  for (const std::int32_t i : graph.inputs) {
    const TensorMeta& meta = graph.metas[static_cast<std::size_t>(i)];
    out += static_cast<double>(meta.element_count()) * static_cast<double>(dtype_row(meta.dtype).size);
  }
  return out;
}

// What a measurement gave, as the cache keeps it.
struct Measured {
  Ratio ratio;
  double noise = 0, call_us = 0;  // of the passes
  bool remembered = false;
  bool late = false;   // the task's time was used up
  std::string why;     // where there is no time
  bool wrong = false;  // since the answer differs from eager's
};

// Asks the cache, then the measure. Keys are the graph's content, its shapes and dtypes, the passes' texts, the machine
// and the threads.
class Stopwatch {
 public:
  Stopwatch(Measure& measure, int threads, double seconds)
      : measure_(measure), threads_(threads), place_(CacheWorkplace::make().take()), seconds_(seconds) {}

  // Of the task's time, what is used.
  double share() const { return std::chrono::duration<double>(Clock::now() - begin_).count() / seconds_; }

  Measured time(const GraphFolder& graph, const AuthoredPass& pass, const AuthoredPass* other = nullptr) {
    const std::string key = key_of(graph, pass_file(pass) + (other == nullptr ? "" : "\n" + pass_file(*other)));
    Measured out;
    if (const auto known = cache_read(key)) {
      std::istringstream(*known) >> out.ratio.value >> out.ratio.low >> out.ratio.high >> out.noise >> out.call_us;
      out.remembered = true;
      return out;
    }
    const double bytes = input_bytes(graph), expected = kFewestCalls * call_rate_ * bytes;
    out.late = share() > 1 || (expected > kLongMeasurement && share() * seconds_ + expected > seconds_);
    if (out.late) return out;
    const auto measured = [&]() -> Result<Timing> {
      auto loaded = load(pass);
      if (!loaded) return std::move(loaded.error());
      if (other == nullptr) return measure_.time(graph, *loaded);
      auto against = load(*other);
      if (!against) return std::move(against.error());
      return measure_.time(graph, *loaded, &*against);
    };
    auto timing = measured();
    // What wins by little over eager has to win twice.
    if (timing && other == nullptr && timing->speedup.value > 1 && timing->speedup.value < kClear)
      if (auto again = measured(); again && again->speedup.value < timing->speedup.value) timing = std::move(again);
    if (!timing) {
      out.wrong = timing.error().code == Code::answer;
      out.why = (out.wrong ? "its answer differs from eager's: " : "") + timing.error().message;
      return out;
    }
    out.ratio = timing->speedup;
    out.noise = std::max(timing->eager.e2e.noise(), timing->compiled.e2e.noise());
    out.call_us = timing->compiled.e2e.median * 1e3;
    const double slowest = std::max(timing->eager.e2e.median, timing->compiled.e2e.median);
    call_rate_ = std::max(call_rate_, slowest * 1e-3 / bytes);
    (void)cache_add_text(
        fmt::format("{} {} {} {} {}", out.ratio.value, out.ratio.low, out.ratio.high, out.noise, out.call_us),
        key);  // only costs time
    return out;
  }

 private:
  std::string key_of(const GraphFolder& graph, const std::string& passes) const {
    std::string all = fmt::format("author 5\n{}{}\n{}\n", threads_, measure_.place(), graph_content_hash(graph.graph));
    for (const std::int32_t i : graph.inputs) {
      const TensorMeta& meta = graph.metas[static_cast<std::size_t>(i)];
      all += fmt::format("{} {}\n", dtype_row(meta.dtype).name, fmt::join(meta.shape, ","));
    }
    return tile_cpu::content_key(all + passes) + ".author";
  }
  Result<PassFolder> load(const AuthoredPass& pass) {
    const std::string folder = place_.path() + "/" + pass.name;
    write_pass_folder(folder, {pass}, false).take();
    auto loaded = load_pass_folder(folder, {});
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return loaded;
  }

  Measure& measure_;
  int threads_;
  CacheWorkplace place_;
  double seconds_;
  double call_rate_ = 0;  // seconds a byte of the graph's inputs, of the slowest calls so far
  Clock::time_point begin_ = Clock::now();
};

AuthoredPass by_plan(AuthoredPass pass, const Alternative& alternative) {
  pass.variants = {alternative.variant};
  pass.kernels = alternative.kernels;
  return pass;
}

// The plan that is fastest on one graph beyond the noise, each tried against the best so far. `known`: of the usual
// one.
PlanChoice choose_plan(const GraphFolder& graph, const AuthoredPass& usual, const Measured& known,
                       Stopwatch& stopwatch) {
  PlanChoice out;
  if (known.call_us > kLongCall * 1e6 || usual.pass_cost < kShare * known.call_us) return out;
  AuthoredPass best = usual;
  for (const Alternative& alternative : usual.alternatives) {
    if (!alternative.differs || stopwatch.share() > kPlanShare) continue;
    AuthoredPass other = by_plan(usual, alternative);
    const Measured m = stopwatch.time(graph, other, &best);
    ++out.tried;
    if (m.wrong) out.wrong = fmt::format("{}: {}", alternative.plan, m.why);
    const bool better = m.ratio.value >= kBetter && m.ratio.low > 1 && m.ratio.value < kDisturbed;
    if (!m.why.empty() || !better || m.noise > kNoise) continue;
    out.plan = alternative.plan;
    out.gain *= m.ratio.value;
    best = std::move(other);
  }
  return out;
}

// A task's graphs share their code, so they share a plan.
void use_plan(std::vector<Authored>& graphs, const std::string& pattern, const std::string& plan) {
  for (Authored& graph : graphs)
    for (AuthoredPass& pass : graph.passes) {
      const auto chosen = std::find_if(pass.alternatives.begin(), pass.alternatives.end(),
                                       [&](const Alternative& a) { return a.plan == plan; });
      if (pass.pattern_key == pattern && chosen != pass.alternatives.end()) pass = by_plan(pass, *chosen);
    }
}

// One graph of each dtype, float32 first, then the next of each, small ones before large ones: what is known when time
// is used up is known of all.
std::vector<std::size_t> order_of(std::span<const GraphFolder> graphs) {
  std::vector<std::size_t> by_size(graphs.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return input_bytes(graphs[a]) < input_bytes(graphs[b]); });
  std::map<Dtype, std::size_t> met;
  std::vector<std::tuple<std::size_t, bool, std::size_t>> order;
  for (const std::size_t g : by_size) {
    Dtype dtype = Dtype::float32;
    for (const std::int32_t i : graphs[g].inputs)
      if (const Dtype d = graphs[g].metas[static_cast<std::size_t>(i)].dtype; dtype_row(d).floating) dtype = d;
    order.emplace_back(met[dtype]++, dtype != Dtype::float32, g);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> out;
  for (const auto& [turn, other, g] : order) out.push_back(g);
  return out;
}

bool is_part(const AuthoredPass& part, const AuthoredPass& whole) {
  return part.region.nodes.size() < whole.region.nodes.size() &&
         std::includes(whole.region.nodes.begin(), whole.region.nodes.end(), part.region.nodes.begin(),
                       part.region.nodes.end());
}

// What is known of a pattern on all graphs.
struct Score {
  double logs = 0, errors = 0;  // of the ratios; squares, of what they may be too large by
  int graphs = 0, known = 0;    // where it is, and where its time is known
  double advantage = 0;         // over passes for parts of it
  int covered = 0;              // graphs where a pass that is kept takes its place
  bool lost = false;            // on some graph

  bool wins(double least) const {
    return !lost && known > 0 && advantage >= 0 && logs > std::sqrt(errors) && std::exp(logs / known) >= least;
  }
};

class Choice {
 public:
  Choice(std::span<const GraphFolder> graphs, AuthorOptions options, Measure* measure, int threads)
      : graphs_(graphs), keep_all_(options.keep_all && measure == nullptr) {
    options.keep_all = true;  // what is dropped is decided here, for all graphs at once
    for (const GraphFolder& graph : graphs) options.halves |= has_halves(graph);
    options.alternatives = measure != nullptr;
    if (measure != nullptr) stopwatch_.emplace(*measure, threads, options.seconds);
    for (const GraphFolder& graph : graphs) out_.graphs.push_back(author_graph(graph, options).take());
    out_.decisions.resize(graphs.size());
  }

  AuthoredTask run() {
    for (const std::size_t g : order_of(graphs_)) {
      for (const AuthoredPass& pass : out_.graphs[g].passes) out_.decisions[g].push_back(decide(g, pass));
      add_advantages(out_.graphs[g].passes, out_.decisions[g]);
    }
    find_covered();
    for (auto& decisions : out_.decisions)
      for (Decision& d : decisions) d.kept = is_kept(d.pattern);
    for (const Authored& graph : out_.graphs)
      for (const AuthoredPass& pass : graph.passes)
        if (is_kept(pass.pattern_key)) out_.passes.push_back(pass);
    merge_passes(out_.passes);
    drop_misplaced();
    return std::move(out_);
  }

 private:
  Decision decide(std::size_t g, const AuthoredPass& pass) {
    Decision d;
    d.pass = pass.name;
    d.pattern = pass.pattern_key;
    Score& score = scores_[pass.pattern_key];
    ++score.graphs;
    Measured m;
    if (!stopwatch_) {
      m.ratio.value = m.ratio.low = m.ratio.high = pass.pass_cost > 0 ? pass.eager_cost / pass.pass_cost : 0;
    } else if (score.lost) {
      m.why = "it loses on another graph";
    } else {
      m = time_by_best_plan(g, pass);
      d.measured = m.why.empty() && !m.late;
      d.remembered = m.remembered;
      d.spread = m.noise;
      if (const auto it = plans_.find(pass.pattern_key); it != plans_.end()) d.plan = it->second;
    }
    d.ratio = m.ratio.value;
    d.why = m.late ? "no time was left to measure it here" : m.why;
    if (m.late) return d;
    ++score.known;
    score.lost |= !d.why.empty() || d.ratio <= 0 || (stopwatch_ && d.ratio < kLoss && m.ratio.high < 1);
    const bool sure = !stopwatch_ || (d.ratio - 1) * m.call_us >= kLeastGain;
    score.logs += std::log(std::max(sure ? d.ratio : std::min(d.ratio, 1.0), 1e-9));
    const double error = std::log(std::max(d.ratio, 1e-9) / std::max(m.ratio.low, 1e-9));
    score.errors += error * error;
    return d;
  }

  // A pattern's plan is chosen on the first graph where plans differ.
  Measured time_by_best_plan(std::size_t g, const AuthoredPass& pass) {
    Measured m = stopwatch_->time(graphs_[g], pass);
    const bool differ =
        std::any_of(pass.alternatives.begin(), pass.alternatives.end(), [](const Alternative& a) { return a.differs; });
    if (!differ || m.late || !m.why.empty() || plans_.contains(pass.pattern_key)) return m;
    const PlanChoice plan = plans_[pass.pattern_key] = choose_plan(graphs_[g], pass, m, *stopwatch_);
    if (plan.plan.empty()) return m;
    use_plan(out_.graphs, pass.pattern_key, plan.plan);
    return stopwatch_->time(graphs_[g], pass);
  }

  // What a pass saves: of the graph's time if measured, else microseconds.
  double saving(const AuthoredPass& pass, const Decision& d) const {
    return !stopwatch_ ? pass.eager_cost - pass.pass_cost : d.ratio > 0 ? 1 - 1 / d.ratio : -1;
  }

  void add_advantages(const std::vector<AuthoredPass>& passes, const std::vector<Decision>& decisions) {
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      double advantage = saving(passes[i], decisions[i]);
      for (std::size_t j = 0; j < decisions.size(); ++j)
        if (is_part(passes[j], passes[i])) advantage -= std::max(0.0, saving(passes[j], decisions[j]));
      if (decisions[i].ratio > 0) scores_[decisions[i].pattern].advantage += advantage;
    }
  }

  bool is_kept(const std::string& pattern) const {
    const Score& s = scores_.at(pattern);
    return s.covered < s.graphs && (keep_all_ || s.wins(stopwatch_ ? kWin : kExpectedWin));
  }

  void find_covered() {
    for (const Authored& graph : out_.graphs) {
      std::set<std::string> covered;
      for (const AuthoredPass& whole : graph.passes)
        for (const AuthoredPass& part : graph.passes)
          if (is_part(part, whole) && is_kept(whole.pattern_key)) covered.insert(part.pattern_key);
      for (const std::string& pattern : covered) ++scores_.at(pattern).covered;
    }
  }

  // A pattern that was written for one graph may occur in another where it was no region. What is dropped leaves its
  // places to the next pass, so all are asked again.
  void drop_misplaced() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t g = 0; g < graphs_.size() && !changed; ++g) {
        const std::vector<std::string> wrong = check_places(graphs_[g].graph, out_.graphs[g].seen, out_.passes);
        for (std::size_t i = wrong.size(); i-- > 0;) {
          if (wrong[i].empty()) continue;
          drop(i, wrong[i]);
          changed = true;
        }
      }
    }
  }

  void drop(std::size_t pass, const std::string& why) {
    for (auto& decisions : out_.decisions)
      for (Decision& d : decisions)
        if (d.pattern == out_.passes[pass].pattern_key) {
          d.kept = false;
          d.why = why;
        }
    out_.passes.erase(out_.passes.begin() + static_cast<std::ptrdiff_t>(pass));
  }

  std::span<const GraphFolder> graphs_;
  const bool keep_all_;
  std::optional<Stopwatch> stopwatch_;   // none: the cost model decides
  std::map<std::string, Score> scores_;  // by pattern
  std::map<std::string, PlanChoice> plans_;
  AuthoredTask out_;
};

}  // namespace

Result<AuthoredTask> author_task(std::span<const GraphFolder> graphs, AuthorOptions options, Measure* measure,
                                 int threads) {
  return guarded([&] { return Choice(graphs, std::move(options), measure, threads).run(); });
}

}  // namespace passnet::author
