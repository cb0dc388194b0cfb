// Matching, filters and rewriting where text cases cannot look: bindings, single filters, orders of nodes.
#include <gtest/gtest.h>

#include <cmath>

#include "fx/folder.h"
#include "fx/printer.h"
#include "match/explain.h"
#include "match/filters.h"
#include "match/match.h"
#include "match/rewrite.h"
#include "ops/same_function.h"

namespace passnet {
namespace {

Graph graph_of(const std::string& body, const std::string& inputs = "x, y, z") {
  return read_model("model.py",
                    "import torch\nimport operator\nclass GraphModule(torch.nn.Module):\n    def forward(self, " +
                        inputs + "):\n" + body)
      .take();
}
Pattern pattern_of(const std::string& text) {
  return read_pattern("pass.py", "import torch\nimport operator\n" + text).take();
}

std::vector<std::string> names(const Graph& graph, const Pattern& pattern, const MatchResult& result) {
  std::vector<std::string> out;
  for (const Match& m : result.matches) {
    std::string line;
    for (const NodeId id : pattern.calls) line += (line.empty() ? "" : " ") + graph.nodes[m.nodes[id]].name;
    out.push_back(line);
  }
  return out;
}

std::vector<std::string> found(const std::string& body, const std::string& pattern,
                               MatchMode mode = MatchMode::strict) {
  const Graph graph = graph_of(body);
  const Pattern p = pattern_of(pattern);
  return names(graph, p, find_matches(p, MatchIndex(graph), mode));
}
using Names = std::vector<std::string>;

// ---- values

TEST(MatchValues, LiteralsNeedOneType) {
  EXPECT_TRUE(literal_equal(Value::of(std::int64_t{1}), Value::of(std::int64_t{1})));
  EXPECT_FALSE(literal_equal(Value::of(std::int64_t{1}), Value::of(1.0)));
  EXPECT_FALSE(literal_equal(Value::of(std::int64_t{1}), Value::boolean(true)));
  EXPECT_FALSE(literal_equal(Value::of(std::nan("")), Value::of(std::nan(""))));
  EXPECT_TRUE(literal_equal(Value::of(0.0), Value::of(-0.0)));
  EXPECT_TRUE(literal_equal(Value::constant("torch.float"), Value::constant("torch.float32")));
  EXPECT_FALSE(literal_equal(Value::constant("torch.float"), Value::constant("torch.float16")));
  EXPECT_TRUE(literal_equal(Value::device("cpu", -1), Value::device("cuda", 1)));
  EXPECT_FALSE(literal_equal(Value::none(), Value::ellipsis()));
}

TEST(MatchValues, BoundTwiceComparesAsPythonDoes) {
  EXPECT_TRUE(python_equal(Value::of(std::int64_t{1}), Value::of(1.0)));
  EXPECT_TRUE(python_equal(Value::boolean(true), Value::of(std::int64_t{1})));
  EXPECT_FALSE(python_equal(Value::of(std::int64_t{9007199254740993}), Value::of(9007199254740992.0)));
  EXPECT_FALSE(python_equal(Value::of(std::nan("")), Value::of(std::nan(""))));
  const Value one = Value::of(std::int64_t{1});
  EXPECT_FALSE(python_equal(Value::sequence(ValueKind::list, {one}), Value::sequence(ValueKind::tuple, {one})));
  EXPECT_TRUE(
      python_equal(Value::sequence(ValueKind::list, {one}), Value::sequence(ValueKind::list, {Value::of(1.0)})));
  EXPECT_TRUE(python_equal(Value::ref(3), Value::ref(3)));
  EXPECT_FALSE(python_equal(Value::sequence(ValueKind::list, {}), Value::none()));
}

TEST(MatchValues, SlicesCompareAsWholes) {
  const auto slice = [](Value stop) {
    return Value::sequence(ValueKind::slice, {Value::none(), std::move(stop), Value::none()});
  };
  EXPECT_TRUE(literal_equal(slice(Value::of(std::int64_t{1})), slice(Value::of(1.0))));
  EXPECT_FALSE(literal_equal(slice(Value::ref(0)), slice(Value::ref(0))));  // two graphs
  EXPECT_TRUE(python_equal(slice(Value::ref(0)), slice(Value::ref(0))));    // one graph
}

TEST(SameFunction, SpellingsOfOneObject) {
  static_assert(std::is_sorted(std::begin(kSameFunctions), std::end(kSameFunctions),
                               [](const auto& a, const auto& b) { return a.spelling < b.spelling; }));
  EXPECT_EQ(same_function("torch.conv2d"), same_function("torch.nn.functional.conv2d"));
  EXPECT_EQ(same_function("torch._C._nn.linear"), same_function("torch.nn.functional.linear"));
  EXPECT_EQ(same_function("torch.functional.split"), same_function("torch.split"));
  EXPECT_EQ(same_function("torch._VF.cat"), same_function("torch.cat"));
  EXPECT_NE(same_function("torch._VF.split"), same_function("torch.split"));
  EXPECT_NE(same_function("torch.relu"), same_function("torch.nn.functional.relu"));
}

// ---- patterns

TEST(PatternData, IsComparable) {
  const Pattern a = pattern_of("def pattern(a):\n    return torch.relu(a)\n");
  const Pattern b = pattern_of("def pattern(other):\n    value = torch.relu(other)\n    return value\n");
  const Pattern c = pattern_of("def pattern(a):\n    return a.relu()\n");
  EXPECT_TRUE(a == b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a == c);
}

TEST(PatternData, AnchorsAndShares) {
  const Pattern p = pattern_of(
      "def pattern(a, b):\n    s = a + b\n    r = torch.relu(s)\n    q = torch.sigmoid(s)\n    return q, s, r\n");
  ASSERT_EQ(p.anchors.size(), 2U);  // s is used inside
  EXPECT_EQ(p.graph.nodes[p.anchors[0].node].name, "q");
  EXPECT_EQ(p.returning.size(), 3U);
  ASSERT_EQ(p.anchors[1].shared.size(), 1U);
  EXPECT_EQ(p.graph.nodes[p.anchors[1].shared[0]].name, "s");
}

TEST(PatternData, MovesKeepTargets) {
  Pattern p = pattern_of("def pattern(a):\n    return a.abs()\n");  // a short target lives inside its string
  const Pattern moved = std::move(p);
  const Graph graph = graph_of("        a = x.abs()\n        return (a,)\n");
  EXPECT_EQ(find_matches(moved, MatchIndex(graph), MatchMode::strict).matches.size(), 1U);
}

// ---- filters, one at a time

struct Bound {
  Graph graph;
  Pattern pattern;
  MatchIndex index;
  Binder binder;
  Bound(const std::string& body, const std::string& text, const std::vector<std::string>& anchors)
      : graph(graph_of(body)), pattern(pattern_of(text)), index(graph), binder(pattern, index, MatchMode::strict) {
    for (std::size_t i = 0; i < anchors.size(); ++i)
      for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id)
        if (graph.nodes[id].name == anchors[i]) {
          EXPECT_TRUE(binder.bind(pattern.anchors[i].node, id));
        }
  }
  const std::string& name(NodeId id) const { return graph.nodes[id].name; }
};

TEST(Filters, ContainedSeesALeak) {
  const Bound b("        a = torch.relu(x)\n        b = torch.sigmoid(a)\n        c = a + b\n        return (c,)\n",
                "def pattern(p):\n    return torch.sigmoid(torch.relu(p))\n", {"b"});
  const Leak leak = filter_contained(b.binder);
  ASSERT_TRUE(leak);
  EXPECT_EQ(b.name(leak.node), "a");
  EXPECT_EQ(b.name(leak.user), "c");
  EXPECT_TRUE(filter_contained_alone(b.binder, b.pattern.anchors[0]));
}

TEST(Filters, ContainedLetsReturnedValuesOut) {
  const Bound b("        a = torch.relu(x)\n        b = torch.sigmoid(a)\n        c = a + b\n        return (c,)\n",
                "def pattern(p):\n    r = torch.relu(p)\n    return r, torch.sigmoid(r)\n", {"b"});
  EXPECT_FALSE(filter_contained(b.binder));
}

TEST(Filters, ContainedCountsTheOutputAsAUser) {
  const Bound b("        a = torch.relu(x)\n        b = torch.sigmoid(a)\n        return (a, b)\n",
                "def pattern(p):\n    return torch.sigmoid(torch.relu(p))\n", {"b"});
  EXPECT_EQ(b.graph.nodes[filter_contained(b.binder).user].kind, NodeKind::output);
}

TEST(Filters, AcyclicSeesTheWayBack) {
  // r goes out to t, which comes back into s: {r, s} cannot be one call.
  const Bound b("        r = torch.relu(x)\n        t = torch.tanh(r)\n        s = r + t\n        return (s,)\n",
                "def pattern(p, q):\n    r = torch.relu(p)\n    return r, r + q\n", {"s"});
  AcyclicFilter acyclic(b.index);
  EXPECT_EQ(b.name(acyclic.find_cycle(b.binder)), "s");
}

TEST(Filters, AcyclicLetsAnIndependentUserPass) {
  const Bound b("        r = torch.relu(x)\n        t = torch.tanh(r)\n        s = r + y\n        return (s, t)\n",
                "def pattern(p, q):\n    r = torch.relu(p)\n    return r, r + q\n", {"s"});
  AcyclicFilter acyclic(b.index);
  EXPECT_EQ(acyclic.find_cycle(b.binder), -1);
}

TEST(Filters, OverlapIgnoresPlaceholders) {
  Bound b("        r = torch.relu(x)\n        s = torch.relu(r)\n        return (s,)\n",
          "def pattern(p):\n    return torch.relu(p)\n", {"r"});
  OverlapFilter overlap(b.index);
  EXPECT_FALSE(overlap.overlaps(b.binder));
  overlap.take(b.binder);
  EXPECT_TRUE(overlap.overlaps(b.binder));
  b.binder.undo({});
  ASSERT_TRUE(b.binder.bind(b.pattern.anchors[0].node, 4));  // s: its placeholder is r, which is taken
  EXPECT_FALSE(overlap.overlaps(b.binder));
}

TEST(Binder, UndoRestoresEverything) {
  Bound b("        r = torch.relu(x)\n        s = r + 2\n        return (s,)\n",
          "def pattern(p, n):\n    return torch.relu(p) + n\n", {"s"});
  EXPECT_GE(b.binder.owner(0), 0);
  b.binder.undo({});
  for (NodeId id = 0; id < static_cast<NodeId>(b.pattern.graph.nodes.size()); ++id) EXPECT_FALSE(b.binder.bound(id));
  for (NodeId id = 0; id < static_cast<NodeId>(b.graph.nodes.size()); ++id) EXPECT_EQ(b.binder.owner(id), -1);
}

// ---- matches

TEST(Match, OneGraphValueBindsOnePatternNode) {
  EXPECT_EQ(found("        a = x * x\n        return (a,)\n", "def pattern(p, q):\n    return p * q\n"), Names{});
  EXPECT_EQ(found("        a = x * x\n        return (a,)\n", "def pattern(p):\n    return p * p\n"), Names{"a"});
  EXPECT_EQ(
      found("        a = 2 * x\n        b = 2 * a\n        return (b,)\n", "def pattern(p, q):\n    return p * q\n"),
      (Names{"a", "b"}));  // literals may repeat
}

TEST(Match, OverlapsAreTakenInOrder) {
  EXPECT_EQ(found("        a = torch.relu(x)\n        b = torch.relu(a)\n        c = torch.relu(b)\n        d = "
                  "torch.relu(c)\n        return (d,)\n",
                  "def pattern(p):\n    return torch.relu(torch.relu(p))\n"),
            (Names{"a b", "c d"}));
}

TEST(Match, SeveralAnchorsShareAValue) {
  const std::string body =
      "        a = torch.relu(x)\n        b = torch.relu(y)\n        c = torch.sigmoid(y)\n        d = "
      "torch.sigmoid(x)\n        return (a, b, c, d)\n";
  EXPECT_EQ(found(body, "def pattern(p):\n    return torch.relu(p), torch.sigmoid(p)\n"), (Names{"a d", "b c"}));
  EXPECT_EQ(found(body, "def pattern(p, q):\n    return torch.relu(p), torch.sigmoid(q)\n"), (Names{"a c", "b d"}));
}

TEST(Match, NormalBindsToTheSignature) {
  const std::string body =
      "        a = torch.nn.functional.dropout(x, 0.1, False, False)\n        b = a.view(2, 3)\n        c = "
      "torch.softmax(b, dim=-1)\n        return (c,)\n";
  const std::string respelled =
      "def pattern(p):\n    return torch.softmax(torch.nn.functional.dropout(p, training=False, p=0.1).view((2, 3)), "
      "-1)\n";
  EXPECT_EQ(found(body, respelled), Names{});
  EXPECT_EQ(found(body, respelled, MatchMode::normal), Names{"a b c"});
  EXPECT_EQ(
      found(body, "def pattern(p):\n    return torch.nn.functional.dropout(p, training=False)\n", MatchMode::normal),
      Names{});  // p is 0.5 then
}

TEST(Match, PlaceholderTakesGatheredArguments) {
  const Graph graph = graph_of("        a = x.view(2, 3)\n        return (a,)\n");
  const Pattern p = pattern_of("def pattern(p, size):\n    return p.view(size)\n");
  const MatchResult result = find_matches(p, MatchIndex(graph), MatchMode::normal);
  ASSERT_EQ(result.matches.size(), 1U);
  EXPECT_EQ(value_text(result.matches[0].value(1), [](NodeId) { return std::string("?"); }), "[2, 3]");
}

TEST(Match, AtenOverloadsFillDefaults) {
  EXPECT_EQ(found("        a = torch.ops.aten.add.Tensor(x, y)\n        return (a,)\n",
                  "def pattern(p, q):\n    return torch.ops.aten.add.Tensor(p, q, alpha=1)\n"),
            Names{"a"});
  EXPECT_EQ(found("        a = torch.ops.aten.add.Tensor(x, y)\n        return (a,)\n",
                  "def pattern(p, q):\n    return torch.ops.aten.add.Tensor(p, q, alpha=2)\n"),
            Names{});
}

// ---- rewriting

// The body after the rewrite without clean-ups. The wrapper takes the first `most` parameters of the pattern.
std::string rewritten(const std::string& body, const std::string& pattern, std::size_t most = 9,
                      std::size_t* left_out = nullptr) {
  const Graph graph = graph_of(body);
  const Pattern p = pattern_of(pattern);
  const MatchResult result = find_matches(p, MatchIndex(graph), MatchMode::normal);
  std::vector<Replacement> replacements;
  std::vector<Value> args;
  for (const NodeId id : p.placeholders)
    if (args.size() < most) args.push_back(Value::ref(id));
  for (const Match& m : result.matches) replacements.push_back(make_replacement(m, "fused", args));
  Rewritten out = rewrite(graph, p, replacements).take();
  if (left_out != nullptr) *left_out = out.left_out.size();
  const std::string text = print_model(out.graph, PrintStyle::plain);
  std::string lines;
  for (const std::string_view line : text_lines(std::string_view(text).substr(text.find("def forward")))) {
    const std::string_view trimmed = text_trim(line);
    if (!trimmed.starts_with("def ") && !trimmed.ends_with("= None") && !trimmed.empty())
      lines += std::string(trimmed) + "\n";
  }
  return lines;
}

TEST(Rewrite, OneOutputKeepsItsName) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        b = a + y\n        c = b * 2\n        return (c,)\n",
                      "def pattern(p, q):\n    return torch.relu(p) + q\n"),
            "b = fused(x, y)\nc = b * 2\nreturn (c,)\n");
}

TEST(Rewrite, SeveralOutputsAreItems) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        b = a + y\n        return (a, b)\n",
                      "def pattern(p, q):\n    r = torch.relu(p)\n    return r, r + q\n"),
            "fused_out = fused(x, y)\na = fused_out[0]\nb = fused_out[1]\nreturn (a, b)\n");
}

TEST(Rewrite, UnusedItemsGo) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        b = a + y\n        return (b,)\n",
                      "def pattern(p, q):\n    r = torch.relu(p)\n    return r, r + q\n"),
            "fused_out = fused(x, y)\nb = fused_out[1]\nreturn (b,)\n");
}

TEST(Rewrite, ChainedMatches) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        b = torch.sigmoid(a)\n        c = torch.relu(b)\n        d = "
                      "torch.sigmoid(c)\n        return (d,)\n",
                      "def pattern(p):\n    return torch.sigmoid(torch.relu(p))\n"),
            "b = fused(x)\nd = fused(b)\nreturn (d,)\n");
}

TEST(Rewrite, LiteralsAndListsAreArguments) {
  EXPECT_EQ(rewritten("        a = torch.cat([x, y], dim=1)\n        return (a,)\n",
                      "def pattern(p, d):\n    return torch.cat(p, dim=d)\n"),
            "a = fused([x, y], 1)\nreturn (a,)\n");
}

TEST(Rewrite, StandsBeforeAnEarlierUser) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        u = torch.tanh(a)\n        b = torch.sigmoid(x)\n        "
                      "return (a, b, u)\n",
                      "def pattern(p):\n    return torch.relu(p), torch.sigmoid(p)\n"),
            "fused_out = fused(x)\na = fused_out[0]\nb = fused_out[1]\nu = torch.tanh(a)\nreturn (a, b, u)\n");
}

TEST(Rewrite, UsersMoveBehindALaterInput) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        u = torch.tanh(a)\n        w = torch.exp(y)\n        b = "
                      "torch.sigmoid(w)\n        return (a, b, u)\n",
                      "def pattern(p, q):\n    return torch.relu(p), torch.sigmoid(q)\n"),
            "w = torch.exp(y)\nfused_out = fused(x, w)\na = fused_out[0]\nu = torch.tanh(a)\nb = fused_out[1]\nreturn "
            "(a, b, u)\n");
}

TEST(Rewrite, UsersDoNotMovePastAnEffect) {
  const Graph graph = graph_of(
      "        a = torch.relu(x)\n        u = a + z\n        z += 1\n        w = torch.exp(y)\n        b = "
      "torch.sigmoid(w)\n        return (b, u)\n");
  const Pattern p = pattern_of("def pattern(p, q):\n    return torch.relu(p), torch.sigmoid(q)\n");
  const MatchResult result = find_matches(p, MatchIndex(graph), MatchMode::normal);
  ASSERT_EQ(result.matches.size(), 1U);
  const Replacement replacement = make_replacement(result.matches[0], "fused", {Value::ref(0), Value::ref(1)});
  EXPECT_TRUE(rewrite(graph, p, {&replacement, 1}).take().calls.empty());
}

// ---- the order of writes and reads

// How many calls stand in the graph after the rewrite; 0 where no match can become one.
std::size_t calls_after(const std::string& body, const std::string& pattern) {
  const Graph graph = graph_of(body);
  const Pattern p = pattern_of(pattern);
  const MatchResult result = find_matches(p, MatchIndex(graph), MatchMode::strict);
  EXPECT_FALSE(result.matches.empty()) << body;  // torch.fx finds it whatever is in between
  std::vector<Replacement> replacements;
  std::vector<Value> args;
  for (const NodeId id : p.placeholders) args.push_back(Value::ref(id));
  for (const Match& m : result.matches) replacements.push_back(make_replacement(m, "fused", args));
  const auto out = rewrite(graph, p, replacements);
  return out ? out->calls.size() : 0;
}

constexpr const char* kReluExpAdd = "def pattern(p, q):\n    return torch.relu(p) + torch.exp(q)\n";

TEST(Order, AWriteOfAnInputInBetween) {
  const auto with = [](const std::string& between) {
    return calls_after("        a = torch.relu(x)\n" + between +
                           "        b = torch.exp(y)\n        c = a + b\n"
                           "        return (c, x, z)\n",
                       kReluExpAdd);
  };
  EXPECT_EQ(with("        x += 1\n"), 0U);
  EXPECT_EQ(with("        x[0] = 1\n"), 0U);
  EXPECT_EQ(with("        w = x.add_(1)\n"), 0U);
  EXPECT_EQ(with("        w = torch.nn.functional.relu(x, inplace=True)\n"), 0U);
  EXPECT_EQ(with("        w = torch.nn.functional.relu(x, True)\n"), 0U);
  EXPECT_EQ(with("        w = torch.ops.aten.add_.Tensor(x, 1)\n"), 0U);
  // Through what may share its memory.
  EXPECT_EQ(with("        w = x.view(-1)\n        w += 1\n"), 0U);
  EXPECT_EQ(with("        w = x[0]\n        w[1] = 1\n"), 0U);
  EXPECT_EQ(with("        w = x.to(torch.float32)\n        v = w.transpose(0, 1)\n        u = v.mul_(2)\n"), 0U);
  EXPECT_EQ(with("        w = torch.nn.functional.dropout(x, 0.1, False)\n        w += 1\n"), 0U);
  EXPECT_EQ(with("        w = x.chunk(2)\n        v = w[0]\n        v += 1\n"), 0U);
}

TEST(Order, AWriteOfSomethingElseInBetween) {
  const auto with = [](const std::string& between) {
    return calls_after("        a = torch.relu(x)\n" + between +
                           "        b = torch.exp(y)\n        c = a + b\n"
                           "        return (c, x, z)\n",
                       kReluExpAdd);
  };
  EXPECT_EQ(with("        z += 1\n"), 1U);
  EXPECT_EQ(with("        z += x\n"), 1U);                                  // reads it only
  EXPECT_EQ(with("        w = x + 1\n        w += 1\n"), 1U);               // new memory
  EXPECT_EQ(with("        w = torch.sigmoid(x)\n        w[0] = 1\n"), 1U);  // the same
  EXPECT_EQ(with("        w = torch.rand(3)\n"), 1U);                       // writes no tensor
  EXPECT_EQ(with("        y += 1\n"), 1U);                                  // before it is read
  EXPECT_EQ(calls_after("        x += 1\n        a = torch.relu(x)\n        b = torch.exp(y)\n        c = a + b\n"
                        "        x += 1\n        return (c, x)\n",
                        kReluExpAdd),
            1U);  // around it, not in between
}

TEST(Order, AWriteInsideMovesPastNoReader) {
  const char* pattern = "def pattern(p, q):\n    p += 1\n    return p + torch.exp(q)\n";
  EXPECT_EQ(calls_after("        x += 1\n        r = z + 1\n        b = torch.exp(y)\n        c = x + b\n"
                        "        return (c, r)\n",
                        pattern),
            1U);
  // v shares x's memory and is read after the write: it has to stay behind it.
  EXPECT_EQ(calls_after("        v = x.view(-1)\n        x += 1\n        r = v + 1\n        b = torch.exp(y)\n"
                        "        c = x + b\n        return (c, r)\n",
                        pattern),
            0U);
}

TEST(Order, MovedEarlier) {
  // u, which uses the first output, moves behind the write of y, which it does not read.
  EXPECT_EQ(calls_after("        a = torch.relu(x)\n        u = torch.tanh(a)\n        y += 1\n        b = "
                        "torch.exp(y)\n        return (u, b)\n",
                        "def pattern(p, q):\n    return torch.relu(p), torch.exp(q)\n"),
            1U);
  // The call stands before u; exp(y) would move before the write of y.
  EXPECT_EQ(calls_after("        v = y.view(-1)\n        a = torch.relu(x)\n        u = torch.tanh(a)\n        v += 1\n"
                        "        b = torch.exp(y)\n        return (u, b)\n",
                        "def pattern(p, q):\n    return torch.relu(p), torch.exp(q)\n"),
            0U);
}

TEST(Order, OneBlockedMatchLeavesTheOthers) {
  EXPECT_EQ(calls_after("        a = torch.relu(x)\n        x += 1\n        b = torch.sigmoid(a)\n        c = "
                        "torch.relu(y)\n        z += 1\n        d = torch.sigmoid(c)\n        return (b, d, x)\n",
                        "def pattern(p):\n    return torch.sigmoid(torch.relu(p))\n"),
            1U);
}

TEST(Rewrite, WhatNobodyNeedsGoesButEffectsStay) {
  const std::string body =
      "        n = x.size(0)\n        m = n + 1\n        k = y.add_(1)\n        z[0] = 3\n        a = x.view(m, k)\n   "
      "     return (a, z)\n";
  EXPECT_EQ(rewritten(body, "def pattern(p, s, t):\n    return p.view(s, t)\n", 1),
            "k = y.add_(1)\nz[0] = 3\na = fused(x)\nreturn (a, z)\n");
}

TEST(Rewrite, InPlaceInsideIsAnOrdinaryNode) {
  EXPECT_EQ(rewritten("        a = torch.relu(x)\n        a += y\n        b = a * 2\n        return (b,)\n",
                      "def pattern(p, q):\n    r = torch.relu(p)\n    r += q\n    return r\n"),
            "a = fused(x, y)\nb = a * 2\nreturn (b,)\n");
}

TEST(Rewrite, MatchesThatCloseACircleTogether) {
  // a goes into d's match and c into b's: either pair can be one call, both cannot.
  std::size_t left_out = 0;
  const std::string text = rewritten(
      "        a = torch.relu(x)\n        c = torch.relu(y)\n        b = torch.sigmoid(c)\n        d = "
      "torch.sigmoid(a)\n        return (b, d)\n",
      "def pattern(p, q):\n    return torch.relu(p), torch.sigmoid(q)\n", 9, &left_out);
  EXPECT_EQ(left_out, 1U);
  EXPECT_NE(text.find("fused("), std::string::npos);
}

}  // namespace
}  // namespace passnet
