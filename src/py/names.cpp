#include "py/names.h"

namespace passnet::py {

namespace {

using Names = std::set<std::string_view>;

void add_parameters(std::span<const Parameter> parameters, Names& out);

void add(const Expr* e, Names& out) {
  if (e == nullptr) return;
  if (e->kind == ExprKind::name) out.insert(e->text);
  for (const Expr* item : e->items) add(item, out);
  for (const Keyword& k : e->keywords) add(k.value, out);
  add_parameters(e->parameters(), out);
  for (const Clause& c : e->clauses()) {
    add(c.target, out);
    add(c.iterable, out);
    for (const Expr* condition : c.conditions) add(condition, out);
  }
}

void add_parameters(std::span<const Parameter> parameters, Names& out) {
  for (const Parameter& p : parameters) {
    add(p.annotation, out);
    add(p.default_value, out);
  }
}

}  // namespace

void add_names_in(const Stmt& s, Names& out) {
  add(s.value, out);
  add(s.annotation, out);
  for (const auto* list : {&s.targets, &s.decorators})
    for (const Expr* e : *list) add(e, out);
  for (const Keyword& k : s.keywords) add(k.value, out);
  add_parameters(s.parameters, out);
  for (const Handler& h : s.handlers) {
    add(h.type, out);
    for (const Stmt* inner : h.body) add_names_in(*inner, out);
  }
  for (const auto* list : {&s.body, &s.orelse, &s.final_body})
    for (const Stmt* inner : *list) add_names_in(*inner, out);
}

void add_names_bound(const Stmt& s, Names& out) {
  switch (s.kind) {
    case StmtKind::function:
    case StmtKind::class_: out.insert(s.name); return;
    case StmtKind::import:
    case StmtKind::import_from:
      for (const Alias& a : s.aliases) out.insert(a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as);
      return;
    default: break;
  }
  for (const Expr* target : s.targets) add(target, out);
  for (const Handler& h : s.handlers)
    for (const Stmt* inner : h.body) add_names_bound(*inner, out);
  for (const auto* list : {&s.body, &s.orelse, &s.final_body})
    for (const Stmt* inner : *list) add_names_bound(*inner, out);
}

}  // namespace passnet::py
