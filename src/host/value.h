// Values of a host program. Lists and dicts are shared by reference as in Python; everything else is a value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/integer.h"
#include "host/launch_plan.h"
#include "host/module.h"

namespace passnet {

inline constexpr int kDeepestLists = 100;  // of lists in lists

struct HostValue;
class HostScope;
struct HostClass;
struct HostFrame;
struct HostItems;
class HostMachine;

// A string that its copies share: a list of a thousand long ones may be one.
class HostText {
 public:
  HostText() = default;
  HostText(std::string text);                                       // NOLINT: as a string is
  HostText(std::string_view text) : HostText(std::string(text)) {}  // NOLINT
  HostText(const char* text) : HostText(std::string(text)) {}       // NOLINT
  operator const std::string&() const { return get(); }
  operator std::string_view() const { return get(); }
  const std::string& get() const;
  bool empty() const { return get().empty(); }
  std::size_t size() const { return get().size(); }
  char operator[](std::size_t i) const { return get()[i]; }
  bool operator==(std::string_view other) const { return get() == other; }
  bool starts_with(std::string_view part) const { return get().starts_with(part); }
  std::string substr(std::size_t from) const { return get().substr(from); }

 private:
  std::shared_ptr<const std::string> text_;  // null: empty
};

// Frames of generators that nobody can ask any more, while something has still to run in them: a finally.
struct HostAbandoned {
  std::vector<std::shared_ptr<HostFrame>> frames;
};

// How an iterator goes on. The values that it needs for that are its items, the iterators below it among them.
struct HostSource {
  using Next = std::optional<HostValue> (*)(HostMachine& m, HostItems& it, py::Place place);
  std::string_view type;  // as Python calls it
  Next next;
  std::int64_t at = 0, end = 0;  // what each row says that they are
  std::vector<std::size_t> places = {};
  bool running = false;
  std::shared_ptr<HostFrame> frame = nullptr;  // of a generator
  std::weak_ptr<HostAbandoned> abandoned = {};
  ~HostSource();
};

// The items of a list, a tuple or a dict (key, value, key, value). `module_level`: made by a constant of a pass file,
// so what is stored in it would outlive a call.
struct HostItems {
  std::vector<HostValue> values;
  bool module_level = false;
  std::string_view type = {};               // of one of collections': "Counter", "OrderedDict", "defaultdict", "deque"
  std::shared_ptr<HostValue> factory = {};  // of a defaultdict: what makes the value of a key that is missing
  std::optional<std::size_t> most = {};     // of a deque: maxlen
  // Of an object that is a container, too (class Config(dict)); themselves, where its __dict__ is the object.
  std::shared_ptr<HostItems> attributes = {};
  std::unique_ptr<HostSource> source = {};  // of an iterator
  HostItems() = default;
  HostItems(std::vector<HostValue> items, bool outlives) : values(std::move(items)), module_level(outlives) {}
  HostItems(const HostItems&) = delete;
  HostItems& operator=(const HostItems&) = delete;
  // One after the other, however deep they are nested, in functions' defaults and closures, factories and frames too.
  ~HostItems();
};

struct HostFunction {
  enum class Form : std::uint8_t { plain, property, of_none, of_class };  // what it is as a method
  const PassModule* module = nullptr;
  const py::Stmt* statement = nullptr;  // def, or
  const py::Expr* lambda = nullptr;
  std::shared_ptr<HostScope> closure;  // null for a module-level function
  // Of a function made in a function: its parameters' default values, in their order; else null.
  std::shared_ptr<HostItems> defaults = nullptr;
  std::shared_ptr<HostClass> parent = nullptr;  // of a method: what super() sees
  Form form = Form::plain;
  const py::Stmt* shown = nullptr;  // functools.wraps: whose name it says it has
  bool memoised = false;            // functools.lru_cache: what it returns is kept
};

// A grid bound to a kernel: kernel[grid].
struct HostLauncher {
  KernelRef kernel;
  const PassModule* module = nullptr;
  std::shared_ptr<HostValue> grid;
  std::shared_ptr<HostItems> decorators = nullptr;  // beside those of its def, innermost first
  std::shared_ptr<HostFunction> made = nullptr;     // of a kernel that a function made
  ~HostLauncher();                                  // a grid may be another launcher
};

struct HostValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    string,
    tuple,
    list,
    dict,
    set,
    range,      // items: start, stop, step
    dict_view,  // items[0]: the dict; text: "dict_keys", "dict_values" or "dict_items"
    iterator,   // items: what it goes on from
    tensor,
    function,
    kernel,  // items: decorators beside those of its def: triton.autotune(...)(kernel)
    launcher,
    path,     // text: "torch.float32", "triton.cdiv", "math", "builtins.len"
    method,   // text: a method's name; items[0]: its object
    dtype,    // dtype
    device,   // device of a tensor
    config,   // triton.Config: items: meta dict, then num_warps, num_stages, pre_hook
    module,   // a file of the folder
    opaque,   // a symbol that only passes through: an argument of replacement_args
    slice,    // items: lower, upper, step
    partial,  // functools.partial: items: the function, its arguments (a tuple), its keywords (a dict)
    klass,    // a class of a pass file
    object,   // of a class; items: its attributes (name, value, name, value)
    parent,   // super(): klass, where methods are looked for; items[0]: the object
    ellipsis,
  } kind = Kind::none;
  Integer integer;  // boolean, integer; opaque: its number
  double real = 0;
  HostText text;  // of a tuple: "torch.Size" where it is one
  std::shared_ptr<HostItems> items;
  BufferId buffer = -1;
  Dtype dtype = Dtype::float32;
  DeviceType device = DeviceType::cpu;
  bool is_constexpr = false;               // made by tl.constexpr(...): what kernels may read
  std::shared_ptr<HostFunction> function;  // of a kernel: null, or its def in the function that made it
  std::shared_ptr<HostLauncher> launcher;
  // klass, object, parent; of an integer or a string: the IntEnum, StrEnum; of a container: that derived from its type
  std::shared_ptr<HostClass> klass;
  KernelRef kernel;
  const PassModule* module = nullptr;  // of a kernel, or the module itself

  static HostValue of(std::int64_t v) { return of(Integer(v)); }
  static HostValue of(const Integer& v);
  static HostValue of(double v);
  static HostValue boolean(bool v);
  static HostValue string(std::string v);
  static HostValue sequence(Kind kind, std::vector<HostValue> values);
  static HostValue path(std::string v);
  static HostValue tensor(BufferId id);
  static HostValue of_dtype(Dtype d);

  bool is(Kind k) const { return kind == k; }
  bool is_integral() const { return kind == Kind::integer || kind == Kind::boolean; }
  bool is_number() const { return is_integral() || kind == Kind::real; }
  bool is_sequence() const { return kind == Kind::tuple || kind == Kind::list || kind == Kind::set; }
  double as_real() const { return kind == Kind::real ? real : integer.real(); }
};

// What a kernel sees of the function that made it, as it was when the kernel was launched.
struct KernelClosure {
  std::vector<std::pair<std::string_view, HostValue>> names;
  std::vector<HostValue> defaults;  // of its parameters, in their order
};

// The items of a triton.Config.
enum class ConfigItem : std::uint8_t { meta, num_warps, num_stages, pre_hook };
inline const HostValue& config_item(const HostValue& config, ConfigItem item) {
  return config.items->values[static_cast<std::size_t>(item)];
}

// The names of a function, a module or a comprehension, in the order in which they were bound.
class HostScope {
 public:
  using Name = std::pair<std::string_view, HostValue>;
  std::shared_ptr<HostScope> parent;
  bool module_level = false;  // seen by a function of the module, so what is in it would outlive a call

  HostScope() = default;
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;
  ~HostScope();  // also of functions that hold one another by their closures, however many
  HostValue* find(std::string_view name);
  void set(std::string_view name, HostValue value);
  void erase(std::string_view name);
  void clear();
  std::vector<Name>& names();

 private:
  static constexpr std::size_t kNoName = static_cast<std::size_t>(-1);
  std::size_t place_of(std::string_view name) const;
  std::vector<Name> names_;  // an empty one was erased
  std::size_t erased_ = 0;
  // Where each name is, as soon as there are too many to look through.
  std::unique_ptr<std::unordered_map<std::string_view, std::size_t>> places_;
};

// A class: what configurations are written as. Its objects are values with named fields.
struct HostClass {
  enum class Form : std::uint8_t {
    plain,
    record,       // dataclass
    tuple,        // NamedTuple, namedtuple
    enumeration,  // Enum
    module,       // torch.nn.Module: a call of an object is its forward
    autograd,     // torch.autograd.Function: apply is its forward
    version,      // packaging.version.Version: ordered by its first attribute, written as its second
    silent,       // what only takes notes: the context of such a forward, a compiled kernel
    exception,    // Exception and what is derived from it
    foreign,      // of a base that is not known here: its constants can be read, no objects made
  } form = Form::plain;
  struct Field {
    std::string name;
    HostValue default_value;
    bool has_default = false;
    HostValue factory = {};  // makes the default
    bool given = true;       // by the arguments of a new object
    bool shown = true;       // in its text
    bool keyword_only = false;
  };
  struct Method {
    using Form = HostFunction::Form;
    Form form = Form::plain;
    std::string_view name;
    HostFunction function;
  };
  std::string name;
  std::shared_ptr<HostClass> parent;
  std::string container;  // what its objects are, too: "builtins.dict", "collections.deque"
  bool frozen = false;
  bool ordered = false;        // dataclass(order=True)
  bool keyword_only = false;   // dataclass(kw_only=True)
  bool is_value = false;       // an enumeration whose members are numbers or strings
  bool text_is_value = false;  // and print as such
  enum class Auto : std::uint8_t { next, lower, bit } auto_value = Auto::next;  // of an enumeration: what auto() gives
  std::vector<Field> fields;
  std::vector<Method> methods;
  std::vector<Method> setters;  // of properties
  HostValue attributes;         // a dict
  const Method* method(std::string_view wanted) const;
};

std::string_view host_type_name(const HostValue& v);
Integer range_size(const HostValue& range);
HostValue range_item(const HostValue& range, const Integer& at);
std::string_view kind_name(const HostValue& v);  // of the kind that it is, whatever its class
bool is_enum_member(const HostValue& v);
bool is_container_object(const HostValue& v);  // of a class that is derived from a container
bool is_flag(const HostValue& v);              // of a Flag: a number whose bits are members
// An object of a NamedTuple is a tuple wherever that is asked for.
bool is_named_tuple(const HostValue& v);
HostValue shown_fields(const HostValue& object);  // of a dataclass: what its text says
HostValue field_values(const HostValue& object);  // of any object: its attributes' values, a tuple
HostValue plain_tuple(const HostValue& v);        // of such an object: its values; any other as it is

}  // namespace passnet
