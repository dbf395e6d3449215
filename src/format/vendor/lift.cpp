// SPDX-License-Identifier: Apache-2.0
// Tensors, inputs and the loop over nodes. What a kind of node means is in its own file.
#include "format/vendor/lift.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/checked_math.h"
#include "base/model_budget.h"
#include "format/vendor/lift_context.h"
#include "format/vendor/lookup.h"
#include "program/core_split.h"
#include "program/weight_code.h"

namespace rk::format {
namespace {

using program::kNone;
using program::ProgramTensor;
using program::TensorKind;

constexpr size_t kMaxReasons = 64;  // groups in one message

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
  // The table holds four values; wider inputs cannot be normalized by it.
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

Status make_tensors(const FileModel& model, const FileGraph& graph, program::Program& program,
                    program::Variant& variant) {
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
  if (!program.inputs.empty()) return ok_status();  // a further shape of the same inputs
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

bool is_recurrent(const std::string& type) {
  return type == "LSTM" || type == "exLSTM" || type == "GRU" || type == "exGRU";
}

LiftFunction find_lift(const FileModel& model, const std::string& type) {
  if (is_custom(model, type)) return lift_custom;
  if (type == "Concat") return lift_concat;
  if (type == "Split") return lift_split;
  if (type == "Resize") return lift_resize;
  if (type == "Add" || type == "AddRelu") return lift_sum;
  if (type.ends_with("Pool")) return lift_pool;
  if (type.starts_with("Conv")) return lift_conv;
  if (type == "exNorm") return lift_norm;
  if (type == "exMatMul") return lift_matmul;
  if (type == "exSDPAttention") return lift_attention;
  if (type == "exSoftmax13") return lift_softmax;
  if (is_recurrent(type)) return lift_recurrent;
  if (is_lookup_activation(type)) return lift_activation;
  return lift_operator;
}

// The parameter table says what the node does; the document keeps attributes of the source model, which are stale after
// a rewrite, and counts only where the table is silent.
Result<std::vector<Attribute>> node_attributes(const FileModel& model, const FileNode& node) {
  std::vector<Attribute> out;
  if (const auto* const p = std::get_if<FileOperatorParams>(&node.params)) out = p->attributes;
  if (is_recurrent(node.type)) return out;  // their record is not a document
  RK_ASSIGN(const std::vector<Attribute> others,
            model.small ? read_json_attributes(node.attributes) : read_attributes(node.attributes));
  for (const Attribute& other : others) {
    const auto same = [&](const Attribute& a) { return a.name == other.name; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(other);
  }
  return out;
}

Status lift_node(LiftContext& context) {
  const FileNode& node = context.node();
  context.tasks.seek(context.node_index);
  RK_ASSIGN(context.attributes, node_attributes(context.model, node));
  if (node.outputs.empty()) return invalid_model("no outputs");
  if (!is_recurrent(node.type) && context.output() == kNone) return invalid_model("no output 0");
  return find_lift(context.model, node.type)(context);
}

void mark_written(LiftContext& context, const std::vector<int32_t>& tensors) {
  for (const int32_t i : tensors) {
    if (i > 0) context.written[static_cast<size_t>(i)] = true;
  }
}

// What nodes write fits into what the file reserves for it: blocks only add to the numbers. So a
// damaged shape is found before the host allocates by it. (Scratch tensors may have any shape.)
Status check_room(LiftContext& context, const std::vector<int32_t>& tensors) {
  for (const int32_t i : tensors) {
    if (i <= 0 || !is_arena_kind(context.tensor(i).kind)) continue;
    const ProgramTensor& t = context.tensor(i);
    const auto needed = checked_byte_size({t.dtype, t.shape});
    if (needed.ok() && *needed <= t.size_bytes) continue;
    return invalid_model(str("tensor '", t.name, "' of shape ", to_string(t.shape), " and ",
                             to_string(t.dtype), " does not fit into the ", t.size_bytes,
                             " bytes that the file reserves for it"));
  }
  return ok_status();
}

// Stands for a node that cannot be decoded, so that the rest can be described.
void add_placeholder(LiftContext& context) {
  std::vector<int32_t> inputs;
  for (const int32_t i : context.node().inputs) {
    if (i > 0 && context.written[static_cast<size_t>(i)]) inputs.push_back(i);
  }
  std::vector<int32_t> outputs;
  for (const int32_t i : context.node().outputs) {
    if (i > 0) outputs.push_back(i);
  }
  context.add_step(std::move(inputs), std::move(outputs),
                   program::OpParams{context.node().type, {}});
}

// Nodes that cannot be decoded, by operator and reason: how many, and the first one's name.
struct Refusals {
  struct Group {
    std::string type, reason, first;
    size_t count = 0;
  };
  std::vector<Group> groups;
  size_t total = 0;

  void add(const FileNode& node, const std::string& reason) {
    ++total;
    for (Group& group : groups) {
      if (group.type == node.type && group.reason == reason) {
        ++group.count;
        return;
      }
    }
    groups.push_back({node.type, reason, node.name, 1});
  }

  Status status(const FileModel& model) const {
    std::ostringstream text;
    text << total << " of the nodes of this vendor file for " << model.platform
         << " cannot be decoded:";
    for (size_t i = 0; i < std::min(groups.size(), kMaxReasons); ++i) {
      const Group& group = groups[i];
      text << "\n  " << group.type << ", " << group.count << (group.count == 1 ? " node" : " nodes")
           << ", first '" << group.first << "': " << group.reason;
    }
    if (groups.size() > kMaxReasons)
      text << "\n  and " << groups.size() - kMaxReasons << " more reasons";
    return unsupported(text.str());
  }
};

Status lift_nodes(LiftContext& context, const LiftOptions& options) {
  Refusals refusals;
  RK_TRY(check_room(context, context.graph.inputs));
  mark_written(context, context.graph.inputs);
  for (size_t i = 0; i < context.graph.nodes.size(); ++i) {
    const FileNode& node = context.graph.nodes[i];
    if (node.type == "InputOperator" || node.type == "OutputOperator") continue;
    context.node_index = i;
    RK_TRY(check_room(context, node.outputs));
    const size_t step_count = context.variant().steps.size();
    const Status status = lift_node(context);
    if (!status.ok()) {
      context.variant().steps.resize(step_count);
      refusals.add(node, status.message());
      if (options.describe_only) add_placeholder(context);
    }
    mark_written(context, node.outputs);
  }
  if (refusals.total != 0 && !options.describe_only) return refusals.status(context.model);
  return ok_status();
}

}  // namespace

int32_t LiftContext::output(size_t i) {
  const std::vector<int32_t>& outputs = node().outputs;
  if (i < outputs.size() && outputs[i] > 0) return outputs[i];
  return kNone;
}

ByteSpan LiftContext::bytes(int32_t i) {
  const int32_t weight = tensor(i).weight;
  return weight == kNone ? ByteSpan() : program.weights[static_cast<size_t>(weight)].bytes;
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

void LiftContext::add_operator(std::string_view op, std::vector<int32_t> inputs, int32_t output,
                               AttrMap attrs) {
  add_step(std::move(inputs), {output}, program::OpParams{std::string(op), std::move(attrs)});
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

std::optional<double> LiftContext::real(std::string_view name) const {
  const Attribute* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (const auto* const value = std::get_if<double>(&found->value)) return *value;
  if (const auto* const value = std::get_if<int64_t>(&found->value))
    return static_cast<double>(*value);
  return std::nullopt;
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

namespace {

// Constants of further shapes that only the first graph stores.
Result<FileGraph> with_shared_weights(const FileModel& model, size_t index) {
  FileGraph graph = model.graphs[index];
  std::map<std::string_view, uint32_t> first;
  for (const FileTensor& tensor : model.graphs[0].tensors) {
    if (tensor.buffer != 0) first.emplace(tensor.name, tensor.buffer);
  }
  const auto& shared = model.shared_weights;
  for (FileTensor& tensor : graph.tensors) {
    const bool empty = tensor.buffer == 0 || model.buffers[tensor.buffer].data.empty();
    if (!empty || std::find(shared.begin(), shared.end(), tensor.name) == shared.end()) continue;
    const auto found = first.find(tensor.name);
    if (found == first.end()) {
      return invalid_model(
          str("shared constant '", tensor.name, "' is not in the file's first graph"));
    }
    tensor.buffer = found->second;
  }
  return graph;
}

bool is_coded(const FileTensor& tensor) {
  return tensor.kind == TensorKind::kNpuConstant && tensor.dtype == DType::kUndefined &&
         tensor.layout == program::Layout::kPlain && !tensor.native_shape.empty() &&
         tensor.buffer != 0;
}

// Weights of fewer input channels than there are: every second one of RK3576's sparse layers is left out.
bool is_sparse(const FileGraph& graph, const FileNode& node) {
  const auto* const params = std::get_if<FileConvParams>(&node.params);
  const FileTensor& data = graph.tensors[static_cast<size_t>(std::max(node.inputs[0], 0))];
  const FileTensor& weight = graph.tensors[static_cast<size_t>(node.inputs[1])];
  return node.type.starts_with("Conv") && !node.type.starts_with("ConvTranspose") &&
         (params == nullptr || params->group == 1) && data.shape.size() == 4 &&
         weight.shape.size() == 4 && weight.shape[1] < data.shape[1] && weight.shape[0] != 1;
}

Status refuse_sparse() {
  return unsupported(
      "sparse weights are not decoded: convert the model without sparse_infer, the results are the "
      "same");
}

// Weights that the file keeps in coded form (compress_weight) become blocks like any others. Several tensors may name
// one buffer: it is decoded once.
class CodedWeights {
 public:
  CodedWeights(const FileModel& model, const target::Target& chip, program::Program& program)
      : model_(model), chip_(chip), program_(program) {}

  // By tensor, whether its weights were coded. What cannot be decoded stays as it is where files are only described.
  Result<std::vector<bool>> expand(FileGraph& graph, bool describe_only) {
    std::vector<bool> was_coded(graph.tensors.size());
    for (const FileNode& node : graph.nodes) {
      const bool conv =
          node.type.starts_with("Conv") && node.inputs.size() > 1 && node.inputs[1] > 0;
      if (!conv || chip_.weight_code == target::WeightCode::kNone) continue;
      const auto index = static_cast<size_t>(node.inputs[1]);
      FileTensor& weight = graph.tensors[index];
      if (!is_coded(weight)) continue;
      const Status status = is_sparse(graph, node) ? refuse_sparse() : expand(weight);
      if (!status.ok() && !describe_only)
        return status.with_context(str("constant '", weight.name, "'"));
      was_coded[index] = status.ok();
    }
    return was_coded;
  }

 private:
  Status expand(FileTensor& weight) {
    RK_ASSIGN(const uint64_t size, program::native_weight_bytes(weight.native_shape));
    auto [found, is_new] = decoded_.try_emplace({weight.buffer, size}, 0);
    if (is_new) {
      total_bytes_ += size;
      if (total_bytes_ > budget::kDescribedBytes) {
        return out_of_memory(str("compressed weights of more than ", budget::kDescribedBytes >> 20,
                                 " MiB in all (docs/limits.md)"));
      }
      RK_ASSIGN(
          std::vector<uint8_t> bytes,
          program::decode_weights(chip_.weight_code, model_.buffers[weight.buffer].data, size));
      found->second = static_cast<uint32_t>(program_.weights.size());
      program_.weights.push_back(program::make_blob(std::move(bytes)));
    }
    weight.buffer = found->second;
    weight.size_bytes = static_cast<uint32_t>(size);
    weight.dtype = DType::kI8;
    weight.layout = program::Layout::kWeight;
    return ok_status();
  }

  const FileModel& model_;
  const target::Target& chip_;
  program::Program& program_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t>
      decoded_;  // buffer and size: index into weights
  uint64_t total_bytes_ = 0;
};

Status lift_graph(const FileModel& model, FileGraph graph, const target::Target& chip,
                  CodedWeights& coded, const LiftOptions& options, program::Program& program) {
  if (graph.tensors.empty()) return invalid_model("the graph has no tensors");
  RK_ASSIGN(const std::vector<bool> was_coded, coded.expand(graph, options.describe_only));
  program.variants.emplace_back();
  RK_TRY(make_tensors(model, graph, program, program.variants.back()));
  RK_ASSIGN(const TaskLists lists, TaskLists::read(model, graph));
  LiftContext context{model,
                      graph,
                      chip,
                      target::conv_registers(chip.name),
                      lists,
                      program,
                      program.variants.size() - 1,
                      NodeTasks(lists),
                      was_coded};
  context.written.resize(graph.tensors.size());
  RK_TRY(lift_nodes(context, options));
  program::split_over_cores(chip, program.variants.back());
  return ok_status();
}

// Pictures of one run (rknn_batch_size): the graph is that of one.
Result<int32_t> batch_of(const FileModel& model) {
  constexpr int32_t kMost = 1024;
  int32_t batch = 0;
  for (const char digit : model.flag14) {
    if (digit < '0' || digit > '9' || batch > kMost)
      return invalid_model(str("batch '", model.flag14, "' is not a number up to ", kMost));
    batch = batch * 10 + (digit - '0');
  }
  return std::max(batch, 1);
}

}  // namespace

Result<program::Program> lift_model(const FileModel& model,
                                    const std::shared_ptr<const void>& owner,
                                    const LiftOptions& options) {
  if (model.graphs.empty()) return invalid_model("the file holds no graph");
  const bool dynamic = model.shape_mode == "dynamic_shape";
  if (!model.shape_mode.empty() && model.shape_mode != "static_shape" && !dynamic) {
    return unsupported(str("shape mode '", model.shape_mode, "' is not known"));
  }
  if (model.graphs.size() != 1 && !dynamic) {
    return unsupported(str("the file holds ", model.graphs.size(), " graphs of one shape"));
  }
  RK_ASSIGN(const target::Target* const chip, target::find_target(model.platform));
  program::Program program;
  program.target = std::string(chip->name);
  program.framework = model.source;
  program.custom_string = model.custom_string;
  RK_ASSIGN(program.batch, batch_of(model));
  split_versions(model.compiler, program);
  program.weights.reserve(model.buffers.size());
  for (const FileBuffer& buffer : model.buffers) program.weights.push_back({owner, buffer.data});
  CodedWeights coded(model, *chip, program);
  RK_TRY(lift_graph(model, model.graphs.front(), *chip, coded, options, program));
  for (size_t i = 1; i < model.graphs.size(); ++i) {
    RK_ASSIGN(FileGraph graph, with_shared_weights(model, i));
    RK_TRY(lift_graph(model, std::move(graph), *chip, coded, options, program));
  }
  const Status legal = program::verify(program);
  if (!legal.ok()) return legal.with_context("this vendor file");
  return program;
}

}  // namespace rk::format
