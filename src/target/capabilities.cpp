// SPDX-License-Identifier: Apache-2.0
// Operator sheet, sections 7 and 8, in IR operator names. Vendor operators that the IR spells
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
    {"Sub", kArithmetic, refuse_channel_broadcast},
    {"MatMul", kArithmetic, refuse_matmul},
    {"Gemm", kArithmetic, refuse_matmul},
    {"BatchNormalization", kSimple},
    {"Concat", kSimple, refuse_axis_beyond_width},
    {"Max", kSimple, refuse_broadcast},
    {"MaxPool", kSimple, refuse_pool},
    {"GlobalMaxPool", kSimple, refuse_global_pool},
    {"Relu", kSimple},
    {"Clip", kSimple, refuse_clip},
    {"PRelu", kSimple, refuse_prelu},
    {"LeakyRelu", kSimple},
    {"Reshape", kSimple},
    {"Flatten", kSimple},
    {"Squeeze", kSimple},
    {"Unsqueeze", kSimple},
    {"Slice", kSimple, refuse_slice},
    {"Split", kSimple, refuse_axis_beyond_width},
    {"Sigmoid", kSimple},
    {"Tanh", kSimple},
    {"Softplus", kSimple},
    {"HardSigmoid", kSimple, refuse_hard_sigmoid},
    {"HardSwish", kSimple},
    {"Elu", kSimple, refuse_elu},
    {"exSwish", kSimple},
    {"Mish", kSimple},
    {"exMish", kSimple},
    {"Gelu", kSimple},
    {"exGelu", kSimple},
    {"Where", kSimple, refuse_broadcast},
    {"exGlu", kSimple},
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
    {"AveragePool", kAverage, refuse_pool},
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
    {"exSDPAttention", kAttention},
    {"Greater", kGreater, refuse_broadcast},
};

// Where a column's limits differ from the others'.
using Refuse = std::string (*)(const Node&);
Refuse limit_of(const Row& row, Column column) {
  const bool first_generation = column == Column::kRk3566 || column == Column::kRk3588;
  if (row.op == "ConvTranspose" && first_generation) return refuse_conv_transpose_power_of_two;
  if (row.op == "Transpose") {
    if (column == Column::kRk3566) return refuse_transpose_rk3566;
    if (column == Column::kRk3588 || column == Column::kRv1106) return refuse_transpose_short;
  }
  if (row.op == "GlobalMaxPool" && column == Column::kRk3576) return refuse_global_pool_wide;
  if (row.op == "Div" && (column == Column::kRk2118 || column == Column::kRv1106b)) {
    return refuse_channel_broadcast;
  }
  if (row.op == "Hardmax" && column == Column::kRv1106) return refuse_hardmax_small;
  // A larger average becomes a depthwise convolution, which reaches further than the pool.
  if (row.op == "GlobalAveragePool") return refuse_global_pool_wide;
  return row.refuse;
}

}  // namespace

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
