#include "tile_cpu/checked.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "tile_cpu/launch.h"

namespace passnet::tile_cpu {

namespace {

// A program in the shadow: its number + 1, 0 for none. Touched atomically: with the upper bit.
constexpr std::uint32_t kAtomicBit = 0x8000'0000U;
constexpr std::uint32_t kMany = 0x7fff'ffffU;  // several programs
std::uint32_t mark_of(std::int64_t program) { return static_cast<std::uint32_t>(program + 1); }

std::string program_text(std::int64_t program, const std::array<std::int64_t, 3>& grid) {
  return fmt::format("({}, {}, {})", program % grid[0], program / grid[0] % grid[1], program / grid[0] / grid[1]);
}

std::string other_text(std::uint32_t mark, const std::array<std::int64_t, 3>& grid) {
  mark &= ~kAtomicBit;
  return mark == kMany ? "others" : "program " + program_text(static_cast<std::int64_t>(mark) - 1, grid);
}

}  // namespace

void CheckedMemory::Free::operator()(void* p) const { std::free(p); }

template <class T>
CheckedMemory::Zeroed<T> CheckedMemory::zeroed(std::uint64_t count) {
  auto* memory = static_cast<T*>(std::calloc(std::max<std::uint64_t>(count, 1), sizeof(T)));
  if (memory == nullptr) fail(Code::limit, "out of memory for the shadow of a checked run; --no-checked needs none");
  return Zeroed<T>(memory);
}

CheckedMemory::RegionId CheckedMemory::add(void* address, std::int64_t bytes, std::int64_t granule, bool written) {
  Region r;
  r.begin = static_cast<char*>(address);
  r.bytes = address == nullptr ? 0 : static_cast<std::uint64_t>(bytes);
  r.shift = std::countr_zero(static_cast<std::uint64_t>(granule));
  r.all_written = written;
  if (!written) r.written = zeroed<std::uint8_t>(r.granules());
  regions_.push_back(std::move(r));
  return static_cast<RegionId>(regions_.size() - 1);
}

void CheckedMemory::mark_written(RegionId region) { regions_[static_cast<std::size_t>(region)].all_written = true; }

bool CheckedMemory::is_written(RegionId region, std::int64_t byte) const {
  const Region& r = regions_[static_cast<std::size_t>(region)];
  return r.all_written || r.written[static_cast<std::uint64_t>(byte) >> r.shift] != 0;
}

void CheckedMemory::run(CheckedKernel kernel, const Launch& launch, const Argument* arguments, bool backwards) {
  const std::int64_t programs = launch.grid[0] * launch.grid[1] * launch.grid[2];
  if (programs >= kMany)
    fail(Code::limit, fmt::format("a checked run of {} programs; the limit is {}", programs, kMany - 1));
  for (const Parameter& p : launch.parameters) {
    if (p.region < 0 || !p.written) continue;
    Region& r = regions_[static_cast<std::size_t>(p.region)];
    r.writer = zeroed<std::uint32_t>(r.granules());
    r.reader = zeroed<std::uint32_t>(r.granules());
  }
  sites_.assign(launch.emitted.sites.size(), {});
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = launch.emitted.sites[i];
    sites_[i].kind = site.kind;
    sites_[i].size = static_cast<std::uint64_t>(tile::elem_bytes(site.elem));
    const RegionId region =
        site.parameter >= 0 ? launch.parameters[static_cast<std::size_t>(site.parameter)].region : -1;
    sites_[i].fixed = region >= 0;
    if (region >= 0) sites_[i].region = &regions_[static_cast<std::size_t>(region)];
  }
  program_ = -1;
  const Hooks hooks{this, access, failed};
  char* const scratch = thread_scratch(launch.emitted.scratch_bytes);
  if (backwards)
    for (std::int64_t p = programs; p-- > 0;) kernel(arguments, p, p + 1, scratch, &hooks);
  else
    kernel(arguments, 0, programs, scratch, &hooks);
  report(launch);
  for (Region& r : regions_) {
    r.writer.reset();
    r.reader.reset();
  }
}

int CheckedMemory::access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value) {
  auto& memory = *static_cast<CheckedMemory*>(self);
  return memory.touch(memory.sites_[static_cast<std::size_t>(site)], static_cast<char*>(address), program, value);
}

void CheckedMemory::failed(void* self, std::int64_t site, std::int64_t program) {
  auto& memory = *static_cast<CheckedMemory*>(self);
  memory.note(memory.sites_[static_cast<std::size_t>(site)], assertion, nullptr, program);
}

int CheckedMemory::touch(SiteState& s, char* address, std::int64_t program, const void* value) {
  const auto inside = [&](const Region* r) {
    return r != nullptr && static_cast<std::uint64_t>(address - r->begin) + s.size <= r->bytes && address >= r->begin;
  };
  if (!inside(s.region)) {
    if (!s.fixed)
      for (Region& r : regions_)
        if (inside(&r)) s.region = &r;
    if (!inside(s.region)) {
      note(s, out_of_bounds, address, program);
      return 0;
    }
  }
  // Most accesses: of what was there before and is not written here.
  if (s.kind == Site::Kind::load && s.region->all_written && s.region->writer == nullptr) return 1;
  if (program != program_) {
    program_ = program;
    after_atomic_ = false;
  }
  const auto offset = static_cast<std::uint64_t>(address - s.region->begin);
  const std::uint64_t last = (offset + s.size - 1) >> s.region->shift;
  bool right = true;
  for (std::uint64_t g = offset >> s.region->shift; g <= last; ++g) {
    switch (s.kind) {
      case Site::Kind::load: right &= load(s, g, address, program); break;
      case Site::Kind::store: store(s, g, address, program, value); break;
      default: right &= atomic(s, g, address, program);
    }
  }
  if (s.kind == Site::Kind::atomic) after_atomic_ = true;
  return right ? 1 : 0;
}

bool CheckedMemory::load(SiteState& s, std::uint64_t granule, char* address, std::int64_t program) {
  Region& r = *s.region;
  if (!r.all_written && r.written[granule] == 0) {
    note(s, uninitialised, address, program);
    return false;
  }
  if (r.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program), writer = r.writer[granule];
  if (writer != 0 && (writer & ~kAtomicBit) != me && !after_atomic_) note(s, read_race, address, program, writer);
  std::uint32_t& reader = r.reader[granule];
  reader = reader == 0 || reader == me ? me : kMany;
  return true;
}

void CheckedMemory::store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program, const void* value) {
  Region& r = *s.region;
  r.stored = true;
  if (!r.all_written) r.written[granule] = 1;
  if (r.writer == nullptr) return;
  const std::uint32_t me = mark_of(program), writer = r.writer[granule], reader = r.reader[granule];
  if (!after_atomic_) {
    // Two programs that store the same bits leave the same memory in either order.
    if (writer != 0 && (writer & ~kAtomicBit) != me && std::memcmp(address, value, s.size) != 0)
      note(s, write_race, address, program, writer);
    if (reader != 0 && reader != me) note(s, read_race, address, program, reader);
  }
  r.writer[granule] = me;
}

bool CheckedMemory::atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program) {
  Region& r = *s.region;
  r.stored = true;
  if (!r.all_written && r.written[granule] == 0) {
    note(s, uninitialised, address, program);
    return false;
  }
  if (r.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program);
  std::uint32_t& writer = r.writer[granule];
  if (writer != 0 && (writer & kAtomicBit) == 0 && writer != me && !after_atomic_)
    note(s, write_race, address, program, writer);
  writer = (writer == 0 || (writer & ~kAtomicBit) == me ? me : kMany) | kAtomicBit;
  return true;
}

void CheckedMemory::note(SiteState& s, Fault fault, char* address, std::int64_t program, std::uint32_t other) {
  Finding& f = s.found[fault];
  if (f.count++ > 0) return;
  f.program = program;
  f.other = other;
  f.index = reinterpret_cast<std::intptr_t>(address);
}

void CheckedMemory::report(const Launch& launch) {
  for (std::size_t fault = 0; fault < kFaults; ++fault)
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (const Finding& f = sites_[i].found[fault]; f.count > 0 && errors_.size() < kErrorLimit)
        errors_.push_back(describe(launch, i, static_cast<Fault>(fault), f));
}

Error CheckedMemory::describe(const Launch& launch, std::size_t index, Fault fault, const Finding& found) const {
  const Site& site = launch.emitted.sites[index];
  const tile::Function& f = launch.function;
  Error e;
  e.code = Code::memory;
  if (site.source.file < f.files.size())
    e.where = where_in_file(f.files[site.source.file], site.source.place.line, site.source.place.column);
  const std::string program = "program " + program_text(found.program, launch.grid);
  const char* verb = site.kind == Site::Kind::load ? "loads" : site.kind == Site::Kind::store ? "stores" : "changes";
  std::string what = fmt::format("address {:#x}", static_cast<std::uint64_t>(found.index)),
              range = "no buffer of this launch";
  if (site.parameter >= 0) {
    const Parameter& p = launch.parameters[static_cast<std::size_t>(site.parameter)];
    const std::int64_t size = tile::elem_bytes(site.elem);
    const std::string& name = f.parameters[static_cast<std::size_t>(site.parameter)];
    what = fmt::format("{}[{}]", name, (found.index - reinterpret_cast<std::intptr_t>(p.pointer)) / size);
    if (p.region >= 0) {
      const Region& r = regions_[static_cast<std::size_t>(p.region)];
      const std::int64_t first = (r.begin - static_cast<char*>(p.pointer)) / size;
      const auto count = static_cast<std::int64_t>(r.bytes) / size;
      range = count == 0 ? "a buffer without elements" : fmt::format("{}[{}..{}]", name, first, first + count - 1);
    }
  }
  const std::string times = found.count == 1 ? "" : fmt::format("{} elements at this line", found.count);
  switch (fault) {
    case out_of_bounds:
      e.message =
          fmt::format("kernel {}: {} {} {}, which is out of bounds: allowed is {}", f.name, program, verb, what, range);
      e.notes = {"mask it: tl.load(p + offs, mask=offs < n), tl.store(p + offs, x, mask=offs < n)"};
      break;
    case uninitialised:
      e.message = fmt::format("kernel {}: {} {} {}, which nothing has written", f.name, program, verb, what);
      e.notes = {"torch.empty leaves memory as it is: store to it first, or allocate with torch.zeros"};
      break;
    case write_race:
      e.message = fmt::format("kernel {}: {} {} {}, where {} of the same launch stored another value", f.name, program,
                              verb, what, other_text(found.other, launch.grid));
      e.notes = {"programs run in any order: give each its own elements, or use tl.atomic_add"};
      break;
    case read_race:
      e.message = fmt::format("kernel {}: {} {} {}, which {} of the same launch {}", f.name, program, verb, what,
                              other_text(found.other, launch.grid), site.kind == Site::Kind::load ? "wrote" : "read");
      e.notes = {"programs run in any order: launch a second kernel for what needs the results of all"};
      break;
    case assertion:
      e.code = Code::kernel;
      e.message =
          fmt::format("kernel {}: {}: assertion fails{}{}", f.name, program, site.text.empty() ? "" : ": ", site.text);
  }
  if (!times.empty()) e.notes.insert(e.notes.begin(), times);
  return e;
}

}  // namespace passnet::tile_cpu
