// SPDX-License-Identifier: Apache-2.0
// Where one unit of a resizing reads and writes. Private to kernels/resize.
#pragma once

#include <cstdint>

#include "kernels/resize/resize.h"
#include "kernels/thread_scratch.h"

namespace rk::kernels {

template <typename T>
struct ResizeRow {
  int64_t oy;
  const T* plane;  // of the input
  T* output;
  const T* input_row(const ResizeShape& shape, int64_t y) const {
    return plane + y * shape.in.w * kHostBlock;
  }
};

template <typename T>
inline ResizeRow<T> resize_row(const ResizeArgs<T>& args, int64_t unit) {
  const ResizeShape& s = args.shape;
  const int64_t planes = channel_blocks(s.channels);
  const int64_t in_plane = int64_t{s.in.h} * s.in.w * kHostBlock;
  const int64_t out_row = int64_t{s.out.w} * kHostBlock;
  const int64_t oy = unit % s.out.h;
  const int64_t plane = unit / s.out.h % planes;
  const int64_t n = unit / s.out.h / planes;
  const int64_t in_stride =
      args.input_batch_stride != 0 ? args.input_batch_stride : planes * in_plane;
  const int64_t out_stride =
      args.output_batch_stride != 0 ? args.output_batch_stride : planes * s.out.h * out_row;
  return {oy, args.input + n * in_stride + plane * in_plane,
          args.output + n * out_stride + (plane * s.out.h + oy) * out_row};
}

// A row of the input with four bytes for each lane fits a thread's scratch memory.
inline bool row_fits_scratch(const ResizeShape& shape) {
  return static_cast<size_t>(shape.in.w) <= ThreadScratch::kBytes / (kHostBlock * sizeof(float));
}

}  // namespace rk::kernels
