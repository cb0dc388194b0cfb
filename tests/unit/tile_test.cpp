// Tile IR: random functions printed and read, simplified, interpreted.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tile/ranges.h"
#include "tile_random.h"

namespace passnet::tile {
namespace {

const ProgramId kGrid = {3, 1, 1};

// One line per element that differs; NaNs are equal.
std::string difference(const TestMemory& a, const TestMemory& b) {
  for (std::size_t i = 0; i < a.buffers.size(); ++i)
    for (std::size_t j = 0; j < a.buffers[i].elements.size(); ++j) {
      if (a.buffers[i].elements[j] == b.buffers[i].elements[j]) continue;
      const Elem elem = a.buffers[i].elem;
      const std::string x = bits_text(elem, a.buffers[i].elements[j]), y = bits_text(elem, b.buffers[i].elements[j]);
      if (x != y) return fmt::format("buffer {} ({}) element {}: {} and {}", i, elem_row(elem).name, j, x, y);
    }
  return {};
}

std::uint64_t count_of(std::uint64_t usual) {
  const char* text = std::getenv("TILE_RANDOM_COUNT");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

std::uint64_t first_seed() {
  const char* text = std::getenv("TILE_RANDOM_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

TEST(TileRandom, PrintsAndParses) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count_of(300); ++seed) {
    const Function f = RandomFunction(seed).make();
    const std::string text = print(f);
    const auto again = parse("random", text);
    ASSERT_TRUE(again) << seed << '\n' << error_text(again.error()) << '\n' << text;
    ASSERT_EQ(print(*again), text) << seed;
  }
}

TEST(TileRandom, SimplifiedDoesTheSame) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count_of(1000); ++seed) {
    RandomFunction random(seed);
    const Function f = random.make();
    const auto valid = verify(f);
    ASSERT_TRUE(valid) << seed << '\n' << error_text(valid.error()) << '\n' << print(f);
    TestMemory before;
    const auto arguments = random.arguments(before);
    TestMemory after = before;
    const auto ran = interpret(f, arguments, kGrid, before);
    ASSERT_TRUE(ran) << seed << '\n' << error_text(ran.error()) << '\n' << print(f);

    Function g = f;
    if (seed % 2 == 0) specialise(g, random.facts(arguments, kGrid));
    simplify(g, [&](std::string_view pass, const Function& now) {
      const auto holds = verify(now);
      ASSERT_TRUE(holds) << "seed " << seed << " after " << pass << '\n'
                         << error_text(holds.error()) << '\n'
                         << print(now);
    });
    const auto again = interpret(g, arguments, kGrid, after);
    ASSERT_TRUE(again) << seed << '\n' << error_text(again.error()) << '\n' << print(f) << "---\n" << print(g);
    ASSERT_EQ(difference(before, after), "") << "seed " << seed << '\n' << print(f) << "---\n" << print(g);
    const std::string once = print(g);
    simplify(g);
    ASSERT_EQ(print(g), once) << "not at rest, seed " << seed;
  }
}

class RangeMemory : public TestMemory {
 public:
  RangeMemory(const Function& f, std::vector<Range> ranges) : f_(f), ranges_(std::move(ranges)) {}

  void made(ValueId v, std::span<const Bits> elements) override {
    const Type& t = f_.type(v);
    if (t.pointer || is_float(t.elem)) return;
    const Range& r = ranges_[static_cast<std::size_t>(v)];
    for (const Bits bits : elements) {
      const std::int64_t x = integer_of(t.elem, bits);
      if ((x < r.lo || x > r.hi) && wrong.empty()) wrong = fmt::format("%{} is {}, not in {}..{}", v, x, r.lo, r.hi);
    }
  }

  std::string wrong;

 private:
  const Function& f_;
  std::vector<Range> ranges_;
};

TEST(TileRandom, RangesHold) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count_of(1000); ++seed) {
    RandomFunction random(seed);
    Function f = random.make();
    TestMemory sizes;
    auto arguments = random.arguments(sizes);
    const LaunchFacts facts = random.facts(arguments, kGrid);
    if (seed % 2 == 0) simplify(f);
    RangeMemory memory(f, ranges(f, facts));
    memory.buffers = sizes.buffers;
    ASSERT_TRUE(interpret(f, arguments, kGrid, memory));
    ASSERT_EQ(memory.wrong, "") << "seed " << seed << '\n' << print(f);
  }
}

TEST(TileRandom, RangesDecideTheSame) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count_of(1000); ++seed) {
    RandomFunction random(seed);
    const Function f = random.make();
    TestMemory before;
    const auto arguments = random.arguments(before);
    TestMemory after = before;
    ASSERT_TRUE(interpret(f, arguments, kGrid, before));
    Function g = f;
    const LaunchFacts facts = random.facts(arguments, kGrid);
    if (seed % 3 != 0) specialise(g, facts);
    if (seed % 2 == 0) simplify(g);
    simplify_ranges(g, facts);
    const auto valid = verify(g);
    ASSERT_TRUE(valid) << seed << '\n' << error_text(valid.error()) << '\n' << print(g);
    const auto again = interpret(g, arguments, kGrid, after);
    ASSERT_TRUE(again) << seed << '\n' << error_text(again.error()) << '\n' << print(f) << "---\n" << print(g);
    ASSERT_EQ(difference(before, after), "") << "seed " << seed << '\n' << print(f) << "---\n" << print(g);
  }
}

}  // namespace
}  // namespace passnet::tile
