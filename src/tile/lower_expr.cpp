// Expressions: names, attributes, operators, subscripts.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/dtype.h"
#include "py/printer.h"
#include "tile/lowering.h"

namespace passnet::tile {

using E = py::ExprKind;
using O = py::Op;

namespace {

// Whether an operand has no more parts than there is room for: t = (t, t) doubles them.
bool fits(const Operand& v, std::size_t& room) {
  if (room-- == 0) return false;
  return std::all_of(v.items.begin(), v.items.end(), [&](const Operand& item) { return fits(item, room); });
}

}  // namespace

Operand Lowering::eval(const py::Expr& e) {
  step();
  const At at(*this, e.place);
  Operand out = eval_one(e);
  std::size_t room = 1 << 14;
  if (!fits(out, room)) refuse("the tuple is too long", {}, ErrorCode::limit);
  return out;
}

Operand Lowering::eval_one(const py::Expr& e) {
  switch (e.kind) {
    case E::name: return eval_name(e);
    case E::none: return {};
    case E::boolean: return Operand::of(ConstValue::boolean(e.integer != 0));
    case E::integer: return Operand::of(ConstValue::of(e.integer));
    case E::real: return Operand::of(ConstValue::of(e.real));
    case E::string: return Operand::of(ConstValue::string(std::string(e.text)));
    case E::fstring: return Operand::of(ConstValue::string(eval_fstring(e)));
    case E::tuple:
    case E::list: {
      std::vector<Operand> items;
      for (const py::Expr* item : e.items) {
        if (item->kind == E::starred) {
          Operand many = eval(*item->items[0]);
          if (!many.is(Operand::Kind::tuple)) refuse("'*' needs a tuple");
          for (Operand& one : many.items) items.push_back(std::move(one));
        } else {
          items.push_back(eval(*item));
        }
      }
      return Operand::tuple(std::move(items));
    }
    case E::unary: return unary(e.op, eval(*e.items[0]));
    case E::binary: {
      const Operand a = eval(*e.items[0]);
      return binary(e.op, a, eval(*e.items[1]));
    }
    case E::logic: return eval_logic(e);
    case E::compare: return eval_compare(e);
    case E::call: return eval_call(e);
    case E::attribute: return eval_attribute(e);
    case E::subscript: return eval_subscript(e);
    case E::slice: {
      Operand out;
      out.kind = Operand::Kind::slice;
      for (const py::Expr* item : e.items) out.items.push_back(item == nullptr ? Operand{} : eval(*item));
      return out;
    }
    case E::conditional: return conditional(e);
    case E::list_comp: return eval_comprehension(e);
    case E::ellipsis: refuse("'...' in a kernel", "write one ':' per dimension");
    case E::lambda: refuse("a lambda in a kernel", "write a function under @triton.jit");
    case E::named: refuse("':=' in a kernel", "assign on a line of its own");
    default: refuse(fmt::format("'{}' in a kernel", py::print(e).substr(0, 60)));
  }
}

// ---- names

Operand Lowering::eval_name(const py::Expr& e) {
  if (const auto it = frame_->scope.find(e.text); it != frame_->scope.end()) {
    if (it->second.is(Operand::Kind::lost)) refuse(it->second.text);
    return it->second;
  }
  const Named named = frame_->names->find(e.text);
  if (named.kind != Named::Kind::missing) return from_named(named, e.text);
  if (find_builtin(e.text, kPython) != nullptr || e.text == "range" || e.text == "bool" || e.text == "str")
    return Operand::path("builtins." + std::string(e.text));
  std::string note;
  if (find_builtin(e.text, kTl) != nullptr || elem_of_name(e.text))
    note = fmt::format("write tl.{}", e.text);
  else if (const std::string_view hint = builtin_hint(e.text); !hint.empty())
    note = hint;
  else {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : frame_->scope) known.push_back(name);
    std::sort(known.begin(), known.end());
    if (const auto near = text_nearest(e.text, known); !near.empty()) note = "did you mean " + near[0] + "?";
  }
  refuse(fmt::format("'{}' is not defined", e.text), note);
}

Operand Lowering::from_named(const Named& named, std::string_view name) {
  switch (named.kind) {
    case Named::Kind::path: return path_attribute(named.path);
    case Named::Kind::of_constants:
    case Named::Kind::kernel: {
      Operand out;
      out.kind = named.kind == Named::Kind::kernel ? Operand::Kind::function : Operand::Kind::of_constants;
      out.function = named.function;
      out.file = named.file;
      out.names = named.names;
      return out;
    }
    case Named::Kind::module: {
      Operand out;
      out.kind = Operand::Kind::module;
      out.names = named.names;
      return out;
    }
    case Named::Kind::record: {
      Operand out = Operand::of(named.value);
      out.kind = Operand::Kind::record;
      out.text = named.path;
      return out;
    }
    case Named::Kind::constant: return Operand::of(named.value);
    case Named::Kind::variable:
      if (frame_->defaults && named.known) return Operand::of(named.value);
      refuse(fmt::format("a kernel cannot read the global '{}'", name),
             named.annotated && named.known
                 ? fmt::format("the annotation makes no constant of it: write {} = tl.constexpr({})", name,
                               constant_text(named.value))
                 : fmt::format("make it a constant, {0} = tl.constexpr(...), or pass it as a tl.constexpr parameter",
                               name));
    case Named::Kind::function:
      refuse(fmt::format("'{}' is a Python function, which a kernel cannot call", name),
             "put @triton.jit above it to make it a device function");
    case Named::Kind::missing: break;
  }
  refuse(fmt::format("'{}' is not defined", name));
}

// ---- attributes

Operand Lowering::eval_attribute(const py::Expr& e) {
  const Operand object = eval(*e.items[0]);
  return attribute(object, e.text);
}

namespace {

struct Space {
  std::string_view path;
  std::uint8_t home;
  std::string_view written;
};
constexpr std::string_view kLanguage = "triton.language.";
// Where functions are looked for; longer paths first.
constexpr Space kSpaces[] = {
    {"triton.language.extra.cuda.libdevice.", kLib, "libdevice."},
    {"triton.language.extra.libdevice.", kLib, "libdevice."},
    {"triton.language.extra.cuda.", kCuda, "tl.extra.cuda."},
    {"triton.language.math.", kMath, "tl.math."},
    {"triton.language.core.", kTl, "tl.core."},
    {"triton.language.standard.", kTl, "tl.standard."},
    {"triton.language.", kTl, "tl."},
};
constexpr std::string_view kPlaces[] = {  // of triton.language: modules and classes, not called or called elsewhere
    "math",   "extra",    "extra.cuda",   "extra.libdevice", "extra.cuda.libdevice",
    "core",   "standard", "range",        "static_range",    "PropagateNan",
    "tensor", "dtype",    "pointer_type", "block_type",      "constexpr_type",
    "const"};

}  // namespace

// What a dotted path outside stands for: a constant, or a path that can be called or asked for more.
Operand Lowering::path_attribute(const std::string& path) {
  std::string_view rest = path;
  if (rest.starts_with("math.")) {
    rest.remove_prefix(5);
    if (rest == "pi") return Operand::of(ConstValue::of(M_PI));
    if (rest == "e") return Operand::of(ConstValue::of(M_E));
    if (rest == "tau") return Operand::of(ConstValue::of(2 * M_PI));
    if (rest == "inf") return Operand::of(ConstValue::of(HUGE_VAL));
    if (rest == "nan") return Operand::of(ConstValue::of(std::nan("")));
    return Operand::path(path);
  }
  if (rest.starts_with("torch.finfo(") || rest.starts_with("torch.iinfo(")) {  // as call_limits has it
    const std::size_t open = rest.find('('), close = rest.find(')');
    const std::string_view name = rest.substr(close + 2);
    const auto limit = dtype_limit(*dtype_from_name(rest.substr(open + 1, close - open - 1)), name);
    if (!limit)
      refuse(fmt::format("{} has no '{}'", rest.substr(0, close + 1), name),
             "it has min, max, bits, and of floats eps, tiny");
    return Operand::of(limit->integral ? ConstValue::of(limit->integer) : ConstValue::of(limit->real));
  }
  for (const Space& space : kSpaces) {
    if (!path.starts_with(space.path)) continue;
    rest.remove_prefix(space.path.size());
    if (space.home == kTl) {
      if (auto named = type_of_name(rest)) return Operand::of(std::move(*named));
      if (rest == "TRITON_MAX_TENSOR_NUMEL") return Operand::of(ConstValue::of(kElementLimit));
      if (rest == "PropagateNan.ALL" || rest == "PropagateNan.NONE")
        return Operand::of(ConstValue::string(std::string(rest.substr(13))));
      if (std::find(std::begin(kPlaces), std::end(kPlaces), rest) != std::end(kPlaces)) return Operand::path(path);
    }
    if (space.home == kCuda && rest == "libdevice") return Operand::path(path);
    if (find_builtin(rest, space.home) != nullptr) return Operand::path(path);
    if (space.written == "tl.standard.") {
      if (find_builtin(std::string_view(path).substr(kLanguage.size()), kTl) != nullptr) return Operand::path(path);
      if (const Named own = standard_function(rest); own.kind != Named::Kind::missing) return from_named(own, rest);
    }
    if (is_missing_builtin(rest, space.home)) {
      const bool directed = rest.ends_with("_rz") || rest.ends_with("_rd") || rest.ends_with("_ru");
      refuse(fmt::format("{}{} is not supported", space.written, rest),
             space.home == kCuda ? "what a kernel gives may not depend on when and where it runs"
             : directed          ? "floats are rounded to the nearest"
                                 : "",
             ErrorCode::unsupported);
    }
    std::string note{builtin_hint(rest)};
    if (note.empty() && find_builtin(rest, kLib) != nullptr)
      note = fmt::format("write libdevice.{}, with from triton.language.extra import libdevice", rest);
    if (note.empty() && find_builtin(rest, kTl) != nullptr) note = fmt::format("write tl.{}", rest);
    if (note.empty()) {
      const auto known = builtin_names(space.home);
      if (const auto near = text_nearest(rest, known); !near.empty())
        note = fmt::format("did you mean {}{}?", space.home == kTl ? "tl." : space.written, near[0]);
    }
    refuse(fmt::format("there is no {}{}", space.written, rest), note);
  }
  return Operand::path(path);
}

Operand Lowering::attribute(const Operand& object, std::string_view name) {
  const auto method = [&] {
    Operand out;
    out.kind = Operand::Kind::method;
    out.text = name;
    out.items.push_back(object);
    return out;
  };
  const auto shape = [](const Shape& s) {
    std::vector<Operand> sizes;
    for (const std::int32_t n : s.span()) sizes.push_back(Operand::of(ConstValue::of(std::int64_t{n})));
    return Operand::tuple(std::move(sizes));
  };
  switch (object.kind) {
    case Operand::Kind::path: return path_attribute(object.text + "." + std::string(name));
    case Operand::Kind::module: return from_named(object.names->find(name), name);
    case Operand::Kind::tensor: {
      const Type& t = type(object.id);
      if (name == "shape") return shape(t.shape);
      if (name == "numel") return Operand::of(ConstValue::of(t.shape.elements()));
      if (name == "dtype") return Operand::of(ConstValue::of(Type{t.elem, t.pointer, {}}));
      if (name == "type") return Operand::of(ConstValue::of(t));
      if (name == "T") {
        if (t.shape.rank != 2) refuse(fmt::format(".T of {}", triton_type(t)), "only two dimensions; use tl.permute");
        std::vector<Operand> args{object};
        return call_builtin(*find_builtin("trans", kTl), ".T", std::move(args), {});
      }
      if (find_builtin(name, kMethod) != nullptr) return method();
      std::string note{builtin_hint(name)};
      if (const Builtin* row = note.empty() ? find_builtin(name, kTl) : nullptr) {
        // its arguments without defaults, the first of which the value is
        std::vector<std::string_view> needed;
        for (const std::string_view part : text_split(row->signature, ','))
          if (part.find('=') == std::string_view::npos) needed.push_back(text_trim(part));
        note = fmt::format("write tl.{}({})", name, fmt::join(needed, ", "));
      }
      refuse(fmt::format("a value ({}) has no '{}'", triton_type(t), name), note);
    }
    case Operand::Kind::block_pointer:
      if (name == "dtype" || name == "type")
        return Operand::of(ConstValue::of(Type{object.constant.type.elem, true, object.constant.type.shape}));
      if (name == "shape") return shape(object.constant.type.shape);
      if (name == "advance" || name == "store") return method();
      break;
    case Operand::Kind::descriptor:
      if (name == "dtype") return Operand::of(ConstValue::of(scalar_type(object.constant.type.elem)));
      if (name == "block_shape") return shape(object.constant.type.shape);
      if (name == "shape") return object.items[1];
      if (name == "strides") return object.items[2];
      if (find_builtin(name, kDescriptor) != nullptr) return method();
      break;
    case Operand::Kind::constant:
      if (object.constant.is(ConstValue::Kind::type)) {
        if (name == "shape") return shape(object.constant.type.shape);
        if (name.starts_with("is_")) return method();
        return type_attribute(object.constant, name);
      }
      if (name == "value") return object;
      if (object.is_number() && find_builtin(name, kMethod) != nullptr) return method();
      if (object.is_number() && (name == "dtype" || name == "type"))
        return Operand::of(ConstValue::of(scalar_type(literal_elem(object.constant))));
      break;
    case Operand::Kind::tuple: {
      const auto fields = text_split(object.text, ',');
      for (std::size_t i = 0; i < object.items.size() && i < fields.size(); ++i)
        if (fields[i] == name) return object.items[i];
      break;
    }
    case Operand::Kind::lost: refuse(object.text);
    default: break;
  }
  refuse(fmt::format("{} has no '{}'", operand_text(object), name));
}

Operand Lowering::type_attribute(const ConstValue& v, std::string_view name) {
  const Type& t = v.type;
  const ElemRow& row = elem_row(t.elem);
  if (!v.text.empty()) {  // a float of 8 bits
    if (name == "primitive_bitwidth") return Operand::of(ConstValue::of(std::int64_t{8}));
    if (name == "itemsize") return Operand::of(ConstValue::of(std::int64_t{1}));
    if (name == "name") return Operand::of(ConstValue::string("fp" + v.text.substr(5)));
    if (name != "scalar") refuse(fmt::format("{} has no {}", v.text, name));
    return Operand::of(v);
  }
  if (name == "element_ty") {
    if (t.is_tile()) return Operand::of(ConstValue::of(Type{t.elem, t.pointer, {}}));
    if (t.pointer) return Operand::of(ConstValue::of(scalar_type(t.elem)));
    refuse(fmt::format("{} has no element_ty", triton_type(t)),
           "only pointers have one: out_ptr.dtype.element_ty; of a loaded value write x.dtype");
  }
  if (name == "scalar") return Operand::of(ConstValue::of(Type{t.elem, t.pointer, {}}));
  if (name == "numel") return Operand::of(ConstValue::of(t.shape.elements()));
  if (name == "primitive_bitwidth" || name == "int_bitwidth")
    return Operand::of(ConstValue::of(std::int64_t{t.pointer ? 64 : row.bits}));
  if (name == "itemsize") return Operand::of(ConstValue::of(std::int64_t{t.pointer ? 8 : row.bits / 8}));
  if (name == "name") {
    if (t.pointer || t.is_tile()) return Operand::of(ConstValue::string(triton_type(t)));
    constexpr std::pair<Elem, std::string_view> kShort[] = {
        {Elem::f16, "fp16"}, {Elem::bf16, "bf16"}, {Elem::f32, "fp32"}, {Elem::f64, "fp64"}};
    for (const auto& [elem, text] : kShort)
      if (elem == t.elem) return Operand::of(ConstValue::string(std::string(text)));
    return Operand::of(ConstValue::string(std::string(row.triton_name)));
  }
  refuse(fmt::format("an element type has no '{}'", name));
}

// ---- subscripts

Operand Lowering::eval_subscript(const py::Expr& e) {
  const Operand object = eval(*e.items[0]);
  const Operand index = eval(*e.items[1]);
  if (object.is(Operand::Kind::tuple)) {
    const auto size = static_cast<std::int64_t>(object.items.size());
    if (index.is_integer()) {
      const std::int64_t i = index.constant.integer + (index.constant.integer < 0 ? size : 0);
      if (i < 0 || i >= size)
        refuse(fmt::format("index {} of {} values", index.constant.integer, size),
               size > 0 ? "" : "pointers and numbers have no shape; give sizes as arguments");
      return object.items[static_cast<std::size_t>(i)];
    }
    if (index.is(Operand::Kind::slice) && index.items[2].is_none()) {
      const auto bound = [&](const Operand& v, std::int64_t otherwise) {
        if (v.is_none()) return otherwise;
        if (!v.is_integer()) refuse("the bounds of a slice must be constants");
        return std::clamp<std::int64_t>(v.constant.integer + (v.constant.integer < 0 ? size : 0), 0, size);
      };
      const std::int64_t from = bound(index.items[0], 0), to = bound(index.items[1], size);
      std::vector<Operand> items;
      for (std::int64_t i = from; i < to; ++i) items.push_back(object.items[static_cast<std::size_t>(i)]);
      return Operand::tuple(std::move(items));
    }
    refuse("a tuple is indexed by a constant", "unroll with tl.static_range");
  }
  if (!object.is_tensor()) refuse(fmt::format("{} cannot be indexed", operand_text(object)));
  const std::vector<Operand> dims = index.is(Operand::Kind::tuple) ? index.items : std::vector<Operand>{index};
  ValueId out = object.id;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Operand& i = dims[d];
    if (i.is_none()) {
      out = expand_dims(out, static_cast<int>(d));
      continue;
    }
    if (i.is(Operand::Kind::slice)) {
      if (std::all_of(i.items.begin(), i.items.end(), [](const Operand& v) { return v.is_none(); })) continue;
      refuse("a slice of a tile", "load the part that is needed: tl.load(ptr + offsets, mask=...)");
    }
    if (type(object.id).pointer)
      refuse("a pointer cannot be indexed", "read with tl.load(ptr + i), write with tl.store(ptr + i, value)");
    refuse(
        "an element of a tile cannot be picked by its index",
        "load it from memory with tl.load(ptr + i), or reduce: tl.sum(tl.where(tl.arange(0, N) == i, x, 0), axis=0)");
  }
  return Operand::tensor(out);
}

// ---- operators

Operand Lowering::unary(O op, const Operand& a) {
  if (a.is_constant()) {
    Folded f = fold_unary(op, a.constant);
    if (!f.error.empty()) refuse(f.error);
    return Operand::of(std::move(f.value));
  }
  const ValueId v = to_tensor(a);
  const Type& t = type(v);
  if (op == O::pos) return a;
  if (op == O::not_) {
    if (t.elem != Elem::i1 || t.pointer)
      refuse(fmt::format("'not' of {}", triton_type(t)), "compare first: write x == 0");
    return Operand::tensor(emit1(Code::bit_not, v));
  }
  if (t.pointer || (op == O::invert && is_float(t.elem)))
    refuse(fmt::format("'{}' of {}", op_text(op), triton_type(t)));
  if (op == O::invert) return Operand::tensor(emit1(Code::bit_not, v));
  if (is_float(t.elem)) return Operand::tensor(emit2(Code::sub, real_like(0, v), v));  // 0 - x: of 0 it is 0, not -0
  return Operand::tensor(emit1(Code::neg, v));
}

Operand Lowering::binary(O op, const Operand& a, const Operand& b) {
  if ((a.is_constant() || a.is(Operand::Kind::tuple)) && b.is_constant() && !a.is_tensor()) {
    if (a.is(Operand::Kind::tuple)) {
      if (op != O::mul || !b.is_integer() || b.constant.integer > 64)
        refuse("this operation on a tuple", "unpack it, a, b = x, or take one: x[0]");
      std::vector<Operand> items;
      for (std::int64_t i = 0; i < b.constant.integer; ++i) items.insert(items.end(), a.items.begin(), a.items.end());
      step(items.size());
      return Operand::tuple(std::move(items));
    }
    Folded f = fold_binary(op, a.constant, b.constant);
    if (!f.error.empty()) refuse(f.error);
    return Operand::of(std::move(f.value));
  }
  if (a.is(Operand::Kind::tuple) && b.is(Operand::Kind::tuple) && op == O::add) {
    std::vector<Operand> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    step(items.size());
    if (items.size() > 4096) refuse("the tuple is too long", {}, ErrorCode::limit);
    return Operand::tuple(std::move(items));
  }
  if (op >= O::lt && op <= O::ne) return compare(op, a, b);
  switch (op) {
    case O::add:
    case O::sub: {
      auto [x, y] = pair(a, b, {true, op == O::add});
      if (type(x).pointer && type(y).pointer) refuse("two pointers added", "add an integer offset to a pointer");
      if (type(y).pointer) std::swap(x, y);
      if (!type(x).pointer) return Operand::tensor(emit2(op == O::add ? Code::add : Code::sub, x, y));
      if (op == O::sub) y = emit1(Code::neg, y);
      const Elem e = type(y).elem;
      if (!elem_row(e).is_signed && elem_row(e).bits < 64) y = cast(y, Elem::i64);  // offsets are signed
      return Operand::tensor(emit(Code::addptr, {x, y}, type(x)));
    }
    case O::mul: {
      const auto [x, y] = pair(a, b);
      return Operand::tensor(emit2(Code::mul, x, y));
    }
    case O::div: {
      auto [x, y] = pair(a, b, {false, false, true, true});
      if (!is_float(type(x).elem)) {
        x = cast(x, Elem::f32);
        y = cast(y, Elem::f32);
      }
      return Operand::tensor(emit2(Code::div, x, y));
    }
    case O::floor_div:
    case O::mod: {
      const auto [x, y] = pair(a, b, {false, false, true, true});
      if (op == O::floor_div && is_float(type(x).elem))
        refuse("'//' of floating-point values", "write tl.floor(x / y)");
      return Operand::tensor(emit2(op == O::mod ? Code::rem : Code::div, x, y));
    }
    case O::bit_and:
    case O::bit_or:
    case O::bit_xor:
    case O::shift_left:
    case O::shift_right: {
      const auto [x, y] = pair(a, b);
      if (is_float(type(x).elem))
        refuse(fmt::format("'{}' of floating-point values", op_text(op)),
               op == O::bit_and || op == O::bit_or ? "compare first: (x > 0) & (y > 0)" : "");
      constexpr std::pair<O, Code> kCodes[] = {{O::bit_and, Code::bit_and},
                                               {O::bit_or, Code::bit_or},
                                               {O::bit_xor, Code::bit_xor},
                                               {O::shift_left, Code::shl},
                                               {O::shift_right, Code::shr}};
      for (const auto& [o, code] : kCodes)
        if (o == op) return Operand::tensor(emit2(code, x, y));
      break;
    }
    case O::pow: return power(a, b);
    case O::mat_mul: refuse("'@' in a kernel", "write tl.dot(a, b)");
    default: break;
  }
  refuse(fmt::format("'{}' in a kernel", op_text(op)));
}

Operand Lowering::compare(O op, const Operand& a, const Operand& b) {
  constexpr std::pair<O, Code> kCodes[] = {{O::lt, Code::lt}, {O::le, Code::le}, {O::gt, Code::gt},
                                           {O::ge, Code::ge}, {O::eq, Code::eq}, {O::ne, Code::ne}};
  // a literal has its own type here: x < 0.5 compares a float16 tile in float32
  const auto [x, y] = pair(Operand::tensor(to_tensor(a)), Operand::tensor(to_tensor(b)));
  for (const auto& [o, code] : kCodes)
    if (o == op) return Operand::tensor(emit_compare(code, x, y));
  refuse(fmt::format("'{}' in a kernel", op_text(op)));
}

Operand Lowering::eval_compare(const py::Expr& e) {
  if (e.ops.size() != 1) refuse("a chained comparison", "write (a <= x) & (x < b)");
  const O op = e.ops[0];
  const Operand a = eval(*e.items[0]);
  const Operand b = eval(*e.items[1]);
  if (op == O::in || op == O::not_in)
    refuse(fmt::format("'{}' in a kernel", op_text(op)), "compare with each value: (x == a) or (x == b)");
  if (op == O::is || op == O::is_not) return Operand::of(ConstValue::boolean(same(a, b) == (op == O::is)));
  if (a.is(Operand::Kind::tuple) && b.is(Operand::Kind::tuple) && (op == O::eq || op == O::ne))
    return Operand::of(ConstValue::boolean(same(a, b) == (op == O::eq)));
  // None, strings and types compare at once with anything
  const auto plain = [](const Operand& v) { return v.is_constant() && !v.is_number(); };
  if (!(a.is_constant() && b.is_constant()) && (plain(a) || plain(b)) && (op == O::eq || op == O::ne))
    refuse(fmt::format("{} compared with {}", operand_text(a), operand_text(b)), "compare with None by 'is'");
  return binary(op, a, b);
}

// `and`, `or`: constants decide at once as in Python, the rest are i1 values.
Operand Lowering::eval_logic(const py::Expr& e) {
  const bool is_and = e.op == O::and_;
  std::optional<ValueId> out;
  Operand last;
  for (const py::Expr* item : e.items) {
    last = eval(*item);
    if (!last.is_tensor()) {
      const bool t = truth(last, op_text(e.op));
      if (t != is_and) return last;
      continue;
    }
    const Type& t = type(last.id);
    if (t.elem != Elem::i1 || t.pointer)
      refuse(fmt::format("'{}' of {}", op_text(e.op), triton_type(t)), "compare first: (n > 0) and (m > 0)");
    if (!out) {
      out = last.id;
      continue;
    }
    ValueId x = *out, y = last.id;
    broadcast_pair(x, y);
    out = emit2(is_and ? Code::bit_and : Code::bit_or, x, y);
  }
  return out ? Operand::tensor(*out) : last;
}

bool Lowering::truth(const Operand& v, std::string_view what) {
  if (v.is_constant()) return v.constant.truth();
  if (v.is(Operand::Kind::tuple)) return !v.items.empty();
  if (v.is(Operand::Kind::lost)) refuse(v.text);
  refuse(fmt::format("{} as a condition of {}", operand_text(v), what));
}

// A run-time condition as an i1 scalar; of an if in a function of elements one for each.
ValueId Lowering::condition(const Operand& v, std::string_view what) {
  ValueId c = to_tensor(v);
  const Type t = type(c);
  if (t.pointer) refuse("a pointer as a condition", "pass a flag as a tl.constexpr");
  if (lanes_ && what != "while") return cast(c, Elem::i1);
  if (t.shape.elements() != 1)
    refuse(fmt::format("{} as the condition of {}", operand_text(v), what),
           lanes_ ? "elements are combined together: a loop runs as often for each"
                  : "a condition is a scalar; choose per element with tl.where, or reduce the tile first");
  return cast(reshape(c, {}), Elem::i1);
}

Operand Lowering::eval_comprehension(const py::Expr& e) {
  if (e.clauses().size() != 1 || !e.clauses()[0].conditions.empty() || e.clauses()[0].target->kind != E::name)
    refuse("this comprehension in a kernel", "one 'for' over a tuple, without 'if'");
  const Operand many = eval(*e.clauses()[0].iterable);
  if (!many.is(Operand::Kind::tuple)) refuse("a comprehension goes over a tuple");
  std::vector<Operand> items;
  for (const Operand& one : many.items) {
    set_name(e.clauses()[0].target->text, one);
    items.push_back(eval(*e.items[0]));
  }
  return Operand::tuple(std::move(items));
}

std::string Lowering::eval_fstring(const py::Expr& e) {
  std::string out;
  for (const py::Expr* part : e.items) {
    if (part->kind == E::string) {
      out += part->text;
      continue;
    }
    const Operand v = eval(*part->items[0]);
    if (!v.is_constant()) refuse("an f-string of a value computed when the kernel runs", "only constants have a text");
    const bool plain = v.constant.is(ConstValue::Kind::string) && part->text != "r";
    out += plain ? v.constant.text : constant_text(v.constant);
    if (out.size() > 65536) refuse("the string is too long", {}, ErrorCode::limit);
  }
  return out;
}

}  // namespace passnet::tile
