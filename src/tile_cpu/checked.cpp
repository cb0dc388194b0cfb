#include "tile_cpu/checked.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "base/process.h"
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
  r.shift = std::countr_zero(static_cast<std::uint64_t>(std::min(granule, tile::kLargestGranule)));
  r.all_written = written;
  if (!written) r.written = zeroed<std::uint8_t>(r.granules());
  regions_.push_back(std::move(r));
  return static_cast<RegionId>(regions_.size() - 1);
}

bool CheckedMemory::is_written(RegionId region, std::int64_t byte) {
  const Region& r = regions_[static_cast<std::size_t>(region)];
  return r.all_written || tile::is_whole(r.written[static_cast<std::uint64_t>(byte) >> r.shift], r.shift);
}

bool CheckedMemory::is_all_written(RegionId region) {
  Region& r = regions_[static_cast<std::size_t>(region)];
  if (r.all_written) return true;
  std::uint8_t bytes = 0xff;
  for (std::uint64_t g = 0; g < r.granules(); ++g) bytes &= r.written[g];
  return r.all_written = tile::is_whole(bytes, r.shift);
}

// One thread's way over programs of a launch, and which elements it has touched there.
class CheckedMemory::Walk {
 public:
  Walk(CheckedMemory& memory, const Launch& launch)
      : memory_(memory), regions_(memory.regions_.size()), found_(launch.sites.size()) {
    for (std::size_t r = 0; r < regions_.size(); ++r)
      regions_[r].touched.resize(memory.regions_[r].granules() / kTogether + 1);
    for (const Parameter& p : launch.parameters) {
      if (p.region < 0 || !p.written) continue;
      Marks& marks = regions_[static_cast<std::size_t>(p.region)];
      if (marks.writer != nullptr) continue;  // by another parameter
      const std::uint64_t granules = memory.regions_[static_cast<std::size_t>(p.region)].granules();
      marks.writer = zeroed<std::uint32_t>(granules);
      if (may_load(launch, p.region)) marks.reader = zeroed<std::uint32_t>(granules);
    }
    for (const Site& site : launch.sites) {
      const RegionId region = launch.region_of(site);
      sites_.push_back({region, region >= 0, static_cast<std::uint64_t>(tile::elem_bytes(site.elem)), site.kind,
                        site.orders, site.replaces});
      windows_.push_back(window(sites_.back()));
    }
    hooks_.windows = windows_.data();
  }

  static bool may_load(const Launch& launch, RegionId region) {
    return std::any_of(launch.sites.begin(), launch.sites.end(), [&](const Site& site) {
      const RegionId from = launch.region_of(site);
      return site.kind == Site::Kind::load && (from < 0 || from == region);
    });
  }

  void over(std::int64_t begin, std::int64_t end, CheckedKernel kernel, const Emitted& emitted,
            const Argument* arguments) {
    kernel(arguments, begin, end, thread_scratch(emitted.scratch_bytes), &hooks_);
  }

  const std::vector<tile::Findings>& found() const { return found_; }
  bool is_clean() const {
    return std::all_of(found_.begin(), found_.end(), [](const tile::Findings& of_site) {
      return std::all_of(of_site.begin(), of_site.end(), [](const tile::Finding& f) { return f.count == 0; });
    });
  }
  bool is_stored(std::size_t region) const {
    const auto& touched = regions_[region].touched;
    return std::find(touched.begin(), touched.end(), 1) != touched.end();
  }
  // Some element was written by both.
  bool overlaps(const Walk& other) const {
    for (std::size_t r = 0; r < regions_.size(); ++r)
      for (std::size_t b = 0; b < regions_[r].touched.size(); ++b) {
        if ((regions_[r].touched[b] & other.regions_[r].touched[b]) == 0) continue;
        const std::uint32_t *mine = regions_[r].writer.get() + b * kTogether,
                            *theirs = other.regions_[r].writer.get() + b * kTogether;
        std::uint32_t both = 0;
        for (std::size_t g = 0; g < kTogether; ++g)
          both |= static_cast<std::uint32_t>(mine[g] != 0) & static_cast<std::uint32_t>(theirs[g] != 0);
        if (both != 0) return true;
      }
    return false;
  }

 private:
  static constexpr std::uint64_t kTogether = 1024;  // marks of a page: there are whole pages of them
  // By granule, where the launch may write; readers only if it may read there, too.
  struct Marks {
    Zeroed<std::uint32_t> writer, reader;
    std::vector<std::uint8_t> touched;  // by kTogether granules
  };
  struct SiteState {
    RegionId region = -1;  // that its parameter points into, or the last that was hit
    bool fixed = false;
    std::uint64_t size = 0;
    Site::Kind kind = Site::Kind::load;
    bool orders = false;
    bool replaces = false;
  };

  Region& region_of(const SiteState& s) { return memory_.regions_[static_cast<std::size_t>(s.region)]; }
  Marks& marks_of(const SiteState& s) { return regions_[static_cast<std::size_t>(s.region)]; }
  Hooks::Window window(const SiteState& s);
  static int access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value);
  static void failed(void* self, std::int64_t site, std::int64_t program);
  bool find_region(SiteState& s, const char* address) const;
  int touch(SiteState& s, char* address, std::int64_t program, const void* value);
  std::uint8_t bytes_of(const SiteState& s, std::uint64_t granule, const char* address);
  bool is_written(const SiteState& s, std::uint64_t granule, const char* address);
  bool load(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  void store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program, const void* value);
  bool atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  void note(const SiteState& s, Fault fault, char* address, std::int64_t program, std::uint32_t other = 0);

  CheckedMemory& memory_;
  std::vector<Marks> regions_;
  std::vector<SiteState> sites_;
  std::vector<Hooks::Window> windows_;
  Hooks hooks_{nullptr, this, access, failed, tile::kMostTurns};
  std::vector<tile::Findings> found_;
  std::int64_t program_ = -1;  // that runs now
  bool after_atomic_ = false;  // it has done one that orders
};

namespace {

constexpr double kParallelFrom = 100'000;  // nanoseconds of the fast build, which takes some tenth of the time
constexpr std::size_t kMostThreads = 4;    // each has marks of its own
constexpr std::int64_t kMostScratch = std::int64_t{64} << 20;

}  // namespace

void CheckedMemory::run(CheckedKernel kernel, const Emitted& emitted, const Launch& launch, const Argument* arguments) {
  check_size(launch);
  for (std::size_t i = 0; i < regions_.size(); ++i) is_all_written(static_cast<RegionId>(i));
  const std::int64_t programs = launch.programs();
  if (!launch.backwards && emitted.scratch_bytes <= kMostScratch &&
      emitted.program_cost * static_cast<double>(programs) >= kParallelFrom && is_in_any_order(launch)) {
    const std::size_t threads =
        std::min({kMostThreads, static_cast<std::size_t>(core_count()), static_cast<std::size_t>(programs)});
    if (threads > 1 && run_by_threads(threads, kernel, emitted, launch, arguments)) return;
  }
  Walk walk(*this, launch);
  if (launch.backwards)
    for (std::int64_t p = programs; p-- > 0;) walk.over(p, p + 1, kernel, emitted, arguments);
  else
    walk.over(0, programs, kernel, emitted, arguments);
  for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].stored |= walk.is_stored(i);
  report(launch, walk.found());
}

// Nothing is read that the launch writes: what programs see does not depend on their order, and they may run twice.
bool CheckedMemory::is_in_any_order(const Launch& launch) const {
  const auto apart = [&](RegionId region) {
    const Region& r = regions_[static_cast<std::size_t>(region)];
    return std::none_of(regions_.begin(), regions_.end(), [&](const Region& other) {
      return &other != &r && r.begin < other.begin + other.bytes && other.begin < r.begin + r.bytes;
    });
  };
  return std::all_of(launch.parameters.begin(), launch.parameters.end(),
                     [&](const Parameter& p) {
                       return p.region < 0 || !p.written || (!Walk::may_load(launch, p.region) && apart(p.region));
                     }) &&
         std::all_of(launch.sites.begin(), launch.sites.end(), [&](const Site& site) {
           return site.kind != Site::Kind::atomic && (site.kind != Site::Kind::store || launch.region_of(site) >= 0);
         });
}

// Whether all is right: where something is found, or two threads wrote one element, only programs one after another
// show what there is to say.
bool CheckedMemory::run_by_threads(std::size_t threads, CheckedKernel kernel, const Emitted& emitted,
                                   const Launch& launch, const Argument* arguments) {
  std::vector<std::unique_ptr<Walk>> walks;
  while (walks.size() < threads) walks.push_back(std::make_unique<Walk>(*this, launch));
  const auto begin_of = [&](std::size_t i) {
    return launch.programs() * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(threads);
  };
  parallel_run(static_cast<int>(threads), threads,
               [&](std::size_t i) { walks[i]->over(begin_of(i), begin_of(i + 1), kernel, emitted, arguments); });
  if (!std::all_of(walks.begin(), walks.end(), [](const auto& walk) { return walk->is_clean(); })) return false;
  for (std::size_t i = 0; i < walks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (walks[i]->overlaps(*walks[j])) return false;
  for (std::size_t i = 0; i < regions_.size(); ++i)
    for (const auto& walk : walks) regions_[i].stored |= walk->is_stored(i);
  return true;
}

// What a site may touch without asking: loads of what was there before, stores; whole elements where others' marks are
// to be seen.
Hooks::Window CheckedMemory::Walk::window(const SiteState& s) {
  if (s.region < 0) return {};
  const Region& r = region_of(s);
  Marks& m = marks_of(s);
  const bool marked = m.writer != nullptr, whole = s.size == std::uint64_t{1} << r.shift;
  const bool load = s.kind == Site::Kind::load && r.all_written && (!marked || whole);
  const bool store = s.kind == Site::Kind::store && marked && whole;
  if (!load && !store) return {};
  return {r.begin,        r.begin + r.bytes, r.shift, m.touched.data(), r.all_written ? nullptr : r.written.get(),
          m.writer.get(), m.reader.get()};
}

int CheckedMemory::Walk::access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value) {
  auto& walk = *static_cast<Walk*>(self);
  return walk.touch(walk.sites_[static_cast<std::size_t>(site)], static_cast<char*>(address), program, value);
}

void CheckedMemory::Walk::failed(void* self, std::int64_t site, std::int64_t program) {
  auto& walk = *static_cast<Walk*>(self);
  const SiteState& s = walk.sites_[static_cast<std::size_t>(site)];
  walk.note(s, Fault::assertion, nullptr, program);
  if (s.kind == Site::Kind::loop) walk.hooks_.turns = 0;  // others would wait as long
}

// The element lies in the site's region; in any, where it is not known to be in one.
bool CheckedMemory::Walk::find_region(SiteState& s, const char* address) const {
  const auto inside = [&](RegionId region) {
    if (region < 0) return false;
    const Region& r = memory_.regions_[static_cast<std::size_t>(region)];
    return static_cast<std::uint64_t>(address - r.begin) + s.size <= r.bytes && address >= r.begin;
  };
  if (inside(s.region)) return true;
  if (s.fixed) return false;
  for (std::size_t r = 0; r < memory_.regions_.size(); ++r)
    if (inside(static_cast<RegionId>(r))) s.region = static_cast<RegionId>(r);
  return inside(s.region);
}

int CheckedMemory::Walk::touch(SiteState& s, char* address, std::int64_t program, const void* value) {
  if (!find_region(s, address)) {
    note(s, Fault::out_of_bounds, address, program);
    return 0;
  }
  const Region& r = region_of(s);
  if (s.kind == Site::Kind::load && r.all_written && marks_of(s).writer == nullptr) return 1;
  if (program != program_) {
    program_ = program;
    after_atomic_ = false;
  }
  const auto offset = static_cast<std::uint64_t>(address - r.begin);
  const std::uint64_t last = (offset + s.size - 1) >> r.shift;
  bool right = true;
  for (std::uint64_t g = offset >> r.shift; g <= last; ++g) {
    switch (s.kind) {
      case Site::Kind::load: right &= load(s, g, address, program); break;
      case Site::Kind::store: store(s, g, address, program, value); break;
      default: right &= atomic(s, g, address, program);
    }
  }
  after_atomic_ |= s.orders;
  return right ? 1 : 0;
}

std::uint8_t CheckedMemory::Walk::bytes_of(const SiteState& s, std::uint64_t granule, const char* address) {
  const Region& r = region_of(s);
  return tile::bytes_of_granule(granule, r.shift, static_cast<std::uint64_t>(address - r.begin), s.size);
}

bool CheckedMemory::Walk::is_written(const SiteState& s, std::uint64_t granule, const char* address) {
  const Region& r = region_of(s);
  return r.all_written || (~r.written[granule] & bytes_of(s, granule, address)) == 0;
}

bool CheckedMemory::Walk::load(SiteState& s, std::uint64_t granule, char* address, std::int64_t program) {
  if (!is_written(s, granule, address)) {
    note(s, Fault::uninitialised, address, program);
    return false;
  }
  Marks& m = marks_of(s);
  if (m.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program), writer = m.writer[granule];
  if (writer != 0 && (writer & ~kAtomicMark) != me && !after_atomic_)
    note(s, Fault::read_race, address, program, writer);
  std::uint32_t& reader = m.reader[granule];
  reader = reader == 0 || reader == me ? me : kManyMark;
  return true;
}

void CheckedMemory::Walk::store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program,
                                const void* value) {
  Region& r = region_of(s);
  Marks& m = marks_of(s);
  m.touched[granule / kTogether] = 1;
  if (!r.all_written) r.written[granule] |= bytes_of(s, granule, address);
  if (m.writer == nullptr) return;
  const std::uint32_t me = mark_of(program), writer = m.writer[granule],
                      reader = m.reader != nullptr ? m.reader[granule] : 0;
  if (!after_atomic_) {
    // Two programs that store the same bits leave the same memory in either order.
    if (writer != 0 && (writer & ~kAtomicMark) != me && std::memcmp(address, value, s.size) != 0)
      note(s, Fault::write_race, address, program, writer);
    if (reader != 0 && reader != me) note(s, Fault::read_race, address, program, reader);
  }
  m.writer[granule] = me;
}

bool CheckedMemory::Walk::atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program) {
  Marks& m = marks_of(s);
  m.touched[granule / kTogether] = 1;
  if (s.replaces) {
    Region& r = region_of(s);
    if (!r.all_written) r.written[granule] |= bytes_of(s, granule, address);
  } else if (!is_written(s, granule, address)) {
    note(s, Fault::uninitialised, address, program);
    return false;
  }
  if (m.writer == nullptr) return true;
  const std::uint32_t me = mark_of(program);
  std::uint32_t& writer = m.writer[granule];
  if (writer != 0 && (writer & kAtomicMark) == 0 && writer != me && !after_atomic_)
    note(s, Fault::write_race, address, program, writer);
  writer = (writer == 0 || (writer & ~kAtomicMark) == me ? me : kManyMark) | kAtomicMark;
  return true;
}

void CheckedMemory::Walk::note(const SiteState& s, Fault fault, char* address, std::int64_t program,
                               std::uint32_t other) {
  if (hooks_.turns == 0) return;  // a loop was left before its end: what follows is not the kernel's doing
  const auto site = static_cast<std::size_t>(&s - sites_.data());
  tile::Finding& f = found_[site][static_cast<std::size_t>(fault)];
  if (f.count++ > 0) return;
  f.program = program;
  f.other = other;
  f.address = reinterpret_cast<std::intptr_t>(address);
}

}  // namespace passnet::tile_cpu
