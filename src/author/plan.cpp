#include "author/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace passnet::author {

namespace {

struct Field {
  std::string_view name;
  std::int64_t Plan::*value;
  std::int64_t least;
  bool power;  // of two: a tile's size
};
constexpr Field kFields[] = {
    {"block", &Plan::block, 1, true},
    {"tile", &Plan::tile, 1, true},
    {"columns", &Plan::columns, 1, true},
    {"split", &Plan::split, 2, true},
    {"split_from", &Plan::split_from, 2, false},
    {"split_rows", &Plan::split_rows, 0, false},
    {"programs", &Plan::programs, 0, false},
    {"product_rows", &Plan::product_rows, 16, true},
    {"product_columns", &Plan::product_columns, 16, true},
    {"product_depth", &Plan::product_depth, 16, true},
};

constexpr std::string_view kCpu[] = {
    "block=1024,tile=1024", "block=16384,tile=16384,columns=4096", "split=8192,split_from=32768",
    "split_rows=0",         "product_rows=32,product_columns=64",
};
// A GPU also has a choice that a CPU's loop over programs makes anyway: few programs that walk over many blocks.
constexpr std::string_view kCuda[] = {
    "block=512,tile=1024,columns=256",
    "block=4096,tile=8192,columns=1024",
    "programs=1056",
    "split_from=8192,split_rows=264",
    "split_rows=0",
};

}  // namespace

Result<Plan> plan_from_text(const Plan& base, std::string_view text) {
  Plan out = base;
  for (const std::string_view part : text_split(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals), number = part.substr(std::min(equals + 1, part.size()));
    const auto* field =
        std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return f.name == name; });
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (field == std::end(kFields) || error != std::errc{} || end != number.data() + number.size() ||
        value < field->least || (field->power && (value & (value - 1)) != 0)) {
      std::string names;
      for (const Field& f : kFields) names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
      return Error{Code::usage,
                   {},
                   fmt::format("plan '{}': '{}' is no field with a number", text, part),
                   {fmt::format("fields: {}; sizes are powers of 2", names)}};
    }
    out.*(field->value) = value;
  }
  return out;
}

Machine machine_of(DeviceType device, int threads) {
  Machine out;
  if (device == DeviceType::cpu) {
    out.products = Products::all;
    out.plan.split_rows = threads - 1;  // threads that would have nothing to do
    out.alternatives = kCpu;
    return out;
  }
  // Many small programs keep a GPU busy, and a program's registers hold some thousand elements.
  out.plan.block = 1024;
  out.plan.tile = 2048;
  out.plan.columns = 512;
  out.plan.split = 4096;
  out.plan.split_from = 32768;
  out.plan.split_rows = 66;  // half a large GPU's multiprocessors
  out.alternatives = kCuda;
  out.worth_us = 20;
  return out;
}

}  // namespace passnet::author
