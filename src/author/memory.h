// In which order eager lays a result's dimensions in memory. Who asks for a view of the result later, or for its
// strides, sees it, so a pass has to store it the same way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace passnet::author {

enum class Memory : std::uint8_t {
  contiguous,     // row-major, whatever the operands are
  iterator,       // dimensions by the operands' strides, as TensorIterator has it
  preserve,       // the same by the first operand alone (at::MemoryFormat::Preserve)
  channels_last,  // channels innermost where the operands' are (suggest_memory_format), else row-major
};

struct Layout {
  std::vector<std::int64_t> sizes, strides;
};

// The dimensions of a result of these sizes, from the outermost to the innermost.
std::vector<int> memory_order(Memory law, const std::vector<std::int64_t>& sizes, std::span<const Layout> operands);

// Row-major strides.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes);
// Whether the elements lie in row-major order without gaps; what has one element is anywhere.
bool is_dense(const Layout& layout);

}  // namespace passnet::author
