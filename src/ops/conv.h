// SPDX-License-Identifier: Apache-2.0
// Typed attributes of the convolution family, for those who look inside a node. They are resolved
// against the node's shapes (kernel from the weights, auto_pad into pads). Inference has checked
// them, so reading cannot fail later.
#pragma once

#include <functional>
#include <span>

#include "ops/window.h"

namespace rk::ops {

struct ConvAttrs {
  Window window;
  int64_t group = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;

  bool depthwise() const { return group > 1 && group == in_channels && group == out_channels; }
};

struct ConvTransposeAttrs : ConvAttrs {
  Extent output;  // spatial extents of the result
};

// For infer; `weights` is the shape of input 1.
Result<ConvAttrs> resolve_conv(const Node& node);
Result<ConvTransposeAttrs> resolve_conv_transpose(const Node& node);

// For a node of a graph: Conv and FusedConv, or ConvTranspose.
ConvAttrs conv_attrs(const Node& node);
ConvTransposeAttrs conv_transpose_attrs(const Node& node);

// Checks all inputs of Conv or the first three of FusedConv and gives the output type.
Result<TensorType> infer_conv_type(const InferCall& call);
Result<Shape> conv_output_shape(const Shape& in, const ConvAttrs& attrs);
// out[n, oc, ...] = sum over taps + bias; everything f32, sums in double. For Conv and FusedConv.
void conv_f32(const EvalCall& call, const ConvAttrs& attrs);
// The same sums for f32 inputs 0 to 2, given to `store` by output plane (n * out_channels + oc), in any order and from
// several threads.
void conv_sums(const EvalCall& call, const ConvAttrs& attrs,
               const std::function<void(int64_t plane, std::span<const double> sums)>& store);
Cost conv_cost(const Node& node);

}  // namespace rk::ops
