// Any bytes as a Python file with a Triton kernel: lowered, or an error with a place. What is lowered is valid tile IR,
// goes through every stage and does the same when interpreted as written and simplified.
//
// The kernel is the file's last. The first line, a comment, says what its arguments are, a letter each:
//   fdhb csil CSIL t   pointers to float32 64 16 bfloat16, int8 16 32 64, their unsigned, int1
//   n m x o            a number: int32, int64, float, bool
//   0 .. 9             a constant, two to that power; F the constant 0.5; T the element type float16; - None
// What has no letter is a pointer to float32, or the constant 16 where it is annotated as one.
#include "fuzz_one.h"
#include "kernels/names.h"
#include "tile_stages.h"

namespace {

using namespace passnet;
using tile::ArgumentSpec;
using tile::ConstValue;
using tile::Elem;

ArgumentSpec argument(char letter, bool constant) {
  constexpr std::pair<char, Elem> kPointers[] = {
      {'f', Elem::f32}, {'d', Elem::f64}, {'h', Elem::f16}, {'b', Elem::bf16}, {'c', Elem::i8},
      {'s', Elem::i16}, {'i', Elem::i32}, {'l', Elem::i64}, {'C', Elem::u8},   {'S', Elem::u16},
      {'I', Elem::u32}, {'L', Elem::u64}, {'t', Elem::i1},
  };
  if (letter >= '0' && letter <= '9') return ArgumentSpec::of(ConstValue::of(std::int64_t{1} << (letter - '0')));
  switch (letter) {
    case 'n': return ArgumentSpec::integer(5);
    case 'm': return ArgumentSpec::integer(std::int64_t{1} << 40);
    case 'x': return ArgumentSpec::real();
    case 'o': return ArgumentSpec::boolean();
    case 'F': return ArgumentSpec::of(ConstValue::of(0.5));
    case 'T': return ArgumentSpec::of(ConstValue::of(tile::scalar_type(Elem::f16)));
    case '-': return ArgumentSpec::of({});
    default: break;
  }
  if (constant) return ArgumentSpec::of(ConstValue::of(std::int64_t{16}));
  for (const auto& [name, elem] : kPointers)
    if (name == letter) return ArgumentSpec::pointer(elem);
  return ArgumentSpec::pointer(Elem::f32);
}

// Throws Failure.
tile::Function lowered(ModuleLoader& loader, std::string_view letters) {
  const PassModule& module = loader.load("fuzz");
  const py::Stmt* kernel = nullptr;
  for (const py::Stmt* s : module.syntax.body())
    if (s->kind == py::StmtKind::function && is_kernel(module, *s)) kernel = s;
  if (kernel == nullptr) fail({Code::kernel, module.syntax.where({1, 1}), "no kernel", {}});
  std::vector<ArgumentSpec> arguments;
  for (std::size_t i = 0; i < kernel->parameters.size(); ++i)
    arguments.push_back(argument(i < letters.size() ? letters[i] : ' ',
                                 tile::is_constexpr_annotation(kernel->parameters[i].annotation)));
  return tile::lower_kernel(KernelNames(module), module.syntax, *kernel, arguments).take();
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string_view letters =
      text.starts_with('#') ? std::string_view(text).substr(1, text.find('\n') - 1) : std::string_view();
  ModuleLoader loader(std::map<std::string, std::string>{{"fuzz", text}});
  const auto function = guarded([&] { return lowered(loader, letters); });
  if (!function) {
    tile::expect_useful(function.error());
    return 0;
  }
  if (const auto valid = tile::verify(*function); !valid)
    tile::broken("lowered to what is not valid: " + error_text(valid.error()), print(*function));
  tile::expect_printable(*function);
  tile::StageFuzz(*function, 512, {.program_ops = 5000, .elements = 60000}).run();
  return 0;
}
