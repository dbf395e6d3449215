// SPDX-License-Identifier: Apache-2.0
// The tables of a .rknn flatbuffer as plain data, one struct per table, members in slot order.
// Reading checks every index so that users of a FileModel may follow them freely; it does not judge
// whether the graph makes sense to run. Buffer payloads are spans into the file: keep its bytes
// alive as long as the FileModel. Certainty of each slot's meaning is in
// docs/facts/container.md; slots nobody has seen filled are not kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "format/bson.h"
#include "format/container.h"
#include "ir/type.h"
#include "program/program.h"

namespace rk::format {

// Tensor kinds that only files have; the others are program::TensorKind.
inline constexpr auto kLookupTableKind = static_cast<program::TensorKind>(6);
inline constexpr auto kRegisterCommandsKind = static_cast<program::TensorKind>(9);
inline constexpr auto kTasksKind = static_cast<program::TensorKind>(10);

// dtype, layout, kind and processor hold the file's numbers, which may be none of the named ones.
struct FileTensor {
  DType dtype = DType::kUndefined;
  program::Layout layout = program::Layout::kPlain;
  program::TensorKind kind = program::TensorKind::kDummy;
  std::vector<int32_t> native_shape;
  std::vector<int32_t> shape;  // logical, NCHW or OIHW
  std::string name;            // empty for tensor 0, the dummy
  std::string quant_method;    // "layer" or empty
  std::string quant_type;      // "int8" or empty
  std::vector<float> range_min, range_max, scale;
  std::vector<int32_t> zero_point;
  uint32_t size_bytes = 0;
  uint32_t offset_in_internal = 0;  // kinds input, output, internal
  uint32_t buffer = 0;              // index into FileModel::buffers, 0 = no data
  uint32_t plane_align = 0;         // pixels of one NC1HWC2 plane are padded to this
  uint32_t width_align = 0;         // inputs: width stride alignment in pixels
  // Coded weights, by stream (program/weight_code.h): bytes of data, where it begins, bytes of its
  // header.
  uint32_t is_coded = 0;
  std::vector<uint32_t> stream_data, stream_begins, stream_headers;
  bool operator==(const FileTensor&) const = default;
};

struct FileConvParams {
  std::string auto_pad;
  std::vector<int32_t> dilations;
  int32_t group = 1;
  std::vector<int32_t> kernel_shape;
  std::vector<int32_t> pads;  // top, left, bottom, right
  std::vector<int32_t> strides;
  bool operator==(const FileConvParams&) const = default;
};

struct FileConcatParams {
  int32_t axis = 0;
  bool operator==(const FileConcatParams&) const = default;
};

struct FileResizeParams {
  std::string coordinate_mode;
  std::string mode;
  std::string nearest_mode;
  bool operator==(const FileResizeParams&) const = default;
};

struct FileArgMaxParams {
  int32_t axis = 0;
  bool operator==(const FileArgMaxParams&) const = default;
};

// Any other parameter table whose slots are known (vendor_tables.h lists them), by ONNX's attribute names. Absent numbers
// are 0 (as files mean them), absent texts and lists are left out.
struct FileOperatorParams {
  uint8_t tag = 0;
  std::vector<Attribute> attributes;
  bool operator==(const FileOperatorParams&) const = default;
};

// A parameter table whose layout is not known; only its tag is kept.
struct FileUnknownParams {
  uint8_t tag = 0;
  bool operator==(const FileUnknownParams&) const = default;
};

using FileParams = std::variant<std::monostate, FileConvParams, FileConcatParams, FileResizeParams,
                                FileArgMaxParams, FileOperatorParams, FileUnknownParams>;

struct FileNode {
  std::string type;
  std::string name;
  program::Processor processor = program::Processor::kCpu;
  std::vector<int32_t> inputs;  // tensor indices; -1 where an optional operand is absent
  std::vector<int32_t> outputs;
  FileParams params;
  // Usually BSON (bson.h), JSON in container 0x1004; on OutputOperator nodes 16 bytes of another record, on recurrent
  // ones layout names and memory offsets.
  std::vector<uint8_t> attributes;
  std::vector<uint32_t> task_counts;  // tasks per schedule column
  std::vector<uint32_t> reserved;     // zeros, as long as task_counts
  std::vector<uint32_t> core_bytes;   // bytes written per core and core count
  int8_t split_over_cores = 0;
  bool operator==(const FileNode&) const = default;
};

struct Normalize {
  std::vector<float> mean;
  std::vector<float> std;
  std::vector<int32_t> channel_order;
  bool operator==(const Normalize&) const = default;
};

struct Reloc {
  uint32_t addend = 0;
  uint32_t word = 0;  // index of the 64-bit command in the register command buffer
  bool operator==(const Reloc&) const = default;
};

struct TensorReloc {
  std::string tensor;
  std::vector<Reloc> entries;
  std::vector<uint32_t>
      flags;  // one per entry in files of toolkit 2.3, absent before; meaning unknown
  bool operator==(const TensorReloc&) const = default;
};

struct RegisterWrite {
  uint32_t value = 0;
  uint32_t word = 0;
  bool operator==(const RegisterWrite&) const = default;
};

// Register words to rewrite when an input's geometry changes, for one task.
struct GeometryPatch {
  std::array<std::optional<RegisterWrite>, 7> writes;
  uint32_t first_row = 0;
  bool operator==(const GeometryPatch&) const = default;
};

struct InputGeometry {
  std::string input;
  std::vector<GeometryPatch> patches;
  bool operator==(const InputGeometry&) const = default;
};

// Register words to rewrite for another input conversion. Some slots hold stray bytes in vendor
// files: kept, not read.
struct ConversionPatch {
  std::array<std::optional<RegisterWrite>, 13> writes;
  bool operator==(const ConversionPatch&) const = default;
};

struct InputConversion {
  std::string input;
  std::vector<ConversionPatch> patches;
  bool operator==(const InputConversion&) const = default;
};

struct OutputReady {
  std::string output;
  int32_t task_count = 0;
  bool operator==(const OutputReady&) const = default;
};

struct FileGraph {
  std::vector<FileTensor> tensors;
  std::vector<FileNode> nodes;  // in execution order
  std::vector<int32_t> inputs;  // tensor indices, API order
  std::vector<int32_t> outputs;
  std::vector<Normalize> normalize;  // one per input
  std::vector<TensorReloc> relocs;
  std::vector<InputGeometry> input_geometry;
  std::vector<InputConversion> input_conversion;
  std::vector<uint32_t> schedule_starts;  // first task of each schedule
  std::vector<OutputReady> outputs_ready;
  bool operator==(const FileGraph&) const = default;
};

struct MemSize {
  uint64_t weight_bytes = 0;
  uint64_t internal_bytes = 0;
  uint64_t helper_bytes = 0;
  bool operator==(const MemSize&) const = default;
};

struct FileBuffer {
  ByteSpan data;
  bool operator==(const FileBuffer& other) const;  // by content
};

struct FileModel {
  int32_t version = 6;
  bool small = false;  // read from container 0x1004: attributes are JSON, geometry is in registers
  std::string npu_generation;  // "RKNPU v2"
  std::vector<FileGraph> graphs;
  std::string info;               // a Python literal: attrs, quant_tab, dynamic_shapes
  uint32_t compiler_version = 0;  // major * 10000 + minor * 100 + patch
  std::string compiler;
  std::string platform;  // "rk3588"
  std::string source;    // "ONNX"
  uint8_t constant_two = 2;
  std::string custom_string;
  std::string input_json;  // per input name {dtype, layout}
  std::string output_json;
  std::string flag14 = "0";
  std::string shape_mode = "static_shape";
  // dynamic_shape: one list of shapes per input, in the order of the graphs, and the names of constants that graphs
  // after the first take from it.
  std::vector<std::vector<std::vector<int32_t>>> input_shapes;
  std::vector<std::string> shared_weights;
  MemSize memory;
  std::vector<FileBuffer> buffers;  // element 0 is empty
  std::string custom_ops;
  bool operator==(const FileModel&) const = default;
};

// Empty for the -1 of an absent operand.
const std::string& tensor_name(const FileGraph& graph, int32_t index);

// Container versions 1, 2, 6 and 0x1004, and bare flatbuffers. Versions 1 and 2 have no relocation tables;
// their per-node task lists are skipped. Version 0x1004 (RV1103, RV1106, their B forms, RK2118) has a smaller schema and
// keeps tasks, register words and constants outside the flatbuffer: the result looks like version 6, with one buffer per
// constant.
Result<FileModel> read_model(const Container& container);
// Splits the file first.
Result<FileModel> read_model(ByteSpan file);

// The flatbuffer region of a version 6 file.
Result<std::vector<uint8_t>> write_model(const FileModel& model);

}  // namespace rk::format
