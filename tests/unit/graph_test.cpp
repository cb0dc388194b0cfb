// graph: values, the verifier on graphs built by hand, last uses, the canonical text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "build_graph.h"
#include "graph/dtype.h"

namespace passnet {
namespace {

TEST(Values, EqualWithinTheirKindOnly) {
  EXPECT_EQ(Value::of(std::int64_t{1}), Value::of(std::int64_t{1}));
  EXPECT_FALSE(Value::of(std::int64_t{1}) == Value::of(1.0));
  EXPECT_FALSE(Value::of(std::int64_t{1}) == Value::boolean(true));
  EXPECT_FALSE(Value::of(std::int64_t{0}) == Value::none());
  EXPECT_FALSE(Value::of(std::int64_t{0}) == Value::ref(0));
  EXPECT_FALSE(Value::string("torch.float32") == Value::constant("torch.float32"));
  EXPECT_EQ(Value::ellipsis(), Value::ellipsis());
}

TEST(Values, RealsByTheirBits) {
  EXPECT_EQ(Value::of(std::nan("")), Value::of(std::nan("")));
  EXPECT_FALSE(Value::of(0.0) == Value::of(-0.0));
}

TEST(Values, SequencesByTheirItems) {
  const Value one = Value::of(std::int64_t{1}), two = Value::of(std::int64_t{2});
  const auto list = [](std::vector<Value> items) { return Value::sequence(ValueKind::list, std::move(items)); };
  EXPECT_EQ(list({one, two}), list({one, two}));
  EXPECT_FALSE(list({one, two}) == list({two, one}));
  EXPECT_FALSE(list({one}) == list({one, two}));
  EXPECT_FALSE(list({one}) == Value::sequence(ValueKind::tuple, {one}));
  EXPECT_FALSE(Value::device("cuda", 0) == Value::device("cuda", -1));
  EXPECT_FALSE(Value::device("cuda", 0) == Value::device("cpu", 0));
}

TEST(Values, PrintAsPython) {
  const auto name = [](NodeId id) { return "n" + std::to_string(id); };
  const Value one = Value::of(std::int64_t{1});
  EXPECT_EQ(value_text(Value::sequence(ValueKind::tuple, {}), name), "()");
  EXPECT_EQ(value_text(Value::sequence(ValueKind::tuple, {one}), name), "(1,)");
  EXPECT_EQ(value_text(Value::sequence(ValueKind::list, {one, Value::ref(3)}), name), "[1, n3]");
  EXPECT_EQ(value_text(Value::sequence(ValueKind::slice, {Value::none(), one, Value::none()}), name),
            "slice(None, 1, None)");
  EXPECT_EQ(value_text(Value::device("cuda", 1), name), "device(type='cuda', index=1)");
  EXPECT_EQ(value_text(Value::device("it's", -1), name), "device(type=\"it's\")");
  EXPECT_EQ(value_text(Value::constant("builtins.float"), name), "float");
  EXPECT_EQ(value_text(Value::of(std::numeric_limits<std::int64_t>::min()), name), "-9223372036854775808");
}

TEST(Values, NodesAreVisitedInOrder) {
  const Value nested =
      Value::sequence(ValueKind::tuple,
                      {Value::ref(2), Value::sequence(ValueKind::list, {Value::ref(0), Value::none()}), Value::ref(2)});
  std::vector<NodeId> seen;
  value_nodes(nested, [&](NodeId id) { seen.push_back(id); });
  EXPECT_EQ(seen, (std::vector<NodeId>{2, 0, 2}));
}

TEST(Dtypes, EveryRowIsAtItsPlaceAndFound) {
  for (const DtypeRow& row : kDtypes) {
    EXPECT_EQ(&dtype_row(row.dtype), &row);
    EXPECT_EQ(dtype_from_name(row.name), row.dtype);
    EXPECT_EQ(dtype_from_name("torch." + std::string(row.name)), row.dtype);
    if (row.alias.empty()) continue;
    EXPECT_EQ(dtype_from_name(row.alias), row.dtype);
  }
  EXPECT_FALSE(dtype_from_name("torch."));
  EXPECT_FALSE(dtype_from_name(""));
  EXPECT_FALSE(dtype_from_name("Float32"));
}

// ---- the verifier

std::string verify(const Graph& graph) {
  const auto done = graph_verify(graph);
  return done ? "" : error_line(done.error());
}

TEST(Verify, AcceptsARightGraph) {
  GraphBuilder b;
  const Value x = b.input("x");
  const Value y = b.call("torch.relu", "y", {x});
  b.call("operator.setitem", "setitem", {y, Value::of(std::int64_t{0}), x});
  EXPECT_EQ(verify(b.output(y)), "");
}

TEST(Verify, WantsAnOutputAtTheEnd) {
  EXPECT_EQ(verify({}), "error[graph]: a graph ends with its output");
  GraphBuilder b;
  b.input("x");
  EXPECT_EQ(verify(b.graph), "error[graph]: a graph ends with its output");
}

TEST(Verify, WantsOneOutput) {
  GraphBuilder b;
  b.output(b.input("x"));
  b.graph.nodes.push_back(b.graph.nodes.back());
  EXPECT_EQ(verify(b.graph), "error[graph]: an output before the end");
}

TEST(Verify, WantsOneOutputValue) {
  GraphBuilder b;
  b.output(b.input("x"));
  b.graph.nodes.back().args.clear();
  EXPECT_EQ(verify(b.graph), "error[graph]: an output has one value");
}

TEST(Verify, WantsPlaceholdersFirst) {
  GraphBuilder b;
  const Value y = b.call("torch.zeros", "y", {Value::of(std::int64_t{2})});
  b.input("x");
  EXPECT_EQ(verify(b.output(y)), "error[graph]: placeholder 'x' after a call");
}

TEST(Verify, WantsNames) {
  for (const char* name : {"", "1a", "a b", "a-b", "a.b"}) {
    GraphBuilder b;
    const Value x = b.input(name);
    EXPECT_EQ(verify(b.output(x)), "error[graph]: '" + std::string(name) + "' is no name");
  }
  GraphBuilder b;
  const Value x = b.input("\xc3\xa9t\xc3\xa9_1");
  EXPECT_EQ(verify(b.output(x)), "");
}

TEST(Verify, WantsTargetsAndObjects) {
  GraphBuilder a;
  a.call("", "y", {a.input("x")});
  EXPECT_EQ(verify(a.output(Value::none())), "error[graph]: a call without a target");
  GraphBuilder b;
  b.method("relu", "y", {});
  EXPECT_EQ(verify(b.output(Value::none())), "error[graph]: .relu without an object");
}

TEST(Verify, WantsOperandsDefinedBefore) {
  for (const NodeId wrong : {NodeId{1}, NodeId{2}, NodeId{7}, NodeId{-1}}) {
    GraphBuilder b;
    b.input("x");
    b.call("torch.relu", "y", {Value::sequence(ValueKind::list, {Value::ref(wrong)})});
    EXPECT_EQ(verify(b.output(Value::none())), "error[graph]: 'y' uses a node that is not defined before it") << wrong;
  }
}

TEST(Verify, RefusesTheResultOfAnEffect) {
  GraphBuilder b;
  const Value x = b.input("x");
  const Value effect = b.call("operator.setitem", "s", {x, Value::none(), x});
  b.call("torch.relu", "y", {effect});
  EXPECT_EQ(verify(b.output(x)), "error[graph]: 'y' uses the result of an item assignment, which has none");
}

TEST(Verify, RefusesAKeywordTwice) {
  GraphBuilder b;
  const Value x = b.input("x");
  b.call("torch.sum", "y", {x}, {{"dim", Value::none()}, {"keepdim", Value::none()}, {"dim", Value::none()}});
  EXPECT_EQ(verify(b.output(x)), "error[graph]: keyword 'dim' twice");
}

TEST(Verify, SaysTheLine) {
  GraphBuilder b;
  b.graph.file = "none/model.py";
  b.call("", "y", {});
  b.graph.nodes.back().line = 4;
  b.graph.nodes.back().column = 9;
  EXPECT_EQ(verify(b.output(Value::none())), "none/model.py:4:9: error[graph]: a call without a target");
}

// ---- analyses

TEST(LastUses, OfChainsRepeatsAndNobody) {
  GraphBuilder b;
  const Value x = b.input("x");                                                        // 0
  const Value unused = b.input("unused");                                              // 1
  const Value y = b.call("torch.add", "y", {x, x});                                    // 2
  b.call("torch.relu", "dead", {y}, {{"k", Value::sequence(ValueKind::tuple, {x})}});  // 3
  const Graph& graph = b.output(Value::sequence(ValueKind::tuple, {y}));               // 4
  EXPECT_EQ(graph_last_uses(graph), (std::vector<NodeId>{3, 1, 4, 3, 4}));
  EXPECT_EQ(unused.node, 1);
  EXPECT_EQ(graph.placeholder_count(), 2U);
}

TEST(Canonical, HasNoNamesAndNoLines) {
  const auto make = [](const char* input, const char* result, std::uint32_t line) {
    GraphBuilder b;
    const Value x = b.input(input);
    const Value y = b.call("torch.sum", result, {x, Value::of(std::int64_t{1})}, {{"keepdim", Value::boolean(true)}});
    b.graph.nodes.back().line = line;
    b.graph.nodes[0].target = line == 1 ? "" : "torch.Tensor";
    return b.output(Value::sequence(ValueKind::tuple, {y}));
  };
  const std::string text = graph_canonical_text(make("x", "y", 1));
  EXPECT_EQ(text, "%0 = placeholder\n%1 = call_function torch.sum(%0, 1, keepdim=True)\n%2 = output output((%1,))\n");
  EXPECT_EQ(graph_canonical_text(make("a", "b", 2)), text);
  EXPECT_EQ(graph_content_hash(make("a", "b", 2)), graph_content_hash(make("x", "y", 1)));
}

TEST(Canonical, InPlaceAndEffectsAreTold) {
  Node node;
  node.target = "operator.iadd";
  EXPECT_TRUE(node_is_in_place(node));
  for (const char* target :
       {"operator.invert", "operator.index", "operator.is_", "operator.add", "torch.iadd", "operator.iaddx"}) {
    node.target = target;
    EXPECT_FALSE(node_is_in_place(node)) << target;
  }
  node.target = "operator.setitem";
  EXPECT_TRUE(node_is_effect(node));
  node.kind = NodeKind::call_method;
  EXPECT_FALSE(node_is_effect(node));
}

}  // namespace
}  // namespace passnet
