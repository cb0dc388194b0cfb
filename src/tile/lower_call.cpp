// Calls: what is called, arguments bound to a signature, device functions inlined.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/dtype.h"
#include "py/printer.h"
#include "tile/lowering.h"

namespace passnet::tile {

using E = py::ExprKind;
using OK = Operand::Kind;
using Keywords = std::vector<std::pair<std::string_view, Operand>>;

namespace {

// The home of a function outside and its name there: "triton.language.math.exp" is exp of tl.math.
struct Target {
  std::uint8_t home = 0;
  std::string_view name;
  std::string written;
};

Target target_of(std::string_view path) {
  const auto strip = [&](std::string_view prefix, std::uint8_t home, std::string_view written) -> Target {
    const std::string_view name = path.substr(prefix.size());
    return {home, name, std::string(written) + std::string(name)};
  };
  for (const std::string_view lib : {"triton.language.extra.cuda.libdevice.", "triton.language.extra.libdevice."})
    if (path.starts_with(lib)) return strip(lib, kLib, "libdevice.");
  if (path.starts_with("triton.language.math.")) return strip("triton.language.math.", kMath, "tl.math.");
  constexpr std::string_view kExtra = "triton.language.extra.cuda.";
  if (path.starts_with(kExtra)) return strip(kExtra, kCuda, "tl.extra.cuda.");
  constexpr std::string_view kLanguage = "triton.language.";
  if (path.starts_with(kLanguage) && find_builtin(path.substr(kLanguage.size()), kTl) != nullptr)
    return strip(kLanguage, kTl, "tl.");
  for (const std::string_view tl : {"triton.language.core.", "triton.language.standard.", "triton.language."})
    if (path.starts_with(tl)) return strip(tl, kTl, "tl.");
  if (path.starts_with("builtins.")) return strip("builtins.", kPython, "");
  if (path.starts_with("triton.")) return strip("triton.", kTriton, "triton.");
  return {0, path, std::string(path)};
}

// A default value as it stands in a signature.
Operand default_value(std::string_view text) {
  if (text == "True" || text == "False") return Operand::of(ConstValue::boolean(text == "True"));
  if (text == "()") return Operand::tuple({});
  if (text == "''") return Operand::of(ConstValue::string(""));
  if (text == "'zero'") return Operand::of(ConstValue::string("zero"));
  if (text == "NONE") return Operand::of(ConstValue::string("NONE"));
  if (text == "float32") return Operand::of(ConstValue::of(scalar_type(Elem::f32)));
  if (text == "None") return {};
  std::int64_t n = 0;
  for (const char c : text) n = n * 10 + (c - '0');
  return Operand::of(ConstValue::of(n));
}

struct SignatureItem {
  std::string_view name;
  std::string_view default_text;  // empty: none
  bool many = false;              // *name
};

// The values that Triton knows of hints, which are ignored here. `function`: the one whose hint it is, or all.
struct HintRow {
  std::string_view argument, function, values;
};
constexpr HintRow kHints[] = {
    {"cache_modifier", "load", ".ca, .cg, .cv"},
    {"cache_modifier", "store", ".wb, .cg, .cs, .wt"},
    {"eviction_policy", "", "evict_first, evict_last"},
    {"sem", "", "acquire, release, acq_rel, relaxed"},
    {"scope", "", "gpu, cta, sys"},
};

// The hint's values where `text` is none of them.
std::string_view other_values(std::string_view argument, std::string_view function, std::string_view text) {
  for (const HintRow& row : kHints) {
    if (row.argument != argument || (!row.function.empty() && row.function != function)) continue;
    for (const std::string_view value : text_split(row.values, ','))
      if (text_trim(value) == text) return {};
    return row.values;
  }
  return {};
}

std::vector<SignatureItem> signature_items(std::string_view signature) {
  std::vector<SignatureItem> out;
  if (signature.empty()) return out;
  for (const std::string_view part : text_split(signature, ',')) {
    SignatureItem item;
    const std::string_view text = text_trim(part);
    const std::size_t equals = text.find('=');
    item.name = text.substr(0, equals);
    if (equals != std::string_view::npos) item.default_text = text.substr(equals + 1);
    if (item.name.starts_with('*')) {
      item.many = true;
      item.name.remove_prefix(1);
    }
    out.push_back(item);
  }
  return out;
}

}  // namespace

Operand Lowering::eval_call(const py::Expr& e) {
  const Operand callee = eval(*e.items[0]);
  const auto arguments = [&] {
    std::vector<Operand> args;
    for (const py::Expr* a : e.items.subspan(1)) {
      if (a->kind != E::starred) {
        args.push_back(eval(*a));
        continue;
      }
      Operand many = eval(*a->items[0]);
      if (!many.is(OK::tuple)) refuse("'*' needs a tuple");
      for (Operand& one : many.items) args.push_back(std::move(one));
    }
    return args;
  };
  const auto keywords = [&] {
    Keywords out;
    for (const py::Keyword& k : e.keywords) {
      if (k.name.empty()) refuse("'**' in a call of a kernel", "name the arguments");
      out.emplace_back(k.name, eval(*k.value));
    }
    return out;
  };
  switch (callee.kind) {
    case OK::function: {
      std::vector<Operand> args = arguments();
      return call_function(callee, std::move(args), keywords());
    }
    case OK::of_constants: {
      const std::vector<Operand> args = arguments();
      return call_of_constants(callee, args, keywords());
    }
    case OK::record: {
      std::vector<Operand> args = arguments();
      return make_record(callee, std::move(args), keywords());
    }
    case OK::method: {
      const Operand& self = callee.items[0];
      if (self.is_constant() && self.constant.is(ConstValue::Kind::type))
        return call_type_method(self.constant, callee.text);
      if (self.is_constant()) return call_constant_method(self.constant, callee.text, arguments());
      std::vector<Operand> args = arguments();
      args.insert(args.begin(), self);
      const Home home = self.is(OK::descriptor) ? kDescriptor : kMethod;
      return call_builtin(*find_builtin(callee.text, home), "." + callee.text, std::move(args), keywords());
    }
    case OK::path: {
      const Target t = target_of(callee.text);
      if (t.home == kTl && (t.name == "device_print" || t.name == "static_print")) return {};
      if (t.home == kPython && t.name == "print") return {};
      if (const Builtin* row = t.home == 0 ? nullptr : find_builtin(t.name, t.home)) {
        std::vector<Operand> args = arguments();
        Keywords named = keywords();
        const bool before = std::exchange(exact_, t.home == kLib && !t.name.starts_with("fast_"));
        call_ = &e;
        Operand out = call_builtin(*row, t.written, std::move(args), std::move(named));
        exact_ = before;
        return out;
      }
      if (callee.text.starts_with("math.")) return call_math(std::string_view(callee.text).substr(5), arguments());
      if (callee.text == "torch.finfo" || callee.text == "torch.iinfo") return call_limits(callee.text, arguments());
      if (callee.text == "builtins.range" || t.name == "range" || t.name == "static_range")
        refuse("a range is only for loops", "write for i in range(...)");
      const std::string_view last = t.name.substr(t.name.rfind('.') + 1);
      std::string note{builtin_hint(last)};
      if (note.empty() && find_builtin(last, kTl) != nullptr) note = fmt::format("write tl.{}", last);
      if (note.empty() && find_builtin(last, kLib) != nullptr)
        note = fmt::format("write libdevice.{}, with from triton.language.extra import libdevice", last);
      if (note.empty()) note = "kernels compute with triton.language only";
      refuse(fmt::format("a kernel cannot call {}", callee.text), note);
    }
    default: refuse(fmt::format("{} cannot be called", operand_text(callee)));
  }
}

// The numbers of one of torch's types, which are constants here, too: a path, whose attributes they are.
Operand Lowering::call_limits(const std::string& callee, const std::vector<Operand>& args) {
  const auto dtype = args.size() == 1 && args[0].is(OK::path) && args[0].text.starts_with("torch.")
                         ? dtype_from_name(args[0].text)
                         : std::nullopt;
  if (!dtype || !dtype_limit(*dtype, "min") || dtype_limit(*dtype, "min")->integral == (callee == "torch.finfo"))
    refuse(fmt::format("{} needs one of torch's {} types", callee, callee == "torch.finfo" ? "float" : "integer"),
           fmt::format("write {}(torch.{})", callee, callee == "torch.finfo" ? "float32" : "int32"));
  return Operand::path(fmt::format("{}({})", callee, args[0].text));
}

// ---- builtins

Operand Lowering::call_builtin(const Builtin& row, std::string name, std::vector<Operand> args, Keywords kwargs) {
  const std::vector<SignatureItem> items = signature_items(row.signature);
  const auto signature = [&] { return fmt::format("its arguments are ({})", row.signature); };
  Call call{row, std::move(name), {}};
  if (row.handler == &Lowering::b_unsupported) return b_unsupported(call);
  call.args.resize(items.size());
  std::vector<bool> given(items.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].many) {
      std::vector<Operand> rest(
          std::make_move_iterator(args.begin() + static_cast<std::ptrdiff_t>(std::min(next, args.size()))),
          std::make_move_iterator(args.end()));
      next = args.size();
      given[i] = !rest.empty();
      call.args[i] = Operand::tuple(std::move(rest));
    } else if (next < args.size()) {
      call.args[i] = std::move(args[next++]);
      given[i] = true;
    }
  }
  if (next < args.size())
    refuse(fmt::format("{} takes {} argument{}, not {}", call.name, items.size(), items.size() == 1 ? "" : "s",
                       args.size()),
           signature());
  for (auto& [key, value] : kwargs) {
    const auto at =
        std::find_if(items.begin(), items.end(), [&k = key](const SignatureItem& i) { return i.name == k; });
    if (at == items.end()) {
      std::string note = signature();
      if (key == "dim" || key == "dims") note = "write axis=; " + note;
      if (key == "keepdim" || key == "keepdims") note = "write keep_dims=; " + note;
      refuse(fmt::format("{} has no argument '{}'", call.name, key), note);
    }
    const auto i = static_cast<std::size_t>(at - items.begin());
    if (given[i]) refuse(fmt::format("{} got two values for '{}'", call.name, key), signature());
    given[i] = true;
    call.args[i] = std::move(value);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (given[i] && call.args[i].is_constant() && call.args[i].constant.truth()) {
      const ConstValue& v = call.args[i].constant;
      if (const std::string_view values = other_values(items[i].name, row.name, v.text); !values.empty())
        refuse(fmt::format("{} has no {} {}", call.name, items[i].name, constant_text(v)),
               fmt::format("it is one of {}", values));
    }
    if (given[i] || items[i].many) continue;
    if (items[i].default_text.empty())
      refuse(fmt::format("{} is missing its argument '{}'", call.name, items[i].name), signature());
    call.args[i] = default_value(items[i].default_text);
  }
  const bool before = exact_;
  Operand out = (this->*row.handler)(call);
  exact_ = before;
  return out;
}

// ---- device functions

// @triton.constexpr_function: plain Python, run while the kernel is compiled.
Operand Lowering::call_of_constants(const Operand& f, const std::vector<Operand>& args, const Keywords& kwargs) {
  const auto constant = [&](auto&& self, const Operand& v) -> ConstValue {
    if (v.is_constant()) return v.constant;
    if (!v.is(OK::tuple))
      refuse(fmt::format("{} is called with {}; it takes constants", f.function->name, operand_text(v)),
             "@triton.constexpr_function runs when the kernel is compiled; for values of the run write @triton.jit");
    std::vector<ConstValue> items;
    for (const Operand& item : v.items) items.push_back(self(self, item));
    return ConstValue::tuple(std::move(items));
  };
  std::vector<ConstValue> values;
  for (const Operand& v : args) values.push_back(constant(constant, v));
  Names::NamedConstants named;
  for (const auto& [name, v] : kwargs) named.emplace_back(name, constant(constant, v));
  return from_named(f.names->call(*f.function, values, named).take(), f.function->name);
}

// A NamedTuple: a tuple whose items have names.
Operand Lowering::make_record(const Operand& record, std::vector<Operand> args, Keywords kwargs) {
  const auto fields = text_split(record.text, ',');
  const auto signature = [&] { return fmt::format("its fields are {}", fmt::join(fields, ", ")); };
  if (args.size() > fields.size())
    refuse(fmt::format("{} values for a named tuple of {}", args.size(), fields.size()), signature());
  std::vector<std::optional<Operand>> values(fields.size());
  std::move(args.begin(), args.end(), values.begin());
  for (auto& [name, value] : kwargs) {
    const auto at = std::find(fields.begin(), fields.end(), name);
    if (at == fields.end()) refuse(fmt::format("a named tuple has no field '{}'", name), signature());
    auto& slot = values[static_cast<std::size_t>(at - fields.begin())];
    if (slot) refuse(fmt::format("a named tuple got two values for '{}'", name), signature());
    slot = std::move(value);
  }
  // Defaults are those of the last fields.
  const std::size_t without = fields.size() - record.items.size();
  std::vector<Operand> items;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!values[i] && i < without)
      refuse(fmt::format("a named tuple is missing its field '{}'", fields[i]), signature());
    items.push_back(values[i] ? std::move(*values[i]) : record.items[i - without]);
  }
  Operand out = Operand::tuple(std::move(items));
  out.text = record.text;
  return out;
}

Operand Lowering::call_function(const Operand& f, std::vector<Operand> args, Keywords kwargs) {
  constexpr int kDeepest = 32;
  const py::Stmt& def = *f.function;
  if (calls_ >= kDeepest)
    refuse(fmt::format("calls of {} are nested too deeply", def.name),
           "at most 32 deep; a device function cannot call itself", ErrorCode::limit);
  Frame frame;
  frame.names = f.names;
  frame.file = f.file;
  const std::string& file = f.file->file();
  const auto known = std::find(out_.files.begin(), out_.files.end(), file);
  frame.file_number = static_cast<std::uint16_t>(known - out_.files.begin());
  if (known == out_.files.end()) out_.files.push_back(file);

  for (const py::Parameter& p : def.parameters)
    if (p.kind != py::ParameterKind::normal)
      refuse(fmt::format("the device function {} has the parameter {}{}, which is not supported", def.name,
                         p.kind == py::ParameterKind::var_positional ? "*" : "**", p.name),
             "name every parameter, or take one tuple: f((a, b))");
  for (const py::Parameter& p : def.parameters) refuse_marked(p);
  std::vector<std::optional<Operand>> values(def.parameters.size());
  if (args.size() > values.size())
    refuse(fmt::format("{} takes {} arguments, not {}", def.name, values.size(), args.size()));
  for (std::size_t i = 0; i < args.size(); ++i) values[i] = std::move(args[i]);
  for (auto& [name, value] : kwargs) {
    const auto p = std::find_if(def.parameters.begin(), def.parameters.end(),
                                [&n = name](const py::Parameter& q) { return q.name == n; });
    if (p == def.parameters.end()) refuse(fmt::format("{} has no parameter '{}'", def.name, name));
    auto& slot = values[static_cast<std::size_t>(p - def.parameters.begin())];
    if (slot) refuse(fmt::format("{} got two values for '{}'", def.name, name));
    slot = std::move(value);
  }
  Frame* const caller = frame_;
  const py::Place place = place_;
  const int loops = loops_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const py::Parameter& p = def.parameters[i];
    if (!values[i] && p.default_value == nullptr)
      refuse(fmt::format("{} is missing its argument '{}'", def.name, p.name));
    if (!values[i]) {
      frame.defaults = true;
      frame_ = &frame;
      values[i] = eval(*p.default_value);
      frame.defaults = false;
      frame_ = caller;
    }
    frame.scope[p.name] = std::move(*values[i]);
  }
  ++calls_;
  loops_ = 0;
  frame_ = &frame;
  std::optional<Operand> returned;
  try {
    returned = run_body(def.body);
  } catch (Failure& failure) {
    std::string note =
        fmt::format("in a call of {} from {}:{}:{}", def.name, caller->file->file(), place.line, place.column);
    auto& notes = failure.error.notes;
    if (notes.size() < 6 && (notes.empty() || notes.back() != note)) notes.push_back(std::move(note));
    throw;
  }
  frame_ = caller;
  loops_ = loops;
  --calls_;
  return returned ? std::move(*returned) : Operand{};
}

// ---- what has no row

Operand Lowering::call_type_method(const ConstValue& of, std::string_view name) {
  const Type& t = of.type;
  const ElemRow& row = elem_row(t.elem);
  const auto answer = [](bool v) { return Operand::of(ConstValue::boolean(v)); };
  const bool small = !of.text.empty();  // a float of 8 bits
  if (small && (name == "is_fp8" || name == "is_floating")) return answer(true);
  const bool scalar = !t.pointer && !t.is_tile() && !small;
  if (name == "is_ptr") return answer(t.pointer && !t.is_tile());
  if (name == "is_block") return answer(t.is_tile());
  if (name == "is_const" || name == "is_fp8") return answer(false);
  if (name == "is_floating" || name == "is_standard_floating") return answer(scalar && row.floating);
  if (name == "is_int") return answer(scalar && !row.floating);
  if (name == "is_int_signed") return answer(scalar && !row.floating && row.is_signed);
  if (name == "is_int_unsigned") return answer(scalar && !row.floating && !row.is_signed);
  if (name == "is_bool") return answer(scalar && t.elem == Elem::i1);
  constexpr std::pair<std::string_view, Elem> kNames[] = {
      {"is_fp16", Elem::f16}, {"is_bf16", Elem::bf16}, {"is_fp32", Elem::f32}, {"is_fp64", Elem::f64}};
  for (const auto& [n, elem] : kNames)
    if (n == name) return answer(scalar && t.elem == elem);
  if (name.starts_with("is_fp8")) {  // is_fp8e5
    const std::string asked = "float" + std::string(name.substr(5));
    if (type_of_name(asked)) return answer(of.text == asked);
  }
  if (const auto elem = elem_of_name(name.substr(3))) return answer(scalar && t.elem == *elem);
  refuse(fmt::format("an element type has no '{}'", name));
}

Operand Lowering::call_constant_method(const ConstValue& of, std::string_view name, const std::vector<Operand>& args) {
  std::vector<ConstValue> constants;
  for (const Operand& a : args) {
    if (!a.is_constant()) refuse(fmt::format(".{} of a constant with {}", name, operand_text(a)));
    constants.push_back(a.constant);
  }
  Folded f = *fold_method(of, name, &constants);
  if (!f.error.empty()) refuse(f.error);
  return Operand::of(std::move(f.value));
}

// Python's math on constants.
Operand Lowering::call_math(std::string_view name, std::span<const Operand> args) {
  double x[2] = {};
  if (args.empty() || args.size() > 2) refuse(fmt::format("math.{} with {} arguments", name, args.size()));
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_number())
      refuse(fmt::format("math.{} of {}", name, operand_text(args[i])),
             fmt::format("Python's math works on constants; of a value write tl.{}", name));
    x[i] = args[i].constant.as_real();
  }
  const auto integer = [&](double v) {
    if (!(std::abs(v) < 0x1p62)) refuse(fmt::format("math.{} of {}", name, x[0]));
    return Operand::of(ConstValue::of(static_cast<std::int64_t>(v)));
  };
  const auto real = [](double v) { return Operand::of(ConstValue::of(v)); };
  if (name == "pow" && args.size() == 2) return real(std::pow(x[0], x[1]));
  if (name == "log" && args.size() == 2 && x[0] > 0 && x[1] > 0) return real(std::log(x[0]) / std::log(x[1]));
  if (args.size() == 1) {
    if (name == "ceil") return integer(std::ceil(x[0]));
    if (name == "floor") return integer(std::floor(x[0]));
    if (name == "trunc") return integer(std::trunc(x[0]));
    if (name == "sqrt" && x[0] >= 0) return real(std::sqrt(x[0]));
    if (name == "exp") return real(std::exp(x[0]));
    if (name == "log" && x[0] > 0) return real(std::log(x[0]));
    if (name == "log2" && x[0] > 0) return real(std::log2(x[0]));
    if (name == "log10" && x[0] > 0) return real(std::log10(x[0]));
    if (name == "sin") return real(std::sin(x[0]));
    if (name == "cos") return real(std::cos(x[0]));
    if (name == "tanh") return real(std::tanh(x[0]));
    if (name == "erf") return real(std::erf(x[0]));
    if (name == "fabs") return real(std::abs(x[0]));
  }
  refuse(fmt::format("math.{} in a kernel", name));
}

}  // namespace passnet::tile
