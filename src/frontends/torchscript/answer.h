// SPDX-License-Identifier: Apache-2.0
// What rknn-import-torchscript answers: the graph of forward(), frozen and inlined, with constants. Nothing in it has been
// judged; the program that wrote it has read a hostile file, so every count and size is checked again.
//
// All numbers little-endian. A text is u32 length and bytes, a list u32 count and elements. The answer: "RKTORCH1", list of
// inputs (value, u8 has a default, the default), body.
//   body    list of nodes, list of u32 ids: the results
//   value   u32 id, name, type as TorchScript writes it
//   node    kind ("aten::relu"), source ("net.py:12" or empty), list of u32 inputs, list of output values, u8 has a
//           constant, the constant, list of blocks
//   block   list of input values, body
//   datum   u8 kind; bool u8, int i64, double f64, text, tensor, list and tuple of data,
//           packed convolution (weight, bias, stride, padding, output padding, dilation: lists of i64; i64 groups,
//           u8 transposed), packed linear (weight, bias), other (text: what it is), dict (a list: key, value, key, ...)
//   tensor  u8 dtype as in ONNX, list of i64 extents, list of f64 scales, list of i64 zero points, i64 axis, u64 size,
//           bytes
// Attributes of modules that freezing leaves are read by nodes of kind "state::get", whose constant is a tuple of the
// attribute's path ("encoder.cache") and its value in the file, and set by "state::set", whose constant is the path.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "ir/type.h"

namespace rk::frontends::torchscript {

inline constexpr std::string_view kAnswerMagic = "RKTORCH1";

// Scales of quantized numbers: none, one, or one per element of `axis`.
struct Affine {
  std::vector<double> scale;
  std::vector<int64_t> zero_point;
  int64_t axis = -1;
};

struct StoredTensor {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  Affine affine;
  ByteSpan data;  // of the answer
};

// A quantized layer as torch keeps it. A linear one has weights and bias only.
struct PackedLayer {
  StoredTensor weight;
  std::shared_ptr<const StoredTensor> bias;  // or null
  std::vector<int64_t> stride, padding, output_padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
};

struct Datum {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kDouble,
    kText,
    kTensor,
    kList,
    kTuple,
    kConv,
    kLinear,
    kOther,
    kDict
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // kBool, kInt
  double real = 0;
  std::string text;  // kText, kOther
  std::shared_ptr<const StoredTensor> tensor;
  std::vector<Datum> items;                  // kList, kTuple; kDict: keys and values take turns
  std::shared_ptr<const PackedLayer> layer;  // kConv, kLinear
};

struct NamedValue {
  uint32_t id = 0;
  std::string name, type;
};

struct TorchNode;

struct TorchBlock {
  std::vector<NamedValue> inputs;
  std::vector<TorchNode> nodes;
  std::vector<uint32_t> outputs;
};

struct TorchNode {
  std::string kind, source;
  std::vector<uint32_t> inputs;
  std::vector<NamedValue> outputs;
  std::optional<Datum> constant;
  std::vector<TorchBlock> blocks;
};

struct TorchProgram {
  std::vector<NamedValue> inputs;
  std::vector<std::optional<Datum>> defaults;  // one per input
  TorchBlock body;                             // its inputs are empty
};

// kInvalidModel says where the answer ends or what it cannot hold. Tensors point into `bytes`.
Result<TorchProgram> read_answer(ByteSpan bytes);

}  // namespace rk::frontends::torchscript
