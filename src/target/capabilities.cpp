// SPDX-License-Identifier: Apache-2.0
// docs/facts/operators.md, sections 7 and 8, in IR operator names. Vendor operators that the IR spells
// otherwise: exMatMul is MatMul and Gemm, exNorm is LayerNormalization and its relatives, Reshape
// also stands for Flatten, Squeeze and Unsqueeze, which change nothing but the shape.
#include "target/capabilities.h"

#include <array>

#include "target/limits.h"
#include "target/transpose_limits.h"

namespace rk::target {
namespace {

constexpr int kNone = 0, kI8 = 1, kF16 = 2, kI16 = 4, kBoth = kI8 | kF16;

// One cell per Column, in its order.
using Cells = std::array<int, 7>;

struct Row {
  std::string_view op;
  Cells cells;
  std::string (*refuse)(const Node& node) = nullptr;
};

//                          rk3566 rk3588 rk3562 rv1106 rk3576 rk2118 rv1106b
constexpr Cells kArithmetic = {kBoth, kBoth, kBoth, kI8, kBoth, kF16, kI8};
constexpr Cells kSimple = {kBoth, kBoth, kBoth, kBoth, kBoth, kF16, kI8};
constexpr Cells kDiv = {kF16, kF16, kF16, kF16, kF16, kF16, kF16};
constexpr Cells kNorm = {kF16, kF16, kF16, kNone, kF16, kNone, kNone};
constexpr Cells kGather = {kBoth, kBoth, kBoth, kNone, kBoth, kNone, kNone};
constexpr Cells kLstm = {kBoth, kBoth, kBoth, kI8, kBoth, kF16, kNone};
constexpr Cells kMin = {kBoth, kBoth, kNone, kBoth, kBoth, kNone, kNone};
// "as conv" on the last two: the rewrite gives the convolution's dtypes.
constexpr Cells kAverage = {kBoth, kBoth, kBoth, kBoth, kBoth, kF16, kI8};
constexpr Cells kPow = {kBoth, kBoth, kBoth, kBoth, kBoth, kF16, kNone};
constexpr Cells kTile = {kBoth, kBoth, kBoth, kBoth, kBoth, kBoth, kBoth};
constexpr Cells kTranspose = {kBoth | kI16, kBoth | kI16, kBoth | kI16, kBoth | kI16,
                              kBoth | kI16, kF16 | kI16,  kI8 | kI16};
constexpr Cells kSwoosh = {kBoth, kBoth, kNone, kNone, kNone, kNone, kNone};
constexpr Cells kHardmax = {kNone, kBoth, kBoth, kBoth, kBoth, kNone, kNone};
constexpr Cells kSoftmax = {kNone, kBoth, kBoth, kBoth, kBoth, kF16, kI8};
constexpr Cells kSoftmaxMask = {kNone, kBoth, kBoth, kBoth, kBoth, kNone, kNone};
constexpr Cells kAttention = {kNone, kBoth, kBoth, kI8, kBoth, kNone, kNone};
constexpr Cells kGreater = {kNone, kNone, kNone, kNone, kBoth, kNone, kNone};

const Row kRows[] = {
    {"Add", kArithmetic, refuse_broadcast},
    {"Conv", kArithmetic, refuse_conv},
    {"FusedConv", kArithmetic, refuse_conv},
    {"ConvTranspose", kArithmetic, refuse_conv_transpose_any_stride},
    {"Expand", kArithmetic, refuse_expand},
    {"Mul", kArithmetic, refuse_broadcast},
    {"Pad", kArithmetic, refuse_pad},
    {"Resize", kArithmetic, refuse_resize},
    {"Sub", kArithmetic, refuse_broadcast},
    {"MatMul", kArithmetic, refuse_matmul},
    {"Gemm", kArithmetic, refuse_matmul},
    {"BatchNormalization", kSimple},
    {"Concat", kSimple, refuse_axis_beyond_width},
    {"Max", kSimple, refuse_broadcast},
    {"MaxPool", kSimple, refuse_max_pool},
    {"GlobalMaxPool", kSimple, refuse_global_pool},
    {"Relu", kSimple},
    {"Clip", kSimple, refuse_clip},
    {"PRelu", kSimple, refuse_prelu},
    {"LeakyRelu", kSimple},
    {"Abs", kSimple},  // as LeakyRelu with a slope of -1
    {"Neg", kSimple},  // as Mul
    {"Reshape", kSimple},
    {"Flatten", kSimple},
    {"Squeeze", kSimple},
    {"Unsqueeze", kSimple},
    {"Slice", kSimple, refuse_slice},
    {"Split", kSimple, refuse_axis_beyond_width},
    {"Sigmoid", kSimple},
    {"Tanh", kSimple},
    {"Softplus", kSimple},
    {"HardSigmoid", kSimple},
    {"HardSwish", kSimple},
    {"Elu", kSimple, refuse_elu},
    {"exSwish", kSimple},
    {"Mish", kSimple},
    {"exMish", kSimple},
    {"Gelu", kSimple},
    {"exGelu", kSimple},
    {"Where", kSimple, refuse_broadcast},
    {"exGlu", kSimple, refuse_glu},
    {"exWindow", kSimple},
    {"Div", kDiv, refuse_broadcast},
    {"GRU", kNorm, refuse_recurrent},
    {"LayerNormalization", kNorm},
    {"RMSNormalization", kNorm},
    {"MeanVarianceNormalization", kNorm},
    {"exNorm", kNorm},
    {"Gather", kGather, refuse_gather},
    {"LSTM", kLstm, refuse_recurrent},
    {"Min", kMin, refuse_broadcast},
    {"AveragePool", kAverage, refuse_average_pool},
    {"GlobalAveragePool", kAverage, refuse_global_pool},
    {"Pow", kPow, refuse_pow},
    {"Tile", kTile},
    {"Transpose", kTranspose, refuse_transpose_long},
    {"exSwooshR", kSwoosh},
    {"exSwooshL", kSwoosh},
    {"Hardmax", kHardmax, refuse_hardmax},
    {"Softmax", kSoftmax, refuse_softmax},
    {"exSoftmax13", kSoftmax, refuse_softmax},
    {"exSoftmaxMask", kSoftmaxMask},
    {"exSDPAttention", kAttention, refuse_attention},
    {"Greater", kGreater, refuse_broadcast},
};

// Where a column's limits differ from the others'.
using Refuse = std::string (*)(const Node&);
Refuse limit_of(const Row& row, Column column) {
  const bool first_generation = column == Column::kRk3566 || column == Column::kRk3588;
  // Weights computed at run time: RK3588, RK3576, RK3566, RK3562; nothing is said of the smaller chips.
  const bool small =
      column == Column::kRv1106 || column == Column::kRv1106b || column == Column::kRk2118;
  if ((row.op == "Conv" || row.op == "FusedConv") && small) return refuse_conv_known_weights;
  if (row.op == "ConvTranspose" && first_generation) return refuse_conv_transpose_power_of_two;
  if (row.op == "Transpose") {
    if (column == Column::kRk3566) return refuse_transpose_rk3566;
    if (column == Column::kRk3588 || column == Column::kRv1106) return refuse_transpose_short;
  }
  if (row.op == "Div" && (column == Column::kRk2118 || column == Column::kRv1106b)) {
    return refuse_channel_broadcast;
  }
  if (row.op == "Hardmax" && column == Column::kRv1106) return refuse_hardmax_small;
  return row.refuse;
}

// The limits in words, for tables. Every refuse function of this file has its entry.
struct LimitText {
  Refuse refuse;
  std::string_view text;
};

const LimitText kLimitTexts[] = {
    {refuse_conv,
     "kernel and stride 1..31, pad 0..15, dilation 1..31 (depthwise 1..32); "
     "weights computed at run time with group 1 only"},
    {refuse_conv_known_weights,
     "kernel and stride 1..31, pad 0..15, dilation 1..31 (depthwise 1..32); "
     "constant weights"},
    {refuse_conv_transpose_any_stride,
     "kernel 1..31, stride 1..8, pad 0..15; group 1 or the channel count; a dilated kernel is 1x1"},
    {refuse_conv_transpose_power_of_two,
     "kernel 1..31, stride 1, 2, 4 or 8, pad 0..15; group 1 or the channel count; a dilated kernel "
     "is 1x1"},
    {refuse_max_pool, "kernel 1..7, with stride 1 up to 31; stride 1..8, pad 0..15, explicit"},
    {refuse_average_pool,
     "kernel 1..31, stride 1..8, pad 0..15, explicit and counted; no ceil mode"},
    {refuse_global_pool, "height and width up to 8192"},
    {refuse_broadcast,
     "operands of full shape, scalar, [b,c,1,1], [b,1,h,w], [b,c,1,w], [b,1,1,w], [b,c,h,1] or "
     "[b,1,h,1]"},
    {refuse_channel_broadcast, "operands of full shape, scalar or [b,c,1,1]"},
    {refuse_expand, "from [b,c,1,w], [b,1,1,w], [b,c,h,1], [b,1,h,1] or [b,c,1,1]; up to 8192"},
    {refuse_axis_beyond_width, "axis 0..3"},
    {refuse_gather, "indices of rank 1, axis 0..3"},
    {refuse_slice, "step 1"},
    {refuse_pad, "constant or edge; reflect up to 8192 (width 8176)"},
    {refuse_pow, "exponent 0, 1, 2, 3, 0.5 or -0.5"},
    {refuse_prelu, "slope scalar, per channel, or as the operands of Add"},
    {refuse_elu, "alpha 1"},
    {refuse_clip, "constant bounds"},
    {refuse_resize, "nearest; linear by an integer factor, up or down, or from 1x1"},
    {refuse_softmax, "four axes, any but the batch"},
    {refuse_hardmax, "four axes, axis 1 or 3; fewer than 16384 elements beside the axis"},
    {refuse_hardmax_small, "as Softmax; 1 or 9..8192 elements in all"},
    {refuse_recurrent, "extents up to 8192, batch 1 or a multiple of 4"},
    {refuse_matmul, "inner extent up to 8192"},
    {refuse_glu, "axis 1"},
    {refuse_attention, "channels of query and value up to 8192"},
    {refuse_transpose_rk3566,
     "the identity, or [2,1,0,3], [2,1,3,0], [3,1,0,2], [3,1,2,0] on few extents"},
    {refuse_transpose_short, "by permutation: multiples of 16 bytes, planes up to 8192"},
    {refuse_transpose_long, "by permutation: multiples of 16 bytes, planes up to 2^28"},
};

}  // namespace

std::string_view limits_in_words(const Capability& row) {
  for (const LimitText& entry : kLimitTexts) {
    if (entry.refuse == row.refuse) return entry.text;
  }
  return "";
}

std::vector<Capability> npu_rows(Column column) {
  std::vector<Capability> out;
  for (const Row& row : kRows) {
    const int cell = row.cells[static_cast<size_t>(column)];
    if (cell == kNone) continue;
    out.push_back(
        {row.op, (cell & kI8) != 0, (cell & kF16) != 0, (cell & kI16) != 0, limit_of(row, column)});
  }
  return out;
}

std::vector<std::string_view> cpu_ops_full() {
  return {"Add",
          "And",
          "ArgMax",
          "ArgMin",
          "AveragePool",
          "BatchNormalization",
          "Cast",
          "Clip",
          "Concat",
          "Conv",
          "ConvTranspose",
          "Cos",
          "DepthToSpace",
          "Div",
          "Equal",
          "Erf",
          "Exp",
          "Expand",
          "Flatten",
          "Floor",
          "Gather",
          "GatherElements",
          "Greater",
          "GreaterOrEqual",
          "GRU",
          "InstanceNormalization",
          "LayerNormalization",
          "Less",
          "LessOrEqual",
          "Log",
          "LogSoftmax",
          "LpNormalization",
          "LRN",
          "MatMul",
          "Max",
          "MaxPool",
          "MaxRoiPool",
          "MaxUnpool",
          "MeanVarianceNormalization",
          "Min",
          "Mish",
          "Mod",
          "Mul",
          "Not",
          "OneHot",
          "Pad",
          "Pow",
          "ReduceL2",
          "ReduceMax",
          "ReduceMean",
          "ReduceMin",
          "ReduceSum",
          "Reshape",
          "Resize",
          "ReverseSequence",
          "RMSNormalization",
          "RoiAlign",
          "Round",
          "ScatterND",
          "Sigmoid",
          "Sin",
          "Slice",
          "Softmax",
          "SpaceToDepth",
          "Split",
          "Sqrt",
          "Squeeze",
          "Sub",
          "Tanh",
          "Tile",
          "TopK",
          "Transpose",
          "Upsample",
          "Where",
          "Gelu",
          "exDataConvert",
          "exGelu",
          "exGlu",
          "HardSwish",
          "exMish",
          "exNorm",
          "exSoftmax13",
          "exSoftmaxMask",
          "exSwish",
          "exSwooshL",
          "exSwooshR",
          "exWindow"};
}

std::vector<std::string_view> cpu_ops_small() {
  return {"Concat",   "exDataConvert", "Div",     "LayerNormalization", "Exp",    "Gather",
          "ReduceL2", "ReduceMax",     "Reshape", "ScatterND",          "Softmax"};
}

}  // namespace rk::target
