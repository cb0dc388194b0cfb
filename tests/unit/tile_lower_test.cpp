// The front-end: types and errors of snippets. What it makes obeys the verifier and prints, parses, prints alike.
// project.
#include <gtest/gtest.h>

#include "kernels/names.h"
#include "pass/load.h"
#include "tile/lower.h"
#include "tile/stages.h"

namespace passnet {
namespace {

using tile::ArgumentSpec;
using tile::ConstValue;
using tile::Elem;

constexpr const char* kHead = R"(
import math
import triton
import triton.language as tl
from triton.language.extra import libdevice

GLOBAL = 3
SIZE = tl.constexpr(64)

@triton.jit
def twice(x):
    return x + x

@triton.jit
def pick(x, flag):
    if flag:
        return x
    return -x

@triton.jit
def early(x, n):
    if n > 3:
        return x * 2.0
    y = x + 1.0
    return y

@triton.jit
def add(a, b):
    return a + b

def host(x):
    return x

)";

// x, y: pointers of a type; n, m: numbers; N: 16.
struct Lowered {
  std::unique_ptr<ModuleLoader> loader;
  Result<tile::Function> function = Error{};
};

Lowered lower(const std::string& body, Elem elem = Elem::f32, std::int64_t n = 100) {
  Lowered out;
  std::string text = kHead;
  text += "@triton.jit\ndef kernel(x, y, n, s, N: tl.constexpr):\n    i = tl.arange(0, N)\n    v = tl.load(x + i)\n";
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    text += "    " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  out.loader = std::make_unique<ModuleLoader>(std::map<std::string, std::string>{{"k", text}});
  const PassModule& module = out.loader->load("k");
  const KernelNames names(module);
  const std::vector<ArgumentSpec> arguments{ArgumentSpec::pointer(elem), ArgumentSpec::pointer(elem),
                                            ArgumentSpec::integer(n), ArgumentSpec::real(),
                                            ArgumentSpec::of(ConstValue::of(std::int64_t{16}))};
  out.function = tile::lower_kernel(names, module.syntax, *module.find("kernel")->statement, arguments);
  if (!out.function) return out;
  const auto verified = tile::verify(*out.function);
  EXPECT_TRUE(verified) << body << "\n" << error_text(verified.error());
  const auto read = tile::parse("k", tile::print(*out.function));
  EXPECT_TRUE(read && tile::print(*read) == tile::print(*out.function)) << body;
  return out;
}

// The type of `r` at the end of the body.
std::string type_of(const std::string& body, Elem elem = Elem::f32) {
  const Lowered l = lower(body, elem);
  if (!l.function) return error_text(l.function.error());
  for (std::size_t v = l.function->names.size(); v-- > 0;)
    if (l.function->names[v] == "r") return tile::triton_type(l.function->types[v]);
  return "no r";
}

std::string error_of(const std::string& body, Elem elem = Elem::f32) {
  const Lowered l = lower(body, elem);
  if (l.function) return "no error";
  return std::to_string(l.function.error().where.line) + ": " + error_text(l.function.error());
}

constexpr int kFirstLine = 38;  // of a body's text in the file

void expect_error(const std::string& body, const std::string& part, int line = 0, Elem elem = Elem::f32) {
  const std::string text = error_of(body, elem);
  EXPECT_NE(text.find(part), std::string::npos) << body << "\n" << text;
  EXPECT_EQ(text.substr(0, text.find(':')), std::to_string(kFirstLine + line)) << body << "\n" << text;
}

TEST(TileLower, promotion) {
  EXPECT_EQ(type_of("r = v + 1", Elem::f16), "float16[16]");
  EXPECT_EQ(type_of("r = v + 1.5", Elem::f16), "float16[16]");
  EXPECT_EQ(type_of("r = v + s", Elem::f16), "float32[16]");
  EXPECT_EQ(type_of("r = v / 2", Elem::f16), "float32[16]");
  EXPECT_EQ(type_of("h = 0.5\nr = v * h", Elem::f16), "float32[16]");  // an assigned number is a float32 value
  EXPECT_EQ(type_of("r = v * 0.5", Elem::i32), "float32[16]");
  EXPECT_EQ(type_of("r = v / 2", Elem::i32), "float32[16]");
  EXPECT_EQ(type_of("r = v // 2", Elem::i32), "int32[16]");
  EXPECT_EQ(type_of("r = v + n", Elem::i64), "int64[16]");
  EXPECT_EQ(type_of("r = v + n", Elem::u8), "int32[16]");
  EXPECT_EQ(type_of("r = v.to(tl.bfloat16) + v.to(tl.float16)"), "float16[16]");
  EXPECT_EQ(type_of("r = v.to(tl.bfloat16) + i"), "float32[16]");
  EXPECT_EQ(type_of("r = v.to(tl.float16) + i"), "float16[16]");
  EXPECT_EQ(type_of("r = tl.maximum(v, 0.0)", Elem::f16), "float32[16]");
  EXPECT_EQ(type_of("r = tl.where(i < n, v, 0.0)", Elem::f16), "float16[16]");
  EXPECT_EQ(type_of("r = tl.sum(v, axis=0)", Elem::f16), "float16");
  EXPECT_EQ(type_of("r = tl.sum(v, axis=0)", Elem::i8), "int32");
  EXPECT_EQ(type_of("r = tl.sum(v)", Elem::i1), "uint32");
  EXPECT_EQ(type_of("r = tl.max(v, axis=0)", Elem::bf16), "float32");
  EXPECT_EQ(type_of("r = tl.max(v, axis=0)", Elem::f16), "float32");
  EXPECT_EQ(type_of("r = tl.argmax(v, axis=0)"), "int32");
  EXPECT_EQ(type_of("r = tl.cumsum(v, 0)", Elem::bf16), "float32[16]");
  EXPECT_EQ(type_of("r = v ** 3", Elem::f16), "float16[16]");
  EXPECT_EQ(type_of("r = v ** 0.5", Elem::i32), "float32[16]");
  EXPECT_EQ(type_of("r = 2 ** v", Elem::f64), "float64[16]");
  EXPECT_EQ(type_of("r = abs(v)", Elem::i8), "int8[16]");
  EXPECT_EQ(type_of("r = 3000000000"), "uint32");
  EXPECT_EQ(type_of("r = v > 0", Elem::i64), "int1[16]");
  EXPECT_EQ(type_of("r = (i < n) & 1"), "int32[16]");
  EXPECT_EQ(type_of("r = x + i"), "pointer to float32[16]");
  EXPECT_EQ(type_of("r = i + x"), "pointer to float32[16]");
}

TEST(TileLower, shapes) {
  EXPECT_EQ(type_of("r = v[:, None] + v[None, :]"), "float32[16, 16]");
  EXPECT_EQ(type_of("r = v[None, :, None]"), "float32[1, 16, 1]");
  EXPECT_EQ(type_of("r = v[:, None] + v"), "float32[16, 16]");
  EXPECT_EQ(type_of("r = tl.sum(v[:, None] * v[None, :], axis=1, keep_dims=True)"), "float32[16, 1]");
  EXPECT_EQ(type_of("r = tl.zeros([N, 2 * N], dtype=tl.float16).T"), "float16[32, 16]");
  EXPECT_EQ(type_of("r = v.reshape(4, 4)"), "float32[4, 4]");
  EXPECT_EQ(type_of("r = tl.reshape(v, (2, 8))"), "float32[2, 8]");
  EXPECT_EQ(type_of("r = tl.join(v, v)"), "float32[16, 2]");
  EXPECT_EQ(type_of("a, r = tl.split(tl.join(v, v))"), "float32[16]");
  EXPECT_EQ(type_of("r = tl.interleave(v, v)"), "float32[32]");
  EXPECT_EQ(type_of("r = tl.cat(v, v, can_reorder=True)"), "float32[32]");
  EXPECT_EQ(type_of("r = tl.full([N], 1, v.dtype)"), "float32[16]");
  EXPECT_EQ(type_of("a = v[:, None] + v[None, :]\nr = tl.dot(a, tl.trans(a))"), "float32[16, 16]");
  EXPECT_EQ(type_of("r = tl.flip(v, 0)"), "float32[16]");
  EXPECT_EQ(type_of("r = tl.broadcast_to(s, [N])"), "float32[16]");
  EXPECT_EQ(type_of("r = tl.zeros((SIZE,), tl.int8)"), "int8[64]");
}

TEST(TileLower, control_flow) {
  EXPECT_EQ(type_of("r = 0\nfor k in range(n):\n    r += k"), "int32");
  EXPECT_EQ(type_of("r = -float('inf')\nfor k in range(0, n, 4):\n    r = tl.maximum(r, s)"), "float32");
  EXPECT_EQ(type_of("r = v\nif n > 3:\n    r = v * 2"), "float32[16]");
  EXPECT_EQ(type_of("if n > 3:\n    r = v * 2\nelse:\n    r = v"), "float32[16]");
  EXPECT_EQ(type_of("if N > 3:\n    r = v * 2\nelse:\n    r = nothing"), "float32[16]");
  EXPECT_EQ(type_of("r = early(s, n)"), "float32");
  EXPECT_EQ(type_of("r = pick(v, True) * 1"), "float32[16]");
  EXPECT_EQ(type_of("for j in tl.static_range(4):\n    r = twice(v) + j"), "float32[16]");
  EXPECT_EQ(type_of("k = 0\nwhile k < n:\n    k += 1\nr = k + 1"), "int32");
  EXPECT_EQ(type_of("r = tl.reduce(v, 0, add)"), "float32");
  EXPECT_EQ(type_of("r = s if n > 3 else 1.0"), "float32");
  EXPECT_EQ(type_of("if n > 3:\n    return\nr = v * 2"), "float32[16]");
  EXPECT_EQ(type_of("a: tl.constexpr = N // 2\nr = tl.arange(0, a)"), "int32[8]");
  EXPECT_EQ(type_of("p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (8, 8), (1, 0))\n"
                    "r = tl.zeros((8, 8), tl.float32)\nfor k in range(n):\n"
                    "    r += tl.load(p, boundary_check=(0, 1), padding_option='zero')\n    p = tl.advance(p, (0, 8))"),
            "float32[8, 8]");
  EXPECT_EQ(type_of("r = tl.rand(7, i)"), "float32[16]");
  EXPECT_EQ(type_of("r = libdevice.tanh(v) + libdevice.pow(v, 2.0) + tl.math.erf(v)"), "float32[16]");
}

TEST(TileLower, teaching_errors) {
  expect_error("r = v[0]", "picked by its index");
  expect_error("r = v[0:4]", "a slice of a tile");
  expect_error("v[0] = 1.0", "cannot be assigned");
  expect_error("for k in range(n):\n    break", "'break'", 1);
  expect_error("for k in range(n):\n    continue", "'continue'", 1);
  expect_error("r = 0 <= i < n", "chained comparison");
  expect_error("r = tl.thread_id(0)", "no tl.thread_id");
  expect_error("r = tl.any(v > 0)", "tl.max(x.to(tl.int32)");
  expect_error("r = tl.tanh(v)", "libdevice.tanh");
  expect_error("r = tl.sum(v, dim=0)", "write axis=");
  expect_error("r = v.astype(tl.float32)", ".to(tl.float32)");
  expect_error("for k in tl.arange(0, N):\n    pass", "a loop over tl.arange");
  expect_error("r = tl.exp(v)", "cast with .to(tl.float32)", 0, Elem::f16);
  expect_error("r = tl.arange(0, 100)", "no power of two");
  expect_error("r = tl.zeros([2048, 1024], tl.float32)", "elements");
  expect_error("b = N * 2\nr = tl.arange(0, b)", "must be a constant integer", 1);
  expect_error("r = tl.load(x + i, other=0.0)", "without a mask");
  expect_error("r = v // 2.0", "tl.floor(x / y)");
  expect_error("r = i ** n", "a constant exponent");
  expect_error("r = GLOBAL + 1", "tl.constexpr(...)");
  expect_error("r = host(v)", "@triton.jit");
  expect_error("r = 0\nfor k in range(n):\n    r = r + v", "keeps its type", 1);
  expect_error("for k in range(n):\n    q = v\nr = q", "inside the loop only", 2);
  expect_error("for k in range(n):\n    q = v\nr = k", "has no value after it", 2);
  expect_error("if n > 3:\n    q = v\nr = q", "one arm", 2);
  expect_error("if v > 3:\n    pass", "as the condition of if");
  expect_error("r = nothing", "not defined");
  expect_error("r = v[:, None] + tl.arange(0, 8)[:, None]", "do not fit");
  expect_error("r = tl.dot(v, v)", "two (or three) dimensions");
  expect_error("tl.store(y, v)", "through one pointer");
  expect_error("for j in tl.static_range(n):\n    pass", "needs constants");
  expect_error("for j in tl.static_range(1000000):\n    q = v + j", "more than", 1);
  expect_error("tl.static_assert(N == 17, 'size')", "static_assert failed: size");
  expect_error("r = triton.cdiv(n, 4)", "tl.cdiv");
  expect_error("for k in range(n):\n    if k > 2:\n        return", "'return' inside a loop", 2);
}

// A function that calls itself ends.
TEST(TileLower, recursion_is_bounded) {
  ModuleLoader loader(std::map<std::string, std::string>{
      {"k",
       "import triton\nimport triton.language as tl\n@triton.jit\ndef f(x):\n    return f(x) + f(x)\n"
       "@triton.jit\ndef kernel(n):\n    r = f(n)\n"}});
  const PassModule& module = loader.load("k");
  const KernelNames names(module);
  const auto made = tile::lower_kernel(names, module.syntax, *module.find("kernel")->statement,
                                       std::vector<ArgumentSpec>{ArgumentSpec::integer(7)});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::limit);
}

TEST(TileLower, parameters) {
  const Lowered l = lower("tl.store(y + i, v * n)", Elem::f32, 1);
  ASSERT_TRUE(l.function) << error_text(l.function.error());
  EXPECT_EQ(l.function->parameters, (std::vector<std::string>{"x", "y", "s"}));  // n is 1, N a constexpr
}

}  // namespace
}  // namespace passnet
