#include "tile/pipeline.h"

#include <fmt/format.h>

namespace passnet::tile {

namespace {

// What is wrong after a stage of ours is our bug; before the first one it is the text's.
Result<std::monostate> verified(const Function& function, std::string_view stage) {
  auto result = verify(function);
  if (!result && !stage.empty()) {
    Error& e = result.error();
    e.code = passnet::Code::internal;
    e.message = fmt::format("{} broke the kernel's IR: {}", stage, e.message);
  }
  return result;
}

}  // namespace

Result<std::monostate> prepare(Function& function, const LaunchFacts& facts, const StageDump& dump) {
  const auto show = [&](std::string_view stage) {
    if (dump) dump(stage, print(function));
  };
  show("lowered");
  if (auto right = verified(function, ""); !right) return right;
  specialise(function, facts);
  show("specialised");
  if (auto right = verified(function, "specialise"); !right) return right;
  simplify(function);
  simplify_ranges(function, facts);
  show("simplified");
  return verified(function, "simplify");
}

}  // namespace passnet::tile
