// Audits of memory: what is found, and what only looks like it.
#include "bench/audit.h"

#include <gtest/gtest.h>

namespace passnet {
namespace {

float memory[4096];

TensorRef tensor(std::size_t offset, Dims sizes, Dims strides) {
  TensorRef t;
  t.data = memory + offset;
  t.sizes = std::move(sizes);
  t.strides = std::move(strides);
  return t;
}
RunValue value(TensorRef t) {
  RunValue v;
  v.kind = RunValue::Kind::tensor;
  v.tensor = std::move(t);
  return v;
}
RunValue values(std::vector<TensorRef> tensors) {
  RunValue v;
  v.kind = RunValue::Kind::list;
  for (TensorRef& t : tensors) v.items.push_back(value(std::move(t)));
  return v;
}
std::string found(const RunValue& expected, const RunValue& got) {
  const std::vector<std::string> names = {"x"};
  const std::vector<TensorRef> eager = {tensor(0, {8, 8}, {8, 1})}, ours = {tensor(100, {8, 8}, {8, 1})};
  const auto error = audit_case({names, eager, expected, ours, got});
  EXPECT_TRUE(!error || error->code == Code::integrity);
  return error ? error->message : "";
}

const RunValue kFresh = value(tensor(1000, {8, 8}, {8, 1}));

TEST(Audit, InputAlias) {
  EXPECT_EQ(found(kFresh, kFresh), "");
  EXPECT_EQ(found(kFresh, value(tensor(100, {8, 8}, {8, 1}))),
            "output 0 lies in the memory of input 'x', and eager's does not");
  EXPECT_EQ(found(kFresh, value(tensor(163, {8, 8}, {8, 1}))),  // its last element
            "output 0 lies in the memory of input 'x', and eager's does not");
  EXPECT_EQ(found(kFresh, value(tensor(164, {8, 8}, {8, 1}))), "");
  EXPECT_EQ(found(value(tensor(0, {8, 8}, {8, 1})), value(tensor(100, {8, 8}, {8, 1}))), "");  // as eager's
}

TEST(Audit, OutputAlias) {
  const RunValue two = values({tensor(1000, {8, 8}, {8, 1}), tensor(2000, {8, 8}, {8, 1})});
  EXPECT_EQ(found(two, two), "");
  EXPECT_EQ(found(two, values({tensor(1000, {8, 8}, {8, 1}), tensor(1000, {8, 8}, {8, 1})})),
            "outputs 0 and 1 share memory, and eager's do not");
  // Two halves of every row lie between one another, and share nothing.
  EXPECT_EQ(found(two, values({tensor(1000, {8, 8}, {16, 1}), tensor(1008, {8, 8}, {16, 1})})), "");
  EXPECT_EQ(found(two, values({tensor(1000, {8, 8}, {16, 1}), tensor(1007, {8, 8}, {16, 1})})),
            "outputs 0 and 1 share memory, and eager's do not");
}

TEST(Audit, ExpandedOutput) {
  EXPECT_EQ(found(kFresh, value(tensor(1000, {8, 8}, {0, 1}))),
            "elements of output 0 share memory, and eager's do not");
  EXPECT_EQ(found(value(tensor(1000, {8, 8}, {0, 1})), value(tensor(1000, {8, 8}, {0, 1}))), "");
  EXPECT_EQ(found(kFresh, value(tensor(1000, {1, 8}, {0, 1}))), "");  // one row: a stride of no meaning
}

TEST(Audit, Speed) {
  const RunValue megabyte = value(tensor(0, {512, 512}, {512, 1}));
  EXPECT_FALSE(audit_speed(megabyte, 0.01, peak_bytes(DeviceType::cpu, 1)));
  EXPECT_TRUE(audit_speed(megabyte, 0.001, peak_bytes(DeviceType::cpu, 1)));
  EXPECT_FALSE(audit_speed(megabyte, 0.001, peak_bytes(DeviceType::cpu, 4)));
}

TEST(Audit, LayoutIsNoted) {
  const RunValue turned = value(tensor(1000, {8, 8}, {1, 8}));
  EXPECT_TRUE(note_layout(kFresh, turned));
  EXPECT_FALSE(note_layout(kFresh, kFresh));
  EXPECT_FALSE(note_layout(turned, turned));
  EXPECT_FALSE(note_layout(value(tensor(1000, {1, 8}, {8, 1})), value(tensor(1000, {1, 8}, {1, 1}))));
}

}  // namespace
}  // namespace passnet
