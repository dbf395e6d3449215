// SPDX-License-Identifier: Apache-2.0
// Nearest and linear Resize of pictures.
#include <algorithm>
#include <array>

#include "compiler/emit.h"

namespace rk::compiler {
namespace {

template <typename T>
using Names = std::array<std::pair<std::string_view, T>, 4>;

using program::CoordinateMode;
using program::NearestMode;

constexpr Names<CoordinateMode> kCoordinates = {{
    {"half_pixel", CoordinateMode::kHalfPixel},
    {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
    {"align_corners", CoordinateMode::kAlignCorners},
    {"asymmetric", CoordinateMode::kAsymmetric},
}};
constexpr Names<NearestMode> kNearest = {{
    {"round_prefer_floor", NearestMode::kRoundPreferFloor},
    {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
    {"floor", NearestMode::kFloor},
    {"ceil", NearestMode::kCeil},
}};

template <typename T>
std::optional<T> lookup(const Names<T>& names, std::string_view name) {
  for (const auto& [text, value] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

bool is_plain(const Node& node) {
  if (node.has_attr("axes") && !node.ints("axes").empty()) return false;
  if (node.has_attr("antialias") && node.i64("antialias") != 0) return false;
  if (node.has_attr("exclude_outside") && node.i64("exclude_outside") != 0) return false;
  return !node.has_attr("keep_aspect_ratio_policy") ||
         node.text("keep_aspect_ratio_policy") == "stretch";
}

std::optional<program::ResizeParams> params_of(const Node& node) {
  const Shape &in = node.input(0).shape(), &out = node.output().shape();
  if (in.rank() != 4 || in[0] != out[0] || in[1] != out[1] || in.elements() == 0) {
    return std::nullopt;
  }
  if (!is_plain(node) || out.elements() == 0) return std::nullopt;
  const std::string& mode = node.text("mode");
  const auto coordinates = lookup(kCoordinates, node.text("coordinate_transformation_mode"));
  const auto nearest = lookup(kNearest, node.text("nearest_mode"));
  if ((mode != "nearest" && mode != "linear") || !coordinates || !nearest) return std::nullopt;
  program::ResizeParams p;
  p.mode = mode == "nearest" ? program::ResizeMode::kNearest : program::ResizeMode::kLinear;
  p.coordinates = *coordinates;
  p.nearest = *nearest;
  p.scale_h = static_cast<float>(out[2]) / static_cast<float>(in[2]);
  p.scale_w = static_cast<float>(out[3]) / static_cast<float>(in[3]);
  // Factors given by the model need not be the ratio of the rounded extents.
  if (node.has_input(2) && node.input(2).is_constant() && node.input(2).shape().elements() == 4) {
    const std::vector<float> factors = node.input(2).constant().to_f32();
    // Corners are then aligned with an extent that is not a whole number, which the chip cannot be told.
    const auto is_whole = [&](int axis) {
      const float exact = factors[static_cast<size_t>(axis)] * static_cast<float>(in[axis]);
      return exact == static_cast<float>(out[axis]);
    };
    if (*coordinates == CoordinateMode::kAlignCorners && (!is_whole(2) || !is_whole(3))) {
      return std::nullopt;
    }
    p.scale_h = factors[2];
    p.scale_w = factors[3];
  }
  return p;
}

}  // namespace

Result<bool> emit_resize(const Node& node, Builder& builder) {
  const Value &x = node.input(0), &y = node.output();
  if (x.is_constant() || !is_float(x.dtype())) return false;
  auto params = params_of(node);
  if (!params) return false;
  const bool integer = builder.may_use_integers(node) && is_i8(x) && is_i8(y);
  if (integer) {
    const Affine in = affine_of(x), out = affine_of(y);
    params->identity = in == out && params->mode == program::ResizeMode::kNearest;
    if (!params->identity) {
      RK_ASSIGN(params->input, program::input_stage(in, out));
      params->output = program::output_stage(out);
    }
  }
  const int32_t from = integer ? builder.home(x) : builder.as_f16(x);
  const int32_t written = builder.output(y, integer ? DType::kI8 : DType::kF16);
  builder.add_step({.type = "Resize",
                    .name = str("Resize:", node.name()),
                    .inputs = {from},
                    .outputs = {written},
                    .params = *params,
                    .macs = macs_of(node)});
  builder.finish_output(y, written);
  return true;
}

}  // namespace rk::compiler
