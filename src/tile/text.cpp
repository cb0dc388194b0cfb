// Tile IR -> text. One op a line; parse.cpp reads it back.
//
//   file "softmax.py"
//   kernel softmax(%0 x: *f32, %1 n: i32) {
//     %2 offsets: i32[1024] = arange 0                           @12:5
//     %9 acc: f32 = for %3, %1, %4, %5 do (%6 i: i32, %7 acc: f32) {
//       %8: f32 = add %7, %7                                     @14:9
//       yield %8
//     }
//   }
//
// A value is `%number [name]: type` where it is defined, `%number` where it is used. What an op has beside operands is
// written as kOps names it, before them (constants, axes of leaves, combines) or behind (`axis`, `order`, `reverse`,
// texts). `@line:column` or `@file:line:column` is the source; `#` starts a comment.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "tile/stages.h"
#include "tile/text.h"

namespace passnet::tile {

namespace {

constexpr std::size_t kSourceColumn = 72;

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  for (const char c : name)
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '.') return false;
  return true;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string name_text(std::string_view name) { return is_identifier(name) ? std::string(name) : quoted(name); }

bool known(const Function& f, ValueId v) { return v >= 0 && static_cast<std::size_t>(v) < f.types.size(); }

std::string definition(const Function& f, ValueId v) {
  const std::string_view name = known(f, v) && static_cast<std::size_t>(v) < f.names.size()
                                    ? std::string_view(f.names[static_cast<std::size_t>(v)])
                                    : std::string_view();
  return fmt::format("%{}{}{}: {}", v, name.empty() ? "" : " ", name.empty() ? std::string() : name_text(name),
                     known(f, v) ? ir_text(f.type(v)) : "?");
}

std::string definitions(const Function& f, std::span<const ValueId> values) {
  std::string out;
  for (const ValueId v : values) out += (out.empty() ? "" : ", ") + definition(f, v);
  return out;
}

// The shortest digits that read back, as an f32 where the type is no wider.
std::string real_text(Elem elem, double value) {
  const auto narrow = static_cast<float>(value);
  if (elem == Elem::f64 || !std::isfinite(value) || static_cast<double>(narrow) != value) return python_float(value);
  char buffer[32];
  std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, narrow).ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string constant_text(const Function& f, const Op& op) {
  const Elem elem = known(f, op.result()) ? f.type(op.result()).elem : Elem::i64;
  if (is_float(elem)) return real_text(elem, op.real);
  if (elem == Elem::u64) return fmt::format("{}", static_cast<std::uint64_t>(op.integer));
  return fmt::format("{}", op.integer);
}

class Printer {
 public:
  explicit Printer(const Function& f) : f_(f) {}

  std::string run() {
    for (const std::string& file : f_.files) out_ += fmt::format("file {}\n", quoted(file));
    out_ += fmt::format("kernel {}(", name_text(f_.name));
    for (std::size_t i = 0; i < f_.body.params.size(); ++i) {
      const ValueId v = f_.body.params[i];
      const std::string name = i < f_.parameters.size() ? name_text(f_.parameters[i]) : quoted("");
      out_ += fmt::format("{}%{} {}: {}", i == 0 ? "" : ", ", v, name, known(f_, v) ? ir_text(f_.type(v)) : "?");
    }
    out_ += ") {\n";
    block(f_.body, 1);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void block(const Block& block, int depth) {
    for (const Op& op : block.ops) this->op(op, depth);
  }

  void op(const Op& op, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    std::string line = indent + ir_text(f_, op);
    for (std::size_t b = 0; b < op.blocks.size(); ++b) {
      const std::string_view word = block_word(op.code, b);
      if (b > 0) line = indent + "}";
      line += fmt::format(" {}", word);
      if (!op.blocks[b].params.empty()) line += fmt::format(" ({})", definitions(f_, op.blocks[b].params));
      line += " {";
      if (b == 0) line = with_source(std::move(line), op.source);
      out_ += line + '\n';
      block(op.blocks[b], depth + 1);
    }
    out_ += (op.blocks.empty() ? with_source(std::move(line), op.source) : indent + "}") + '\n';
  }

  static std::string with_source(std::string line, const Source& source) {
    if (source.place.line == 0) return line;
    line.resize(std::max(kSourceColumn, line.size() + 2), ' ');
    if (source.file != 0) return line + fmt::format("@{}:{}:{}", source.file, source.place.line, source.place.column);
    return line + fmt::format("@{}:{}", source.place.line, source.place.column);
  }

  const Function& f_;
  std::string out_;
};

}  // namespace

std::string ir_text(const Type& type) {
  std::string out = fmt::format("{}{}", type.pointer ? "*" : "", elem_row(type.elem).name);
  if (type.is_tile()) out += fmt::format("[{}]", fmt::join(type.shape.span(), ", "));
  return out;
}

std::string ir_text(const Function& f, const Op& op) {
  std::string out = definitions(f, op.results);
  if (!out.empty()) out += " = ";
  out += op_row(op.code).name;
  const unsigned parts = op_parts(op.code);
  if (parts & kPartConstant) out += ' ' + constant_text(f, op);
  if (parts & kPartStart) out += fmt::format(" {}", op.integer);
  if (parts & kPartLeafAxis) out += fmt::format(" {}", op.axis);
  if (parts & kPartCombine) out += fmt::format(" {}", kCombineNames[static_cast<std::size_t>(op.combine)]);
  if (parts & kPartAtomic) out += fmt::format(" {}", kAtomicNames[static_cast<std::size_t>(op.atomic)]);
  for (std::size_t i = 0; i < op.operands.size(); ++i) out += fmt::format("{}%{}", i == 0 ? " " : ", ", op.operands[i]);
  if (parts & kPartAxis) out += fmt::format(" axis {}", op.axis);
  if (parts & kPartOrder) {
    const std::size_t rank = known(f, op.result()) ? f.type(op.result()).shape.rank : 0;
    out += fmt::format(" order {}",
                       fmt::join(op.order.begin(), op.order.begin() + static_cast<std::ptrdiff_t>(rank), ", "));
  }
  if (op.reverse && (parts & kPartReverse)) out += " reverse";
  if (op.precision != Precision::tf32 && (parts & kPartPrecision))
    out += fmt::format(" precision {}", kPrecisionNames[static_cast<std::size_t>(op.precision)]);
  if (parts & kPartText) out += ' ' + quoted(op.text);
  return out;
}

std::string print(const Function& function) { return Printer(function).run(); }

}  // namespace passnet::tile
