// SPDX-License-Identifier: Apache-2.0
// Which slot holds which member: the one place that says so. describe() is instantiated twice, with
// an Io that reads a FlatTable into the struct and with one that writes the struct, so the two
// directions cannot disagree. Private to format/.
#pragma once

#include "format/vendor_model.h"

namespace rk::format {

// Node slot 7: the union tag of the parameter table in slot 8.
enum class ParamsTag : uint8_t { kNone = 0, kConv = 1, kConcat = 19, kResize = 26, kArgMax = 51 };

// Slots of the parameter tables that have no struct of their own (vendor operator sheet, sections 3 to 14).
struct ParamsSlot {
  enum Type { kInteger, kFloat, kText, kIntegers };
  uint8_t tag;
  int slot;
  const char* name;
  Type type;
  int32_t fallback = 0;
};
inline constexpr ParamsSlot kParamsSlots[] = {
    {2, 0, "auto_pad", ParamsSlot::kText},  // ConvTranspose
    {2, 1, "dilations", ParamsSlot::kIntegers},
    {2, 2, "group", ParamsSlot::kInteger, 1},
    {2, 3, "kernel_shape", ParamsSlot::kIntegers},
    {2, 4, "output_padding", ParamsSlot::kIntegers},
    {2, 6, "pads", ParamsSlot::kIntegers},
    {2, 7, "strides", ParamsSlot::kIntegers},
    {3, 0, "auto_pad", ParamsSlot::kText},  // MaxPool
    {3, 1, "ceil_mode", ParamsSlot::kInteger},
    {3, 2, "dilations", ParamsSlot::kIntegers},
    {3, 3, "kernel_shape", ParamsSlot::kIntegers},
    {3, 4, "pads", ParamsSlot::kIntegers},
    {3, 6, "strides", ParamsSlot::kIntegers},
    {5, 0, "auto_pad", ParamsSlot::kText},  // AveragePool
    {5, 1, "ceil_mode", ParamsSlot::kInteger},
    {5, 2, "count_include_pad", ParamsSlot::kInteger},
    {5, 3, "kernel_shape", ParamsSlot::kIntegers},
    {5, 4, "pads", ParamsSlot::kIntegers},
    {5, 5, "strides", ParamsSlot::kIntegers},
    {9, 0, "alpha", ParamsSlot::kFloat},     // LeakyRelu
    {17, 0, "epsilon", ParamsSlot::kFloat},  // BatchNormalization
    {20, 0, "axis", ParamsSlot::kInteger},   // Split
    {20, 1, "split", ParamsSlot::kIntegers},
    {25, 0, "perm", ParamsSlot::kIntegers},        // Transpose
    {30, 0, "mode", ParamsSlot::kText},            // Pad
    {33, 0, "blocksize", ParamsSlot::kInteger},    // SpaceToDepth
    {50, 0, "axis", ParamsSlot::kInteger},         // Gather
    {52, 0, "axis", ParamsSlot::kInteger},         // ArgMin
    {53, 0, "axes", ParamsSlot::kIntegers},        // ReduceMax
    {54, 0, "axes", ParamsSlot::kIntegers},        // ReduceMin
    {61, 0, "axis", ParamsSlot::kInteger},         // exSoftmax13
    {64, 0, "axis", ParamsSlot::kInteger},         // LogSoftmax
    {67, 1, "hidden_size", ParamsSlot::kInteger},  // exGRU
    {67, 3, "linear_before_reset", ParamsSlot::kInteger},
    {71, 0, "direction", ParamsSlot::kText},  // GRU
    {71, 1, "hidden_size", ParamsSlot::kInteger},
    {71, 2, "linear_before_reset", ParamsSlot::kInteger},
    {77, 0, "axis", ParamsSlot::kInteger},  // exGlu
    {87, 0, "mode", ParamsSlot::kText},     // exNorm
    {87, 1, "eps", ParamsSlot::kFloat},
    {87, 2, "axes", ParamsSlot::kIntegers},
    {96, 1, "to", ParamsSlot::kInteger},  // Cast
};

template <typename Io>
void describe(Io& io, FileTensor& t) {
  io.scalar(0, t.dtype);
  io.scalar(1, t.layout);
  io.scalar(2, t.kind);
  io.vector(3, t.native_shape);
  io.vector(4, t.shape);
  io.string(5, t.name);
  io.string(6, t.quant_method);
  io.string(7, t.quant_type);
  io.vector(8, t.range_min);
  io.vector(9, t.range_max);
  io.vector(10, t.scale);
  io.vector(11, t.zero_point);
  io.scalar(12, t.size_bytes);
  io.scalar(13, t.offset_in_internal);
  io.scalar(14, t.is_coded);
  io.lenient_vector(15, t.stream_data);
  io.lenient_vector(16, t.stream_begins);
  io.lenient_vector(17, t.stream_headers);
  io.scalar(18, t.buffer);
  io.scalar(19, t.plane_align);
  io.scalar(20, t.width_align);
}

template <typename Io>
void describe(Io& io, FileConvParams& p) {
  io.string(0, p.auto_pad);
  io.vector(1, p.dilations);
  io.scalar(2, p.group, 1);
  io.vector(3, p.kernel_shape);
  io.vector(4, p.pads);
  io.vector(5, p.strides);
}

template <typename Io>
void describe(Io& io, FileConcatParams& p) {
  io.scalar(0, p.axis);
}

template <typename Io>
void describe(Io& io, FileResizeParams& p) {
  io.string(0, p.coordinate_mode);
  io.string(4, p.mode);
  io.string(5, p.nearest_mode);
}

template <typename Io>
void describe(Io& io, FileArgMaxParams& p) {
  io.scalar(0, p.axis);
}

template <typename Io>
void describe(Io& io, FileOperatorParams& p) {
  for (const ParamsSlot& slot : kParamsSlots) {
    if (slot.tag == p.tag) io.attribute(slot, p.attributes);
  }
}

template <typename Io>
void describe(Io&, FileUnknownParams&) {}

template <typename Io>
void describe(Io& io, FileNode& n) {
  io.required_string(1, n.type);
  io.string(2, n.name);
  io.scalar(3, n.processor);
  io.vector(4, n.inputs);
  io.vector(5, n.outputs);
  io.params(7, 8, n.params);
  io.vector(9, n.attributes);
  io.vector(10, n.task_counts);
  // Informational, and stray bytes in some files: what cannot be read is left empty.
  io.stray_vector(11, n.reserved);
  io.stray_vector(12, n.core_bytes);
  io.scalar(13, n.split_over_cores);
}

template <typename Io>
void describe(Io& io, Normalize& n) {
  io.vector(0, n.mean);
  io.vector(1, n.std);
  io.vector(2, n.channel_order);
}

template <typename Io>
void describe(Io& io, TensorReloc& r) {
  io.string(0, r.tensor);
  io.vector(1, r.entries);
  io.optional_vector(2, r.flags);
}

template <typename Io>
void describe(Io& io, GeometryPatch& p) {
  for (size_t slot = 0; slot < p.writes.size(); ++slot)
    io.optional_struct(static_cast<int>(slot), p.writes[slot]);
  io.scalar(8, p.first_row);
}

template <typename Io>
void describe(Io& io, InputGeometry& g) {
  io.string(0, g.input);
  io.tables(1, "InputGeom patch", g.patches);
}

template <typename Io>
void describe(Io& io, ConversionPatch& p) {
  for (size_t slot = 0; slot < p.writes.size(); ++slot)
    io.optional_struct(static_cast<int>(slot), p.writes[slot]);
}

template <typename Io>
void describe(Io& io, InputConversion& c) {
  io.string(0, c.input);
  io.tables(1, "InputCvt patch", c.patches);
}

template <typename Io>
void describe(Io& io, OutputReady& r) {
  io.string(0, r.output);
  io.scalar(1, r.task_count);
}

template <typename Io>
void describe(Io& io, FileGraph& g) {
  io.tables(0, "Tensor", g.tensors);
  io.nodes(1, g.tensors.size(), g.nodes);
  io.vector(2, g.inputs);
  io.vector(3, g.outputs);
  io.tables(4, "Normalize", g.normalize);
  io.empty_vector(6);
  io.tables(7, "TensorReloc", g.relocs);
  io.tables(8, "InputGeom", g.input_geometry);
  io.tables(9, "InputCvt", g.input_conversion);
  io.vector(10, g.schedule_starts);
  io.tables(12, "OutputReady", g.outputs_ready);
  for (const int slot : {13, 14, 15, 16}) io.empty_vector(slot);
}

template <typename Io>
void describe(Io& io, MemSize& m) {
  io.scalar(0, m.weight_bytes);
  io.scalar(1, m.internal_bytes);
  io.scalar(2, m.helper_bytes);
}

template <typename Io>
void describe(Io& io, FileBuffer& b) {
  io.payload(0, b.data);
}

template <typename Io>
void describe(Io& io, FileModel& m) {
  io.scalar(0, m.version);
  io.string(1, m.npu_generation);
  // Buffers come early in the writer's order and so last in the file, as in vendor files.
  io.buffers(20, 4, m.buffers);
  io.tables(2, "Graph", m.graphs);
  io.string(3, m.info);
  io.scalar(6, m.compiler_version);
  io.string(7, m.compiler);
  io.string(8, m.platform);
  io.string(9, m.source);
  io.scalar(10, m.constant_two);
  io.string(11, m.custom_string);
  io.string(12, m.input_json);
  io.string(13, m.output_json);
  io.string(14, m.flag14);
  io.empty_vector(15);
  io.string(16, m.shape_mode);
  io.input_shapes(17, m.input_shapes);
  io.strings(18, m.shared_weights);
  io.table(19, "MemSize", m.memory);
  io.string(21, m.custom_ops);
}

}  // namespace rk::format
