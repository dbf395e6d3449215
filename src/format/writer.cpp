// SPDX-License-Identifier: Apache-2.0
// Fills the vendor's tables from a Program. Where a slot's meaning is unknown it holds what every
// known file holds.
#include "format/writer.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "format/bson.h"
#include "format/container.h"
#include "format/model_info.h"
#include "format/program_codec.h"
#include "format/removed_weights.h"
#include "format/trailer.h"
#include "ir/custom_op.h"
#include "target/target.h"

namespace rk::format {
namespace {

using namespace program;

constexpr uint64_t kBufferAlignment = 64;
// OutputOperator nodes carry a record of four zeros in place of attributes.
constexpr size_t kOutputRecordBytes = 16;
constexpr uint8_t kSoftmaxParams = 61;  // tag of the table, vendor_tables.h

Result<FileTensor> to_file(const ProgramTensor& tensor) {
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (tensor.size_bytes > kMax || tensor.offset_in_arena > kMax) {
    return unsupported(str("tensor '", tensor.name, "' takes ", tensor.size_bytes,
                           " bytes at offset ", tensor.offset_in_arena,
                           "; a .rknn file can describe 4 GiB of memory. Use smaller inputs"));
  }
  FileTensor out{
      .dtype = tensor.dtype,
      .layout = tensor.layout,
      .kind = tensor.kind,
      .native_shape = tensor.native_shape,
      .shape = {},
      .name = tensor.name,
      .size_bytes = static_cast<uint32_t>(tensor.size_bytes),
      .offset_in_internal = static_cast<uint32_t>(tensor.offset_in_arena),
      .buffer = tensor.is_constant() ? static_cast<uint32_t>(tensor.weight) : 0,
      .plane_align = tensor.plane_align,
      .width_align = tensor.width_align,
  };
  for (const int64_t extent : tensor.shape.dims())
    out.shape.push_back(static_cast<int32_t>(extent));
  if (out.native_shape.empty()) out.native_shape = out.shape;
  // Constants of vendor files carry no quantization parameters: those of a weight are in the bias
  // block.
  if (tensor.quantized() && !tensor.is_constant()) {
    out.quant_method = "layer";
    out.quant_type = numpy_name(tensor.dtype);
    out.range_min = {tensor.min};
    out.range_max = {tensor.max};
    out.scale = {tensor.scale};
    out.zero_point = {tensor.zero_point};
  }
  return out;
}

// How many schedule columns a node of this chip has: one, two and three cores each count their own.
size_t schedule_columns(const target::Target& chip) {
  return static_cast<size_t>(chip.npu_cores) * (static_cast<size_t>(chip.npu_cores) + 1) / 2;
}

std::vector<int64_t> pair_of(const Extent2& e) { return {e.h, e.w}; }
std::vector<int64_t> list_of(const Pads2& p) { return {p.top, p.left, p.bottom, p.right}; }
std::vector<int32_t> pair32(const Extent2& e) { return {e.h, e.w}; }

const char* name_of(CoordinateMode mode) {
  switch (mode) {
    case CoordinateMode::kHalfPixel:
      return "half_pixel";
    case CoordinateMode::kPytorchHalfPixel:
      return "pytorch_half_pixel";
    case CoordinateMode::kAlignCorners:
      return "align_corners";
    case CoordinateMode::kAsymmetric:
      return "asymmetric";
  }
  return "";
}

const char* name_of(NearestMode mode) {
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return "round_prefer_floor";
    case NearestMode::kRoundPreferCeil:
      return "round_prefer_ceil";
    case NearestMode::kFloor:
      return "floor";
    case NearestMode::kCeil:
      return "ceil";
  }
  return "";
}

// Parameter table and attributes of a node. Fused nodes have no attributes in vendor files; the
// table says it all.
struct NodeDescription {
  FileParams params;
  std::vector<Attribute> attributes;
};

NodeDescription describe_node(const Step&, const SumParams&) { return {}; }
NodeDescription describe_node(const Step&, const TableParams&) { return {}; }

NodeDescription describe_node(const Step& step, const program::ConvParams& p) {
  NodeDescription out;
  out.params = FileConvParams{
      .auto_pad = "NOTSET",
      .dilations = pair32(p.dilation),
      .group = p.group,
      .kernel_shape = pair32(p.kernel),
      .pads = {p.pads.top, p.pads.left, p.pads.bottom, p.pads.right},
      .strides = pair32(p.stride),
  };
  if (step.type == "Conv" || step.type == "ConvTranspose") {
    out.attributes = {
        {"dilations", pair_of(p.dilation)},  {"group", int64_t{p.group}},
        {"kernel_shape", pair_of(p.kernel)}, {"pads", list_of(p.pads)},
        {"strides", pair_of(p.stride)},
    };
  }
  return out;
}

NodeDescription describe_node(const Step&, const program::ConcatParams& p) {
  return {FileConcatParams{p.axis}, {{"axis", int64_t{p.axis}}}};
}

NodeDescription describe_node(const Step&, const PoolParams& p) {
  NodeDescription out;
  if (p.kind == PoolKind::kAverage)
    out.attributes.push_back({"count_include_pad", int64_t{p.count_include_pad}});
  out.attributes.push_back({"kernel_shape", pair_of(p.kernel)});
  out.attributes.push_back({"pads", list_of(p.pads)});
  out.attributes.push_back({"strides", pair_of(p.stride)});
  return out;
}

NodeDescription describe_node(const Step&, const program::ResizeParams& p) {
  return {FileResizeParams{.coordinate_mode = name_of(p.coordinates),
                           .mode = p.mode == ResizeMode::kLinear ? "linear" : "nearest",
                           .nearest_mode = name_of(p.nearest)},
          {}};
}

NodeDescription describe_node(const Step& step, const OpParams& p) {
  NodeDescription out;
  for (const auto& [name, attr] : p.attrs) {
    if (const auto* v = std::get_if<int64_t>(&attr)) out.attributes.push_back({name, *v});
    if (const auto* v = std::get_if<float>(&attr)) out.attributes.push_back({name, double{*v}});
    if (const auto* v = std::get_if<std::string>(&attr)) out.attributes.push_back({name, *v});
    if (const auto* v = std::get_if<std::vector<int64_t>>(&attr))
      out.attributes.push_back({name, *v});
    if (const auto* v = std::get_if<std::vector<float>>(&attr)) {
      out.attributes.push_back({name, std::vector<double>(v->begin(), v->end())});
    }
    if (const auto* v = std::get_if<std::vector<std::string>>(&attr))
      out.attributes.push_back({name, *v});
    // Tensor attributes have no BSON form; our section keeps them.
  }
  const auto axis = p.attrs.find("axis");
  if (axis == p.attrs.end() || !std::holds_alternative<int64_t>(axis->second)) return out;
  const int64_t value = std::get<int64_t>(axis->second);
  if (p.op == "ArgMax") out.params = FileArgMaxParams{static_cast<int32_t>(value)};
  if (step.type == "exSoftmax13")
    out.params = FileOperatorParams{kSoftmaxParams, {{"axis", value}}};
  return out;
}

class GraphBuilder {
 public:
  GraphBuilder(const Program& program, const target::Target& chip)
      : variant_(program.main_variant()), program_(program), columns_(schedule_columns(chip)) {}

  Result<FileGraph> build() {
    for (const ProgramTensor& tensor : variant_.tensors) {
      RK_ASSIGN(FileTensor out, to_file(tensor));
      graph_.tensors.push_back(std::move(out));
    }
    graph_.tensors.front().kind = TensorKind::kDummy;
    graph_.inputs = variant_.inputs;
    graph_.outputs = variant_.outputs;
    for (const int32_t input : variant_.inputs) {
      add_node({.type = "InputOperator",
                .name = "InputOperator:" + name_of_tensor(input),
                .outputs = {input}});
    }
    for (const Step& step : variant_.steps) add_step(step);
    for (const int32_t output : variant_.outputs) {
      add_node({.type = "OutputOperator",
                .name = "OutputOperator:" + name_of_tensor(output),
                .inputs = {output},
                .attributes = std::vector<uint8_t>(kOutputRecordBytes)});
      graph_.outputs_ready.push_back({.output = name_of_tensor(output)});
    }
    for (size_t i = 0; i < variant_.inputs.size(); ++i) add_normalize(i);
    return std::move(graph_);
  }

 private:
  const std::string& name_of_tensor(int32_t index) const {
    return variant_.tensors[static_cast<size_t>(index)].name;
  }

  void add_node(FileNode node) {
    node.task_counts.assign(columns_, 0);
    node.reserved.assign(columns_, 0);
    graph_.nodes.push_back(std::move(node));
  }

  void add_step(const Step& step) {
    FileNode node{
        .type = step.type, .name = step.name, .processor = step.processor, .outputs = step.outputs};
    size_t count = step.inputs.size();
    while (count > 0 && step.inputs[count - 1] == kNone) --count;
    for (size_t i = 0; i < count; ++i)
      node.inputs.push_back(step.inputs[i] == kNone ? placeholder() : step.inputs[i]);
    NodeDescription description =
        std::visit([&](const auto& params) { return describe_node(step, params); }, step.params);
    node.params = std::move(description.params);
    node.attributes = write_attributes(description.attributes);
    add_node(std::move(node));
  }

  // Stands for an absent optional input; viewers refuse indices outside the tensor list.
  int32_t placeholder() {
    if (placeholder_ == kNone) {
      placeholder_ = static_cast<int32_t>(graph_.tensors.size());
      graph_.tensors.push_back(
          {.dtype = DType::kF32, .kind = TensorKind::kCpuConstant, .name = "empty_placeholder_0"});
    }
    return placeholder_;
  }

  // Four values, as vendor files have for up to four channels; missing ones repeat the last.
  void add_normalize(size_t input) {
    const InputInfo info = input < program_.inputs.size() ? program_.inputs[input] : InputInfo();
    const auto padded = [](std::vector<float> values, float fallback) {
      const float last = values.empty() ? fallback : values.back();
      if (values.size() < 4) values.resize(4, last);
      return values;
    };
    Normalize normalize{.mean = padded(info.mean, 0), .std = padded(info.std, 1)};
    normalize.channel_order.resize(normalize.mean.size());
    std::iota(normalize.channel_order.begin(), normalize.channel_order.end(), 0);
    graph_.normalize.push_back(std::move(normalize));
  }

  const Variant& variant_;
  const Program& program_;
  size_t columns_;
  FileGraph graph_;
  int32_t placeholder_ = kNone;
};

// Sums over tensors, as vendor files count them: each constant rounded up to 64 bytes. Variants
// share one arena.
MemSize memory_of(const Program& program) {
  MemSize out;
  for (const Variant& variant : program.variants) {
    out.internal_bytes = std::max(out.internal_bytes, variant.arena_bytes);
  }
  for (const ProgramTensor& tensor : program.main_variant().tensors) {
    const uint64_t size_bytes = align_up(tensor.size_bytes, kBufferAlignment);
    if (tensor.kind == TensorKind::kNpuConstant || tensor.kind == TensorKind::kCpuConstant) {
      out.weight_bytes += size_bytes;
    }
    if (tensor.kind == TensorKind::kHelperConstant) out.helper_bytes += size_bytes;
  }
  return out;
}

// "2.3.2b1" -> 20302; parts that are not numbers count as 0.
uint32_t version_number(const std::string& text) {
  uint32_t out = 0;
  const char* at = text.c_str();
  for (int part = 0; part < 3; ++part) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(at, &end, 10);
    out = out * 100 + static_cast<uint32_t>(std::min(value, 99ul));
    at = *end == '.' ? end + 1 : end;
  }
  return out;
}

// Types of custom operators, each once. How the vendor separates several is not known; readers take whole words.
std::string custom_types(const Program& program) {
  std::vector<std::string_view> types;
  for (const Step& step : program.main_variant().steps) {
    const auto* const op = std::get_if<OpParams>(&step.params);
    if (op == nullptr || !is_custom(op->op)) continue;
    if (std::ranges::find(types, user_name(op->op)) == types.end())
      types.push_back(user_name(op->op));
  }
  std::string out;
  for (const std::string_view type : types) out += str(out.empty() ? "" : ",", type);
  return out;
}

}  // namespace

Result<FileModel> to_file_model(const Program& program) {
  RK_ASSIGN(const target::Target* const chip, target::find_target(program.target));
  FileModel model;
  model.npu_generation = chip->npu_name;
  RK_ASSIGN(FileGraph graph, GraphBuilder(program, *chip).build());
  model.graphs.push_back(std::move(graph));
  model.info = make_info(program);
  model.compiler_version = version_number(program.compiler_version);
  model.compiler =
      str(program.toolkit_version, "(compiler version: ", program.compiler_version, ")");
  model.platform = program.target;
  model.source = program.framework;
  model.custom_string = program.custom_string;
  model.custom_ops = custom_types(program);
  model.input_json = make_input_json(program);
  model.output_json = make_output_json(program);
  if (program.variants.size() > 1) model.shape_mode = "dynamic_shape";
  model.memory = memory_of(program);
  for (const Blob& blob : program.weights) model.buffers.push_back({blob.bytes});
  return model;
}

Result<std::vector<uint8_t>> write_rknn(const Program& program, const WriteOptions& options) {
  RK_TRY(verify(program));
  const Program stored =
      options.remove_weight ? without_weights(program, options.kept_weights) : program;
  RK_ASSIGN(const FileModel model, to_file_model(stored));
  RK_ASSIGN(const std::vector<uint8_t> region, write_model(model));
  return join_container(region, make_trailer(model), encode_program(stored));
}

}  // namespace rk::format
