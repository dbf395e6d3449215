// SPDX-License-Identifier: Apache-2.0
// Linear resizing of fp16 with AVX2 through lane_linear.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/resize/rows.h"

namespace rk::kernels {

decltype(resize_linear_f16) resize_linear_f16__generic, resize_linear_f16__avx2;

}  // namespace rk::kernels

#include "kernels/resize/lane_linear.h"

RK_ISA_BEGIN

namespace rk::kernels {

void resize_linear_f16__avx2(const LinearArgs<uint16_t>& args, IndexRange units) {
  row_fits_scratch(args.shape) ? resize_linear_f16_lanes<Avx2F32, Avx2Half>(args, units)
                               : resize_linear_f16__generic(args, units);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
