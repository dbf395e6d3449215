// SPDX-License-Identifier: Apache-2.0
// conv_i8 with NEON through lane_tiles.h, on every 64-bit ARM.
#if defined(__aarch64__)

#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/i8/arm64_i16.h"
#include "kernels/conv/i8/lane_finish.h"

namespace rk::kernels {
namespace {

void run_i8(const ConvI8Args& args, IndexRange units) { run_lanes_i8<NeonI16>(args, units); }

}  // namespace

extern const ConvI8Kernel conv_i8__neon_5x16;
const ConvI8Kernel conv_i8__neon_5x16 = {"conv_i8__neon_5x16", kLaneTile, accepts_lanes,
                                         pack_lanes_by_1,      run_i8,    unpack_lanes_by_1};

}  // namespace rk::kernels

#endif  // 64-bit ARM
