// Any bytes as constraints, as a row, as a pack and as a pack whose writing was killed: a value or an error, never a
// crash; a row that is read is written again the same; a continued pack holds what was added to it.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "base/file.h"
#include "base/pack.h"
#include "data/constraints.h"
#include "data/rows.h"
#include "fuzz_one.h"

namespace {

using namespace passnet;

[[noreturn]] void broken(std::string_view why, std::string_view text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

void check_row(std::string_view text) {
  const auto row = data::parse_row(text);
  if (!row) return;
  const std::string written = data::print_row(*row);
  const auto again = data::parse_row(written);
  if (!again || data::print_row(*again) != written) broken("written and read differs", written);
}

// In one file of this process: packs are opened by name.
const std::string& scratch() {
  static const std::string path = "/tmp/passnet_fuzz_" + std::to_string(::getpid()) + ".pack";
  return path;
}

void check_pack(std::string_view text) {
  file_write(scratch(), text).take();
  if (const auto pack = pack_open(scratch()))
    for (std::size_t i = 0; i < (*pack)->size(); ++i) {
      (*pack)->name(i);
      const auto ignored = (*pack)->read(i);
    }
  file_write(scratch() + ".part", text).take();
  {
    const auto writer = pack_create(scratch()).take();
    writer->add("added", {{"model.py", "text"}}).take();
    writer->finish().take();
  }
  const auto pack = pack_open(scratch()).take();
  const auto found = pack->find("added");
  if (!found || !pack->read(*found)) broken("what was added is not there", text);
  ::unlink(scratch().c_str());
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ignored = data::read_constraints("input_tensor_constraints.py", std::string(text));
  check_row(text);
  check_pack(text);
  return 0;
}
