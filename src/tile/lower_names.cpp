// What names and attributes stand for: of the kernel, of its file, of Triton and Python, of values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "graph/dtype.h"
#include "tile/lowering.h"

namespace passnet::tile {

// ---- names

namespace {

// Floats of Python's libraries: what a module has, a kernel may read.
const double* python_number(std::string_view path) {
  static constexpr std::pair<std::string_view, double> kNumbers[] = {
      {"math.pi", M_PI},
      {"math.e", M_E},
      {"math.tau", 2 * M_PI},
      {"math.inf", std::numeric_limits<double>::infinity()},
      {"math.nan", std::numeric_limits<double>::quiet_NaN()},
      {"numpy.pi", M_PI},
      {"numpy.e", M_E},
      {"numpy.euler_gamma", 0.57721566490153286},
      {"numpy.inf", std::numeric_limits<double>::infinity()},
      {"numpy.nan", std::numeric_limits<double>::quiet_NaN()},
      {"torch.pi", M_PI},
      {"torch.e", M_E},
      {"torch.inf", std::numeric_limits<double>::infinity()},
      {"torch.nan", std::numeric_limits<double>::quiet_NaN()},
  };
  const auto at =
      std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const auto& row) { return row.first == path; });
  return at == std::end(kNumbers) ? nullptr : &at->second;
}

}  // namespace

Operand Lowering::eval_name(const py::Expr& e) {
  if (const auto it = frame_->scope.find(e.text); it != frame_->scope.end()) {
    if (it->second.is(Operand::Kind::lost)) refuse(it->second.text);
    return it->second;
  }
  const Named named = frame_->names->find(e.text);
  // from math import pi: a name of this file like any other
  if (named.kind == Named::Kind::path && (named.path.starts_with("math.") || python_number(named.path) != nullptr))
    refuse(fmt::format("a kernel cannot read the global '{}'", e.text),
           fmt::format("write {} with import {}", named.path, named.path.substr(0, named.path.find('.'))));
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
      refuse(named.of_function ? fmt::format("a kernel cannot read '{}' of the function around it", name)
                               : fmt::format("a kernel cannot read the global '{}'", name),
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
  if (const double* number = python_number(path)) return Operand::of(ConstValue::of(*number));
  if (path == "numpy.newaxis") refuse("numpy.newaxis in a kernel", "write x[:, None]");
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
      if (std::find(std::begin(kPlaces), std::end(kPlaces), rest) != std::end(kPlaces))
        return Operand::path(fmt::format("{}{}", kLanguage, rest));
    }
    if (space.home == kCuda && rest == "libdevice") return Operand::path(path);
    if (find_builtin(rest, space.home) != nullptr) return Operand::path(path);
    if (space.home == kTl && find_builtin(std::string_view(path).substr(kLanguage.size()), kTl) != nullptr)
      return Operand::path(path);  // of a module alone: standard._log2
    if (space.written == "tl.standard.") {
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
    case Operand::Kind::module: {
      const Named named = object.names->find(name);
      // what a module has may be read, constant or not; a file's own globals may not
      if (named.kind == Named::Kind::variable && named.known) return Operand::of(named.value);
      return from_named(named, name);
    }
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
      if (name == "dtype" || name == "type") {  // a pointer to a block, which no value of the IR is
        ConstValue of_block = ConstValue::of(Type{object.constant.type.elem, true, {}});
        of_block.items = {ConstValue::of(Type{object.constant.type.elem, false, object.constant.type.shape})};
        return Operand::of(std::move(of_block));
      }
      if (name == "shape") return shape({});  // a pointer's; the block's is that of what is loaded
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
      if (name == "value") return object;
      if (object.constant.is(ConstValue::Kind::type)) {
        if (name == "shape") return shape(object.constant.type.shape);
        if (name.starts_with("is_")) return method();
        return type_attribute(object.constant, name);
      }
      if (fold_method(object.constant, name, nullptr)) return method();
      if (object.is_number())
        refuse(fmt::format("{} is a Python {}, which has no '{}'", operand_text(object), python_type(object.constant),
                           name),
               name == "to" ? "an integer argument of 1 is a constant, too: write tl.cast(n, tl.float32)"
                            : "a constant becomes a value where it is assigned to a name: n = N");
      break;
    case Operand::Kind::tuple: {
      const auto fields = text_split(object.text, ',');
      for (std::size_t i = 0; i < object.items.size() && i < fields.size(); ++i)
        if (fields[i] == name) return object.items[i];
      break;
    }
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
    if (!v.items.empty()) return Operand::of(v.items[0]);
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
    if (t.is_tile()) return Operand::of(ConstValue::string(triton_type(t)));
    constexpr std::pair<Elem, std::string_view> kShort[] = {
        {Elem::f16, "fp16"}, {Elem::bf16, "bf16"}, {Elem::f32, "fp32"}, {Elem::f64, "fp64"}};
    std::string text{row.triton_name};
    for (const auto& [elem, of_elem] : kShort)
      if (elem == t.elem) text = of_elem;
    return Operand::of(ConstValue::string(t.pointer ? fmt::format("pointer<{}>", text) : text));
  }
  refuse(fmt::format("an element type has no '{}'", name));
}

}  // namespace passnet::tile
