// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/i8/step_table.h"

#include <algorithm>
#include <array>
#include <limits>

namespace rk::kernels {
namespace {

constexpr int32_t kMostShift = 8;  // places of a segment are bytes
constexpr uint8_t kNever = 255;
constexpr int32_t kBorders = 64;  // that are tried

// A byte unlike the one before it.
struct Change {
  int32_t at;  // counted from the first index
  int32_t by;
};

struct Place {
  int32_t segment, place;
};
Place place_of(const StepTable& t, int32_t at) {
  const bool after = at >= t.border;
  const int32_t inside = after ? at - t.border : at, shift = t.shift[after];
  return {(inside >> shift) + (after ? kZoneSegments : 0), inside & ((1 << shift) - 1)};
}

int32_t shift_for(int32_t length) {
  int32_t shift = 0;
  while ((length - 1) >> shift >= kZoneSegments) ++shift;
  return shift;
}

// Sets the zones and how many steps their segments have.
void divide(const std::vector<Change>& changes, int32_t length, int32_t border, StepTable& t) {
  t.border = border;
  t.shift[0] = shift_for(border), t.shift[1] = shift_for(length - border);
  t.ups = t.downs = 0;
  int32_t segment = -1, ups = 0, downs = 0;
  for (const Change& change : changes) {
    const Place place = place_of(t, change.at);
    if (place.segment != segment) segment = place.segment, ups = downs = 0;
    if (place.place == 0) continue;  // that is how the segment begins
    (change.by > 0 ? ups : downs) += change.by > 0 ? change.by : -change.by;
    t.ups = std::max(t.ups, ups), t.downs = std::max(t.downs, downs);
  }
}

}  // namespace

bool make_step_table(std::span<const int8_t> bytes, int32_t lowest, std::vector<uint8_t>& rows,
                     StepTable& table) {
  // Equal bytes at both ends are what lies beyond the segments anyway.
  size_t begin = 0, last = bytes.size() - 1;
  while (begin < last && bytes[begin + 1] == bytes[0]) ++begin;
  while (last > begin && bytes[last - 1] == bytes.back()) --last;
  const auto length = static_cast<int32_t>(last - begin + 1);
  std::vector<Change> changes;
  for (size_t i = begin + 1; i <= last; ++i) {
    if (bytes[i] != bytes[i - 1])
      changes.push_back({static_cast<int32_t>(i - begin), bytes[i] - bytes[i - 1]});
  }
  StepTable best;
  best.ups = std::numeric_limits<int32_t>::max() / 2;
  for (int32_t i = 0; i < kBorders; ++i) {
    StepTable tried;
    divide(changes, length, static_cast<int32_t>(int64_t{length} * i / kBorders), tried);
    const bool fits = tried.shift[0] <= kMostShift && tried.shift[1] <= kMostShift;
    if (fits && tried.ups + tried.downs < best.ups + best.downs) best = tried;
  }
  if (best.ups + best.downs > kMostSteps) return false;
  table = best;
  table.first = lowest + static_cast<int32_t>(begin);
  const size_t head = rows.size();
  rows.resize(head + static_cast<size_t>(table.row_bytes()), kNever);
  const auto row = [&](int32_t index) { return rows.data() + head + index * kStepSegments; };
  for (int32_t s = 0; s < kStepSegments; ++s) {
    const bool after = s >= kZoneSegments;
    const int32_t start =
        after ? table.border + ((s - kZoneSegments) << table.shift[1]) : s << table.shift[0];
    row(0)[s] =
        static_cast<uint8_t>(bytes[begin + static_cast<size_t>(std::min(start, length - 1))]);
  }
  std::array<int32_t, kStepSegments> ups = {}, downs = {};
  for (const Change& change : changes) {
    const auto [segment, place] = place_of(table, change.at);
    for (int32_t i = 0; place != 0 && i < (change.by < 0 ? -change.by : change.by); ++i) {
      int32_t& count = (change.by > 0 ? ups : downs)[static_cast<size_t>(segment)];
      row(1 + count + (change.by > 0 ? 0 : table.ups))[segment] = static_cast<uint8_t>(place - 1);
      ++count;
    }
  }
  return true;
}

}  // namespace rk::kernels
