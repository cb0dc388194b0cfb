#include "tile_cuda/checked.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace passnet::tile_cuda {

namespace {

// As in prelude/checked.cuh.
struct DeviceRegion {
  std::uint64_t begin, bytes;
  std::uint32_t shift, all_written, stored, unused;
  std::uint64_t written, writer, reader;
};
struct DeviceFinding {
  std::uint64_t count = 0, first = std::numeric_limits<std::uint64_t>::max(), far = 0;
  std::uint32_t other = 0, unused = 0;
};
struct DeviceSite {
  std::uint64_t base = 0;
  std::int32_t region = -1;
  std::uint32_t kind = 0, size = 1, replaces = 0;
  std::array<DeviceFinding, tile::kFaults> found;
};
struct DeviceCheck {
  std::uint64_t regions, sites, region_count;
};
static_assert(sizeof(DeviceRegion) == 56 && sizeof(DeviceFinding) == 32 && sizeof(DeviceSite) == 24 + 5 * 32);
// So many programs run one after another, so that what is said of a race is the same every time. More run at once;
// their marks tell the same faults, but which of two programs is named depends on who was first.
constexpr std::int64_t kOneByOne = 1024;
constexpr int kElementBits = 33;  // of DeviceFinding::first

tile::Finding finding_of(const DeviceSite& site, const DeviceFinding& found) {
  constexpr std::int64_t kHalf = std::int64_t{1} << (kElementBits - 1);
  tile::Finding out;
  out.count = static_cast<std::int64_t>(found.count);
  out.program = static_cast<std::int64_t>(found.first >> kElementBits);
  out.other = found.other;
  const auto element = static_cast<std::int64_t>(found.first & (2 * kHalf - 1));
  const bool near = element > 0 && element < 2 * kHalf - 1;
  out.address = near ? static_cast<std::int64_t>(site.base) + (element - kHalf) * site.size
                     : static_cast<std::int64_t>(found.far);
  return out;
}

}  // namespace

CheckedMemory::Memory CheckedMemory::zeroed(std::uint64_t bytes) const {
  const std::uint64_t words = bytes / 4 + 1;
  auto out = std::make_unique<cuda::Memory>(device_, words * 4);
  device_.check(device_.call.MemsetD32Async(out->address(), 0, words, nullptr), "cannot fill memory");
  return out;
}

template <class T>
CheckedMemory::Memory CheckedMemory::uploaded(const std::vector<T>& items) const {
  auto out = std::make_unique<cuda::Memory>(device_, items.size() * sizeof(T) + 1);
  if (!items.empty())
    device_.check(device_.call.MemcpyHtoD(out->address(), items.data(), items.size() * sizeof(T)),
                  "cannot copy to the device");
  return out;
}

template <class T>
void CheckedMemory::download(std::vector<T>& items, const cuda::Memory& from) const {
  if (!items.empty())
    device_.check(device_.call.MemcpyDtoH(items.data(), from.address(), items.size() * sizeof(T)),
                  "cannot copy from the device");
}

CheckedMemory::RegionId CheckedMemory::add(void* address, std::int64_t bytes, std::int64_t granule, bool written) {
  device_.enter();
  Region r;
  r.begin = static_cast<char*>(address);
  r.bytes = address == nullptr ? 0 : static_cast<std::uint64_t>(bytes);
  r.shift = std::countr_zero(static_cast<std::uint64_t>(std::min(granule, tile::kLargestGranule)));
  r.all_written = written;
  if (!written) r.written = zeroed((r.granules() + 3) / 4 * 4);  // in words
  regions_.push_back(std::move(r));
  return static_cast<RegionId>(regions_.size() - 1);
}

bool CheckedMemory::is_written(RegionId region, std::int64_t byte) {
  Region& r = regions_[static_cast<std::size_t>(region)];
  return r.all_written || tile::is_whole(written_granules(r)[static_cast<std::uint64_t>(byte) >> r.shift], r.shift);
}

bool CheckedMemory::is_all_written(RegionId region) {
  Region& r = regions_[static_cast<std::size_t>(region)];
  if (r.all_written) return true;
  const std::vector<std::uint8_t>& written = written_granules(r);
  return std::all_of(written.begin(), written.end(),
                     [&](std::uint8_t bytes) { return tile::is_whole(bytes, r.shift); });
}

const std::vector<std::uint8_t>& CheckedMemory::written_granules(Region& r) const {
  if (r.copy.empty()) {
    r.copy.resize(r.granules());
    download(r.copy, *r.written);
  }
  return r.copy;
}

void CheckedMemory::run(const LoadedKernel& kernel, const Launch& launch, std::vector<void*> arguments) {
  check_size(launch);
  device_.enter();
  device_.check(device_.call.CtxSynchronize(), "what ran before a checked kernel failed");
  std::vector<DeviceRegion> regions;
  for (Region& r : regions_) {
    r.copy.clear();
    regions.push_back({reinterpret_cast<std::uintptr_t>(r.begin), r.bytes, static_cast<std::uint32_t>(r.shift),
                       r.all_written ? 1U : 0U, 0, 0, r.written == nullptr ? 0 : r.written->address(), 0, 0});
  }
  std::vector<Memory> marks;
  for (const Parameter& p : launch.parameters) {
    if (p.region < 0 || !p.written) continue;
    DeviceRegion& r = regions[static_cast<std::size_t>(p.region)];
    if (r.writer != 0) continue;
    const std::uint64_t n = regions_[static_cast<std::size_t>(p.region)].granules();
    r.writer = marks.emplace_back(zeroed(n * sizeof(std::uint64_t)))->address();
    r.reader = marks.emplace_back(zeroed(n * sizeof(std::uint32_t)))->address();
  }
  std::vector<DeviceSite> sites(launch.sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const tile::Site& site = launch.sites[i];
    sites[i].region = launch.region_of(site);
    sites[i].kind = static_cast<std::uint32_t>(site.kind);
    sites[i].replaces = site.replaces ? 1 : 0;
    sites[i].size = static_cast<std::uint32_t>(tile::elem_bytes(site.elem));
    if (site.parameter >= 0)
      sites[i].base =
          reinterpret_cast<std::uintptr_t>(launch.parameters[static_cast<std::size_t>(site.parameter)].pointer);
  }
  const Memory at_regions = uploaded(regions), at_sites = uploaded(sites);
  const Memory check = uploaded(std::vector{DeviceCheck{at_regions->address(), at_sites->address(), regions.size()}});
  cuda::Address at_check = check->address();
  const std::int64_t programs = launch.programs();
  std::int64_t first = 0, step = launch.backwards ? -1 : 1;
  arguments.insert(arguments.end(), {&at_check, &first, &step});
  const std::int64_t chunk = programs <= kOneByOne ? 1 : programs;
  for (std::int64_t done = 0; done < programs; done += chunk) {
    first = launch.backwards ? programs - 1 - done : done;
    tile_cuda::launch(device_, kernel, {chunk, 1, 1}, true, arguments.data());
  }
  device_.check(device_.call.CtxSynchronize(), "the checked kernel failed");
  download(regions, *at_regions);
  download(sites, *at_sites);
  std::vector<tile::Findings> found(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (std::size_t f = 0; f < tile::kFaults; ++f) found[i][f] = finding_of(sites[i], sites[i].found[f]);
  for (std::size_t i = 0; i < regions.size(); ++i) regions_[i].stored |= regions[i].stored != 0;
  report(launch, found);
}

}  // namespace passnet::tile_cuda
