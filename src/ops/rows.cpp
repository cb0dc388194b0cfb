#include "ops/rows.h"

#include <fmt/format.h>
#include <cstdlib>

#include <unordered_map>

#include "base/embedded.h"
#include "py/parser.h"
#include "py/printer.h"

namespace passnet {

namespace {

constexpr Embedded kSources[] = {
#include "op_rows.inc"
};

struct Rows {
  std::vector<py::Module> modules;
  std::vector<OpRow> rows;
  std::unordered_map<std::string_view, const OpRow*> by_spelling;
  std::unordered_map<std::string_view, const py::Stmt*> helpers;
};

Rows load() {
  Rows out;
  out.modules.reserve(std::size(kSources));
  for (const Embedded& source : kSources) {
    auto module = py::parse(std::string(source.name), std::string(source.text));
    if (!module) {  // our own file: a test loads the table, so this is caught before it ships
      fmt::print(stderr, "{}\n", error_text(module.error()));
      std::abort();
    }
    out.modules.push_back(std::move(*module));
    const py::Module& kept = out.modules.back();
    for (const py::Stmt* s : kept.body()) {
      if (s->kind != py::StmtKind::function) continue;
      if (s->decorators.empty()) {
        out.helpers[s->name] = s;
        continue;
      }
      OpRow row{{}, &kept, s};
      for (const py::Expr* spelling : s->decorators[0]->items.subspan(1)) row.spellings.emplace_back(spelling->text);
      out.rows.push_back(std::move(row));
    }
  }
  for (const OpRow& row : out.rows)
    for (const std::string& spelling : row.spellings) out.by_spelling[spelling] = &row;
  return out;
}

const Rows& rows() {
  static const Rows kept = load();
  return kept;
}

}  // namespace

std::string OpRow::signature() const {
  std::string text = py::print(*function);
  const std::size_t open = text.find("def row(");
  const std::size_t close = text.find("):\n", open);
  return text.substr(open + 7, close - open - 6);
}

const std::vector<OpRow>& op_rows() { return rows().rows; }

const OpRow* op_row_find(std::string_view spelling) {
  const auto it = rows().by_spelling.find(spelling);
  return it == rows().by_spelling.end() ? nullptr : it->second;
}

const py::Stmt* op_helper_find(std::string_view name) {
  const auto it = rows().helpers.find(name);
  return it == rows().helpers.end() ? nullptr : it->second;
}

}  // namespace passnet
