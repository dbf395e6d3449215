// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels on every 64-bit ARM: sums through lane_sum.h, tables by four look-ups of 64 entries each.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"

#include "kernels/eltwise/lanes.inc"

namespace rk::kernels {

decltype(table_i8) table_i8__neon;

namespace {

// Entry i belongs to x = i - 128.
struct ByteTable {
  uint8x16x4_t part[4];
  explicit ByteTable(const int8_t* table) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(table);
    for (int i = 0; i < 4; ++i) part[i] = vld1q_u8_x4(bytes + i * 64);
  }
  // An index beyond a part leaves what the parts before it found.
  uint8x16_t operator()(int8x16_t x) const {
    const uint8x16_t index = veorq_u8(vreinterpretq_u8_s8(x), vdupq_n_u8(0x80));
    uint8x16_t y = vqtbl4q_u8(part[0], index);
    for (int i = 1; i < 4; ++i)
      y = vqtbx4q_u8(y, part[i], vsubq_u8(index, vdupq_n_u8(static_cast<uint8_t>(i * 64))));
    return y;
  }
};

}  // namespace

void table_i8__neon(const TableI8Args& args, IndexRange units) {
  const ByteTable table(args.table);
  const ElementRange range = elements_of(units, args.elements);
  int64_t at = range.begin;
  for (; at + 16 <= range.end; at += 16)
    vst1q_s8(args.output + at, vreinterpretq_s8_u8(table(vld1q_s8(args.input + at))));
  for (; at < range.end; ++at) args.output[at] = args.table[args.input[at] + 128];
}

}  // namespace rk::kernels

#endif  // 64-bit ARM
