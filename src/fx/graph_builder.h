// How builder.cpp walks a function: statements there, expressions in build_values.cpp, calls in build_calls.cpp.
#pragma once

#include <deque>
#include <unordered_map>

#include "fx/builder.h"
#include "fx/traced_objects.h"

namespace passnet {

class GraphBuilder {
 public:
  GraphBuilder(const py::Module& module, const ImportScope& scope, BuildOptions options)
      : module_(&module), scope_(&scope), options_(std::move(options)) {
    graph_.file = module.file();
  }

  Graph run(const FunctionSyntax& function);

 private:
  struct Name {
    Value value;
    std::uint32_t cleared_at = 0;  // the line of `x = None`
  };
  using Names = std::unordered_map<std::string_view, Name>;
  // The variables of one call; those of the function around it are seen too.
  struct Frame {
    Names names;
    Frame* around = nullptr;
  };
  // A function of the pattern's own: a lambda, or a def inside. What its names mean is what they mean around it.
  struct OwnFunction {
    FunctionSyntax syntax;
    Frame* around = nullptr;
    const InlinedFunction* file = nullptr;  // a function of the folder instead
    const py::Module* module = nullptr;
    const ImportScope* scope = nullptr;
    BuildOptions options = {};
  };

  Name* find_name(std::string_view text) const;
  void give(const BuildOptions& options);
  [[noreturn]] void error(Code code, py::Place place, std::string message, std::string note = {}) const;
  [[noreturn]] void not_straight(py::Place place, std::string_view what) const;

  // ---- statements
  void parameters(const FunctionSyntax& function);
  void statement(const py::Stmt& s);
  void give_back(const py::Expr* result, py::Place place);
  void body(const FunctionSyntax& function);
  void body(std::span<const py::Stmt* const> statements);

  // ---- what tracing decides before there is a graph: only patterns have it
  bool in_pattern() const { return options_.evaluate != nullptr; }

  // A condition that no tensor decides; nothing where one does.
  std::optional<bool> decided(const py::Expr& e);
  static std::optional<bool> truth(const Value& v);
  // A name's value, None included, which elsewhere stands for a name that was cleared.
  Value given(const py::Expr& e);
  // A loop over numbers, a list or a dict.
  void loop(const py::Stmt& s);
  void while_loop(const py::Stmt& s);
  // Whether the loop goes on.
  bool turn(const py::Stmt& s);
  void count_turn(py::Place place);
  // What a loop goes through; nothing for a node, which tracing cannot take apart.
  std::optional<std::vector<Value>> items_of(const Value& v);
  void assignment(const py::Stmt& s);
  void clear(const py::Expr& name);
  void assign(const py::Expr& target, const Value& v);
  void unpack(const py::Expr& target, const Value& v);
  void augmented(const py::Stmt& s);

  // ---- expressions
  static bool has_node(const Value& v);
  // What Python computes before the call: of numbers, strings and tuples of them.
  std::optional<Value> evaluated(const py::Expr& e);
  // The variables that are named anywhere in the expression; false where one is, or holds, more than a literal.
  bool known_variables(const py::Expr& e, BuildOptions::Variables& out) const;
  static bool is_literal(const Value& v);
  Value value(const py::Expr& e);
  // Lists of lists double without end, in few lines: what is made of names has a size, of all lines together too.
  void check_size(const Value& v, py::Place place);
  // The same of what Python would make, before it is made.
  void check_joined(py::Op op, const Value& left, const Value& right, py::Place place);
  std::size_t count_values(const Value& v, py::Place place) const;
  std::size_t most_values() const;
  [[noreturn]] void too_long(py::Place place) const;
  Value value_of(const py::Expr& e);
  Value logic(const py::Expr& e);
  Value dict(const py::Expr& e);
  Value comprehension(const py::Expr& e);
  void comprehend(const py::Expr& e, std::size_t clause, std::vector<Value>& out);

  // ---- functions as values: constants that no path is spelled like
  Value own_function(const FunctionSyntax& syntax);
  Value own_function(const InlinedFunction& file);
  const OwnFunction* own_function(const Value& v) const;
  bool has_function(const Value& v) const;
  // A node holds plain values.
  void seal(Node& node, py::Place place);
  Value sequence(ValueKind kind, const py::Expr& e);
  // An item or an argument; a starred one stands for the items of a list that is written out.
  void add_item(const py::Expr& e, std::string_view what, std::string_view remedy, std::vector<Value>& out);
  Value name(const py::Expr& e);
  // A dotted path that is not called: a dtype, a layout, a number of math or torch.
  Value constant(const py::Expr& e, const std::string& path) const;
  Value attribute(const py::Expr& e);
  // Whether the root of a dotted expression is a variable of the graph (which hides an import of that name).
  bool is_local(const py::Expr& e) const;
  Value unary(const py::Expr& e);
  Value binary(py::Op op, const py::Expr& e);
  // What Python computes: numbers, and lists, whatever their items are.
  std::optional<Value> folded(py::Op op, const Value& left, const Value& right, py::Place place);
  Value written_call(const py::Expr& e);
  // FUNCTIONS[0](x), f(x) of a variable: what is called is a value.
  bool is_called_value(const py::Expr& callee) const;
  void arguments(const py::Expr& e, std::vector<Value>& args, std::vector<Kwarg>& kwargs);
  void add_keywords(const py::Keyword& k, std::vector<Kwarg>& kwargs);

  // ---- Python's own functions and methods, on lists and dicts
  std::optional<Value> python_call(std::string_view name, const py::Expr& e);
  Value range(const std::vector<Value>& args, py::Place place);
  Value call_value(const Value& callee, std::vector<Value> args, const py::Expr& e);
  std::optional<Value> method_call(const Value& object, std::string_view name, const py::Expr& e);
  Value inlined_call(const OwnFunction& called, const py::Expr& e);
  Value inlined_call(const OwnFunction& called, const std::vector<Value>& args, const std::vector<Kwarg>& kwargs,
                     const py::Expr& e);
  // The parameters of an inlined function become names; what is wrong with the call, or "".
  std::string bind(const FunctionSyntax& function, const std::vector<Value>& args, const std::vector<Kwarg>& kwargs);
  // slice(...), float('inf'), device(...): calls that spell a literal.
  std::optional<Value> literal_call(const std::string& path, const py::Expr& e, const std::vector<Value>& args,
                                    const std::vector<Kwarg>& kwargs) const;
  Value device(const py::Expr& e, std::vector<Value> args, const std::vector<Kwarg>& kwargs) const;

  // ---- nodes
  NodeId add(Node node, py::Place place);
  NodeId call(std::string target, py::Place place, std::vector<Value> args, std::vector<Kwarg> kwargs = {},
              NodeKind kind = NodeKind::call_function);
  // A node that no variable named is called after its target, as torch.fx does: add, add_1, add_2.
  void name_the_rest();

  const py::Module* module_;
  const ImportScope* scope_;
  BuildOptions options_;
  Graph graph_;
  std::deque<Frame> frames_ = std::deque<Frame>(1);  // of every call: a function may outlive the one it was made in
  Frame* frame_ = &frames_.front();
  std::deque<OwnFunction> functions_;
  TracedObjects objects_;
  std::unordered_map<NodeId, std::string_view> in_place_names_;
  bool done_ = false;
  enum class Left : std::uint8_t { nothing, turn, loop } left_ = Left::nothing;  // by continue, by break
  std::size_t turns_ = 0;                                                        // of loops
  std::size_t values_ = 0;                                                       // in lists of a graph, of all lines
  int depth_ = 0;                                                                // of inlined functions
  py::Place inlined_at_;
  Value returned_;  // by the innermost of them
};

}  // namespace passnet
