// SPDX-License-Identifier: Apache-2.0
// Typed attributes of the convolution family, for those who look inside a node. They are resolved
// against the node's shapes (kernel from the weights, auto_pad into pads). Inference has checked
// them, so reading cannot fail later.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "ops/shared/window.h"

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
// The kernel's extents, from the weights; checks ranks and attribute kernel_shape.
Result<std::span<const int64_t>> read_kernel(const Node& node);
// Input 2, where there is one.
Status check_bias(const InferCall& call, int64_t out_channels);

// For a node of a graph: Conv and FusedConv, or ConvTranspose.
ConvAttrs conv_attrs(const Node& node);
ConvTransposeAttrs conv_transpose_attrs(const Node& node);

// Checks all inputs of Conv or the first three of FusedConv and gives the output type.
Result<TensorType> infer_conv_type(const InferCall& call);
Result<Shape> conv_output_shape(const Shape& in, const ConvAttrs& attrs);
// out[n, oc, ...] = sum over taps + bias; everything f32, sums in double. For Conv and FusedConv.
void conv_f32(const EvalCall& call, const ConvAttrs& attrs);
// Takes the sums of an output plane (n * out_channels + oc), in any order and from several threads.
using StoreSums = std::function<void(int64_t plane, std::span<const double> sums)>;
StoreSums store_f32(Tensor& out);
// The same sums for f32 inputs 0 to 2.
void conv_sums(const EvalCall& call, const ConvAttrs& attrs, const StoreSums& store);
Cost conv_cost(const Node& node);

// The sums of each output plane: the bias, plus what add(x, input channel, output channel, sums)
// adds for each input channel of its group; `x` is that channel's plane.
template <typename Add>
void sum_group_channels(const EvalCall& call, const ConvAttrs& attrs, Add add,
                        const StoreSums& store) {
  const int64_t in_plane = spatial_extent(call.input(0).shape()).product();
  const int64_t out_plane = spatial_extent(call.output(0).shape()).product();
  const int64_t in_per_group = attrs.in_channels / attrs.group;
  const int64_t out_per_group = attrs.out_channels / attrs.group;
  const float* x = call.input(0).data<float>();
  const float* bias = call.has_input(2) ? call.input(2).data<float>() : nullptr;
  const int64_t planes = call.input(0).shape()[0] * attrs.out_channels;
  call.parallel_for(planes, 1, [&](IndexRange range) {
    std::vector<double> sums(static_cast<size_t>(out_plane));
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const int64_t n = plane / attrs.out_channels;
      const int64_t oc = plane % attrs.out_channels;
      std::ranges::fill(sums, bias != nullptr ? bias[oc] : 0.0);
      const int64_t first = oc / out_per_group * in_per_group;
      for (int64_t ic = first; ic < first + in_per_group; ++ic) {
        add(x + (n * attrs.in_channels + ic) * in_plane, ic, oc, sums.data());
      }
      store(plane, sums);
    }
  });
}

}  // namespace rk::ops
