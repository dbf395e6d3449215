// SPDX-License-Identifier: Apache-2.0
// Limits of docs/facts/operators.md, section 7.1. A limit that it leaves open is not invented.
// What the converter resolves before placement (ceil mode, auto_pad) is judged by its result.
#include "target/limits.h"

#include <algorithm>
#include <cmath>

namespace rk::target {
namespace {

constexpr int64_t kMaxExtent = 8192;

// The first reason found.
template <typename... Reasons>
std::string first_of(const Reasons&... reasons) {
  std::string out;
  ((out.empty() ? (void)(out = reasons) : (void)0), ...);
  return out;
}

std::string out_of_range(std::string_view what, std::span<const int64_t> values, int64_t least,
                         int64_t most) {
  for (const int64_t value : values) {
    if (value > most) return str(what, " ", value, " > ", most);
    if (value < least) return str(what, " ", value, " < ", least);
  }
  return "";
}

std::span<const int64_t> ints(const Node& node, std::string_view attr) {
  return node.has_attr(attr) ? std::span<const int64_t>(node.ints(attr))
                             : std::span<const int64_t>();
}

std::string not_picture(const Shape& shape) {
  return shape.rank() == 4 ? "" : str("input ", to_string(shape), " has not four axes");
}

std::string window_limits(const Node& node, std::span<const int64_t> kernel, int64_t max_kernel,
                          int64_t max_stride, int64_t max_pad, int64_t max_dilation) {
  return first_of(out_of_range("kernel", kernel, 1, max_kernel),
                  out_of_range("stride", ints(node, "strides"), 1, max_stride),
                  out_of_range("pad", ints(node, "pads"), 0, max_pad),
                  out_of_range("dilation", ints(node, "dilations"), 1, max_dilation));
}

int64_t at_or(std::span<const int64_t> values, size_t i, int64_t otherwise) {
  return i < values.size() ? values[i] : otherwise;
}

bool is_depthwise(const Node& node) {
  const int64_t group = node.i64("group"), channels = node.input(0).shape()[1];
  return group > 1 && group == channels && node.output().shape()[1] == channels;
}

std::string refuse_conv_transpose(const Node& node, bool power_of_two) {
  const Shape &in = node.input(0).shape(), &weight = node.input(1).shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  if (!node.input(1).is_constant()) return "weights computed at run time";
  const auto kernel = weight.dims().subspan(2);
  const std::string limits = window_limits(node, kernel, 31, 8, 15, 32);
  if (!limits.empty()) return limits;
  const auto strides = ints(node, "strides"), dilations = ints(node, "dilations");
  const auto pads = ints(node, "pads");
  const int64_t group = node.i64("group");
  if (group != 1 && !(group == in[1] && node.output().shape()[1] == in[1])) {
    return str("group ", group, " is neither 1 nor the channel count");
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t stride = at_or(strides, axis, 1), dilation = at_or(dilations, axis, 1);
    if (power_of_two && (stride & (stride - 1)) != 0) {
      return str("stride ", stride, " is none of 1, 2, 4, 8");
    }
    if (dilation != 1 && kernel[axis] != 1) return "a dilated kernel must be 1x1";
    const int64_t pad = at_or(pads, axis, 0);
    if ((kernel[axis] - 1) * dilation - pad < 0) return str("pad ", pad, " exceeds the kernel");
  }
  return "";
}

// Whether `small` spreads over `full`, both lifted to four axes.
bool expands(const Shape& small, const Shape& full) {
  if (small == full || small.elements() == 1) return true;
  if (full.rank() > 4 || small.rank() > full.rank()) return false;
  const auto lifted = [](const Shape& shape, int axis) {
    const int i = axis - (4 - shape.rank());
    return i < 0 ? int64_t{1} : shape[i];
  };
  bool one[4];
  for (int axis = 0; axis < 4; ++axis) {
    const int64_t from = lifted(small, axis), to = lifted(full, axis);
    if (from != to && from != 1) return false;
    one[axis] = from != to;
  }
  if (one[0]) return false;              // no batch broadcast is listed
  if (one[3] && !one[2]) return true;    // [b,c,h,1], [b,1,h,1]
  if (one[2] && !one[3]) return true;    // [b,c,1,w], [b,1,1,w]
  return !(one[1] && one[2] && one[3]);  // [b,c,1,1], [b,1,h,w] or full
}

const Tensor* constant(const Node& node, size_t i) {
  return node.has_input(i) && node.input(i).is_constant() ? &node.input(i).constant() : nullptr;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-4; }

int64_t positive_axis(const Node& node) {
  const int64_t axis = node.i64("axis");
  return axis < 0 ? axis + node.input(0).shape().rank() : axis;
}

}  // namespace

std::string refuse_conv(const Node& node) {
  const Shape& in = node.input(0).shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  if (!node.input(1).is_constant() && node.i64("group") != 1) {
    return "weights computed at run time need group 1";
  }
  const auto kernel = node.input(1).shape().dims().subspan(2);
  // A kernel beyond 8 of a depthwise layer and a stride beyond 7 become several steps.
  const std::string limits = window_limits(node, kernel, 31, 31, 15, is_depthwise(node) ? 32 : 31);
  if (!limits.empty()) return limits;
  if (kernel[0] > 1 && in[3] >= 16383) return str("width ", in[3], " >= 16383");
  return "";
}

std::string refuse_conv_known_weights(const Node& node) {
  return node.input(1).is_constant() ? refuse_conv(node) : "weights computed at run time";
}

std::string refuse_conv_transpose_any_stride(const Node& node) {
  return refuse_conv_transpose(node, false);
}
std::string refuse_conv_transpose_power_of_two(const Node& node) {
  return refuse_conv_transpose(node, true);
}

namespace {

std::string refuse_pool(const Node& node, int64_t max_kernel) {
  const Shape& in = node.input(0).shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  if (node.output_count() > 1) return "the NPU gives no indices";
  if (node.has_attr("auto_pad") && node.text("auto_pad") != "NOTSET") {
    return "auto_pad; the NPU takes explicit pads";
  }
  return first_of(window_limits(node, ints(node, "kernel_shape"), max_kernel, 8, 15, 1),
                  out_of_range("extent", in.dims().subspan(1), 1, kMaxExtent));
}

}  // namespace

std::string refuse_max_pool(const Node& node) {
  // A larger window that moves by one pixel is a chain of smaller ones.
  const bool by_one = std::ranges::all_of(ints(node, "strides"), [](int64_t s) { return s == 1; });
  return refuse_pool(node, by_one ? 31 : 7);
}

std::string refuse_average_pool(const Node& node) {
  if (node.has_attr("ceil_mode") && node.i64("ceil_mode") != 0) return "ceil_mode";
  // Without padding both countings agree.
  const auto pads = ints(node, "pads");
  const bool padded = std::ranges::any_of(pads, [](int64_t pad) { return pad != 0; });
  if (padded && node.has_attr("count_include_pad") && node.i64("count_include_pad") == 0) {
    return "padding that is not counted";
  }
  // A larger window becomes a depthwise convolution.
  return refuse_pool(node, 31);
}

std::string refuse_global_pool(const Node& node) {
  const Shape& in = node.input(0).shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  return out_of_range("extent", in.dims().subspan(2), 1, kMaxExtent);
}

std::string refuse_broadcast(const Node& node) {
  const Shape& out = node.output().shape();
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (node.has_input(i) && !expands(node.input(i).shape(), out)) {
      return str("broadcast of ", to_string(node.input(i).shape()), " to ", to_string(out));
    }
  }
  return "";
}

std::string refuse_channel_broadcast(const Node& node) {
  const Shape& out = node.output().shape();
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const Shape& shape = node.input(i).shape();
    const bool per_channel = shape.rank() == 4 && out.rank() == 4 && shape[0] == out[0] &&
                             shape[1] == out[1] && shape[2] == 1 && shape[3] == 1;
    if (!(shape == out) && shape.elements() != 1 && !per_channel) {
      return str("broadcast of ", to_string(shape), " to ", to_string(out));
    }
  }
  return "";
}

std::string refuse_expand(const Node& node) {
  const Shape &in = node.input(0).shape(), &out = node.output().shape();
  if (!expands(in, out)) return str("expansion of ", to_string(in), " to ", to_string(out));
  return out.rank() == 4 ? out_of_range("extent", out.dims().subspan(2), 1, kMaxExtent) : "";
}

std::string refuse_axis_beyond_width(const Node& node) {
  const int64_t axis = positive_axis(node);
  return out_of_range("axis", {&axis, 1}, 0, 3);
}

std::string refuse_gather(const Node& node) {
  if (node.input(1).shape().rank() != 1) {
    return str("indices ", to_string(node.input(1).shape()), " are not of rank 1");
  }
  return refuse_axis_beyond_width(node);
}

std::string refuse_slice(const Node& node) {
  if (!node.has_input(4)) return "";
  const Tensor* steps = constant(node, 4);
  if (steps == nullptr) return "steps computed at run time";
  for (const int64_t step : steps->to_i64()) {
    if (step != 1) return str("step ", step);
  }
  return "";
}

std::string refuse_pad(const Node& node) {
  const std::string& mode = node.text("mode");
  if (mode == "constant" || mode == "edge") return "";
  if (mode != "reflect") return str("mode '", mode, "'");
  const Shape& in = node.input(0).shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  return first_of(out_of_range("extent", in.dims().subspan(1, 2), 1, kMaxExtent),
                  out_of_range("width", in.dims().subspan(3), 1, 8176));
}

std::string refuse_pow(const Node& node) {
  const Tensor* exponent = constant(node, 1);
  if (exponent == nullptr || exponent->elements() != 1) return "the exponent is not one constant";
  const double value = exponent->at_f64(0);
  for (const double listed : {0.0, 1.0, 2.0, 3.0, 0.5, -0.5}) {
    if (value == listed) return "";
  }
  return str("exponent ", value);
}

std::string refuse_prelu(const Node& node) {
  const Shape &slope = node.input(1).shape(), &in = node.input(0).shape();
  if (slope.elements() == 1 || (in.rank() > 1 && slope.elements() == in[1])) return "";
  if (in.rank() == 4 && expands(slope, in)) return "";
  return str("broadcast of the slope ", to_string(slope), " to ", to_string(in));
}

// The vendor's table for another alpha is that of alpha * e^x - 1, which is not the function.
std::string refuse_elu(const Node& node) {
  return near(node.f32("alpha"), 1) ? "" : str("alpha ", node.f32("alpha"), " is not 1");
}

std::string refuse_clip(const Node& node) {
  for (size_t i = 1; i < 3; ++i) {
    if (node.has_input(i) && constant(node, i) == nullptr) return "bounds computed at run time";
  }
  return "";
}

std::string refuse_resize(const Node& node) {
  const Shape &in = node.input(0).shape(), &out = node.output().shape();
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  const std::string& mode = node.text("mode");
  if (mode != "nearest" && mode != "linear") return str("mode '", mode, "'");
  const std::string& coordinates = node.text("coordinate_transformation_mode");
  if (coordinates != "half_pixel" && coordinates != "pytorch_half_pixel" &&
      coordinates != "align_corners" && coordinates != "asymmetric") {
    return str("coordinate mode '", coordinates, "'");
  }
  if (node.has_attr("antialias") && node.i64("antialias") != 0) return "antialias";
  if (mode == "nearest" || (in[2] == 1 && in[3] == 1)) return "";
  for (int axis = 2; axis < 4; ++axis) {
    if (out[axis] % in[axis] != 0 && in[axis] % out[axis] != 0) {
      return str("from ", in[axis], " to ", out[axis], " is not an integer factor");
    }
  }
  return "";
}

std::string refuse_softmax(const Node& node) {
  const Shape& in = node.input(0).shape();
  // Note: the vendor's compiler gives one of two or three axes a fourth, and keeps it float16 before an output.
  if (const std::string reason = not_picture(in); !reason.empty()) return reason;
  const int64_t axis = positive_axis(node);
  return axis != 0 ? "" : "axis 0 is the batch";
}

std::string refuse_hardmax(const Node& node) {
  if (const std::string reason = refuse_softmax(node); !reason.empty()) return reason;
  const Shape& in = node.input(0).shape();
  if (const int64_t axis = positive_axis(node); axis == 2) return "axis 2 is neither 1 nor 3";
  const int64_t rest = positive_axis(node) == 1 ? in[2] * in[3] : in[1] * in[2];
  return out_of_range("elements beside the axis", {&rest, 1}, 1, 16383);
}

std::string refuse_hardmax_small(const Node& node) {
  if (const std::string reason = refuse_hardmax(node); !reason.empty()) return reason;
  const Shape& in = node.input(0).shape();
  const int64_t all = in[1] * in[2] * in[3];
  if (all > kMaxExtent) return str("elements ", all, " > ", kMaxExtent);
  return all == 1 || all > 8 ? "" : str("elements ", all, " are neither 1 nor more than 8");
}

std::string refuse_recurrent(const Node& node) {
  const Shape& in = node.input(0).shape();
  if (in.rank() != 3) return str("input ", to_string(in), " is not [seq, batch, input]");
  if (in[1] != 1 && in[1] % 4 != 0)
    return str("batch ", in[1], " is neither 1 nor a multiple of 4");
  const int64_t hidden = node.has_attr("hidden_size") ? node.i64("hidden_size") : 1;
  return first_of(out_of_range("extent", in.dims(), 1, kMaxExtent),
                  out_of_range("hidden size", {&hidden, 1}, 1, kMaxExtent));
}

std::string refuse_matmul(const Node& node) {
  const Shape& a = node.input(0).shape();
  if (a.rank() < 2) return str("input ", to_string(a), " has fewer than two axes");
  const int64_t k = a[a.rank() - 1];
  return out_of_range("inner extent", {&k, 1}, 1, kMaxExtent);
}

std::string refuse_glu(const Node& node) {
  const int64_t axis = positive_axis(node);
  return axis == 1 ? "" : str("axis ", axis, " is not 1");
}

std::string refuse_attention(const Node& node) {
  for (const size_t i : {size_t{0}, size_t{2}}) {
    const Shape& shape = node.input(i).shape();
    const int64_t channels = shape[shape.rank() - 1];
    const std::string reason =
        out_of_range(i == 0 ? "query channels" : "value channels", {&channels, 1}, 1, kMaxExtent);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace rk::target
