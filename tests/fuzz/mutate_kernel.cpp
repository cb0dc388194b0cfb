// libFuzzer's mutator of kernels' texts. Bytes changed at random seldom leave Python, so half of the time whole tokens
// and lines change: a token becomes another of the text or a name of the language, a line goes, moves or comes twice.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tile/lowering.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

namespace {

using Random = std::minstd_rand;

std::size_t pick(Random& random, std::size_t n) { return random() % n; }

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "3",
                                    "16",
                                    "64",
                                    "0.5",
                                    "1e30",
                                    "True",
                                    "None",
                                    "float('inf')",
                                    "[:, None]",
                                    "[None, :]",
                                    ".T",
                                    "+",
                                    "-",
                                    "*",
                                    "/",
                                    "//",
                                    "%",
                                    "&",
                                    "|",
                                    "^",
                                    "<<",
                                    ">>",
                                    "<",
                                    "==",
                                    "!=",
                                    " and ",
                                    " or ",
                                    "not ",
                                    "~",
                                    "if ",
                                    "else:",
                                    "for ",
                                    " in ",
                                    "range",
                                    "while ",
                                    "return ",
                                    ", axis=0",
                                    ", axis=1",
                                    ", keep_dims=True",
                                    ", mask=",
                                    ", other=",
                                    ": tl.constexpr"};
    for (const auto name : passnet::tile::builtin_names(passnet::tile::kTl)) out.push_back("tl." + std::string(name));
    for (const auto name : passnet::tile::builtin_names(passnet::tile::kLib))
      out.push_back("libdevice." + std::string(name));
    for (const auto name : passnet::tile::builtin_names(passnet::tile::kMethod))
      out.push_back("." + std::string(name) + "(");
    for (const auto name : passnet::tile::builtin_names(passnet::tile::kPython)) out.emplace_back(name);
    for (const char* type : {"int1", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float16",
                             "bfloat16", "float32", "float64"})
      out.push_back(std::string("tl.") + type);
    return out;
  }();
  return all;
}

std::vector<std::string> split(const std::string& text, bool lines) {
  const auto is_word = [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool joins = i > 0 && (lines ? text[i - 1] != '\n' : is_word(text[i]) && is_word(text[i - 1]));
    if (joins)
      out.back() += text[i];
    else
      out.emplace_back(1, text[i]);
  }
  return out;
}

void change_tokens(std::vector<std::string>& tokens, Random& random) {
  std::string& token = tokens[pick(random, tokens.size())];
  switch (pick(random, 5)) {
    case 0: token = tokens[pick(random, tokens.size())]; break;
    case 1: token = words()[pick(random, words().size())]; break;
    case 2: token += words()[pick(random, words().size())]; break;
    case 3: token = words()[pick(random, words().size())] + "(" + token + ")"; break;
    default: token.clear(); break;
  }
}

void change_lines(std::vector<std::string>& lines, Random& random) {
  const auto at = [&] { return lines.begin() + static_cast<std::ptrdiff_t>(pick(random, lines.size())); };
  switch (pick(random, 4)) {
    case 0: lines.erase(at()); break;
    case 1: std::iter_swap(at(), at()); break;
    case 2: at()->insert(0, "    "); break;  // into the block above
    default: {
      const std::string copy = *at();
      lines.insert(at(), copy);
      break;
    }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit, unsigned seed) {
  Random random(seed);
  if (size == 0 || pick(random, 2) == 0) return LLVMFuzzerMutate(data, size, limit);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (std::size_t times = 1 + pick(random, 4); times > 0 && !text.empty(); --times) {
    const bool lines = pick(random, 3) == 0;
    auto parts = split(text, lines);
    lines ? change_lines(parts, random) : change_tokens(parts, random);
    text.clear();
    for (const std::string& part : parts) text += part;
  }
  text.resize(std::min(text.size(), limit));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
