// SPDX-License-Identifier: Apache-2.0
// The readable dump of a Program. For people and for tests that compare programs; nothing parses
// it.
#include <iomanip>

#include "base/crc32.h"
#include "program/program.h"

namespace rk::program {
namespace {

using Out = std::ostream;

Out& operator<<(Out& out, const Extent2& extent) { return out << extent.h << "x" << extent.w; }

void print(Out& out, const Pads2& pads) {
  out << "[" << pads.top << "," << pads.left << "," << pads.bottom << "," << pads.right << "]";
}

void print(Out& out, const ScaleShift& scale) { out << scale.scale << ">>" << scale.shift; }

void print(Out& out, const OutputStage& stage) {
  out << " output=";
  print(out, stage.scale);
  out << "+" << stage.zero_point;
}

void print(Out& out, const InputStage& stage) {
  out << "(x+" << stage.offset << ")*";
  print(out, stage.scale);
}

void print(Out& out, const std::vector<InputStage>& stages) {
  out << " stages=[";
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i != 0) out << ", ";
    print(out, stages[i]);
  }
  out << "]";
}

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return "none";
    case Activation::kRelu:
      return "relu";
    case Activation::kClip:
      return "clip";
  }
  return "?";
}

std::string_view to_string(Processor processor) {
  switch (processor) {
    case Processor::kCpu:
      return "cpu";
    case Processor::kGpu:
      return "gpu";
    case Processor::kNpu:
      return "npu";
  }
  return "?";
}

std::string_view to_string(TensorKind kind) {
  switch (kind) {
    case TensorKind::kDummy:
      return "dummy";
    case TensorKind::kInput:
      return "input";
    case TensorKind::kOutput:
      return "output";
    case TensorKind::kInternal:
      return "internal";
    case TensorKind::kNpuConstant:
      return "npu-constant";
    case TensorKind::kCpuConstant:
      return "cpu-constant";
    case TensorKind::kHelperConstant:
      return "helper-constant";
  }
  return "?";
}

void print(Out& out, const ConvParams& p) {
  out << "kernel=" << p.kernel << " stride=" << p.stride << " dilation=" << p.dilation << " pads=";
  print(out, p.pads);
  out << " group=" << p.group;
  if (p.transposed) out << " transposed";
  if (p.activation != Activation::kNone) out << " activation=" << to_string(p.activation);
  if (p.activation == Activation::kClip) {
    out << " clip=" << p.clip_limit << "/" << p.clip_limit_f32;
  }
  if (p.post_activation != Activation::kNone) out << " post=" << to_string(p.post_activation);
  out << " pad_value=" << p.pad_value << " m_shift=" << p.multiplier_shift << " addend=";
  print(out, p.addend);
  print(out, p.output);
}

void print(Out& out, const SumParams& p) {
  out << "activation=" << to_string(p.activation);
  print(out, p.inputs);
  print(out, p.output);
}

void print(Out& out, const ConcatParams& p) {
  out << "axis=" << p.axis;
  if (p.identity) {
    out << " identity";
    return;
  }
  print(out, p.inputs);
  print(out, p.output);
}

void print(Out& out, const PoolParams& p) {
  out << (p.kind == PoolKind::kMax ? "max" : "average") << " kernel=" << p.kernel
      << " stride=" << p.stride << " pads=";
  print(out, p.pads);
  if (p.count_include_pad) out << " count_include_pad";
  if (p.by_count.empty()) return;
  out << " full=";
  print(out, p.by_count.back());
  print(out, p.output);
}

void print(Out& out, const ResizeParams& p) {
  out << (p.mode == ResizeMode::kNearest ? "nearest" : "linear")
      << " coordinates=" << static_cast<int>(p.coordinates)
      << " nearest_mode=" << static_cast<int>(p.nearest) << " factor=" << p.scale_h << "x"
      << p.scale_w;
  if (p.identity) {
    out << " identity";
    return;
  }
  out << " stage=";
  print(out, p.input);
  print(out, p.output);
}

void print(Out& out, const TableParams& p) {
  const ByteSpan bytes{reinterpret_cast<const uint8_t*>(p.table.data()), p.table.size()};
  out << "function=" << p.function << " entries=" << p.table.size() << " crc=" << std::hex
      << crc32(bytes) << std::dec;
}

struct AttrPrinter {
  Out& out;
  void operator()(const std::string& text) const { out << std::quoted(text); }
  void operator()(const Tensor& tensor) const { out << rk::to_string(tensor.type()); }
  void operator()(int64_t value) const { out << value; }
  void operator()(float value) const { out << value; }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    out << "[";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out << ",";
      (*this)(values[i]);
    }
    out << "]";
  }
};

void print(Out& out, const OpParams& p) {
  out << "op=" << p.op;
  for (const auto& [name, value] : p.attrs) {
    out << " " << name << "=";
    std::visit(AttrPrinter{out}, value);
  }
}

void print(Out& out, const Program& program, size_t index, const ProgramTensor& t) {
  out << "  %" << index << " " << std::quoted(t.name) << " " << to_string(t.kind) << " "
      << rk::to_string(t.dtype) << rk::to_string(t.shape) << " layout=0x" << std::hex
      << static_cast<int>(t.layout) << std::dec << " native=[";
  for (size_t i = 0; i < t.native_shape.size(); ++i) out << (i ? "," : "") << t.native_shape[i];
  out << "] bytes=" << t.size_bytes;
  if (t.quantized()) out << " scale=" << t.scale << " zero_point=" << t.zero_point;
  if (!t.is_constant()) {
    out << " offset=" << t.offset_in_arena;
  } else if (t.weight > 0 && static_cast<size_t>(t.weight) < program.weights.size()) {
    const ByteSpan bytes = program.weights[static_cast<size_t>(t.weight)].bytes;
    out << " weight=" << t.weight << " crc=" << std::hex << crc32(bytes) << std::dec;
  }
  out << "\n";
}

void print(Out& out, std::string_view what, const std::vector<int32_t>& tensors) {
  out << what;
  for (size_t i = 0; i < tensors.size(); ++i) {
    out << (i == 0 ? " " : ", ");
    if (tensors[i] == kNone) {
      out << "none";
    } else {
      out << "%" << tensors[i];
    }
  }
}

}  // namespace

std::string to_text(const Program& program) {
  std::ostringstream out;
  out << std::setprecision(9);
  out << "program " << std::quoted(program.name) << " target=" << program.target
      << " framework=" << program.framework << " weights=" << program.weights.size() << "\n";
  for (size_t v = 0; v < program.variants.size(); ++v) {
    const Variant& variant = program.variants[v];
    out << "variant " << v << " arena=" << variant.arena_bytes;
    print(out, " inputs", variant.inputs);
    print(out, " outputs", variant.outputs);
    out << "\n";
    for (size_t i = 1; i < variant.tensors.size(); ++i) print(out, program, i, variant.tensors[i]);
    for (const Step& step : variant.steps) {
      out << "  " << step.type << " " << std::quoted(step.name) << " on "
          << to_string(step.processor);
      print(out, " from", step.inputs);
      print(out, " to", step.outputs);
      out << ": ";
      std::visit([&](const auto& params) { print(out, params); }, step.params);
      out << "\n";
    }
  }
  return out.str();
}

}  // namespace rk::program
