// SPDX-License-Identifier: Apache-2.0
// A TFLite file (schema 3) as plain structs: what the importer reads of it, every index checked. Slot numbers, codes and
// enumerations are facts of the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/flat_reader.h"
#include "frontends/tflite/sparse.h"
#include "ir/type.h"

namespace rk::frontends::tflite {

// BuiltinOperator of the schema, those that are imported or named in a message.
enum class Code : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kEmbeddingLookup = 7,
  kFloor = 8,
  kFullyConnected = 9,
  kL2Normalization = 11,
  kL2Pool2d = 12,
  kLocalResponseNormalization = 13,
  kLogistic = 14,
  kLstm = 16,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kTanh = 28,
  kCustom = 32,
  kPad = 34,
  kGather = 36,
  kBatchToSpaceNd = 37,
  kSpaceToBatchNd = 38,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kDiv = 42,
  kSqueeze = 43,
  kUnidirectionalSequenceLstm = 44,
  kStridedSlice = 45,
  kExp = 47,
  kTopkV2 = 48,
  kSplit = 49,
  kLogSoftmax = 50,
  kCast = 53,
  kPrelu = 54,
  kMaximum = 55,
  kArgMax = 56,
  kMinimum = 57,
  kLess = 58,
  kNeg = 59,
  kPadv2 = 60,
  kGreater = 61,
  kGreaterEqual = 62,
  kLessEqual = 63,
  kSelect = 64,
  kSlice = 65,
  kSin = 66,
  kTransposeConv = 67,
  kTile = 69,
  kExpandDims = 70,
  kEqual = 71,
  kNotEqual = 72,
  kLog = 73,
  kSum = 74,
  kSqrt = 75,
  kRsqrt = 76,
  kShape = 77,
  kPow = 78,
  kArgMin = 79,
  kFakeQuant = 80,
  kReduceProd = 81,
  kReduceMax = 82,
  kPack = 83,
  kLogicalOr = 84,
  kOneHot = 85,
  kLogicalAnd = 86,
  kLogicalNot = 87,
  kUnpack = 88,
  kReduceMin = 89,
  kFloorDiv = 90,
  kReduceAny = 91,
  kSquare = 92,
  kZerosLike = 93,
  kFill = 94,
  kFloorMod = 95,
  kRange = 96,
  kResizeNearestNeighbor = 97,
  kLeakyRelu = 98,
  kSquaredDifference = 99,
  kMirrorPad = 100,
  kAbs = 101,
  kSplitV = 102,
  kCeil = 104,
  kReverseV2 = 105,
  kAddN = 106,
  kGatherNd = 107,
  kCos = 108,
  kRank = 110,
  kElu = 111,
  kReverseSequence = 112,
  kQuantize = 114,
  kRound = 116,
  kHardSwish = 117,
  kScatterNd = 122,
  kSelectV2 = 123,
  kDensify = 124,
  kBatchMatmul = 126,
  kCumsum = 128,
  kBroadcastTo = 130,
  kReduceAll = 140,
  kGelu = 150,
  kRelu0To1 = 152,
  kSign = 158,
};
// "CONV_2D"; "operator number 250" for those nobody here knows.
std::string to_string(Code code);

struct TfTensor {
  std::string name;
  std::vector<int64_t> dims;       // as stored; 1 where the size is open
  std::vector<int64_t> signature;  // -1 where it is open; empty: as dims
  DType dtype = DType::kUndefined;
  std::string foreign_type;          // of a type that graphs do not have: its name
  ByteSpan data;                     // empty: computed at run time
  std::optional<Sparsity> sparsity;  // of a constant that is stored without its zeros
  // Quantization: one scale, or one per index of axis `axis`. Empty: none.
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int64_t axis = 0;

  bool is_quantized() const {
    return !scale.empty() && (dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 ||
                              dtype == DType::kI32);
  }
};

struct TfOperator {
  Code code = Code::kCustom;
  std::string custom_name;
  std::vector<int32_t> inputs;  // indices of tensors, -1: absent
  std::vector<int32_t> outputs;
  std::optional<FlatTable> options;
  bool has_custom_options = false;
};

struct TfModel {
  std::vector<TfTensor> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<TfOperator> operators;
  size_t subgraphs = 0;
};

// The first subgraph. `region` holds the file and outlives the model.
Result<TfModel> read_model(const FlatRegion& region);

}  // namespace rk::frontends::tflite
