#include "py/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace passnet::py {

namespace {

// How tightly an expression binds; an operand is bracketed where it binds less than its place asks.
enum Level : int {
  kTuple,
  kNamed,
  kTest,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kAtom
};

int binary_level(Op op) {
  switch (op) {
    case Op::bit_or: return kBitOr;
    case Op::bit_xor: return kBitXor;
    case Op::bit_and: return kBitAnd;
    case Op::shift_left:
    case Op::shift_right: return kShift;
    case Op::add:
    case Op::sub: return kSum;
    case Op::pow: return kPower;
    default: return kProduct;
  }
}

int level_of(const Expr& e) {
  switch (e.kind) {
    case ExprKind::tuple: return e.parenthesised || e.items.empty() ? kAtom : kTuple;
    case ExprKind::named: return kNamed;
    case ExprKind::lambda:
    case ExprKind::conditional: return kTest;
    case ExprKind::logic: return e.op == Op::or_ ? kOr : kAnd;
    case ExprKind::unary: return e.op == Op::not_ ? kNot : kUnary;
    case ExprKind::compare: return kCompare;
    case ExprKind::binary: return binary_level(e.op);
    case ExprKind::starred: return kTest;
    case ExprKind::integer: return e.integer < 0 ? kUnary : kAtom;
    default: return kAtom;
  }
}

class Printer {
 public:
  std::string out;

  void expr(const Expr& e, int least = kTuple) {
    const bool brackets = level_of(e) < least;
    if (brackets) out += '(';
    bare(e);
    if (brackets) out += ')';
  }

  void stmt(const Stmt& s, int indent) {
    for (const Expr* d : s.decorators) {
      margin(indent);
      out += '@';
      expr(*d, kNamed);
      out += '\n';
    }
    margin(indent);
    head(s, indent);
  }

  void body(std::span<const Stmt* const> statements, int indent) {
    for (const Stmt* s : statements) stmt(*s, indent);
    if (statements.empty()) {
      margin(indent);
      out += "pass\n";
    }
  }

 private:
  void margin(int indent) { out.append(static_cast<std::size_t>(indent) * 4, ' '); }

  void list(std::span<const Expr* const> items, int least = kNamed) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ", ";
      expr(*items[i], least);
    }
  }

  void tuple_items(const Expr& e) {
    list(e.items, kTest);
    if (e.items.size() == 1) out += ',';
  }

  void bare(const Expr& e) {
    switch (e.kind) {
      case ExprKind::name: out += e.text; break;
      case ExprKind::none: out += "None"; break;
      case ExprKind::boolean: out += e.integer != 0 ? "True" : "False"; break;
      case ExprKind::integer: out += std::to_string(e.integer); break;
      case ExprKind::big_integer: out += e.text; break;
      case ExprKind::real: real(e.real); break;
      case ExprKind::imaginary: real(e.real), out += 'j'; break;
      case ExprKind::string: string(e.text); break;
      case ExprKind::fstring: fstring(e); break;
      case ExprKind::field: field(e); break;
      case ExprKind::ellipsis: out += "..."; break;
      case ExprKind::tuple:
        if (e.parenthesised || e.items.empty()) out += '(';
        tuple_items(e);
        if (e.parenthesised || e.items.empty()) out += ')';
        break;
      case ExprKind::list: out += '[', list(e.items), out += ']'; break;
      case ExprKind::set: out += '{', list(e.items), out += '}'; break;
      case ExprKind::dict: dict(e); break;
      case ExprKind::unary:
        out += op_text(e.op);
        if (e.op == Op::not_) out += ' ';
        expr(*e.items[0], e.op == Op::not_ ? kNot : kUnary);
        break;
      case ExprKind::binary: binary(e); break;
      case ExprKind::logic: {
        const int level = level_of(e);
        for (std::size_t i = 0; i < e.items.size(); ++i) {
          if (i > 0) out += fmt::format(" {} ", op_text(e.op));
          expr(*e.items[i], level + 1);
        }
        break;
      }
      case ExprKind::compare:
        expr(*e.items[0], kBitOr);
        for (std::size_t i = 0; i < e.ops.size(); ++i) {
          out += fmt::format(" {} ", op_text(e.ops[i]));
          expr(*e.items[i + 1], kBitOr);
        }
        break;
      case ExprKind::call: call(e); break;
      case ExprKind::attribute:
        object(*e.items[0]);
        out += '.';
        out += e.text;
        break;
      case ExprKind::subscript:
        object(*e.items[0]);
        out += '[';
        index(*e.items[1]);
        out += ']';
        break;
      case ExprKind::slice: slice(e); break;
      case ExprKind::lambda:
        out += "lambda";
        if (!e.parameters().empty()) out += ' ';
        parameters(e.parameters());
        out += ": ";
        expr(*e.items[0], kTest);
        break;
      case ExprKind::conditional:
        expr(*e.items[1], kOr);
        out += " if ";
        expr(*e.items[0], kOr);
        out += " else ";
        expr(*e.items[2], kTest);
        break;
      case ExprKind::list_comp: comprehension(e, '[', ']'); break;
      case ExprKind::set_comp: comprehension(e, '{', '}'); break;
      case ExprKind::dict_comp: comprehension(e, '{', '}'); break;
      case ExprKind::generator: comprehension(e, '(', ')'); break;
      case ExprKind::starred: out += '*', expr(*e.items[0], kBitOr); break;
      case ExprKind::yield:
        out += e.text.empty() ? "yield" : "yield from";
        if (!e.items.empty()) out += ' ', expr(*e.items[0], kTuple);
        break;
      case ExprKind::named:
        expr(*e.items[0]);
        out += " := ";
        expr(*e.items[1], kTest);
        break;
    }
  }

  void real(double value) {
    if (value > 1.7976931348623157e308)
      out += "1e999";
    else
      out += python_float(value);
  }

  // `1 .real` and `1.0.hex` aside: a number's attribute needs brackets.
  void object(const Expr& e) {
    const bool number = e.kind >= ExprKind::integer && e.kind <= ExprKind::imaginary;
    if (number) out += '(';
    expr(e, kAtom);
    if (number) out += ')';
  }

  void binary(const Expr& e) {
    const int level = binary_level(e.op);
    const bool power = e.op == Op::pow;  // binds to the right, and tighter than a sign on its left
    expr(*e.items[0], power ? kAtom : level);
    out += fmt::format(" {} ", op_text(e.op));
    expr(*e.items[1], power ? kUnary : level + 1);
  }

  void call(const Expr& e) {
    object(*e.items[0]);
    out += '(';
    if (e.items.size() == 2 && e.keywords.empty() && e.items[1]->kind == ExprKind::generator) {
      comprehension_inside(*e.items[1]);
    } else {
      list(e.items.subspan(1));
      keywords(e.keywords, e.items.size() > 1);
    }
    out += ')';
  }

  void keywords(std::span<const Keyword> all, bool comma) {
    for (const Keyword& k : all) {
      if (comma) out += ", ";
      comma = true;
      if (k.name.empty())
        out += "**";
      else
        out.append(k.name) += '=';
      expr(*k.value, kTest);
    }
  }

  void index(const Expr& e) {
    if (e.kind == ExprKind::tuple && !e.parenthesised && !e.items.empty())
      tuple_items(e);
    else
      expr(e, kNamed);
  }

  void slice(const Expr& e) {
    if (e.items[0] != nullptr) expr(*e.items[0], kTest);
    out += ':';
    if (e.items[1] != nullptr) expr(*e.items[1], kTest);
    if (e.items[2] != nullptr) out += ':', expr(*e.items[2], kTest);
  }

  void dict(const Expr& e) {
    out += '{';
    for (std::size_t i = 0; i < e.items.size(); i += 2) {
      if (i > 0) out += ", ";
      if (e.items[i] == nullptr) {
        out += "**";
        expr(*e.items[i + 1], kBitOr);
      } else {
        expr(*e.items[i], kTest);
        out += ": ";
        expr(*e.items[i + 1], kTest);
      }
    }
    out += '}';
  }

  void comprehension(const Expr& e, char open, char close) { out += open, comprehension_inside(e), out += close; }
  void comprehension_inside(const Expr& e) {
    expr(*e.items[0], e.kind == ExprKind::dict_comp ? kTest : kNamed);
    if (e.kind == ExprKind::dict_comp) out += ": ", expr(*e.items[1], kTest);
    for (const Clause& c : e.clauses()) {
      out += " for ";
      expr(*c.target);
      out += " in ";
      expr(*c.iterable, kOr);
      for (const Expr* condition : c.conditions) out += " if ", expr(*condition, kOr);
    }
  }

  void fstring(const Expr& e) {
    // Each piece is its own literal: adjacent literals are one, and no piece has to quote another's quotes.
    bool first = true;
    for (const Expr* item : e.items) {
      if (!first) out += ' ';
      first = false;
      if (item->kind == ExprKind::string)
        string(item->text);
      else
        field(*item);
    }
    // Empty, or plain text only: one empty f-string keeps it formatted.
    if (e.items.empty() || (e.items.size() == 1 && e.items[0]->kind == ExprKind::string))
      out.append(e.items.empty() ? "f" : " f").append(2, inside_.usable("'") ? '\'' : '"');
  }

  // Inside a field Python 3.11 takes neither a backslash nor the quotes of the strings around it.
  struct Inside {
    std::vector<std::string_view> quotes;  // of the f-strings around, outermost first

    bool usable(std::string_view quote) const {
      return std::none_of(quotes.begin(), quotes.end(),
                          [&](auto q) { return quote.find(q) != std::string_view::npos; });
    }
    bool ends_in(std::string_view text) const {
      return std::any_of(quotes.begin(), quotes.end(), [&](auto q) { return text.find(q) != std::string_view::npos; });
    }
  };

  void string(std::string_view text) {
    if (inside_.quotes.empty()) {
      out += python_string(text);
      return;
    }
    // Adjacent literals, each as long as one kind of quotes can hold it.
    bool first = true;
    do {
      std::string_view quote, held;
      for (const std::string_view q : {"'", "\"", "'''", "\"\"\""}) {
        if (!inside_.usable(q)) continue;
        const std::string_view stop = q == "'" ? "'\n" : q == "\"" ? "\"\n" : q.substr(0, 1);
        const std::string_view prefix = text.substr(0, text.find_first_of(stop));
        if (quote.empty() || prefix.size() > held.size()) quote = q, held = prefix;
      }
      for (const std::string_view q : inside_.quotes)
        if (const std::size_t at = held.find(q); at != std::string_view::npos) held = held.substr(0, at + q.size() - 1);
      if (quote.empty() || (held.empty() && !text.empty())) failed_ = true;
      if (failed_) return;
      if (!first) out += ' ';
      first = false;
      out.append(quote).append(held).append(quote);
      text.remove_prefix(held.size());
    } while (!text.empty());
  }

  void field(const Expr& e) {
    for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
      if (!inside_.usable(quote)) continue;
      Printer inner;
      inner.inside_ = inside_;
      inner.inside_.quotes.push_back(quote);
      inner.field_text(e);
      if (inner.failed_ || inner.out.find(quote) != std::string::npos) continue;
      if (quote.size() == 1 && inner.out.find('\n') != std::string::npos) continue;
      const std::string text = fmt::format("f{}{}{}", quote, inner.out, quote);
      if (inside_.ends_in(text)) continue;
      out += text;
      return;
    }
    failed_ = true;
  }
  void field_text(const Expr& e) {
    out += '{';
    const std::size_t begin = out.size();
    expr(*e.items[0], kOr);  // a ':' of its own would begin the format
    if (out[begin] == '{') out.insert(begin, 1, ' ');
    if (!e.text.empty()) out.append("!").append(e.text);
    if (e.items.size() > 1) {
      out += ':';
      for (const Expr* item : e.items[1]->items) {
        if (item->kind == ExprKind::field)
          field_text(*item);
        else
          format_text(item->text);
      }
    }
    out += '}';
  }
  void format_text(std::string_view text) {
    constexpr std::string_view kEscaped = "\\'\"{}";
    const bool escapes = inside_.quotes.size() == 1;  // deeper, the text stands inside an outer field
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f && kEscaped.find(c) == std::string_view::npos)
        out += c;
      else if (escapes)
        out += fmt::format("\\x{:02x}", byte);
      else if (c == '\\' || c == '{' || c == '}')
        failed_ = true;
      else
        out += c;
    }
  }

  void parameters(std::span<const Parameter> all) {
    bool star = false, slash = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Parameter& p = all[i];
      if (i > 0) out += ", ";
      if (slash && !p.positional_only) out += "/, ";
      slash = p.positional_only;
      if (p.kind == ParameterKind::var_positional)
        star = true, out += '*';
      else if (p.kind == ParameterKind::var_keyword)
        out += "**";
      else if (p.keyword_only && !star)
        star = true, out += "*, ";
      out += p.name;
      if (p.annotation != nullptr) out += ": ", expr(*p.annotation, kTest);
      if (p.default_value != nullptr) out += p.annotation != nullptr ? " = " : "=", expr(*p.default_value, kTest);
    }
    if (slash) out += ", /";
  }

  void aliases(std::span<const Alias> all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) out += ", ";
      out += all[i].name;
      if (!all[i].as.empty()) out.append(" as ").append(all[i].as);
    }
  }

  void block(std::span<const Stmt* const> statements, int indent) {
    out += ":\n";
    body(statements, indent + 1);
  }
  void else_block(std::span<const Stmt* const> statements, int indent) {
    if (statements.empty()) return;
    margin(indent);
    out += "else";
    block(statements, indent);
  }

  // Where a tuple needs no brackets but `x := y` does.
  void top(const Expr& e) { expr(e, e.kind == ExprKind::named ? kTest : kTuple); }

  void word(std::string_view keyword, const Expr* value) {
    out += keyword;
    if (value != nullptr) out += ' ', top(*value);
  }

  void head(const Stmt& s, int indent) {
    switch (s.kind) {
      case StmtKind::expression: top(*s.value); break;
      case StmtKind::assign:
        for (const Expr* t : s.targets) expr(*t), out += " = ";
        top(*s.value);
        break;
      case StmtKind::annotated:
        expr(*s.targets[0]);
        out += ": ";
        expr(*s.annotation, kTest);
        if (s.value != nullptr) out += " = ", top(*s.value);
        break;
      case StmtKind::augmented:
        expr(*s.targets[0]);
        out += fmt::format(" {}= ", op_text(s.op));
        top(*s.value);
        break;
      case StmtKind::return_: word("return", s.value); break;
      case StmtKind::pass: out += "pass"; break;
      case StmtKind::break_: out += "break"; break;
      case StmtKind::continue_: out += "continue"; break;
      case StmtKind::raise:
        word("raise", s.value);
        if (s.annotation != nullptr) out += " from ", expr(*s.annotation, kTest);
        break;
      case StmtKind::assert_:
        out += "assert ";
        expr(*s.value, kTest);
        if (s.annotation != nullptr) out += ", ", expr(*s.annotation, kTest);
        break;
      case StmtKind::delete_: out += "del ", list(s.targets); break;
      case StmtKind::import: out += "import ", aliases(s.aliases); break;
      case StmtKind::import_from:
        out += "from " + std::string(s.level, '.');
        out += s.name;
        out += " import ";
        aliases(s.aliases);
        break;
      case StmtKind::global: out += "global ", aliases(s.aliases); break;
      case StmtKind::nonlocal: out += "nonlocal ", aliases(s.aliases); break;
      default: return compound(s, indent);
    }
    out += '\n';
  }

  void compound(const Stmt& s, int indent) {
    switch (s.kind) {
      case StmtKind::if_: if_(s, indent); break;
      case StmtKind::for_:
        out += "for ";
        expr(*s.targets[0]);
        out += " in ";
        top(*s.value);
        block(s.body, indent);
        else_block(s.orelse, indent);
        break;
      case StmtKind::while_:
        out += "while ";
        expr(*s.value, kNamed);
        block(s.body, indent);
        else_block(s.orelse, indent);
        break;
      case StmtKind::function:
        out.append("def ").append(s.name) += '(';
        parameters(s.parameters);
        out += ')';
        if (s.annotation != nullptr) out += " -> ", expr(*s.annotation, kTest);
        block(s.body, indent);
        break;
      case StmtKind::class_:
        out.append("class ").append(s.name);
        if (!s.targets.empty() || !s.keywords.empty()) {
          out += '(';
          list(s.targets);
          keywords(s.keywords, !s.targets.empty());
          out += ')';
        }
        block(s.body, indent);
        break;
      case StmtKind::with: with(s, indent); break;
      case StmtKind::try_: try_(s, indent); break;
      case StmtKind::match:
        out += "match ";
        top(*s.value);
        block(s.body, indent);
        break;
      case StmtKind::case_:
        out += "case ";
        top(*s.value);
        if (!s.name.empty()) out.append(" as ").append(s.name);
        if (s.annotation != nullptr) out += " if ", expr(*s.annotation, kNamed);
        block(s.body, indent);
        break;
      default: break;
    }
  }

  void with(const Stmt& s, int indent) {
    // `with (a, b):` would enter a and b: a tuple alone has brackets of its own.
    const bool tuple = s.targets.size() == 2 && s.targets[1] == nullptr && s.targets[0]->kind == ExprKind::tuple;
    out += tuple ? "with (" : "with ";
    for (std::size_t i = 0; i < s.targets.size(); i += 2) {
      if (i > 0) out += ", ";
      expr(*s.targets[i], kTest);
      if (s.targets[i + 1] != nullptr) out += " as ", expr(*s.targets[i + 1], kNamed);
    }
    if (tuple) out += ')';
    block(s.body, indent);
  }

  void if_(const Stmt& first, int indent) {
    const Stmt* s = &first;
    out += "if ";
    while (true) {
      expr(*s->value, kNamed);
      block(s->body, indent);
      if (s->orelse.size() != 1 || s->orelse[0]->kind != StmtKind::if_) break;
      s = s->orelse[0];
      margin(indent);
      out += "elif ";
    }
    else_block(s->orelse, indent);
  }

  void try_(const Stmt& s, int indent) {
    out += "try";
    block(s.body, indent);
    for (const Handler& h : s.handlers) {
      margin(indent);
      out += "except";
      if (h.type != nullptr) out += ' ', expr(*h.type, kTest);
      if (!h.name.empty()) out.append(" as ").append(h.name);
      block(h.body, indent);
    }
    else_block(s.orelse, indent);
    if (s.final_body.empty()) return;
    margin(indent);
    out += "finally";
    block(s.final_body, indent);
  }

  Inside inside_;
  bool failed_ = false;  // the quotes at hand could not hold it; another choice of them will
};

}  // namespace

std::string print(const Expr& expr) {
  Printer printer;
  printer.expr(expr);
  return std::move(printer.out);
}

std::string print(const Stmt& stmt, int indent) {
  Printer printer;
  printer.stmt(stmt, indent);
  return std::move(printer.out);
}

std::string print(const Module& module) {
  Printer printer;
  for (const Stmt* s : module.body()) printer.stmt(*s, 0);
  return std::move(printer.out);
}

}  // namespace passnet::py
