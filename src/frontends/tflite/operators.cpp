// SPDX-License-Identifier: Apache-2.0
// One row per operator that is imported.
#include <map>

#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {
namespace {

Status binary_fused(OpImport& op, std::string_view name) {
  RK_ASSIGN(const Fused activation, op.fused(0));
  return layers::binary(op, name, activation);
}

using Reduction = Status(LayerImport& op, std::string_view name, bool keep);
Status reduced(OpImport& op, Reduction* reduction, std::string_view name) {
  RK_ASSIGN(const bool keep, op.flag(0));
  return reduction(op, name, keep);
}

Result<layers::Scaling> scaling(OpImport& op, int slot) {
  layers::Scaling out;
  RK_ASSIGN(out.align_corners, op.flag(slot));
  RK_ASSIGN(out.half_pixel, op.flag(slot + 1));
  return out;
}

Status resize_bilinear(OpImport& op) {
  RK_ASSIGN(const layers::Scaling how, scaling(op, 2));
  return layers::resize_bilinear(op, how);
}

Status resize_nearest(OpImport& op) {
  RK_ASSIGN(const layers::Scaling how, scaling(op, 0));
  return layers::resize_nearest(op, how);
}

Status space_to_depth(OpImport& op) {
  RK_ASSIGN(const int64_t block, op.option<int32_t>(0, 0));
  return layers::space_to_depth(op, block);
}

Status depth_to_space(OpImport& op) {
  RK_ASSIGN(const int64_t block, op.option<int32_t>(0, 0));
  return layers::depth_to_space(op, block);
}

// Around a convolution converters write a dilation instead.
Status space_to_batch(OpImport& op) {
  RK_ASSIGN(const layers::Blocks blocks, layers::blocks_of(op, "paddings"));
  return layers::space_to_batch(op, blocks);
}

Status batch_to_space(OpImport& op) {
  RK_ASSIGN(const layers::Blocks blocks, layers::blocks_of(op, "crops"));
  return layers::batch_to_space(op, blocks);
}

Status local_response_normalization(OpImport& op) {
  layers::LocalResponse response;
  RK_ASSIGN(response.radius, op.option<int32_t>(0, 0));
  RK_ASSIGN(response.bias, op.option<float>(1, 0));
  RK_ASSIGN(response.alpha, op.option<float>(2, 0));
  RK_ASSIGN(response.beta, op.option<float>(3, 0));
  return layers::local_response_normalization(op, response);
}

Status batch_matmul(OpImport& op) {
  RK_ASSIGN(const bool adjoint_a, op.flag(0));
  RK_ASSIGN(const bool adjoint_b, op.flag(1));
  return layers::batch_matmul(op, adjoint_a, adjoint_b);
}

Status softmax(OpImport& op) {
  RK_ASSIGN(const float beta, op.option<float>(0, 0));
  return layers::softmax(op, beta);
}

Status l2_normalization(OpImport& op) {
  RK_ASSIGN(const Fused activation, op.fused(0));
  return layers::l2_normalization(op, activation);
}

Status leaky_relu(OpImport& op) {
  RK_ASSIGN(const float alpha, op.option<float>(0, 0));
  return layers::unary(op, "LeakyRelu", {{"alpha", alpha}});
}

Status gelu(OpImport& op) {
  RK_ASSIGN(const bool approximate, op.flag(0));
  return layers::unary(op, "Gelu", {{"approximate", std::string(approximate ? "tanh" : "none")}});
}

Status cast(OpImport& op) {
  const DType dtype = op.output(0).dtype;
  if (dtype == DType::kUndefined) {
    return unsupported(str("to ", op.output(0).foreign_type, " is not taken"));
  }
  return layers::cast(op, dtype);
}

// Quantized tensors are real numbers already; float16 constants are converted where they are used, and constants stored
// without zeros are in full (DENSIFY).
Status dequantize(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const Held* const held, op.held(0));
  return op.bind_held(0, *held);
}

Status fake_quant(OpImport& op) {
  layers::FakeQuant steps{{0}, {0}, 8, false};
  RK_ASSIGN(steps.low[0], op.option<float>(0, 0));
  RK_ASSIGN(steps.high[0], op.option<float>(1, 0));
  RK_ASSIGN(steps.bits, op.option<int32_t>(2, 0));
  RK_ASSIGN(steps.narrow, op.flag(3));
  return layers::fake_quant(op, steps);
}

Status cumsum(OpImport& op) {
  RK_ASSIGN(const bool exclusive, op.flag(0));
  RK_ASSIGN(const bool reverse, op.flag(1));
  return layers::cumsum(op, exclusive, reverse);
}

Status reshape(OpImport& op) {
  std::vector<int64_t> dims;
  if (op.has(1)) {
    RK_ASSIGN(dims, op.ints(1, "shape"));
  } else {
    RK_ASSIGN(dims, op.option_ints(0));
  }
  return layers::reshape(op, dims);
}

Status squeeze(OpImport& op) {
  RK_ASSIGN(const std::vector<int64_t> axes, op.option_ints(0));
  return layers::squeeze(op, axes);
}

Status mirror_pad(OpImport& op) {
  RK_ASSIGN(const auto mode, op.option<int8_t>(0, 0));
  return layers::mirror_pad(op, mode != 0);
}

Status concatenation(OpImport& op) {
  RK_ASSIGN(const int64_t axis, op.option<int32_t>(0, 0));
  RK_ASSIGN(const Fused activation, op.fused(1));
  std::vector<size_t> all(op.input_count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return layers::concatenation(op, all, axis, activation);
}

Status pack(OpImport& op) {
  RK_ASSIGN(const int64_t axis, op.option<int32_t>(1, 0));
  return layers::pack(op, axis);
}

Status unpack(OpImport& op) {
  RK_ASSIGN(const int64_t axis, op.option<int32_t>(1, 0));
  return layers::unpack(op, axis);
}

Status strided_slice(OpImport& op) {
  layers::SliceMasks masks;
  RK_ASSIGN(masks.begin, op.option<int32_t>(0, 0));
  RK_ASSIGN(masks.end, op.option<int32_t>(1, 0));
  RK_ASSIGN(masks.ellipsis, op.option<int32_t>(2, 0));
  RK_ASSIGN(masks.new_axis, op.option<int32_t>(3, 0));
  RK_ASSIGN(masks.shrink_axis, op.option<int32_t>(4, 0));
  return layers::strided_slice(op, masks);
}

Status gather(OpImport& op) {
  RK_ASSIGN(const int64_t axis, op.option<int32_t>(0, 0));
  RK_ASSIGN(const int64_t batch, op.option<int32_t>(1, 0));
  return layers::gather(op, axis, batch);
}

Status one_hot(OpImport& op) {
  RK_ASSIGN(const int64_t axis, op.option<int32_t>(0, 0));
  return layers::one_hot(op, axis);
}

Status reverse_sequence(OpImport& op) {
  RK_ASSIGN(const int64_t time, op.option<int32_t>(0, 0));
  RK_ASSIGN(const int64_t batch, op.option<int32_t>(1, 0));
  return layers::reverse_sequence(op, time, batch);
}

Status shape_of(OpImport& op) {
  return layers::shape_of(op, op.output(0).dtype == DType::kI64 ? DType::kI64 : DType::kI32);
}

}  // namespace

OpFunction find_operator(Code code) {
  // clang-format off
  static const std::map<Code, OpFunction> rows = {
      {Code::kConv2d, conv_2d},
      {Code::kDepthwiseConv2d, depthwise_conv_2d},
      {Code::kTransposeConv, transpose_conv},
      {Code::kAveragePool2d, average_pool},
      {Code::kMaxPool2d, max_pool},
      {Code::kL2Pool2d, l2_pool},
      {Code::kResizeBilinear, resize_bilinear},
      {Code::kResizeNearestNeighbor, resize_nearest},
      {Code::kSpaceToDepth, space_to_depth},
      {Code::kDepthToSpace, depth_to_space},
      {Code::kSpaceToBatchNd, space_to_batch},
      {Code::kBatchToSpaceNd, batch_to_space},
      {Code::kLocalResponseNormalization, local_response_normalization},

      {Code::kFullyConnected, fully_connected},
      {Code::kBatchMatmul, batch_matmul},
      {Code::kEmbeddingLookup, embedding_lookup},
      {Code::kUnidirectionalSequenceLstm, sequence_lstm},
      {Code::kLstm, single_lstm},

      {Code::kAdd, [](OpImport& op) { return binary_fused(op, "Add"); }},
      {Code::kSub, [](OpImport& op) { return binary_fused(op, "Sub"); }},
      {Code::kMul, [](OpImport& op) { return binary_fused(op, "Mul"); }},
      {Code::kDiv, [](OpImport& op) { return binary_fused(op, "Div"); }},
      {Code::kMaximum, [](OpImport& op) { return layers::binary(op, "Max"); }},
      {Code::kMinimum, [](OpImport& op) { return layers::binary(op, "Min"); }},
      {Code::kPow, [](OpImport& op) { return layers::binary(op, "Pow"); }},
      {Code::kLess, [](OpImport& op) { return layers::binary(op, "Less"); }},
      {Code::kLessEqual, [](OpImport& op) { return layers::binary(op, "LessOrEqual"); }},
      {Code::kGreater, [](OpImport& op) { return layers::binary(op, "Greater"); }},
      {Code::kGreaterEqual, [](OpImport& op) { return layers::binary(op, "GreaterOrEqual"); }},
      {Code::kEqual, [](OpImport& op) { return layers::binary(op, "Equal"); }},
      {Code::kNotEqual, [](OpImport& op) { return layers::not_equal(op); }},
      {Code::kLogicalAnd, [](OpImport& op) { return layers::binary(op, "And"); }},
      {Code::kLogicalOr, [](OpImport& op) { return layers::binary(op, "Or"); }},
      {Code::kLogicalNot, [](OpImport& op) { return layers::unary(op, "Not"); }},
      {Code::kSquaredDifference, [](OpImport& op) { return layers::squared_difference(op); }},
      {Code::kFloorDiv, [](OpImport& op) { return layers::floor_div(op); }},
      {Code::kFloorMod, [](OpImport& op) { return layers::floor_mod(op); }},
      {Code::kAddN, [](OpImport& op) { return layers::add_n(op); }},
      {Code::kSelect, [](OpImport& op) { return layers::select(op, true); }},
      {Code::kSelectV2, [](OpImport& op) { return layers::select(op, false); }},

      {Code::kLogistic, [](OpImport& op) { return layers::unary(op, "Sigmoid"); }},
      {Code::kTanh, [](OpImport& op) { return layers::unary(op, "Tanh"); }},
      {Code::kRelu, [](OpImport& op) { return layers::unary(op, "Relu"); }},
      {Code::kRelu6, [](OpImport& op) { return layers::clipped(op, 0, 6); }},
      {Code::kReluN1To1, [](OpImport& op) { return layers::clipped(op, -1, 1); }},
      {Code::kRelu0To1, [](OpImport& op) { return layers::clipped(op, 0, 1); }},
      {Code::kElu, [](OpImport& op) { return layers::unary(op, "Elu"); }},
      {Code::kLeakyRelu, leaky_relu},
      {Code::kPrelu, [](OpImport& op) { return layers::binary(op, "PRelu"); }},
      {Code::kHardSwish, [](OpImport& op) { return layers::unary(op, "HardSwish"); }},
      {Code::kGelu, gelu},
      {Code::kSoftmax, softmax},
      {Code::kLogSoftmax, [](OpImport& op) { return layers::log_softmax(op); }},
      {Code::kL2Normalization, l2_normalization},
      {Code::kAbs, [](OpImport& op) { return layers::unary(op, "Abs"); }},
      {Code::kNeg, [](OpImport& op) { return layers::unary(op, "Neg"); }},
      {Code::kExp, [](OpImport& op) { return layers::unary(op, "Exp"); }},
      {Code::kLog, [](OpImport& op) { return layers::unary(op, "Log"); }},
      {Code::kSin, [](OpImport& op) { return layers::unary(op, "Sin"); }},
      {Code::kCos, [](OpImport& op) { return layers::unary(op, "Cos"); }},
      {Code::kSqrt, [](OpImport& op) { return layers::unary(op, "Sqrt"); }},
      {Code::kFloor, [](OpImport& op) { return layers::unary(op, "Floor"); }},
      {Code::kCeil, [](OpImport& op) { return layers::unary(op, "Ceil"); }},
      {Code::kRound, [](OpImport& op) { return layers::unary(op, "Round"); }},
      {Code::kSign, [](OpImport& op) { return layers::unary(op, "Sign"); }},
      {Code::kRsqrt, [](OpImport& op) { return layers::rsqrt(op); }},
      {Code::kSquare, [](OpImport& op) { return layers::square(op); }},
      {Code::kCast, cast},
      {Code::kQuantize, [](OpImport& op) { return layers::passed_on(op); }},
      {Code::kDequantize, dequantize},
      {Code::kDensify, dequantize},
      {Code::kFakeQuant, fake_quant},

      {Code::kMean, [](OpImport& op) { return reduced(op, layers::reduce, "ReduceMean"); }},
      {Code::kSum, [](OpImport& op) { return reduced(op, layers::reduce, "ReduceSum"); }},
      {Code::kReduceMax, [](OpImport& op) { return reduced(op, layers::reduce, "ReduceMax"); }},
      {Code::kReduceMin, [](OpImport& op) { return reduced(op, layers::reduce, "ReduceMin"); }},
      {Code::kReduceProd, [](OpImport& op) { return reduced(op, layers::reduce, "ReduceProd"); }},
      {Code::kReduceAny, [](OpImport& op) { return reduced(op, layers::reduce_bool, "ReduceMax"); }},
      {Code::kReduceAll, [](OpImport& op) { return reduced(op, layers::reduce_bool, "ReduceMin"); }},
      {Code::kArgMax, [](OpImport& op) { return layers::arg_select(op, "ArgMax", op.output(0).dtype); }},
      {Code::kArgMin, [](OpImport& op) { return layers::arg_select(op, "ArgMin", op.output(0).dtype); }},
      {Code::kCumsum, cumsum},

      {Code::kReshape, reshape},
      {Code::kSqueeze, squeeze},
      {Code::kExpandDims, [](OpImport& op) { return layers::expand_dims(op); }},
      {Code::kTranspose, [](OpImport& op) { return layers::transpose(op); }},
      {Code::kPad, [](OpImport& op) { return layers::pad(op); }},
      {Code::kPadv2, [](OpImport& op) { return layers::pad(op); }},
      {Code::kMirrorPad, mirror_pad},
      {Code::kConcatenation, concatenation},
      {Code::kSplit, [](OpImport& op) { return layers::split(op); }},
      {Code::kSplitV, [](OpImport& op) { return layers::split_v(op); }},
      {Code::kPack, pack},
      {Code::kUnpack, unpack},
      {Code::kSlice, [](OpImport& op) { return layers::slice(op); }},
      {Code::kStridedSlice, strided_slice},
      {Code::kGather, gather},
      {Code::kGatherNd, [](OpImport& op) { return layers::gather_nd(op); }},
      {Code::kScatterNd, [](OpImport& op) { return layers::scatter_nd(op); }},
      {Code::kTile, [](OpImport& op) { return layers::tile(op); }},
      {Code::kBroadcastTo, [](OpImport& op) { return layers::broadcast_to(op); }},
      {Code::kOneHot, one_hot},
      {Code::kTopkV2, [](OpImport& op) { return layers::top_k(op); }},
      {Code::kReverseV2, [](OpImport& op) { return layers::reverse(op); }},
      {Code::kReverseSequence, reverse_sequence},
      {Code::kShape, shape_of},
      {Code::kRank, [](OpImport& op) { return layers::rank_of(op); }},
      {Code::kFill, [](OpImport& op) { return layers::fill(op); }},
      {Code::kZerosLike, [](OpImport& op) { return layers::filled_like(op, 0); }},
      {Code::kRange, [](OpImport& op) { return layers::range(op); }},
  };
  // clang-format on
  const auto row = rows.find(code);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace rk::frontends::tflite
