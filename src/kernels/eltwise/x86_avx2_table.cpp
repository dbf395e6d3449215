// SPDX-License-Identifier: Apache-2.0
// Halves by a table. Eight results go to memory at once; gathers take longer than sixteen loads.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/eltwise/float_sum.h"

namespace rk::kernels {

decltype(table_f16) table_f16__avx2;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Entries of four neighboring elements; their indices come in one load.
inline __m128i look_up_four(const uint16_t* table, const uint16_t* from) {
  uint64_t four;
  __builtin_memcpy(&four, from, sizeof four);
  const auto entry = [=](int i) { return table[four >> 16 * i & 0xffff]; };
  __m128i v = _mm_cvtsi32_si128(entry(0));
  v = _mm_insert_epi16(v, entry(1), 1);
  v = _mm_insert_epi16(v, entry(2), 2);
  return _mm_insert_epi16(v, entry(3), 3);
}

}  // namespace

void table_f16__avx2(const TableF16Args& args, IndexRange units) {
  const ElementRange range = elements_of(units, args.elements);
  int64_t at = range.begin;
  for (; at + 8 <= range.end; at += 8) {
    const __m128i low = look_up_four(args.table, args.input + at);
    const __m128i high = look_up_four(args.table, args.input + at + 4);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(args.output + at), _mm_unpacklo_epi64(low, high));
  }
  for (; at < range.end; ++at) args.output[at] = args.table[args.input[at]];
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
