// fx: arithmetic of literals against Python's results, and printing of graphs that no text made.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "build_graph.h"
#include "fx/folder.h"
#include "fx/meta.h"
#include "fx/printer.h"

namespace passnet {
namespace {

Graph read(const std::string& body, const std::string& parameters = "x") {
  return read_model("model.py", "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, " +
                                    parameters + "):\n" + body)
      .take();
}

// ---- literals

TEST(Literals, FoldAsPythonComputes) {
  const struct {
    std::string expression;
    std::string result;  // empty: Python raises or leaves 64 bits, and the call stays a node
  } rows[] = {
      {"7 // 2", "3"},
      {"-7 // 2", "-4"},
      {"7 // -2", "-4"},
      {"-7 // -2", "3"},
      {"7 % 3", "1"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"-7 % -3", "-1"},
      {"0 // 5", "0"},
      {"6 % 3", "0"},
      {"-9223372036854775808 % 3", "1"},
      {"-9223372036854775808 // 3", "-3074457345618258603"},
      {"9223372036854775807 % -2", "-1"},
      {"1 / 4", "0.25"},
      {"7 / 2", "3.5"},
      {"-1 / 3", "-0.3333333333333333"},
      {"1 / 0", ""},
      {"1 // 0", ""},
      {"1 % 0", ""},
      {"1.0 / 0", ""},
      {"1.0 // 0.0", ""},
      {"1.0 % 0.0", ""},
      {"2 ** 10", "1024"},
      {"2 ** -1", "0.5"},
      {"(-2) ** 3", "-8"},
      {"(-2) ** -3", "-0.125"},
      {"0 ** 0", "1"},
      {"0 ** -1", ""},
      {"2 ** 62", "4611686018427387904"},
      {"2 ** 63", ""},
      {"(-2) ** 63", "-9223372036854775808"},
      {"(-1) ** 1001", "-1"},
      {"1 ** 4611686018427387904", "1"},
      {"3 ** 39", "4052555153018976267"},
      {"3 ** 40", ""},
      {"2.0 ** 0.5", "1.4142135623730951"},
      {"(-8.0) ** 0.5", ""},
      {"(-8.0) ** 2", "64.0"},
      {"0.0 ** -1.0", ""},
      {"10.0 ** 400", ""},
      {"10.0 ** -400", "0.0"},
      {"2 ** 0.5", "1.4142135623730951"},
      {"float('inf') ** 2", "inf"},
      {"1.0 // 0.1", "9.0"},
      {"-1.0 // 0.1", "-10.0"},
      {"7.5 // 2", "3.0"},
      {"-7.5 // 2", "-4.0"},
      {"7.5 // -2.0", "-4.0"},
      {"0.3 // 0.1", "2.0"},
      {"1e308 // 1e-308", "inf"},
      {"-0.0 // 1.0", "-0.0"},
      {"0.0 // -1.0", "-0.0"},
      {"float('inf') // 1", "nan"},
      {"1 // float('inf')", "0.0"},
      {"-1 // float('inf')", "-1.0"},
      {"7.5 % 2", "1.5"},
      {"-7.5 % 2", "0.5"},
      {"7.5 % -2", "-0.5"},
      {"1.0 % 0.1", "0.09999999999999995"},
      {"-0.0 % 1.0", "0.0"},
      {"0.0 % -1.0", "-0.0"},
      {"6.0 % -3.0", "-0.0"},
      {"5 % float('inf')", "5.0"},
      {"-5 % float('inf')", "inf"},
      {"1 + 2", "3"},
      {"1 + 2.5", "3.5"},
      {"True + True", "2"},
      {"True - 2", "-1"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"9223372036854775807 + 1", ""},
      {"-9223372036854775808 - 1", ""},
      {"9223372036854775807 * 2", ""},
      {"4611686018427387904 * 2", ""},
      {"3037000500 * 3037000500", ""},
      {"1e308 * 10", "inf"},
      {"-1 * 0.0", "-0.0"},
      {"float('inf') - float('inf')", "nan"},
      {"6 & 3", "2"},
      {"6 | 3", "7"},
      {"6 ^ 3", "5"},
      {"-1 & 255", "255"},
      {"True & False", "False"},
      {"True | False", "True"},
      {"True ^ True", "False"},
      {"True & 1", "1"},
      {"1 << 4", "16"},
      {"-1 << 4", "-16"},
      {"1 << 62", "4611686018427387904"},
      {"1 << 63", ""},
      {"-2 << 62", "-9223372036854775808"},
      {"1 << -1", ""},
      {"0 << 5", "0"},
      {"256 >> 4", "16"},
      {"-256 >> 4", "-16"},
      {"-1 >> 100", "-1"},
      {"1 >> -1", ""},
      {"-9223372036854775808 << 0", "-9223372036854775808"},
      {"2.5 & 1", ""},
      {"'ab' + 'cd'", "'abcd'"},
      {"(1, 2) + (3,)", "(1, 2, 3)"},
      {"[1] + [2.5]", "[1, 2.5]"},
      {"[0] * 3", "[0, 0, 0]"},
      {"(1, 2) * 2", "(1, 2, 1, 2)"},
      {"[1] * 0", "[]"},
      {"[1] * -1", "[]"},
      {"[1] + (2,)", ""},
      {"'a' + 1", ""},
      {"[1, 2] * 9223372036854775807", ""},
  };
  for (const auto& row : rows) {
    const Graph graph = read("        return " + row.expression + "\n");
    const std::string folded =
        graph.nodes.size() > 2 ? "" : value_text(graph.output().args[0], [](NodeId) { return "node"; });
    EXPECT_EQ(folded, row.result) << row.expression;
  }
}

// ---- printing

void expect_round_trip(const Graph& graph) {
  for (const PrintStyle style : {PrintStyle::plain, PrintStyle::raw}) {
    const std::string text = print_model(graph, style);
    auto again = read_model("printed.py", text);
    ASSERT_TRUE(again) << error_text(again.error()) << "\n" << text;
    EXPECT_EQ(graph_canonical_text(*again), graph_canonical_text(graph)) << text;
    const std::string second =
        print_model(*again, style);  // an effect's name is not read back, so the first may differ
    EXPECT_EQ(print_model(read_model("printed.py", second).take(), style), second);
  }
}

std::string body(const Graph& graph) {
  const std::string text = print_model(graph, PrintStyle::plain);
  return text.substr(text.find("):\n") == std::string::npos ? 0 : text.rfind("):\n") + 3);
}

TEST(Print, InPlaceKeepsTheNameOfWhatItChanged) {
  GraphBuilder b;
  const Value x = b.input("x");
  const Value y = b.call("torch.relu", "y", {x});
  const Value z = b.call("operator.iadd", "y", {y, x});
  expect_round_trip(b.output(z));
  EXPECT_EQ(body(b.graph), "        y = torch.relu(x)\n        y += x\n        return y");
}

TEST(Print, InPlaceWhoseOperandIsUsedLaterIsACall) {
  GraphBuilder b;
  const Value x = b.input("x");
  const Value y = b.call("torch.relu", "y", {x});
  const Value z = b.call("operator.iadd", "y", {y, x});
  const Value w = b.call("operator.mul", "w", {y, z});
  expect_round_trip(b.output(w));
  EXPECT_NE(body(b.graph).find("operator.iadd(y, x)"), std::string::npos);
}

TEST(Print, InPlaceOnALiteralIsACall) {
  GraphBuilder b;
  const Value x = b.input("x");
  expect_round_trip(b.output(b.call("operator.iadd", "y", {Value::of(std::int64_t{2}), x})));
}

TEST(Print, DuplicateNamesGetNumbers) {
  GraphBuilder b;
  Value v = b.input("a");
  for (int i = 0; i < 3; ++i) v = b.call("torch.relu", "a", {v});
  v = b.call("torch.relu", "a_1", {v});
  expect_round_trip(b.output(v));
}

TEST(Print, DuplicateInputsGetNumbers) {
  GraphBuilder b;
  const Value a = b.input("a"), c = b.input("a");
  expect_round_trip(b.output(b.call("torch.add", "y", {a, c})));
}

TEST(Print, NamesThatHideWhatTheTextSays) {
  for (const char* name : {"self", "torch", "operator", "math", "device", "inf", "nan", "slice", "getattr", "Ellipsis",
                           "max", "float", "and", "lambda", "None", "True"}) {
    GraphBuilder b;
    const Value x = b.input(name);
    const Value y = b.call("torch.clamp", name, {x, Value::of(-HUGE_VAL), Value::of(std::nan(""))});
    const Value z = b.call("operator.not_", name, {y});
    const Value w = b.call("math.sqrt", "w", {z, Value::device("cpu", -1), Value::constant("builtins.float")});
    const Value v = b.call("builtins.max", "v", {w, Value::ellipsis()});
    const Value u = b.call("operator.getitem", "u", {v, Value::sequence(ValueKind::slice, {x, y, z})});
    expect_round_trip(b.output(u));
  }
}

TEST(Print, EffectsOfLiteralsAndNestedIndices) {
  GraphBuilder b;
  const Value x = b.input("x");
  const Value one = Value::of(std::int64_t{1});
  const auto tuple = [](std::vector<Value> items) { return Value::sequence(ValueKind::tuple, std::move(items)); };
  b.call("operator.setitem", "s", {x, tuple({}), one});
  b.call("operator.setitem", "s", {x, tuple({tuple({one}), Value::ellipsis()}), Value::of(-0.0)});
  b.call("operator.getitem", "g", {x, tuple({one})});
  b.call("operator.getitem", "g", {tuple({x, one}), one});
  b.call("getattr", "t", {tuple({x}), Value::string("count")});
  b.method("__neg__", "m", {Value::of(-1.5)});
  b.call("operator.pow", "p", {Value::of(std::int64_t{-2}), x});
  b.call("operator.sub", "q", {x, Value::of(std::int64_t{-2})});
  expect_round_trip(b.output(Value::none()));
}

// ---- random graphs: printed in both styles and read again, they are the same

Value random_literal(int depth);
rc::Gen<Value> literals(int depth) {
  return rc::gen::exec([depth] { return random_literal(depth); });
}
Value random_literal(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 11 : 8)) {
    case 0: return Value::none();
    case 1: return Value::boolean(*rc::gen::arbitrary<bool>());
    case 2: return Value::of(*rc::gen::arbitrary<std::int64_t>());
    case 3: return Value::of(*rc::gen::arbitrary<double>());
    case 4: return Value::string(*rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127)));
    case 5:
      return Value::constant(
          *rc::gen::element<std::string>("torch.float32", "torch.channels_last", "math.tau", "builtins.int"));
    case 6:
      return Value::device(*rc::gen::element<std::string>("cpu", "cuda", "meta"),
                           *rc::gen::inRange<std::int64_t>(-1, 4));
    case 7: return Value::ellipsis();
    case 8: return Value::sequence(ValueKind::tuple, *rc::gen::container<std::vector<Value>>(literals(depth - 1)));
    case 9: return Value::sequence(ValueKind::list, *rc::gen::container<std::vector<Value>>(literals(depth - 1)));
    default: return Value::sequence(ValueKind::slice, {*literals(0), *literals(0), *literals(0)});
  }
}

Graph random_graph() {
  GraphBuilder b;
  std::vector<Value> known;
  const auto name = [] {
    return *rc::gen::element<std::string>("a", "b", "a_1", "add", "torch", "inf", "sum", "setitem", "\xc3\xa9");
  };
  const auto operand = [&] { return known[*rc::gen::inRange<std::size_t>(0, known.size())]; };
  const auto value = [&] { return *rc::gen::arbitrary<bool>() ? operand() : *literals(2); };
  const int inputs = *rc::gen::inRange(1, 4), calls = *rc::gen::inRange(0, 12);
  for (int i = 0; i < inputs; ++i) known.push_back(b.input(name()));
  for (int i = 0; i < calls; ++i) {
    switch (*rc::gen::inRange(0, 9)) {
      case 0:
        known.push_back(b.call(*rc::gen::element<std::string>("operator.add", "operator.pow", "operator.matmul",
                                                              "operator.lt", "operator.and_"),
                               name(), {operand(), value()}));
        break;
      case 1:
        known.push_back(b.call(*rc::gen::element<std::string>("operator.iadd", "operator.ior", "operator.ifloordiv"),
                               name(), {operand(), value()}));
        break;
      case 2: b.call("operator.setitem", name(), {operand(), value(), value()}); break;
      case 3: known.push_back(b.call("operator.getitem", name(), {operand(), value()})); break;
      case 4:
        known.push_back(b.call(*rc::gen::element<std::string>("operator.neg", "operator.invert", "operator.not_"),
                               name(), {operand()}));
        break;
      case 5:
        known.push_back(b.method(*rc::gen::element<std::string>("view", "relu", "T"), name(), {operand(), value()},
                                 {{"k", value()}}));
        break;
      case 6: known.push_back(b.call("getattr", name(), {operand(), Value::string("shape")})); break;
      case 7: known.push_back(b.call("builtins.max", name(), {operand(), value()})); break;
      default:
        known.push_back(
            b.call("torch.nn.functional.linear", name(), {operand(), value()}, {{"bias", value()}, {"x", operand()}}));
        break;
    }
  }
  return b.output(Value::sequence(ValueKind::tuple, {operand(), value()}));
}

TEST(Print, RandomGraphsReadBack) {
  EXPECT_TRUE(rc::check("print, read and print again", [] {
    const Graph graph = random_graph();
    for (const PrintStyle style : {PrintStyle::plain, PrintStyle::raw}) {
      const std::string text = print_model(graph, style);
      RC_LOG() << text;
      const auto again = read_model("printed.py", text);
      if (!again) RC_FAIL(error_text(again.error()));
      RC_ASSERT(graph_canonical_text(*again) == graph_canonical_text(graph));
      const std::string second = print_model(*again, style);
      RC_ASSERT(print_model(read_model("printed.py", second).take(), style) == second);
    }
  }));
}

// ---- metas

TEST(Metas, PrintAndReadBack) {
  TensorMeta meta;
  meta.name = "in_0";
  meta.original_name = "L_x_";
  meta.shape = {2, 3};
  meta.dtype = Dtype::bfloat16;
  meta.device = "cuda:0";
  meta.mean = -0.25;
  meta.data = TensorData{{1, 2, 3, 4, 5, -6}, {}};
  const std::string text = print_meta(meta);
  const std::vector<TensorMeta> again = read_metas("weight_meta.py", text).take();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(print_meta(again[0]), text);
  EXPECT_EQ(again[0].shape, meta.shape);
  EXPECT_EQ(again[0].dtype, meta.dtype);
  EXPECT_EQ(again[0].data->integers, meta.data->integers);
  EXPECT_FALSE(again[0].std);
}

TEST(Metas, BoundsReadBack) {
  const std::string text = print_meta(
      read_metas("m", "class a:\n shape = [2]\n dtype = 'int64'\n min_val = -inf\n max_val = 9007199254740993\n")
          .take()[0]);
  EXPECT_NE(text.find("max_val = 9007199254740993"), std::string::npos) << text;
  EXPECT_NE(text.find("min_val = -inf"), std::string::npos) << text;
  EXPECT_EQ(print_meta(read_metas("m", text).take()[0]), text);
}

TEST(Metas, MixedDataAreReals) {
  const auto metas = read_metas("m", "class a:\n shape = [3]\n dtype = 'float32'\n data = [1, 2.5, -inf]\n").take();
  EXPECT_TRUE(metas[0].data->integers.empty());
  EXPECT_EQ(metas[0].data->reals, (std::vector<double>{1, 2.5, -HUGE_VAL}));
}

}  // namespace
}  // namespace passnet
