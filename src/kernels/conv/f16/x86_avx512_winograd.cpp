// SPDX-License-Identifier: Apache-2.0
// The part of conv_f16 with AVX-512 that multiplies in Winograd's form, in both ways to bring an input to all lanes.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"
#include "kernels/x86_avx512_lanes.h"

#define RK_ISA_BEGIN RK_AVX512_BEGIN
#define RK_ISA_END RK_AVX512_END
#include "kernels/conv/f16/winograd_tiles.h"

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

template <typename Broadcast>
struct WinogradIsa : Avx512F32 {
  static constexpr int kOut = 32, kPatches = 14;
  using Input = Broadcast;
  static Vector widen(const uint16_t* from) { return load_wide(from); }
  static uint32_t has_nan(Vector v) { return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q); }

  // The second operand of a comparison wins where one is NaN.
  struct Finish {
    __m512 low, high, low_after;
    explicit Finish(const ConvF16Params& p) {
      const float none = __builtin_inff();
      low = _mm512_set1_ps(p.activation != Activation::kNone ? 0.0f : -none);
      high = _mm512_set1_ps(p.activation == Activation::kClip ? p.clip : none);
      low_after = _mm512_set1_ps(p.relu_after_add ? 0.0f : -none);
    }
    void operator()(Vector sum, const uint16_t* residual, uint16_t* output) const {
      Vector v = _mm512_min_ps(high, _mm512_max_ps(low, sum));
      if (residual != nullptr) v = _mm512_add_ps(v, load_wide(residual));
      v = _mm512_max_ps(low_after, v);
      __m256i half = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      // Not the form with a memory operand: it takes longer than the two instructions.
      asm("" : "+v"(half));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(output), half);
    }
  };
};

}  // namespace

namespace by_operand {
bool winograd(const ConvF16Args& args, IndexRange units) {
  return winograd_f16::run<WinogradIsa<ByOperand>>(args, units);
}
}  // namespace by_operand
namespace by_instruction {
bool winograd(const ConvF16Args& args, IndexRange units) {
  return winograd_f16::run<WinogradIsa<ByInstruction>>(args, units);
}
}  // namespace by_instruction

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

#endif  // x86-64
