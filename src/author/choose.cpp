#include "author/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/cache.h"
#include "tile_cpu/compile.h"

namespace passnet::author {

namespace {

constexpr double kWin = 1.02;          // measured: eager has to take this many times as long in the mean,
constexpr double kLoss = 0.97;         // and at least this on every graph
constexpr double kExpectedWin = 1.05;  // estimated
constexpr double kNoise = 0.25;        // a spread above it is measured again,
constexpr int kAttempts = 3;           // at most so often

std::string key_of(const GraphFolder& graph, const AuthoredPass& pass, int threads, const std::string& place) {
  std::string all = fmt::format("author 2\n{}{}\n{}\n", threads, place, graph_content_hash(graph.graph));
  for (const std::int32_t i : graph.inputs) {
    const TensorMeta& meta = graph.metas[static_cast<std::size_t>(i)];
    all += fmt::format("{} {}\n", dtype_row(meta.dtype).name, fmt::join(meta.shape, ","));
  }
  return tile_cpu::content_key(all + pass_file(pass)) + ".author";
}

}  // namespace

namespace {

Decision time_pass(const GraphFolder& graph, const AuthoredPass& pass, Measure& measure, int threads,
                   const std::string& place) {
  Decision d;
  d.measured = true;
  const std::string key = key_of(graph, pass, threads, measure.place());
  if (const auto known = cache_read(key)) {
    char* rest = nullptr;
    d.ratio = std::strtod(known->c_str(), &rest);
    d.spread = std::strtod(rest, nullptr);
    d.remembered = true;
    return d;
  }
  const std::string folder = place + "/" + pass.name;
  write_pass_folder(folder, {pass}, false).take();
  const auto timing = [&]() -> Result<Timing> {
    auto loaded = load_pass_folder(folder, {});
    if (!loaded) return std::move(loaded.error());
    auto best = measure.time(graph, *loaded);
    for (int i = 1; i < kAttempts && best && best->spread > kNoise; ++i)
      if (auto again = measure.time(graph, *loaded);  // the faster one was disturbed less
          again && again->eager_us + again->pass_us < best->eager_us + best->pass_us)
        best = std::move(again);
    return best;
  }();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!timing) {
    d.why = timing.error().message;
    return d;
  }
  d.ratio = timing->ratio();
  d.spread = timing->spread;
  (void)cache_add_text(fmt::format("{} {}", d.ratio, d.spread), key);  // only costs time
  return d;
}

}  // namespace

Result<AuthoredTask> author_task(std::span<const GraphFolder> graphs, AuthorOptions options, Measure* measure,
                                 int threads) {
  return guarded([&] {
    AuthoredTask out;
    const bool keep_all = options.keep_all && measure == nullptr;
    options.keep_all = true;  // what is dropped is decided here, for all graphs at once
    for (const GraphFolder& graph : graphs) options.halves |= has_halves(graph);
    std::optional<CacheWorkplace> place;
    if (measure != nullptr) place.emplace(CacheWorkplace::make().take());
    struct Score {
      double logs = 0, least = 1e9;
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
    for (const GraphFolder& graph : graphs) {
      Authored authored = author_graph(graph, options).take();
      std::vector<Decision> decisions;
      for (const AuthoredPass& pass : authored.passes) {
        Decision d;
        if (measure != nullptr)
          d = time_pass(graph, pass, *measure, threads, place->path());
        else
          d.ratio = pass.pass_cost > 0 ? pass.eager_cost / pass.pass_cost : 0;
        d.pass = pass.name;
        d.pattern = pass.pattern_key;
        Score& score = scores[pass.pattern_key];
        score.failed |= !d.why.empty() || d.ratio <= 0;
        score.logs += std::log(std::max(d.ratio, 1e-9));
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
      out.graphs.push_back(std::move(authored));
      out.decisions.push_back(std::move(decisions));
    }
    const double win = measure != nullptr ? kWin : kExpectedWin, loss = measure != nullptr ? kLoss : 0;
    const auto kept = [&](const std::string& pattern) {
      const Score& s = scores.at(pattern);
      return s.covered < s.graphs &&
             (keep_all || (!s.failed && s.least >= loss && s.advantage >= 0 && std::exp(s.logs / s.graphs) >= win));
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
