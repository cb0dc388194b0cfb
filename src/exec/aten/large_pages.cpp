#include "exec/aten/large_pages.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/strides.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace passnet {

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;

// Mappings of their own: what is timed finds torch's heap as it would be without them.
class LargePages final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes < kPage) return c10::GetCPUAllocator()->allocate(bytes);
    auto* block = new Block{nullptr, (bytes + kPage - 1) / kPage * kPage};
    const std::size_t room = block->bytes + kPage;
    void* begin = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
      delete block;
      throw std::bad_alloc();
    }
    const auto at = reinterpret_cast<std::uintptr_t>(begin), first = (at + kPage - 1) / kPage * kPage;
    if (first > at) ::munmap(begin, first - at);
    if (at + kPage > first) ::munmap(reinterpret_cast<void*>(first + block->bytes), at + kPage - first);
    block->data = reinterpret_cast<void*>(first);
    ::madvise(block->data, block->bytes, MADV_HUGEPAGE);
    return {block->data, block, release, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  struct Block {
    void* data;
    std::size_t bytes;
  };
  static void release(void* context) {
    auto* block = static_cast<Block*>(context);
    ::munmap(block->data, block->bytes);
    delete block;
  }
};

}  // namespace

at::Tensor empty_on_large_pages(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type) {
  static LargePages pages;
  return at::detail::empty_strided_generic(sizes, strides, &pages, c10::DispatchKeySet(c10::DispatchKey::CPU), type);
}
at::Tensor empty_on_large_pages(at::IntArrayRef sizes, at::ScalarType type) {
  return empty_on_large_pages(sizes, c10::contiguous_strides(sizes), type);
}

}  // namespace passnet
