// Built for AVX2, where products and sums after them may be rounded once, as in torch's own build: other steps have
// other last bits. Nothing may be included here that other files share.
#include <ATen/native/cpu/avx_mathfun.h>  // torch's logarithm, sine and cosine

#include "exec/aten/fill.h"

namespace passnet {

void normal_avx2(float* x, std::int64_t count) {
  constexpr std::int64_t kHalf = 8;
  const __m256 one = _mm256_set1_ps(1), zero = _mm256_setzero_ps(), minus_two = _mm256_set1_ps(-2),
               turn = _mm256_set1_ps(static_cast<float>(2 * 3.14159265358979323846));
  for (std::int64_t i = 0; i < count; i += 2 * kHalf) {
    const __m256 u = _mm256_sub_ps(one, _mm256_loadu_ps(x + i));
    const __m256 radius = _mm256_sqrt_ps(_mm256_mul_ps(minus_two, log256_ps(u)));
    __m256 sine, cosine;
    sincos256_ps(_mm256_mul_ps(turn, _mm256_loadu_ps(x + i + kHalf)), &sine, &cosine);
    _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_mul_ps(radius, cosine), zero));
    _mm256_storeu_ps(x + i + kHalf, _mm256_add_ps(_mm256_mul_ps(radius, sine), zero));
  }
}

}  // namespace passnet
