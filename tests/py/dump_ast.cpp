// For tests/py/compare_ast.py: reads file names from stdin and writes, for each, one line: the tree as an s-expression
// with places (`kind@line:column`, the column in bytes from 1), or the error. With --print also parses what it printed.
#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "py/arithmetic.h"
#include "py/parser.h"
#include "py/printer.h"

namespace {

using namespace passnet;

class Dump {
 public:
  explicit Dump(bool places) : places_(places) {}
  std::string out;

  void body(std::span<const py::Stmt* const> statements) {
    out += '[';
    for (const py::Stmt* s : statements) stmt(*s);
    out += ']';
  }

 private:
  void open(std::string_view kind, py::Place place) {
    out += fmt::format("({}", kind);
    if (places_) out += fmt::format("@{}:{}", place.line, place.column);
  }
  void word(std::string_view text) { out.append(" ").append(text.empty() ? "-" : text); }
  void optional(const py::Expr* e) {
    if (e == nullptr)
      word("-");
    else
      expr(*e);
  }
  void list(std::span<const py::Expr* const> items) {
    out += '[';
    for (const py::Expr* e : items) optional(e);
    out += ']';
  }

  void expr(const py::Expr& e) {
    using K = py::ExprKind;
    switch (e.kind) {
      case K::name: open("name", e.place), word(e.text); break;
      case K::none: open("none", e.place); break;
      case K::boolean: open(e.integer != 0 ? "true" : "false", e.place); break;
      case K::integer: integer(e); break;
      case K::big_integer: open("integer", e.place), word(py::integer_of(e).value_or(0).text()); break;
      case K::real: open("real", e.place), word(python_float(e.real)); break;
      case K::imaginary: open("imaginary", e.place), word(python_float(e.real)); break;
      case K::string: open("string", e.place), word(json_string(e.text)); break;
      case K::fstring: fstring(e); break;
      case K::field:
        open("field", e.place), expr(*e.items[0]), word(e.text), optional(e.items.size() > 1 ? e.items[1] : nullptr);
        break;
      case K::ellipsis: open("ellipsis", e.place); break;
      case K::tuple: open("tuple", e.place), list(e.items); break;
      case K::list: open("list", e.place), list(e.items); break;
      case K::set: open("set", e.place), list(e.items); break;
      case K::dict: open("dict", e.place), list(e.items); break;
      case K::unary: open("unary", e.place), word(py::op_text(e.op)), list(e.items); break;
      case K::binary: open("binary", e.place), word(py::op_text(e.op)), list(e.items); break;
      case K::logic: open("logic", e.place), word(py::op_text(e.op)), list(e.items); break;
      case K::compare:
        open("compare", e.place);
        for (const py::Op op : e.ops) word(py::op_text(op));
        list(e.items);
        break;
      case K::call: open("call", e.place), list(e.items), keywords(e.keywords); break;
      case K::attribute: open("attribute", e.place), list(e.items), word(e.text); break;
      case K::subscript: open("subscript", e.place), list(e.items); break;
      case K::slice: open("slice", e.place), list(e.items); break;
      case K::lambda: open("lambda", e.place), parameters(e.parameters()), list(e.items); break;
      case K::conditional: open("conditional", e.place), list(e.items); break;
      case K::list_comp: open("list_comp", e.place), list(e.items), clauses(e); break;
      case K::set_comp: open("set_comp", e.place), list(e.items), clauses(e); break;
      case K::dict_comp: open("dict_comp", e.place), list(e.items), clauses(e); break;
      case K::generator: open("generator", e.place), list(e.items), clauses(e); break;
      case K::starred: open("starred", e.place), list(e.items); break;
      case K::named: open("named", e.place), list(e.items); break;
      case K::yield: open("yield", e.place), word(e.text), list(e.items); break;
    }
    out += ')';
  }

  void integer(const py::Expr& e) {
    if (e.integer >= 0) {
      open("integer", e.place), word(std::to_string(e.integer));
      return;
    }
    // The sign of -2**63 belongs to the number here; its place is that of the digits.
    py::Place sign = e.place;
    --sign.column;
    open("unary", sign), word("-"), out += '[';
    open("integer", e.place), word(std::to_string(e.integer).substr(1)), out += ")]";
  }

  void fstring(const py::Expr& e) {
    open("fstring", e.place);
    const bool places = std::exchange(places_, false);  // Python 3.11 places everything inside oddly
    list(e.items);
    places_ = places;
  }

  void keywords(std::span<const py::Keyword> all) {
    for (const py::Keyword& k : all) open("keyword", k.place), word(k.name), expr(*k.value), out += ')';
  }
  void clauses(const py::Expr& e) {
    for (const py::Clause& c : e.clauses()) {
      out += "(for", expr(*c.target), expr(*c.iterable), list(c.conditions), out += ')';
    }
  }
  void parameters(std::span<const py::Parameter> all) {
    for (const py::Parameter& p : all) {
      const bool normal = p.kind == py::ParameterKind::normal;
      out += normal                                        ? p.positional_only ? "(/"
                                                             : p.keyword_only  ? "(key"
                                                                               : "(parameter"
             : p.kind == py::ParameterKind::var_positional ? "(*"
                                                           : "(**";
      word(p.name), optional(p.annotation), optional(p.default_value), out += ')';
    }
  }

  void aliases(std::span<const py::Alias> all, bool placed) {
    for (const py::Alias& a : all) {
      if (placed)
        open("alias", a.place);
      else
        out += "(alias";
      word(a.name), word(a.as), out += ')';
    }
  }

  void stmt(const py::Stmt& s) {
    using K = py::StmtKind;
    switch (s.kind) {
      case K::expression: open("expression", s.place), expr(*s.value); break;
      case K::assign: open("assign", s.place), list(s.targets), expr(*s.value); break;
      case K::annotated: open("annotated", s.place), list(s.targets), expr(*s.annotation), optional(s.value); break;
      case K::augmented: open("augmented", s.place), word(py::op_text(s.op)), list(s.targets), expr(*s.value); break;
      case K::return_: open("return", s.place), optional(s.value); break;
      case K::if_: open("if", s.place), expr(*s.value), body(s.body), body(s.orelse); break;
      case K::for_: open("for", s.place), list(s.targets), expr(*s.value), body(s.body), body(s.orelse); break;
      case K::while_: open("while", s.place), expr(*s.value), body(s.body), body(s.orelse); break;
      case K::function:
        open("def", s.place), word(s.name), list(s.decorators), parameters(s.parameters), optional(s.annotation),
            body(s.body);
        break;
      case K::class_:
        open("class", s.place), word(s.name), list(s.decorators), list(s.targets), keywords(s.keywords), body(s.body);
        break;
      case K::import: open("import", s.place), aliases(s.aliases, true); break;
      case K::import_from:
        open("from", s.place), word(std::to_string(s.level)), word(s.name), aliases(s.aliases, true);
        break;
      case K::pass: open("pass", s.place); break;
      case K::break_: open("break", s.place); break;
      case K::continue_: open("continue", s.place); break;
      case K::raise: open("raise", s.place), optional(s.value), optional(s.annotation); break;
      case K::assert_: open("assert", s.place), expr(*s.value), optional(s.annotation); break;
      case K::delete_: open("del", s.place), list(s.targets); break;
      case K::global: open("global", s.place), aliases(s.aliases, false); break;
      case K::nonlocal: open("nonlocal", s.place), aliases(s.aliases, false); break;
      case K::with: open("with", s.place), list(s.targets), body(s.body); break;
      case K::try_:
        open("try", s.place), body(s.body);
        for (const py::Handler& h : s.handlers)
          open("except", h.place), optional(h.type), word(h.name), body(h.body), out += ')';
        body(s.orelse), body(s.final_body);
        break;
      case K::match: open("match", s.place), expr(*s.value), body(s.body); break;
      // Python has trees of their own for patterns; what they bind and compare is tested where they are run
      case K::case_: out += "(case", optional(s.annotation), body(s.body); break;
    }
    out += ')';
  }

  bool places_;
};

std::string dump(const py::Module& module, bool places) {
  Dump d(places);
  d.body(module.body());
  return std::move(d.out);
}

std::string answer(const std::string& file, bool print) {
  Result<std::string> text = file_read(file);
  if (!text) return "error " + error_line(text.error());
  const Result<py::Module> module = py::parse(file, std::move(*text));
  if (!module) return "error " + error_line(module.error());
  if (!print) return "tree " + dump(*module, true);
  const std::string printed = py::print(*module);
  const Result<py::Module> again = py::parse("printed", printed);
  if (!again) return "print " + error_text(again.error());
  if (dump(*module, false) != dump(*again, false)) return "print gives another tree";
  if (py::print(*again) != printed) return "print is not stable";
  return "tree " + dump(*module, true);
}

}  // namespace

int main(int count, char** words) {
  const bool print = count > 1 && std::string_view(words[1]) == "--print";
  for (std::string file; std::getline(std::cin, file);) {
    std::string line = answer(file, print);
    for (char& c : line)
      if (c == '\n') c = '|';
    std::cout << line << '\n';
  }
}
