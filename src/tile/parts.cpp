#include "tile/parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "tile/effects.h"
#include "tile/simplify.h"

namespace passnet::tile {

namespace {

constexpr std::int8_t kWhole = -1;

// A value as a part needs it: whole, or its share along a dimension.
struct Share {
  ValueId value = kNoValue;
  std::int8_t dimension = kWhole;
  auto operator<=>(const Share&) const = default;
};

// What is stored once and read by nobody may be stored in any order.
bool stores_alone(const Function& f, const LaunchFacts& facts) {
  const std::vector<std::int32_t> origins = pointer_origins(f);
  std::set<std::int32_t> written, read;  // memory
  bool known = true;
  const auto note = [&](std::set<std::int32_t>& to, ValueId pointer) {
    const std::int32_t from = origins[static_cast<std::size_t>(pointer)];
    known = known && from >= 0;
    return known && to.insert(facts.parameters[static_cast<std::size_t>(from)].memory).second;
  };
  const auto look = [&](const auto& self, const Block& block, bool outermost) -> bool {
    return std::all_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
      switch (op.code) {
        case Code::load: note(read, op.operands[0]); break;
        case Code::store: return outermost && note(written, op.operands[0]);
        case Code::atomic:
        case Code::atomic_cas:
        case Code::while_: return false;
        default: break;
      }
      return std::all_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) { return self(self, b, false); });
    });
  };
  return look(look, f.body, true) && known &&
         std::none_of(read.begin(), read.end(), [&](std::int32_t memory) { return written.contains(memory); });
}

class Parts {
 public:
  Parts(const Function& old, const PartsWanted& wanted) : old_(old), wanted_(wanted), f_(old), uses_(old.types.size()) {
    index(old.body);
  }

  std::optional<Function> run() {
    for (const Op& op : old_.body.ops)
      if (op.code == Code::store && !need_store(op)) return std::nullopt;
    while (!todo_.empty()) {
      const Share share = todo_.back();
      todo_.pop_back();
      if (!need_operands(share)) return std::nullopt;
    }
    f_.body.ops.clear();
    for (const ValueId v : f_.body.params) made_[{v, kWhole}] = v;
    out_ = &f_.body.ops;
    Op id;
    id.code = Code::program_id;
    id.axis = kPartAxis;
    part_ = put(std::move(id), scalar_type(Elem::i32));
    block(old_.body);
    renumber(f_);
    simplify(f_);
    return std::move(f_);
  }

 private:
  struct Use {  // of a value that is no op's own: the control op, and which of its carried ones
    const Op* op = nullptr;
    std::size_t at = 0;
    bool is_counter = false;
  };

  void index(const Block& block) {
    for (const Op& op : block.ops) {
      for (std::size_t k = 0; k < op.results.size(); ++k)
        uses_[static_cast<std::size_t>(op.results[k])] = {&op, k, false};
      for (const Block& b : op.blocks) {
        if (op.code == Code::for_)
          for (std::size_t k = 0; k < b.params.size(); ++k)
            uses_[static_cast<std::size_t>(b.params[k])] = {&op, k == 0 ? 0 : k - 1, k == 0};
        index(b);
      }
    }
  }

  const Shape& shape(ValueId v) const { return old_.type(v).shape; }

  // --- what the parts need

  bool need(Share share) {
    if (share.dimension != kWhole && type_of(share).shape[static_cast<std::size_t>(share.dimension)] < wanted_.least)
      return false;
    if (needed_.insert(share).second) todo_.push_back(share);
    return true;
  }

  std::int8_t stored_dimension(const Op& store) const {
    return static_cast<std::int8_t>(wanted_.of == PartsOf::rows ? 0 : shape(store.operands[0]).rank - 1);
  }
  bool need_store(const Op& op) {
    const std::int8_t d = stored_dimension(op);  // of a scalar: none
    return d >= 0 && std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return need({v, d}); });
  }

  bool need_operands(Share share) {
    const Use& from = uses_[static_cast<std::size_t>(share.value)];
    if (from.op == nullptr) return true;  // a parameter
    const Op& op = *from.op;
    if (op.code == Code::for_) {
      for (std::size_t k = 0; k < 3; ++k) need({op.operands[k], kWhole});
      if (from.is_counter) return true;
      const std::int8_t d = share.dimension;
      return need({op.results[from.at], d}) && need({op.operands[3 + from.at], d}) &&
             need({op.blocks[0].params[1 + from.at], d}) && need({op.blocks[0].ops.back().operands[from.at], d});
    }
    if (op.code == Code::if_) {
      need({op.operands[0], kWhole});
      return std::all_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) {
        return need({b.ops.back().operands[from.at], share.dimension});
      });
    }
    const auto dimensions = operand_dimensions(op, share.dimension);
    if (!dimensions) return false;
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      if (!need({op.operands[k], (*dimensions)[k]})) return false;
    return true;
  }

  // What of its operands a share of a result is made of; nullopt: it cannot be made from shares.
  std::optional<std::vector<std::int8_t>> operand_dimensions(const Op& op, std::int8_t d) const {
    std::vector<std::int8_t> out(op.operands.size(), d);
    if (d == kWhole || op.operands.empty() || is_elementwise(op.code) || op.code == Code::cast ||
        op.code == Code::bitcast || op.code == Code::load)
      return out;
    switch (op.code) {
      case Code::splat: out[0] = kWhole; return out;
      case Code::broadcast:
        if (shape(op.operands[0])[static_cast<std::size_t>(d)] == 1) out[0] = kWhole;
        return out;
      case Code::expand_dims:
        if (d == op.axis) return std::nullopt;
        out[0] = static_cast<std::int8_t>(d < op.axis ? d : d - 1);
        return out;
      case Code::trans: out[0] = op.order[static_cast<std::size_t>(d)]; return out;
      case Code::dot: {
        const int rank = shape(op.result()).rank;
        if (d == rank - 1) out[0] = kWhole;
        if (d == rank - 2) out[1] = kWhole;
        return out;
      }
      default: return std::nullopt;
    }
  }

  // --- the function

  ValueId put(Op op, Type type, std::string name = {}) {
    op.results = {f_.add_value(type, std::move(name))};
    out_->push_back(std::move(op));
    return out_->back().result();
  }
  ValueId put(Code code, std::vector<ValueId> operands, Type type) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    op.source = source_;
    return put(std::move(op), type);
  }

  Type type_of(Share share) const {
    Type out = old_.type(share.value);
    if (share.dimension != kWhole) out.shape[static_cast<std::size_t>(share.dimension)] /= wanted_.count;
    return out;
  }
  ValueId new_value(Share share) {
    return made_[share] = f_.add_value(type_of(share), old_.names[static_cast<std::size_t>(share.value)]);
  }
  ValueId made(Share share) const { return made_.at(share); }

  // The shares of a value that are needed, in order.
  std::vector<Share> shares(ValueId v) const {
    std::vector<Share> out;
    for (auto it = needed_.lower_bound({v, kWhole}); it != needed_.end() && it->value == v; ++it) out.push_back(*it);
    return out;
  }

  void block(const Block& old) {
    for (const Op& op : old.ops) {
      source_ = op.source;
      if (op.code == Code::store)
        store(op);
      else if (op.code == Code::for_ || op.code == Code::if_)
        control(op);
      else if (!op.results.empty())
        for (const Share& share : shares(op.result())) plain(op, share);
    }
  }

  std::vector<ValueId> operands_of(const Op& op, const std::vector<std::int8_t>& dimensions) const {
    std::vector<ValueId> out;
    for (std::size_t k = 0; k < op.operands.size(); ++k) out.push_back(made({op.operands[k], dimensions[k]}));
    return out;
  }

  void plain(const Op& op, Share share) {
    Op copy = op;
    copy.operands = operands_of(op, *operand_dimensions(op, share.dimension));
    const Type type = type_of(share);
    if (op.code != Code::arange || share.dimension == kWhole) {
      copy.results = {new_value(share)};
      out_->push_back(std::move(copy));
      return;
    }
    Op size;  // of a part
    size.integer = type.shape[0];
    const Type scalar = scalar_type(type.elem);
    const ValueId first = put(Code::mul, {part_, put(std::move(size), scalar)}, scalar);
    const ValueId range = put(std::move(copy), type);
    made_[share] = put(Code::add, {range, put(Code::splat, {first}, type)}, type);
  }

  void store(const Op& op) {
    Op copy = op;
    copy.operands = operands_of(op, std::vector<std::int8_t>(op.operands.size(), stored_dimension(op)));
    out_->push_back(std::move(copy));
  }

  void control(const Op& op) {
    Op copy = op;
    const bool is_for = op.code == Code::for_;
    copy.operands.resize(is_for ? 3 : 1);
    copy.results.clear();
    std::vector<std::pair<std::size_t, Share>> carried;  // which result, as what
    for (std::size_t k = 0; k < op.results.size(); ++k)
      for (const Share& share : shares(op.results[k])) carried.emplace_back(k, share);
    if (carried.empty()) return;
    for (ValueId& v : copy.operands) v = made({v, kWhole});
    for (const auto& [k, share] : carried) {
      if (is_for) copy.operands.push_back(made({op.operands[3 + k], share.dimension}));
      copy.results.push_back(new_value(share));
    }
    std::vector<Op>* const outside = out_;
    for (std::size_t b = 0; b < op.blocks.size(); ++b) {
      const Block& old = op.blocks[b];
      Block& inner = copy.blocks[b];
      inner = {};
      if (is_for) {
        inner.params.push_back(new_value({old.params[0], kWhole}));
        for (const auto& [k, share] : carried) inner.params.push_back(new_value({old.params[1 + k], share.dimension}));
      }
      out_ = &inner.ops;
      block(old);
      Op yield = old.ops.back();
      yield.operands.clear();
      for (const auto& [k, share] : carried)
        yield.operands.push_back(made({old.ops.back().operands[k], share.dimension}));
      inner.ops.push_back(std::move(yield));
    }
    out_ = outside;
    out_->push_back(std::move(copy));
  }

  const Function& old_;
  const PartsWanted wanted_;
  Function f_;  // the old values' types stay, until they are renumbered
  std::vector<Use> uses_;
  std::set<Share> needed_;
  std::vector<Share> todo_;
  std::map<Share, ValueId> made_;
  std::vector<Op>* out_ = nullptr;
  ValueId part_ = kNoValue;
  Source source_;
};

}  // namespace

std::optional<Function> in_parts(const Function& function, const LaunchFacts& facts, const PartsWanted& wanted) {
  if (facts.grid[kPartAxis] != 1 || !stores_alone(function, facts)) return std::nullopt;
  return Parts(function, wanted).run();
}

}  // namespace passnet::tile
