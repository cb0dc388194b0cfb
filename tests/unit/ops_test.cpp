// ops: ATen's schemas, how arguments are bound to them, how spellings are found, and the rows' own text.
#include <gtest/gtest.h>

#include <set>

#include "fx/folder.h"
#include "ops/builtins.h"
#include "ops/lower.h"
#include "ops/table.h"

namespace passnet {
namespace {

// ---- schemas

const Schema& schema(std::string_view name, std::string_view overload = "") {
  for (const AtenRow& row : aten_find(name))
    if (row.overload == overload) return aten_schema(row);
  ADD_FAILURE() << "no " << name << "." << overload;
  return aten_schema(aten_rows()[0]);
}

TEST(Schemas, TheTableIsSortedAndFound) {
  ASSERT_GT(aten_rows().size(), 1500U);
  for (std::size_t i = 1; i < aten_rows().size(); ++i) EXPECT_LE(aten_rows()[i - 1].name, aten_rows()[i].name);
  for (const AtenRow& row : aten_rows()) EXPECT_FALSE(aten_find(row.name).empty());
  EXPECT_TRUE(aten_find("").empty());
  EXPECT_TRUE(aten_find("no_such").empty());
}

TEST(Schemas, EveryRowParses) {
  // The types that have no meaning in a graph; anything else must be known.
  const auto has_unknown = [](std::string_view text) {
    for (const char* type : {"Stream", "Storage", "QScheme", "ConstQuantizerPtr", "Dimname", "DeviceIndex"})
      if (text.find(type) != std::string_view::npos) return true;
    return false;
  };
  for (const AtenRow& row : aten_rows()) {
    const Schema& s = aten_schema(row);
    EXPECT_EQ(s.name, row.name);
    std::size_t positional = 0;
    for (const Param& p : s.params) {
      EXPECT_FALSE(p.name.empty()) << row.schema;
      EXPECT_EQ(p.name.find_first_of("()[]?=* "), std::string::npos) << row.schema;
      EXPECT_TRUE(p.type.base != Base::other || has_unknown(row.schema)) << row.schema;
      positional += p.keyword_only ? 0 : 1;
    }
    EXPECT_EQ(positional, s.positional) << row.schema;
    for (const ParamType& type : s.returns)
      EXPECT_TRUE(type.base != Base::other || has_unknown(row.schema)) << row.schema;
  }
}

TEST(Schemas, TypesAndDefaults) {
  const Schema& conv = schema("conv2d");
  EXPECT_EQ(conv.params[3].name, "stride");
  EXPECT_TRUE(conv.params[3].type.list);
  EXPECT_EQ(conv.params[3].type.list_size, 2);
  EXPECT_EQ(*conv.params[3].default_value, Value::of(std::int64_t{1}));
  EXPECT_TRUE(conv.params[2].type.optional);
  const Schema& sum = schema("sum", "dim_IntList");
  EXPECT_TRUE(sum.params[1].type.list && sum.params[1].type.optional);
  EXPECT_TRUE(sum.params[3].keyword_only);
  EXPECT_EQ(sum.params[3].type.base, Base::dtype);
  const Schema& index = schema("index", "Tensor");
  EXPECT_TRUE(index.params[1].type.list && index.params[1].type.item_optional);
  EXPECT_FALSE(index.params[1].type.optional);
  const Schema& gelu = schema("gelu");
  EXPECT_EQ(*gelu.params[1].default_value, Value::string("none"));
  EXPECT_EQ(*schema("layer_norm").params[4].default_value, Value::of(1e-05));
  EXPECT_EQ(*schema("leaky_relu").params[1].default_value, Value::of(0.01));
}

TEST(Schemas, EffectsAndResults) {
  EXPECT_TRUE(schema("relu_").writes);
  EXPECT_FALSE(schema("relu").writes);
  EXPECT_TRUE(schema("view").view);
  EXPECT_FALSE(schema("relu_").view);
  EXPECT_TRUE(schema("dropout").random || schema("bernoulli").random);
  EXPECT_EQ(schema("max", "dim").returns.size(), 2U);
  EXPECT_EQ(schema("split", "Tensor").returns.size(), 1U);
  EXPECT_TRUE(schema("split", "Tensor").returns[0].list);
}

// ---- binding: registers 0 and 1 are tensors, 2 is an int, 3 is known only when it runs

std::string bind(const Schema& s, std::vector<Value> args, std::vector<Kwarg> kwargs = {},
                 Spelled spelled = Spelled::function) {
  const Ty registers[] = {Ty::tensor, Ty::tensor, Ty::integer, Ty::any};
  std::string why;
  const auto bound = bind_schema(s, {args, kwargs}, spelled, registers, &why);
  if (!bound) return "! " + why;
  std::string out;
  for (const Value& v : *bound)
    out += (out.empty() ? "" : ", ") + value_text(v, [](NodeId id) { return "%" + std::to_string(id); });
  return out;
}

Value num(std::int64_t i) { return Value::of(i); }
const Value kX = Value::ref(0), kY = Value::ref(1), kN = Value::ref(2), kAny = Value::ref(3);
Value list(std::vector<Value> items) { return Value::sequence(ValueKind::list, std::move(items)); }

TEST(Bind, DefaultsAndKeywords) {
  EXPECT_EQ(bind(schema("softmax", "int"), {kX, num(1)}), "%0, 1, None");
  EXPECT_EQ(bind(schema("softmax", "int"), {}, {{"dim", num(1)}, {"input", kX}}), "%0, 1, None");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX}, {{"axis", num(1)}}), "%0, 1, None");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX}, {{"self", kX}, {"dim", num(1)}}), "! has no keyword 'self'");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX, num(1)}, {{"dim", num(1)}}), "! argument 'dim' is given twice");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX}), "! argument 'dim' is missing");
  EXPECT_EQ(bind(schema("softmax", "int"), {}), "! argument 'input' is missing");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX, num(1)}, {{"dims", num(1)}}), "! has no keyword 'dims'");
  EXPECT_EQ(bind(schema("relu"), {kX, kX}), "! takes 1 positional argument, 2 given");
}

TEST(Bind, NumpyNamesButNotForAten) {
  EXPECT_EQ(bind(schema("sum", "dim_IntList"), {kX}, {{"axis", num(1)}, {"keepdims", Value::boolean(true)}}),
            "%0, 1, True, None");
  EXPECT_EQ(bind(schema("add", "Tensor"), {}, {{"x1", kX}, {"x2", kY}}), "%0, %1, 1");
  EXPECT_EQ(bind(schema("sum", "dim_IntList"), {kX}, {{"axis", num(1)}}, Spelled::aten), "! has no keyword 'axis'");
  EXPECT_EQ(bind(schema("relu"), {}, {{"self", kX}}, Spelled::aten), "%0");
}

TEST(Bind, SizesMayBeSpread) {
  EXPECT_EQ(bind(schema("view"), {kX, num(2), num(-1)}, {}, Spelled::method), "%0, [2, -1]");
  EXPECT_EQ(bind(schema("view"), {kX, list({num(2), kN})}, {}, Spelled::method), "%0, [2, %2]");
  EXPECT_EQ(bind(schema("view"), {kX, num(6)}, {}, Spelled::method), "%0, [6]");
  EXPECT_EQ(bind(schema("view"), {kX, kN, num(3)}, {}, Spelled::method), "%0, [%2, 3]");
  EXPECT_EQ(bind(schema("zeros"), {num(2), num(3)}).substr(0, 6), "[2, 3]");
  EXPECT_EQ(bind(schema("view"), {kX, num(2), Value::of(1.5)}, {}, Spelled::method), "! argument 'size' is object");
  EXPECT_EQ(bind(schema("permute"), {kX, num(1), num(0)}),
            "! takes 2 positional arguments, 3 given");  // a function spreads nothing behind a tensor
}

TEST(Bind, OneSizeStandsForAll) {
  EXPECT_EQ(bind(schema("avg_pool2d"), {kX, num(2)}).substr(0, 5), "%0, 2");
  EXPECT_EQ(bind(schema("avg_pool2d"), {kX, list({num(2), num(3)})}).substr(0, 10), "%0, [2, 3]");
  EXPECT_EQ(bind(schema("sum", "dim_IntList"), {kX, num(1)}), "%0, 1, False, None");
  EXPECT_EQ(bind(schema("cat"), {kX}), "! argument 'tensors' is Tensor");
}

TEST(Bind, NumbersForTensorsWhereTorchTakesThem) {
  EXPECT_EQ(bind(schema("add", "Tensor"), {kX, num(2)}), "%0, 2, 1");
  EXPECT_EQ(bind(schema("matmul"), {kX, num(2)}), "! argument 'other' is int");
  EXPECT_EQ(bind(schema("matmul"), {kX, num(2)}, {}, Spelled::aten), "%0, 2");
}

TEST(Bind, ABoolIsNoInt) {
  EXPECT_EQ(bind(schema("softmax", "int"), {kX, Value::boolean(true)}), "! argument 'dim' is bool");
  EXPECT_EQ(bind(schema("sum", "dim_IntList"), {kX, num(1), num(1)}), "! argument 'keepdim' is int");
  EXPECT_EQ(bind(schema("add", "Tensor"), {kX, kY}, {{"alpha", Value::boolean(true)}}), "%0, %1, True");
}

TEST(Bind, NoneOnlyWhereOptional) {
  EXPECT_EQ(bind(schema("linear"), {kX, kY, Value::none()}), "%0, %1, None");
  EXPECT_EQ(bind(schema("matmul"), {kX, Value::none()}), "! argument 'other' is None");
}

TEST(Bind, UnknownUntilItRunsFitsAnything) {
  EXPECT_EQ(bind(schema("matmul"), {kX, kAny}), "%0, %3");
  EXPECT_EQ(bind(schema("softmax", "int"), {kX, kAny}), "%0, %3, None");
}

TEST(Bind, AMethodsObjectIsSelf) {
  EXPECT_EQ(bind(schema("add", "Tensor"), {kX, kY}, {}, Spelled::method), "%0, %1, 1");
  EXPECT_EQ(bind(schema("where", "self"), {kX, kY, kX}, {}, Spelled::method),
            "%1, %0, %0");  // where(condition, self, other)
  EXPECT_EQ(bind(schema("zeros"), {kX, num(1)}, {}, Spelled::method), "! has no self");
}

TEST(Bind, IgnoresWhatHasNoMeaningHere) {
  EXPECT_EQ(bind(schema("relu"), {kX}, {{"out", Value::none()}}), "%0");
  EXPECT_EQ(bind(schema("relu"), {kX}, {{"out", kY}}), "! has no keyword 'out'");
}

// ---- spellings

TEST(Table, FindsEverySpelling) {
  for (const OpListing& row : op_list()) EXPECT_TRUE(op_find(row.spelling)) << row.spelling;
  for (const AtenRow& row : aten_rows()) {
    const std::string name = "torch.ops.aten." + std::string(row.name);
    EXPECT_TRUE(op_find(name)) << name;
    const std::string overload = name + "." + (row.overload.empty() ? "default" : std::string(row.overload));
    EXPECT_TRUE(op_find(overload)) << overload;
  }
}

TEST(Table, RowsComeBeforeAten) {
  EXPECT_NE(op_find("torch.nn.functional.relu").row, nullptr);
  EXPECT_EQ(op_find("torch.relu").row, nullptr);
  EXPECT_EQ(op_find(".relu").spelled, Spelled::method);
  EXPECT_EQ(op_find("torch.Tensor.relu").spelled, Spelled::method);
  EXPECT_EQ(op_find("torch.ops.aten.relu").spelled, Spelled::aten);
  EXPECT_EQ(op_find("torch.ops.aten.add.Tensor").overloads.size(), 1U);
  EXPECT_GT(op_find("torch.add").overloads.size(), 0U);
}

TEST(Table, NamespacesGiveTheirOwn) {
  for (const char* spelling :
       {"torch._C._nn.gelu", "torch.linalg.inv", "torch._C._linalg.linalg_inv", "torch.fft.rfft",
        "torch._C._fft.fft_rfft", "torch.special.expit", "torch._C._special.special_expit", "torch._VF.lstm",
        "torch._C._VariableFunctions.relu", "torch.functional.norm", "operator.add", "getattr.T", "builtins.len"})
    EXPECT_TRUE(op_find(spelling)) << spelling;
  for (const char* spelling :
       {"", ".", "torch", "torch.", "torch.gelu", ".gelu", "relu", "aten.relu", "torch.ops.aten.",
        "torch.ops.aten.add.Nothing", "torch.nn.functional.", "torch.linalg.relu", "getattr.", "torch.Tensor."})
    EXPECT_FALSE(op_find(spelling)) << spelling;
}

TEST(Table, NearestNames) {
  EXPECT_EQ(op_nearest("torch.gelu"), (std::vector<std::string>{"torch._C._nn.gelu", "torch.nn.functional.gelu"}));
  EXPECT_EQ(op_nearest("torch.reluu")[0], "torch.relu");
}

// ---- the rows' own text: whatever a body names must exist

class RowChecker {
 public:
  std::vector<std::string> wrong;

  void function(const py::Stmt& f) {
    std::set<std::string_view> outer;
    std::swap(outer, locals_);
    for (const py::Parameter& p : f.parameters) {
      locals_.insert(p.name);
      if (p.default_value != nullptr) expression(*p.default_value);
    }
    statements(f.body);
    std::swap(outer, locals_);
  }

 private:
  void statements(std::span<const py::Stmt* const> body) {
    for (const py::Stmt* s : body) {
      if (s->kind != py::StmtKind::raise && s->value != nullptr) expression(*s->value);
      if (s->kind == py::StmtKind::raise)
        for (const py::Expr* item : s->value->items.subspan(1)) expression(*item);
      for (const py::Expr* t : s->targets) {
        if (t->kind == py::ExprKind::name)
          locals_.insert(t->text);
        else
          wrong.push_back("a target that is no name");
      }
      switch (s->kind) {
        case py::StmtKind::assign:
        case py::StmtKind::return_:
        case py::StmtKind::raise:
        case py::StmtKind::if_: break;
        default: wrong.push_back("a statement that cannot be lowered, line " + std::to_string(s->place.line));
      }
      statements(s->body);
      statements(s->orelse);
    }
  }

  void expression(const py::Expr& e) {
    if (e.kind == py::ExprKind::name && !locals_.contains(e.text) && e.text != "inf")
      wrong.push_back("name " + std::string(e.text));
    if (e.kind == py::ExprKind::attribute) {
      const std::string path = py::dotted_name(e);
      if (path.starts_with("torch.")) return;
      wrong.push_back("attribute " + path);
      return;
    }
    std::size_t first = 0;
    if (e.kind == py::ExprKind::call) {
      callee(*e.items[0]);
      first = 1;
    }
    for (const py::Expr* item : e.items.subspan(first))
      if (item != nullptr) expression(*item);
    for (const py::Keyword& k : e.keywords) expression(*k.value);
  }

  void callee(const py::Expr& f) {
    if (f.kind == py::ExprKind::name) {
      const std::set<std::string_view> questions = {"len",     "is_tensor", "is_none",  "is_int",     "is_number",
                                                    "is_real", "is_string", "is_dtype", "is_sequence"};
      if (!questions.contains(f.text) && op_helper_find(f.text) == nullptr)
        wrong.push_back("function " + std::string(f.text));
      return;
    }
    const std::string path = py::dotted_name(f);
    const std::string root = path.substr(0, path.find('.'));
    if (path.empty() || locals_.contains(root)) {  // a method
      expression(*f.items[0]);
      if (!op_find("." + std::string(f.text))) wrong.push_back("method ." + std::string(f.text));
    } else if (root == "py") {
      if (builtin_find(path.substr(3)) == nullptr) wrong.push_back(path);
    } else if (root == "aten") {
      if (!op_find("torch.ops." + path)) wrong.push_back(path);
    } else if (!op_find(path)) {
      wrong.push_back(path);
    }
  }

  std::set<std::string_view> locals_;
};

TEST(Rows, EveryNameInABodyExists) {
  ASSERT_GT(op_rows().size(), 200U);
  for (const OpRow& row : op_rows()) {
    RowChecker checker;
    checker.function(*row.function);
    for (const std::string& wrong : checker.wrong) ADD_FAILURE() << row.spellings[0] << ": " << wrong;
  }
}

TEST(Rows, SpellingsAreUnique) {
  std::set<std::string> seen;
  for (const OpRow& row : op_rows()) {
    EXPECT_FALSE(row.spellings.empty()) << row.signature();
    EXPECT_TRUE(row.signature().starts_with("(") && row.signature().ends_with(")")) << row.signature();
    for (const std::string& spelling : row.spellings) {
      EXPECT_TRUE(seen.insert(spelling).second) << spelling;
      EXPECT_EQ(op_row_find(spelling), &row) << spelling;
    }
  }
}

TEST(Rows, BuiltinsAreUniqueAndTakeArguments) {
  std::set<std::string_view> seen;
  for (const BuiltinRow& row : kBuiltins) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
    EXPECT_LE(row.min_args, row.max_args) << row.name;
    EXPECT_EQ(builtin_find(row.name), &row);
  }
}

// ---- lowering

std::string lower(const std::string& body) {
  const Graph graph =
      read_model(
          "model.py",
          "import torch\nimport operator\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n" + body)
          .take();
  const auto program = lower_graph(graph);
  return program ? program_text(*program) : error_line(program.error());
}

TEST(Lower, ResultsOfSeveralAreTakenWithoutAStep) {
  EXPECT_EQ(lower("        a, b = torch.max(x, 1)\n        return (b, a)\n"),
            "%1, %2 = aten.max.dim(%0, 1, False)\nreturn (%2, %1)\n");
}

TEST(Lower, EqualArmsNeedNoRegister) {
  EXPECT_EQ(lower("        return torch.nn.functional.relu(x, True)\n"), "%1 = aten.relu_(%0)\nreturn %1\n");
}

TEST(Lower, WhatDoesNothingLeavesNoStep) {
  EXPECT_EQ(lower("        torch._C._set_grad_enabled(False)\n        return x\n"), "return %0\n");
}

}  // namespace
}  // namespace passnet
