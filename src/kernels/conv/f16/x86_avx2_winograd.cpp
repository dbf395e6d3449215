// SPDX-License-Identifier: Apache-2.0
// The part of conv_f16__avx2 that multiplies in Winograd's form.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx2.h"

#include "kernels/conv/f16/winograd_tiles.h"

RK_ISA_BEGIN

namespace rk::kernels::avx2_f16 {
namespace {

struct WinogradIsa : Avx2F32 {
  static constexpr int kOut = 16, kPatches = 6;
  static Vector widen(const uint16_t* from) { return widen8(from); }
  static uint32_t has_nan(Vector v) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
  }
  struct Input {
    Vector x;
    explicit Input(const float& from) : x(_mm256_broadcast_ss(&from)) {}
    Vector fused(Vector w, Vector sum) const { return _mm256_fmadd_ps(x, w, sum); }
  };
  struct Finish {
    const Stages stages;
    explicit Finish(const ConvF16Params& params) : stages(params) {}
    void operator()(Vector sum, const uint16_t* residual, uint16_t* output) const {
      residual != nullptr ? stages.finish<true>(sum, residual, output)
                          : stages.finish<false>(sum, residual, output);
    }
  };
};

}  // namespace

bool winograd(const ConvF16Args& args, IndexRange units) {
  return winograd_f16::run<WinogradIsa>(args, units);
}

}  // namespace rk::kernels::avx2_f16

RK_ISA_END

#endif  // x86-64
