// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: the largest value in each cell of a grid laid over regions of interest. A region is
// [batch, x1, y1, x2, y2] in picture coordinates, ends included; a cell without pixels gives 0.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status max_roi_pool_infer(InferCall& call) {
  const Shape& rois = call.input(1).shape;
  if (rois[1] != 5)
    return refuse("input 1 ('rois') is ", rk::to_string(rois), ", expected [regions,5]");
  const std::vector<int64_t>& pooled = call.node.ints("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return refuse("attribute 'pooled_shape' is ", to_string(pooled),
                  ", expected two positive extents");
  }
  return set_output(call, 0, call.input(0).dtype,
                    std::array{rois[0], call.input(0).shape[1], pooled[0], pooled[1]});
}

// Cell `i` of `count` over a region of `length` pixels from `start` on, cut to the picture.
IndexRange cell(int64_t i, int64_t count, double length, int64_t start, int64_t extent) {
  const double step = length / static_cast<double>(count);
  const auto bound = [&](double at) {
    return static_cast<int64_t>(
        std::clamp(at + static_cast<double>(start), 0.0, static_cast<double>(extent)));
  };
  return {bound(std::floor(static_cast<double>(i) * step)),
          bound(std::ceil(static_cast<double>(i + 1) * step))};
}

Status max_roi_pool_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Shape& out = call.output(0).shape();
  const double scale = call.node.f32("spatial_scale");
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t r = 0; r < out[0]; ++r) {
    const float* roi = call.input(1).data<float>() + r * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<float>(in[0]))) {
      return invalid_argument(
          str("input 1 ('rois') names picture ", roi[0], ", expected 0 to ", in[0] - 1));
    }
    int64_t corner[4];
    for (int i = 0; i < 4; ++i) {
      const double at = std::round(roi[i + 1] * scale);
      if (!(std::fabs(at) < 1e9))
        return invalid_argument(str("input 1 ('rois') holds ", roi[i + 1]));
      corner[i] = static_cast<int64_t>(at);
    }
    const double width = static_cast<double>(std::max<int64_t>(1, corner[2] - corner[0] + 1));
    const double height = static_cast<double>(std::max<int64_t>(1, corner[3] - corner[1] + 1));
    for (int64_t c = 0; c < in[1]; ++c) {
      const float* plane = x + (static_cast<int64_t>(roi[0]) * in[1] + c) * in[2] * in[3];
      for (int64_t h = 0; h < out[2]; ++h) {
        const IndexRange rows = cell(h, out[2], height, corner[1], in[2]);
        for (int64_t w = 0; w < out[3]; ++w) {
          const IndexRange columns = cell(w, out[3], width, corner[0], in[3]);
          const bool empty = rows.end <= rows.begin || columns.end <= columns.begin;
          float best = empty ? 0.0f : -INFINITY;
          for (int64_t i = rows.begin; i < rows.end && !empty; ++i) {
            for (int64_t j = columns.begin; j < columns.end; ++j)
              best = std::max(best, plane[i * in[3] + j]);
          }
          *y++ = best;
        }
      }
    }
  }
  return ok_status();
}

Status max_roi_pool_reference(const EvalCall& call) { return in_f32(call, max_roi_pool_compute); }

}  // namespace

OpDef max_roi_pool() {
  return {
      .name = "MaxRoiPool",
      .doc = "y = largest value in each cell of a grid over regions of x",
      .inputs = {{"x", floats().rank(4)}, {"rois", floats().like(0).rank(2)}},
      .outputs = {{"y"}},
      .attrs = {{"pooled_shape", std::vector<int64_t>{}, "rows and columns of the grid",
                 AttrDef::kRequired},
                {"spatial_scale", 1.0f, "from picture coordinates to x's"}},
      .infer = max_roi_pool_infer,
      .reference = max_roi_pool_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
