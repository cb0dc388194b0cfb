// A tensor as plain data, cheap to make and to copy: no allocation up to six dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/dtype.h"

namespace passnet {

enum class DeviceType : std::uint8_t { cpu, cuda, meta };

// Sizes or strides. A few numbers in place, more on the heap.
class Dims {
 public:
  Dims() = default;
  Dims(std::span<const std::int64_t> values) { assign(values); }     // NOLINT(google-explicit-constructor)
  Dims(const std::vector<std::int64_t>& values) { assign(values); }  // NOLINT(google-explicit-constructor)
  Dims(std::initializer_list<std::int64_t> v) { assign({v.begin(), v.size()}); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~Dims() = default;

  void assign(std::span<const std::int64_t> values) {
    if (values.size() > kInPlace) many_ = std::make_unique<std::int64_t[]>(values.size());
    size_ = values.size();
    std::copy(values.begin(), values.end(), data());
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::int64_t* data() const { return size_ > kInPlace ? many_.get() : few_; }
  std::int64_t* data() { return size_ > kInPlace ? many_.get() : few_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  operator std::span<const std::int64_t>() const { return {data(), size_}; }  // NOLINT(google-explicit-constructor)
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  static constexpr std::size_t kInPlace = 6;
  void take(Dims& other) {
    size_ = other.size_;
    if (size_ > kInPlace)
      many_ = std::move(other.many_);
    else
      std::copy(other.few_, other.few_ + size_, few_);
    other.size_ = 0;
  }

  std::size_t size_ = 0;
  std::int64_t few_[kInPlace];  // NOLINT: the first size_ are set
  std::unique_ptr<std::int64_t[]> many_;
};

// A share in an object that counts its owners itself (a torch tensor).
class TensorOwner {
 public:
  struct Counting {
    void (*retain)(void* object);
    void (*release)(void* object);
  };
  TensorOwner() = default;
  // Takes over one share.
  TensorOwner(void* object, const Counting& counting) : object_(object), counting_(&counting) {}
  TensorOwner(const TensorOwner& other) : object_(other.object_), counting_(other.counting_) {
    if (object_ != nullptr) counting_->retain(object_);
  }
  TensorOwner(TensorOwner&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), counting_(other.counting_) {}
  TensorOwner& operator=(TensorOwner other) noexcept {
    std::swap(object_, other.object_);
    std::swap(counting_, other.counting_);
    return *this;
  }
  ~TensorOwner() {
    if (object_ != nullptr) counting_->release(object_);
  }
  void* get() const { return object_; }

 private:
  void* object_ = nullptr;
  const Counting* counting_ = nullptr;
};

// `owner` keeps the memory alive; `data` is null where there are no elements.
struct TensorRef {
  void* data = nullptr;
  Dims sizes;
  Dims strides;  // in elements
  Dtype dtype = Dtype::float32;
  DeviceType device = DeviceType::cpu;
  TensorOwner owner;
};

// A tensor without its data: sizes and strides in elements.
struct TensorDesc {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  Dtype dtype = Dtype::float32;
  DeviceType device = DeviceType::cpu;
  bool operator==(const TensorDesc&) const = default;

  std::int64_t element_count() const;
  // How many elements lie from the first to the last that it reaches, both counted; 0 where it has none.
  std::int64_t hull() const;
  bool is_contiguous() const;
};
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);
TensorDesc describe(const TensorRef& tensor);
// Of the element with that number in row-major order: "[1, 0, 3]".
std::string place_text(std::int64_t number, std::span<const std::int64_t> sizes);

}  // namespace passnet
