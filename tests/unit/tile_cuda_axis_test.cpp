// What is known of indices and pointers along each dimension: facts that decide the width of accesses.
#include "tile_cuda/axis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile_memory.h"

namespace passnet::tile_cuda {
namespace {

using tile::Function;
using tile::ValueId;

constexpr char kHead[] = "kernel k(%0 x: *f32, %1 n: i32) {\n";

Function read(const std::string& text) {
  Function f = tile::parse("test", text).take();
  tile::verify(f).take();
  return f;
}

// Of the last value, a dimension each: contiguity/divisibility/constancy. Divisibility of 0 is more than fits: `all`.
std::string facts(const std::string& body, std::int64_t alignment = 16, std::int64_t n = 1000) {
  Function f = read(kHead + body + "}\n");
  tile::LaunchFacts launch;
  launch.grid = {100, 1, 1};
  launch.parameters.resize(2);
  launch.parameters[0].alignment = alignment;
  launch.parameters[1].integer = n;
  tile::specialise(f, launch);
  const auto all = axes(f, launch, tile::ranges(f, launch));
  const auto last = static_cast<std::size_t>(f.body.ops.back().result());
  std::string out;
  for (std::size_t d = 0; d < f.types[last].shape.rank; ++d) {
    const Along& a = all[last].dims[d];
    out += fmt::format("{}{}/{}/{}", d == 0 ? "" : " ", a.contiguity,
                       a.divisibility >= (std::int64_t{1} << 40) ? "all" : std::to_string(a.divisibility), a.constancy);
  }
  return out;
}

constexpr char kRun[] = "  %2: i32[64] = arange 0\n";

TEST(Axis, Indices) {
  EXPECT_EQ(facts(kRun), "64/all/1");
  EXPECT_EQ(facts("  %2: i32[64] = arange 24\n"), "64/8/1");
  EXPECT_EQ(facts("  %2: i32[64] = constant 24\n"), "1/8/64");
  // program_id * 1024 + arange
  const std::string block = std::string(kRun) +
                            "  %3: i32 = program_id 0\n  %4: i32 = constant 1024\n  %5: i32 = mul %3, %4\n"
                            "  %6: i32[64] = splat %5\n  %7: i32[64] = add %6, %2\n";
  EXPECT_EQ(facts(block), "64/1024/1");
  EXPECT_EQ(facts(block + "  %8: i32[64] = constant 3\n  %9: i32[64] = add %7, %8\n"), "64/1/1");
  EXPECT_EQ(facts(block + "  %8: i32[64] = constant 12\n  %9: i32[64] = sub %7, %8\n"), "64/4/1");
  EXPECT_EQ(facts(block + "  %8: i32[64] = constant 12\n  %9: i32[64] = sub %8, %7\n"), "1/1/1");  // runs down
  EXPECT_EQ(facts(block + "  %8: i32[64] = constant 4\n  %9: i32[64] = mul %7, %8\n"), "1/4/1");
}

TEST(Axis, QuotientAndRemainder) {
  const auto with = [](int by, const char* op) {
    return facts(fmt::format("{}  %3: i32[64] = constant {}\n  %4: i32[64] = {} %2, %3\n", kRun, by, op));
  };
  EXPECT_EQ(with(16, "div"), "1/1/16");
  EXPECT_EQ(with(48, "div"), "1/1/16");  // 16 is what its powers of two allow
  EXPECT_EQ(with(7, "div"), "1/1/1");
  EXPECT_EQ(with(4, "shr"), "1/1/16");
  EXPECT_EQ(with(16, "rem"), "16/16/1");
  EXPECT_EQ(with(48, "rem"), "16/16/1");
  EXPECT_EQ(with(7, "rem"), "1/1/1");
  EXPECT_EQ(with(15, "and"), "16/16/1");
  EXPECT_EQ(with(14, "and"), "1/1/1");
  // the remainder's groups begin where the dividend's do
  EXPECT_EQ(facts("  %2: i32[64] = arange 24\n  %3: i32[64] = constant 16\n  %4: i32[64] = rem %2, %3\n"), "8/8/1");
  EXPECT_EQ(facts("  %2: i32[64] = arange 3\n  %3: i32[64] = constant 16\n  %4: i32[64] = rem %2, %3\n"), "1/1/1");
  // what may be negative truncates towards zero: groups are not aligned
  EXPECT_EQ(facts("  %2: i32[64] = arange -8\n  %3: i32[64] = constant 16\n  %4: i32[64] = div %2, %3\n"), "1/1/1");
}

TEST(Axis, Casts) {
  const auto with = [](const char* to) { return facts(fmt::format("{}  %3: {}[64] = cast %2\n", kRun, to)); };
  EXPECT_EQ(with("i64"), "64/all/1");
  EXPECT_EQ(with("i8"), "64/all/1");                                                 // 0 to 63
  EXPECT_EQ(with("i1"), "1/1/1");                                                    // is it 0?
  EXPECT_EQ(facts("  %2: i32[64] = arange 96\n  %3: i8[64] = cast %2\n"), "1/1/1");  // 96 to 127, then -128
}

TEST(Axis, Masks) {
  const auto below = [](std::int64_t n) {
    return facts(fmt::format("{}  %3: i32[64] = splat %1\n  %4: i1[64] = lt %2, %3\n", kRun), 16, n);
  };
  EXPECT_EQ(below(48), "1/1/16");
  EXPECT_EQ(below(1000), "1/1/8");
  EXPECT_EQ(below(1001), "1/1/1");
  EXPECT_EQ(facts(std::string(kRun) + "  %3: i32[64] = constant 48\n  %4: i1[64] = ge %2, %3\n"), "1/1/16");
  EXPECT_EQ(facts(std::string(kRun) + "  %3: i32[64] = constant 48\n  %4: i1[64] = le %2, %3\n"), "1/1/1");
}

// x + row * n + column
std::string matrix(std::int64_t stride, std::int64_t alignment, const char* elem = "f32") {
  const std::string body =
      "  %2: i32[8] = arange 0\n  %3: i32[8, 1] = expand_dims %2 axis 1\n  %4: i32[8, 1] = splat %1\n"
      "  %5: i32[8, 1] = mul %3, %4\n  %6: i32[8, 32] = broadcast %5\n"
      "  %7: i32[32] = arange 0\n  %8: i32[1, 32] = expand_dims %7 axis 0\n  %9: i32[8, 32] = broadcast %8\n"
      "  %10: i32[8, 32] = add %6, %9\n  %11: *f32[8, 32] = splat %0\n  %12: *f32[8, 32] = addptr %11, %10\n";
  std::string text = body;
  for (std::size_t at = text.find("*f32"); at != std::string::npos; at = text.find("*f32", at + 1))
    text.replace(at + 1, 3, elem);
  std::string head = kHead;
  head.replace(head.find("f32"), 3, elem);
  Function f = read(head + text + "}\n");
  tile::LaunchFacts launch;
  launch.parameters.resize(2);
  launch.parameters[0].alignment = alignment;
  launch.parameters[1].integer = stride;
  tile::specialise(f, launch);
  const auto all = axes(f, launch, tile::ranges(f, launch));
  const Along &rows = all[12].dims[0], &columns = all[12].dims[1];
  return fmt::format("{}/{} {}/{}", rows.contiguity, rows.divisibility, columns.contiguity, columns.divisibility);
}

TEST(Axis, PointersAreCountedInBytes) {
  EXPECT_EQ(matrix(64, 16), "1/4 32/16");  // the address's alignment is the limit
  EXPECT_EQ(matrix(66, 16), "1/4 32/8");   // a row begins at 8 bytes
  EXPECT_EQ(matrix(67, 16), "1/4 32/4");   // and at any element
  EXPECT_EQ(matrix(64, 4), "1/4 32/4");    // of an argument that begins inside a tensor
  EXPECT_EQ(matrix(64, 1), "1/1 32/1");    // nothing known
  EXPECT_EQ(matrix(64, 16, "f16"), "1/2 32/16");
}

// Of an access of `size` elements, what divides its address.
TEST(Axis, PartsOfAGroup) {
  const Along a{32, 16, 1};
  EXPECT_EQ(a.divides(32, 4), 16);
  EXPECT_EQ(a.divides(4, 4), 16);
  EXPECT_EQ(a.divides(2, 4), 8);
  EXPECT_EQ(a.divides(1, 4), 4);
}

// ---- every claim against the values themselves

constexpr int kRows = 8, kColumns = 32;

// Random integer expressions over a row's and a column's number, each stored.
Function random_function(std::uint64_t seed, std::vector<ValueId>& values) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::string text = "kernel k(%0 out: *i32, %1 n: i32) {\n";
  int next = 2;
  const auto add = [&](const std::string& type, const std::string& op) {
    text += fmt::format("  %{}: {} = {}\n", next, type, op);
    return next++;
  };
  const std::string tile = fmt::format("i32[{}, {}]", kRows, kColumns);
  constexpr int kStarts[] = {0, 4, 3, 16};
  const int rows = add(fmt::format("i32[{}]", kRows), fmt::format("arange {}", kStarts[pick(4)]));
  const int columns = add(fmt::format("i32[{}]", kColumns), fmt::format("arange {}", kStarts[pick(4)]));
  const int down = add(fmt::format("i32[{}, 1]", kRows), fmt::format("expand_dims %{} axis 1", rows));
  const int across = add(fmt::format("i32[1, {}]", kColumns), fmt::format("expand_dims %{} axis 0", columns));
  std::vector<int> pool = {add(tile, fmt::format("broadcast %{}", down)),
                           add(tile, fmt::format("broadcast %{}", across)), add(tile, "splat %1")};
  const int pid = add("i32", "program_id 0");
  pool.push_back(add(tile, fmt::format("splat %{}", pid)));
  constexpr int kConstants[] = {1, 2, 3, 4, 7, 8, 12, 16, 32, 48, 100};
  for (int i = 0; i < 10; ++i) {
    constexpr const char* kOps[] = {"add", "add", "add", "sub", "mul", "mul", "div", "rem", "and", "shl",
                                    "shr", "lt",  "ge",  "gt",  "le",  "min", "max", "rem", "rem", "and"};
    const std::string op = kOps[pick(std::size(kOps))];
    const int a = pool[pick(pool.size())];
    const bool shift = op == "shl" || op == "shr";
    const int b = pick(2) == 0 && !shift
                      ? pool[pick(pool.size())]
                      : add(tile, fmt::format("constant {}", shift         ? static_cast<int>(pick(4))
                                                             : op == "and" ? (1 << pick(6)) - 1
                                                                           : kConstants[pick(std::size(kConstants))]));
    const bool compares = op == "lt" || op == "ge" || op == "gt" || op == "le";
    int r = add(compares ? fmt::format("i1[{}, {}]", kRows, kColumns) : tile, fmt::format("{} %{}, %{}", op, a, b));
    values.push_back(r);
    if (compares) r = add(tile, fmt::format("cast %{}", r));
    // products of products leave the type, and then nothing runs on
    if (op == "mul" || op == "shl") {
      const int limit = add(tile, "constant 32767");
      r = add(tile, fmt::format("and %{}, %{}", r, limit));
    }
    pool.push_back(r);
    values.push_back(r);
  }
  const int numbers = add(fmt::format("i32[{}]", kRows * kColumns), "arange 0");
  const int places = add(tile, fmt::format("reshape %{}", numbers));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const int at = add("i32", fmt::format("constant {}", static_cast<int>(k) * kRows * kColumns));
    const int base = add("*i32", fmt::format("addptr %0, %{}", at));
    const int all = add("*" + tile, fmt::format("splat %{}", base));
    const int p = add("*" + tile, fmt::format("addptr %{}, %{}", all, places));
    const int v = add(tile, fmt::format("cast %{}", values[k]));
    text += fmt::format("  store %{}, %{}\n", p, v);
  }
  return read(text + "}\n");
}

// Whether groups of `size` along the dimension are as `law` says: (first, other, distance).
template <class Law>
bool holds(const std::vector<std::int64_t>& values, int dim, std::int64_t size, Law&& law) {
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) {
      const auto distance = static_cast<int>((dim == 0 ? r : c) % size);
      const int first = dim == 0 ? (r - distance) * kColumns + c : r * kColumns + c - distance;
      if (!law(values[static_cast<std::size_t>(first)], values[static_cast<std::size_t>(r * kColumns + c)], distance))
        return false;
    }
  return true;
}

TEST(Axis, EveryClaimHolds) {
  int told = 0;  // claims that say something
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<ValueId> values;
    const Function f = random_function(seed, values);
    tile::LaunchFacts launch;
    launch.grid = {3, 1, 1};
    launch.parameters.resize(2);
    launch.parameters[1].integer = static_cast<std::int64_t>(seed % 5 * 24);
    const auto all = axes(f, launch, tile::ranges(f, launch));
    for (int program = 0; program < 3; ++program) {
      tile::TestMemory memory;
      std::vector<tile::Argument> arguments(2);
      arguments[0].pointer = memory.add(tile::Elem::i32, std::vector<tile::Bits>(values.size() * kRows * kColumns));
      arguments[1].integer = *launch.parameters[1].integer;
      // programs run in order and write the same places: after program + 1 of them the last one's values are there
      tile::interpret(f, arguments, {program + 1, 1, 1}, memory).take();
      for (std::size_t k = 0; k < values.size(); ++k) {
        std::vector<std::int64_t> got;
        for (int i = 0; i < kRows * kColumns; ++i)
          got.push_back(tile::integer_of(
              tile::Elem::i32, memory.buffers[0].elements[k * kRows * kColumns + static_cast<std::size_t>(i)]));
        const Axes& claim = all[static_cast<std::size_t>(values[k])];
        for (int d = 0; d < 2; ++d) {
          const Along& a = claim.dims[static_cast<std::size_t>(d)];
          told += (a.contiguity > 1) + (a.constancy > 1) + (a.divisibility > 1);
          const std::string where = fmt::format("seed {} %{} dimension {}: {}/{}/{}\n{}", seed, values[k], d,
                                                a.contiguity, a.divisibility, a.constancy, tile::print(f));
          ASSERT_TRUE(holds(got, d, a.contiguity, [](auto first, auto x, int i) { return x == first + i; })) << where;
          ASSERT_TRUE(holds(got, d, a.constancy, [](auto first, auto x, int) { return x == first; })) << where;
          ASSERT_TRUE(holds(got, d, a.contiguity, [&](auto first, auto, int) { return first % a.divisibility == 0; }))
              << where;
        }
        for (const std::int64_t x : got) ASSERT_EQ(x % claim.all, 0) << seed << " %" << values[k];
      }
    }
  }
  EXPECT_GT(told, 5000);
}

}  // namespace
}  // namespace passnet::tile_cuda
