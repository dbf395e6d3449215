// SPDX-License-Identifier: Apache-2.0
// Maximum and average pooling: int8 and fp16 on blocked activations, float32 on plain NCHW.
//
// Note: padding never takes part in a maximum, and takes part in an average only
// through the count.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/extent.h"
#include "kernels/layout/blocked.h"
#include "kernels/requantize.h"

namespace rk::kernels {

struct PoolShape {
  int32_t batch = 1;
  int32_t channels = 1;
  Extent2 in;
  Extent2 out;
  Extent2 kernel;
  Extent2 stride;
  Extent2 dilation;
  Extent2 pad_before = {0, 0};
  // An average counts a tap when it lies inside the input or, with count_include_pad, inside the
  // padded input. Taps beyond that (ceil mode) are never counted.
  Extent2 pad_after = {0, 0};
  bool count_include_pad = false;
};

// Positive extents, and every window has at least one tap inside the input.
Status check_pool_shape(const PoolShape& shape);

template <typename T>
struct PoolArgs {
  PoolShape shape;
  const T* input = nullptr;
  T* output = nullptr;
  int64_t input_batch_stride = 0;  // elements; 0 means dense
  int64_t output_batch_stride = 0;
};

// v = rne(sum(x - zero_point) * scale / 2^shift), with the scale for this window's count; then the
// output stage.
struct AveragePoolI8Args : PoolArgs<int8_t> {
  int32_t input_zero_point = 0;
  // Entry n holds the scale of a window that counts n taps; kernel.h * kernel.w + 1 entries, entry
  // 0 unused.
  const ScaleShift* scale_by_count = nullptr;
  OutputStage output_stage;
};
Status check_average_pool_i8(const AveragePoolI8Args& args);

// One unit is one output row of one block of 16 channels (blocked) or of one channel (plain). Rows
// are innermost.
int64_t pool_units_blocked(const PoolShape& shape);
int64_t pool_units_plain(const PoolShape& shape);

void max_pool_i8(const PoolArgs<int8_t>& args, IndexRange units);
void average_pool_i8(const AveragePoolI8Args& args, IndexRange units);
void max_pool_f16(const PoolArgs<uint16_t>& args,
                  IndexRange units);  // a NaN in the window gives NaN
void average_pool_f16(const PoolArgs<uint16_t>& args,
                      IndexRange units);                               // sums in fp32, one rounding
void max_pool_f32(const PoolArgs<float>& args, IndexRange units);      // plain NCHW
void average_pool_f32(const PoolArgs<float>& args, IndexRange units);  // plain NCHW

}  // namespace rk::kernels
