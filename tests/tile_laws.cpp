#include "tile_laws.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "base/text.h"
#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile/text.h"

namespace passnet::tile {

namespace {

struct Expression {
  std::string op;  // or a name, or a number
  std::string attribute;
  std::vector<Expression> operands;
  std::optional<Type> type;
  bool call = false;
};

Type read_type(std::string_view text) {
  return parse("type", fmt::format("kernel t(%0 x: {}) {{\n}}\n", text)).take().types[0];
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Expression expression() {
    Expression out;
    skip();
    const std::size_t end = std::min(text_.find_first_of("(),:< "), text_.size());
    out.op = text_.substr(0, end);
    text_.remove_prefix(end);
    if (accept('<')) {
      out.attribute = text_.substr(0, text_.find('>'));
      text_.remove_prefix(text_.find('>') + 1);
    }
    if (accept('(')) {
      out.call = true;
      while (!accept(')')) {
        if (text_.empty()) fail(passnet::Code::syntax, "an expression that does not end");
        out.operands.push_back(expression());
        accept(',');
      }
    }
    if (accept(':')) {
      skip();
      std::size_t size = text_.find_first_of(",)[");
      if (size != std::string_view::npos && text_[size] == '[') size = text_.find(']') + 1;
      out.type = read_type(text_.substr(0, size));
      text_.remove_prefix(std::min(size, text_.size()));
    }
    skip();
    return out;
  }

 private:
  void skip() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view text_;
};

class Builder {
 public:
  explicit Builder(const std::map<std::string, Type>& names) {
    f_.name = "law";
    for (const auto& [name, type] : names) {
      Type parameter = type;
      parameter.shape = {};
      parameter.pointer = type.pointer || type.is_tile();
      const ValueId v = f_.add_value(parameter, name);
      f_.parameters.push_back(name);
      f_.body.params.push_back(v);
      values_[name] = v;
    }
    for (const auto& [name, type] : names)
      if (type.is_tile()) {
        const ValueId pointers = at(values_[name], type.shape);
        const ValueId v = type.pointer ? pointers : emit(Code::load, {pointers}, type);
        f_.names[static_cast<std::size_t>(v)] = name;
        values_[name] = v;
      }
  }

  Function run(const Expression& e) {
    const ValueId v = value(e, std::nullopt);
    const Type type = f_.type(v);
    if (type.pointer) return stored(emit(Code::load, {v}, {type.elem, false, type.shape}));
    return stored(v);
  }

 private:
  Function stored(ValueId v) {
    const Type type = f_.type(v);
    const ValueId out = f_.add_value({type.elem, true, {}}, "out");
    f_.body.params.push_back(out);
    f_.parameters.push_back("out");
    Op store;
    store.code = Code::store;
    store.operands = {type.is_tile() ? at(out, type.shape) : out, v};
    f_.body.ops.push_back(std::move(store));
    return std::move(f_);
  }

  ValueId emit(Op op, const Type& type) {
    const ValueId v = f_.add_value(type);
    op.results = {v};
    f_.body.ops.push_back(std::move(op));
    return v;
  }
  ValueId emit(Code code, std::vector<ValueId> operands, const Type& type) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    return emit(std::move(op), type);
  }
  ValueId at(ValueId pointer, const Shape& shape) {
    ValueId offset = emit(Code::arange, {}, {Elem::i32, false, {static_cast<std::int32_t>(shape.elements())}});
    if (shape.rank > 1) offset = emit(Code::reshape, {offset}, {Elem::i32, false, shape});
    const Type type{f_.type(pointer).elem, true, shape};
    return emit(Code::addptr, {emit(Code::splat, {pointer}, type), offset}, type);
  }

  ValueId value(const Expression& e, std::optional<Type> wanted) {
    if (!e.call) {
      if (const auto found = values_.find(e.op); found != values_.end()) return found->second;
      return constant(e.op, e.type ? *e.type : wanted.value_or(scalar_type(Elem::i32)));
    }
    Op op;
    for (const OpRow& row : kOps)
      if (row.name == e.op) op.code = row.code;
    if (op_row(op.code).name != e.op) fail(passnet::Code::syntax, "no op is called " + e.op);
    // Numbers take the type of the first operand that has one.
    std::optional<Type> given = e.type && op_parts(op.code) == 0 && op.code != Code::cast && op.code != Code::bitcast &&
                                        op_row(op.code).kind != OpClass::shape
                                    ? e.type
                                    : std::nullopt;
    std::vector<std::optional<ValueId>> operands(e.operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!e.operands[i].call && !e.operands[i].type && !values_.contains(e.operands[i].op)) continue;
      operands[i] = value(e.operands[i], std::nullopt);
      if (!given && !(op.code == Code::select && i == 0)) given = f_.type(*operands[i]);
    }
    if (given && op.code == Code::addptr) given = with_elem(*given, Elem::i32);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::optional<Type> type =
          given && op.code == Code::select && i == 0 ? std::optional(with_elem(*given, Elem::i1)) : given;
      op.operands.push_back(operands[i] ? *operands[i] : value(e.operands[i], type));
    }
    attribute(op, e.attribute);
    const Type type = e.type ? *e.type : result_type(op);
    return emit(std::move(op), type);
  }

  Type result_type(const Op& op) const {
    Type type = f_.type(op.operands[op.code == Code::select ? 1 : op.code == Code::dot ? 2 : 0]);
    if (op_row(op.code).kind == OpClass::compare) type = with_elem(type, Elem::i1);
    if (op.code == Code::load) type.pointer = false;
    return type;
  }

  static void attribute(Op& op, std::string_view text) {
    const auto number = [](std::string_view word) {
      int out = 0;
      std::from_chars(word.data(), word.data() + word.size(), out);
      return static_cast<std::int8_t>(out);
    };
    if (op.code == Code::trans) {
      const auto words = text_split(text, ',');
      for (std::size_t i = 0; i < words.size(); ++i) op.order[i] = number(text_trim(words[i]));
    } else if (op_parts(op.code) & kPartCombine) {
      const auto words = text_split(text, ' ');
      for (std::size_t i = 0; i < std::size(kCombineNames); ++i)
        if (kCombineNames[i] == words[0]) op.combine = static_cast<Combine>(i);
      op.axis = number(words.at(1));
      op.reverse = words.size() > 2;
    } else if (op_parts(op.code) & kPartAxis) {
      op.axis = number(text);
    }
  }

  ValueId constant(const std::string& text, const Type& type) {
    Op op;
    if (is_float(type.elem))
      op.real = real_of(type.elem, bits_of_real(type.elem, std::strtod(text.c_str(), nullptr)));
    else
      op.integer = integer_of(type.elem, bits_of_integer(type.elem, std::strtoll(text.c_str(), nullptr, 10)));
    return emit(std::move(op), type);
  }

  Function f_;
  std::map<std::string, ValueId> values_;
};

// The value that the function stores, as an expression.
class Writer {
 public:
  explicit Writer(const Function& f) : f_(f), defs_(f.types.size()) {
    for (const Op& op : f.body.ops)
      for (const ValueId v : op.results) defs_[static_cast<std::size_t>(v)] = &op;
  }

  std::string run() const {
    const Op& store = f_.body.ops.back();
    return store.code == Code::store ? text(store.operands[1]) : "nothing";
  }

 private:
  std::string text(ValueId v) const {
    const Op* op = defs_[static_cast<std::size_t>(v)];
    const std::string& name = f_.names[static_cast<std::size_t>(v)];
    if (op == nullptr || !name.empty()) return name;
    std::string out = ir_text(f_, *op);
    if (op->code == Code::constant) {
      out = out.substr(out.rfind(' ') + 1);
      return f_.type(v).is_tile() ? fmt::format("{}: {}", out, ir_text(f_.type(v))) : out;
    }
    out = op_row(op->code).name;
    const unsigned parts = op_parts(op->code);
    if (parts & kPartCombine)
      out += fmt::format("<{} {}>", kCombineNames[static_cast<std::size_t>(op->combine)], op->axis);
    else if (parts & kPartAxis)
      out += fmt::format("<{}>", op->axis);
    else if (parts & kPartOrder)
      out += fmt::format("<{}>", fmt::join(op->order.begin(), op->order.begin() + f_.type(v).shape.rank, ", "));
    std::vector<std::string> operands;
    for (const ValueId o : op->operands) operands.push_back(text(o));
    out += fmt::format("({})", fmt::join(operands, ", "));
    const bool typed = op_row(op->code).kind == OpClass::shape || op->code == Code::cast || op->code == Code::bitcast ||
                       op->code == Code::reduce;
    return typed ? fmt::format("{}: {}", out, ir_text(f_.type(v))) : out;
  }

  const Function& f_;
  std::vector<const Op*> defs_;
};

std::string simplified(const std::map<std::string, Type>& names, std::string_view line) {
  Function f = Builder(names).run(Reader(line).expression());
  verify(f).take();
  simplify(f, [](std::string_view, const Function& now) { verify(now).take(); });
  return Writer(f).run();
}

}  // namespace

std::string simplify_expressions(std::string_view text) {
  std::map<std::string, Type> names;
  std::string out;
  for (const std::string_view line : text_lines(text)) {
    if (line.starts_with("let ")) {
      const std::size_t colon = line.find(':');
      names[std::string(text_trim(line.substr(4, colon - 4)))] = read_type(text_trim(line.substr(colon + 1)));
    } else if (line.empty() || line.starts_with('#')) {
      out += fmt::format("{}\n", line);
    } else {
      try {
        out += fmt::format("{:40}  -> {}\n", line, simplified(names, line));
      } catch (const Failure& failure) {
        out += fmt::format("{:40}  {}\n", line, error_line(failure.error));
      }
    }
  }
  return out;
}

}  // namespace passnet::tile
