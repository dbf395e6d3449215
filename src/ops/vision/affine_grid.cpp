// SPDX-License-Identifier: Apache-2.0
// AffineGrid: the coordinates that GridSample reads, from one affine matrix per batch. `size` is
// the shape of the sampled picture, [N,C,H,W] or [N,C,D,H,W]; the grid's last axis is (x, y, z).
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Result<std::vector<int64_t>> grid_dims(const InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> size, constant_ints(call, 1));
  if (size.size() != 4 && size.size() != 5) {
    return refuse("input 1 ('size') has ", size.size(), " extents, expected 4 or 5");
  }
  std::vector<int64_t> dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(static_cast<int64_t>(size.size()) - 2);
  return dims;
}

Status affine_grid_infer(InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> dims, grid_dims(call));
  const int64_t spatial = dims.back();
  RK_TRY(require_shape(call, 0, Shape{dims.front(), spatial, spatial + 1}));
  return set_output(call, 0, call.input(0).dtype, dims);
}

// Coordinate of element i of n, between -1 and 1.
double coordinate(int64_t i, int64_t n, bool align_corners) {
  const auto at = static_cast<double>(i);
  const auto count = static_cast<double>(n);
  if (!align_corners) return (2 * at + 1) / count - 1;
  return n > 1 ? 2 * at / (count - 1) - 1 : -1;
}

Status affine_grid_compute(const EvalCall& call) {
  const Shape& grid = call.output(0).shape();
  const int spatial = grid.rank() - 2;
  const bool align_corners = call.node.i64("align_corners") != 0;
  const float* theta = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  const int64_t places = extent_product(grid, 1, 1 + spatial);
  for (int64_t n = 0; n < grid[0]; ++n, theta += spatial * (spatial + 1)) {
    for (int64_t place = 0; place < places; ++place) {
      std::array<double, 4> from{};  // x, y, (z,) 1
      int64_t rest = place;
      for (int i = 0; i < spatial; ++i) {
        const int64_t extent = grid[spatial - i];
        from[static_cast<size_t>(i)] = coordinate(rest % extent, extent, align_corners);
        rest /= extent;
      }
      from[static_cast<size_t>(spatial)] = 1;
      for (int row = 0; row < spatial; ++row) {
        double sum = 0;
        for (int i = 0; i <= spatial; ++i) {
          sum += theta[row * (spatial + 1) + i] * from[static_cast<size_t>(i)];
        }
        *y++ = static_cast<float>(sum);
      }
    }
  }
  return ok_status();
}

Status affine_grid_reference(const EvalCall& call) { return in_f32(call, affine_grid_compute); }

}  // namespace

OpDef affine_grid() {
  return {
      .name = "AffineGrid",
      .doc = "y = coordinates of every pixel under an affine map, for GridSample",
      .inputs = {{"theta", floats()}, {"size", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"align_corners", int64_t{0},
                 "1: -1 and 1 are the middles of the outer pixels, 0: their edges"}},
      .infer = affine_grid_infer,
      .reference = affine_grid_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
