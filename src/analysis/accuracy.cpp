// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/file.h"
#include "base/npy.h"
#include "exec/evaluate.h"
#include "runtime/session.h"

namespace rk::analysis {
namespace {

constexpr double kEqualDb = 200;
constexpr float kMaxF16 = 65504;
constexpr size_t kBins = 64;

using Tensors = std::map<std::string, Tensor, std::less<>>;

std::string file_name(std::string_view value_name) {
  std::string out(value_name);
  for (char& c : out) {
    if (c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return out + ".npy";
}

Status save(const std::filesystem::path& folder, std::string_view name, const Tensor& tensor) {
  NpyArray array;
  array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  const ByteSpan bytes = tensor.bytes();
  array.bytes.assign(bytes.begin(), bytes.end());
  return write_npy((folder / file_name(name)).string(), array);
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return ok_status();
  return io_error(str("cannot make folder '", folder.string(), "': ", error.message()));
}

Result<Tensors> golden_values(const Graph& graph, const std::vector<Tensor>& inputs,
                              ThreadPool* pool) {
  Tensors out;
  RK_TRY(exec::evaluate(graph, inputs,
                        {pool,
                         [&](const Value& value, const Tensor& tensor) {
                           out[value.name()] = tensor;
                           return ok_status();
                         }})
             .status());
  return out;
}

// Runs a Program once and gives every float tensor it wrote, as float32, by name.
Result<Tensors> simulate(program::Program program, const OpRegistry& operators,
                         const std::vector<Tensor>& raw_inputs) {
  RK_ASSIGN(auto model, runtime::LoadedModel::from_program(
                            std::move(program), {.device = {}, .operators = &operators}));
  RK_ASSIGN(auto session, runtime::Session::create(model));
  Tensors out;
  session->set_observer([&](int32_t tensor, const Tensor& stored) {
    const program::ProgramTensor& about = model->variant().tensors[static_cast<size_t>(tensor)];
    if (about.quantized() || is_float(about.dtype)) {
      out[about.name] = runtime::to_f32(about, stored);
    }
    return ok_status();
  });
  for (size_t i = 0; i < raw_inputs.size(); ++i) {
    const Tensor& input = raw_inputs[i];
    runtime::CallerFormat format;
    format.dtype = input.dtype();
    if (input.shape().rank() == 4) format.format = runtime::TensorFormat::kNchw;
    RK_TRY(session->set_input(i, format, input.bytes().data(), input.size_bytes()));
  }
  RK_TRY(session->run());
  return out;
}

// The node alone, with its constants, fed by the values it reads.
Result<Graph> graph_of(const Graph& graph, const Node& node) {
  Graph out(graph.registry());
  out.name = graph.name;
  std::unordered_map<const Value*, Value*> copies;
  std::vector<Value*> inputs;
  for (const Value* input : node.inputs()) {
    if (input == nullptr) {
      inputs.push_back(nullptr);
      continue;
    }
    Value*& copy = copies[input];
    if (copy == nullptr && input->is_constant())
      copy = out.add_constant(input->name(), input->constant());
    if (copy == nullptr) {
      RK_ASSIGN(copy, out.add_input(input->name(), input->type()));
    }
    copy->quant = input->quant;
    inputs.push_back(copy);
  }
  NodeSpec spec{std::string(node.op()), node.name(), std::move(inputs), {}, node.attrs()};
  for (const Value* output : node.outputs()) spec.outputs.push_back(output->name());
  RK_ASSIGN(Node* const added, out.add_node(std::move(spec)));
  for (size_t i = 0; i < node.output_count(); ++i) {
    added->output(i).quant = node.output(i).quant;
    RK_TRY(out.add_output(&added->output(i)));
  }
  return out;
}

Result<Tensors> simulate_alone(const Graph& graph, const Node& node,
                               const compiler::CompileOptions& compile, const Tensors& golden) {
  RK_ASSIGN(const Graph alone, graph_of(graph, node));
  compiler::CompileOptions options = compile;
  options.inputs.clear();
  RK_ASSIGN(program::Program program, compiler::compile(alone, options));
  std::vector<Tensor> inputs;
  for (const Value* input : alone.inputs()) inputs.push_back(golden.find(input->name())->second);
  return simulate(std::move(program), graph.registry(), inputs);
}

void describe_values(const Value& value, const Tensor& golden, Layer& layer) {
  layer.is_float = !value.quantized();
  layer.low = -kMaxF16;
  layer.high = kMaxF16;
  if (value.quantized()) {
    const float scale = value.quant.scale[0];
    const int32_t zero = value.quant.zero_point.empty() ? 0 : value.quant.zero_point[0];
    const int32_t least = value.quant.dtype == DType::kU8 ? 0 : -128;
    layer.low = scale * static_cast<float>(least - zero);
    layer.high = scale * static_cast<float>(least + 255 - zero);
  }
  const auto values = golden.span<float>();
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  layer.seen_min = *low;
  layer.seen_max = *high;
  layer.histogram.assign(kBins, 0);
  const double bin = (double{*high} - *low) / kBins;
  const double half_step = layer.is_float ? 0 : (double{layer.high} - layer.low) / 510;
  uint64_t outside = 0;
  for (const float x : values) {
    outside += x < layer.low - half_step || x > layer.high + half_step ? 1 : 0;
    const double place = bin > 0 ? (double{x} - *low) / bin : 0;
    if (std::isfinite(place)) ++layer.histogram[std::min(kBins - 1, static_cast<size_t>(place))];
  }
  layer.saturated = static_cast<double>(outside) / static_cast<double>(values.size());
}

const Tensor* find(const Tensors& tensors, const std::string& name) {
  const auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

}  // namespace

Errors compare(std::span<const float> golden, std::span<const float> found) {
  Errors out;
  double dot = 0, g2 = 0, f2 = 0, e2 = 0;
  for (size_t i = 0; i < std::min(golden.size(), found.size()); ++i) {
    const double g = golden[i], f = found[i];
    dot += g * f;
    g2 += g * g;
    f2 += f * f;
    e2 += (f - g) * (f - g);
    out.max_abs = std::max(out.max_abs, std::fabs(f - g));
  }
  out.euclidean = std::sqrt(e2);
  out.cosine = g2 == 0 && f2 == 0 ? 1 : g2 == 0 || f2 == 0 ? 0 : dot / std::sqrt(g2 * f2);
  if (!std::isfinite(out.cosine)) out.cosine = 0;
  out.sqnr_db = e2 == 0 ? kEqualDb : g2 == 0 ? -kEqualDb : 10 * std::log10(g2 / e2);
  return out;
}

double AccuracyReport::worst_output_cosine() const {
  double worst = 1;
  for (const Errors& output : outputs) worst = std::min(worst, output.cosine);
  return worst;
}

Result<AccuracyReport> analyze(const Graph& graph, const program::Program& program,
                               const compiler::CompileOptions& compile,
                               const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& raw_inputs,
                               const AccuracyOptions& options, ThreadPool* pool) {
  RK_ASSIGN(const Tensors golden, golden_values(graph, inputs, pool));
  RK_ASSIGN(const Tensors entire, simulate(program, graph.registry(), raw_inputs));
  std::map<std::string, std::string, std::less<>> type_of;
  const program::Variant& variant = program.main_variant();
  for (const program::Step& step : variant.steps) {
    for (const int32_t tensor : step.outputs) {
      if (tensor >= 0) type_of[variant.tensors[static_cast<size_t>(tensor)].name] = step.type;
    }
  }
  const std::filesystem::path folder = options.output_dir;
  std::string map_text;
  if (!options.output_dir.empty()) {
    RK_TRY(make_folder(folder / "golden"));
    RK_TRY(make_folder(folder / "simulator"));
  }
  AccuracyReport report;
  const auto add = [&](const Value& value, std::string type, const Tensors& single) -> Status {
    const Tensor* want = find(golden, value.name());
    if (want == nullptr || want->dtype() != DType::kF32) return ok_status();
    Layer layer;
    layer.type = std::move(type);
    layer.name = value.name();
    describe_values(value, *want, layer);
    const Tensor* got = find(entire, value.name());
    if (got != nullptr) layer.entire = compare(want->span<float>(), got->span<float>());
    if (const Tensor* alone = find(single, value.name())) {
      layer.single = compare(want->span<float>(), alone->span<float>());
    }
    if (!options.output_dir.empty()) {
      RK_TRY(save(folder / "golden", value.name(), *want));
      if (got != nullptr) RK_TRY(save(folder / "simulator", value.name(), *got));
      map_text += str(value.name(), " ", file_name(value.name()), "\n");
    }
    report.layers.push_back(std::move(layer));
    return ok_status();
  };
  for (const Value* input : graph.inputs()) RK_TRY(add(*input, "Input", entire));
  for (const Node* node : graph.nodes()) {
    Tensors single;
    if (options.single) {
      RK_ASSIGN(single, simulate_alone(graph, *node, compile, golden));
    }
    for (const Value* output : node->outputs()) {
      const auto type = type_of.find(output->name());
      RK_TRY(add(*output, type == type_of.end() ? std::string(node->op()) : type->second, single));
    }
  }
  for (const Value* output : graph.outputs()) {
    const Tensor *want = find(golden, output->name()), *got = find(entire, output->name());
    if (want == nullptr || got == nullptr || want->dtype() != DType::kF32) continue;
    report.outputs.push_back(compare(want->span<float>(), got->span<float>()));
  }
  if (!options.output_dir.empty()) {
    const auto bytes =
        std::span(reinterpret_cast<const uint8_t*>(map_text.data()), map_text.size());
    RK_TRY(write_file((folder / "map_name_to_file.txt").string(), bytes));
  }
  return report;
}

}  // namespace rk::analysis
