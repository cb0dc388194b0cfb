// The functions of triton.language.standard that have no row of their own: what kernels give to tl.reduce and
// tl.associative_scan. They are Python, as in Triton, and become device functions like a kernel's own.
#include "py/parser.h"
#include "tile/lowering.h"

namespace passnet::tile {

namespace {

constexpr const char* kSource = R"py(
def _sum_combine(a, b):
    return a + b


def _prod_combine(a, b):
    return a * b


def _xor_combine(a, b):
    return a ^ b


def _or_combine(x, y):
    return x | y


def _elementwise_max(a, b):
    return tl.maximum(a, b)


def _elementwise_min(a, b):
    return tl.minimum(a, b)


def _argmax_combine(value1, index1, value2, index2, tie_break_left):
    first = value1 > value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, True)


def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, False)


def _argmin_combine(value1, index1, value2, index2, tie_break_left):
    first = value1 < value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, True)


def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, False)
)py";

class StandardNames final : public Names {
 public:
  Named find(std::string_view name) const override {
    Named out;
    if (name == "tl") {
      out.kind = Named::Kind::path;
      out.path = "triton.language";
      return out;
    }
    for (const py::Stmt* s : file_.body())
      if (s->name == name) {
        out.kind = Named::Kind::kernel;
        out.function = s;
        out.file = &file_;
        out.names = this;
      }
    return out;
  }
  Result<Named> call(const py::Stmt& function, const std::vector<ConstValue>& /*arguments*/,
                     const NamedConstants& /*keywords*/) const override {
    return Error{ErrorCode::internal, file_.where(function.place), "no function of constants", {}};
  }

 private:
  py::Module file_ = py::parse("triton/language/standard.py", kSource).take();
};

}  // namespace

Named standard_function(std::string_view name) {
  static const StandardNames kNames;
  return name.starts_with('_') ? kNames.find(name) : Named{};
}

}  // namespace passnet::tile
