// SPDX-License-Identifier: Apache-2.0
// What the API says of a model's inputs and outputs: the answers of the attribute queries and the layouts that
// rknn_set_io_mem binds.
//
// Note: four-dimensional inputs are shown NHWC and outputs NCHW, whatever the model's own order was.
// Clients rely on this asymmetry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/session/convert.h"

namespace rk::runtime {

enum class AttrView {
  kPlain,       // RKNN_QUERY_INPUT_ATTR, OUTPUT_ATTR
  kNative,      // the form the NPU reads and writes without conversion
  kNativeNhwc,  // NHWC for four dimensions, else as kNative
};

struct TensorAttr {
  uint32_t index = 0;
  std::string name;
  std::vector<uint32_t> dims;
  uint64_t elements = 0;
  uint64_t size_bytes = 0;              // elements * size of dtype
  uint64_t size_with_stride_bytes = 0;  // what the chip reserves, row padding included
  TensorFormat format = TensorFormat::kUndefined;
  DType dtype = DType::kUndefined;
  bool affine = false;  // f16 too, with scale 1 and zero point 0, as the board reports it
  int32_t zero_point = 0;
  float scale = 1.0f;
  uint32_t w_stride = 0;  // pixels; 0: no rows
};

TensorAttr input_attr(const program::ProgramTensor& tensor, uint32_t index, AttrView view);
TensorAttr output_attr(const program::ProgramTensor& tensor, uint32_t index, AttrView view);

// The same for that many samples one after the other: the outermost extent and all sizes grow.
TensorAttr of_batch(TensorAttr attr, int64_t batch);

// Channels per block of the tensor's native form; 0 when it is not channel-blocked.
int64_t native_c2(const program::ProgramTensor& tensor);

}  // namespace rk::runtime
