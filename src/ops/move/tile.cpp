// SPDX-License-Identifier: Apache-2.0
// Tile: repeats x along each axis, one repeat count per axis. Any dtype.
#include "base/checked_math.h"
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status tile_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const std::vector<int64_t> repeats, constant_ints(call, 1));
  if (repeats.size() != static_cast<size_t>(in.rank())) {
    return refuse("input 1 ('repeats') is ", to_string(repeats), ", expected ", in.rank(),
                  " values, one per axis");
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const auto extent = checked_product(std::array{in[axis], repeats[static_cast<size_t>(axis)]});
    if (!extent || *extent > INT64_MAX) {
      return refuse("input 1 ('repeats') is ", to_string(repeats),
                    ", expected counts that are not negative and fit");
    }
    dims.push_back(static_cast<int64_t>(*extent));
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status tile_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  std::vector<AxisSource> sources;
  for (const int64_t extent : in.dims())
    sources.push_back([extent](int64_t i) { return i % extent; });
  move_indexed(call.input(0), sources, nullptr, call.output(0));
  return ok_status();
}

}  // namespace

OpDef tile() {
  return {
      .name = "Tile",
      .doc = "y = x repeated along each axis",
      .inputs = {{"x", anything()}, {"repeats", integers()}},
      .outputs = {{"y"}},
      .infer = tile_infer,
      .reference = tile_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
