// What the names of a kernel's file stand for. The front-end asks; who holds the files answers (kernels/names.h).
#pragma once

#include "tile/constant.h"

namespace passnet::tile {

class Names;

struct Named {
  enum class Kind : std::uint8_t {
    missing,       // the file does not have it
    path,          // something imported: "triton.language", "triton.language.math.exp"
    kernel,        // def under @triton.jit: a device function when called
    function,      // def without it
    of_constants,  // def under @triton.constexpr_function: called with constants, by Names::call
    module,        // another file: its names
    record,        // the class of a named tuple; path: its fields, "m,n", value: a tuple, the last fields' defaults
    constant,      // tl.constexpr(...), an element type or None at module level
    variable,      // any other value around the kernel, which it may not read; defaults of parameters may
  } kind = Kind::missing;
  std::string path;
  const py::Stmt* function = nullptr;
  const py::Module* file = nullptr;  // of the function
  const Names* names = nullptr;      // of the function's file, or of the module
  ConstValue value;                  // of a constant, and of a variable where it is `known`
  bool known = false;
  bool annotated = false;    // a variable: NAME: tl.constexpr = ..., which makes no constant of it
  bool of_function = false;  // a variable of the function that made the kernel, not of the file
};

class Names {
 public:
  virtual ~Names() = default;
  virtual Named find(std::string_view name) const = 0;
  // What a function of constants gives: a constant, or a device function.
  using NamedConstants = std::vector<std::pair<std::string, ConstValue>>;
  virtual Result<Named> call(const py::Stmt& function, const std::vector<ConstValue>& arguments,
                             const NamedConstants& keywords) const = 0;
};

}  // namespace passnet::tile
