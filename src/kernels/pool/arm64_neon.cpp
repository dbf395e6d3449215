// SPDX-License-Identifier: Apache-2.0
// Pooling on every 64-bit ARM through lane_pool.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/pool/pool.h"

namespace rk::kernels {

decltype(max_pool_i8) max_pool_i8__neon;
decltype(max_pool_f16) max_pool_f16__neon;
decltype(average_pool_f16) average_pool_f16__neon;

}  // namespace rk::kernels

RK_ISA_BEGIN
#include "kernels/pool/walk.h"
RK_ISA_END
#include "kernels/pool/lane_pool.h"

RK_ISA_BEGIN

namespace rk::kernels {

void max_pool_i8__neon(const PoolArgs<int8_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxI8Lanes{});
}

void max_pool_f16__neon(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxF16Lanes{});
}

void average_pool_f16__neon(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units,
                   AverageF16Lanes<NeonF32, NeonHalf>{});
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
