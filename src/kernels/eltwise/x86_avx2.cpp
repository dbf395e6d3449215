// SPDX-License-Identifier: Apache-2.0
// Element-wise sums with AVX2 through lane_sum.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/eltwise/float_sum.h"

namespace rk::kernels {

decltype(sum_i8) sum_i8__generic, sum_i8__avx2;
decltype(sum_f16) sum_f16__avx2;
decltype(activate_f16) activate_f16__avx2;

}  // namespace rk::kernels

#include "kernels/eltwise/lane_activate.h"
#include "kernels/eltwise/lane_sum.h"

RK_ISA_BEGIN

namespace rk::kernels {

void sum_i8__avx2(const SumI8Args& args, IndexRange units) { sum_i8_lanes<Avx2F32>(args, units); }

void activate_f16__avx2(const ActivateF16Args& args, IndexRange units) {
  activate_f16_lanes<Avx2F32, Avx2Half>(args, units);
}

void sum_f16__avx2(const SumF16Args& args, IndexRange units) {
  sum_f16_lanes<Avx2F32, Avx2Half>(args, units);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
