// SPDX-License-Identifier: Apache-2.0
// RoiAlign: the mean (or largest) of bilinear samples in each cell of a grid laid over regions of
// interest. A region is [x1, y1, x2, y2] in picture coordinates; samples outside the picture by
// more than one pixel count as 0.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// More samples per cell than this are never meant; a huge region would otherwise run for hours.
constexpr int64_t kMaxSamples = 1 << 12;

Status roi_align_infer(InferCall& call) {
  const Shape& rois = call.input(1).shape;
  RK_TRY(require_shape(call, 1, Shape{rois[0], 4}));
  RK_TRY(require_shape(call, 2, Shape{rois[0]}));
  RK_TRY(require_one_of(call.node, "mode", {"avg", "max"}));
  RK_TRY(require_one_of(call.node, "coordinate_transformation_mode",
                        {"half_pixel", "output_half_pixel"}));
  RK_TRY(require_range(call.node, "output_height", 1, 1 << 20));
  RK_TRY(require_range(call.node, "output_width", 1, 1 << 20));
  RK_TRY(require_range(call.node, "sampling_ratio", 0, kMaxSamples));
  return set_output(call, 0, call.input(0).dtype,
                    std::array{rois[0], call.input(0).shape[1], call.node.i64("output_height"),
                               call.node.i64("output_width")});
}

// Two neighbors on one axis and the second one's weight.
struct Between {
  int64_t low = 0;
  int64_t high = 0;
  double weight = 0;
  bool outside = false;
};

Between locate(double at, int64_t extent) {
  if (extent == 0 || !(at >= -1 && at <= static_cast<double>(extent))) return {.outside = true};
  at = std::max(at, 0.0);
  const auto low = std::min(static_cast<int64_t>(at), extent - 1);
  if (low >= extent - 1) return {low, low, 0};
  return {low, low + 1, at - static_cast<double>(low)};
}

struct Side {
  double start = 0;
  double cell = 1;      // length of a cell
  int64_t samples = 1;  // per cell
  Between at(int64_t index, int64_t sample, int64_t extent) const {
    const double place = (static_cast<double>(sample) + 0.5) / static_cast<double>(samples);
    return locate(start + (static_cast<double>(index) + place) * cell, extent);
  }
};

Side side_of(const Node& node, double begin, double end, int64_t cells) {
  const double scale = node.f32("spatial_scale");
  const bool half_pixel = node.text("coordinate_transformation_mode") == "half_pixel";
  const double offset = half_pixel ? 0.5 : 0.0;
  const double start = begin * scale - offset;
  double length = end * scale - offset - start;
  if (!half_pixel) length = std::max(length, 1.0);
  Side side = {start, length / static_cast<double>(cells), node.i64("sampling_ratio")};
  if (side.samples == 0) {
    const double wanted = std::ceil(side.cell);
    side.samples =
        static_cast<int64_t>(std::clamp(wanted == wanted ? wanted : 1.0, 1.0, double{kMaxSamples}));
  }
  return side;
}

Status roi_align_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Shape& out = call.output(0).shape();
  const bool average = call.node.text("mode") == "avg";
  float* y = call.output(0).mutable_data<float>();
  for (int64_t r = 0; r < out[0]; ++r) {
    const float* roi = call.input(1).data<float>() + r * 4;
    const int64_t picture = call.input(2).at_i64(r);
    if (picture < 0 || picture >= in[0]) {
      return invalid_argument(
          str("input 2 ('batch_indices') holds ", picture, ", expected 0 to ", in[0] - 1));
    }
    const Side columns = side_of(call.node, roi[0], roi[2], out[3]);
    const Side rows = side_of(call.node, roi[1], roi[3], out[2]);
    for (int64_t c = 0; c < in[1]; ++c) {
      const float* plane = call.input(0).data<float>() + (picture * in[1] + c) * in[2] * in[3];
      for (int64_t cell = 0; cell < out[2] * out[3]; ++cell) {
        double sum = 0;
        double most = -INFINITY;
        for (int64_t i = 0; i < rows.samples; ++i) {
          const Between h = rows.at(cell / out[3], i, in[2]);
          for (int64_t j = 0; j < columns.samples; ++j) {
            const Between w = columns.at(cell % out[3], j, in[3]);
            const bool outside = h.outside || w.outside;
            const auto part = [&](int64_t row, int64_t column, double weight) {
              return outside ? 0.0 : weight * plane[row * in[3] + column];
            };
            const double parts[] = {part(h.low, w.low, (1 - h.weight) * (1 - w.weight)),
                                    part(h.low, w.high, (1 - h.weight) * w.weight),
                                    part(h.high, w.low, h.weight * (1 - w.weight)),
                                    part(h.high, w.high, h.weight * w.weight)};
            sum += parts[0] + parts[1] + parts[2] + parts[3];
            // The maximum is of the weighted corners, not of the samples, as ONNX defines it.
            most = std::max(most, *std::max_element(std::begin(parts), std::end(parts)));
          }
        }
        *y++ = static_cast<float>(
            average ? sum / static_cast<double>(rows.samples * columns.samples) : most);
      }
    }
  }
  return ok_status();
}

Status roi_align_reference(const EvalCall& call) { return in_f32(call, roi_align_compute); }

Cost roi_align_cost(const Node& node) {
  const Shape &picture = node.input(0).shape(), &out = node.output().shape();
  const int64_t ratio = node.i64("sampling_ratio");
  // Without a ratio about as many as a region has pixels, here all of them.
  const int64_t pixels = picture[2] * picture[3], cells = out[2] * out[3];
  const int64_t samples = ratio > 0 ? ratio * ratio : std::max<int64_t>(1, pixels / cells);
  return {.ops = 16 * static_cast<uint64_t>(samples) * static_cast<uint64_t>(out.elements())};
}

}  // namespace

OpDef roi_align() {
  return {
      .name = "RoiAlign",
      .doc = "y = mean or largest of bilinear samples in each cell of a grid over regions of x",
      .inputs = {{"x", floats().rank(4)},
                 {"rois", floats().like(0).rank(2)},
                 {"batch_indices", indices()}},
      .outputs = {{"y"}},
      .attrs = {{"mode", "avg", "avg or max"},
                {"coordinate_transformation_mode", "half_pixel",
                 "half_pixel shifts by half a pixel, "
                 "output_half_pixel does not"},
                {"output_height", int64_t{1}, "rows of the grid"},
                {"output_width", int64_t{1}, "columns of the grid"},
                {"sampling_ratio", int64_t{0}, "samples per cell and axis; 0: one per pixel"},
                {"spatial_scale", 1.0f, "from picture coordinates to x's"}},
      .infer = roi_align_infer,
      .reference = roi_align_reference,
      .cost = roi_align_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
