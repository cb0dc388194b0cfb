#include "data/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace passnet::data {

namespace {

std::vector<Count> sorted(const std::map<std::string, std::size_t>& counts) {
  std::vector<Count> out;
  for (const auto& [name, count] : counts) out.push_back({name.empty() ? "unknown" : name, count});
  std::stable_sort(out.begin(), out.end(), [](const Count& a, const Count& b) { return a.count > b.count; });
  return out;
}

Quantiles quantiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {values.front(), at(0.25), at(0.5), at(0.75), values.back()};
}

std::string html(std::string_view text) {
  std::string out;
  for (const char c : text_printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

// The figures in the order in which both outputs have them.
struct Figure {
  std::string name, value;
};
std::vector<Figure> figures(const Stats& s) {
  const auto number = [](std::size_t n) { return std::to_string(n); };
  const auto spread = [](const Quantiles& q, double unit, int digits) {
    return fmt::format("{:.{}f} / {:.{}f} / {:.{}f} / {:.{}f} / {:.{}f}", q.smallest / unit, digits, q.quarter / unit,
                       digits, q.median / unit, digits, q.three_quarters / unit, digits, q.largest / unit, digits);
  };
  return {{"graphs", number(s.graphs)},
          {"not readable", number(s.failed)},
          {"unique (with shapes)", number(s.unique)},
          {"unique computations", number(s.computations)},
          {"samples", number(s.samples)},
          {"operators", number(s.calls)},
          {"distinct operators", number(s.ops.size())},
          {"operators a graph", spread(s.op_counts, 1, 0)},
          {"graphs a sample", spread(s.sample_sizes, 1, 0)},
          {"MiB of inputs", spread(s.input_bytes, 1 << 20, 2)}};
}

}  // namespace

Stats count_stats(const std::vector<Facts>& facts) {
  Stats out;
  std::map<std::string, std::size_t> ops, dtypes, families;
  std::map<Key, std::size_t> samples;
  std::set<Key> unique, computations;
  std::vector<double> op_counts, bytes, sample_sizes;
  for (const Facts& f : facts) {
    if (!f.error.empty()) {
      ++out.failed;
      continue;
    }
    ++out.graphs;
    unique.insert(f.graph);
    computations.insert(f.computation);
    ++samples[f.sample];
    ++dtypes[f.dtype];
    ++families[f.family];
    for (const std::string& op : std::set<std::string>(f.ops.begin(), f.ops.end())) ++ops[op];
    out.calls += f.ops.size();
    op_counts.push_back(static_cast<double>(f.ops.size()));
    bytes.push_back(static_cast<double>(f.input_bytes));
  }
  for (const auto& [key, count] : samples) sample_sizes.push_back(static_cast<double>(count));
  out.unique = unique.size();
  out.computations = computations.size();
  out.samples = samples.size();
  out.ops = sorted(ops);
  out.dtypes = sorted(dtypes);
  out.families = sorted(families);
  out.op_counts = quantiles(std::move(op_counts));
  out.input_bytes = quantiles(std::move(bytes));
  out.sample_sizes = quantiles(std::move(sample_sizes));
  return out;
}

std::string stats_table(const Stats& stats, std::size_t rows) {
  std::string out;
  for (const Figure& f : figures(stats)) out += fmt::format("{:<22} {}\n", f.name, f.value);
  const auto list = [&](const char* title, const std::vector<Count>& counts) {
    out += fmt::format("\n{}\n", title);
    for (std::size_t i = 0; i < std::min(rows, counts.size()); ++i)
      out += fmt::format("{:>8}  {}\n", counts[i].count, text_printable(counts[i].name));
    if (counts.size() > rows) out += fmt::format("{:>8}  more\n", counts.size() - rows);
  };
  list("graphs by dtype", stats.dtypes);
  list("graphs by family", stats.families);
  list("graphs by operator", stats.ops);
  return out;
}

std::string stats_page(const Stats& stats, const std::string& title) {
  std::string out = fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>\n"
      "body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}\n"
      "table {{ border-collapse: collapse; }} td {{ padding: 0 1em 0 0; vertical-align: top; }}\n"
      ".bar {{ display: inline-block; height: 0.8em; background: #4a7; }} .n {{ text-align: right; }}\n"
      "</style>\n<h1>{0}</h1>\n<p>Spreads are smallest / quarter / median / three quarters / largest.</p>\n<table>\n",
      html(title));
  for (const Figure& f : figures(stats)) out += fmt::format("<tr><td>{}<td>{}\n", html(f.name), html(f.value));
  out += "</table>\n";
  const auto list = [&](const char* heading, const std::vector<Count>& counts) {
    out += fmt::format("<h2>{}</h2>\n<table>\n", heading);
    for (const Count& c : counts)
      out += fmt::format("<tr><td class=\"n\">{}<td>{}<td><span class=\"bar\" style=\"width: {:.1f}em\"></span>\n",
                         c.count, html(c.name),
                         20.0 * static_cast<double>(c.count) / static_cast<double>(counts.front().count));
    out += "</table>\n";
  };
  list("Graphs by dtype", stats.dtypes);
  list("Graphs by family", stats.families);
  list("Graphs by operator", stats.ops);
  return out;
}

}  // namespace passnet::data
