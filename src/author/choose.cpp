#include "author/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/cache.h"
#include "tile_cpu/compile.h"

namespace passnet::author {

namespace {

constexpr double kWin = 1.02;          // measured: eager has to take this many times as long in the mean,
constexpr double kLoss = 0.97;         // and at least this on every graph
constexpr double kExpectedWin = 1.05;  // estimated
constexpr double kBetter = 1.03;       // so many times as fast another plan has to be
constexpr double kPlanSeconds = 3;     // of a task, for trying other plans
constexpr double kLongCall = 0.03;     // seconds of a call for which no other plans are tried,
constexpr double kShare = 0.05;        // nor where a pass is expected to take less of it

// What a measurement gave, as the cache keeps it.
struct Measured {
  Ratio ratio;
  double noise = 0, call_us = 0;  // of the passes
  bool remembered = false;
  std::string why;  // where there is no time
};

// Asks the cache, then the measure. Keys are the graph's content, its shapes and dtypes, the passes' texts, the machine
// and the threads.
class Stopwatch {
 public:
  Stopwatch(Measure& measure, int threads)
      : measure_(measure), threads_(threads), place_(CacheWorkplace::make().take()) {}

  Measured time(const GraphFolder& graph, const AuthoredPass& pass, const AuthoredPass* other = nullptr) {
    const std::string key = key_of(graph, pass_file(pass) + (other == nullptr ? "" : "\n" + pass_file(*other)));
    Measured out;
    if (const auto known = cache_read(key)) {
      std::istringstream(*known) >> out.ratio.value >> out.ratio.low >> out.ratio.high >> out.noise >> out.call_us;
      out.remembered = true;
      return out;
    }
    const auto timing = [&]() -> Result<Timing> {
      auto loaded = load(pass);
      if (!loaded) return std::move(loaded.error());
      if (other == nullptr) return measure_.time(graph, *loaded);
      auto against = load(*other);
      if (!against) return std::move(against.error());
      return measure_.time(graph, *loaded, &*against);
    }();
    if (!timing) {
      out.why = timing.error().message;
      return out;
    }
    out.ratio = timing->speedup;
    out.noise = std::max(timing->eager.e2e.noise(), timing->compiled.e2e.noise());
    out.call_us = timing->compiled.e2e.median * 1e3;
    (void)cache_add_text(
        fmt::format("{} {} {} {} {}", out.ratio.value, out.ratio.low, out.ratio.high, out.noise, out.call_us),
        key);  // only costs time
    return out;
  }

 private:
  std::string key_of(const GraphFolder& graph, const std::string& passes) const {
    std::string all = fmt::format("author 3\n{}{}\n{}\n", threads_, measure_.place(), graph_content_hash(graph.graph));
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
};

AuthoredPass by_plan(AuthoredPass pass, const Alternative& alternative) {
  pass.variants = {alternative.variant};
  pass.kernels = alternative.kernels;
  return pass;
}

using Seconds = std::chrono::duration<double>;

// The plan that is fastest on one graph beyond the noise, each tried against the best so far.
PlanChoice choose_plan(const GraphFolder& graph, const AuthoredPass& usual, Stopwatch& stopwatch,
                       std::chrono::steady_clock::time_point end) {
  PlanChoice out;
  const Measured first = stopwatch.time(graph, usual);
  if (!first.why.empty() || first.call_us > kLongCall * 1e6 || usual.pass_cost < kShare * first.call_us) return out;
  AuthoredPass best = usual;
  for (const Alternative& alternative : usual.alternatives) {
    if (!alternative.differs || std::chrono::steady_clock::now() > end) continue;
    AuthoredPass other = by_plan(usual, alternative);
    const Measured m = stopwatch.time(graph, other, &best);
    ++out.tried;
    if (!m.why.empty() || m.ratio.value < kBetter || m.ratio.low <= 1) continue;
    out.plan = alternative.plan;
    out.gain *= m.ratio.value;
    best = std::move(other);
  }
  return out;
}

// Of every pattern, on the graph where it is expected to take longest; the others take its plan, so that a task's
// graphs share their code.
std::map<std::string, PlanChoice> choose_plans(std::span<const GraphFolder> graphs, std::vector<Authored>& authored,
                                               Stopwatch& stopwatch) {
  struct Place {
    std::size_t graph;
    const AuthoredPass* pass;
  };
  std::map<std::string, Place> longest;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (const AuthoredPass& pass : authored[g].passes) {
      const auto [it, added] = longest.try_emplace(pass.pattern_key, Place{g, &pass});
      if (!added && it->second.pass->pass_cost < pass.pass_cost) it->second = {g, &pass};
    }
  std::vector<Place> order;
  for (const auto& [pattern, place] : longest) order.push_back(place);
  std::stable_sort(order.begin(), order.end(),
                   [](const Place& a, const Place& b) { return a.pass->pass_cost > b.pass->pass_cost; });
  std::map<std::string, PlanChoice> out;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(kPlanSeconds));
  for (const Place& place : order)
    if (std::any_of(place.pass->alternatives.begin(), place.pass->alternatives.end(),
                    [](const Alternative& a) { return a.differs; }))
      out[place.pass->pattern_key] = choose_plan(graphs[place.graph], *place.pass, stopwatch, end);
  for (Authored& graph : authored)
    for (AuthoredPass& pass : graph.passes) {
      const auto choice = out.find(pass.pattern_key);
      if (choice == out.end() || choice->second.plan.empty()) continue;
      const auto chosen = std::find_if(pass.alternatives.begin(), pass.alternatives.end(),
                                       [&](const Alternative& a) { return a.plan == choice->second.plan; });
      if (chosen != pass.alternatives.end()) pass = by_plan(pass, *chosen);
    }
  return out;
}

}  // namespace

Result<AuthoredTask> author_task(std::span<const GraphFolder> graphs, AuthorOptions options, Measure* measure,
                                 int threads) {
  return guarded([&] {
    AuthoredTask out;
    const bool keep_all = options.keep_all && measure == nullptr;
    options.keep_all = true;  // what is dropped is decided here, for all graphs at once
    for (const GraphFolder& graph : graphs) options.halves |= has_halves(graph);
    options.alternatives = measure != nullptr;
    std::optional<Stopwatch> stopwatch;
    if (measure != nullptr) stopwatch.emplace(*measure, threads);
    struct Score {
      double logs = 0, sure_logs = 0, least = 1e9;  // sure: what eager is slower by at least
      int graphs = 0;
      double advantage = 0;  // over passes for parts of it
      int covered = 0;       // graphs where a pass that is kept takes its place
      bool failed = false;
    };
    // What a pass saves: of the graph's time if measured, else microseconds.
    const auto saving = [&](const AuthoredPass& pass, const Decision& d) {
      return measure == nullptr ? pass.eager_cost - pass.pass_cost : d.ratio > 0 ? 1 - 1 / d.ratio : -1;
    };
    const auto is_part = [](const AuthoredPass& part, const AuthoredPass& whole) {
      return part.region.nodes.size() < whole.region.nodes.size() &&
             std::includes(whole.region.nodes.begin(), whole.region.nodes.end(), part.region.nodes.begin(),
                           part.region.nodes.end());
    };
    std::map<std::string, Score> scores;  // by pattern
    for (const GraphFolder& graph : graphs) out.graphs.push_back(author_graph(graph, options).take());
    std::map<std::string, PlanChoice> plans;
    if (stopwatch) plans = choose_plans(graphs, out.graphs, *stopwatch);
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      const Authored& authored = out.graphs[g];
      std::vector<Decision> decisions;
      for (const AuthoredPass& pass : authored.passes) {
        Decision d;
        double sure = 0;
        if (stopwatch) {
          Measured m = stopwatch->time(graphs[g], pass);
          d.measured = true;
          d.ratio = m.ratio.value;
          sure = m.ratio.low;
          d.spread = m.noise;
          d.remembered = m.remembered;
          d.why = std::move(m.why);
          if (const auto it = plans.find(pass.pattern_key); it != plans.end()) d.plan = it->second;
        } else {
          sure = d.ratio = pass.pass_cost > 0 ? pass.eager_cost / pass.pass_cost : 0;
        }
        d.pass = pass.name;
        d.pattern = pass.pattern_key;
        Score& score = scores[pass.pattern_key];
        score.failed |= !d.why.empty() || d.ratio <= 0;
        score.logs += std::log(std::max(d.ratio, 1e-9));
        score.sure_logs += std::log(std::max(sure, 1e-9));
        score.least = std::min(score.least, d.ratio);
        ++score.graphs;
        decisions.push_back(std::move(d));
        out.passes.push_back(pass);
      }
      for (std::size_t i = 0; i < decisions.size(); ++i) {
        double advantage = saving(authored.passes[i], decisions[i]);
        for (std::size_t j = 0; j < decisions.size(); ++j)
          if (is_part(authored.passes[j], authored.passes[i]))
            advantage -= std::max(0.0, saving(authored.passes[j], decisions[j]));
        scores[decisions[i].pattern].advantage += advantage;
      }
      out.decisions.push_back(std::move(decisions));
    }
    const double win = measure != nullptr ? kWin : kExpectedWin, loss = measure != nullptr ? kLoss : 0;
    const auto kept = [&](const std::string& pattern) {
      const Score& s = scores.at(pattern);
      return s.covered < s.graphs && (keep_all || (!s.failed && s.least >= loss && s.advantage >= 0 &&
                                                   s.sure_logs > 0 && std::exp(s.logs / s.graphs) >= win));
    };
    for (const Authored& graph : out.graphs) {
      std::set<std::string> covered;
      for (const AuthoredPass& whole : graph.passes)
        for (const AuthoredPass& part : graph.passes)
          if (is_part(part, whole) && kept(whole.pattern_key)) covered.insert(part.pattern_key);
      for (const std::string& pattern : covered) ++scores.at(pattern).covered;
    }
    for (auto& decisions : out.decisions)
      for (Decision& d : decisions) d.kept = kept(d.pattern);
    std::erase_if(out.passes, [&](const AuthoredPass& p) { return !kept(p.pattern_key); });
    merge_passes(out.passes);
    // A pattern that was written for one graph may occur in another where it was no region. What is dropped leaves its
    // places to the next pass, so all are asked again.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t g = 0; g < graphs.size() && !changed; ++g) {
        const std::vector<std::string> wrong = check_places(graphs[g].graph, out.graphs[g].seen, out.passes);
        std::size_t i = 0;
        changed = std::erase_if(out.passes, [&](const AuthoredPass&) { return !wrong[i++].empty(); }) > 0;
      }
    }
    return out;
  });
}

}  // namespace passnet::author
