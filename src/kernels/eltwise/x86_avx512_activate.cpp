// SPDX-License-Identifier: Apache-2.0
// Activations of fp16 with AVX-512 through lane_activate.h.
#if defined(__x86_64__)

#include "kernels/eltwise/float_sum.h"
#include "kernels/x86_avx512_lanes.h"

namespace rk::kernels {

decltype(activate_f16) activate_f16__avx512;

}  // namespace rk::kernels

#include "kernels/eltwise/lane_activate.h"

RK_ISA_BEGIN

namespace rk::kernels {

void activate_f16__avx512(const ActivateF16Args& args, IndexRange units) {
  activate_f16_lanes<Avx512F32, Avx512Half>(args, units);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
