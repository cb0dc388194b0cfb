// What the printer and the parser of the text form share: which parts an op's line has, and the words before blocks.
#pragma once

#include "tile/ir.h"

namespace passnet::tile {

enum : unsigned {
  kPartConstant = 1,  // a number of the result's type
  kPartStart = 2,     // an integer
  kPartLeafAxis = 4,  // an axis right behind the name
  kPartCombine = 8,
  kPartAtomic = 16,
  kPartAxis = 32,   // `axis n` behind the operands
  kPartOrder = 64,  // `order a, b, ...`: as many as the result's rank
  kPartReverse = 128,
  kPartText = 256,
  kPartPrecision = 512,
};

constexpr unsigned op_parts(Code code) {
  switch (code) {
    case Code::constant: return kPartConstant;
    case Code::arange: return kPartStart;
    case Code::program_id:
    case Code::num_programs: return kPartLeafAxis;
    case Code::expand_dims: return kPartAxis;
    case Code::trans: return kPartOrder;
    case Code::atomic: return kPartAtomic;
    case Code::reduce: return kPartCombine | kPartAxis;
    case Code::scan: return kPartCombine | kPartAxis | kPartReverse;
    case Code::dot: return kPartPrecision;
    case Code::check: return kPartText;
    default: return approximated(code) ? unsigned{kPartPrecision} : 0U;
  }
}

constexpr std::size_t block_count(Code code) {
  return code == Code::for_ ? 1 : code == Code::while_ || code == Code::if_ ? 2 : 0;
}

constexpr std::string_view block_word(Code code, std::size_t block) {
  if (code == Code::if_) return block == 0 ? "then" : "else";
  return code == Code::while_ && block == 0 ? "test" : "do";
}

}  // namespace passnet::tile
