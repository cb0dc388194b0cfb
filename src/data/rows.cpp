#include "data/rows.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "base/embedded.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "bench/peer.h"

namespace passnet::data {

namespace {

using nlohmann::ordered_json;

constexpr Embedded kScripts[] = {
#include "parquet_script.inc"
};

struct Column {
  std::string_view column, file;
};
constexpr Column kColumns[] = {
    {"model_py", "model.py"},
    {"weight_meta_py", "weight_meta.py"},
    {"input_meta_py", "input_meta.py"},
    {"input_tensor_constraints_py", "input_tensor_constraints.py"},
    {"graph_net_json", "graph_net.json"},
    {"graph_hash_txt", "graph_hash.txt"},
};

Error row_error(std::string what) { return {Code::syntax, {}, std::move(what), {}}; }

bool stays_inside(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos) return false;
  for (const std::string_view part : text_split(name, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

Result<std::monostate> run_script(const char* what, const std::string& from, const std::string& to) {
  const std::string python = peer_python();
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "HOME", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  ProcessLimits limits;
  limits.seconds = 3600;
  limits.memory_bytes = std::int64_t{64} << 30;  // of addresses, which pyarrow reserves freely
  limits.file_bytes = std::int64_t{1} << 40;
  auto done = process_run({python, "-c", std::string(kScripts[0].text), what, from, to}, environment, limits);
  if (!done) return std::move(done.error());
  if (done->status == 3)
    return Error{Code::environment,
                 {},
                 fmt::format("{} has no pyarrow, which Parquet needs", python),
                 {fmt::format("install it: {} -m pip install pyarrow", python), "or use .jsonl, which needs nothing"}};
  if (done->status != 0) return Error{Code::io, {from, 0, 0, {}}, text_printable(done->output), {}};
  return std::monostate{};
}

}  // namespace

std::string print_row(const GraphRow& row) {
  const std::string* model = find_file(row.files, "model.py");
  ordered_json out = {{"uid", sha256_hex(row.name + "\n" + (model == nullptr ? "" : *model)).substr(0, 16)},
                      {"name", row.name}};
  for (const Column& c : kColumns) {
    const std::string* text = find_file(row.files, c.file);
    out[std::string(c.column)] = text == nullptr ? "" : *text;  // every row has every column
  }
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<GraphRow> parse_row(std::string_view line) {
  const ordered_json row = json_read(line);
  if (!row.is_object()) return row_error("the line is no JSON object");
  const auto text = [&](std::string_view key) -> std::string {
    const auto found = row.find(key);
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  GraphRow out;
  out.name = text("name").empty() ? text("uid") : text("name");
  if (!stays_inside(out.name))
    return row_error(fmt::format("'{}' is no name of a graph: a relative path without '..'", text_printable(out.name)));
  for (const Column& c : kColumns)
    if (std::string content = text(c.column); !content.empty())
      out.files.push_back({std::string(c.file), std::move(content)});
  if (find_file(out.files, "model.py") == nullptr) return row_error("no column model_py");
  return out;
}

Result<std::monostate> read_rows(const std::string& path,
                                 const std::function<void(std::size_t line, Result<GraphRow>)>& row) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::io, {path, 0, 0, {}}, "cannot open", {}};
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (text_trim(line).empty()) continue;
    if (line.size() > kFileLimit)
      row(number, Error{Code::limit, {path, static_cast<std::uint32_t>(number), 0, {}}, "the line is too long", {}});
    else
      row(number, parse_row(line));
  }
  return std::monostate{};
}

Result<std::monostate> rows_to_parquet(const std::string& rows, const std::string& parquet) {
  return run_script("write", rows, parquet);
}
Result<std::monostate> parquet_to_rows(const std::string& parquet, const std::string& rows) {
  return run_script("read", parquet, rows);
}

}  // namespace passnet::data
