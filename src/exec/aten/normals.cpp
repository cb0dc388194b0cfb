#include "exec/aten/normals.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "exec/aten/large_pages.h"

namespace passnet {

namespace {

// torch's generator from where it stands, a block of its numbers at a time.
class Generator {
 public:
  explicit Generator(const at::mt19937& engine) : data_(engine.data()) {}
  at::mt19937 engine() const {
    at::mt19937 out;
    out.set_data(data_);
    return out;
  }
  void skip(std::int64_t count) {
    take(count, [](const std::uint32_t*, std::int64_t) {});
  }
  void uniform(float* to, std::int64_t count) {
    take(count, [&](const std::uint32_t* numbers, std::int64_t n) {
      fill_loops().uniform(numbers, to, n);
      to += n;
    });
  }

 private:
  template <class F>
  void take(std::int64_t count, const F& use) {
    while (count > 0) {
      if (data_.left_ == 1) {  // of the block and one more
        fill_loops().twist(data_.state_.data());
        data_.next_ = 0;
        data_.left_ = at::MERSENNE_STATE_N + 1;
      }
      const auto n = static_cast<int>(std::min<std::int64_t>(count, data_.left_ - 1));
      use(data_.state_.data() + data_.next_, n);
      data_.next_ += static_cast<std::uint32_t>(n);
      data_.left_ -= n;
      count -= n;
    }
  }
  at::mt19937_data_pod data_;
};

constexpr std::int64_t kTogether = 16;  // numbers that torch makes from one another

// Tensor.normal_ on at least sixteen numbers, each finished while it is near.
void fill_normals(Generator& generator, float* to, std::int64_t n, const Finish* finish) {
  constexpr std::int64_t kNear = 4096;
  const auto make = [&](float* x, std::int64_t count) {
    generator.uniform(x, count);
    const std::int64_t whole = count - count % kTogether;
    fill_loops().normal(x, whole);
    if (finish != nullptr) fill_loops().finish(x, whole, *finish);
  };
  for (std::int64_t i = 0; i < n; i += kNear) make(to + i, std::min(kNear, n - i));
  if (n % kTogether != 0) make(to + n - kTogether, kTogether);  // the last ones are new
}

at::CPUGeneratorImpl* of(const at::Generator& generator) {
  return at::check_generator<at::CPUGeneratorImpl>(generator);
}

}  // namespace

bool own_loops_are_torchs() {
  static const bool kSame = [] {
    constexpr std::int64_t kTried = (1 << 12) + 5;
    at::Generator theirs = at::detail::createCPUGenerator();
    Generator own(of(theirs)->engine());
    std::vector<float> ours(kTried);
    fill_normals(own, ours.data(), kTried, nullptr);
    const at::Tensor expected = at::empty(kTried, at::kFloat).normal_(0, 1, theirs);
    return std::memcmp(ours.data(), expected.data_ptr<float>(), kTried * sizeof(float)) == 0 &&
           own.engine()() == of(theirs)->random();
  }();
  return kSame;
}

at::Tensor torch_normals(at::IntArrayRef shape, const Finish* finish) {
  at::Tensor out = empty_on_large_pages(shape, at::kFloat);
  float* to = out.data_ptr<float>();
  const std::int64_t n = out.numel(), parts = std::min<std::int64_t>(at::get_num_threads(), n / kFillGrain);
  if (parts == 0 || !own_loops_are_torchs()) {
    out.normal_();
    if (finish != nullptr) fill_loops().finish(to, n, *finish);
    return out;
  }
  at::CPUGeneratorImpl* all = of(at::detail::getDefaultCPUGenerator());
  const std::lock_guard<std::mutex> hold(all->mutex_);
  const std::int64_t step = n / parts / kTogether * kTogether;
  std::vector<Generator> generators = {Generator(all->engine())};
  for (std::int64_t part = 1; part < parts; ++part) {  // each begins where the one before it ends
    generators.push_back(generators.back());
    generators.back().skip(step);
  }
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part)
      fill_normals(generators[static_cast<std::size_t>(part)], to + part * step,
                   part + 1 < parts ? step : n - part * step, finish);
  });
  all->set_engine(generators.back().engine());
  return out;
}

}  // namespace passnet
