// SPDX-License-Identifier: Apache-2.0
// A table of bytes as segments with few steps, for CPUs that permute bytes faster than they read them one by one.
// Private to kernels/conv.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rk::kernels {

inline constexpr int32_t kStepSegments = 256, kZoneSegments = kStepSegments / 2;
inline constexpr int32_t kMostSteps =
    12;  // rows after the first; beyond, reading bytes is no slower

// What becomes of an index. The indices from `first` on lie in two zones, since functions are steep in one part of their
// range and flat in another: 128 segments of 2^shift[0] indices, and from `border` places after the first on 128 of
// 2^shift[1]. A segment has a byte to begin with and some places at which it goes up or down by one. Each of these numbers
// of all segments is a row of 256 bytes: the first bytes, then `ups` and then `downs` rows of the last place of a segment
// before the step (255: none). Indices before the first segment and after the last have the byte of the nearest.
struct StepTable {
  const uint8_t* rows = nullptr;
  int32_t ups = 0, downs = 0;
  int32_t first = 0, border = 0;
  int32_t shift[2] = {};

  int64_t row_bytes() const { return int64_t{1 + ups + downs} * kStepSegments; }
  // Places after the first index that have a segment.
  int32_t reach() const { return border + (kZoneSegments << shift[1]); }
};

// The table of `bytes`, whose first is that of index `lowest`; its rows are appended to `rows` and not yet pointed to.
// False where segments of 256 indices do not reach, or would have more than kMostSteps steps.
bool make_step_table(std::span<const int8_t> bytes, int32_t lowest, std::vector<uint8_t>& rows,
                     StepTable& table);

}  // namespace rk::kernels
