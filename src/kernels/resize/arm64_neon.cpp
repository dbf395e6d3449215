// SPDX-License-Identifier: Apache-2.0
// Linear resizing of fp16 on every 64-bit ARM through lane_linear.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/resize/rows.h"

namespace rk::kernels {

decltype(resize_linear_f16) resize_linear_f16__generic, resize_linear_f16__neon;

}  // namespace rk::kernels

#include "kernels/resize/lane_linear.h"

RK_ISA_BEGIN

namespace rk::kernels {

void resize_linear_f16__neon(const LinearArgs<uint16_t>& args, IndexRange units) {
  row_fits_scratch(args.shape) ? resize_linear_f16_lanes<NeonF32, NeonHalf>(args, units)
                               : resize_linear_f16__generic(args, units);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
