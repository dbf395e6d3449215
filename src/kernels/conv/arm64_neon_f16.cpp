// SPDX-License-Identifier: Apache-2.0
// conv_f16 with NEON through lane_tiles.h, on every 64-bit ARM.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/conv/arm64_i16.h"
#include "kernels/conv/lane_f16.h"
#include "kernels/conv/lane_finish.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__neon_6x16;

void conv_f16__neon_6x16(const ConvF16Args& args, IndexRange units) {
  if (!lanes_f16_accept(args.packed->params.filter)) return conv_f16__generic(args, units);
  const FpcrDefault mode;
  run_lanes_f16<LanesF16<NeonF32, NeonHalf>>(args, units);
}

}  // namespace rk::kernels

#endif  // 64-bit ARM
