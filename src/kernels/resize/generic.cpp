// SPDX-License-Identifier: Apache-2.0
// Resizing in portable loops over 16 lanes.
#include <cstring>

#include "kernels/half_lanes.h"
#include "kernels/resize/resize.h"
#include "kernels/resize/rows.h"

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;

template <typename T>
void copy_nearest(const NearestArgs<T>& args, const ResizeRow<T>& row) {
  const T* const input = row.input_row(args.shape, args.y_index[row.oy]);
  for (int64_t ox = 0; ox < args.shape.out.w; ++ox) {
    std::memcpy(row.output + ox * kLanes, input + int64_t{args.x_index[ox]} * kLanes,
                kLanes * sizeof(T));
  }
}

}  // namespace

void resize_nearest_i8__generic(const NearestArgs<int8_t>& args, IndexRange units) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<int8_t> row = resize_row(args, unit);
    copy_nearest(args, row);
    if (args.table == nullptr) continue;
    for (int64_t e = 0; e < int64_t{args.shape.out.w} * kLanes; ++e) {
      row.output[e] = args.table[row.output[e] + 128];
    }
  }
}

void resize_nearest_f16__generic(const NearestArgs<uint16_t>& args, IndexRange units) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    copy_nearest(args, resize_row(args, unit));
  }
}

void resize_linear_i8__generic(const LinearI8Args& args, IndexRange units) {
  const ScaleShift scale = args.input_stage.scale;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<int8_t> row = resize_row(args, unit);
    const LinearTap& y = args.y_taps[row.oy];
    const int8_t* const low = row.input_row(args.shape, y.low);
    const int8_t* const high = row.input_row(args.shape, y.high);
    for (int64_t ox = 0; ox < args.shape.out.w; ++ox) {
      const LinearTap& x = args.x_taps[ox];
      const int8_t* const corner[4] = {
          low + int64_t{x.low} * kLanes, low + int64_t{x.high} * kLanes,
          high + int64_t{x.low} * kLanes, high + int64_t{x.high} * kLanes};
      const int32_t weight[4] = {(kLinearOne - y.high_weight) * (kLinearOne - x.high_weight),
                                 (kLinearOne - y.high_weight) * x.high_weight,
                                 y.high_weight * (kLinearOne - x.high_weight),
                                 y.high_weight * x.high_weight};
      // The weights add up to 2^22, so |sum| <= 2^22 * 256 = 2^30.
      int32_t sum[kLanes];
      for (int32_t c = 0; c < kLanes; ++c) {
        sum[c] = -(args.input_stage.zero_point * (1 << kLinearShift));
        for (int32_t i = 0; i < 4; ++i) sum[c] += weight[i] * corner[i][c];
      }
      for (int32_t c = 0; c < kLanes; ++c) {
        row.output[ox * kLanes + c] = to_output(
            scale_round(sum[c], scale.scale, scale.shift + kLinearShift), args.output_stage);
      }
    }
  }
}

void resize_linear_f16__generic(const LinearArgs<uint16_t>& args, IndexRange units) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<uint16_t> row = resize_row(args, unit);
    const LinearTap& y = args.y_taps[row.oy];
    const uint16_t* const low = row.input_row(args.shape, y.low);
    const uint16_t* const high = row.input_row(args.shape, y.high);
    for (int64_t ox = 0; ox < args.shape.out.w; ++ox) {
      const LinearTap& x = args.x_taps[ox];
      float a[kLanes], b[kLanes], c[kLanes], d[kLanes], v[kLanes];
      widen_lanes<kLanes>(low + int64_t{x.low} * kLanes, a);
      widen_lanes<kLanes>(low + int64_t{x.high} * kLanes, b);
      widen_lanes<kLanes>(high + int64_t{x.low} * kLanes, c);
      widen_lanes<kLanes>(high + int64_t{x.high} * kLanes, d);
      for (int32_t i = 0; i < kLanes; ++i) {
        const float top = a[i] * (1.0f - x.high_weight_f) + b[i] * x.high_weight_f;
        const float bottom = c[i] * (1.0f - x.high_weight_f) + d[i] * x.high_weight_f;
        v[i] = top * (1.0f - y.high_weight_f) + bottom * y.high_weight_f;
      }
      narrow_lanes<kLanes>(v, row.output + ox * kLanes);
    }
  }
}

}  // namespace rk::kernels
