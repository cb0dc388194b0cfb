// Text -> tile IR; the grammar is at the head of text.cpp. Takes any bytes: an error has its place, recursion is
// bounded by kDepthLimit, value numbers by kValueLimit. Whether the function obeys the IR's rules is verify's question.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile/text.h"

namespace passnet::tile {

namespace {

constexpr std::size_t kTextLimit = 16 << 20;

class Parser {
 public:
  Parser(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  Function run() {
    if (text_.size() > kTextLimit)
      error(fmt::format("{} bytes of tile IR; the limit is {}", text_.size(), kTextLimit), passnet::Code::limit);
    skip_lines();
    while (accept_word("file")) {
      if (f_.files.size() == std::numeric_limits<std::uint16_t>::max()) error("too many files");
      f_.files.push_back(string());
      end_line();
    }
    expect_word("kernel");
    f_.name = name();
    expect('(');
    if (!accept(')')) {
      do {
        const ValueId v = definition(true);
        f_.parameters.push_back(f_.names[static_cast<std::size_t>(v)]);
        f_.body.params.push_back(v);
      } while (accept(','));
      expect(')');
    }
    f_.body.ops = braces(1);
    end_line();
    if (at_ < text_.size()) error("text after the kernel");
    return std::move(f_);
  }

 private:
  // Characters
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  [[noreturn]] void error(std::string message, passnet::Code code = passnet::Code::syntax) const {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    passnet::fail({code,
                   {file_, line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1),
                    std::string(text_.substr(line_begin_, std::min<std::size_t>(end - line_begin_, 4096)))},
                   std::move(message),
                   {}});
  }

  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
    if (peek() == '#')
      while (at_ < text_.size() && peek() != '\n') ++at_;
  }

  bool accept_line() {
    skip_space();
    if (at_ >= text_.size() || peek() != '\n') return false;
    ++at_, ++line_;
    line_begin_ = at_;
    return true;
  }
  void skip_lines() {
    while (accept_line()) {
    }
  }
  void end_line() {
    if (!accept_line() && at_ < text_.size()) error("expected the end of the line");
    skip_lines();
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) error(fmt::format("expected '{}'", c));
  }

  // Words
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    if (letter(peek()))
      while (letter(peek()) || digit(peek()) || peek() == '.') ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool accept_word(std::string_view wanted) {
    skip_space();
    const std::size_t begin = at_;
    if (word() == wanted) return true;
    at_ = begin;
    return false;
  }
  void expect_word(std::string_view wanted) {
    if (!accept_word(wanted)) error(fmt::format("expected `{}`", wanted));
  }

  std::string string() {
    expect('"');
    std::string out;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n') error("a string that does not end in its line");
      char c = text_[at_++];
      if (c == '\\') {
        c = peek();
        if (c == 'x') {
          unsigned value = 0;
          const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 2);
          const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
          if (wrong != std::errc() || digits.size() != 2 || end != digits.data() + 2) error("expected two hex digits");
          c = static_cast<char>(value);
          at_ += 2;
        } else if (c != '"' && c != '\\') {
          error("expected `\\\"`, `\\\\` or `\\x` and two hex digits");
        }
        ++at_;
      }
      out += c;
    }
    ++at_;
    return out;
  }

  std::string name() {
    skip_space();
    if (peek() == '"') return string();
    const std::string_view out = word();
    if (out.empty()) error("expected a name");
    return std::string(out);
  }

  // Numbers
  std::string_view number_text() {
    skip_space();
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    while (letter(peek()) || digit(peek()) || peek() == '.' ||
           ((peek() == '-' || peek() == '+') && text_[at_ - 1] == 'e'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  template <class T>
  T number(std::string_view what) {
    const std::size_t begin = (skip_space(), at_);
    const std::string_view text = number_text();
    T value{};
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size() || text.empty()) {
      at_ = begin;
      error(fmt::format("expected {}", what));
    }
    return value;
  }

  template <class T>
  T small(std::string_view what) {
    const std::size_t begin = (skip_space(), at_);
    const auto value = number<std::int64_t>(what);
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
      at_ = begin;
      error(fmt::format("{} is out of range", what));
    }
    return static_cast<T>(value);
  }

  // Values and types
  ValueId value() {
    expect('%');
    if (!digit(peek())) error("expected a value's number");
    const auto id = small<ValueId>("a value's number");
    if (id >= kValueLimit) error(fmt::format("value %{}; the limit is {}", id, kValueLimit), passnet::Code::limit);
    return id;
  }

  ValueId definition(bool named = false) {
    skip_space();
    const std::size_t begin = at_;
    const ValueId v = value();
    const auto i = static_cast<std::size_t>(v);
    if (i >= f_.types.size()) {
      f_.types.resize(i + 1);
      f_.names.resize(i + 1);
      defined_.resize(i + 1);
    }
    if (defined_[i]) {
      at_ = begin;
      error(fmt::format("%{} is defined twice", v));
    }
    defined_[i] = true;
    skip_space();
    if (named || peek() != ':') f_.names[i] = name();
    expect(':');
    f_.types[i] = type();
    return v;
  }

  Type type() {
    Type out;
    out.pointer = accept('*');
    skip_space();
    const std::size_t begin = at_;
    const std::string_view text = word();
    const ElemRow* row =
        std::find_if(std::begin(kElems), std::end(kElems), [&](const ElemRow& r) { return r.name == text; });
    if (row == std::end(kElems)) {
      at_ = begin;
      error("expected an element type (i1, i32, f16, ...)");
    }
    out.elem = row->elem;
    if (accept('[')) {
      do {
        if (out.shape.rank == kRankLimit) error(fmt::format("a tile has at most {} dimensions", kRankLimit));
        out.shape.push(small<std::int32_t>("a size"));
      } while (accept(','));
      expect(']');
    }
    return out;
  }

  // Ops
  // An op with blocks has its source behind the first brace: on the line the op starts on.
  std::vector<Op> braces(int depth, Source* source = nullptr) {
    if (depth > kDepthLimit) error(fmt::format("blocks nested deeper than {}", kDepthLimit), passnet::Code::limit);
    expect('{');
    if (source != nullptr && accept('@')) *source = this->source();
    std::vector<Op> out;
    skip_lines();
    while (!accept('}')) {
      if (at_ >= text_.size()) error("the text ends inside a block");
      out.push_back(op(depth));
      end_line();
    }
    return out;
  }

  Op op(int depth) {
    Op out;
    skip_space();
    if (peek() == '%') {
      do out.results.push_back(definition());
      while (accept(','));
      expect('=');
    }
    skip_space();
    const std::size_t begin = at_;
    const std::string_view text = word();
    const OpRow* row = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpRow& r) { return r.name == text; });
    if (row == std::end(kOps)) {
      at_ = begin;
      error(text.empty() ? "expected an op" : fmt::format("no op is called `{}`", text));
    }
    out.code = row->code;
    parts_before(out);
    skip_space();
    if (peek() == '%') {
      do out.operands.push_back(value());
      while (accept(','));
    }
    parts_behind(out);
    for (std::size_t b = 0; b < block_count(out.code); ++b) {
      expect_word(block_word(out.code, b));
      Block& block = out.blocks.emplace_back();
      if (accept('(')) {
        do block.params.push_back(definition());
        while (accept(','));
        expect(')');
      }
      block.ops = braces(depth + 1, b == 0 ? &out.source : nullptr);
    }
    if (out.blocks.empty() && accept('@')) out.source = source();
    return out;
  }

  template <std::size_t N>
  std::size_t one_of(const std::string_view (&names)[N], std::string_view what) {
    skip_space();
    const std::size_t begin = at_;
    const std::string_view text = word();
    for (std::size_t i = 0; i < N; ++i)
      if (names[i] == text) return i;
    at_ = begin;
    error(fmt::format("expected {}", what));
  }

  void parts_before(Op& op) {
    const unsigned parts = op_parts(op.code);
    if (parts & kPartConstant) {
      if (op.results.empty()) error("a constant without a result");
      const Elem elem = f_.type(op.result()).elem;
      if (is_float(elem)) {
        op.real = number<double>("a number");
        op.real =
            std::isnan(op.real) ? std::numeric_limits<double>::quiet_NaN() : real_of(elem, bits_of_real(elem, op.real));
      } else if (elem == Elem::u64) {
        op.integer = static_cast<std::int64_t>(number<std::uint64_t>("an unsigned integer"));
      } else {
        op.integer = number<std::int64_t>("an integer");
      }
    }
    if (parts & kPartStart) op.integer = number<std::int64_t>("an integer");
    if (parts & kPartLeafAxis) op.axis = small<std::int8_t>("an axis");
    if (parts & kPartCombine)
      op.combine = static_cast<Combine>(one_of(kCombineNames, "how to combine (sum, max, ...)"));
    if (parts & kPartAtomic)
      op.atomic = static_cast<Atomic>(one_of(kAtomicNames, "an atomic operation (add, max, ...)"));
  }

  void parts_behind(Op& op) {
    const unsigned parts = op_parts(op.code);
    if (parts & kPartAxis) {
      expect_word("axis");
      op.axis = small<std::int8_t>("an axis");
    }
    if (parts & kPartOrder) {
      const std::size_t rank = op.results.empty() ? 0 : f_.type(op.result()).shape.rank;
      expect_word("order");
      for (std::size_t i = 0; i < rank; ++i) {
        if (i > 0) expect(',');
        op.order[i] = small<std::int8_t>("a dimension");
      }
    }
    if (parts & kPartReverse) op.reverse = accept_word("reverse");
    if ((parts & kPartPrecision) && accept_word("precision"))
      op.precision = static_cast<Precision>(one_of(kPrecisionNames, "a precision (ieee, tf32, ...)"));
    if (parts & kPartText) op.text = (skip_space(), string());
  }

  Source source() {
    Source out;
    const auto first = small<std::uint32_t>("a line");
    expect(':');
    const auto second = small<std::uint32_t>("a column");
    if (!accept(':')) {
      out.place = {first, second};
    } else {
      if (first > std::numeric_limits<std::uint16_t>::max()) error("a file's number is out of range");
      out.file = static_cast<std::uint16_t>(first);
      out.place = {second, small<std::uint32_t>("a column")};
    }
    return out;
  }

  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  Function f_;
  std::vector<bool> defined_;
};

}  // namespace

Result<Function> parse(std::string file, std::string_view text) {
  return guarded([&] { return Parser(std::move(file), text).run(); });
}

}  // namespace passnet::tile
