// SPDX-License-Identifier: Apache-2.0
// Pooling with AVX2 through lane_pool.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/pool/pool.h"

namespace rk::kernels {

decltype(max_pool_i8) max_pool_i8__avx2;
decltype(max_pool_f16) max_pool_f16__avx2;
decltype(average_pool_f16) average_pool_f16__avx2;

}  // namespace rk::kernels

RK_ISA_BEGIN
#include "kernels/pool/walk.h"
RK_ISA_END
#include "kernels/pool/lane_pool.h"

RK_ISA_BEGIN

namespace rk::kernels {

void max_pool_i8__avx2(const PoolArgs<int8_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxI8Lanes{});
}

void max_pool_f16__avx2(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxF16Lanes{});
}

void average_pool_f16__avx2(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units,
                   AverageF16Lanes<Avx2F32, Avx2Half>{});
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
