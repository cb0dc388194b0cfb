// Methods of strings in a host program, and Python's three ways to format.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

std::size_t text_find(std::string_view text, std::string_view part, std::size_t from) {
  const char* begin = text.data() + std::min(from, text.size());
  const auto* at = static_cast<const char*>(
      ::memmem(begin, static_cast<std::size_t>(text.data() + text.size() - begin), part.data(), part.size()));
  return at == nullptr ? std::string_view::npos : static_cast<std::size_t>(at - text.data());
}

std::size_t text_length(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> text_letters(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      out.emplace_back(1, c);
    else if (!out.empty())
      out.back() += c;
  }
  return out;
}

namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }
char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
bool is_alpha(char c) { return is_lower(to_lower(c)); }
bool is_alnum(char c) { return is_digit(c) || is_alpha(c); }
bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

std::string stripped(std::string_view s, std::string_view of, bool left, bool right) {
  std::array<bool, 256> known{};
  for (const char c : of) known[static_cast<unsigned char>(c)] = true;
  while (left && !s.empty() && known[static_cast<unsigned char>(s.front())]) s.remove_prefix(1);
  while (right && !s.empty() && known[static_cast<unsigned char>(s.back())]) s.remove_suffix(1);
  return std::string(s);
}

std::vector<std::string> split_blanks(std::string_view s) {
  std::vector<std::string> out;
  for (std::size_t at = s.find_first_not_of(kBlanks); at != std::string_view::npos;
       at = s.find_first_not_of(kBlanks, at)) {
    const std::size_t end = std::min(s.find_first_of(kBlanks, at), s.size());
    out.emplace_back(s.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string backwards(std::string_view s) { return {s.rbegin(), s.rend()}; }

// The last place, in linear time as the first.
std::size_t find_last(std::string_view s, std::string_view part) {
  const std::size_t at = text_find(backwards(s), backwards(part));
  return at == std::string_view::npos ? at : s.size() - at - part.size();
}

std::vector<std::string> split_by(std::string_view s, std::string_view by, std::int64_t most, bool from_right) {
  if (from_right) {
    std::vector<std::string> out = split_by(backwards(s), backwards(by), most, false);
    std::reverse(out.begin(), out.end());
    for (std::string& part : out) part = backwards(part);
    return out;
  }
  std::vector<std::string> out;
  for (; most != 0; --most) {
    const std::size_t at = text_find(s, by);
    if (at == std::string_view::npos) break;
    out.emplace_back(s.substr(0, at));
    s = s.substr(at + by.size());
  }
  out.emplace_back(s);
  return out;
}

// [[fill]align][sign][z][#][0][width][grouping][.precision][type]
struct FormatSpec {
  char fill = ' ', align = 0, sign = '-', grouping = 0, type = 0;
  bool alternate = false, ok = true;
  std::int64_t width = 0, precision = -1;
};

FormatSpec read_spec(std::string_view s) {
  FormatSpec out;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '=' || c == '^'; };
  if (s.size() > 1 && is_align(s[1]))
    out.fill = s[0], out.align = s[1], s.remove_prefix(2);
  else if (!s.empty() && is_align(s[0]))
    out.align = s[0], s.remove_prefix(1);
  const auto take = [&](std::string_view any) {
    if (s.empty() || any.find(s[0]) == std::string_view::npos) return '\0';
    const char c = s[0];
    s.remove_prefix(1);
    return c;
  };
  const auto number = [&] {
    std::int64_t n = 0;
    while (!s.empty() && is_digit(s[0]) && n < 1'000'000) n = n * 10 + (s[0] - '0'), s.remove_prefix(1);
    return n;
  };
  if (const char c = take("+- ")) out.sign = c;
  take("z");
  out.alternate = take("#") != 0;
  if (take("0") != 0 && out.align == 0) out.fill = '0', out.align = '=';
  out.width = number();
  out.grouping = take(",_");
  if (take(".") != 0) {
    out.ok = !s.empty() && is_digit(s[0]);
    out.precision = number();
  }
  out.type = take("bcdeEfFgGnosxX%");
  out.ok = out.ok && s.empty() && out.width < 10'000 && out.precision < 1'000;
  return out;
}

std::string grouped(const std::string& digits, char by, std::size_t size) {
  if (by == 0) return digits;
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % size == 0) out += by;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string padded(const FormatSpec& spec, const std::string& sign, const std::string& body, char otherwise) {
  const auto length = static_cast<std::int64_t>(sign.size() + text_length(body));
  if (length >= spec.width) return sign + body;
  const auto gap = static_cast<std::size_t>(spec.width - length);
  const char align = spec.align != 0 ? spec.align : otherwise;
  if (align == '=') return sign + std::string(gap, spec.fill) + body;
  const std::size_t left = align == '<' ? 0 : align == '>' ? gap : gap / 2;
  return std::string(left, spec.fill) + sign + body + std::string(gap - left, spec.fill);
}

// 1.00e+02 -> 1e+02
std::string short_exponent(const std::string& s) {
  const std::size_t e = s.find('e');
  std::string mantissa = s.substr(0, e);
  if (mantissa.find('.') != std::string::npos)
    mantissa = stripped(stripped(mantissa, "0", false, true), ".", false, true);
  return mantissa + s.substr(e);
}

}  // namespace

std::string HostMachine::formatted(const HostValue& v, std::string_view text_spec, py::Place place) {
  if (text_spec.empty()) return text(v, false, place);
  const FormatSpec spec = read_spec(text_spec);
  const auto invalid = [&] {
    raise("ValueError",
          fmt::format("invalid format specifier {} for a {}", python_string(text_spec), host_type_name(v)), place);
  };
  if (!spec.ok) invalid();
  if (!v.is_number()) {
    if ((spec.type != 0 && spec.type != 's') || spec.align == '=') invalid();
    std::string body = text(v, false, place);
    if (spec.precision >= 0) body.resize(std::min(body.size(), static_cast<std::size_t>(spec.precision)));
    return padded(spec, "", body, '<');
  }
  const bool whole =
      v.is_integral() && (spec.type == 0 || std::string_view("bcdnoxX").find(spec.type) != std::string_view::npos);
  if (!whole &&
      (spec.type == 's' || (v.is(Kind::real) && std::string_view("bcdoxX").find(spec.type == 0 ? 'f' : spec.type) !=
                                                    std::string_view::npos)))
    invalid();
  const bool negative = whole ? v.integer < 0 : std::signbit(v.as_real());
  std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign), body;
  if (whole) {
    if (spec.precision >= 0) invalid();
    switch (spec.type) {
      case 'b': body = v.integer.text(2); break;
      case 'o': body = v.integer.text(8); break;
      case 'x':
      case 'X': body = v.integer.text(16); break;
      case 'c': body = std::string(1, static_cast<char>(v.integer.low_bits())), sign.clear(); break;
      default: body = v.integer.text();
    }
    if (negative) body.erase(0, 1);
    if (spec.type == 'X')
      for (char& digit : body) digit = static_cast<char>(digit >= 'a' ? digit - 32 : digit);
    const bool decimal = spec.type == 0 || spec.type == 'd' || spec.type == 'n';
    if (spec.alternate && !decimal && spec.type != 'c') sign += std::string("0") + spec.type;
    return padded(spec, sign, grouped(body, spec.grouping, decimal ? 3 : 4), '>');
  }
  const double x = std::fabs(v.as_real());
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  switch (spec.type) {
    case 'e': body = fmt::format("{:.{}e}", x, precision); break;
    case 'E': body = fmt::format("{:.{}E}", x, precision); break;
    case 'g': body = fmt::format("{:.{}g}", x, precision); break;
    case 'G': body = fmt::format("{:.{}G}", x, precision); break;
    case '%': body = fmt::format("{:.{}f}%", x * 100, precision); break;
    case 0: {
      if (spec.precision < 0) {
        body = python_float(x);
      } else {
        body = fmt::format("{:.{}g}", x, std::max(precision, 1));
        const bool bare = body.find_first_of(".ein") == std::string::npos;
        if (bare && x < std::pow(10.0, precision - 1))
          body += ".0";
        else if (bare)
          body = short_exponent(fmt::format("{:.{}e}", x, std::max(precision - 1, 0)));
      }
      break;
    }
    default: body = fmt::format("{:.{}f}", x, precision);
  }
  return padded(spec, sign, grouped(body, std::isfinite(x) ? spec.grouping : '\0', 3), '>');
}

// What a field in braces names: {}, {0}, {name}, and {0.shape[1]} of such.
HostValue HostMachine::format_field(std::string_view field, const HostArgs& args, const HostKwargs& kwargs,
                                    std::size_t& next, py::Place place) {
  const auto number = [](std::string_view digits) {
    std::size_t n = 0;
    for (const char c : digits) n = std::min<std::size_t>(n * 10 + static_cast<std::size_t>(c - '0'), 100'000);
    return n;
  };
  const auto is_number = [](std::string_view s) { return std::all_of(s.begin(), s.end(), is_digit); };
  const std::string_view first = field.substr(0, field.find_first_of(".["));
  HostValue value;
  if (is_number(first)) {
    const std::size_t at = first.empty() ? next++ : number(first);
    if (at >= args.size()) raise("IndexError", "Replacement index out of range", place);
    value = args[at];
  } else if (const HostValue* named = keyword(kwargs, first)) {
    value = *named;
  } else {
    raise("KeyError", python_string(first), place);
  }
  for (std::string_view rest = field.substr(first.size()); !rest.empty();) {
    const bool item = rest[0] == '[';
    const std::size_t end = std::min(item ? rest.find(']') : rest.find_first_of(".[", 1), rest.size());
    const std::string_view part = rest.substr(1, end - 1);
    value = !item             ? eval_attribute(value, part, place)
            : is_number(part) ? get_item(value, HostValue::of(static_cast<std::int64_t>(number(part))), place)
                              : get_item(value, HostValue::string(std::string(part)), place);
    rest = rest.substr(std::min(end + (item ? 1 : 0), rest.size()));
  }
  return value;
}

namespace {

// Where the field that begins behind `from` ends; a format in it may have fields of its own.
std::size_t field_end(std::string_view s, std::size_t from) {
  for (int open = 1; (from = s.find_first_of("{}", from)) != std::string_view::npos; ++from)
    if ((open += s[from] == '{' ? 1 : -1) == 0) break;
  return from;
}

}  // namespace

// "{} and {name:>{width}}".format(...)
std::string HostMachine::format_call(std::string_view s, const HostArgs& args, const HostKwargs& kwargs,
                                     std::size_t& next, py::Place place) {
  spend(s.size() / 64 + 1, place);
  if (++nesting_ > kDeepestLists * 4) refuse(Code::limit, "fields are nested too deeply", place);
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if ((s[i] == '{' || s[i] == '}') && i + 1 < s.size() && s[i + 1] == s[i]) {
      out += s[i++];
      continue;
    }
    if (s[i] != '{') {
      out += s[i];
      continue;
    }
    const std::size_t end = field_end(s, i + 1);
    if (end == std::string_view::npos) raise("ValueError", "expected '}' before end of string", place);
    std::string_view field = s.substr(i + 1, end - i - 1), spec;
    if (const std::size_t colon = field.find(':'); colon != std::string_view::npos)
      spec = field.substr(colon + 1), field = field.substr(0, colon);
    const bool repr = field.ends_with("!r"), as_text = repr || field.ends_with("!s");
    if (as_text) field.remove_suffix(2);
    HostValue value = format_field(field, args, kwargs, next, place);
    if (as_text) value = HostValue::string(text(value, repr, place));
    out += formatted(value, format_call(spec, args, kwargs, next, place), place);
    check_length(out, place);
    i = end;
  }
  --nesting_;
  return out;
}

// "%d of %s" % (1, "x"), "%(n)d" % {"n": 1}
std::string HostMachine::format_percent(const std::string& s, const HostValue& values, py::Place place) {
  const std::vector<HostValue> args = values.is(Kind::tuple) ? values.items->values : std::vector<HostValue>{values};
  spend(s.size() / 64, place);
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '%') {
      out += s[i];
      continue;
    }
    std::size_t begin = i + 1;
    const HostValue* named = nullptr;
    HostValue item;
    if (begin < s.size() && s[begin] == '(') {
      const std::size_t close = s.find(')', begin);
      if (close == std::string::npos) raise("ValueError", "incomplete format key", place);
      if (!values.is(Kind::dict)) raise("TypeError", "format requires a mapping", place);
      item = get_item(values, HostValue::string(s.substr(begin + 1, close - begin - 1)), place);
      named = &item;
      begin = close + 1;
    }
    const std::size_t end = s.find_first_not_of("0123456789.+- #", begin);
    if (end == std::string::npos) raise("ValueError", "incomplete format", place);
    if (s[end] == '%') {
      out += '%';
      i = end;
      continue;
    }
    if (named == nullptr && next >= args.size()) raise("TypeError", "not enough arguments for format string", place);
    const HostValue& v = named != nullptr ? *named : args[next++];
    std::string spec = s.substr(begin, end - begin);
    const char type = s[end] == 'i' ? 'd' : s[end];
    const bool as_text = type == 's' || type == 'r';
    if (spec.starts_with('-'))
      spec[0] = '<';
    else if (as_text && !spec.empty())
      spec.insert(0, ">");
    if (as_text)
      out += formatted(HostValue::string(text(v, type == 'r', place)), spec, place);
    else if (type == 'd')
      out += formatted(call_int({v}, place), spec + "d", place);
    else
      out += formatted(v, spec + type, place);
    check_length(out, place);
    i = end;
  }
  return out;
}

struct HostMachine::Strings {
  using Call = HostCall;
  using Run = HostValue (*)(HostMachine& m, const std::string& s, const Call& c);

  static const std::string& arg(HostMachine& m, const Call& c, std::size_t i) {
    return m.string_of(c.args[i], c.place);
  }
  // Between the second argument and the third.
  static std::string_view between(HostMachine& m, const std::string& s, const Call& c, std::size_t& begin) {
    std::size_t end = 0;
    std::tie(begin, end) = m.bounds(c.args, s.size(), c.place);
    return begin > end ? std::string_view() : std::string_view(s).substr(begin, end - begin);
  }
  static HostValue list(HostMachine& m, const Call& c, const std::vector<std::string>& parts) {
    std::vector<HostValue> out;
    for (const std::string& part : parts) m.step(c.place), out.push_back(HostValue::string(part));
    return HostValue::sequence(Kind::list, std::move(out));
  }

  // ---- letters

  template <char (*letter)(char)>
  static HostValue mapped(HostMachine&, const std::string& s, const Call&) {
    std::string out = s;
    std::transform(out.begin(), out.end(), out.begin(), letter);
    return HostValue::string(std::move(out));
  }

  static HostValue capitalize_title(HostMachine&, const std::string& s, const Call& c) {
    std::string out = s;
    bool first = true;
    for (char& letter : out) {
      const char before = letter;
      letter = first ? to_upper(before) : to_lower(before);
      first = c.name == "title" && !is_lower(to_lower(before));
    }
    return HostValue::string(std::move(out));
  }

  template <bool (*holds)(char)>
  static HostValue all(HostMachine&, const std::string& s, const Call&) {
    return HostValue::boolean(!s.empty() && std::all_of(s.begin(), s.end(), holds));
  }

  template <bool (*wanted)(char), bool (*other)(char)>
  static HostValue cased(HostMachine&, const std::string& s, const Call&) {
    return HostValue::boolean(std::any_of(s.begin(), s.end(), wanted) && std::none_of(s.begin(), s.end(), other));
  }

  // ---- parts

  static HostValue strip(HostMachine& m, const std::string& s, const Call& c) {  // strip, lstrip, rstrip
    return HostValue::string(
        stripped(s, c.has(0) ? std::string_view(arg(m, c, 0)) : kBlanks, c.name != "rstrip", c.name != "lstrip"));
  }

  static HostValue split(HostMachine& m, const std::string& s, const Call& c) {  // split, rsplit
    const std::int64_t most = c.args.size() > 1 ? m.integer(c.args[1], c.place) : -1;
    if (!c.has(0)) {
      if (most >= 0) m.refuse(Code::host, "split() by blanks with a limit", c.place);
      return list(m, c, split_blanks(s));
    }
    if (arg(m, c, 0).empty()) m.raise("ValueError", "empty separator", c.place);
    return list(m, c, split_by(s, arg(m, c, 0), most, c.name == "rsplit"));
  }

  static HostValue splitlines(HostMachine& m, const std::string& s, const Call& c) {
    std::vector<std::string> lines = split_by(s, "\n", -1, false);
    if (lines.back().empty()) lines.pop_back();
    for (std::string& line : lines)
      if (line.ends_with('\r')) line.pop_back();
    if (!c.args.empty() && m.truth(c.args[0], c.place))
      m.refuse(Code::host, "splitlines() that keeps the ends", c.place);
    return list(m, c, lines);
  }

  static HostValue partition(HostMachine& m, const std::string& s, const Call& c) {  // partition, rpartition
    const std::string& by = arg(m, c, 0);
    if (by.empty()) m.raise("ValueError", "empty separator", c.place);
    const bool first = c.name == "partition";
    const std::size_t at = first ? text_find(s, by) : find_last(s, by);
    const bool found = at != std::string::npos;
    const std::string head = found   ? s.substr(0, at)
                             : first ? s
                                     : "",
                      tail = found   ? s.substr(at + by.size())
                             : first ? ""
                                     : s;
    return HostValue::sequence(Kind::tuple,
                               {HostValue::string(head), HostValue::string(found ? by : ""), HostValue::string(tail)});
  }

  static HostValue removeprefix(HostMachine& m, const std::string& s, const Call& c) {
    const std::string& part = arg(m, c, 0);
    return HostValue::string(s.starts_with(part) ? s.substr(part.size()) : s);
  }
  static HostValue removesuffix(HostMachine& m, const std::string& s, const Call& c) {
    const std::string& part = arg(m, c, 0);
    return HostValue::string(s.ends_with(part) ? s.substr(0, s.size() - part.size()) : s);
  }

  // ---- what is where

  static HostValue starts_ends(HostMachine& m, const std::string& s, const Call& c) {  // startswith, endswith
    std::size_t begin = 0;
    const std::string_view in = between(m, s, c, begin);
    const auto fits = [&](const HostValue& v) {
      const std::string& end = m.string_of(v, c.place);
      return c.name == "startswith" ? in.starts_with(end) : in.ends_with(end);
    };
    if (c.args[0].is(Kind::tuple))
      return HostValue::boolean(std::any_of(c.args[0].items->values.begin(), c.args[0].items->values.end(), fits));
    return HostValue::boolean(fits(c.args[0]));
  }

  static HostValue find_index(HostMachine& m, const std::string& s, const Call& c) {  // find, rfind, index, rindex
    std::size_t begin = 0;
    const std::string in(between(m, s, c, begin));
    const bool outside = begin > s.size();  // where even nothing is not found
    const std::size_t at = outside                   ? std::string::npos
                           : c.name.starts_with('r') ? find_last(in, arg(m, c, 0))
                                                     : text_find(in, arg(m, c, 0));
    if (at == std::string::npos && c.name.ends_with("index")) m.raise("ValueError", "substring not found", c.place);
    return HostValue::of(at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at + begin));
  }

  static HostValue count(HostMachine& m, const std::string& s, const Call& c) {
    std::size_t begin = 0;
    const std::string in(between(m, s, c, begin));
    const std::string& part = arg(m, c, 0);
    return part.empty() ? HostValue::of(begin > s.size() ? std::int64_t{0} : static_cast<std::int64_t>(in.size()) + 1)
                        : HostValue::of(static_cast<std::int64_t>(split_by(in, part, -1, false).size()) - 1);
  }

  // ---- new ones

  static HostValue join(HostMachine& m, const std::string& s, const Call& c) {
    std::string out;
    bool first = true;
    for (const HostValue& v : m.iterate(c.args[0], c.place)) {
      if (!first) out += s;
      first = false;
      out += m.string_of(v, c.place);
      m.check_length(out, c.place);
    }
    m.spend(out.size() / 64, c.place);
    return HostValue::string(std::move(out));
  }

  static HostValue replace(HostMachine& m, const std::string& s, const Call& c) {
    std::string out;
    const std::string &from = arg(m, c, 0), &to = arg(m, c, 1);
    if (from.empty()) m.refuse(Code::host, "replace() of nothing", c.place);
    std::int64_t left = c.args.size() > 2 ? m.integer(c.args[2], c.place) : -1;
    std::size_t at = 0;
    for (std::size_t end; left-- != 0 && (end = text_find(s, from, at)) != std::string::npos; at = end + from.size()) {
      out.append(s, at, end - at).append(to);
      m.check_length(out, c.place);
    }
    return HostValue::string(out + s.substr(at));
  }

  // What the arguments of ljust, rjust, center and zfill say.
  static FormatSpec width_fill(HostMachine& m, const Call& c) {
    FormatSpec spec;
    constexpr std::int64_t kWidest = 100'000;
    spec.width = std::max<std::int64_t>(m.integer(c.args[0], c.place), 0);
    if (spec.width > kWidest) m.refuse(Code::limit, "a string grows too long", c.place);
    if (c.args.size() > 1 && arg(m, c, 1).size() == 1) spec.fill = arg(m, c, 1)[0];
    return spec;
  }

  static HostValue zfill(HostMachine& m, const std::string& s, const Call& c) {
    FormatSpec spec = width_fill(m, c);
    spec.fill = '0';
    const bool sign = s.starts_with('-') || s.starts_with('+');
    return HostValue::string(padded(spec, sign ? s.substr(0, 1) : "", sign ? s.substr(1) : s, '='));
  }

  static HostValue justified(HostMachine& m, const std::string& s, const Call& c) {  // ljust, rjust
    return HostValue::string(padded(width_fill(m, c), "", s, c.name == "ljust" ? '<' : '>'));
  }

  static HostValue center(HostMachine& m, const std::string& s, const Call& c) {
    FormatSpec spec = width_fill(m, c);
    // The odd blank of center() goes left where the width is odd too; that of a format goes right.
    const std::int64_t gap = spec.width - static_cast<std::int64_t>(s.size());
    if (gap > 0 && (gap & spec.width & 1) != 0) {
      --spec.width;
      return HostValue::string(spec.fill + padded(spec, "", s, '^'));
    }
    return HostValue::string(padded(spec, "", s, '^'));
  }

  static HostValue format(HostMachine& m, const std::string& s, const Call& c) {
    std::size_t next = 0;
    return HostValue::string(m.format_call(s, c.args, c.kwargs, next, c.place));
  }

  static Run find(std::string_view name);
};

HostMachine::Strings::Run HostMachine::Strings::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"capitalize", capitalize_title},
      {"casefold", mapped<to_lower>},
      {"center", center},
      {"count", count},
      {"endswith", starts_ends},
      {"find", find_index},
      {"format", format},
      {"index", find_index},
      {"isalnum", all<is_alnum>},
      {"isalpha", all<is_alpha>},
      {"isdecimal", all<is_digit>},
      {"isdigit", all<is_digit>},
      {"islower", cased<is_lower, is_upper>},
      {"isnumeric", all<is_digit>},
      {"isspace", all<is_blank>},
      {"isupper", cased<is_upper, is_lower>},
      {"join", join},
      {"ljust", justified},
      {"lower", mapped<to_lower>},
      {"lstrip", strip},
      {"partition", partition},
      {"removeprefix", removeprefix},
      {"removesuffix", removesuffix},
      {"replace", replace},
      {"rfind", find_index},
      {"rindex", find_index},
      {"rjust", justified},
      {"rpartition", partition},
      {"rsplit", split},
      {"rstrip", strip},
      {"split", split},
      {"splitlines", splitlines},
      {"startswith", starts_ends},
      {"strip", strip},
      {"title", capitalize_title},
      {"upper", mapped<to_upper>},
      {"zfill", zfill},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::string_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                    HostKwargs& kwargs, py::Place place) {
  const std::string& s = object.text;
  spend(s.size() / 64, place);
  const Strings::Run found = Strings::find(name);
  return found == nullptr ? std::nullopt : std::optional(found(*this, s, {name, args, kwargs, place}));
}

}  // namespace passnet
