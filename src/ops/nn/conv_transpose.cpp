// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: the gradient of Conv, used for upsampling. The weights are [in, out / group,
// kernel...]: the channel axes are the other way round than Conv's.
#include <algorithm>

#include "ops/nn/conv.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

Status read_output_padding(const Node& node, const Window& window, Extent& out) {
  out = {.d = 0, .h = 0, .w = 0};
  const std::vector<int64_t>& given = node.ints("output_padding");
  if (given.empty()) return ok_status();
  if (given.size() != static_cast<size_t>(window.spatial_rank)) {
    return refuse("attribute 'output_padding' has ", given.size(), " values, expected ",
                  window.spatial_rank);
  }
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    const int64_t value = given[static_cast<size_t>(i)];
    const int64_t limit = std::max(window.stride.at(axis), window.dilation.at(axis));
    if (value < 0 || value >= limit) {
      return refuse("attribute 'output_padding' has value ", value, ", expected 0 to ", limit - 1,
                    " (below stride or dilation)");
    }
    out.at(axis) = value;
  }
  return ok_status();
}

// The padding that is taken off the full result is what the wanted extent leaves over.
void fit_pads(int64_t full, int64_t wanted, OddPad odd, int axis, Window& window) {
  const int64_t total = std::max<int64_t>(0, full - wanted);
  window.pads.begin(axis) = odd == OddPad::kEnd ? total / 2 : total - total / 2;
  window.pads.end(axis) = total - window.pads.begin(axis);
}

Status resolve_output(const Node& node, const Extent& in, ConvTransposeAttrs& attrs) {
  Window& window = attrs.window;
  Extent output_padding;
  RK_TRY(read_output_padding(node, window, output_padding));
  const std::vector<int64_t>& wanted = node.ints("output_shape");
  if (!wanted.empty() && wanted.size() != static_cast<size_t>(window.spatial_rank)) {
    return refuse("attribute 'output_shape' has ", wanted.size(), " values, expected ",
                  window.spatial_rank, ", one per spatial axis");
  }
  const std::string& auto_pad = node.text("auto_pad");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const OddPad odd = auto_pad == "SAME_UPPER" ? OddPad::kEnd : OddPad::kBegin;
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    const int64_t stride = window.stride.at(axis);
    const int64_t full = stride * (in.at(axis) - 1) + window.reach(axis) + output_padding.at(axis);
    if (!wanted.empty()) {
      attrs.output.at(axis) = wanted[static_cast<size_t>(i)];
      if (attrs.output.at(axis) < 1 || attrs.output.at(axis) > (int64_t{1} << 30)) {
        return refuse("attribute 'output_shape' has value ", attrs.output.at(axis),
                      ", expected a positive extent");
      }
      fit_pads(full, attrs.output.at(axis), odd, axis, window);
    } else if (same) {
      attrs.output.at(axis) = in.at(axis) * stride;
      fit_pads(full, attrs.output.at(axis), odd, axis, window);
    } else {
      attrs.output.at(axis) = full - window.pads.begin(axis) - window.pads.end(axis);
    }
    if (attrs.output.at(axis) < 1) {
      return refuse("spatial axis ", i, ": the output extent would be ", attrs.output.at(axis),
                    "; input extent ", in.at(axis), " and pads leave nothing");
    }
  }
  return ok_status();
}

Status conv_transpose_infer(InferCall& call) {
  RK_ASSIGN(const ConvTransposeAttrs attrs, resolve_conv_transpose(call.node));
  RK_TRY(check_bias(call, attrs.out_channels));
  return set_output(call, 0, call.input(0).dtype,
                    picture_dims(call.input(0).shape[0], attrs.out_channels, attrs.output,
                                 attrs.window.spatial_rank));
}

// Spreads one input channel over one output channel.
void spread_plane(const float* x, const float* weights, double* sums, const Extent& in,
                  const ConvTransposeAttrs& attrs) {
  const Window& window = attrs.window;
  const Extent& out = attrs.output;
  for (int64_t d = 0; d < in.d; ++d) {
    for (int64_t h = 0; h < in.h; ++h) {
      for (int64_t w = 0; w < in.w; ++w) {
        const double value = *x++;
        const float* weight = weights;
        for (int64_t kd = 0; kd < window.kernel.d; ++kd) {
          const int64_t od = d * window.stride.d + kd * window.dilation.d - window.pads.front;
          for (int64_t kh = 0; kh < window.kernel.h; ++kh) {
            const int64_t oh = h * window.stride.h + kh * window.dilation.h - window.pads.top;
            const bool row_inside = od >= 0 && od < out.d && oh >= 0 && oh < out.h;
            for (int64_t kw = 0; kw < window.kernel.w; ++kw, ++weight) {
              const int64_t ow = w * window.stride.w + kw * window.dilation.w - window.pads.left;
              if (row_inside && ow >= 0 && ow < out.w) {
                sums[(od * out.h + oh) * out.w + ow] += value * *weight;
              }
            }
          }
        }
      }
    }
  }
}

Status conv_transpose_compute(const EvalCall& call) {
  const ConvTransposeAttrs attrs = conv_transpose_attrs(call.node);
  const Extent in = spatial_extent(call.input(0).shape());
  const int64_t kernel = attrs.window.kernel.product();
  const int64_t out_per_group = attrs.out_channels / attrs.group;
  const float* w = call.input(1).data<float>();
  sum_group_channels(
      call, attrs,
      [&](const float* x, int64_t ic, int64_t oc, double* sums) {
        const float* weights = w + (ic * out_per_group + oc % out_per_group) * kernel;
        spread_plane(x, weights, sums, in, attrs);
      },
      store_f32(call.output(0)));
  return ok_status();
}

Status conv_transpose_reference(const EvalCall& call) {
  return in_f32(call, conv_transpose_compute);
}

Cost conv_transpose_cost(const Node& node) {
  const ConvTransposeAttrs attrs = conv_transpose_attrs(node);
  const auto inputs = static_cast<uint64_t>(node.input(0).shape().elements());
  return {.macs = inputs * static_cast<uint64_t>(attrs.window.kernel.product() *
                                                 attrs.out_channels / attrs.group)};
}

}  // namespace

Result<ConvTransposeAttrs> resolve_conv_transpose(const Node& node) {
  RK_ASSIGN(const std::span<const int64_t> kernel, read_kernel(node));
  const Shape& in = node.input(0).shape();
  const Shape& weights = node.input(1).shape();
  ConvTransposeAttrs attrs;
  attrs.group = node.i64("group");
  attrs.in_channels = in[1];
  if (weights[0] != attrs.in_channels) {
    return refuse("weights ", to_string(weights), " take ", weights[0], " channels, the input ",
                  to_string(in), " has ", attrs.in_channels);
  }
  if (attrs.group < 1 || attrs.in_channels % attrs.group != 0) {
    return refuse("attribute 'group' is ", attrs.group, ", expected a divisor of the ",
                  attrs.in_channels, " input channels");
  }
  RK_ASSIGN(const Shape out_shape, Shape::make(std::array{weights[1], attrs.group}));
  attrs.out_channels = out_shape.elements();
  RK_ASSIGN(attrs.window, read_window(node, kernel));
  RK_TRY(resolve_output(node, spatial_extent(in), attrs));
  return attrs;
}

ConvTransposeAttrs conv_transpose_attrs(const Node& node) {
  return resolve_conv_transpose(node).value();
}

OpDef conv_transpose() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({"group", int64_t{1}, "channels are split into this many independent groups"});
  attrs.push_back({"output_padding", std::vector<int64_t>{}, "rows added at the end of each axis"});
  attrs.push_back({"output_shape", std::vector<int64_t>{},
                   "spatial extents of the result; pads then follow from it"});
  return {
      .name = "ConvTranspose",
      .doc = "y = transposed convolution of x with w, plus b per output channel",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = conv_transpose_infer,
      .reference = conv_transpose_reference,
      .cost = conv_transpose_cost,
      .quant = QuantRule::kAccumulate,
      .weight_axis = [](const Node& node) { return node.i64("group") == 1 ? 1 : -1; },
  };
}

}  // namespace rk::ops
