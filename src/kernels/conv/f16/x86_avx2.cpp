// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX2: dense layers by common/x86_avx2_dense.h, in the order of sums that conv_f16.h states.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx2.h"

#include "kernels/conv/common/x86_avx2_dense.h"
#include "kernels/conv/f16/lane_f16.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__avx2;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

class DenseFinish {
 public:
  explicit DenseFinish(const PackedConvF16& packed)
      : stages_(packed.params), bias_(reinterpret_cast<const float*>(packed.bias.data())) {}

  const float* start(int64_t block) const { return bias_ + block * kLanes; }

  template <int kPixels, int kVectors>
  inline __attribute__((always_inline)) void tile(const __m256 (&sum)[kPixels][kVectors],
                                                  const avx2_dense::Target<uint16_t>& target,
                                                  int64_t pixel) const {
    const int32_t* const places = target.places + pixel;
    target.residual != nullptr ? finish<true>(sum, target, places)
                               : finish<false>(sum, target, places);
  }

 private:
  template <bool kResidual, int kPixels, int kVectors>
  inline __attribute__((always_inline)) void finish(const __m256 (&sum)[kPixels][kVectors],
                                                    const avx2_dense::Target<uint16_t>& target,
                                                    const int32_t* places) const {
    const avx2_f16::Stages stages = stages_;
    uint16_t* const output = target.output;
    const uint16_t* const residual = target.residual;
    const int64_t out_pixel = target.out_pixel, residual_pixel = target.residual_pixel;
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const int64_t at = v / 2 * target.out_plane + v % 2 * 8;
        stages.finish<kResidual>(sum[p][v], residual + places[p] * residual_pixel + at,
                                 output + places[p] * out_pixel + at);
      }
    }
  }

  const avx2_f16::Stages stages_;
  const float* const bias_;
};

struct DenseF16 {
  using Stored = uint16_t;
  using Lane = float;
  using Weight = float;
  using Sum = float;
  using Vector = __m256;
  using Finish = DenseFinish;
  static constexpr int kStep = 1;
  static constexpr bool kTotals = false;
  static Vector load(const float* from) { return _mm256_load_ps(from); }
  static void store(float* to, Vector v) { _mm256_store_ps(to, v); }
  static void widen(const uint16_t* from, float* to) { Avx2Half::widen(from, to); }
  static void widen4(const uint16_t* from, float* to) {
    _mm_storeu_ps(to, _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  static Vector spread(const float* from) { return _mm256_broadcast_ss(from); }
  static Vector weights(const float* from) { return _mm256_load_ps(from); }
  static void add(Vector& sum, Vector x, Vector w) { sum = _mm256_fmadd_ps(x, w, sum); }
};

void run_dense(const ConvF16Args& args, IndexRange units) {
  static_assert(avx2_dense::kTile == kConvF16Tile);
  const ThreadScratch scratch;
  const DenseFinish finish(*args.packed);
  avx2_dense::DenseConv<DenseF16, ConvF16Args>(
      args, finish, 0.0f, *static_cast<avx2_dense::Scratch<DenseF16>*>(scratch.data()))
      .run(units);
}

}  // namespace

void conv_f16__avx2(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const IsaRounding mode;
  if (avx2_dense::takes(filter)) {
    if (!avx2_f16::winograd(args, units)) run_dense(args, units);
  } else if (!avx2_f16::depthwise(args, units) && !avx2_f16::grouped(args, units)) {
    lanes_f16_accept(filter) ? run_lanes_f16<LanesF16<IsaF32, IsaHalf>>(args, units)
                             : conv_f16__generic(args, units);
  }
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
