// SPDX-License-Identifier: Apache-2.0
// Operators that mean the same in TFLite and TensorFlow. What a format stores as an option, in an
// attribute or in a constant input is an argument here; inputs and outputs are the operator's own,
// in the order both formats have.
#pragma once

#include "frontends/channels_last/layer_import.h"

namespace rk::frontends::layers {

// ---- element by element (math.cpp), by name of the graph's operator
Status unary(LayerImport& op, std::string_view name, AttrMap attrs = {});
Status binary(LayerImport& op, std::string_view name, Fused activation = Fused::kNone);
Status clipped(LayerImport& op, float low, float high);
Status softmax(LayerImport& op, float beta = 1);
Status log_softmax(LayerImport& op);
Status l2_normalization(LayerImport& op, Fused activation);
Status rsqrt(LayerImport& op);
Status square(LayerImport& op);
Status squared_difference(LayerImport& op);
Status not_equal(LayerImport& op);
Status floor_div(LayerImport& op);
Status floor_mod(LayerImport& op);
Status add_n(LayerImport& op);
// `rows_of_condition`: a condition of rank 1 chooses whole rows.
Status select(LayerImport& op, bool rows_of_condition);
Status cast(LayerImport& op, DType dtype);
// Input 0 as it is: other names, other scales.
Status passed_on(LayerImport& op);

// 2^bits steps from low to high, one pair or one per index of the last axis, moved so that zero is
// one of the steps. narrow: without the lowest step.
struct FakeQuant {
  std::vector<float> low, high;
  int64_t bits = 8;
  bool narrow = false;
};
// Rounds as quantization will (fake_quant.cpp). A constant becomes integers before a
// DequantizeLinear.
Status fake_quant(LayerImport& op, const FakeQuant& steps);

// Over the axes of input 1.
Status reduce(LayerImport& op, std::string_view name, bool keep);
Status reduce_bool(LayerImport& op, std::string_view name, bool keep);
Status arg_select(LayerImport& op, std::string_view name, DType dtype);
Status cumsum(LayerImport& op, bool exclusive, bool reverse);

// ---- moving elements (move.cpp)
Status reshape(LayerImport& op, std::vector<int64_t> dims);
Status squeeze(LayerImport& op, std::vector<int64_t> axes);
Status expand_dims(LayerImport& op);
Status transpose(LayerImport& op);
Status pad(LayerImport& op);
Status mirror_pad(LayerImport& op, bool symmetric);
Status concatenation(LayerImport& op, const std::vector<size_t>& which, int64_t axis,
                     Fused activation = Fused::kNone);
// Input `from` in as many parts as there are outputs. Without sizes: equal ones; -1: what is left.
Status split_along(LayerImport& op, size_t from, int64_t axis, std::vector<int64_t> sizes);
Status split(LayerImport& op);
Status split_v(LayerImport& op);
Status pack(LayerImport& op, int64_t axis);
Status unpack(LayerImport& op, int64_t axis);
Status slice(LayerImport& op);
struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
};
Status strided_slice(LayerImport& op, SliceMasks masks);
Status gather(LayerImport& op, int64_t axis, int64_t batch);
Status gather_nd(LayerImport& op);
Status scatter_nd(LayerImport& op);
Status tile(LayerImport& op);
Status broadcast_to(LayerImport& op);
Status one_hot(LayerImport& op, int64_t axis);
Status top_k(LayerImport& op);
Status reverse(LayerImport& op);
Status reverse_sequence(LayerImport& op, int64_t time, int64_t batch);
Status shape_of(LayerImport& op, DType dtype);
Status rank_of(LayerImport& op);
Status fill(LayerImport& op);
Status filled_like(LayerImport& op, double value);
Status range(LayerImport& op);

// ---- pictures (picture.cpp): channels first, any number of spatial axes
struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1;
};
using Windows = std::vector<Window>;  // one per spatial axis

struct Border {
  int64_t before = 0, after = 0;
};
enum class Padding { kSame, kValid, kExplicit };
struct Borders {
  Padding padding = Padding::kValid;
  std::vector<Border> sides;  // kExplicit: one per spatial axis
};

// kernel_shape, strides, dilations and pads for this picture. SAME: ceil(extent / stride) results,
// the odd element of border at the end.
Result<AttrMap> window_attrs(const Value& picture, const Windows& windows, const Borders& borders);
// Input `i` channels first, of rank 4.
Result<Value*> picture_of(LayerImport& op, size_t i);
// `filter` is [out, in / group, ...]; `bias` may be null.
Result<Value*> convolved(LayerImport& op, Value* picture, Value* filter, Value* bias,
                         const Windows& windows, const Borders& borders, bool depthwise);
// `filter` is [in, out, ...]; `extents` are the result's, per spatial axis.
Result<Value*> transpose_convolved(LayerImport& op, Value* picture, Value* filter, Value* bias,
                                   const Windows& windows, const Borders& borders,
                                   const std::vector<int64_t>& extents);
// name: MaxPool or AveragePool, whose border takes no part in the average.
Result<Value*> pooled(LayerImport& op, Value* picture, std::string_view name,
                      const Windows& windows, const Borders& borders);
struct Scaling {
  bool align_corners = false, half_pixel = false;
};
Result<Value*> resized_linear(LayerImport& op, Value* picture, int64_t height, int64_t width,
                              Scaling scaling);
Status resize_bilinear(LayerImport& op, Scaling scaling);
Status resize_nearest(LayerImport& op, Scaling scaling);
Status space_to_depth(LayerImport& op, int64_t block);
Status depth_to_space(LayerImport& op, int64_t block);
struct LocalResponse {
  int64_t radius = 0;
  float bias = 0, alpha = 0, beta = 0;
};
Status local_response_normalization(LayerImport& op, const LocalResponse& response);
struct Blocks {
  int64_t h = 1, w = 1;
  std::vector<int64_t> border = {0, 0, 0, 0};  // top, bottom, left, right
};
// Of inputs 1 and 2; `what` names the latter: paddings or crops.
Result<Blocks> blocks_of(LayerImport& op, std::string_view what);
// Both are Reshape, Transpose, Reshape.
Status space_to_batch(LayerImport& op, const Blocks& blocks);
Status batch_to_space(LayerImport& op, const Blocks& blocks);

// ---- matrices (math.cpp)
// The two last axes; `adjoint`: each matrix of this input is turned.
Status batch_matmul(LayerImport& op, bool adjoint_a, bool adjoint_b);

}  // namespace rk::frontends::layers
