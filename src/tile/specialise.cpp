// What a launch fixes becomes a constant: the parameters stay, their uses go.
#include "tile/scalar.h"
#include "tile/stages.h"

namespace passnet::tile {

namespace {

class Specialiser {
 public:
  Specialiser(Function& f, const LaunchFacts& facts) : f_(f), facts_(facts), replaced_(f.types.size(), kNoValue) {}

  void run() {
    std::vector<Op> constants;
    for (std::size_t i = 0; i < f_.body.params.size() && i < facts_.parameters.size(); ++i) {
      const ValueId v = f_.body.params[i];
      const Type type = f_.type(v);
      if (!facts_.parameters[i].integer || type.pointer || is_float(type.elem)) continue;
      Op op;
      op.integer = integer_of(type.elem, bits_of_integer(type.elem, *facts_.parameters[i].integer));
      const ValueId constant = f_.add_value(type, f_.names[static_cast<std::size_t>(v)]);
      op.results = {constant};
      replaced_[static_cast<std::size_t>(v)] = constant;
      constants.push_back(std::move(op));
    }
    block(f_.body);
    f_.body.ops.insert(f_.body.ops.begin(), std::move_iterator(constants.begin()), std::move_iterator(constants.end()));
  }

 private:
  void block(Block& block) {
    for (Op& op : block.ops) {
      for (ValueId& v : op.operands)
        if (const ValueId constant = replaced_[static_cast<std::size_t>(v)]; constant != kNoValue) v = constant;
      for (Block& inner : op.blocks) this->block(inner);
      if (op.code != Code::num_programs && op.code != Code::program_id) continue;
      const std::int64_t size = facts_.grid[static_cast<std::size_t>(op.axis)];
      if (op.code == Code::program_id && size != 1) continue;
      op.integer = op.code == Code::num_programs ? size : 0;
      op.code = Code::constant;
      op.axis = 0;
    }
  }

  Function& f_;
  const LaunchFacts& facts_;
  std::vector<ValueId> replaced_;  // by parameter
};

}  // namespace

void specialise(Function& function, const LaunchFacts& facts) { Specialiser(function, facts).run(); }

}  // namespace passnet::tile
