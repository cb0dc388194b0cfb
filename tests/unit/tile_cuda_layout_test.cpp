// How tiles lie in a block's threads, as properties over many shapes: who holds an element, and what texts say of it.
#include "tile_cuda/layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>

namespace passnet::tile_cuda {
namespace {

using tile::Code;
using tile::Op;
using tile::Shape;

// The element that a thread has in a register.
int element(const Layout& l, unsigned thread, unsigned reg) {
  unsigned out = 0;
  for (int b = 0; b < l.count; ++b) out |= ((l.in_register(b) ? reg >> l.register_bit(b) : thread >> l.at(b)) & 1) << b;
  return static_cast<int>(out);
}

// Every element is held, once by each of the threads that differ only in unused bits, and by no others.
void expect_whole(const Layout& l, const Shape& shape, int thread_bits) {
  ASSERT_EQ(l.count, bits_of(shape));
  ASSERT_EQ(l.thread_mask() >> thread_bits, 0U) << layout_text(l);
  std::vector<std::vector<unsigned>> holders(static_cast<std::size_t>(shape.elements()));
  for (unsigned t = 0; t < 1U << thread_bits; ++t)
    for (unsigned r = 0; r < static_cast<unsigned>(l.registers()); ++r)
      holders[static_cast<std::size_t>(element(l, t, r))].push_back(t);
  const std::size_t replicas = std::size_t{1} << (thread_bits - std::popcount(l.thread_mask()));
  for (const auto& threads : holders) {
    ASSERT_EQ(threads.size(), replicas) << layout_text(l);
    ASSERT_EQ(std::set<unsigned>(threads.begin(), threads.end()).size(), replicas) << layout_text(l);
    for (const unsigned t : threads) ASSERT_EQ(t & l.thread_mask(), threads[0] & l.thread_mask()) << layout_text(l);
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const int a : {1, 2, 8, 64, 1024}) out.push_back({a});
  for (const int a : {1, 2, 16, 64})
    for (const int b : {1, 4, 32, 128}) out.push_back({a, b});
  out.push_back({2, 8, 16});
  out.push_back({4, 1, 2, 8});
  return out;
}

TEST(Layout, BlockedIsWhole) {
  for (const Shape& s : shapes())
    for (int thread_bits = kLaneBits; thread_bits <= 8; ++thread_bits)
      for (int first = 0; first < s.rank; ++first)
        for (int vector = 0; vector <= std::min(3, log2_of(s[static_cast<std::size_t>(first)])); ++vector) {
          std::vector<int> order{first};
          for (int d = s.rank; d-- > 0;)
            if (d != first) order.push_back(d);
          const Layout l = blocked(s, order, vector, thread_bits);
          expect_whole(l, s, thread_bits);
          const BitRange range = dim_bits(s, static_cast<std::size_t>(first));
          for (int b = 0; b < vector; ++b) EXPECT_TRUE(l.in_register(range.first + b));
          // no thread is idle while elements are left to spread
          EXPECT_EQ(std::popcount(l.thread_mask()), std::min(thread_bits, bits_of(s) - vector)) << layout_text(l);
        }
}

TEST(Layout, BlockedInText) {
  const auto text = [](const Shape& s, std::vector<int> order, int vector, int thread_bits) {
    return layout_text(blocked(s, order, vector, thread_bits));
  };
  EXPECT_EQ(text({1024}, {0}, 2, 7), "r0 r1 t0 t1 t2 t3 t4 t5 t6 r2");
  EXPECT_EQ(text({8, 512}, {1, 0}, 2, 7), "r0 r1 t0 t1 t2 t3 t4 r2 r3 t5 t6 r4");  // a row in a warp
  EXPECT_EQ(text({64, 64}, {0, 1}, 2, 7), "t4 t5 t6 r0 r1 r2 r3 r4 t0 t1 t2 t3");  // memory runs down the columns
  EXPECT_EQ(text({16}, {0}, 0, 7), "t0 t1 t2 t3");                                 // eight threads with each element
}

TEST(Layout, AlongIsWhole) {
  for (const Shape& s : shapes())
    for (int thread_bits = kLaneBits; thread_bits <= 8; ++thread_bits)
      for (std::size_t d = 0; d < s.rank; ++d) {
        const Layout l = along(s, d, thread_bits);
        expect_whole(l, s, thread_bits);
        // neighbours in registers, then threads from bit 0 up
        const BitRange range = dim_bits(s, d);
        int next = 0;
        for (int b = range.first; b < range.first + range.count; ++b) {
          if (!l.in_register(b))
            EXPECT_EQ(l.at(b), next++) << layout_text(l);
          else
            EXPECT_TRUE(next == 0 || next == thread_bits) << layout_text(l);
        }
      }
}

// The fragment of mma.m16n8: lane l has in register i the element (l / 4 + 8 (i / 2), l % 4 * 2 + i % 2).
TEST(Layout, ProductsAreFragments) {
  const Layout one = products({16, 8}, 0, 0);
  expect_whole(one, {16, 8}, kLaneBits);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(element(one, lane, i), static_cast<int>((lane / 4 + 8 * (i / 2)) * 8 + lane % 4 * 2 + i % 2));
  for (const int m : {16, 64, 128})
    for (const int n : {8, 32, 128})
      for (int warps_m = 0; (16 << warps_m) <= m && warps_m < 4; ++warps_m)
        for (int warps_n = 0; (8 << warps_n) <= n && warps_n < 4; ++warps_n)
          expect_whole(products({m, n}, warps_m, warps_n), {m, n}, kLaneBits + warps_m + warps_n);
}

// Of wgmma.m64: warp w of four has rows 16 w to 16 w + 15 as mma.m16n8 has them; further groups share out m, then n.
TEST(Layout, GroupProductsAreFragmentsOfFourWarps) {
  const Layout one = group_products({64, 16}, 0, 0);
  expect_whole(one, {64, 16}, kLaneBits + 2);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 4), column = t % 4 * 2 + i % 2 + 8 * (i / 2 % 2);
      EXPECT_EQ(element(one, t, i), static_cast<int>(row * 16 + column));
    }
  for (const int m : {64, 128, 256})
    for (const int n : {16, 64, 256})
      for (int groups_m = 0; (64 << groups_m) <= m; ++groups_m)
        for (int groups_n = 0; (16 << groups_n) <= n && groups_n < 3; ++groups_n)
          expect_whole(group_products({m, n}, groups_m, groups_n), {m, n}, kLaneBits + 2 + groups_m + groups_n);
}

std::vector<int> coordinates(const Shape& s, int number) {
  std::vector<int> out;
  for (std::size_t d = 0; d < s.rank; ++d) {
    const BitRange r = dim_bits(s, d);
    out.push_back(number >> r.first & ((1 << r.count) - 1));
  }
  return out;
}

// The operand's element that lies under each of the result.
template <class F>
void expect_operand(const Op& op, const Shape& from, const Shape& to, F&& under) {
  const auto bits = operand_bits(op, from, to);
  ASSERT_EQ(static_cast<int>(bits.size()), bits_of(from));
  for (int e = 0; e < to.elements(); ++e) {
    int picked = 0;
    for (std::size_t b = 0; b < bits.size(); ++b) picked |= (e >> bits[b] & 1) << b;
    EXPECT_EQ(coordinates(from, picked), under(coordinates(to, e)));
  }
}

TEST(Layout, OperandOfAShapeOp) {
  Op trans;
  trans.code = Code::trans;
  for (std::vector<std::int8_t> order : {std::vector<std::int8_t>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}) {
    const Shape from{2, 8, 4};
    Shape to;
    for (std::size_t d = 0; d < 3; ++d) {
      trans.order[d] = order[d];
      to.push(from[static_cast<std::size_t>(order[d])]);
    }
    expect_operand(trans, from, to, [&](const std::vector<int>& c) {
      std::vector<int> out(3);
      for (std::size_t d = 0; d < 3; ++d) out[static_cast<std::size_t>(order[d])] = c[d];
      return out;
    });
  }
  Op broadcast;
  broadcast.code = Code::broadcast;
  expect_operand(broadcast, {4, 1, 8}, {4, 16, 8}, [](std::vector<int> c) {
    c[1] = 0;
    return c;
  });
  Op expand;
  expand.code = Code::expand_dims;
  expand.axis = 1;
  expect_operand(expand, {4, 8}, {4, 1, 8}, [](const std::vector<int>& c) { return std::vector<int>{c[0], c[2]}; });
  Op reshape;
  reshape.code = Code::reshape;
  expect_operand(reshape, {4, 8}, {32}, [](const std::vector<int>& c) { return std::vector<int>{c[0] / 8, c[0] % 8}; });
}

TEST(Layout, WithoutADimension) {
  const Shape s{4, 8, 2};
  const Layout l = blocked(s, std::vector<int>{2, 1, 0}, 1, 5);
  for (std::size_t d = 0; d < 3; ++d) {
    const auto kept = other_bits(s, d);
    const Layout rest = without_dim(l, s, d);
    ASSERT_EQ(static_cast<std::size_t>(rest.count), kept.size());
    for (std::size_t b = 0; b < kept.size(); ++b) EXPECT_EQ(rest.at(static_cast<int>(b)), l.at(kept[b]));
  }
}

// What C makes of the text: & below << >> below +.
class Evaluator {
 public:
  Evaluator(std::string text, std::map<std::string, int> names) : text_(std::move(text)), names_(std::move(names)) {}
  int value() {
    const int out = both();
    EXPECT_EQ(at_, text_.size()) << text_;
    return out;
  }

 private:
  bool take(std::string_view sign) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }
  int both() {
    int out = shifted();
    while (take("&")) out &= shifted();
    return out;
  }
  int shifted() {
    int out = sum();
    while (true) {
      if (take("<<"))
        out <<= sum();
      else if (take(">>"))
        out >>= sum();
      else
        return out;
    }
  }
  int sum() {
    int out = one();
    while (take("+")) out += one();
    return out;
  }
  int one() {
    if (take("(")) {
      const int out = both();
      EXPECT_TRUE(take(")")) << text_;
      return out;
    }
    std::string word;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) word += text_[at_++];
    return names_.count(word) != 0 ? names_[word] : std::stoi(word);
  }

  std::string text_;
  std::map<std::string, int> names_;
  std::size_t at_ = 0;
};

TEST(Layout, BitsText) {
  const auto text = [](std::vector<BitMove> moves) { return bits_text("e", moves); };
  EXPECT_EQ(text({}), "0");
  EXPECT_EQ(text({{0, 0}, {1, 1}}), "(e & 3)");
  EXPECT_EQ(text({{4, 2}, {1, 1}, {0, 0}}), "(e & 3) + ((e >> 4 & 1) << 2)");
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> targets(10);
    for (int i = 0; i < 10; ++i) targets[static_cast<std::size_t>(i)] = i;
    std::shuffle(targets.begin(), targets.end(), random);
    std::vector<BitMove> moves;
    for (int i = 0; i < 10; ++i)
      if (random() % 3 != 0) moves.push_back({i, round % 2 == 0 ? i : targets[static_cast<std::size_t>(i)]});
    std::shuffle(moves.begin(), moves.end(), random);
    const int e = static_cast<int>(random() % 1024);
    int expected = 0;
    for (const BitMove& m : moves) expected |= (e >> m.from & 1) << m.to;
    EXPECT_EQ(Evaluator(bits_text("e", moves), {{"e", e}}).value(), expected) << bits_text("e", moves);
  }
}

TEST(Layout, CoordinatesInText) {
  const Shape s{16, 64};
  for (const Layout& l : {blocked(s, std::vector<int>{1, 0}, 2, 7), blocked(s, std::vector<int>{0, 1}, 1, 6),
                          along(s, 0, 7), products(s, 0, 2)})
    for (unsigned t = 0; t < 128; t += 5)
      for (unsigned r = 0; r < static_cast<unsigned>(l.registers()); ++r)
        for (std::size_t d = 0; d < 2; ++d) {
          const std::map<std::string, int> names{{"tid", static_cast<int>(t)}, {"e", static_cast<int>(r)}};
          const BitRange range = dim_bits(s, d);
          EXPECT_EQ(
              Evaluator(thread_part(l, range), names).value() + Evaluator(register_part(l, range, "e"), names).value(),
              coordinates(s, element(l, t, r))[d]);
        }
}

}  // namespace
}  // namespace passnet::tile_cuda
