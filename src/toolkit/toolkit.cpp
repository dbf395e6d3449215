// SPDX-License-Identifier: Apache-2.0
// The class: checks the order of calls and keeps what the stages make (stages.h).
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "evaluator/evaluate.h"
#include "format/writer.h"
#include "frontends/frontend.h"
#include "frontends/model_source.h"
#include "quant/prequantized.h"
#include "target/sparse.h"
#include "toolkit/config_check.h"
#include "toolkit/dynamic_shapes.h"
#include "toolkit/plugins.h"
#include "toolkit/state.h"

namespace rk::toolkit {
namespace {

// The small chips and the microcontroller run one shape.
bool has_dynamic_shapes(const target::Target& target) {
  return target.family == target::Family::kA1 || target.family == target::Family::kA2;
}

// Inputs that are no pictures: the runtime normalizes pictures only, so (x - mean) / std becomes part of the graph.
Status normalize_flat_inputs(Graph& graph, const Config& config) {
  const auto list_of = [](const std::vector<std::vector<float>>& lists, size_t i) {
    return i < lists.size() ? lists[i] : std::vector<float>();
  };
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    Value* const input = graph.inputs()[i];
    const Shape& shape = input->shape();
    if (shape.rank() == 4 || input->dtype() != DType::kF32 || input->uses().empty()) continue;
    const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
    std::vector<int64_t> dims(static_cast<size_t>(std::max(shape.rank() - 1, 1)), 1);
    dims.front() = channels;
    Node* const first = graph.nodes().front();
    const std::vector<Use> readers = input->uses();
    Value* value = input;
    const auto apply = [&](const char* op, std::vector<float> list, float nothing) -> Status {
      const bool idle = std::ranges::all_of(list, [&](float x) { return x == nothing; });
      const auto count = static_cast<int64_t>(list.size());
      if (idle || (count != 1 && count != channels)) return ok_status();  // check_inputs() refuses
      list.resize(static_cast<size_t>(channels), list.front());
      RK_ASSIGN(const Shape per_channel, Shape::make(dims));
      Value* const constant = graph.add_constant(graph.unique_name(str(input->name(), "_", op)),
                                                 Tensor::f32(per_channel, list));
      RK_ASSIGN(Node* const node,
                graph.add_node({op,
                                graph.unique_name(str(input->name(), "_normalize_", op)),
                                {value, constant},
                                {graph.unique_name(str(input->name(), "_after_", op))},
                                {}},
                               first));
      value = &node->output();
      return ok_status();
    };
    RK_TRY(apply("Sub", list_of(config.mean_values, i), 0));
    RK_TRY(apply("Div", list_of(config.std_values, i), 1));
    if (value == input) continue;
    for (const Use& reader : readers) graph.set_input(reader.node, reader.index, value);
  }
  return ok_status();
}

}  // namespace

Toolkit::Toolkit() : state_(std::make_unique<State>()) {}
Toolkit::~Toolkit() = default;
Toolkit::Toolkit(Toolkit&&) noexcept = default;
Toolkit& Toolkit::operator=(Toolkit&&) noexcept = default;

Status Toolkit::config(Config config) {
  RK_ASSIGN(const target::Target* target, check_config(config));
  if (!config.dynamic_input.empty()) {
    if (!has_dynamic_shapes(*target) && !config.what_if) {
      return unsupported(str("dynamic_input is not supported by ", target->name,
                             "; chips that have it: rk3562, rk3566, rk3568, rk3576, rk3588"));
    }
    const size_t largest = max_shape(config.dynamic_input);
    log(LogLevel::kWarning,
        str("dynamic_input: MaxShape is dynamic_input[", largest,
            "] = ", to_string(config.dynamic_input[largest]),
            ". Calibration runs on it (arrays of the dataset must have it), and eval_perf and "
            "eval_memory report for it"));
  }
  if (config.sparse_infer && !target::has_sparse_weights(*target)) {
    log(LogLevel::kWarning, str("sparse_infer has no effect on ", target->name,
                                "; chips that skip zero weights: ", target::sparse_chips()));
    config.sparse_infer = false;
  }
  state_->target = target;
  state_->config = std::move(config);
  return ok_status();
}

Status Toolkit::reg_custom_op(ops::CustomOp op) {
  std::vector<ops::CustomOp> all = state_->custom_ops;
  std::erase_if(all, [&](const ops::CustomOp& other) { return other.type == op.type; });
  all.push_back(std::move(op));
  RK_ASSIGN(auto registry, ops::with_custom(all));
  state_->registries.push_back(std::move(registry));
  state_->custom_ops = std::move(all);
  return ok_status();
}

Status Toolkit::add_plugins() {
  for (ops::CustomOp& op : plugin_ops()) {
    const bool known =
        std::any_of(state_->custom_ops.begin(), state_->custom_ops.end(),
                    [&](const ops::CustomOp& other) { return other.type == op.type; });
    if (!known) RK_TRY(reg_custom_op(std::move(op)));
  }
  return ok_status();
}

std::shared_ptr<const OpRegistry> Toolkit::operators() const {
  return state_->registries.empty() ? nullptr : state_->registries.back();
}

Status Toolkit::load(const std::vector<std::string>& paths, const std::string& format,
                     const LoadOptions& options) {
  if (!state_->config) {
    return invalid_argument(
        str(format.empty() ? "load" : "load_", format, ": call config() first"));
  }
  RK_TRY(add_plugins());
  frontends::ImportOptions import;
  import.inputs = options.inputs;
  import.input_shapes = options.input_size_list;
  import.outputs = options.outputs;
  import.input_initial_values = options.input_initial_val;
  import.input_is_nchw = options.input_is_nchw;
  const std::vector<ShapeSet>& sets = state_->config->dynamic_input;
  const auto at = [paths, format, import, config = *state_->config,
                   &registry = state_->registry()](const ShapeSet& shapes) -> Result<Graph> {
    frontends::ImportOptions there = import;
    if (!shapes.empty()) there.input_shapes = shapes;
    RK_ASSIGN(frontends::Imported model, frontends::import_model(paths, format, there, registry));
    for (const std::string& note : model.notes) log(LogLevel::kWarning, note);
    RK_TRY(quant::float_borders(model.graph));
    RK_TRY(normalize_flat_inputs(model.graph, config));
    return std::move(model.graph);
  };
  auto imported = at(sets.empty() ? ShapeSet{} : sets[max_shape(sets)]);
  if (!imported.ok() && !sets.empty())
    return imported.status().with_context(str("dynamic_input ", to_string(sets[max_shape(sets)])));
  RK_ASSIGN(Graph graph, std::move(imported));
  RK_TRY(check_inputs(*state_->config, graph));
  state_->imported =
      Imported{std::move(graph), std::filesystem::path(paths[0]).stem().string(), at};
  state_->calibrated.reset();
  state_->built.reset();
  return ok_status();
}

Status Toolkit::prepare(const BuildOptions& options) {
  state_->calibrated.reset();
  state_->built.reset();
  RK_ASSIGN(Graph optimized, optimize(state_->imported->graph, state_->setting()));
  RK_ASSIGN(state_->calibrated, calibrate(std::move(optimized), state_->setting(), options));
  return ok_status();
}

Status Toolkit::build(const BuildOptions& options) {
  if (!state_->imported) return invalid_argument("build: load a model first");
  RK_TRY(prepare(options));
  RK_ASSIGN(state_->built,
            build_model(*state_->imported, *state_->calibrated, state_->setting(), options));
  return ok_status();
}

Status Toolkit::export_optimized(const std::string& path,
                                 const std::vector<std::string>& passes) const {
  if (!state_->imported) return invalid_argument("export_optimized: load a model first");
  RK_ASSIGN(const Graph graph, optimize(state_->imported->graph, state_->setting(), passes));
  RK_ASSIGN(const std::vector<uint8_t> model, frontends::export_onnx(graph));
  return write_file(path, model);
}

Status Toolkit::export_rknn(const std::string& path) const {
  RK_ASSIGN(const std::vector<uint8_t> bytes, rknn_bytes());
  return write_file(path, bytes, Durability::kPower);
}

const quant::FloatLayers& Toolkit::float_layers() const {
  static const quant::FloatLayers kNone;
  return state_->built ? state_->built->layers.f16 : kNone;
}

size_t Toolkit::layer_count() const {
  return state_->built ? state_->built->graph.node_count() : 0;
}

const program::Program& Toolkit::program() const {
  RK_ASSERT(state_->built.has_value(), "program() is called after build()");
  return state_->built->program;
}

Result<compiler::PlacementReport> Toolkit::placement() const {
  if (!state_->built) return invalid_argument("placement: build the model first");
  return state_->built->placement;
}

Result<std::vector<uint8_t>> Toolkit::rknn_bytes() const {
  if (!state_->built) return invalid_argument("export_rknn: build the model first");
  return format::write_rknn(state_->built->program,
                            {.remove_weight = state_->config->remove_weight,
                             .kept_weights = state_->built->fitted_weights});
}

Result<std::vector<Tensor>> Toolkit::golden(const std::vector<Tensor>& raw_inputs) const {
  if (!state_->imported) return invalid_argument("load a model first");
  const Graph& graph = state_->imported->graph;
  const auto feeds = input_feeds(*state_->config, graph.inputs().size());
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < raw_inputs.size(); ++i) {
    Tensor input = raw_inputs[i].clone();
    if (i < feeds.size()) quant::normalize(input, feeds[i]);
    inputs.push_back(std::move(input));
  }
  return evaluator::evaluate(graph, inputs, {state_->pool.get(), {}});
}

}  // namespace rk::toolkit
