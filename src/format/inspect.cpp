// SPDX-License-Identifier: Apache-2.0
// Names of enumerations are shared by the two forms; a number without a name is shown as the
// number.
#include "format/inspect.h"

#include <algorithm>
#include <iomanip>

#include "format/bson.h"
#include "format/container.h"
#include "format/model_info.h"
#include "format/reader.h"
#include "format/vendor_model.h"

namespace rk::format {
namespace {

using program::Layout;
using program::Processor;
using program::TensorKind;

std::string layout_name(Layout layout) {
  switch (layout) {
    case Layout::kPlain:
      return "plain";
    case Layout::kNchw:
      return "NCHW";
    case Layout::kNc1hwc2:
      return "NC1HWC2";
    case Layout::kWeight:
      return "weight";
  }
  return str("layout ", static_cast<int>(layout));
}

std::string kind_name(TensorKind kind) {
  if (kind == kRegisterCommandsKind) return "register commands";
  if (kind == kTasksKind) return "tasks";
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
      return "constant";
    case TensorKind::kCpuConstant:
      return "CPU constant";
    case TensorKind::kHelperConstant:
      return "helper constant";
  }
  return str("kind ", static_cast<int>(kind));
}

std::string processor_name(Processor processor) {
  switch (processor) {
    case Processor::kCpu:
      return "CPU";
    case Processor::kGpu:
      return "GPU";
    case Processor::kNpu:
      return "NPU";
  }
  return str("processor ", static_cast<int>(processor));
}

std::string dtype_name(DType dtype) {
  const std::string_view name = numpy_name(dtype);
  return name.empty() ? str("dtype ", static_cast<int>(dtype)) : std::string(name);
}

Json floats(const std::vector<float>& values) {
  Json out = Json::array();
  for (const float value : values) out.push(static_cast<double>(value));
  return out;
}

Json tensor_json(const FileTensor& tensor, size_t index) {
  Json out = Json::object({
      {"index", index},
      {"name", tensor.name},
      {"kind", kind_name(tensor.kind)},
      {"dtype", dtype_name(tensor.dtype)},
      {"shape", Json::array_of(tensor.shape)},
      {"layout", layout_name(tensor.layout)},
      {"native_shape", Json::array_of(tensor.native_shape)},
      {"size_bytes", tensor.size_bytes},
  });
  if (!tensor.scale.empty()) {
    out.set("quantization", Json::object({{"method", tensor.quant_method},
                                          {"type", tensor.quant_type},
                                          {"scale", floats(tensor.scale)},
                                          {"zero_point", Json::array_of(tensor.zero_point)},
                                          {"min", floats(tensor.range_min)},
                                          {"max", floats(tensor.range_max)}}));
  }
  if (tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput ||
      tensor.kind == TensorKind::kInternal) {
    out.set("offset_in_internal", tensor.offset_in_internal);
  }
  if (tensor.buffer != 0) out.set("buffer", tensor.buffer);
  if (tensor.plane_align != 0) out.set("plane_align", tensor.plane_align);
  if (tensor.width_align != 0) out.set("width_align", tensor.width_align);
  return out;
}

void set_attribute(Json& out, const Attribute& attribute) {
  std::visit(
      [&](const auto& value) {
        if constexpr (requires { value.begin(); } &&
                      !std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          out.set(attribute.name, Json::array_of(value));
        } else {
          out.set(attribute.name, value);
        }
      },
      attribute.value);
}

Json params_json(const FileParams& params) {
  if (const auto* p = std::get_if<FileConvParams>(&params)) {
    return Json::object({{"auto_pad", p->auto_pad},
                         {"dilations", Json::array_of(p->dilations)},
                         {"group", p->group},
                         {"kernel_shape", Json::array_of(p->kernel_shape)},
                         {"pads", Json::array_of(p->pads)},
                         {"strides", Json::array_of(p->strides)}});
  }
  if (const auto* p = std::get_if<FileConcatParams>(&params))
    return Json::object({{"axis", p->axis}});
  if (const auto* p = std::get_if<FileArgMaxParams>(&params))
    return Json::object({{"axis", p->axis}});
  if (const auto* p = std::get_if<FileResizeParams>(&params)) {
    return Json::object({{"coordinate_mode", p->coordinate_mode},
                         {"mode", p->mode},
                         {"nearest_mode", p->nearest_mode}});
  }
  if (const auto* p = std::get_if<FileOperatorParams>(&params)) {
    Json out = Json::object();
    for (const Attribute& attribute : p->attributes) set_attribute(out, attribute);
    return out;
  }
  if (const auto* p = std::get_if<FileUnknownParams>(&params))
    return Json::object({{"unknown_tag", p->tag}});
  return Json::object();
}

Json attributes_json(const FileNode& node) {
  Json out = Json::object();
  if (node.type == "OutputOperator") return out;
  const Result<std::vector<Attribute>> attributes = read_attributes(node.attributes);
  if (!attributes.ok()) return out.set("error", attributes.status().message());
  for (const Attribute& attribute : *attributes) set_attribute(out, attribute);
  return out;
}

Json names_of(const FileGraph& graph, const std::vector<int32_t>& indices) {
  Json out = Json::array();
  for (const int32_t index : indices) out.push(tensor_name(graph, index));
  return out;
}

Json node_json(const FileGraph& graph, size_t index) {
  const FileNode& node = graph.nodes[index];
  return Json::object({
      {"index", index},
      {"type", node.type},
      {"name", node.name},
      {"processor", processor_name(node.processor)},
      {"inputs", names_of(graph, node.inputs)},
      {"outputs", names_of(graph, node.outputs)},
      {"params", params_json(node.params)},
      {"attributes", attributes_json(node)},
      {"task_counts", Json::array_of(node.task_counts)},
  });
}

Json normalize_json(const Normalize& normalize) {
  return Json::object({{"mean", floats(normalize.mean)},
                       {"std", floats(normalize.std)},
                       {"channel_order", Json::array_of(normalize.channel_order)}});
}

Json graph_json(const FileGraph& graph) {
  Json inputs = Json::array(), outputs = Json::array(), nodes = Json::array(),
       tensors = Json::array();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto index = static_cast<size_t>(graph.inputs[i]);
    Json input = tensor_json(graph.tensors[index], index);
    if (i < graph.normalize.size()) input.set("normalize", normalize_json(graph.normalize[i]));
    inputs.push(std::move(input));
  }
  for (const int32_t output : graph.outputs) {
    const auto index = static_cast<size_t>(output);
    outputs.push(tensor_json(graph.tensors[index], index));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) nodes.push(node_json(graph, i));
  for (size_t i = 0; i < graph.tensors.size(); ++i) tensors.push(tensor_json(graph.tensors[i], i));
  size_t relocations = 0;
  for (const TensorReloc& reloc : graph.relocs) relocations += reloc.entries.size();
  return Json::object({
      {"inputs", std::move(inputs)},
      {"outputs", std::move(outputs)},
      {"nodes", std::move(nodes)},
      {"tensors", std::move(tensors)},
      {"relocations", relocations},
      {"schedule_starts", Json::array_of(graph.schedule_starts)},
  });
}

Json program_json(const Container& container, ByteSpan file) {
  if (!container.section) return nullptr;
  const Result<program::Program> program = read_rknn(file, nullptr);
  if (!program.ok()) return Json::object({{"error", program.status().message()}});
  Json variants = Json::array();
  for (const program::Variant& variant : program->variants) {
    Json shapes = Json::array();
    for (const int32_t input : variant.inputs) {
      shapes.push(Json::array_of(variant.tensors[static_cast<size_t>(input)].shape.dims()));
    }
    uint64_t macs = 0;
    size_t on_npu = 0;
    for (const program::Step& step : variant.steps) {
      macs += step.macs;
      on_npu += step.processor == Processor::kNpu;
    }
    variants.push(Json::object({{"input_shapes", std::move(shapes)},
                                {"steps", variant.steps.size()},
                                {"npu_steps", on_npu},
                                {"macs", macs},
                                {"arena_bytes", variant.arena_bytes}}));
  }
  return Json::object({{"section_version", container.section->version},
                       {"toolkit_version", program->toolkit_version},
                       {"compiler_version", program->compiler_version},
                       {"graph_name", program->name},
                       {"single_core", program->single_core},
                       {"variants", std::move(variants)}});
}

Json to_json(const Container& container, const FileModel& model, ByteSpan file) {
  uint64_t buffer_bytes = 0;
  for (const FileBuffer& buffer : model.buffers) buffer_bytes += buffer.data.size();
  Json graphs = Json::array();
  for (const FileGraph& graph : model.graphs) graphs.push(graph_json(graph));
  return Json::object({
      {"file",
       Json::object({{"size_bytes", file.size()},
                     {"container_version", container.version},
                     {"flatbuffer_bytes", container.flatbuffer.size()},
                     {"trailer_bytes", container.json.size()},
                     {"section_bytes", container.section ? container.section->payload.size() : 0},
                     {"buffers", model.buffers.size()},
                     {"buffer_bytes", buffer_bytes}})},
      {"model", Json::object({{"format_version", model.version},
                              {"npu_generation", model.npu_generation},
                              {"target_platform", model.platform},
                              {"framework", model.source},
                              {"compiler_version", model.compiler_version},
                              {"compiler", model.compiler},
                              {"custom_string", model.custom_string},
                              {"shape_mode", model.shape_mode},
                              {"custom_operators", model.custom_ops},
                              {"input_types", model.input_json},
                              {"output_types", model.output_json},
                              {"info", model.info}})},
      {"memory", Json::object({{"weight_bytes", model.memory.weight_bytes},
                               {"internal_bytes", model.memory.internal_bytes},
                               {"helper_bytes", model.memory.helper_bytes}})},
      {"graphs", std::move(graphs)},
      {"program", program_json(container, file)},
  });
}

// A damaged file can name one long tensor in many places; a report of that size helps nobody.
Status check_showable(const FileModel& model) {
  constexpr uint64_t kMaxNameBytes = uint64_t{64} << 20;
  uint64_t name_bytes = 0;
  for (const FileGraph& graph : model.graphs) {
    for (const FileNode& node : graph.nodes) {
      for (const auto* indices : {&node.inputs, &node.outputs}) {
        for (const int32_t index : *indices) {
          name_bytes += tensor_name(graph, index).size();
        }
      }
    }
  }
  if (name_bytes <= kMaxNameBytes) return ok_status();
  return invalid_model(
      str("the graph's nodes list ", name_bytes, " bytes of tensor names; the file is damaged"));
}

// Rows of equal length, columns as wide as their widest cell within reason; the last one is not
// padded.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(std::ostream& out) const {
    std::vector<size_t> widths(rows_[0].size());
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], std::min(row[i].size(), kMaxWidth));
    }
    for (const auto& row : rows_) {
      out << "  ";
      for (size_t i = 0; i + 1 < row.size(); ++i) {
        out << std::left << std::setw(static_cast<int>(widths[i])) << row[i] << "  ";
      }
      out << row.back() << "\n";
    }
  }

 private:
  static constexpr size_t kMaxWidth = 64;
  std::vector<std::vector<std::string>> rows_;
};

template <typename Range>
std::string joined(const Range& values, const char* separator) {
  std::ostringstream out;
  bool first = true;
  for (const auto& value : values) {
    out << (first ? "" : separator) << value;
    first = false;
  }
  return out.str();
}

std::string shape_text(const std::vector<int32_t>& shape) { return "[" + joined(shape, ",") + "]"; }

std::string quant_text(const FileTensor& tensor) {
  if (tensor.scale.empty()) return "-";
  return str("scale ", joined(tensor.scale, ","), " zero_point ", joined(tensor.zero_point, ","));
}

void print_io(std::ostream& out, const char* title, const FileGraph& graph,
              const std::vector<int32_t>& indices) {
  out << title << "\n";
  Table table({"#", "name", "dtype", "shape", "native", "quantization"});
  for (size_t i = 0; i < indices.size(); ++i) {
    const FileTensor& tensor = graph.tensors[static_cast<size_t>(indices[i])];
    table.add({std::to_string(i), tensor.name, dtype_name(tensor.dtype), shape_text(tensor.shape),
               layout_name(tensor.layout) + shape_text(tensor.native_shape), quant_text(tensor)});
  }
  table.print(out);
}

void print_nodes(std::ostream& out, const FileGraph& graph) {
  out << "nodes\n";
  Table table({"#", "type", "on", "name", "inputs -> outputs"});
  const auto names = [&](const std::vector<int32_t>& indices) {
    std::vector<std::string> out_names;
    for (const int32_t index : indices)  // an operand may be absent
      out_names.push_back(index < 0 ? "-" : tensor_name(graph, index));
    return joined(out_names, ", ");
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const FileNode& node = graph.nodes[i];
    table.add({std::to_string(i), node.type, processor_name(node.processor), node.name,
               names(node.inputs) + " -> " + names(node.outputs)});
  }
  table.print(out);
}

void print_tensors(std::ostream& out, const FileGraph& graph) {
  out << "tensors\n";
  Table table({"#", "name", "kind", "dtype", "shape", "native", "bytes", "offset", "buffer",
               "quantization"});
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const FileTensor& t = graph.tensors[i];
    table.add({std::to_string(i), t.name, kind_name(t.kind), dtype_name(t.dtype),
               shape_text(t.shape), layout_name(t.layout) + shape_text(t.native_shape),
               std::to_string(t.size_bytes), std::to_string(t.offset_in_internal),
               std::to_string(t.buffer), quant_text(t)});
  }
  table.print(out);
}

void print_program(std::ostream& out, ByteSpan file, bool whole) {
  const Result<program::Program> program = read_rknn(file, nullptr);
  if (!program.ok()) {
    out << "program       not usable: " << program.status().message() << "\n";
    return;
  }
  uint64_t macs = 0;
  for (const program::Step& step : program->main_variant().steps) macs += step.macs;
  out << "program       " << program->variants.size() << " variant(s), "
      << program->main_variant().steps.size() << " steps, " << macs << " multiply-adds\n";
  if (whole) out << program::to_text(*program);
}

}  // namespace

Result<Json> inspect_json(ByteSpan file) {
  RK_ASSIGN(const Container container, split_container(file));
  RK_ASSIGN(const FileModel model, read_model(container));
  RK_TRY(check_showable(model));
  return to_json(container, model, file);
}

Result<std::string> inspect_text(ByteSpan file, const InspectOptions& options) {
  RK_ASSIGN(const Container container, split_container(file));
  RK_ASSIGN(const FileModel model, read_model(container));
  RK_TRY(check_showable(model));
  std::ostringstream out;
  out << "file          " << file.size() << " bytes, container version " << container.version
      << ", graph region " << container.flatbuffer.size() << " bytes, " << model.buffers.size()
      << " buffers\n"
      << "target        " << model.platform << " (" << model.npu_generation << ")\n"
      << "made by       " << model.compiler << "\n"
      << "framework     " << model.source << "\n"
      << "shapes        " << model.shape_mode << "\n";
  if (!model.custom_string.empty()) out << "custom string " << model.custom_string << "\n";
  if (!model.custom_ops.empty()) out << "custom ops    " << model.custom_ops << "\n";
  out << "memory        weights " << model.memory.weight_bytes << " bytes, internal "
      << model.memory.internal_bytes << " bytes, helpers " << model.memory.helper_bytes
      << " bytes\n";
  if (container.section) print_program(out, file, options.program);
  for (const FileGraph& graph : model.graphs) {
    print_io(out, "inputs", graph, graph.inputs);
    print_io(out, "outputs", graph, graph.outputs);
    print_nodes(out, graph);
    if (options.tensors) print_tensors(out, graph);
  }
  return out.str();
}

}  // namespace rk::format
