// SPDX-License-Identifier: Apache-2.0
// Conv: cross-correlation over one to three spatial axes, with groups. The weights are [out, in /
// group, kernel...].
#include "ops/nn/conv.h"

#include <algorithm>

#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

// One kernel tap on a row: the outputs whose input column lies inside the picture.
IndexRange valid_outputs(int64_t in, int64_t out, int64_t stride, int64_t shift) {
  // input column = o * stride + shift
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t last = in - 1 - shift;
  const int64_t end = last < 0 ? 0 : std::min(out, last / stride + 1);
  return {std::min(begin, end), end};
}

struct Plane {
  const float* in;       // one channel
  const float* weights;  // its kernel
  double* sums;          // one output channel
};

void add_plane(const Plane& plane, const Window& window, const Extent& in, const Extent& out) {
  const auto shift = [&](int axis, int64_t tap) {
    return tap * window.dilation.at(axis) - window.pads.begin(axis);
  };
  const float* weight = plane.weights;
  for (int64_t kd = 0; kd < window.kernel.d; ++kd) {
    const IndexRange od = valid_outputs(in.d, out.d, window.stride.d, shift(0, kd));
    for (int64_t kh = 0; kh < window.kernel.h; ++kh) {
      const IndexRange oh = valid_outputs(in.h, out.h, window.stride.h, shift(1, kh));
      for (int64_t kw = 0; kw < window.kernel.w; ++kw) {
        const IndexRange ow = valid_outputs(in.w, out.w, window.stride.w, shift(2, kw));
        const double w = *weight++;
        for (int64_t d = od.begin; d < od.end; ++d) {
          const int64_t id = d * window.stride.d + shift(0, kd);
          for (int64_t h = oh.begin; h < oh.end; ++h) {
            const int64_t ih = h * window.stride.h + shift(1, kh);
            const float* x = plane.in + (id * in.h + ih) * in.w;
            double* y = plane.sums + (d * out.h + h) * out.w;
            for (int64_t c = ow.begin; c < ow.end; ++c) {
              y[c] += w * x[c * window.stride.w + shift(2, kw)];
            }
          }
        }
      }
    }
  }
}

Status conv_infer(InferCall& call) {
  RK_ASSIGN(const TensorType type, infer_conv_type(call));
  call.set_output(0, type);
  return ok_status();
}

Status conv_compute(const EvalCall& call) {
  conv_f32(call, conv_attrs(call.node));
  return ok_status();
}

Status conv_reference(const EvalCall& call) { return in_f32(call, conv_compute); }

}  // namespace

Status check_bias(const InferCall& call, int64_t out_channels) {
  if (!call.has_input(2)) return ok_status();
  return require_shape(call, 2, Shape{out_channels});
}

Result<std::span<const int64_t>> read_kernel(const Node& node) {
  const Shape& in = node.input(0).shape();
  const Shape& weights = node.input(1).shape();
  if (in.rank() < 3 || in.rank() > 5 || weights.rank() != in.rank()) {
    return refuse("input 'x' is ", to_string(in), " and the weights 'w' are ", to_string(weights),
                  ", expected the same rank, 3 to 5");
  }
  const std::span<const int64_t> kernel = weights.dims().subspan(2);
  const std::vector<int64_t>& given = node.ints("kernel_shape");
  if (!given.empty() && !std::ranges::equal(given, kernel)) {
    return refuse("attribute 'kernel_shape' is ", to_string(given), ", the weights have ",
                  to_string(kernel));
  }
  return kernel;
}

Result<ConvAttrs> resolve_conv(const Node& node) {
  RK_ASSIGN(const std::span<const int64_t> kernel, read_kernel(node));
  const Shape& in = node.input(0).shape();
  const Shape& weights = node.input(1).shape();
  ConvAttrs attrs;
  attrs.group = node.i64("group");
  attrs.in_channels = in[1];
  attrs.out_channels = weights[0];
  if (attrs.group < 1 || attrs.in_channels % attrs.group != 0 ||
      attrs.out_channels % attrs.group != 0) {
    return refuse("attribute 'group' is ", attrs.group, ", expected a divisor of the ",
                  attrs.in_channels, " input and ", attrs.out_channels, " output channels");
  }
  if (weights[1] != attrs.in_channels / attrs.group) {
    return refuse("weights ", to_string(weights), " take ", weights[1],
                  " channels per group, the input ", to_string(in), " has ",
                  attrs.in_channels / attrs.group);
  }
  RK_ASSIGN(attrs.window, resolve_window(node, kernel, in));
  return attrs;
}

ConvAttrs conv_attrs(const Node& node) { return resolve_conv(node).value(); }

Result<TensorType> infer_conv_type(const InferCall& call) {
  RK_ASSIGN(const ConvAttrs attrs, resolve_conv(call.node));
  RK_TRY(check_bias(call, attrs.out_channels));
  RK_ASSIGN(const Shape shape, conv_output_shape(call.input(0).shape, attrs));
  return TensorType{call.input(0).dtype, shape};
}

Result<Shape> conv_output_shape(const Shape& in, const ConvAttrs& attrs) {
  RK_ASSIGN(const Extent out, window_output(attrs.window, spatial_extent(in), false));
  return Shape::make(picture_dims(in[0], attrs.out_channels, out, attrs.window.spatial_rank));
}

StoreSums store_f32(Tensor& out) {
  float* y = out.mutable_data<float>();
  return [y](int64_t plane, std::span<const double> sums) {
    std::ranges::transform(sums, y + plane * static_cast<int64_t>(sums.size()),
                           [](double sum) { return static_cast<float>(sum); });
  };
}

void conv_f32(const EvalCall& call, const ConvAttrs& attrs) {
  conv_sums(call, attrs, store_f32(call.output(0)));
}

void conv_sums(const EvalCall& call, const ConvAttrs& attrs, const StoreSums& store) {
  const Extent in = spatial_extent(call.input(0).shape());
  const Extent out = spatial_extent(call.output(0).shape());
  const int64_t kernel = attrs.window.kernel.product();
  const int64_t in_per_group = attrs.in_channels / attrs.group;
  const float* w = call.input(1).data<float>();
  sum_group_channels(
      call, attrs,
      [&](const float* x, int64_t ic, int64_t oc, double* sums) {
        const float* weights = w + (oc * in_per_group + ic % in_per_group) * kernel;
        add_plane({.in = x, .weights = weights, .sums = sums}, attrs.window, in, out);
      },
      store);
}

Cost conv_cost(const Node& node) {
  const ConvAttrs attrs = conv_attrs(node);
  const auto outputs = static_cast<uint64_t>(node.output().shape().elements());
  const auto taps =
      static_cast<uint64_t>(attrs.window.kernel.product() * attrs.in_channels / attrs.group);
  return {.macs = outputs * taps};
}

OpDef conv() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({"group", int64_t{1}, "channels are split into this many independent groups"});
  return {
      .name = "Conv",
      .doc = "y = cross-correlation of x with w, plus b per output channel",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = conv_infer,
      .reference = conv_reference,
      .cost = conv_cost,
      .quant = QuantRule::kAccumulate,
      .weight_axis = [](const Node&) { return 0; },
  };
}

}  // namespace rk::ops
