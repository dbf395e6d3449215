// SPDX-License-Identifier: Apache-2.0
// fp16 convolutions on every 64-bit ARM: through lane_f16.h, in tiles of 5 pixels by 16 channels, and 3x3 ones in Winograd's
// form.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/conv/f16/lane_f16.h"
#include "kernels/conv/f16/winograd_tiles.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__neon;

namespace {

struct WinogradIsa : NeonF32 {
  static constexpr int kOut = 16, kPatches = 5;
  static Vector widen(const uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
  static uint32_t has_nan(Vector v) {
    static constexpr uint32_t kBits[4] = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(vld1q_u32(kBits), vceqq_f32(v, v)));
  }
  struct Input {
    Vector x;
    explicit Input(const float& from) : x(vld1q_dup_f32(&from)) {}
    Vector fused(Vector w, Vector sum) const { return vfmaq_f32(sum, x, w); }
  };
  struct Finish {
    float low, high, low_after;
    explicit Finish(const ConvF16Params& p)
        : low(p.activation != Activation::kNone ? 0.0f : -__builtin_inff()),
          high(p.activation == Activation::kClip ? p.clip : __builtin_inff()),
          low_after(p.relu_after_add ? 0.0f : -__builtin_inff()) {}
    void operator()(Vector sum, const uint16_t* residual, uint16_t* output) const {
      Vector v = at_most(at_least(sum, low), high);
      if (residual != nullptr) v = add(v, widen(residual));
      vst1_u16(output, vreinterpret_u16_f16(vcvt_f16_f32(at_least(v, low_after))));
    }
  };
};

}  // namespace

void conv_f16__neon(const ConvF16Args& args, IndexRange units) {
  if (!lanes_f16_accept(args.packed->params.filter)) return conv_f16__generic(args, units);
  const IsaRounding mode;
  if (!winograd_f16::run<WinogradIsa>(args, units))
    run_lanes_f16<LanesF16<IsaF32, IsaHalf>>(args, units);
}

}  // namespace rk::kernels

#endif  // 64-bit ARM
