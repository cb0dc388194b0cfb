#include "cli/tile_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "py/printer.h"
#include "tile/lower.h"

namespace passnet::cli {

namespace {

using K = py::ExprKind;

[[noreturn]] void usage(std::string message, std::string note = {}) {
  Error e{Code::usage, {}, std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A plan's BLOCK!=64 as Python has it, BLOCK=64, and the names that it says are constant.
std::string without_marks(const std::string& text, std::set<std::string>& constants) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && c == '!' && i + 1 < text.size() && text[i + 1] == '=') {
      const std::size_t end = out.find_last_not_of(' ') + 1;
      std::size_t begin = end;
      while (begin > 0 && is_word(out[begin - 1])) --begin;
      constants.insert(out.substr(begin, end - begin));
      continue;
    }
    if (quote != 0 ? c == quote : c == '\'' || c == '"') quote = quote != 0 ? 0 : c;
    out += c;
  }
  return out;
}

// How a buffer is filled is a call around its type: zeros(float32[4]).
const py::Expr& read_fill(const py::Expr& e, BufferFill& out) {
  if (e.kind != K::call || e.items[0]->kind != K::name) return e;
  out.how = py::print(*e.items[0]);
  constexpr std::string_view kKnown[] = {"arange", "zeros", "ones", "full", "empty", "random"};
  if (std::find(std::begin(kKnown), std::end(kKnown), out.how) == std::end(kKnown) || e.items.size() < 2)
    usage(fmt::format("'{}' is no way to fill a tensor", py::print(e)),
          "write random(t), arange(t), zeros(t), ones(t), full(t, 1.5) or empty(t) with t as float32[4, 8]");
  if (out.how == "ones") out.value = HostValue::of(std::int64_t{1});
  if (out.how == "full") {
    if (e.items.size() != 3) usage("full takes a type and a number", "write full(float32[4], 1.5)");
    out.value = read_argument(*e.items[2]).scalar;
    if (!out.value.is_number()) usage(fmt::format("'{}' is no number", py::print(*e.items[2])));
  }
  return *e.items[1];
}

bool is_call_of(const py::Expr& e, std::string_view name) {
  return e.kind == K::call && e.items[0]->kind == K::name && e.items[0]->text == name;
}

// b0, of a plan
bool is_buffer_name(std::string_view text) {
  return text.size() > 1 && text[0] == 'b' && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

class Reader {
 public:
  // `constant`: said by a plan's mark, or an item of a tuple, where a plan marks nothing.
  void read(std::string name, const py::Expr& e, bool constant, bool item = false) {
    LaunchArgument a;
    a.name = std::move(name);
    a.constexpr_ = constant;
    const std::string text = py::print(e);
    if (e.kind == K::tuple || e.kind == K::list || is_call_of(e, "namedtuple"))
      read_tuple(std::move(a), e, constant);
    else if (e.kind == K::compare && e.items.size() == 2 && is_call_of(*e.items[1], "blocks"))
      read_blocks(std::move(a), e);
    else if (const auto path = text_of_path(e))
      add_string(std::move(a), *path);
    else if (e.kind == K::name && (constant || item) && !is_buffer_name(e.text) && !is_float_name(e.text))
      add_bare(std::move(a), text);
    else
      read_plain(std::move(a), e, text);
  }
  TileArguments out;

 private:
  // tl.float32, as kernels and plans spell it
  static std::optional<std::string> text_of_path(const py::Expr& e) {
    const std::string text = e.kind == K::attribute ? py::dotted_name(e) : std::string();
    if (text.starts_with("tl.")) return "triton.language." + text.substr(3);
    if (text.starts_with("triton.language.")) return text;
    return std::nullopt;
  }

  void add_string(LaunchArgument a, const std::string& text) {
    a.scalar = {text};
    a.constexpr_ = true;
    out.arguments.push_back(std::move(a));
  }
  void add_bare(LaunchArgument a, const std::string& text) {
    out.bare.insert(a.name);
    add_string(std::move(a), text);
  }

  void read_tuple(LaunchArgument a, const py::Expr& e, bool constant) {
    const bool named = e.kind == K::call;
    std::vector<std::string_view> fields;
    std::vector<const py::Expr*> items(e.items.begin() + (named ? 1 : 0), e.items.end());
    if (named && !items.empty()) usage(fmt::format("'{}': a namedtuple's items have names", py::print(e)));
    for (const py::Keyword& k : e.keywords) {
      fields.push_back(k.name);
      items.push_back(k.value);
    }
    a.constexpr_ = false;
    a.items = items.size();
    if (named) a.scalar = {fmt::format("{}", fmt::join(fields, ","))};
    const std::string name = a.name;
    out.arguments.push_back(std::move(a));
    for (std::size_t i = 0; i < items.size(); ++i) read(tile::item_name(name, i), *items[i], constant, true);
  }

  // float32[64, 64] in blocks (16, 16): a tensor descriptor
  void read_blocks(LaunchArgument a, const py::Expr& e) {
    TensorBlocks blocks;
    for (const py::Expr* size : e.items[1]->items.subspan(1)) {
      const HostValue v = read_argument(*size).scalar;
      if (!v.is_integral()) usage(fmt::format("'{}' is no size of a block", py::print(*size)));
      blocks.block.push_back(v.integer.clamped());
    }
    read_plain(std::move(a), *e.items[0], py::print(*e.items[0]));
    LaunchArgument& made = out.arguments.back();
    if (made.buffer < 0 || out.buffers.back().desc.sizes.size() != blocks.block.size())
      usage(fmt::format("'{}': a block has a size for each dimension of a tensor", py::print(e)),
            "write float32[64, 64] in blocks (16, 16)");
    blocks.sizes = out.buffers.back().desc.sizes;
    blocks.strides = out.buffers.back().desc.strides;
    made.blocks = std::move(blocks);
  }

  void read_plain(LaunchArgument a, const py::Expr& e, const std::string& text) {
    if (e.kind == K::name && is_buffer_name(e.text))
      usage(fmt::format("'{}' is a buffer of a plan", text),
            "write what the plan's line of it says: its type and its sizes, float32[64, 32]");
    BufferFill fill;
    const HostArgument argument = read_argument(read_fill(e, fill));
    if (!argument.tensor) {
      a.scalar = scalar_of(argument.scalar);
      a.constexpr_ |=
          std::holds_alternative<std::monostate>(a.scalar.value) || std::holds_alternative<std::string>(a.scalar.value);
      out.arguments.push_back(std::move(a));
      return;
    }
    Buffer b;
    b.kind = BufferKind::input;
    b.desc = *argument.tensor;
    b.input = out.buffers.size();
    if (b.desc.hull() > (std::int64_t{1} << 30)) usage(fmt::format("'{}' is too large", text));
    a.buffer = static_cast<BufferId>(out.buffers.size());
    a.constexpr_ = false;
    out.buffers.push_back(std::move(b));
    out.names.push_back(a.name);
    out.fills.push_back(std::move(fill));
    out.arguments.push_back(std::move(a));
  }
};

}  // namespace

Scalar scalar_of(const HostValue& v) {
  switch (v.kind) {
    case HostValue::Kind::boolean: return {v.integer != 0};
    case HostValue::Kind::integer: return {v.integer};
    case HostValue::Kind::real: return {v.real};
    case HostValue::Kind::string:
    case HostValue::Kind::path: return {v.text};
    case HostValue::Kind::dtype: return {fmt::format("torch.{}", dtype_row(v.dtype).name)};
    default: return {};
  }
}

TileArguments read_tile_arguments(const std::string& text) {
  std::set<std::string> constants;
  const py::Module module = parse_arguments("f(", without_marks(text, constants), ")");
  const py::Expr& call = *module.body()[0]->value;
  if (call.kind != K::call || call.items[0]->kind != K::name || call.items.size() > 1)
    usage("arguments are given by name", "write --args 'x_ptr=float32[64], n=64, BLOCK=64'");
  Reader reader;
  for (const py::Keyword& k : call.keywords)
    reader.read(std::string(k.name), *k.value, constants.contains(std::string(k.name)));
  return std::move(reader.out);
}

}  // namespace passnet::cli
