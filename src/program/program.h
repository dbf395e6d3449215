// SPDX-License-Identifier: Apache-2.0
// Program: the compiled form. Ordered steps over named tensors, chip-native weights, requantization
// constants and the chip's memory plan. Plain data: the compiler makes it, format/ stores and reads
// it (from our files and, lifted, from the vendor's), runtime/ executes it. verify() must accept a
// Program before anything runs it.
//
// Note: sizes, layouts and offsets in here are the chip's, for queries and reports.
// The host plan (packed weights, blocked activations, private arena) is made at init by runtime/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_point.h"
#include "ir/attr.h"
#include "ir/type.h"
#include "target/sparse.h"

namespace rk::program {

// Numbered as in the file (docs/facts/container.md, tensor slot 1).
enum class Layout : uint8_t {
  kPlain = 0x00,  // row-major in the logical shape's order, or not known
  kNchw = 0x02,
  kNc1hwc2 = 0x40,  // channel-blocked; a model input that is a picture has C1 = 1 and C2 =
                    // channels, i.e. NHWC
  kWeight = 0x41,   // blocked weights, one or more groups of six extents in native_shape
};

// Numbered as in the file (slot 2).
enum class TensorKind : uint8_t {
  kDummy = 0,
  kInput = 1,
  kOutput = 2,
  kInternal = 3,
  kNpuConstant = 4,
  kCpuConstant = 5,
  kHelperConstant = 8,
};

inline constexpr int32_t kNone = -1;

struct ProgramTensor {
  std::string name;
  DType dtype = DType::kUndefined;
  TensorKind kind = TensorKind::kInternal;
  Layout layout = Layout::kPlain;
  Shape shape;  // logical: NCHW, OIHW
  std::vector<int32_t>
      native_shape;  // N,C1,H,W,C2, or groups of OC1,IC1,KH,KW,OC2,IC2, or as shape
  // Affine int8 activation parameters, per tensor; scale 0 means not quantized.
  float scale = 0;
  int32_t zero_point = 0;
  float min = 0;  // the calibrated range
  float max = 0;
  uint64_t size_bytes = 0;       // in chip memory, alignment included
  uint64_t offset_in_arena = 0;  // kinds input, output, internal
  int32_t weight = kNone;        // index into Program::weights, for constants
  uint32_t plane_align = 0;      // pixel-count alignment of one channel plane
  uint32_t width_align = 0;      // inputs: width-stride alignment in pixels

  bool quantized() const { return scale != 0; }
  bool is_constant() const { return weight != kNone; }
};

struct Extent2 {
  int32_t h = 1;
  int32_t w = 1;
  bool operator==(const Extent2&) const = default;
};

struct Pads2 {
  int32_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Pads2&) const = default;
};

enum class Activation : uint8_t { kNone = 0, kRelu = 1, kClip = 2 };  // kClip: 0..limit, e.g. Relu6

// y = sat8(rne(v * scale / 2^shift) + zero_point): the last stage of every int8 step.
struct OutputStage {
  ScaleShift scale;
  int32_t zero_point = 0;
  bool operator==(const OutputStage&) const = default;
};

// One operand brought to a common unit: rne((x + offset) * scale / 2^shift), offset = -zero_point.
struct InputStage {
  int32_t offset = 0;
  ScaleShift scale;
  bool operator==(const InputStage&) const = default;
};

// An activation by two tables of 513 entries, between the bias stage and the output stage of an int8
// convolution: index t = rne((v * multiplier + addend) / 2^shift); entry i of `low` stands at
// t = start + i * 2^entry_shift, of `high` at i * 2^entry_shift, straight lines between them, and
// beyond both ends a line of slope `below` or `above`. v then becomes the table's value.
struct LookupStage {
  int64_t multiplier = 1, addend = 0;
  int32_t shift = 0;
  int32_t start = 0, end = 0;
  int32_t entry_shift = 0;
  std::vector<int16_t> low, high;
  ScaleShift below, above;
  bool operator==(const LookupStage&) const = default;
};
inline constexpr size_t kLookupEntries = 513;

// LeakyRelu and PRelu of an int8 convolution. Sums below zero leave the bias stage by a shift of
// their own and are multiplied by their channel's factor: with p = (acc + bias[c]) * m[c],
// p >= 0: v = rne(rne(p / 2^multiplier_shift) / 2^positive_shift), else
// v = rne(rne(p / 2^negative_multiplier_shift) * factor[c] / 2^negative_shift).
struct SlopeStage {
  int32_t negative_multiplier_shift = 0;
  int32_t positive_shift = 0, negative_shift = 0;
  std::vector<int16_t> factor;  // one, or one per output channel
  bool operator==(const SlopeStage&) const = default;
};

// Convolution family. Inputs: data, weight, bias, [addend]. Integer form (int8 data): weight int8
// in native layout, bias the chip's block of int32 bias, int16 o and int16 m. Float form (f16
// data): weight f16 or f32 plain OIHW (IOHW when transposed), bias f32 plain, or absent.
struct ConvParams {
  Extent2 kernel, stride, dilation;
  Pads2 pads;
  int32_t group = 1;
  bool transposed = false;
  Activation activation = Activation::kNone;       // before the add
  Activation post_activation = Activation::kNone;  // after the add
  // Integer form.
  int32_t pad_value = 0;  // input zero point
  int32_t multiplier_shift = 14;
  int64_t clip_limit = 0;  // kClip: in the accumulator's unit s_in * max s_w
  // At most one of the two, in place of `activation`.
  std::optional<LookupStage> lookup;
  std::optional<SlopeStage> slope;
  InputStage addend;
  OutputStage output;
  // Float form of kClip.
  float clip_limit_f32 = 0;
  bool operator==(const ConvParams&) const = default;
};

// y = sum of inputs (Add), each brought to a unit 2^10 finer than the output's scale; AddRelu with
// post_activation.
struct SumParams {
  std::vector<InputStage> inputs;
  Activation activation = Activation::kNone;
  OutputStage output;
};

struct ConcatParams {
  int32_t axis = 1;                // not negative
  std::vector<InputStage> inputs;  // integer form; identity stages where scales are equal
  OutputStage output;
  bool identity = false;  // all scales are equal: bytes are copied
};

enum class PoolKind : uint8_t { kMax = 0, kAverage = 1 };

// Windows are explicit (auto_pad and ceil mode are resolved into pads; the output shape rules).
struct PoolParams {
  PoolKind kind = PoolKind::kMax;
  Extent2 kernel, stride;
  Pads2 pads;
  bool count_include_pad = false;
  // kAverage, integer form: stage for a window of n positions at [n - 1]; its scale holds 1/n.
  std::vector<InputStage> by_count;
  OutputStage output;
};

enum class ResizeMode : uint8_t { kNearest = 0, kLinear = 1 };
enum class CoordinateMode : uint8_t {
  kHalfPixel = 0,
  kPytorchHalfPixel = 1,
  kAlignCorners = 2,
  kAsymmetric = 3
};
enum class NearestMode : uint8_t {
  kRoundPreferFloor = 0,
  kRoundPreferCeil = 1,
  kFloor = 2,
  kCeil = 3
};

struct ResizeParams {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  float scale_h = 1,
        scale_w = 1;  // output / input as the model gives it (not always the ratio of extents)
  InputStage input;   // linear, integer form; weights of 1/2048 per axis come on top
  OutputStage output;
  bool identity = false;  // nearest between equal scales: bytes are copied
};

// int8 -> int8 by a table: entry [x + 128].
struct TableParams {
  std::string function;  // the operator it stands for, e.g. Sigmoid
  std::vector<int8_t> table;
};

// Any operator by its IR definition: on raw elements when it only moves data between equally
// quantized tensors, on dequantized values otherwise. This is also the form of type conversions
// (exDataConvert).
struct OpParams {
  std::string op;  // IR operator name
  AttrMap attrs;
};

using StepParams = std::variant<ConvParams, SumParams, ConcatParams, PoolParams, ResizeParams,
                                TableParams, OpParams>;

// Numbered as in the file (node slot 3).
enum class Processor : uint8_t { kCpu = 0, kGpu = 1, kNpu = 2 };

struct Step {
  std::string type;  // as users know it from logs: ConvRelu, ConvAdd, Concat, ...
  std::string name;  // "<operator>:<node name>"
  Processor processor = Processor::kNpu;
  std::vector<int32_t> inputs;  // tensor indices; kNone where an optional input is absent
  std::vector<int32_t> outputs;
  StepParams params;
  uint64_t macs = 0;
  target::Sparsity sparsity = target::Sparsity::kNone;  // of its weights, where the chip skips it
  // Output rows of each core when 2 cores share the step, then when 3 do (core_split.h); empty:
  // core 0 computes all of it.
  std::vector<int32_t> core_rows;
};

// One set of input shapes. Tensor 0 is the unnamed dummy of the file format.
struct Variant {
  std::vector<ProgramTensor> tensors;
  std::vector<Step> steps;      // execution order; input and output operators are not steps
  std::vector<int32_t> inputs;  // tensor indices in API order
  std::vector<int32_t> outputs;
  uint64_t arena_bytes = 0;  // internal memory of the chip's plan
};

// What the API says of one model input beside its tensor.
struct InputInfo {
  std::vector<float> mean;          // per channel; empty: 0
  std::vector<float> std;           // per channel; empty: 1
  bool rgb2bgr = false;             // informational: used while reading calibration pictures only
  DType model_dtype = DType::kF32;  // in the source model
};

// Bytes of one constant: owned, or a view into a file image kept alive by `owner`.
struct Blob {
  std::shared_ptr<const void> owner;
  ByteSpan bytes;
};
Blob make_blob(std::vector<uint8_t> bytes);

// A constant that was left out of the file, to be taken from another model (remove_weight).
struct RemovedWeight {
  int32_t weight = kNone;  // index into Program::weights, which is empty there
  uint64_t size_bytes = 0;
  uint32_t crc32 = 0;
};

// A constant whose blob is code (weight_code.h), as a file stores it. Readers decode it.
struct CodedWeight {
  int32_t weight = kNone;   // index into Program::weights
  uint64_t size_bytes = 0;  // of the blocks that the code stands for
};

struct Program {
  std::string target;  // "rk3588"
  std::string framework = "ONNX";
  std::string toolkit_version;  // of the tool that made the file
  std::string compiler_version;
  std::string custom_string;
  std::string name;  // of the source graph
  bool single_core = false;
  // Samples of one run (rknn_batch_size): every input and output of the API is that many of the
  // variants' tensors one after the other.
  int32_t batch = 1;
  std::vector<Blob> weights;  // element 0 is empty, as in the file
  std::vector<RemovedWeight> removed;
  std::vector<CodedWeight> coded;
  std::vector<InputInfo> inputs;
  std::vector<Variant> variants;

  const Variant& main_variant() const { return variants.front(); }
};

// Everything the runtime relies on: indices, shapes against parameters, sizes of constants, ranges
// of scales and shifts, dtypes of each step. A Program that passes can be run without further
// checks.
Status verify(const Program& program);

// A readable dump: tensors with types, quantization and places, then steps with their parameters.
// Constants are given by size and checksum.
std::string to_text(const Program& program);

}  // namespace rk::program
