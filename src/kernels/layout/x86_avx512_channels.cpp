// SPDX-License-Identifier: Apache-2.0
// gather_channels with AVX-512: a block of the output is put together from the few blocks of the input that its channels
// come from, a pixel at a time.
#if defined(__x86_64__)

#include "kernels/layout/convert.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(gather_channels) gather_channels__avx512;

}  // namespace rk::kernels

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

struct Bytes {
  using Element = uint8_t;
  using Vector = __m128i;
  static Vector load(const Element* from) {
    return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
  }
  static void store(Element* to, Vector v) { _mm_storeu_si128(reinterpret_cast<Vector*>(to), v); }
  static Vector pick(__mmask16 lanes, Vector from, Vector v) {
    return _mm_maskz_permutexvar_epi8(lanes, from, v);
  }
  static Vector either(Vector a, Vector b) { return _mm_or_si128(a, b); }
};

struct Halves {
  using Element = uint16_t;
  using Vector = __m256i;
  static Vector load(const Element* from) {
    return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from));
  }
  static void store(Element* to, Vector v) {
    _mm256_storeu_si256(reinterpret_cast<Vector*>(to), v);
  }
  static Vector pick(__mmask16 lanes, Vector from, Vector v) {
    return _mm256_maskz_permutexvar_epi16(lanes, from, v);
  }
  static Vector either(Vector a, Vector b) { return _mm256_or_si256(a, b); }
};

// The lanes of an output block that come from one block of the input.
template <typename Type>
struct Part {
  const typename Type::Element* input;
  __mmask16 lanes;
  typename Type::Vector from;
};

template <typename Type, int kParts>
void merge(const Part<Type>* parts, typename Type::Element* output, int64_t pixels) {
  for (int64_t i = 0; i < pixels * kHostBlock; i += kHostBlock) {
    auto v = Type::pick(parts[0].lanes, parts[0].from, Type::load(parts[0].input + i));
#pragma GCC unroll 4
    for (int p = 1; p < kParts; ++p) {
      v = Type::either(v,
                       Type::pick(parts[p].lanes, parts[p].from, Type::load(parts[p].input + i)));
    }
    Type::store(output + i, v);
  }
}

template <typename Type>
void merge_more(const Part<Type>* parts, int count, typename Type::Element* output,
                int64_t pixels) {
  for (int64_t i = 0; i < pixels * kHostBlock; i += kHostBlock) {
    auto v = Type::pick(parts[0].lanes, parts[0].from, Type::load(parts[0].input + i));
    for (int p = 1; p < count; ++p)
      v = Type::either(v,
                       Type::pick(parts[p].lanes, parts[p].from, Type::load(parts[p].input + i)));
    Type::store(output + i, v);
  }
}

template <typename Type>
void gather(const ChannelGatherArgs& args, IndexRange units) {
  using Element = typename Type::Element;
  const int64_t in_blocks = channel_blocks(args.input_channels);
  const int64_t out_blocks = channel_blocks(args.output_channels);
  const int64_t plane = args.pixels * kHostBlock;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const Element* const picture =
        static_cast<const Element*>(args.input) + unit / out_blocks * in_blocks * plane;
    Part<Type> parts[kHostBlock];
    int32_t blocks[kHostBlock];
    alignas(32) Element from[kHostBlock];
    __mmask16 lanes[kHostBlock] = {};
    int count = 0;
    for (int32_t lane = 0; lane < kHostBlock; ++lane) {
      const int64_t channel = unit % out_blocks * kHostBlock + lane;
      const int32_t source =
          args.source[channel < args.output_channels ? channel : args.output_channels - 1];
      from[lane] = static_cast<Element>(source % kHostBlock);
      int part = 0;
      while (part < count && blocks[part] != source / kHostBlock) ++part;
      if (part == count) blocks[count++] = source / kHostBlock;
      lanes[part] = static_cast<__mmask16>(lanes[part] | 1 << lane);
    }
    for (int p = 0; p < count; ++p)
      parts[p] = {picture + blocks[p] * plane, lanes[p], Type::load(from)};
    Element* const output = static_cast<Element*>(args.output) + unit * plane;
    switch (count) {
      case 1:
        merge<Type, 1>(parts, output, args.pixels);
        break;
      case 2:
        merge<Type, 2>(parts, output, args.pixels);
        break;
      case 3:
        merge<Type, 3>(parts, output, args.pixels);
        break;
      case 4:
        merge<Type, 4>(parts, output, args.pixels);
        break;
      default:
        merge_more<Type>(parts, count, output, args.pixels);
    }
  }
}

}  // namespace

void gather_channels__avx512(const ChannelGatherArgs& args, IndexRange units) {
  args.element_bytes == 1 ? gather<Bytes>(args, units) : gather<Halves>(args, units);
}

}  // namespace rk::kernels

RK_AVX512VBMI_END

#endif  // x86-64
