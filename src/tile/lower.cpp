// The front-end's door, the parameters, and statements other than control flow.
#include "tile/lower.h"

#include <algorithm>
#include <limits>

#include "py/printer.h"
#include "tile/lowering.h"

namespace passnet::tile {

using K = py::StmtKind;

Operand Operand::of(ConstValue v) {
  if (v.is(ConstValue::Kind::tuple)) {
    std::vector<Operand> items;
    for (ConstValue& item : v.items) items.push_back(of(std::move(item)));
    return tuple(std::move(items));
  }
  Operand o;
  o.constant = std::move(v);
  return o;
}
Operand Operand::tensor(ValueId id) {
  Operand o;
  o.kind = Kind::tensor;
  o.id = id;
  return o;
}
Operand Operand::tuple(std::vector<Operand> items) {
  Operand o;
  o.kind = Kind::tuple;
  o.items = std::move(items);
  return o;
}
Operand Operand::path(std::string text) {
  Operand o;
  o.kind = Kind::path;
  o.text = std::move(text);
  return o;
}
Operand Operand::lost(std::string why) {
  Operand o;
  o.kind = Kind::lost;
  o.text = std::move(why);
  return o;
}

ArgumentSpec ArgumentSpec::integer(const Integer& value, bool specialised) {
  if (value == 1 && specialised) return of(ConstValue::of(value));
  const Elem elem = holds(Elem::i32, value) ? Elem::i32 : holds(Elem::i64, value) ? Elem::i64 : Elem::u64;
  return {Kind::scalar, elem, {}, {}, {}};
}

bool is_constexpr_annotation(const py::Expr* annotation) {
  if (annotation == nullptr) return false;
  const std::string text =
      annotation->kind == py::ExprKind::string ? std::string(annotation->text) : py::dotted_name(*annotation);
  return text == "constexpr" || text.ends_with(".constexpr");
}

Result<Function> lower_kernel(const Names& names, const py::Module& file, const py::Stmt& kernel,
                              std::span<const ArgumentSpec> arguments, int num_warps) {
  return guarded([&] { return Lowering(names, file, kernel, num_warps).lower(arguments); });
}

Lowering::Lowering(const Names& names, const py::Module& file, const py::Stmt& kernel, int num_warps)
    : kernel_(kernel), num_warps_(num_warps) {
  out_.name = kernel.name;
  out_.files.push_back(file.file());
  block_ = &out_.body;
  kernel_frame_.names = &names;
  kernel_frame_.file = &file;
  kernel_frame_.kernel = true;
  frame_ = &kernel_frame_;
  place_ = kernel.place;
}

Function Lowering::lower(std::span<const ArgumentSpec> arguments) {
  if (kernel_.kind != K::function) refuse("a kernel is a function", {}, ErrorCode::internal);
  bind_parameters(kernel_, arguments);
  run_body(kernel_.body);
  return std::move(out_);
}

void Lowering::bind_parameters(const py::Stmt& kernel, std::span<const ArgumentSpec> arguments) {
  if (arguments.size() != kernel.parameters.size())
    refuse(fmt::format("kernel {} takes {} arguments, {} are given", kernel.name, kernel.parameters.size(),
                       arguments.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const py::Parameter& p = kernel.parameters[i];
    const ArgumentSpec& a = arguments[i];
    place_ = p.place;
    if (p.kind != py::ParameterKind::normal)
      refuse(fmt::format("kernel {} has the parameter *{}", kernel.name, p.name), "name every parameter of a kernel");
    refuse_marked(p);
    if (is_constexpr_annotation(p.annotation) && !a.is_constant())
      refuse(fmt::format("'{}' is a tl.constexpr; what is given for it is no constant", p.name),
             "a tl.constexpr takes numbers, bools, strings, None, element types, functions and tuples of them");
    set_name(p.name, bind(p, std::string(p.name), a));
  }
  place_ = kernel.place;
}

// Triton's compiler sees only the parameters that can be given in both ways.
void Lowering::refuse_marked(const py::Parameter& p) const {
  if (p.keyword_only || p.positional_only)
    refuse(fmt::format("'{}' is a {} parameter, which Triton does not compile", p.name,
                       p.keyword_only ? "keyword-only" : "positional-only"),
           fmt::format("leave out the '{}' among the parameters", p.keyword_only ? '*' : '/'));
}

// What a kernel sees of an argument, or of a tuple's item.
Operand Lowering::bind(const py::Parameter& p, const std::string& name, const ArgumentSpec& a) {
  // n: tl.int64 fixes the type of a number, and 1 is no constant then
  std::optional<Elem> fixed;
  if (p.annotation != nullptr) {
    std::string text = py::dotted_name(*p.annotation);
    fixed = elem_of_name(std::string_view(text).substr(text.rfind('.') + 1));
  }
  switch (a.kind) {
    case ArgumentSpec::Kind::constant:
      if (fixed && a.constant.is_number()) return Operand::tensor(constant(a.constant, *fixed));
      return Operand::of(a.constant);
    case ArgumentSpec::Kind::function: return from_named(a.function, name);
    case ArgumentSpec::Kind::tuple: {
      std::vector<Operand> items;
      for (std::size_t i = 0; i < a.items.size(); ++i) items.push_back(bind(p, item_name(name, i), a.items[i]));
      Operand out = Operand::tuple(std::move(items));
      out.text = a.constant.text;
      return out;
    }
    case ArgumentSpec::Kind::pointer:
    case ArgumentSpec::Kind::scalar: break;
  }
  const bool pointer = a.kind == ArgumentSpec::Kind::pointer;
  const ValueId v = out_.add_value({a.elem, pointer, {}}, name);
  out_.parameters.push_back(name);
  out_.body.params.push_back(v);
  const Operand bound = Operand::tensor(!pointer && fixed && *fixed != a.elem ? cast(v, *fixed) : v);
  if (!pointer || !a.constant.is(ConstValue::Kind::tuple)) return bound;
  std::vector<Operand> args{bound};
  for (const ConstValue& part : a.constant.items) args.push_back(Operand::of(part));
  return call_builtin(*find_builtin("make_tensor_descriptor", kTl), name, std::move(args), {});
}

// ---- statements

// What a plain assignment stores: numbers become values of the run, as in Triton; None and element types stay.
Operand Lowering::run_time(Operand v, std::string_view what) {
  switch (v.kind) {
    case Operand::Kind::tuple:
      for (Operand& item : v.items) item = run_time(std::move(item), what);
      return v;
    case Operand::Kind::constant:
      if (v.constant.is_number()) return Operand::tensor(to_tensor(v));
      if (v.constant.is(ConstValue::Kind::string))
        refuse(fmt::format("{} is a string, which is no value of a running kernel", what),
               "annotate the name: mode: tl.constexpr = ...");
      return v;
    case Operand::Kind::tensor:
    case Operand::Kind::block_pointer:
    case Operand::Kind::descriptor: return v;
    default: refuse(fmt::format("{} is {}, which cannot be assigned", what, operand_text(v)), "call it by its name");
  }
}

void Lowering::set_name(std::string_view name, Operand value) {
  if (value.is_tensor()) {
    std::string& known = out_.names[static_cast<std::size_t>(value.id)];
    if (known.empty()) known = name;
  }
  frame_->scope[name] = std::move(value);
}

void Lowering::assign(const py::Expr& target, Operand value) {
  const At at(*this, target.place);
  using E = py::ExprKind;
  switch (target.kind) {
    case E::name: return set_name(target.text, std::move(value));
    case E::list: refuse("a list of names in an assignment", "write a, b = ...");
    case E::tuple:
      if (!value.is(Operand::Kind::tuple))
        refuse(fmt::format("{} cannot be unpacked into {} names", operand_text(value), target.items.size()));
      for (const py::Expr* item : target.items)
        if (item->kind == E::starred) refuse("'*' among the names that a tuple is unpacked into", "name every item");
      if (value.items.size() != target.items.size())
        refuse(fmt::format("{} values for {} names", value.items.size(), target.items.size()));
      for (std::size_t i = 0; i < target.items.size(); ++i) assign(*target.items[i], std::move(value.items[i]));
      return;
    case E::subscript:
      refuse("items of a tile cannot be assigned",
             "a tile is one value: make a new one with tl.where(mask, new, old), or write to memory with tl.store");
    case E::starred: refuse("a starred name in an assignment", "unpack into as many names as there are values");
    default: refuse("only names can be assigned in a kernel");
  }
}

void Lowering::run_assign(const py::Stmt& s) {
  if (s.targets.size() != 1) refuse("several names assigned at once", "write one assignment a line, or a, b = x, x");
  assign(*s.targets[0], run_time(eval(*s.value), "what is assigned"));
}

void Lowering::run_annotated(const py::Stmt& s) {
  if (!is_constexpr_annotation(s.annotation)) {
    if (s.value != nullptr) run_assign(s);
    return;
  }
  const py::Expr& target = *s.targets[0];
  if (target.kind != py::ExprKind::name) refuse("only a name can be a tl.constexpr");
  const auto known = frame_->scope.find(target.text);
  if (known != frame_->scope.end() && !known->second.is(Operand::Kind::lost))
    refuse(fmt::format("'{}' has a value already; a tl.constexpr is set once", target.text), "use another name");
  Operand v = s.value == nullptr ? Operand() : eval(*s.value);
  set_name(target.text, std::move(v));
}

void Lowering::run_augmented(const py::Stmt& s) {
  const py::Expr& target = *s.targets[0];
  if (target.kind != py::ExprKind::name) return assign(target, {});
  const Operand before = eval(target);
  const Operand value = eval(*s.value);
  assign(target, run_time(binary(s.op, before, value), "what is assigned"));
}

void Lowering::refuse_statement(const py::Stmt& s) {
  switch (s.kind) {
    case K::break_:
    case K::continue_:
      refuse(fmt::format("'{}' in a kernel", s.kind == K::break_ ? "break" : "continue"),
             "loops run to their end: put the rest of the body under an if, or use while with the condition");
    case K::function: refuse("a function inside a kernel", "define it at module level under @triton.jit");
    case K::import:
    case K::import_from: refuse("an import inside a kernel", "import at module level");
    case K::raise: refuse("'raise' in a kernel", "use tl.static_assert or tl.device_assert");
    case K::with: refuse("'with' in a kernel", "kernels have no contexts: leave it out");
    case K::try_:
      refuse("'try' in a kernel", "kernels have no exceptions: decide with if or tl.where, or in the wrapper");
    case K::delete_: refuse("'del' in a kernel", "leave it out");
    case K::global:
    case K::nonlocal: refuse("'global' in a kernel", "kernels see only tl.constexpr values from outside");
    default: refuse("this statement is not part of the kernel language");
  }
}

// ---- emitting

Lowering::At::At(Lowering& l, py::Place place) : l_(l), before_(l.place_) {
  constexpr int kDeepest = 600;  // of our own stack
  l_.place_ = place;
  if (++l_.depth_ > kDeepest) l_.refuse("the kernel is nested too deeply", {}, ErrorCode::limit);
}

Lowering::At::~At() {
  --l_.depth_;
  l_.place_ = before_;
}

void Lowering::step(std::size_t work) {
  constexpr std::size_t kSteps = 4'000'000;
  steps_ += work;
  if (steps_ > kSteps)
    refuse("the kernel takes too long to compile: unrolled loops or calls multiply",
           "use range instead of static_range", ErrorCode::limit);
}

void Lowering::emit_effect(Op op) {
  constexpr std::size_t kMost = 100'000;
  if (++ops_ > kMost)
    refuse(fmt::format("the kernel has more than {} operations", kMost), "use range instead of static_range",
           ErrorCode::limit);
  op.source = {frame_->file_number, place_};
  block_->ops.push_back(std::move(op));
}

ValueId Lowering::emit(Op op, Type result) {
  if (result.shape.elements() > kElementLimit)
    refuse(fmt::format("a tile of {} elements; the most is {}", result.shape.elements(), kElementLimit),
           "take smaller blocks and loop");
  const ValueId id = out_.add_value(result);
  op.results = {id};
  emit_effect(std::move(op));
  return id;
}

ValueId Lowering::emit(Code code, std::vector<ValueId> operands, Type result) {
  Op op;
  op.code = code;
  op.operands = std::move(operands);
  if (exact_ && approximated(code)) op.precision = Precision::ieee;
  return emit(std::move(op), result);
}

void Lowering::refuse(std::string message, std::string note, ErrorCode code) const {
  Error e{code, frame_->file->where(place_), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

// ---- values made of several

void Lowering::flatten(const Operand& v, std::vector<ValueId>& out) {
  if (v.is_tensor()) out.push_back(v.id);
  for (const Operand& item : v.items) flatten(item, out);
}

std::vector<ValueId> Lowering::flatten(const Operand& v) {
  std::vector<ValueId> out;
  flatten(v, out);
  return out;
}

Operand Lowering::rebuild(const Operand& like, std::span<const ValueId>& ids) {
  Operand out = like;
  if (out.is_tensor()) {
    out.id = ids.front();
    ids = ids.subspan(1);
  }
  for (Operand& item : out.items) item = rebuild(item, ids);
  return out;
}

bool Lowering::same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.id == b.id && a.constant.kind == b.constant.kind && a.constant == b.constant &&
         a.text == b.text && a.function == b.function && a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), same);
}

bool Lowering::equal(const Operand& a, const Operand& b) {
  if (a.is(Operand::Kind::tuple) && b.is(Operand::Kind::tuple))
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
  return a.is_constant() && b.is_constant() ? a.constant == b.constant : same(a, b);
}

bool Lowering::same_type(const Operand& a, const Operand& b, bool shapes) const {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  if (a.is_tensor()) {
    const Type x = type(a.id), y = type(b.id);
    return x.elem == y.elem && x.pointer == y.pointer && (x.shape == y.shape || !shapes);
  }
  if (a.is_constant() && !(a.constant.kind == b.constant.kind && a.constant == b.constant)) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same_type(a.items[i], b.items[i], shapes)) return false;
  return true;
}

std::string Lowering::operand_text(const Operand& v) const {
  switch (v.kind) {
    case Operand::Kind::constant: return "the constant " + constant_text(v.constant);
    case Operand::Kind::tensor: return triton_type(lanes_ ? Type{type(v.id).elem, type(v.id).pointer, {}} : type(v.id));
    case Operand::Kind::tuple: return fmt::format("a tuple of {}", v.items.size());
    case Operand::Kind::block_pointer: return "a block pointer";
    case Operand::Kind::descriptor: return "a tensor descriptor";
    case Operand::Kind::of_constants:
    case Operand::Kind::function: return fmt::format("the function {}", v.function->name);
    case Operand::Kind::record: return "the class of a named tuple";
    case Operand::Kind::path: return fmt::format("the function {}", v.text);
    case Operand::Kind::module: return "a module";
    case Operand::Kind::method: return fmt::format("the method {}", v.text);
    case Operand::Kind::slice: return "a slice";
    case Operand::Kind::lost: return "no value";
  }
  return "no value";
}

}  // namespace passnet::tile
