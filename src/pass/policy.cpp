#include "pass/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ops/table.h"
#include "py/printer.h"

namespace passnet {

namespace {

constexpr std::string_view kAllocations[] = {"empty", "empty_like", "empty_strided", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "as_tensor"};
constexpr std::string_view kMetadata[] = {"shape", "size", "stride", "numel", "nelement", "dim", "ndim", "ndimension", "dtype", "device", "is_contiguous", "element_size", "is_cuda", "itemsize", "nbytes", "requires_grad", "storage_offset", "is_floating_point", "get_device", "layout"};
constexpr std::string_view kViews[] = {"view", "reshape", "permute", "transpose", "expand", "unsqueeze", "squeeze", "flatten", "contiguous", "t", "T", "mT", "view_as", "expand_as", "unflatten", "narrow", "select", "movedim", "swapaxes", "detach", "to", "new_empty", "new_zeros", "new_ones", "new_full", "unbind", "chunk", "split", "as_strided", "ravel", "type", "float", "half", "bfloat16", "int", "long", "double", "bool"};
// Other things of torch that are no computation.
constexpr std::string_view kHarmless[] = {"Size", "is_tensor", "device", "dtype", "Tensor", "fx.wrap", "fx._symbolic_trace.wrap"};

template <std::size_t N>
bool has(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// A walk over a function's syntax that knows which local names stand for something of torch.
class PolicyCheck {
 public:
  explicit PolicyCheck(const PassModule& module) : module_(module) {}
  std::vector<PolicyViolation> found;

  void function(const py::Stmt& f) {
    const auto saved = locals_;
    for (const py::Parameter& p : f.parameters) {
      locals_[p.name] = {};  // hides an import of that name
      if (p.default_value != nullptr) expr(*p.default_value);
    }
    body(f.body);
    locals_ = saved;
  }

  void body(std::span<const py::Stmt* const> statements) {
    for (const py::Stmt* s : statements) statement(*s);
  }

  void statement(const py::Stmt& s) {
    using K = py::StmtKind;
    switch (s.kind) {
      case K::function:
        if (!is_kernel(module_, s)) function(s);
        return;
      case K::import:
      case K::import_from: return import(s);
      case K::assign:
        expr(*s.value);
        for (const py::Expr* t : s.targets) {
          target(*t);
          if (t->kind == py::ExprKind::name) locals_[t->text] = path_of(*s.value);  // relu = torch.relu
        }
        return;
      case K::augmented:
        target(*s.targets[0]);
        expr(*s.value);
        return;
      case K::annotated:
        if (s.value != nullptr) expr(*s.value);
        return;
      case K::for_: target(*s.targets[0]); break;
      default: break;
    }
    if (s.value != nullptr) expr(*s.value);
    body(s.body);
    body(s.orelse);
    body(s.final_body);
    for (const py::Handler& h : s.handlers) body(h.body);
    if (s.kind == K::with)
      for (const py::Expr* e : s.targets)
        if (e != nullptr) expr(*e);
  }

  void expr(const py::Expr& e) {
    if (e.kind == py::ExprKind::call) call(e);
    for (const py::Expr* item : e.items)
      if (item != nullptr) expr(*item);
    for (const py::Keyword& k : e.keywords) expr(*k.value);
    if (e.kind == py::ExprKind::list_comp || e.kind == py::ExprKind::generator || e.kind == py::ExprKind::set_comp || e.kind == py::ExprKind::dict_comp)
      for (const py::Clause& c : e.clauses()) {
        expr(*c.iterable);
        for (const py::Expr* condition : c.conditions) expr(*condition);
      }
    if (e.kind == py::ExprKind::lambda)
      for (const py::Parameter& p : e.parameters())
        if (p.default_value != nullptr) expr(*p.default_value);
  }

 private:
  void refuse(Code code, py::Place place, std::string message, std::string note) {
    found.push_back({{code, module_.syntax.where(place), std::move(message), {std::move(note)}}});
  }

  // torch.x.y = ... would patch torch for everyone.
  void target(const py::Expr& t) {
    if (t.kind == py::ExprKind::attribute) {
      const std::string path = path_of(t);
      refuse(Code::integrity, t.place, fmt::format("assignment to '{}'", path.empty() ? py::print(t) : path), "a pass may not change anything outside itself");
    }
    if (t.kind == py::ExprKind::tuple || t.kind == py::ExprKind::list)
      for (const py::Expr* item : t.items) target(*item);
  }

  void import(const py::Stmt& s) {
    for (const py::Alias& a : s.aliases) {
      const std::string path = s.kind == py::StmtKind::import ? std::string(a.name) : std::string(s.name) + "." + std::string(a.name);
      const std::string_view as = a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as;
      locals_[as] = s.kind == py::StmtKind::import && a.as.empty() ? std::string(as) : path;
      for (const std::string_view forbidden : {"torch.nn", "torch.ops", "torch.autograd", "torch._C", "torch._inductor", "torch._dynamo"})
        if (path == forbidden || path.starts_with(std::string(forbidden) + ".")) refuse(Code::policy, s.place, fmt::format("import of '{}' inside a function", path), allowed_calls_note());
    }
  }

  // What an expression stands for outside: through local names, imports, module constants and getattr.
  std::string path_of(const py::Expr& e) const {
    if (e.kind == py::ExprKind::name) {
      if (const auto it = locals_.find(e.text); it != locals_.end()) return it->second;
      return resolve_path(module_, e);
    }
    if (e.kind == py::ExprKind::attribute) {
      std::string head = path_of(*e.items[0]);
      return head.empty() ? head : head + "." + std::string(e.text);
    }
    if (e.kind == py::ExprKind::call && e.items.size() >= 3 && e.items[0]->kind == py::ExprKind::name && e.items[0]->text == "getattr") {
      const std::string head = path_of(*e.items[1]);
      if (head.empty()) return {};
      return head + "." + (e.items[2]->kind == py::ExprKind::string ? std::string(e.items[2]->text) : "<computed name>");
    }
    if (e.kind == py::ExprKind::subscript) {  // {"relu": torch.relu}["relu"], [torch.relu][0]
      const py::Expr& object = *e.items[0];
      for (const py::Expr* item : object.items)
        if (item != nullptr && (object.kind == py::ExprKind::dict || object.kind == py::ExprKind::list || object.kind == py::ExprKind::tuple))
          if (std::string path = path_of(*item); path.starts_with("torch.") && op_find(path)) return path;
    }
    if (e.kind == py::ExprKind::conditional) {
      for (std::size_t i = 1; i < 3; ++i)
        if (std::string path = path_of(*e.items[i]); path.starts_with("torch.") && op_find(path)) return path;
    }
    return {};
  }

  void call(const py::Expr& e) {
    const py::Expr& callee = *e.items[0];
    const std::string path = path_of(callee);
    const std::string written = py::print(callee);
    if (path.starts_with("torch.")) {
      const std::string_view name = std::string_view(path).substr(6);
      if (has(kAllocations, name) || has(kHarmless, name)) return;
      return refuse(Code::policy, e.place, fmt::format("call of '{}'{}", written, written == path ? "" : fmt::format(", which is {}", path)), allowed_calls_note());
    }
    if (path.empty() && callee.kind == py::ExprKind::name && !module_.star_imports.empty() && !locals_.contains(callee.text) && module_.find(callee.text) == nullptr) {
      for (const std::string& star : module_.star_imports)
        if (star.starts_with("torch") && op_find(fmt::format("{}.{}", star, callee.text)))
          return refuse(Code::policy, e.place, fmt::format("call of '{}', which is {}.{} (import *)", callee.text, star, callee.text), allowed_calls_note());
    }
    // A method that computes. Strings and lists have methods too: a name they share is judged when the wrapper runs.
    if (callee.kind == py::ExprKind::attribute && path.empty()) {
      const std::string_view name = callee.text;
      constexpr std::string_view kShared[] = {"split", "index", "count", "copy", "sort", "replace", "get", "items", "values", "keys", "format", "update", "pop", "add", "insert"};
      if (name == "data_ptr") return refuse(Code::policy, e.place, "call of '.data_ptr'", "a wrapper hands tensors to kernels, never addresses");
      if (!has(kMetadata, name) && !has(kViews, name) && !has(kShared, name) && !name.starts_with("__") && op_find("." + std::string(name)))
        refuse(Code::policy, e.place, fmt::format("call of '.{}', a method of Tensor that computes", name), allowed_calls_note());
    }
  }

  const PassModule& module_;
  std::unordered_map<std::string_view, std::string> locals_;
};

}  // namespace

bool is_allocation(std::string_view name) { return has(kAllocations, name); }
bool is_metadata(std::string_view name) { return has(kMetadata, name); }
bool is_view(std::string_view name) { return has(kViews, name); }

std::string allowed_calls_note() {
  return "a wrapper may allocate (torch.empty, empty_like, zeros, zeros_like, ones, ones_like, full, full_like, as_tensor), read metadata, take views and launch kernels; compute in a kernel, or run with --policy open";
}

std::vector<PolicyViolation> check_policy(const PassModule& module) {
  PolicyCheck check(module);
  for (const py::Stmt* s : module.syntax.body()) {
    if (s->kind == py::StmtKind::function) {
      if (s->name == "pattern" || s->name == "replacement_args" || is_kernel(module, *s)) continue;
      check.function(*s);
    } else if (s->kind == py::StmtKind::expression || s->kind == py::StmtKind::assign || s->kind == py::StmtKind::annotated) {
      if (s->value != nullptr) check.expr(*s->value);
    }
  }
  return std::move(check.found);
}

}  // namespace passnet
