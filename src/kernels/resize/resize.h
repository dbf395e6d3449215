// SPDX-License-Identifier: Apache-2.0
// Nearest and linear resizing of blocked activations. The kernels know no coordinate modes: the
// caller turns a mode into one table per axis.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/extent.h"
#include "kernels/layout/blocked.h"
#include "kernels/requantize.h"

namespace rk::kernels {

struct ResizeShape {
  int32_t batch = 1;
  int32_t channels = 1;
  Extent2 in;
  Extent2 out;
};

// One unit is one output row of one block of 16 channels. Rows are innermost.
int64_t resize_units(const ResizeShape& shape);

template <typename T>
struct ResizeArgs {
  ResizeShape shape;
  const T* input = nullptr;
  T* output = nullptr;
  int64_t input_batch_stride = 0;  // elements; 0 means dense
  int64_t output_batch_stride = 0;
};

template <typename T>
struct NearestArgs : ResizeArgs<T> {
  const int32_t* y_index = nullptr;  // out.h entries, each an input row
  const int32_t* x_index = nullptr;  // out.w entries, each an input column
  const int8_t* table = nullptr;     // int8 only: change of scale, entry x + 128; null copies
};
Status check_nearest_indices(const ResizeShape& shape, const int32_t* y_index,
                             const int32_t* x_index);

// Linear weights per axis are in 1 / kLinearOne; two axes together in 1 / 2^kLinearShift.
inline constexpr int32_t kLinearOne = 2048;
inline constexpr int32_t kLinearShift = 22;

// An output coordinate reads `low` with kLinearOne - high_weight and `high` with high_weight.
struct LinearTap {
  int32_t low = 0;
  int32_t high = 0;
  int32_t high_weight = 0;     // 0..kLinearOne; int8
  float high_weight_f = 0.0f;  // 0..1, unrounded; fp16
};

template <typename T>
struct LinearArgs : ResizeArgs<T> {
  const LinearTap* y_taps = nullptr;  // out.h entries
  const LinearTap* x_taps = nullptr;  // out.w entries
};

// S = sum wy * wx * (x - zp), v = rne(S * scale / 2^(shift + 22)), then the output stage.
struct LinearI8Args : LinearArgs<int8_t> {
  InputStage input_stage;  // its shift at most 40
  OutputStage output_stage;
};
Status check_linear_taps(const ResizeShape& shape, const LinearTap* y_taps,
                         const LinearTap* x_taps);
Status check_linear_i8(const LinearI8Args& args);  // taps and scales

void resize_nearest_i8(const NearestArgs<int8_t>& args, IndexRange units);
void resize_nearest_f16(const NearestArgs<uint16_t>& args, IndexRange units);
void resize_linear_i8(const LinearI8Args& args, IndexRange units);
void resize_linear_f16(const LinearArgs<uint16_t>& args, IndexRange units);  // fp32 inside

}  // namespace rk::kernels
