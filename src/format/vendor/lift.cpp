// SPDX-License-Identifier: Apache-2.0
// Tensors, inputs and the loop over nodes. What a kind of node means is in its own file.
#include "format/vendor/lift.h"

#include <algorithm>

#include "base/checked_math.h"
#include "format/vendor/lift_context.h"
#include "program/core_split.h"

namespace rk::format {
namespace {

using program::kNone;
using program::ProgramTensor;
using program::TensorKind;

constexpr size_t kMaxReasons = 64;  // nodes named in one message

bool is_arena_kind(TensorKind kind) {
  return kind == TensorKind::kInput || kind == TensorKind::kOutput || kind == TensorKind::kInternal;
}

bool is_constant_kind(TensorKind kind) {
  return kind == TensorKind::kNpuConstant || kind == TensorKind::kCpuConstant ||
         kind == TensorKind::kHelperConstant;
}

// Register lists, tasks and tensors of kinds nobody has seen stay as empty places, so that indices agree with the file.
ProgramTensor empty_place(const FileTensor& from) {
  ProgramTensor out;
  out.name = from.name;
  out.kind = TensorKind::kDummy;
  out.dtype = DType::kU8;
  out.shape = Shape{0};
  return out;
}

Result<ProgramTensor> make_tensor(const FileTensor& from) {
  if ((!is_arena_kind(from.kind) && !is_constant_kind(from.kind)) || byte_size(from.dtype) == 0) {
    return empty_place(from);
  }
  ProgramTensor out;
  out.name = from.name;
  out.dtype = from.dtype;
  out.kind = from.kind;
  out.layout = from.layout;
  const std::vector<int64_t> dims(from.shape.begin(), from.shape.end());
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(str("tensor '", from.name, "'"));
  out.shape = *shape;
  out.native_shape = from.native_shape;
  if (!from.scale.empty()) {
    if (from.scale.size() != 1 || from.zero_point.size() != 1) {
      return invalid_model(str("tensor '", from.name, "' has ", from.scale.size(), " scales and ",
                               from.zero_point.size(), " zero points, expected one of each"));
    }
    out.scale = from.scale[0];
    out.zero_point = from.zero_point[0];
    if (!from.range_min.empty()) out.min = from.range_min[0];
    if (!from.range_max.empty()) out.max = from.range_max[0];
  }
  out.size_bytes = from.size_bytes;
  out.plane_align = from.plane_align;
  out.width_align = from.width_align;
  if (is_arena_kind(from.kind)) {
    out.offset_in_arena = from.offset_in_internal;
  } else if (from.buffer != 0) {
    out.weight = static_cast<int32_t>(from.buffer);
  }
  return out;
}

std::vector<float> first_channels(const std::vector<float>& values, const Shape& shape,
                                  float neutral) {
  const size_t channels = shape.rank() == 4 ? static_cast<size_t>(shape[1]) : values.size();
  const bool is_neutral =
      std::all_of(values.begin(), values.end(), [&](float v) { return v == neutral; });
  // The table holds four values; wider inputs cannot be normalised by it.
  if (is_neutral || channels > values.size()) return {};
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(channels)};
}

program::InputInfo make_input_info(const FileGraph& graph, size_t i, const Shape& shape) {
  program::InputInfo info;
  if (i >= graph.normalize.size()) return info;
  const Normalize& normalize = graph.normalize[i];
  info.mean = first_channels(normalize.mean, shape, 0);
  info.std = first_channels(normalize.std, shape, 1);
  const std::vector<int32_t>& order = normalize.channel_order;
  info.rgb2bgr = order.size() >= 3 && order[0] == 2 && order[2] == 0;
  return info;
}

// "1.6.2-source_code(compiler version: 1.6.2b0 (...))"
void split_versions(const std::string& text, program::Program& program) {
  const size_t open = text.find('(');
  program.toolkit_version = text.substr(0, open);
  constexpr std::string_view kLabel = "compiler version: ";
  const size_t label = text.find(kLabel);
  if (label == std::string::npos) return;
  program.compiler_version = text.substr(label + kLabel.size());
  if (!program.compiler_version.empty() && program.compiler_version.back() == ')') {
    program.compiler_version.pop_back();
  }
}

Status make_tensors(const FileModel& model, const FileGraph& graph, program::Program& program) {
  program::Variant& variant = program.variants.front();
  variant.arena_bytes = model.memory.internal_bytes;
  variant.tensors.reserve(graph.tensors.size());
  for (const FileTensor& from : graph.tensors) {
    RK_ASSIGN(ProgramTensor tensor, make_tensor(from));
    if (is_arena_kind(tensor.kind)) {
      variant.arena_bytes =
          std::max(variant.arena_bytes, tensor.offset_in_arena + tensor.size_bytes);
    }
    variant.tensors.push_back(std::move(tensor));
  }
  variant.inputs = graph.inputs;
  variant.outputs = graph.outputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Shape& shape = variant.tensors[static_cast<size_t>(graph.inputs[i])].shape;
    program.inputs.push_back(make_input_info(graph, i, shape));
  }
  return ok_status();
}

bool is_custom(const FileModel& model, const std::string& type) {
  // How several names are separated is not known; a name is taken as a whole word.
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const std::string& names = model.custom_ops;
  for (size_t at = names.find(type); !type.empty() && at != std::string::npos;
       at = names.find(type, at + 1)) {
    const bool starts = at == 0 || !is_word(names[at - 1]);
    const size_t end = at + type.size();
    if (starts && (end == names.size() || !is_word(names[end]))) return true;
  }
  return false;
}

using LiftFunction = Status (*)(LiftContext&);

LiftFunction find_lift(const FileModel& model, const std::string& type) {
  if (is_custom(model, type)) return lift_custom;
  if (type == "Concat") return lift_concat;
  if (type == "Resize") return lift_resize;
  if (type == "Add" || type == "AddRelu") return lift_sum;
  if (type.ends_with("Pool")) return lift_pool;
  if (type.starts_with("Conv")) return lift_conv;
  return lift_operator;
}

Status lift_node(LiftContext& context) {
  const FileNode& node = context.node();
  context.tasks.seek(context.node_index);
  RK_ASSIGN(context.attributes, read_attributes(node.attributes));
  if (node.outputs.empty()) return invalid_model("no outputs");
  return find_lift(context.model, node.type)(context);
}

// Stands for a node that cannot be decoded, so that the rest can be described.
void add_placeholder(LiftContext& context) {
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < context.node().inputs.size(); ++i) {
    const int32_t input = context.input(i);
    if (input != kNone && !context.tensor(input).is_constant()) inputs.push_back(input);
  }
  context.add_step(std::move(inputs), context.node().outputs,
                   program::OpParams{context.node().type, {}});
}

Status refuse(const FileModel& model, const std::vector<std::string>& reasons, size_t total) {
  std::ostringstream text;
  text << total << " of the nodes of this vendor file for " << model.platform
       << " cannot be decoded:";
  for (const std::string& reason : reasons) text << "\n  " << reason;
  if (total > reasons.size()) text << "\n  and " << total - reasons.size() << " more";
  return unsupported(text.str());
}

Status lift_nodes(LiftContext& context, const LiftOptions& options) {
  std::vector<std::string> reasons;
  size_t failed = 0;
  for (size_t i = 0; i < context.graph.nodes.size(); ++i) {
    const FileNode& node = context.graph.nodes[i];
    if (node.type == "InputOperator" || node.type == "OutputOperator") continue;
    context.node_index = i;
    const size_t step_count = context.variant().steps.size();
    const Status status = lift_node(context);
    if (status.ok()) continue;
    context.variant().steps.resize(step_count);
    ++failed;
    if (reasons.size() < kMaxReasons) {
      reasons.push_back(str("node '", node.name, "' (", node.type, "): ", status.message()));
    }
    if (options.describe_only) add_placeholder(context);
  }
  if (failed != 0 && !options.describe_only) return refuse(context.model, reasons, failed);
  return ok_status();
}

}  // namespace

int32_t LiftContext::input(size_t i) {
  const std::vector<int32_t>& inputs = node().inputs;
  if (i >= inputs.size() || inputs[i] == 0) return kNone;
  const ProgramTensor& t = tensor(inputs[i]);
  const bool holds_nothing =
      t.kind == TensorKind::kDummy || t.name.starts_with("empty_placeholder");
  return holds_nothing ? kNone : inputs[i];
}

ByteSpan LiftContext::bytes(int32_t i) {
  const int32_t weight = tensor(i).weight;
  return weight == kNone ? ByteSpan() : program.weights[static_cast<size_t>(weight)].bytes;
}

int32_t LiftContext::add_constant(const std::string& name, DType dtype, const Shape& shape,
                                  std::vector<uint8_t> bytes) {
  ProgramTensor out;
  out.name = name;
  out.dtype = dtype;
  out.kind = TensorKind::kHelperConstant;
  out.shape = shape;
  for (const int64_t extent : shape.dims())
    out.native_shape.push_back(static_cast<int32_t>(extent));
  out.size_bytes = bytes.size();
  out.weight = static_cast<int32_t>(program.weights.size());
  program.weights.push_back(program::make_blob(std::move(bytes)));
  variant().tensors.push_back(std::move(out));
  return static_cast<int32_t>(variant().tensors.size()) - 1;
}

int32_t LiftContext::add_internal(const std::string& name, int32_t like, const Shape& shape) {
  ProgramTensor out;
  out.name = name;
  out.dtype = tensor(like).dtype;
  out.scale = tensor(like).scale;
  out.zero_point = tensor(like).zero_point;
  out.min = tensor(like).min;
  out.max = tensor(like).max;
  out.shape = shape;
  for (const int64_t extent : shape.dims())
    out.native_shape.push_back(static_cast<int32_t>(extent));
  variant().tensors.push_back(std::move(out));
  return static_cast<int32_t>(variant().tensors.size()) - 1;
}

program::Step& LiftContext::add_step(std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                                     program::StepParams params) {
  program::Step step;
  step.type = node().type;
  step.name = node().name.empty() ? str(node().type, ":node_", node_index) : node().name;
  step.processor = node().processor == program::Processor::kNpu ? program::Processor::kNpu
                                                                : program::Processor::kCpu;
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.params = std::move(params);
  variant().steps.push_back(std::move(step));
  return variant().steps.back();
}

const Attribute* LiftContext::find(std::string_view name) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

std::optional<int64_t> LiftContext::integer(std::string_view name) const {
  const Attribute* const found = find(name);
  const auto* const value = found ? std::get_if<int64_t>(&found->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<int64_t>> LiftContext::integers(std::string_view name) const {
  const Attribute* const found = find(name);
  const auto* const value = found ? std::get_if<std::vector<int64_t>>(&found->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::string> LiftContext::text(std::string_view name) const {
  const Attribute* const found = find(name);
  const auto* const value = found ? std::get_if<std::string>(&found->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

Result<program::Program> lift_model(const FileModel& model,
                                    const std::shared_ptr<const void>& owner,
                                    const LiftOptions& options) {
  if (model.graphs.size() != 1) {
    return unsupported(str("the file holds ", model.graphs.size(), " graphs, one is known"));
  }
  const FileGraph& graph = model.graphs.front();
  if (graph.tensors.empty()) return invalid_model("the graph has no tensors");
  if (!model.shape_mode.empty() && model.shape_mode != "static_shape") {
    return unsupported(str("shape mode '", model.shape_mode,
                           "': how vendor files store dynamic shapes is not known"));
  }
  RK_ASSIGN(const target::Target* const chip, target::find_target(model.platform));
  program::Program program;
  program.target = std::string(chip->name);
  program.framework = model.source;
  program.custom_string = model.custom_string;
  split_versions(model.compiler, program);
  program.variants.emplace_back();
  program.weights.reserve(model.buffers.size());
  for (const FileBuffer& buffer : model.buffers) program.weights.push_back({owner, buffer.data});
  RK_TRY(make_tensors(model, graph, program));
  RK_ASSIGN(const TaskLists lists, TaskLists::read(model, graph));
  LiftContext context{model, graph,   *chip,           target::conv_registers(chip->name),
                      lists, program, NodeTasks(lists)};
  RK_TRY(lift_nodes(context, options));
  program::split_over_cores(*chip, program.variants.front());
  const Status legal = program::verify(program);
  if (!legal.ok()) return legal.with_context("this vendor file");
  return program;
}

}  // namespace rk::format
