// The machine behind host.h: one evaluation. Split over run.cpp (statements), blocks.cpp (those that hold
// others), function.cpp (functions, names of modules), eval.cpp (expressions), compare.cpp (equality,
// order, text), calls.cpp (what is called), iterators.cpp, generators.cpp (and comprehensions),
// builtins.cpp (Python's functions), math.cpp (math), library.cpp (triton, functools and their like),
// itertools.cpp, json.cpp, collections.cpp (collections, operator), torch.cpp (torch), attributes.cpp
// (what follows a dot), containers.cpp, ranges.cpp (and views of dicts) and strings.cpp (methods),
// classes.cpp (classes), enums.cpp, exceptions.cpp, contexts.cpp (with), tensor.cpp and view.cpp
// (allocations, views) and launch.cpp (kernels).
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "host/frame.h"
#include "host/host.h"
#include "py/arithmetic.h"

namespace passnet {

using HostArgs = std::vector<HostValue>;
using HostKwargs = std::vector<std::pair<std::string, HostValue>>;

// A call by name, of a function or of a method.
struct HostCall {
  std::string_view name;
  HostArgs& args;
  HostKwargs& kwargs;
  py::Place place;

  bool has(std::size_t i) const { return i < args.size() && !args[i].is(HostValue::Kind::none); }
};

// The row of that name, or null.
template <class Run>
Run find_row(const std::unordered_map<std::string_view, Run>& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

// Where `part` first stands at or behind `from`, or npos; in time proportional to both.
std::size_t text_find(std::string_view text, std::string_view part, std::size_t from = 0);
// Python's characters of a text in UTF-8, and how many they are.
std::vector<std::string> text_letters(std::string_view text);
std::size_t text_length(std::string_view text);
// Stable, and safe whatever `less` says: the candidate's __lt__ need not be an order.
template <class T, class Less>
void merge_sort(std::vector<T>& items, const Less& less) {
  std::vector<T> from;
  for (std::size_t run = 1; run < items.size(); run *= 2) {
    from = std::exchange(items, {});
    for (std::size_t begin = 0; begin < from.size(); begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, from.size()), end = std::min(middle + run, from.size());
      std::size_t a = begin, b = middle;
      while (a < middle || b < end)
        items.push_back(std::move(b == end || (a < middle && !less(from[b], from[a])) ? from[a++] : from[b++]));
    }
  }
}
inline constexpr std::string_view kAutoValue = "enum.auto()";  // a path: what an enumeration's body makes a number
inline constexpr std::string_view kCounter = "Counter", kDeque = "deque";  // HostItems::type
inline constexpr std::size_t kMostItems = 200'000;  // of what is made at once: a range, a list of an iterator
inline constexpr int kDeepestStack = 800;           // of the machine's own calls
// A wrapper sees one large GPU, whatever the run's device is: a plan depends on shapes, dtypes and numbers only.
inline constexpr std::int64_t kMultiprocessors = 132;

// A variable that has another value while this lives.
template <class T>
class Within {
 public:
  Within(T& variable, T value) : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
  ~Within() { variable_ = std::move(before_); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  T& variable_;
  T before_;
};

// The argument of that name, or null.
const HostValue* keyword(const HostKwargs& kwargs, std::string_view name);
HostValue class_value(std::shared_ptr<HostClass> klass);
HostValue empty_object(std::shared_ptr<HostClass> klass);
const std::shared_ptr<HostItems>& attributes_of(const HostValue& object);
HostValue* find_attribute(const HostValue& object, std::string_view name);  // its own; null: it has none
void add_attribute(HostValue& object, std::string_view name, HostValue value);
// The kind of class that a base outside makes one.
struct ForeignBase {
  std::string_view path;
  HostClass::Form form;
  bool is_value = false;
  HostClass::Auto auto_value = HostClass::Auto::next;
};
ForeignBase known_base(std::string_view path);
// How triton calls a type by its path: "fp32" for triton.language.float32; "" for any other path.
std::string language_type_name(std::string_view path);
bool can_call(const HostValue& v);
bool is_exit_stack(const HostValue& v);
bool is_memoising(std::string_view decorator);  // functools.lru_cache and its like
HostValue memoised(const HostValue& function);  // as it is under one of them

class HostMachine {
 public:
  HostMachine(const PassModule& module, HostLimits limits) : root_(module), limits_(limits) {}
  // A scope and the functions made in it hold one another, as do a class and the objects that it keeps.
  ~HostMachine() {
    for (const auto& captured : captured_)
      if (const auto scope = captured.lock()) scope->clear();
    for (const auto& held : circles_)
      if (const auto items = held.lock()) {
        items->values.clear();
        if (items->source) items->source->frame = nullptr;
      }
    for (const auto& made : made_classes_) made->attributes.items->values.clear();
  }
  HostMachine(const HostMachine&) = delete;
  HostMachine& operator=(const HostMachine&) = delete;

  HostValue call(const HostValue& callee, HostArgs args, HostKwargs kwargs, py::Place place);
  // Where a callable comes from. `held_by`: its def, where that is all there is to it, or the module-level name that
  // holds it; null for what is made anew by whoever gave it, and for what cannot be called.
  struct Definition {
    const PassModule* module = nullptr;
    std::string name;
    py::Place place;
    const void* held_by = nullptr;
  };
  Definition definition(const HostValue& callable, const PassModule& otherwise) const;
  HostValue module_value(const PassModule& module, std::string_view name, py::Place place);
  HostValue settled(HostValue v);  // one that outlives this machine
  // An expression of the module level, evaluated once.
  HostValue module_constant(const PassModule& owner, const py::Expr& value, std::string_view name, py::Place place);
  HostValue evaluate(const PassModule& module, const py::Expr& expr,
                     std::vector<std::pair<std::string_view, HostValue>> variables);
  bool holds(const PassModule& module, const py::Expr& condition) {
    return truth(evaluate(module, condition, {}), condition.place);
  }
  BufferId add_input(TensorDesc desc, std::size_t index);
  LaunchPlan take_plan() { return std::move(plan_); }
  void set_device(DeviceType device) { device_ = device; }
  // A result's buffers and scalars.
  PlanOutput output_of(const HostValue& value, py::Place place) {
    std::size_t leaves = 0;
    return output_of(value, place, 0, leaves);
  }

  // Turns a HostRaise into the error a user sees.
  static Error error_of(const HostRaise& raise);

 private:
  using Flow = HostFlow;
  using Frame = HostFrame;

  PlanOutput output_of(const HostValue& value, py::Place place, int depth, std::size_t& leaves);

  // ---- errors
  [[noreturn]] void raise(std::string type, std::string message, py::Place place) const;
  [[noreturn]] void refuse(Code code, std::string message, py::Place place, std::string note = {}) const;
  void step(py::Place place);
  void spend(std::size_t amount, py::Place place) {  // of work on so many items
    steps_ += static_cast<std::int64_t>(amount);
    step(place);
  }
  // Where an exception that is caught goes back to.
  struct Checkpoint {
    int depth, nesting, trying;
    const PassModule* current;
    std::size_t evaluating;
  };
  Checkpoint checkpoint() const { return {depth_, nesting_, trying_, current_, evaluating_.size()}; }
  void recover(const Checkpoint& to);

  // ---- statements (run.cpp)
  Flow run(const py::Stmt& s, Frame& frame);
  bool fits(const py::Expr& pattern, const HostValue& subject, Frame& frame);
  bool fits_items(const py::Expr& pattern, const HostValue& subject, Frame& frame);
  void run_augmented(const py::Stmt& s, Frame& frame);
  void run_import(const py::Stmt& s, Frame& frame);

  // ---- statements that hold others (blocks.cpp)
  Flow run(std::span<const py::Stmt* const> body, Frame& frame);
  Flow drive(Frame& frame);             // its blocks, to their end or to a yield
  Flow leave(Frame& frame, Flow flow);  // the innermost of them, which ended so
  Flow leave_loop(Frame& frame, Flow flow);
  Flow leave_try(Frame& frame, Flow flow);
  Flow handle(Frame& frame);
  static Flow finish(Frame& frame, Flow flow);
  Flow leave_delegate(Frame& frame, Flow flow);
  Flow yield(const py::Stmt& s, Frame& frame);
  void bind_value(const py::Stmt& s, const HostValue& value, Frame& frame);  // to the targets of an assignment
  void begin_for(const py::Stmt& s, Frame& frame);
  void begin_match(const py::Stmt& s, Frame& frame);

  // ---- with statements (contexts.cpp)
  void begin_with(const py::Stmt& s, Frame& frame);
  HostValue enter_context(const HostValue& context, py::Place place);
  // Whether it takes the exception that ends its statements, if one does.
  bool leave_context(const HostValue& context, const HostRaise* raised, py::Place place);
  bool unwind(HostItems& left, const HostRaise* raised, py::Place place);  // what an ExitStack has still to leave
  bool leave_generator(const HostValue& context, const HostRaise* raised, py::Place place);

  // ---- iterators (iterators.cpp)
  struct Iterators;
  HostValue iterator_of(const HostValue& v, py::Place place);  // iter(v)
  bool is_iterator(const HostValue& v) const;
  // The next value of an iterator; nothing: it has ended.
  std::optional<HostValue> advance(const HostValue& iterator, py::Place place);
  std::optional<HostValue> advance_object(const HostValue& iterator, py::Place place);
  std::vector<HostValue> iterate(const HostValue& v, py::Place place);  // all values of something at once
  // Of what may be an iterator, no more than are asked for.
  std::vector<HostValue> iterate_some(const HostValue& v, std::size_t most, py::Place place);
  HostValue make_iterator(std::string_view type, HostSource::Next next, std::vector<HostValue> values,
                          std::int64_t at = 0) const;
  HostValue make_python_iterator(const HostCall& call);  // enumerate, filter, iter, map, reversed, zip
  HostValue reversed(const HostValue& v, py::Place place);
  void check_kept(const HostItems& iterator, const HostValue& v, py::Place place);  // by one of the module

  // for (HostValue& v : each(x, place)): one after the other, as Python asks for them.
  class Each {
   public:
    struct End {};
    class At {
     public:
      explicit At(Each& each) : each_(&each) { ++*this; }
      HostValue& operator*() const { return *each_->item_; }
      At& operator++() {
        each_->item_ = each_->machine_.advance(each_->iterator_, each_->place_);
        return *this;
      }
      bool operator!=(End) const { return each_->item_.has_value(); }

     private:
      Each* each_;
    };
    Each(HostMachine& machine, HostValue iterator, py::Place place)
        : machine_(machine), iterator_(std::move(iterator)), place_(place) {}
    At begin() { return At(*this); }
    End end() const { return {}; }

   private:
    HostMachine& machine_;
    HostValue iterator_;
    py::Place place_;
    std::optional<HostValue> item_;
  };
  Each each(const HostValue& v, py::Place place) { return {*this, iterator_of(v, place), place}; }

  // ---- generators, comprehensions (generators.cpp)
  HostValue make_generator(Frame frame, HostSource::Next next, std::vector<HostValue> values);
  std::optional<HostValue> resume(HostItems& generator, py::Place place, std::shared_ptr<const HostRaise> raised = {});
  static HostValue returned_value(const HostValue& generator);
  [[noreturn]] void raise_stop(const HostValue& generator, py::Place place);
  std::optional<HostValue> throw_into(const HostValue& generator, const HostRaise& raised, py::Place place);
  void close_generator(const HostValue& generator, py::Place place);
  void close_abandoned();
  std::optional<HostValue> iterator_method(const HostValue& object, std::string_view name, const HostArgs& args,
                                           py::Place place);
  HostValue eval_comprehension(const py::Expr& e, Frame& frame);
  // Goes on to the next items of the clauses that all conditions let pass; false: there are none.
  bool comprehend(const py::Expr& e, std::vector<HostValue>& iterators, Frame& frame);

  // ---- exceptions (exceptions.cpp)
  [[noreturn]] void run_raise(const py::Stmt& s, Frame& frame);
  [[noreturn]] void raise_value(const HostValue& exception, py::Place place);
  std::shared_ptr<HostClass> exception_class(std::string_view name);
  std::shared_ptr<HostClass> exception_type(const HostValue& v);  // null: no class of exceptions
  HostValue make_exception(std::shared_ptr<HostClass> klass, HostArgs args) const;
  HostValue exception_of(const HostRaise& raised);
  bool catches(const HostValue& types, const HostRaise& raised);
  std::string exception_text(const HostValue& exception, bool repr, py::Place place);

  void run_delete(const py::Stmt& s, Frame& frame);
  void assign(const py::Expr& target, HostValue value, Frame& frame);
  void check_name(std::string_view kind, std::string_view name, const HostValue& value, py::Place place);
  void unpack(const py::Expr& target, const HostValue& value, Frame& frame);
  void define(const py::Stmt& statement, Frame& frame);

  // ---- functions, names of modules (function.cpp)
  HostValue call_function(const HostFunction& function, HostArgs args, HostKwargs kwargs, py::Place place);
  HostValue make_function(const py::Stmt* statement, const py::Expr* lambda, Frame& frame);
  HostValue default_value(const HostFunction& function, std::size_t parameter, const py::Parameter& p);
  void bind_parameters(const HostFunction& function, HostArgs args, HostKwargs kwargs, Frame& frame, py::Place place);
  HostScope* module_scope(const PassModule& module);
  const Binding* holder(const HostValue& value) const;
  bool at_module_level(const Frame& frame) const;
  HostValue define_again(const PassModule& module, const py::Stmt& statement);
  static HostValue kernel_value(const PassModule& owner, const py::Stmt& statement);
  HostValue decorated(HostValue function, const py::Stmt& statement, Frame& frame);
  void check_memoised(const HostFunction& function, Frame& frame, const HostValue& result);

  // ---- expressions (eval.cpp)
  HostValue* find_local(std::string_view name, Frame& frame);
  HostValue eval(const py::Expr& e, Frame& frame);
  HostValue eval_one(const py::Expr& e, Frame& frame);
  HostValue eval_name(const py::Expr& e, Frame& frame);
  HostValue eval_call(const py::Expr& e, Frame& frame);
  void eval_arguments(const py::Expr& call, Frame& frame, HostArgs& args, HostKwargs& kwargs);
  HostValue eval_compare(const py::Expr& e, Frame& frame);
  HostValue eval_subscript(const py::Expr& e, Frame& frame);
  HostValue eval_attribute(const HostValue& object, std::string_view name, py::Place place);
  std::string eval_fstring(const py::Expr& e, Frame& frame);
  HostValue binary(py::Op op, const HostValue& a, const HostValue& b, py::Place place);
  HostValue unary(py::Op op, const HostValue& v, py::Place place);
  HostValue plain_binary(py::Op op, const HostValue& a, const HostValue& b, py::Place place);
  HostValue arithmetic(py::Op op, const HostValue& a, const HostValue& b, py::Place place);  // of numbers
  HostValue plain_unary(py::Op op, const HostValue& v, py::Place place);
  HostValue get_item(const HostValue& object, const HostValue& index, py::Place place);
  void set_item(HostValue& object, const HostValue& index, HostValue value, py::Place place);
  HostValue get_slice(const HostValue& object, const HostValue& slice, py::Place place);
  struct SliceBounds {
    std::int64_t begin, end, by;
  };
  SliceBounds slice_bounds(const HostValue& slice, std::int64_t size, py::Place place);
  // Which of `size` items a slice names, in its order.
  std::vector<std::size_t> slice_places(const HostValue& slice, std::size_t size, py::Place place);
  void set_slice(const HostValue& list, const HostValue& slice, const HostValue& value, py::Place place);
  void delete_item(const HostValue& object, const HostValue& index, py::Place place);
  // What may be stored where: no tensors in what outlives a call, nothing in itself, nothing too long.
  void check_write(const HostItems& items, const HostValue& value, py::Place place);

  // ---- ranges, views of dicts (ranges.cpp)
  HostValue make_range(const HostArgs& args, py::Place place);
  static std::optional<Integer> find_in_range(const HostValue& range, const HostValue& v);
  HostValue range_slice(const HostValue& range, const HostValue& slice, py::Place place);
  static bool equal_ranges(const HostValue& a, const HostValue& b);
  static std::string range_text(const HostValue& range);
  std::optional<HostValue> range_method(const HostValue& range, std::string_view name, const HostArgs& args,
                                        py::Place place);
  static HostValue make_view(const HostValue& dict, std::string_view name);
  static HostValue viewed(const HostValue& view, std::size_t at);  // what it shows of the entry there
  bool in_view(const HostValue& view, const HostValue& item, py::Place place);
  HostValue as_set(const HostValue& v, py::Place place);
  std::optional<HostValue> view_of_dict_method(const HostValue& view, std::string_view name, HostArgs& args,
                                               py::Place place);

  // ---- equality, order, text (compare.cpp); walks count as steps, so a tangle of lists ends too
  bool truth(const HostValue& v, py::Place place);
  // The candidate's own methods (__eq__, __lt__, __str__) run in these, and may change whatever they reach. So the
  // values given are the caller's own, and items are looked at one by one, if they are still there.
  bool equal(const HostValue& a, const HostValue& b, py::Place place, int depth = 0);
  bool equal_items(const HostValue& a, const HostValue& b, py::Place place, int depth);
  // Where a value is among items, each `stride`-th of them; how many there are, if it is not.
  std::size_t find_item(const HostItems& items, const HostValue& wanted, py::Place place, std::size_t stride = 1,
                        int depth = 0);
  bool same(const HostValue& a, const HostValue& b, py::Place place);
  bool contains(const HostValue& container, const HostValue& item, py::Place place);
  bool compare(py::Op op, const HostValue& a, const HostValue& b, py::Place place);
  std::string text(const HostValue& v, bool repr, py::Place place, int depth = 0);
  std::string collection_text(const HostValue& v, py::Place place, int depth);
  void check_depth(int depth, py::Place place) const;
  void check_length(const std::string& text, py::Place place) const;
  // Whether a tensor, or what may hold one unseen, is anywhere inside, also in what functions there see.
  bool holds_state(const HostValue& v, py::Place place, int depth = 0);
  bool reaches(const HostValue& v, const HostItems& items, py::Place place, int depth = 0);
  void mark_module_level(const HostValue& v, py::Place place, int depth = 0);
  void mark_module_level(HostScope* scope, py::Place place, int depth);
  void add_unique(HostItems& items, HostValue value, py::Place place);

  // ---- calls (calls.cpp)
  void bind_arguments(std::string_view path, HostArgs& args, HostKwargs& kwargs, py::Place place);
  // What the second argument and the third say of a sequence: where it begins, perhaps behind its end, and ends.
  std::pair<std::size_t, std::size_t> bounds(const HostArgs& args, std::size_t size, py::Place place);
  HostValue call_path(const std::string& path, HostArgs args, HostKwargs kwargs, py::Place place);
  struct Builtins;  // Python's own functions (builtins.cpp)
  std::optional<HostValue> call_python(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place);
  HostValue call_int(const HostArgs& args, py::Place place);
  bool has_attribute(const HostValue& v, const std::string& name, py::Place place);
  bool is_python_name(std::string_view name);  // len, ValueError, ...
  void sort(std::vector<HostValue>& items, const HostKwargs& kwargs, py::Place place);
  struct Itertools;  // itertools.cpp
  std::optional<HostValue> call_itertools(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place);
  // Of collections, itertools and operator (collections.cpp).
  std::optional<HostValue> call_versions(std::string_view path, const HostArgs& args, py::Place place);
  struct JsonText;  // json.cpp
  std::optional<HostValue> call_json(std::string_view path, HostArgs& args, HostKwargs& kwargs, py::Place place);
  std::optional<HostValue> call_collections(std::string_view path, HostArgs& args, HostKwargs& kwargs, py::Place place);
  std::optional<HostValue> call_operator(std::string_view name, const HostArgs& args, py::Place place);
  std::optional<HostValue> counter_method(const HostValue& object, std::string_view name, const HostArgs& args,
                                          const HostKwargs& kwargs, py::Place place);
  HostValue combined(py::Op op, const HostValue& a, const HostValue& b, py::Place place);  // two Counters
  HostValue copied(const HostValue& v, bool deep, py::Place place, int depth = 0);
  void count_items(HostValue& counter, const HostValue& of, std::int64_t by, py::Place place);
  struct Math;  // math.cpp
  std::optional<HostValue> call_math(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place);
  struct Library;  // triton, functools and their like (library.cpp)
  std::optional<HostValue> call_library(std::string_view path, HostArgs& args, HostKwargs& kwargs, py::Place place);
  HostValue compiled_kernel() const;
  struct Torch;  // torch.cpp
  std::optional<HostValue> call_torch(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place);
  HostValue call_method(const HostValue& object, const std::string& name, HostArgs args, HostKwargs kwargs,
                        py::Place place);
  std::optional<HostValue> number_method(const HostValue& object, std::string_view name, py::Place place);
  std::optional<HostValue> sequence_method(const HostValue& object, std::string_view name, HostArgs& args,
                                           HostKwargs& kwargs, py::Place place);
  std::optional<HostValue> set_method(const HostValue& object, std::string_view name, HostArgs& args, py::Place place);
  std::optional<HostValue> container_operator(const HostValue& object, std::string_view name, const HostArgs& args,
                                              py::Place place);
  std::optional<HostValue> dict_method(const HostValue& object, std::string_view name, HostArgs& args,
                                       HostKwargs& kwargs, py::Place place);
  struct Strings;  // methods of strings (strings.cpp)
  std::optional<HostValue> string_method(const HostValue& object, std::string_view name, HostArgs& args,
                                         HostKwargs& kwargs, py::Place place);
  const std::string& string_of(const HostValue& v, py::Place place) const;
  // The function of Python, torch or triton that is being called, and what it was given: for messages.
  struct Calling {
    std::string_view path;
    const HostArgs* args = nullptr;
    const HostKwargs* kwargs = nullptr;
  };
  [[noreturn]] void wrong_kind(std::string_view needed, const HostValue& v, py::Place place) const;
  HostValue of_result(const py::WholeResult& result, py::Place place);
  [[noreturn]] void too_large(py::Place place) const;
  const Integer& exact_integer(const HostValue& v, py::Place place) const;
  std::int64_t integer(const HostValue& v, py::Place place) const;  // one of 64 bits, as libraries take them
  double real(const HostValue& v, py::Place place) const;
  bool is_instance(const HostValue& v, const HostValue& type, py::Place place);
  bool is_subclass(const HostValue& klass, const HostValue& type, py::Place place);
  std::string formatted(const HostValue& v, std::string_view spec, py::Place place);
  HostValue format_field(std::string_view field, const HostArgs& args, const HostKwargs& kwargs, std::size_t& next,
                         py::Place place);
  std::string format_call(std::string_view text, const HostArgs& args, const HostKwargs& kwargs, std::size_t& next,
                          py::Place place);
  std::string format_percent(const std::string& text, const HostValue& values, py::Place place);

  // ---- classes (classes.cpp)
  HostValue make_class(const PassModule& module, const py::Stmt& statement, py::Place place);
  std::shared_ptr<HostClass> build_class(const PassModule& module, const py::Stmt& statement, py::Place place);
  std::shared_ptr<HostClass> new_class(std::string name);
  void define_class(const py::Stmt& statement, Frame& frame);
  void define_method(const py::Stmt& statement, Frame& frame);
  void run_in_class(const py::Stmt& statement, Frame& frame);
  void keep_names(Frame& frame, py::Place place);
  std::vector<HostValue> listed_names(const HostValue& v, py::Place place);
  HostValue make_named_tuple(const HostArgs& args, const HostKwargs& kwargs, py::Place place);
  HostValue make_object(std::string name, std::vector<std::pair<std::string, HostValue>> attributes) const;
  void read_bases(const py::Stmt& statement, HostClass& made, Frame& frame);
  void read_decorators(const py::Stmt& statement, HostClass& made, Frame& frame);
  HostClass::Field read_field(const py::Stmt& statement, Frame& frame);
  HostValue make_super(const HostArgs& args, py::Place place);
  HostValue apply_forward(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place);
  // a + b of a class that says what that is, also from the right; nothing where neither does.
  std::optional<HostValue> own_operator(py::Op op, const HostValue& a, const HostValue& b, py::Place place);
  // What a method with one of Python's own names gives; nothing where the object has none.
  std::optional<HostValue> own(const HostValue& object, std::string_view name, HostArgs args, py::Place place);
  std::optional<HostValue> parent_method(const HostValue& object, std::string_view name, HostArgs& args,
                                         HostKwargs& kwargs, py::Place place);
  HostValue instantiate(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place);
  HostValue make_container(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place);
  void init_container(const HostValue& object, const HostClass& klass, HostArgs args, HostKwargs kwargs,
                      py::Place place);
  std::optional<HostValue> class_attribute(const HostValue& klass, std::string_view name);
  std::optional<HostValue> object_attribute(const HostValue& object, std::string_view name, py::Place place);
  std::optional<HostValue> object_method(const HostValue& object, std::string_view name, HostArgs& args,
                                         HostKwargs& kwargs, py::Place place);
  static bool takes_note(const HostClass& klass, std::string_view method);  // which then does nothing
  void set_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place);
  void store_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place);
  void delete_attribute(const HostValue& object, std::string_view name, py::Place place);

  // ---- enumerations (enums.cpp)
  HostValue make_enum(std::string_view base, const HostArgs& args, py::Place place);
  HostValue enum_member(const HostValue& klass, const HostValue& value, py::Place place);  // Mode("name")
  void make_members(const std::shared_ptr<HostClass>& made, py::Place place);
  void number_members(Frame& frame, py::Place place);
  HostValue next_value(std::string_view name, const std::vector<HostValue>& before, Frame& frame, py::Place place);
  HostValue flag_name(const HostValue& flag);
  std::optional<HostValue> join_flags(py::Op op, const HostValue& a, const HostValue& b, py::Place place);
  std::optional<HostValue> enum_attribute(const HostValue& member, std::string_view name, py::Place place);

  // ---- tensors (tensor.cpp)
  HostValue allocate(std::string_view name, const HostArgs& args, const HostKwargs& kwargs, py::Place place);
  HostValue tensor_of(std::string_view name, const HostValue& data, const HostValue* dtype, DeviceType device,
                      py::Place place);
  static bool tensor_has(std::string_view name);  // hasattr
  static HostValue dim_order(const TensorDesc& desc);
  HostValue tensor_attribute(const HostValue& tensor, std::string_view name, py::Place place);
  HostValue tensor_method(const HostValue& tensor, std::string_view name, HostArgs args, HostKwargs kwargs,
                          py::Place place);
  struct Views;  // methods that are views (view.cpp)
  std::optional<HostValue> view_method(const HostValue& tensor, const HostCall& call);
  HostValue laid_out(const HostValue& tensor, bool channels_last, py::Place place);  // copied, where it lies otherwise
  std::optional<HostValue> cast_method(const HostValue& tensor, std::string_view name, const HostArgs& args,
                                       const HostKwargs& kwargs, py::Place place);
  HostValue tensor_item(const HostValue& tensor, const HostValue& index, py::Place place);
  HostValue view(BufferId base, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, std::int64_t offset,
                 py::Place place);
  HostValue reshape(BufferId base, std::vector<std::int64_t> sizes, bool may_copy, py::Place place);
  HostValue copy(BufferId base, Dtype dtype, py::Place place);
  bool is_unplaced(BufferId buffer) const;
  HostValue moved(const HostValue& tensor, DeviceType device, py::Place place);
  HostValue fill(const HostValue& tensor, std::string_view name, const HostArgs& args, py::Place place);
  const Buffer& owner_of(const HostValue& tensor) const;  // of its memory
  HostValue fresh(TensorDesc desc, Fill fill, Scalar value, py::Place place);
  Scalar fill_number(const HostValue& v, py::Place place) const;
  std::vector<std::int64_t> sizes_of(const HostArgs& args, std::size_t first, py::Place place);
  std::int64_t wrap_dim(std::int64_t dim, std::size_t rank, py::Place place) const;
  BufferId add_buffer(Buffer buffer);
  void check_size(const TensorDesc& desc, py::Place place) const;
  std::vector<std::int64_t> permuted_strides(const std::vector<std::int64_t>& sizes,
                                             const std::vector<std::int64_t>& order, py::Place place) const;
  std::vector<std::int64_t> channels_last_strides(const std::vector<std::int64_t>& sizes, py::Place place) const;
  const TensorDesc& desc(const HostValue& tensor) const {
    return plan_.buffers[static_cast<std::size_t>(tensor.buffer)].desc;
  }

  // ---- kernels (launch.cpp)
  HostValue launch(const HostLauncher& launcher, HostArgs args, HostKwargs kwargs, py::Place place);
  struct Decorations {
    std::vector<HostValue> configs;
    std::vector<std::string> key;
    // Those above autotune do not see what a configuration sets.
    std::vector<std::pair<std::string, HostValue>> above, heuristics;
    std::vector<std::string> restored;  // reset_to_zero, restore_value
    HostValue prune;                    // early_config_prune
    bool autotuned = false;
  };
  void decorate(const HostValue& decorator, Decorations& out, py::Place place);
  HostValue make_kernel(const HostValue& function, py::Place place);
  std::optional<HostValue> call_triton(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place);
  KernelRef kernel_of(KernelRef kernel, const std::shared_ptr<HostFunction>& made);
  const Decorations& decorations(const HostLauncher& launcher, py::Place place);
  std::vector<HostValue> chosen_configs(const Decorations& decoration, const py::Stmt& kernel, const HostArgs& args,
                                        const HostKwargs& kwargs, py::Place place);
  using ParameterValues = std::vector<std::optional<HostValue>>;  // of a kernel's parameters, as far as they are known
  struct BoundCall {
    ParameterValues values;
    std::int64_t warps = 4, stages = 3;
    bool fusion = true;
  };
  BoundCall bind_call(const py::Stmt& kernel, const HostArgs& args, const HostKwargs& kwargs, py::Place place);
  void apply_config(const py::Stmt& kernel, const HostValue& config, ParameterValues& values, LaunchVariant& variant,
                    py::Place place);
  void apply_heuristics(const std::vector<std::pair<std::string, HostValue>>& heuristics, const py::Stmt& kernel,
                        ParameterValues& values, LaunchVariant& variant, py::Place place);
  void fill_defaults(const HostLauncher& launcher, ParameterValues& values, py::Place place);
  std::vector<BufferId> run_hook(const HostValue& config, const HostValue& seen, py::Place place);
  void join_fills(std::span<const BufferId> first, std::span<const BufferId> again, py::Place place);
  void check_warps(const py::Stmt& kernel, int warps, py::Place place) const;
  std::int64_t launch_number(const py::Stmt& kernel, std::string_view name, const HostValue& v, py::Place place) const;
  HostValue call_grid(const HostValue& grid, const HostValue& meta, py::Place place);
  void set_grid(const HostValue& grid, const HostValue& meta, LaunchVariant& variant, py::Place place);
  void add_argument(std::string_view name, const HostValue& value, bool is_constexpr, py::Place place,
                    std::vector<LaunchArgument>& out);
  void check_descriptor(const TensorDesc& base, const std::vector<std::pair<std::string, HostValue>>& fields,
                        py::Place place) const;
  std::optional<HostValue> make_descriptor(std::string_view path, HostArgs& args, const HostKwargs& kwargs,
                                           py::Place place);
  HostValue make_config(HostArgs args, HostKwargs kwargs, py::Place place);

  const PassModule& root_;
  HostLimits limits_;
  DeviceType device_ = DeviceType::cpu;  // of the run: of its kernels and, unless said otherwise, of new tensors
  LaunchPlan plan_;
  std::int64_t steps_ = 0;
  int depth_ = 0;                        // of calls
  int nesting_ = 0;                      // of expressions under evaluation
  int trying_ = 0;                       // of try statements with handlers
  const PassModule* current_ = nullptr;  // whose line an error names
  Calling calling_;
  std::string_view launching_;                                // the kernel
  std::unordered_map<const py::Expr*, HostValue> constants_;  // module-level expressions, evaluated once a call
  std::unordered_map<const py::Expr*, HostValue> unpacked_;   // what iterators among them gave to several names
  std::unordered_set<const PassModule*> constant_owners_;     // whose they are
  std::unordered_set<const PassModule*> ran_;                 // whose top level has run
  std::unordered_map<const py::Stmt*, int> defined_;          // how often a def of the top level has run
  std::vector<const py::Expr*> evaluating_;
  std::unordered_map<const py::Stmt*, std::shared_ptr<HostClass>> classes_;
  std::vector<std::shared_ptr<HostClass>> made_classes_;
  std::unordered_map<const PassModule*, std::shared_ptr<HostScope>> module_scopes_;  // of modules whose top level runs
  std::vector<std::weak_ptr<HostScope>> captured_;  // by functions that may be among their names
  std::vector<std::weak_ptr<HostItems>> circles_;   // of objects whose methods are kept somewhere, of generators
  std::shared_ptr<HostAbandoned> abandoned_ = std::make_shared<HostAbandoned>();
  std::map<std::string, std::shared_ptr<HostClass>, std::less<>> exceptions_;  // Python's, as they are asked for
  std::vector<HostRaise> handling_;                                            // what a bare `raise` raises again
  std::map<std::tuple<const py::Stmt*, const HostItems*, const HostFunction*>, Decorations> decorations_;
  std::set<BufferId> unplaced_;  // made without device=: on the CPU, whatever the run's device is
  int places_ = 0;               // how often we are in a with torch.device(...): they are on the device
  std::map<std::pair<const py::Stmt*, const HostFunction*>, HostValue> best_configs_;  // of autotuned ones, launched
  std::vector<const HostScope*> looking_;  // for state in them: functions may see one another
  // The kernels whose variables are being taken, and where they are put.
  std::vector<std::pair<const HostFunction*, const KernelClosure*>> capturing_;
};

}  // namespace passnet
