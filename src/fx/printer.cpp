#include "fx/printer.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace passnet {

namespace {

struct Infix {
  std::string_view target;
  std::string_view symbol;
};
constexpr Infix kBinary[] = {
    {"operator.add", "+"},       {"operator.sub", "-"}, {"operator.mul", "*"},  {"operator.truediv", "/"},
    {"operator.floordiv", "//"}, {"operator.mod", "%"}, {"operator.pow", "**"}, {"operator.matmul", "@"},
    {"operator.and_", "&"},      {"operator.or_", "|"}, {"operator.xor", "^"},  {"operator.lshift", "<<"},
    {"operator.rshift", ">>"},   {"operator.lt", "<"},  {"operator.le", "<="},  {"operator.gt", ">"},
    {"operator.ge", ">="},       {"operator.eq", "=="}, {"operator.ne", "!="},
};
constexpr Infix kUnary[] = {{"operator.neg", "-"}, {"operator.invert", "~"}, {"operator.pos", "+"}};
constexpr Infix kInPlace[] = {
    {"operator.iadd", "+="},       {"operator.isub", "-="}, {"operator.imul", "*="},  {"operator.itruediv", "/="},
    {"operator.ifloordiv", "//="}, {"operator.imod", "%="}, {"operator.ipow", "**="}, {"operator.imatmul", "@="},
    {"operator.iand", "&="},       {"operator.ior", "|="},  {"operator.ixor", "^="},  {"operator.ilshift", "<<="},
    {"operator.irshift", ">>="},
};

template <std::size_t N>
std::string_view find(const Infix (&rows)[N], std::string_view target) {
  for (const Infix& row : rows)
    if (row.target == target) return row.symbol;
  return {};
}

// What the printed text itself says by these names: a variable of such a name is printed as name_1.
constexpr const char* kReserved[] = {
    "self",     "torch",  "operator", "math", "device", "inf",      "nan",     "slice", "getattr", "Ellipsis",  // ours
    "len",      "int",    "float",    "bool", "max",    "min",      "abs",     "sum",  // builtins
    "False",    "None",   "True",     "and",  "as",     "assert",   "async",   "await", "break",   "class",
    "continue", "def",    "del",      "elif", "else",   "except",   "finally", "for",   "from",    "global",
    "if",       "import", "in",       "is",   "lambda", "nonlocal", "not",     "or",    "pass",    "raise",
    "return",   "try",    "while",    "with", "yield",
};

class ModelPrinter {
 public:
  ModelPrinter(const Graph& graph, PrintStyle style)
      : graph_(graph), raw_(style == PrintStyle::raw), last_use_(graph_last_uses(graph)) {}

  PrintedFunction function(const std::string& name) {
    clears_ = false;
    choose_names();
    std::string body, parameters;
    const std::size_t inputs = graph_.placeholder_count();
    for (auto id = static_cast<NodeId>(inputs); id < static_cast<NodeId>(graph_.nodes.size()); ++id) line(id, body);
    for (std::size_t i = 0; i < inputs; ++i) parameters += (i > 0 ? ", " : "") + variables_[i];
    std::string text = "def " + name + "(" + parameters + "):\n";
    for (std::size_t at = 0; at < body.size();) {  // a model's lines are four columns deeper
      const std::size_t end = std::min(body.find('\n', at), body.size());
      text += body.substr(at + 4, end - at - 4) + "\n";
      at = end + 1;
    }
    return {imports(), std::move(text)};
  }

  std::string run() {
    choose_names();
    std::string body;
    for (NodeId id = static_cast<NodeId>(graph_.placeholder_count()); id < static_cast<NodeId>(graph_.nodes.size());
         ++id)
      line(id, body);
    const std::string module =
        raw_ ? "class GraphModule(torch.nn.Module):\n    \n    \n    \n" : "class GraphModule(torch.nn.Module):\n\n";
    std::string out = "import torch\n" + imports() + "\n" + module + "    def forward(self";
    for (std::size_t i = 0, inputs = graph_.placeholder_count(); i < inputs; ++i) {
      const Node& node = graph_.nodes[i];
      out += ", " + variables_[i];
      if (raw_) out += " : " + (node.target.empty() ? std::string("torch.Tensor") : node.target);
    }
    return out + "):\n" + body + (raw_ ? "\n        " : "");
  }

 private:
  // A variable for every node: its name, or name_1, name_2 where an earlier node or the printed text itself has that
  // name. An in-place result may keep the name of what it changed.
  void choose_names() {
    std::unordered_set<std::string> taken(std::begin(kReserved), std::end(kReserved));
    for (const Node& node : graph_.nodes)
      if (node.kind == NodeKind::call_function) taken.insert(root_of(node.target));
    std::unordered_map<std::string, int> counts;  // so that many equal names stay linear
    variables_.resize(graph_.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.nodes[id];
      if (augments(id) && variables_[node.args[0].node] == node.name) {
        variables_[id] = node.name;
        continue;
      }
      std::string name = node.name;
      while (!taken.insert(name).second) name = fmt::format("{}_{}", node.name, ++counts[node.name]);
      variables_[id] = std::move(name);
    }
  }

  // `x += y` can be written so: x is a variable and nobody uses the old node later.
  bool augments(NodeId id) const {
    const Node& node = graph_.nodes[id];
    return node_is_in_place(node) && node.args.size() == 2 && node.args[0].is_node() &&
           last_use_[node.args[0].node] == id && node.kwargs.empty();
  }

  std::string text(const Value& value) {
    if (value.kind == ValueKind::device) device_ = true;
    if (value.kind == ValueKind::constant) uses(value.text);
    if (value.kind == ValueKind::real && (value.real > 1.7976931348623157e308 || value.real < -1.7976931348623157e308))
      inf_ = true;
    if (value.kind == ValueKind::real && value.real != value.real) nan_ = true;
    for (const Value& item : value.items) text(item);  // only for the imports
    return value_text(value, [&](NodeId id) { return variables_[id]; });
  }

  std::string imports() const {
    std::string out;
    if (device_) out += "from torch import device\n";
    if (inf_) out += "from torch import inf\n";
    if (nan_) out += "from torch import nan\n";
    for (const std::string& module : modules_) out += "import " + module + "\n";
    return out;
  }

  static std::string root_of(const std::string& path) { return path.substr(0, path.find('.')); }
  // Notes the module that a dotted path needs.
  void uses(const std::string& path) {
    if (path.find('.') != std::string::npos && !path.starts_with("torch.") && !path.starts_with("builtins."))
      modules_.insert(root_of(path));
  }

  void line(NodeId id, std::string& out) {
    const Node& node = graph_.nodes[id];
    if (node.kind == NodeKind::output) {
      out += "        return " + text(node.args[0]);
      return;
    }
    std::vector<std::string> statements;
    const std::string& variable = variables_[id];
    if (augments(id)) {
      const std::string& changed = variables_[node.args[0].node];
      statements.push_back(fmt::format("{} {} {}", changed, find(kInPlace, node.target), text(node.args[1])));
      if (changed != variable) statements.push_back(fmt::format("{} = {}", variable, changed));
    } else if (node_is_effect(node) && node.args.size() == 3 && node.kwargs.empty() && node.args[0].is_node()) {
      statements.push_back(fmt::format("{}[{}] = {}", text(node.args[0]), index(node.args[1]), text(node.args[2])));
      if (raw_) statements.push_back(fmt::format("{} = {}", variable, text(node.args[0])));
    } else {
      statements.push_back(fmt::format("{} = {}", variable, expression(node)));
    }
    if (clears_)
      if (const std::string clears = dead_names(id); !clears.empty()) statements.push_back(clears);
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (!raw_)
        out += "        " + statements[i] + "\n";
      else
        out += (i == 0 ? "        " : ";  ") + statements[i];
    }
    if (raw_) out += "\n";
  }

  // `a = b = None` for what is used here for the last time, in the order of use; the node itself where nobody uses it.
  std::string dead_names(NodeId id) const {
    std::string out;
    std::unordered_set<NodeId> seen;
    const bool placeholders = raw_;
    const auto clear = [&](NodeId used) {
      if (last_use_[used] != id || !seen.insert(used).second) return;
      if (!placeholders && graph_.nodes[used].kind == NodeKind::placeholder) return;
      if (augments(id) && used == graph_.nodes[id].args[0].node && variables_[used] == variables_[id]) return;
      out += variables_[used] + " = ";
    };
    node_inputs(graph_.nodes[id], clear);
    if (raw_ || !node_is_effect(graph_.nodes[id])) clear(id);
    return out.empty() ? out : out + "None";
  }

  std::string index(const Value& value) {
    const std::string all = text(value);
    if (!raw_ && value.kind == ValueKind::tuple && !value.items.empty()) return all.substr(1, all.size() - 2);
    return all;
  }

  // An operand of an operator or a method's object: a negative number needs brackets.
  std::string operand(const Value& value) {
    const std::string out = text(value);
    return value.is_number() && out.starts_with('-') ? "(" + out + ")" : out;
  }

  std::string expression(const Node& node) {
    const std::vector<Value>& args = node.args;
    if (node.kind == NodeKind::call_function && node.kwargs.empty()) {
      if (args.size() == 2) {
        if (const auto symbol = find(kBinary, node.target); !symbol.empty()) {
          const std::string left = symbol == "**" || !args[0].is_number() ? operand(args[0]) : text(args[0]);
          return fmt::format("{} {} {}", left, symbol, text(args[1]));
        }
        if (node.target == "operator.getitem" && args[0].is_node())
          return fmt::format("{}[{}]", text(args[0]), index(args[1]));
        if (node.target == "getattr" && args[0].is_node() && args[1].kind == ValueKind::string)
          return fmt::format("{}.{}", text(args[0]), args[1].text);
      }
      if (args.size() == 1)
        if (const auto symbol = find(kUnary, node.target); !symbol.empty() && args[0].is_node())
          return fmt::format("{}{}", symbol, text(args[0]));
    }
    std::size_t first = 0;
    std::string out;
    if (node.kind == NodeKind::call_method) {
      const bool plain = args[0].is_node();
      out = fmt::format("{}{}{}.{}(", plain ? "" : "(", text(args[0]), plain ? "" : ")", node.target);
      first = 1;
    } else {
      out = callee(node.target) + "(";
    }
    const char* comma = "";
    for (std::size_t i = first; i < args.size(); ++i) out += std::exchange(comma, ", ") + text(args[i]);
    for (const Kwarg& k : node.kwargs)
      out += std::exchange(comma, ", ") + k.name + (raw_ ? " = " : "=") + text(k.value);
    return out + ")";
  }

  std::string callee(const std::string& target) {
    if (target.starts_with("builtins.")) return target.substr(9);
    uses(target);
    return target;
  }

  const Graph& graph_;
  bool raw_;
  std::vector<NodeId> last_use_;
  std::vector<std::string> variables_;
  bool device_ = false, inf_ = false, nan_ = false, clears_ = true;
  std::set<std::string> modules_;
};

}  // namespace

std::string print_model(const Graph& graph, PrintStyle style) { return ModelPrinter(graph, style).run(); }

PrintedFunction print_function(const Graph& graph, const std::string& name) {
  return ModelPrinter(graph, PrintStyle::plain).function(name);
}

}  // namespace passnet
