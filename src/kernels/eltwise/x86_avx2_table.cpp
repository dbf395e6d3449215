// SPDX-License-Identifier: Apache-2.0
// Tables of 256 bytes with AVX2: a shuffle finds a byte among 16, so each of 16 shuffles answers for
// one upper half of the index and gives zero for the others.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/eltwise/float_sum.h"

namespace rk::kernels {

decltype(table_i8) RK_VARIANT(table_i8);

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

class ShuffledTable {
 public:
  // Entry i belongs to x = i - 128.
  explicit ShuffledTable(const int8_t* table) {
    for (int i = 0; i < kParts; ++i) {
      part_[i] = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + i * 16)));
    }
  }

  __m256i operator()(__m256i x) const {
    const __m256i index = _mm256_xor_si256(x, _mm256_set1_epi8(INT8_MIN));
    // Where another part is meant, this sets the bit that makes a shuffle give zero.
    const __m256i mark = _mm256_set1_epi8(0x70);
    __m256i found = _mm256_setzero_si256();
    for (int i = 0; i < kParts; ++i) {
      const __m256i distance = _mm256_xor_si256(index, _mm256_set1_epi8(static_cast<char>(i << 4)));
      const __m256i place = _mm256_adds_epu8(distance, mark);
      found = _mm256_or_si256(found, _mm256_shuffle_epi8(part_[i], place));
    }
    return found;
  }

 private:
  static constexpr int kParts = 16;
  __m256i part_[kParts];
};

}  // namespace

void RK_VARIANT(table_i8)(const TableI8Args& args, IndexRange units) {
  const ElementRange range = elements_of(units, args.elements);
  const ShuffledTable table(args.table);
  int64_t at = range.begin;
  for (; at + 32 <= range.end; at += 32) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(args.input + at));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.output + at), table(x));
  }
  for (; at < range.end; ++at) args.output[at] = args.table[args.input[at] + 128];
}

}  // namespace rk::kernels

RK_ISA_END
#endif  // x86-64
