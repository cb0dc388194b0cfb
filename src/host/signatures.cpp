#include "host/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// Of several functions at once. A signature has parameters between blanks: a name, two with `/` between them where a
// method and its function differ, `_` where it has none, `?` behind what may be left out, `*` for any number more;
// behind `|` names that are keywords alone, which stay keywords; `**`: any keyword.
struct Row {
  std::string_view prefix, names, signature;
};

constexpr Row kRows[] = {
    {"builtins.", "abs all any bin callable chr classmethod hash hex len oct ord property repr reversed", "_"},
    {"builtins.", "staticmethod type", "_"},
    {"builtins.", "bool float frozenset list set tuple", "_?"},
    {"builtins.", "divmod filter hasattr isinstance issubclass", "_ _"},
    {"builtins.", "format iter next dict.fromkeys", "_ _?"},
    {"builtins.", "range slice", "_ _? _?"},
    {"builtins.", "min max", "* | key default"},
    {"builtins.", "dict", "_? **"},
    {"builtins.", "enumerate", "iterable start?"},
    {"builtins.", "getattr", "_ _ _?"},
    {"builtins.", "int", "_? base?"},
    {"builtins.", "map", "_ _ *"},
    {"builtins.", "object.__setattr__", "_ _ _"},
    {"builtins.", "pow", "base exp mod?"},
    {"builtins.", "print", "* | sep end file flush"},
    {"builtins.", "round", "number ndigits?"},
    {"builtins.", "sorted", "_ | key reverse"},
    {"builtins.", "str", "object?"},
    {"builtins.", "sum", "_ start?"},
    {"builtins.", "super", "*"},  // and what it stands in
    {"builtins.", "zip", "* | strict"},

    {"math.", "acos asin atan cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs factorial floor fsum isfinite",
     "_"},
    {"math.", "isinf isnan isqrt log10 log1p log2 radians sin sinh sqrt tan tanh trunc", "_"},
    {"math.", "atan2 comb copysign fmod pow", "_ _"},
    {"math.", "gcd hypot lcm", "*"},
    {"math.", "isclose", "a b | rel_tol abs_tol"},
    {"math.", "log perm", "_ _?"},
    {"math.", "prod", "_ | start"},

    {"bisect.", "bisect bisect_left bisect_right insort insort_left insort_right", "a x lo? hi? | key"},
    {"collections.", "deque", "iterable? maxlen?"},
    {"copy.", "copy", "x"},
    {"copy.", "deepcopy", "x memo?"},
    {"functools.", "reduce", "_ _ _?"},
    {"itertools.", "accumulate", "iterable func? | initial"},
    {"itertools.", "chain", "*"},
    {"itertools.", "chain.from_iterable pairwise", "_"},
    {"itertools.", "combinations combinations_with_replacement", "iterable r"},
    {"itertools.", "compress", "data selectors"},
    {"itertools.", "count", "start? step?"},
    {"itertools.", "cycle", "_"},
    {"itertools.", "groupby", "iterable key?"},
    {"itertools.", "tee", "_ _?"},
    {"itertools.", "dropwhile filterfalse starmap takewhile", "_ _"},
    {"itertools.", "islice", "_ _ _? _?"},
    {"itertools.", "permutations", "iterable r?"},
    {"itertools.", "product", "* | repeat"},
    {"itertools.", "repeat", "object times?"},
    {"itertools.", "zip_longest", "* | fillvalue"},
    {"triton.", "cdiv", "x y"},
    {"triton.", "next_power_of_2", "n"},
    {"triton.language.", "cdiv", "x div"},
    {"triton.language.", "next_power_of_2", "n"},

    {"torch.", "empty", "size * | dtype device layout requires_grad pin_memory out memory_format"},
    {"torch.", "zeros ones", "size * | dtype device layout requires_grad pin_memory out"},
    {"torch.", "full", "size fill_value | dtype device layout requires_grad pin_memory out"},
    {"torch.", "empty_strided", "size stride | dtype device layout requires_grad pin_memory"},
    {"torch.", "empty_permuted", "size physical_layout | dtype device layout requires_grad pin_memory"},
    {"torch.", "empty_like zeros_like ones_like", "input | dtype device layout requires_grad pin_memory memory_format"},
    {"torch.", "full_like", "input fill_value | dtype device layout requires_grad pin_memory memory_format"},
    {"torch.", "as_tensor tensor", "data | dtype device requires_grad pin_memory"},

    // And of torch.NAME behind its tensor.
    {"Tensor.", "dim element_size get_device is_complex is_conj is_floating_point is_inference is_neg is_signed", ""},
    {"Tensor.", "detach ndimension nelement numel ravel storage_offset t zero_", ""},
    {"Tensor.", "bfloat16 bool contiguous double float half int is_contiguous long", "| memory_format"},
    {"Tensor.", "as_strided", "size stride storage_offset?"},
    {"Tensor.", "broadcast_to", "size *"},
    {"Tensor.", "chunk", "chunks dim/axis?"},
    {"Tensor.", "cuda", "device? non_blocking? | memory_format"},
    {"Tensor.", "diagonal", "offset? dim1? dim2?"},
    {"Tensor.", "dim_order", "| ambiguity_check"},
    {"Tensor.", "expand", "size * | implicit"},
    {"Tensor.", "expand_as is_same_size reshape_as type_as view_as", "other"},
    {"Tensor.", "fill_", "value"},
    {"Tensor.", "flatten", "start_dim? end_dim?"},
    {"Tensor.", "is_pinned", "device?"},
    {"Tensor.", "movedim moveaxis", "source destination"},
    {"Tensor.", "narrow", "dim/axis start length"},
    {"Tensor.", "new_empty new_ones new_zeros", "size * | dtype device layout requires_grad pin_memory"},
    {"Tensor.", "new_empty_strided", "size stride | dtype device layout requires_grad pin_memory"},
    {"Tensor.", "new_full", "size fill_value | dtype device layout requires_grad pin_memory"},
    {"Tensor.", "permute", "dims *"},
    {"Tensor.", "requires_grad_", "requires_grad?"},
    {"Tensor.", "reshape", "shape *"},
    {"Tensor.", "select", "dim/axis index"},
    {"Tensor.", "size stride unbind", "dim/axis?"},
    {"Tensor.", "squeeze", "dim/axis? *"},
    {"Tensor.", "split", "split_size/split_size_or_sections dim/axis?"},
    {"Tensor.", "swapaxes", "axis0 axis1"},
    {"Tensor.", "swapdims transpose", "dim0 dim1"},
    {"Tensor.", "tensor_split", "indices_or_sections dim/axis?"},
    {"Tensor.", "to", "* | dtype device non_blocking copy memory_format"},
    {"Tensor.", "unfold", "dimension size step"},
    {"Tensor.", "type", "dtype? non_blocking?"},
    {"Tensor.", "unflatten", "dim/axis sizes"},
    {"Tensor.", "unsqueeze", "dim/axis"},
    {"Tensor.", "view", "size/dtype *"},

    {"str.", "capitalize casefold isalnum isalpha isdecimal isdigit islower isnumeric isspace isupper lower title", ""},
    {"str.", "upper", ""},
    {"str.", "center ljust rjust", "_ _?"},
    {"str.", "count endswith find index rfind rindex startswith", "_ _? _?"},
    {"str.", "format", "* **"},
    {"str.", "join partition removeprefix removesuffix rpartition zfill", "_"},
    {"str.", "lstrip rstrip strip", "_?"},
    {"str.", "replace", "_ _ count?"},
    {"str.", "rsplit split", "sep? maxsplit?"},
    {"str.", "splitlines", "keepends?"},
    {"tuple.", "count", "_"},
    {"tuple.", "index", "_ _? _?"},
    {"tuple.", "numel", ""},
    {"list.", "append count extend remove", "_"},
    {"list.", "clear copy reverse", ""},
    {"list.", "index", "_ _? _?"},
    {"list.", "insert", "_ _"},
    {"list.", "pop", "_?"},
    {"list.", "sort", "| key reverse"},
    {"deque.", "append appendleft count extend extendleft remove __contains__ __delitem__ __getitem__", "_"},
    {"deque.", "clear copy pop popleft reverse __iter__ __len__", ""},
    {"deque.", "index", "_ _? _?"},
    {"deque.", "insert __setitem__", "_ _"},
    {"deque.", "rotate", "_?"},
    {"dict.", "__contains__ __delitem__ __eq__ __getitem__", "_"},
    {"dict.", "__iter__ __len__", ""},
    {"dict.", "__setitem__", "_ _"},
    {"list.", "__contains__ __delitem__ __eq__ __getitem__", "_"},
    {"list.", "__iter__ __len__", ""},
    {"list.", "__setitem__", "_ _"},
    {"set.", "__contains__ __eq__", "_"},
    {"set.", "__iter__ __len__", ""},
    {"tuple.", "__contains__ __eq__ __getitem__", "_"},
    {"tuple.", "__iter__ __len__", ""},
    {"set.", "add discard isdisjoint issubset issuperset remove symmetric_difference", "_"},
    {"set.", "clear copy pop", ""},
    {"set.", "difference intersection union update", "*"},
    {"dict.", "clear copy elements items keys total values", ""},
    {"dict.", "get pop setdefault", "_ _?"},
    {"dict.", "most_common", "n?"},
    {"dict.", "move_to_end", "_ last?"},
    {"dict.", "popitem", "last?"},
    {"dict.", "subtract update", "_? **"},
    {"range.", "count index", "_"},
    {"dict_items.", "isdisjoint", "_"},
    {"dict_keys.", "isdisjoint", "_"},
    {"int.", "bit_count bit_length conjugate is_integer", ""},
    {"bool.", "bit_count bit_length conjugate is_integer", ""},
    {"float.", "is_integer", ""},
    {"iterator.", "__iter__ __next__", ""},
    {"generator.", "__iter__ __next__ close", ""},
    {"generator.", "send", "_"},
    {"generator.", "throw", "_ _? _?"},
};

struct Signature {
  std::vector<std::string_view> parameters, keywords;  // of a parameter without a name: "_"
  std::size_t least = 0;                               // parameters that must be given
  bool more = false, any_keyword = false;

  explicit Signature(std::string_view text) {
    bool alone = false;
    for (std::string_view part : text_split(text, ' ')) {
      if (part == "|") {
        alone = true;
      } else if (part == "*") {
        more = true;
      } else if (part == "**") {
        any_keyword = true;
      } else if (alone) {
        keywords.push_back(part);
      } else if (!part.empty()) {
        if (part.ends_with('?'))
          part.remove_suffix(1);
        else
          least = parameters.size() + 1;
        parameters.push_back(part);
      }
    }
  }
};

const Signature* find_signature(std::string_view path) {
  static const auto all = [] {
    std::unordered_map<std::string, Signature> out;
    for (const Row& row : kRows)
      for (const std::string_view name : text_split(row.names, ' '))
        out.emplace(std::string(row.prefix) += name, Signature(row.signature));
    return out;
  }();
  const auto found = all.find(std::string(path));
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

bool has_signature(std::string_view path) { return find_signature(path) != nullptr; }

std::string parameter_name(std::string_view path, std::size_t i) {
  const Signature* found = find_signature(path);
  const bool named = found != nullptr && i < found->parameters.size() && found->parameters[i] != "_";
  return named ? fmt::format("'{}'", text_split(found->parameters[i], '/')[0]) : fmt::format("argument {}", i + 1);
}

bool has_signatures(const HostValue& object) {
  return object.is_number() || object.is(Kind::string) || object.is_sequence() || object.is(Kind::dict) ||
         object.is(Kind::range) || object.is(Kind::dict_view) || object.is(Kind::iterator);
}

std::string method_path(const HostValue& object, std::string_view name) {
  if (object.is(Kind::iterator))
    return fmt::format("{}.{}", object.items->source->frame ? "generator" : "iterator", name);
  const bool deque = object.is(Kind::list) && object.items->type == kDeque;
  return fmt::format("{}.{}", deque ? kDeque : kind_name(object), name);
}

std::pair<std::size_t, std::size_t> HostMachine::bounds(const HostArgs& args, std::size_t size, py::Place place) {
  const auto at = [&](std::size_t i, std::size_t otherwise) {
    if (i >= args.size() || args[i].is(Kind::none)) return otherwise;
    const std::int64_t v = integer(args[i], place);
    return static_cast<std::size_t>(std::max<std::int64_t>(v < 0 ? v + static_cast<std::int64_t>(size) : v, 0));
  };
  return {at(1, 0), std::min(at(2, size), size)};
}

// Keywords become positions, so that what follows looks at those only. What was left out before one that is given is
// None.
void HostMachine::bind_arguments(std::string_view path, HostArgs& args, HostKwargs& kwargs, py::Place place) {
  const Signature* found = find_signature(path);
  if (found == nullptr) return;
  const Signature& signature = *found;
  const std::string_view name = path.substr(path.starts_with("builtins.") ? 9 : 0);
  const auto count = [](std::size_t n) { return fmt::format("{} argument{}", n, n == 1 ? "" : "s"); };
  if (args.size() > signature.parameters.size() && !signature.more)
    raise("TypeError",
          fmt::format("{}() takes at most {} but {} were given", name, count(signature.parameters.size()), args.size()),
          place);
  std::size_t given = args.size();
  HostKwargs kept;
  for (auto& [key, value] : kwargs) {
    const auto& parameters = signature.parameters;
    const auto p = std::find_if(parameters.begin(), parameters.end(), [&, wanted = std::string_view(key)](auto known) {
      const auto names = text_split(known, '/');
      return known != "_" && std::find(names.begin(), names.end(), wanted) != names.end();
    });
    const auto& alone = signature.keywords;
    if (p != parameters.end()) {
      const auto at = static_cast<std::size_t>(p - parameters.begin());
      if (at < given) raise("TypeError", fmt::format("{}() got several values for '{}'", name, key), place);
      if (at >= args.size()) args.resize(at + 1);
      args[at] = std::move(value);
    } else if (signature.any_keyword || std::find(alone.begin(), alone.end(), key) != alone.end()) {
      kept.emplace_back(key, std::move(value));
    } else {
      raise("TypeError", fmt::format("{}() got an unexpected keyword argument '{}'", name, key), place);
    }
  }
  kwargs = std::move(kept);
  if (args.size() < signature.least)
    raise("TypeError", fmt::format("{}() needs {}", name, count(signature.least)), place);
}

}  // namespace passnet
