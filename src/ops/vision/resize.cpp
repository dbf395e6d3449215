// SPDX-License-Identifier: Apache-2.0
// Resize: samples x on another grid, each axis on its own. Nearest moves elements of any dtype;
// linear and cubic compute in float. Follows the ONNX reference where runtimes differ (fractional
// output extents with given scales).
#include "ops/vision/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

template <typename T>
struct NamedValue {
  std::string_view name;
  T value;
};

constexpr NamedValue<ResizeMode> kModes[] = {{"nearest", ResizeMode::kNearest},
                                             {"linear", ResizeMode::kLinear},
                                             {"cubic", ResizeMode::kCubic}};
constexpr NamedValue<ResizeCoordinates> kCoordinates[] = {
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize}};
constexpr NamedValue<ResizeRounding> kRoundings[] = {
    {"round_prefer_floor", ResizeRounding::kRoundPreferFloor},
    {"round_prefer_ceil", ResizeRounding::kRoundPreferCeil},
    {"floor", ResizeRounding::kFloor},
    {"ceil", ResizeRounding::kCeil}};

template <typename T, size_t N>
Result<T> choose(const Node& node, std::string_view attr, const NamedValue<T> (&rows)[N]) {
  const std::string& found = node.text(attr);
  std::string known;
  for (const NamedValue<T>& row : rows) {
    if (row.name == found) return row.value;
    known += str(known.empty() ? "'" : ", '", row.name, "'");
  }
  return refuse("attribute '", attr, "' is '", found, "', expected one of ", known);
}

Result<const Tensor*> known_input(const Node& node, size_t i) {
  if (!node.has_input(i)) return static_cast<const Tensor*>(nullptr);
  if (!node.input(i).is_constant()) {
    return unsupported(str("input ", i, " ('", node.def().inputs[i].name,
                           "') is computed at run time; it must be a constant because the output "
                           "shape depends on it"));
  }
  const Tensor& tensor = node.input(i).constant();
  // Exporters write an empty tensor for "not given".
  return tensor.elements() == 0 ? nullptr : &tensor;
}

Status check_count(const Tensor& tensor, std::string_view name, size_t expected) {
  if (tensor.elements() == static_cast<int64_t>(expected)) return ok_status();
  return refuse("input '", name, "' has ", tensor.elements(), " values, expected ", expected);
}

Status apply_scales(const Tensor& scales, std::span<const int> axes, ResizeAttrs& attrs) {
  RK_TRY(check_count(scales, "scales", axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = attrs.axes[static_cast<size_t>(axes[i])];
    axis.scale = scales.at_f64(static_cast<int64_t>(i));
    const double extent = std::floor(static_cast<double>(axis.in) * axis.scale);
    if (!(axis.scale > 0) || !(extent <= 2147483648.0)) {
      return refuse("input 2 ('scales') holds ", axis.scale,
                    ", expected a positive number that fits");
    }
    axis.out = static_cast<int64_t>(extent);
  }
  return ok_status();
}

Status apply_sizes(const Tensor& sizes, std::span<const int> axes, const std::string& policy,
                   ResizeAttrs& attrs) {
  RK_TRY(check_count(sizes, "sizes", axes.size()));
  double common = policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = attrs.axes[static_cast<size_t>(axes[i])];
    axis.out = sizes.at_i64(static_cast<int64_t>(i));
    if (axis.out < 1 || axis.in < 1) {
      return refuse("input 3 ('sizes') asks for extent ", axis.out, " from ", axis.in,
                    ", expected both above 0");
    }
    axis.scale = static_cast<double>(axis.out) / static_cast<double>(axis.in);
    common = policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (policy == "stretch") return ok_status();
  for (const int a : axes) {
    ResizeAxis& axis = attrs.axes[static_cast<size_t>(a)];
    axis.scale = common;
    const double extent = std::floor(common * static_cast<double>(axis.in) + 0.5);
    if (!(extent <= 2147483648.0))
      return refuse("keep_aspect_ratio_policy makes an extent of ", extent);
    axis.out = std::max<int64_t>(1, static_cast<int64_t>(extent));
  }
  return ok_status();
}

Status resize_infer(InferCall& call) {
  RK_ASSIGN(const ResizeAttrs attrs, resolve_resize(call.node));
  const bool moves_only = attrs.mode == ResizeMode::kNearest &&
                          attrs.coordinates != ResizeCoordinates::kTfCropAndResize;
  if (!moves_only) RK_TRY(require_number(call, 0));
  std::vector<int64_t> dims;
  for (const ResizeAxis& axis : attrs.axes) {
    if (axis.in == 0 && axis.out != 0)
      return refuse("input 'x' has an extent of 0 that cannot grow to ", axis.out);
    dims.push_back(axis.out);
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

// The contributions to one output index: consecutive input indices from `first` on.
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;
};

double kernel_at(const ResizeAttrs& attrs, double x) {
  x = std::fabs(x);
  if (attrs.mode == ResizeMode::kLinear) return std::max(0.0, 1.0 - x);
  const double a = attrs.cubic_a;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// `most` input elements at most can take part, which bounds the taps however small the scale is.
Taps taps_at(const ResizeAttrs& attrs, const ResizeAxis& axis, double x) {
  const double shrink = attrs.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double radius = (attrs.mode == ResizeMode::kLinear ? 1.0 : 2.0) / shrink;
  const double margin = static_cast<double>(axis.in) + 4;
  const auto begin =
      static_cast<int64_t>(std::floor(std::clamp(x - radius, -margin, 2 * margin))) + 1;
  const auto end = static_cast<int64_t>(std::ceil(std::clamp(x + radius, -margin, 2 * margin)));
  Taps taps;
  taps.first = begin;
  double sum = 0;
  for (int64_t i = begin; i < std::max(end, begin + 1); ++i) {
    double weight = kernel_at(attrs, (static_cast<double>(i) - x) * shrink);
    if (attrs.exclude_outside && (i < 0 || i >= axis.in)) weight = 0;
    taps.weights.push_back(weight);
    sum += weight;
  }
  if ((attrs.antialias || attrs.exclude_outside) && sum != 0) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

// Resamples one axis of `from` ([outer, in, inner]) into `to` ([outer, out, inner]).
std::vector<float> resample(const std::vector<float>& from, const ResizeAttrs& attrs,
                            const ResizeAxis& axis, int64_t outer, int64_t inner) {
  std::vector<float> to(static_cast<size_t>(outer * axis.out * inner));
  std::vector<double> sums(static_cast<size_t>(inner));
  for (int64_t o = 0; o < axis.out; ++o) {
    const Taps taps = taps_at(attrs, axis, resize_coordinate(attrs, axis, o));
    for (int64_t block = 0; block < outer; ++block) {
      std::ranges::fill(sums, 0.0);
      for (size_t t = 0; t < taps.weights.size(); ++t) {
        const int64_t i = std::clamp<int64_t>(taps.first + static_cast<int64_t>(t), 0, axis.in - 1);
        const float* row = from.data() + (block * axis.in + i) * inner;
        for (size_t j = 0; j < sums.size(); ++j) sums[j] += taps.weights[t] * row[j];
      }
      float* out = to.data() + (block * axis.out + o) * inner;
      for (size_t j = 0; j < sums.size(); ++j) out[j] = static_cast<float>(sums[j]);
    }
  }
  return to;
}

bool unchanged(const ResizeAttrs& attrs, const ResizeAxis& axis) {
  return axis.in == axis.out && axis.scale == 1 &&
         attrs.coordinates != ResizeCoordinates::kTfCropAndResize;
}

// tf_crop_and_resize: an element whose coordinate is outside on any axis gets extrapolation_value.
std::vector<AxisSource> inside_sources(const ResizeAttrs& attrs) {
  std::vector<AxisSource> sources;
  for (const ResizeAxis& axis : attrs.axes) {
    sources.push_back([&attrs, &axis](int64_t i) {
      const double x = resize_coordinate(attrs, axis, i);
      return x < 0 || x > static_cast<double>(axis.in - 1) ? -1 : i;
    });
  }
  return sources;
}

void move_nearest(const ResizeAttrs& attrs, const Tensor& x, Tensor& out) {
  std::vector<AxisSource> sources;
  const bool crop = attrs.coordinates == ResizeCoordinates::kTfCropAndResize;
  for (const ResizeAxis& axis : attrs.axes) {
    sources.push_back([&attrs, &axis, crop](int64_t i) {
      const double at = resize_coordinate(attrs, axis, i);
      const bool outside = crop && (at < 0 || at > static_cast<double>(axis.in - 1));
      return outside ? -1 : resize_nearest_index(attrs, axis, i);
    });
  }
  uint8_t fill[8] = {};
  store_f64(x.dtype(), fill, attrs.extrapolation_value);
  move_indexed(x, sources, fill, out);
}

Status resize_reference(const EvalCall& call) {
  const ResizeAttrs attrs = resize_attrs(call.node);
  Tensor& out = call.output(0);
  if (out.elements() == 0) return ok_status();
  if (attrs.mode == ResizeMode::kNearest) {
    move_nearest(attrs, call.input(0), out);
    return ok_status();
  }
  std::vector<float> values = call.input(0).to_f32();
  std::vector<int64_t> extents(call.input(0).shape().dims().begin(),
                               call.input(0).shape().dims().end());
  for (size_t a = 0; a < attrs.axes.size(); ++a) {
    if (unchanged(attrs, attrs.axes[a])) continue;
    int64_t outer = 1;
    int64_t inner = 1;
    for (size_t b = 0; b < extents.size(); ++b) (b < a ? outer : inner) *= b == a ? 1 : extents[b];
    values = resample(values, attrs, attrs.axes[a], outer, inner);
    extents[a] = attrs.axes[a].out;
  }
  const bool rounds = is_integer(out.dtype());
  const size_t step = byte_size(out.dtype());
  Tensor sampled = Tensor::make(out.type());
  uint8_t* to = sampled.mutable_data<uint8_t>();
  for (const float value : values) {
    store_f64(out.dtype(), to, rounds ? std::nearbyint(value) : value);
    to += step;
  }
  if (attrs.coordinates != ResizeCoordinates::kTfCropAndResize) {
    copy_bytes(sampled, out);
    return ok_status();
  }
  uint8_t fill[8] = {};
  store_f64(out.dtype(), fill, attrs.extrapolation_value);
  move_indexed(sampled, inside_sources(attrs), fill, out);
  return ok_status();
}

Cost resize_cost(const Node& node) {
  const auto outputs = static_cast<uint64_t>(node.output().shape().elements());
  const std::string& mode = node.text("mode");
  return {.ops = mode == "nearest" ? 0 : outputs * (mode == "linear" ? 8 : 32)};
}

}  // namespace

Result<ResizeAttrs> resolve_resize(const Node& node) {
  const Shape& in = node.input(0).shape();
  ResizeAttrs attrs;
  RK_ASSIGN(attrs.mode, choose(node, "mode", kModes));
  RK_ASSIGN(attrs.coordinates, choose(node, "coordinate_transformation_mode", kCoordinates));
  RK_ASSIGN(attrs.rounding, choose(node, "nearest_mode", kRoundings));
  RK_TRY(
      require_one_of(node, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  attrs.cubic_a = node.f32("cubic_coeff_a");
  attrs.antialias = node.i64("antialias") != 0;
  attrs.exclude_outside = node.i64("exclude_outside") != 0;
  attrs.extrapolation_value = node.f32("extrapolation_value");
  for (int axis = 0; axis < in.rank(); ++axis)
    attrs.axes.push_back({.in = in[axis], .out = in[axis]});

  std::vector<int64_t> every;
  for (int axis = 0; axis < in.rank(); ++axis) every.push_back(axis);
  RK_ASSIGN(const std::vector<int> axes,
            normalize_axes(node.ints("axes").empty() ? every : node.ints("axes"), in.rank()));

  RK_ASSIGN(const Tensor* const scales, known_input(node, 2));
  RK_ASSIGN(const Tensor* const sizes, known_input(node, 3));
  if ((scales == nullptr) == (sizes == nullptr)) {
    return refuse(scales == nullptr ? "neither" : "both",
                  " of 'scales' and 'sizes' given, expected exactly one");
  }
  if (scales != nullptr) RK_TRY(apply_scales(*scales, axes, attrs));
  if (sizes != nullptr)
    RK_TRY(apply_sizes(*sizes, axes, node.text("keep_aspect_ratio_policy"), attrs));

  if (attrs.coordinates == ResizeCoordinates::kTfCropAndResize) {
    RK_ASSIGN(const Tensor* const roi, known_input(node, 1));
    if (roi == nullptr) return refuse("input 1 ('roi') is missing; tf_crop_and_resize needs it");
    RK_TRY(check_count(*roi, "roi", 2 * axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      ResizeAxis& axis = attrs.axes[static_cast<size_t>(axes[i])];
      axis.roi_begin = roi->at_f64(static_cast<int64_t>(i));
      axis.roi_end = roi->at_f64(static_cast<int64_t>(i + axes.size()));
    }
  }
  return attrs;
}

ResizeAttrs resize_attrs(const Node& node) { return resolve_resize(node).value(); }

double resize_coordinate(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t i) {
  const auto x = static_cast<double>(i);
  const auto in = static_cast<double>(axis.in);
  const double out = axis.scale * in;  // not rounded to the extent
  switch (attrs.coordinates) {
    case ResizeCoordinates::kAlignCorners:
      return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kTfCropAndResize: {
      const double span = (axis.roi_end - axis.roi_begin) * (in - 1);
      return axis.roi_begin * (in - 1) + (out == 1 ? span / 2 : x * span / (out - 1));
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return out == 1 ? -0.5 : (x + 0.5) / axis.scale - 0.5;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const double offset = in / 2 * (1 - static_cast<double>(axis.out) / out);
      return offset + (x + 0.5) / axis.scale - 0.5;
    }
    case ResizeCoordinates::kHalfPixel:
      break;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

int64_t resize_nearest_index(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t i) {
  const double x =
      std::clamp(resize_coordinate(attrs, axis, i), 0.0, static_cast<double>(axis.in - 1));
  const double below = std::floor(x);
  const double rest = x - below;
  bool up = false;
  switch (attrs.rounding) {
    case ResizeRounding::kRoundPreferFloor:
      up = rest > 0.5;
      break;
    case ResizeRounding::kRoundPreferCeil:
      up = rest >= 0.5;
      break;
    case ResizeRounding::kFloor:
      up = false;
      break;
    case ResizeRounding::kCeil:
      up = rest > 0;
      break;
  }
  return std::min(axis.in - 1, static_cast<int64_t>(below) + (up ? 1 : 0));
}

OpDef resize() {
  return {
      .name = "Resize",
      .doc = "y = x sampled on another grid",
      .inputs = {{"x", anything()},
                 {"roi", floats(), ArgDef::kOptional},
                 {"scales", floats(), ArgDef::kOptional},
                 {"sizes", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"mode", "nearest", "nearest, linear or cubic"},
                {"coordinate_transformation_mode", "half_pixel",
                 "how output places map to input places"},
                {"nearest_mode", "round_prefer_floor", "how nearest rounds"},
                {"cubic_coeff_a", -0.75f, "the cubic kernel's parameter"},
                {"exclude_outside", int64_t{0}, "1: taps outside the picture get weight 0"},
                {"extrapolation_value", 0.0f, "what tf_crop_and_resize stores outside"},
                {"antialias", int64_t{0}, "1: linear and cubic widen their kernel when shrinking"},
                {"axes", std::vector<int64_t>{},
                 "axes that roi, scales and sizes are about; all if empty", AttrDef::kDefault,
                 AttrDef::kAxisOfInput},
                {"keep_aspect_ratio_policy", "stretch",
                 "stretch, not_larger or not_smaller, with sizes"}},
      .infer = resize_infer,
      .reference = resize_reference,
      .cost = resize_cost,
      .quant = QuantRule::kSameScaleAsInput,
  };
}

}  // namespace rk::ops
