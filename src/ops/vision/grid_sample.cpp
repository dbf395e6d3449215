// SPDX-License-Identifier: Apache-2.0
// GridSample: x read at the places of a grid, whose coordinates run from -1 to 1 over each spatial
// axis; with align_corners these are the middles of the outer pixels, otherwise their outer edges.
// The grid's last axis names the innermost spatial axis first (x, y, z).
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

constexpr int kMaxSpatial = 3;
// Far outside any picture, and safe to convert to an integer.
constexpr double kFar = 1e9;
constexpr double kCubicA = -0.75;

Status grid_sample_infer(InferCall& call) {
  RK_TRY(require_rank(call, 0, 3, 2 + kMaxSpatial));
  RK_TRY(require_one_of(call.node, "mode", {"nearest", "linear", "cubic", "bilinear", "bicubic"}));
  RK_TRY(require_one_of(call.node, "padding_mode", {"zeros", "border", "reflection"}));
  const Shape& in = call.input(0).shape;
  const Shape& grid = call.input(1).shape;
  if (grid.rank() != in.rank() || grid[0] != in[0] || grid[grid.rank() - 1] != in.rank() - 2) {
    return refuse("input 1 ('grid') is ", rk::to_string(grid), ", expected rank ", in.rank(),
                  ", batch ", in[0], " and ", in.rank() - 2, " coordinates as last axis");
  }
  if (extent_product(in, 2, in.rank()) == 0) {
    return refuse("input 0 ('x') is ", rk::to_string(in), ", expected spatial extents above 0");
  }
  std::vector<int64_t> dims = {in[0], in[1]};
  for (int axis = 1; axis < grid.rank() - 1; ++axis) dims.push_back(grid[axis]);
  return set_output(call, 0, call.input(0).dtype, dims);
}

// Elements of one axis and what is read beyond them.
struct Axis {
  int64_t extent = 1;
  bool align_corners = false;
  Padding padding = Padding::kZeros;

  double low() const { return align_corners ? 0.0 : -0.5; }
  double high() const { return static_cast<double>(extent) - (align_corners ? 1.0 : 0.5); }

  // A grid coordinate in elements.
  double place(double coordinate) const {
    const auto n = static_cast<double>(extent);
    const double at =
        align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
    return std::isnan(at) ? -kFar : std::clamp(at, -kFar, kFar);
  }

  // Back and forth between the ends.
  double reflect(double at) const {
    const double range = high() - low();
    if (range <= 0) return low();
    const double distance = at < low() ? low() - at : at - low();
    const double laps = std::floor(distance / range);
    const double rest = distance - laps * range;
    return std::fmod(laps, 2) == 0 ? low() + rest : high() - rest;
  }

  // Where padding moves a place; zeros leave it outside.
  double inside(double at) const {
    if (at >= low() && at <= high()) return at;
    if (padding == Padding::kBorder) return std::clamp(at, 0.0, static_cast<double>(extent - 1));
    return padding == Padding::kReflection ? reflect(at) : at;
  }

  // The element read for an index, or -1 for zero.
  int64_t element(int64_t index) const {
    if (index >= 0 && index < extent) return index;
    if (padding == Padding::kZeros) return -1;
    if (padding == Padding::kBorder) return std::clamp<int64_t>(index, 0, extent - 1);
    const auto at = static_cast<int64_t>(reflect(static_cast<double>(index)));
    return std::clamp<int64_t>(at, 0, extent - 1);
  }
};

// The elements of one axis that a place is mixed from.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> element{};
  std::array<double, 4> weight{};
};

double cubic_weight(double distance) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((kCubicA + 2) * d - (kCubicA + 3)) * d * d + 1;
  return ((kCubicA * d - 5 * kCubicA) * d + 8 * kCubicA) * d - 4 * kCubicA;
}

Taps taps_of(const Axis& axis, double coordinate, Mode mode) {
  double at = axis.place(coordinate);
  if (mode == Mode::kNearest) at = std::nearbyint(at);
  at = axis.inside(at);
  Taps taps;
  if (mode == Mode::kNearest) {
    taps.count = 1;
    taps.element[0] = axis.element(static_cast<int64_t>(at));
    taps.weight[0] = 1;
    return taps;
  }
  const double floor = std::floor(at);
  const auto first = static_cast<int64_t>(floor) - (mode == Mode::kCubic ? 1 : 0);
  taps.count = mode == Mode::kCubic ? 4 : 2;
  for (int i = 0; i < taps.count; ++i) {
    const auto n = static_cast<size_t>(i);
    const double distance = at - static_cast<double>(first + i);
    taps.element[n] = axis.element(first + i);
    taps.weight[n] = mode == Mode::kCubic ? cubic_weight(distance) : 1 - std::fabs(distance);
  }
  return taps;
}

// Unused leading axes have one element and one tap.
using Sample = std::array<Taps, kMaxSpatial>;

double read(const std::array<Axis, kMaxSpatial>& axes, const Sample& sample, const float* plane) {
  double sum = 0;
  for (int i = 0; i < sample[0].count; ++i) {
    for (int j = 0; j < sample[1].count; ++j) {
      for (int k = 0; k < sample[2].count; ++k) {
        const auto di = static_cast<size_t>(i), hj = static_cast<size_t>(j),
                   wk = static_cast<size_t>(k);
        const int64_t d = sample[0].element[di];
        const int64_t h = sample[1].element[hj];
        const int64_t w = sample[2].element[wk];
        if (d < 0 || h < 0 || w < 0) continue;
        sum += sample[0].weight[di] * sample[1].weight[hj] * sample[2].weight[wk] *
               plane[(d * axes[1].extent + h) * axes[2].extent + w];
      }
    }
  }
  return sum;
}

Mode mode_of(const Node& node) {
  const std::string& mode = node.text("mode");
  if (mode == "nearest") return Mode::kNearest;
  return mode.ends_with("cubic") ? Mode::kCubic : Mode::kLinear;
}

Padding padding_of(const Node& node) {
  const std::string& padding = node.text("padding_mode");
  if (padding == "border") return Padding::kBorder;
  return padding == "zeros" ? Padding::kZeros : Padding::kReflection;
}

Status grid_sample_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int spatial = in.rank() - 2;
  const Mode mode = mode_of(call.node);
  std::array<Axis, kMaxSpatial> axes;
  for (int i = 0; i < spatial; ++i) {
    axes[static_cast<size_t>(kMaxSpatial - spatial + i)] = {
        .extent = in[2 + i],
        .align_corners = call.node.i64("align_corners") != 0,
        .padding = padding_of(call.node)};
  }
  if (call.output(0).elements() == 0) return ok_status();
  const std::vector<float> x = call.input(0).to_f32();
  const std::vector<float> grid = call.input(1).to_f32();
  Tensor& out = call.output(0);
  const int64_t in_plane = extent_product(in, 2, in.rank());
  const int64_t out_plane = extent_product(out.shape(), 2, out.shape().rank());
  const size_t element = byte_size(out.dtype());
  uint8_t* y = out.mutable_data<uint8_t>();
  call.parallel_for(in[0] * out_plane, 16, [&](IndexRange range) {
    Sample sample;
    sample.fill({.count = 1, .element = {0}, .weight = {1}});
    for (int64_t place = range.begin; place < range.end; ++place) {
      for (int i = 0; i < spatial; ++i) {
        const auto axis = static_cast<size_t>(kMaxSpatial - 1 - i);
        sample[axis] = taps_of(axes[axis], grid[static_cast<size_t>(place * spatial + i)], mode);
      }
      const int64_t n = place / out_plane;
      for (int64_t c = n * in[1]; c < (n + 1) * in[1]; ++c) {
        store_f64(out.dtype(), y + static_cast<size_t>(c * out_plane + place % out_plane) * element,
                  read(axes, sample, x.data() + c * in_plane));
      }
    }
  });
  return ok_status();
}

Cost grid_sample_cost(const Node& node) {
  const int spatial = node.input(0).shape().rank() - 2;
  const double taps = std::pow(mode_of(node) == Mode::kNearest  ? 1
                               : mode_of(node) == Mode::kLinear ? 2
                                                                : 4,
                               spatial);
  return {.macs = static_cast<uint64_t>(node.output().shape().elements()) *
                  static_cast<uint64_t>(taps)};
}

}  // namespace

OpDef grid_sample() {
  return {
      .name = "GridSample",
      .doc = "y = x read at the places of a grid",
      .inputs = {{"x", numbers()}, {"grid", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"mode", "linear", "nearest, linear or cubic; before opset 20 bilinear, bicubic"},
                {"padding_mode", "zeros", "what lies outside: zeros, border or reflection"},
                {"align_corners", int64_t{0},
                 "1: -1 and 1 are the middles of the outer pixels, 0: their edges"}},
      .infer = grid_sample_infer,
      .reference = grid_sample_reference,
      .cost = grid_sample_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
