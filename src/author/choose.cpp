#include "author/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tile_cpu/cache.h"
#include "tile_cpu/compile.h"

namespace passnet::author {

namespace {

constexpr double kWin = 1.02;  // eager has to take at least this many times as long

std::string key_of(const GraphFolder& graph, const AuthoredPass& pass, int threads) {
  std::string all = fmt::format("author 1\n{}\n{}\n", threads, graph_content_hash(graph.graph));
  for (const std::int32_t i : graph.inputs) {
    const TensorMeta& meta = graph.metas[static_cast<std::size_t>(i)];
    all += fmt::format("{} {}\n", dtype_row(meta.dtype).name, fmt::join(meta.shape, ","));
  }
  return tile_cpu::content_key(all + pass_file(pass)) + ".author";
}

}  // namespace

Result<std::vector<Decision>> choose(const GraphFolder& graph, std::vector<AuthoredPass>& passes, Measure& measure,
                                     int threads) {
  return guarded([&] {
    const tile_cpu::CacheWorkplace place = tile_cpu::CacheWorkplace::make().take();
    std::vector<Decision> out;
    for (AuthoredPass& pass : passes) {
      Decision d;
      d.pass = pass.name;
      const std::string key = key_of(graph, pass, threads);
      if (const auto known = tile_cpu::cache_read(key)) {
        char* rest = nullptr;
        d.ratio = std::strtod(known->c_str(), &rest);
        d.spread = std::strtod(rest, nullptr);
        d.remembered = true;
      } else {
        const std::string folder = place.path() + "/pass_" + pass.name;
        write_pass_folder(folder, {pass}, false).take();
        const PassFolder loaded = load_pass_folder(folder, {}).take();
        auto timing = measure.time(graph, loaded);
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
        if (!timing) {
          d.why = timing.error().message;
        } else {
          d.ratio = timing->ratio();
          d.spread = timing->spread;
          (void)tile_cpu::cache_add_text(fmt::format("{} {}", d.ratio, d.spread), key);  // only costs time
        }
      }
      d.kept = d.why.empty() && d.ratio >= kWin;
      out.push_back(std::move(d));
    }
    std::size_t i = 0;
    std::erase_if(passes, [&](const AuthoredPass&) { return !out[i++].kept; });
    return out;
  });
}

}  // namespace passnet::author
