// SPDX-License-Identifier: Apache-2.0
// Units and dispatch of the gemm family.
#include "kernels/gemm/gemm.h"

#include "base/checked_math.h"
#include "kernels/dispatch.h"
#include "kernels/gemm/tile_f32.h"

namespace rk::kernels {

int64_t gemm_f32_units(const GemmF32Args& args) {
  return ceil_div(args.m, kTileRows) * ceil_div(args.n, kTileCols);
}

void gemm_f32(const GemmF32Args& args, IndexRange units) { RK_DISPATCH(gemm_f32, args, units); }

}  // namespace rk::kernels
