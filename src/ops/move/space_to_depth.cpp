// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth: moves blocks of pixels into channels, the inverse of DepthToSpace in DCR mode. Any
// dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status space_to_depth_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "blocksize", 1, 1 << 15));
  const int64_t block = call.node.i64("blocksize");
  const Shape& in = call.input(0).shape;
  if (in[2] % block != 0 || in[3] % block != 0) {
    return refuse("input 'x' is ", rk::to_string(in), ", expected height and width that blocksize ",
                  block, " divides");
  }
  return set_output(call, 0, call.input(0).dtype,
                    std::array{in[0], in[1] * block * block, in[2] / block, in[3] / block});
}

Status space_to_depth_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Shape& out = call.output(0).shape();
  const int64_t block = call.node.i64("blocksize");
  // The output is [N, block, block, C, H, W] in disguise.
  Tensor view = call.output(0).reshaped({in[0], block, block, in[1], out[2], out[3]});
  const Strides from = row_major_strides(in);
  move_view(call.input(0), 0, {from[0], from[2], 1, from[1], from[2] * block, block}, view);
  return ok_status();
}

}  // namespace

OpDef space_to_depth() {
  return {
      .name = "SpaceToDepth",
      .doc = "y = x with blocks of pixels moved into channels",
      .inputs = {{"x", anything().rank(4)}},
      .outputs = {{"y"}},
      .attrs = {{"blocksize", int64_t{1}, "extent of a block in h and w", AttrDef::kRequired}},
      .infer = space_to_depth_infer,
      .reference = space_to_depth_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
