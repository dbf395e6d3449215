// SPDX-License-Identifier: Apache-2.0
// DepthToSpace: moves channels into blocks of pixels. DCR keeps the block axes outermost in the
// channel axis, CRD (as PyTorch's PixelShuffle) innermost. Any dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status depth_to_space_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "mode", {"DCR", "CRD"}));
  RK_TRY(require_range(call.node, "blocksize", 1, 1 << 15));
  const int64_t block = call.node.i64("blocksize");
  const Shape& in = call.input(0).shape;
  if (in[1] % (block * block) != 0) {
    return refuse("input 'x' is ", rk::to_string(in),
                  ", expected channels that blocksize^2 = ", block * block, " divides");
  }
  return set_output(call, 0, call.input(0).dtype,
                    std::array{in[0], in[1] / (block * block), in[2] * block, in[3] * block});
}

Status depth_to_space_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t block = call.node.i64("blocksize");
  const int64_t channels = call.output(0).shape()[1];
  const int64_t plane = in[2] * in[3];
  const bool crd = call.node.text("mode") == "CRD";
  const int64_t of_channel = crd ? block * block * plane : plane;
  const int64_t of_row = crd ? block * plane : block * channels * plane;
  const int64_t of_column = crd ? plane : channels * plane;
  // The output is [N, C, H, block, W, block] in disguise.
  Tensor view = call.output(0).reshaped({in[0], channels, in[2], block, in[3], block});
  move_view(call.input(0), 0, {in[1] * plane, of_channel, in[3], of_row, 1, of_column}, view);
  return ok_status();
}

}  // namespace

OpDef depth_to_space() {
  return {
      .name = "DepthToSpace",
      .doc = "y = x with blocks of channels moved into blocks of pixels",
      .inputs = {{"x", anything().rank(4)}},
      .outputs = {{"y"}},
      .attrs = {{"blocksize", int64_t{1}, "extent of a block in h and w", AttrDef::kRequired},
                {"mode", "DCR", "DCR: depth, column, row; CRD: column, row, depth"}},
      .infer = depth_to_space_infer,
      .reference = depth_to_space_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
