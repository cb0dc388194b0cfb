#include "tile/checked.h"

#include <fmt/format.h>

#include "base/file.h"
#include "tile/effects.h"

namespace passnet::tile {

namespace {

std::string program_text(std::int64_t program, const std::array<std::int64_t, 3>& grid) {
  return fmt::format("({}, {}, {})", program % grid[0], program / grid[0] % grid[1], program / grid[0] / grid[1]);
}

std::string other_text(std::uint32_t mark, const std::array<std::int64_t, 3>& grid) {
  mark &= ~kAtomicMark;
  return mark == kManyMark ? "others" : "program " + program_text(static_cast<std::int64_t>(mark) - 1, grid);
}

Site::Kind kind_of(Code code) {
  switch (code) {
    case Code::load: return Site::Kind::load;
    case Code::store: return Site::Kind::store;
    case Code::check: return Site::Kind::assertion;
    case Code::while_: return Site::Kind::loop;
    default: return Site::Kind::atomic;
  }
}

std::string verb_of(const Site& site) {
  return site.kind == Site::Kind::load ? "loads" : site.kind == Site::Kind::store ? "stores" : "changes";
}

Where where_of(const Function& f, const Site& site) {
  if (site.source.file >= f.files.size()) return {};
  return where_in_file(f.files[site.source.file], site.source.place.line, site.source.place.column);
}

}  // namespace

ElementNames element_names(const Function& function, const Site& site, std::int64_t address, const void* pointer,
                           const std::optional<Extent>& extent) {
  ElementNames out{fmt::format("address {:#x}", static_cast<std::uint64_t>(address)), "no buffer of this launch"};
  if (site.parameter < 0) return out;
  const std::int64_t size = elem_bytes(site.elem);
  const std::string& name = function.parameters[static_cast<std::size_t>(site.parameter)];
  out.element = fmt::format("{}[{}]", name, (address - reinterpret_cast<std::intptr_t>(pointer)) / size);
  if (!extent) return out;
  const std::int64_t first = (extent->begin - static_cast<const char*>(pointer)) / size;
  const auto count = static_cast<std::int64_t>(extent->bytes) / size;
  out.allowed = count == 0 ? "a buffer without elements" : fmt::format("{}[{}..{}]", name, first, first + count - 1);
  return out;
}

Error out_of_bounds(const Function& function, const Site& site, const std::string& program, const ElementNames& names) {
  return {passnet::Code::memory,
          where_of(function, site),
          fmt::format("kernel {}: program {} {} {}, which is out of bounds: allowed is {}", function.name, program,
                      verb_of(site), names.element, names.allowed),
          {"mask it: tl.load(p + offs, mask=offs < n), tl.store(p + offs, x, mask=offs < n)"}};
}

Site site_of(const Function& function, const Op& op, std::int32_t parameter) {
  Site out;
  out.kind = kind_of(op.code);
  out.source = op.source;
  out.text = op.text;
  if (out.kind == Site::Kind::assertion || out.kind == Site::Kind::loop) return out;
  out.parameter = parameter;
  out.elem = function.type(op.operands[0]).elem;
  out.orders = out.kind == Site::Kind::atomic && is_used(function, op.result());
  out.replaces = op.code == Code::atomic && op.atomic == Atomic::exchange && !out.orders;
  return out;
}

void Shadow::check_size(const Launch& launch) {
  if (launch.programs() >= kManyMark)
    fail(passnet::Code::limit,
         fmt::format("a checked run of {} programs; the limit is {}", launch.programs(), kManyMark - 1));
}

void Shadow::report(const Launch& launch, std::span<const Findings> by_site) {
  for (std::size_t fault = 0; fault < kFaults; ++fault)
    for (std::size_t i = 0; i < by_site.size(); ++i)
      if (const Finding& f = by_site[i][fault]; f.count > 0 && errors_.size() < kErrorLimit)
        errors_.push_back(describe(launch, launch.sites[i], static_cast<Fault>(fault), f));
}

Error Shadow::describe(const Launch& launch, const Site& site, Fault fault, const Finding& found) const {
  const Function& f = launch.function;
  const Parameter p = site.parameter < 0 ? Parameter{} : launch.parameters[static_cast<std::size_t>(site.parameter)];
  const ElementNames names =
      element_names(f, site, found.address, p.pointer, p.region < 0 ? std::nullopt : std::optional(extent(p.region)));
  const std::string at = program_text(found.program, launch.grid), program = "program " + at, verb = verb_of(site);
  const std::string& what = names.element;
  Error e{passnet::Code::memory, where_of(f, site), {}, {}};
  switch (fault) {
    case Fault::out_of_bounds: e = out_of_bounds(f, site, at, names); break;
    case Fault::uninitialised:
      e.message = fmt::format("kernel {}: {} {} {}, which nothing has written", f.name, program, verb, what);
      e.notes = {"torch.empty leaves memory as it is: store to it first, or allocate with torch.zeros"};
      break;
    case Fault::write_race:
      e.message = fmt::format("kernel {}: {} {} {}, where {} of the same launch stored another value", f.name, program,
                              verb, what, other_text(found.other, launch.grid));
      e.notes = {"programs run in any order: give each its own elements, or use tl.atomic_add"};
      break;
    case Fault::read_race:
      e.message = fmt::format("kernel {}: {} {} {}, which {} of the same launch {}", f.name, program, verb, what,
                              other_text(found.other, launch.grid), site.kind == Site::Kind::load ? "wrote" : "read");
      e.notes = {"programs run in any order: launch a second kernel for what needs the results of all"};
      break;
    case Fault::assertion:
      e.code = passnet::Code::kernel;
      if (site.kind == Site::Kind::loop) {
        e.message =
            fmt::format("kernel {}: {}: a while loop has not ended after {} turns", f.name, program, kMostTurns);
        e.notes = {"programs run in any order: one that waits for another may wait for ever"};
        return e;
      }
      e.message =
          fmt::format("kernel {}: {}: assertion fails{}{}", f.name, program, site.text.empty() ? "" : ": ", site.text);
  }
  if (found.count != 1) e.notes.insert(e.notes.begin(), fmt::format("{} elements at this line", found.count));
  return e;
}

}  // namespace passnet::tile
