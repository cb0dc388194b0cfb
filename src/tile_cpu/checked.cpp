#include "tile_cpu/checked.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tile_cpu/launch.h"

namespace passnet::tile_cpu {

using tile::Fault;
using tile::kAtomicMark;
using tile::kManyMark;
using tile::mark_of;
using tile::Site;

void CheckedMemory::Unmap::operator()(void* p) const { ::munmap(p, bytes); }

template <class T>
CheckedMemory::Zeroed<T> CheckedMemory::zeroed(std::uint64_t count) {
  const std::uint64_t bytes = std::max<std::uint64_t>(count, 1) * sizeof(T);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(Code::limit, "out of memory for the shadow of a checked run; --no-checked needs none");
  ::madvise(memory, bytes, MADV_HUGEPAGE);  // 512 times fewer page faults, where the system has them
  return Zeroed<T>(static_cast<T*>(memory), Unmap{bytes});
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

bool CheckedMemory::is_written(RegionId region, std::int64_t byte) {
  const Region& r = regions_[static_cast<std::size_t>(region)];
  return r.all_written || r.written[static_cast<std::uint64_t>(byte) >> r.shift] != 0;
}

bool CheckedMemory::is_all_written(RegionId region) {
  Region& r = regions_[static_cast<std::size_t>(region)];
  r.all_written = r.all_written || std::memchr(r.written.get(), 0, r.granules()) == nullptr;
  return r.all_written;
}

void CheckedMemory::run(CheckedKernel kernel, std::int64_t scratch_bytes, const Launch& launch,
                        const Argument* arguments) {
  check_size(launch);
  for (std::size_t i = 0; i < regions_.size(); ++i) is_all_written(static_cast<RegionId>(i));
  for (const Parameter& p : launch.parameters) {
    if (p.region < 0 || !p.written) continue;
    Region& r = regions_[static_cast<std::size_t>(p.region)];
    if (r.writer != nullptr) continue;  // by another parameter
    r.writer = zeroed<std::uint32_t>(r.granules());
    const bool read = std::any_of(launch.sites.begin(), launch.sites.end(), [&](const Site& site) {
      const RegionId from = launch.region_of(site);
      return site.kind == Site::Kind::load && (from < 0 || from == p.region);
    });
    if (read) r.reader = zeroed<std::uint32_t>(r.granules());
  }
  std::vector<tile::Findings> found(launch.sites.size());
  sites_.assign(launch.sites.size(), {});
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = launch.sites[i];
    const RegionId region = launch.region_of(site);
    sites_[i] = {region < 0 ? nullptr : &regions_[static_cast<std::size_t>(region)], region >= 0,
                 static_cast<std::uint64_t>(tile::elem_bytes(site.elem)), site.kind, &found[i]};
  }
  program_ = -1;
  std::vector<Hooks::Window> windows;
  for (const SiteState& s : sites_) windows.push_back(window(s));
  const Hooks hooks{windows.data(), this, access, failed};
  char* const scratch = thread_scratch(scratch_bytes);
  if (launch.backwards)
    for (std::int64_t p = launch.programs(); p-- > 0;) kernel(arguments, p, p + 1, scratch, &hooks);
  else
    kernel(arguments, 0, launch.programs(), scratch, &hooks);
  report(launch, found);
  for (Region& r : regions_) {
    r.writer.reset();
    r.reader.reset();
  }
}

// What a site may touch without asking: loads of what was there before, stores; whole elements where others' marks are
// to be seen.
Hooks::Window CheckedMemory::window(const SiteState& s) const {
  Region* r = s.region;
  if (r == nullptr) return {};
  const bool marked = r->writer != nullptr, whole = s.size == std::uint64_t{1} << r->shift;
  const bool load = s.kind == Site::Kind::load && r->all_written && (!marked || whole);
  const bool store = s.kind == Site::Kind::store && marked && whole;
  if (!load && !store) return {};
  return {r->begin,        r->begin + r->bytes, r->shift, &r->stored, r->all_written ? nullptr : r->written.get(),
          r->writer.get(), r->reader.get()};
}

int CheckedMemory::access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value) {
  auto& memory = *static_cast<CheckedMemory*>(self);
  return memory.touch(memory.sites_[static_cast<std::size_t>(site)], static_cast<char*>(address), program, value);
}

void CheckedMemory::failed(void* self, std::int64_t site, std::int64_t program) {
  auto& memory = *static_cast<CheckedMemory*>(self);
  memory.note(memory.sites_[static_cast<std::size_t>(site)], Fault::assertion, nullptr, program);
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
      note(s, Fault::out_of_bounds, address, program);
      return 0;
    }
  }
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
    note(s, Fault::uninitialised, address, program);
    return false;
  }
  if (r.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program), writer = r.writer[granule];
  if (writer != 0 && (writer & ~kAtomicMark) != me && !after_atomic_)
    note(s, Fault::read_race, address, program, writer);
  std::uint32_t& reader = r.reader[granule];
  reader = reader == 0 || reader == me ? me : kManyMark;
  return true;
}

void CheckedMemory::store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program, const void* value) {
  Region& r = *s.region;
  r.stored = 1;
  if (!r.all_written) r.written[granule] = 1;
  if (r.writer == nullptr) return;
  const std::uint32_t me = mark_of(program), writer = r.writer[granule],
                      reader = r.reader != nullptr ? r.reader[granule] : 0;
  if (!after_atomic_) {
    // Two programs that store the same bits leave the same memory in either order.
    if (writer != 0 && (writer & ~kAtomicMark) != me && std::memcmp(address, value, s.size) != 0)
      note(s, Fault::write_race, address, program, writer);
    if (reader != 0 && reader != me) note(s, Fault::read_race, address, program, reader);
  }
  r.writer[granule] = me;
}

bool CheckedMemory::atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program) {
  Region& r = *s.region;
  r.stored = 1;
  if (!r.all_written && r.written[granule] == 0) {
    note(s, Fault::uninitialised, address, program);
    return false;
  }
  if (r.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program);
  std::uint32_t& writer = r.writer[granule];
  if (writer != 0 && (writer & kAtomicMark) == 0 && writer != me && !after_atomic_)
    note(s, Fault::write_race, address, program, writer);
  writer = (writer == 0 || (writer & ~kAtomicMark) == me ? me : kManyMark) | kAtomicMark;
  return true;
}

void CheckedMemory::note(SiteState& s, Fault fault, char* address, std::int64_t program, std::uint32_t other) {
  tile::Finding& f = (*s.found)[static_cast<std::size_t>(fault)];
  if (f.count++ > 0) return;
  f.program = program;
  f.other = other;
  f.address = reinterpret_cast<std::intptr_t>(address);
}

}  // namespace passnet::tile_cpu
