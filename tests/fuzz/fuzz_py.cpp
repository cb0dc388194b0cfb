// Any bytes: parse, or an error with a place; what parses prints, parses again and prints the same.
#include <cstdlib>
#include <iostream>
#include <string>

#include "fuzz_one.h"
#include "py/parser.h"
#include "py/printer.h"

namespace {

using namespace passnet;

[[noreturn]] void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

void check_place(const Error& error) {
  if (error.code == Code::internal || error.message.empty()) broken("an error that says nothing", error_text(error));
  if (error.where.line == 0 || error.where.column == 0) broken("an error without a place", error_text(error));
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const Result<py::Module> module = py::parse("fuzz.py", std::string(reinterpret_cast<const char*>(data), size));
  if (!module) {
    check_place(module.error());
    return 0;
  }
  const std::string printed = py::print(*module);
  const Result<py::Module> again = py::parse("printed.py", printed);
  if (!again) broken("the printed text does not parse: " + error_text(again.error()), printed);
  if (const std::string twice = py::print(*again); twice != printed)
    broken("printed twice differs", printed + "\n---\n" + twice);
  return 0;
}
