#include <fmt/format.h>

#include <algorithm>

#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

void Emitter::barrier() {
  line("__syncthreads();");
  touched_.clear();
  shared_used_ = false;
}

void Emitter::shared_written() {
  barrier();
  shared_used_ = true;
}

// What nobody holds of the block's shared memory, as an array; every such use has all of it, so the last one must be
// over.
std::string Emitter::shared_array(const std::string& t, std::int64_t bytes_each, std::int64_t count) {
  if (shared_used_) shared_written();
  shared_bytes_ = std::max(shared_bytes_, shared_base_ + bytes_each * count);
  const std::string name = fresh("shared");
  line(fmt::format("{}* const {} = ({}*){};", t, name, t,
                   shared_base_ == 0 ? "shared_memory" : fmt::format("(shared_memory + {})", shared_base_)));
  return name;
}

std::int64_t Emitter::hold_shared(std::int64_t bytes) {
  if (shared_used_) shared_written();  // who had it before
  const std::int64_t out = shared_base_;
  shared_base_ += shared_size(bytes);
  shared_bytes_ = std::max(shared_bytes_, shared_base_);
  return out;
}

// Written as it lies, read as it is wanted. Rows are one word longer than they are, against bank conflicts.
Ref Emitter::convert(ValueId v, const Ref& from, const Layout& from_layout, const Layout& to) {
  const Type& t = type(v);
  const std::string name = type_name(t);
  const std::int64_t bytes = t.pointer ? 8 : register_bytes(t.elem);
  const int row = t.shape.rank == 0 ? 0 : log2_of(t.shape[static_cast<std::size_t>(t.shape.rank - 1)]);
  const bool padded = t.shape.rank > 1 && row > 0;
  const std::int64_t n = t.shape.elements();
  const std::string shared = shared_array(name, bytes, padded ? n + (n >> row) : n);
  const auto place = [&](const Layout& layout) {
    const std::string at = coordinate(layout, {0, layout.count}, "e");
    return padded ? fmt::format("padded<{}>({})", row, at) : at;
  };
  const std::string guard = replica_guard(from_layout);
  line(fmt::format("{}EACH(e, {}) {}[{}] = {};", guard.empty() ? "" : fmt::format("if ({}) ", guard),
                   from_layout.registers(), shared, place(from_layout), from.at("e")));
  shared_written();
  const Ref out = make_array(v, to);
  line(fmt::format("EACH(e, {}) {}[e] = {}[{}];", out.registers, out.name, shared, place(to)));
  if (t.is_tile() && !(from_layout == to)) remember(v, to, out);
  return out;
}

}  // namespace passnet::tile_cuda
