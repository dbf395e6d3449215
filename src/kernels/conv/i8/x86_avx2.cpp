// SPDX-License-Identifier: Apache-2.0
// int8 convolutions with AVX2: inputs and w + o as int16, pairs of products by vpmaddwd, which is exact where vpmaddubsw
// would saturate. Without groups by common/x86_avx2_dense.h, else through lane_tiles.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/common/x86_avx2_dense.h"
#include "kernels/conv/i8/lane_finish.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

inline __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline void store256(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }

struct Avx2I16 {
  using Stored = int8_t;
  using Lane = int16_t;
  using Weight = int16_t;
  using Sum = int32_t;
  using FloatLanes = Avx2F32;
  using DefaultRounding = IsaRounding;
  static constexpr int kStep = 2, kTapStep = 2, kPixels = 6, kRow = 16;

  static void widen(const int8_t* from, int16_t* to) {
    store256(to, _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }

  struct Weights {  // [16 oc][2 ic]
    __m256i low, high;
    explicit Weights(const int16_t* from) : low(load256(from)), high(load256(from + 16)) {}
  };

  // [16 channels][2 taps] in the order in which unpacking leaves pairs: channels 0-3 and 8-11, then the rest.
  struct TapWeights {
    __m256i low, high;
    explicit TapWeights(const int16_t* from)
        : low(_mm256_permute2x128_si256(load256(from), load256(from + 16), 0x20)),
          high(_mm256_permute2x128_si256(load256(from), load256(from + 16), 0x31)) {}
  };

  struct Sums {
    __m256i low, high;
    void load(const int32_t* from) { low = load256(from), high = load256(from + 8); }
    void store(int32_t* to) const { store256(to, low), store256(to + 8, high); }
    void add(const int16_t* x, const Weights& w) {
      int32_t pair;
      __builtin_memcpy(&pair, x, sizeof pair);
      const __m256i spread = _mm256_set1_epi32(pair);
      add_products(low, spread, w.low);
      add_products(high, spread, w.high);
    }
    // As assembly, because a compiler that moves products apart from their additions runs out of registers.
    static void add_products(__m256i& sum, __m256i x, __m256i w) {
      __m256i products;
      asm("vpmaddwd %[w], %[x], %[products]\n\tvpaddd %[products], %[sum], %[sum]"
          : [sum] "+x"(sum), [products] "=&x"(products)
          : [x] "x"(x), [w] "x"(w));
    }
    void add_taps(const int16_t* x, const int32_t* taps, const TapWeights& w) {
      const __m256i a = load256(x + taps[0]), b = load256(x + taps[1]);
      low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w.low));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w.high));
    }
    void load_taps(const int32_t* from) {
      low = _mm256_permute2x128_si256(load256(from), load256(from + 8), 0x20);
      high = _mm256_permute2x128_si256(load256(from), load256(from + 8), 0x31);
    }
    void store_taps(int32_t* to) const {
      store256(to, _mm256_permute2x128_si256(low, high, 0x20));
      store256(to + 8, _mm256_permute2x128_si256(low, high, 0x31));
    }
  };
};

// How the sums of dense tiles end: through memory, as those of all kernels with lanes do.
template <typename Stages>
class DenseFinish {
 public:
  explicit DenseFinish(const Stages& stages) : stages_(stages) {}
  const int32_t* start(int64_t block) const { return stages_.start(block); }

  template <int kPixels, int kVectors>
  inline __attribute__((always_inline)) void tile(const __m256i (&sum)[kPixels][kVectors],
                                                  const avx2_dense::Target<int8_t>& target,
                                                  int64_t pixel) const {
    alignas(64) int32_t acc[kPixels][kVectors / 2][kLanes];
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) store256(acc[p][v / 2] + v % 2 * 8, sum[p][v]);
    }
    // Copies, which the bytes that are stored cannot alias: their constants stay in registers.
    const Stages stages(stages_);
    const avx2_dense::Target<int8_t> to = target;
    const int32_t* const places = to.places + pixel;
    for (int b = 0; b < kVectors / 2; ++b) {
      for (int p = 0; p < kPixels; ++p) {
        const int64_t at = b * to.out_plane;
        const int8_t* const residual =
            to.residual != nullptr ? to.residual + places[p] * to.residual_pixel + at : nullptr;
        stages(acc[p][b], to.block + b, residual, to.output + places[p] * to.out_pixel + at);
      }
    }
  }

 private:
  const Stages& stages_;
};

template <typename Stages>
struct DenseI8 {
  using Stored = int8_t;
  using Lane = int16_t;
  using Weight = int16_t;
  using Sum = int32_t;
  using Vector = __m256i;
  using Finish = DenseFinish<Stages>;
  static constexpr int kStep = 2;
  static constexpr bool kTotals = false;
  static Vector load(const int32_t* from) { return load256(from); }
  static void store(int32_t* to, Vector v) { store256(to, v); }
  static void widen(const int8_t* from, int16_t* to) { Avx2I16::widen(from, to); }
  static void widen4(const int8_t* from, int16_t* to) {
    int32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
  }
  static Vector spread(const int16_t* from) {
    int32_t pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return _mm256_set1_epi32(pair);
  }
  static Vector weights(const int16_t* from) { return load256(from); }
  static void add(Vector& sum, Vector x, Vector w) { Avx2I16::Sums::add_products(sum, x, w); }
};

void run_dense(const ConvI8Args& args, const LaneConstants& constants, IndexRange units) {
  static_assert(avx2_dense::kTile == kLaneTile);
  const auto border = static_cast<int16_t>(args.packed->params.input_zero_point);
  const IsaRounding mode;
  const ThreadScratch scratch;
  with_finish<IsaF32, false>(*args.packed, constants, [&]<typename Stages>(const Stages& stages) {
    using Kernel = DenseI8<Stages>;
    const DenseFinish<Stages> finish(stages);
    avx2_dense::DenseConv<Kernel, ConvI8Args>(
        args, finish, border, *static_cast<avx2_dense::Scratch<Kernel>*>(scratch.data()))
        .run(units);
  });
}

void run_i8(const ConvI8Args& args, IndexRange units) {
  const LaneConstants constants = lane_constants(args);
  const ConvFilter& filter = args.packed->params.filter;
  const bool winograd =
      constants.winograd && LaneWinograd<Avx2I16, FinishWide<false>>::pays(filter, args.extents);
  if (!winograd && avx2_dense::takes(filter)) return run_dense(args, constants, units);
  run_lanes_i8<Avx2I16>(args, units);
}

}  // namespace

}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__avx2_6x16;
const ConvI8Kernel conv_i8__avx2_6x16 = {
    .name = "conv_i8__avx2_6x16",
    .channel_tile = kLaneTile,
    .accepts = accepts_lanes,
    .pack = pack_lanes_by_2,
    .run = run_i8,
    .unpack = unpack_lanes_by_2,
    .large_ranges = true,
};

}  // namespace rk::kernels

#endif  // x86-64
