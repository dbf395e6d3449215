// SPDX-License-Identifier: Apache-2.0
// Wires the host stages together: frontends -> passes -> quant -> compiler -> format.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/log.h"
#include "evaluator/evaluate.h"
#include "format/writer.h"
#include "frontends/frontend.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "passes/fold_pad.h"
#include "passes/pipeline.h"
#include "passes/prune_channels.h"
#include "quant/bias_correction.h"
#include "quant/prequantized.h"
#include "quant/sparsity.h"
#include "target/sparse.h"
#include "toolkit/config_check.h"
#include "toolkit/dynamic_shapes.h"
#include "toolkit/plugins.h"
#include "toolkit/state.h"
#include "toolkit/version.h"

namespace rk::toolkit {
namespace {

// auto_hybrid judges its candidates on so many samples: one picture alone is a matter of luck.
constexpr size_t kHybridSamples = 3;
// quantize_weight leaves smaller weights alone: they save nothing.
constexpr int64_t kLargeWeights = 1024;
// optimization_level from which ranges of neighboring layers are equalized and biases corrected.
constexpr int kEqualizeLevel = 3;

void log_sparse_layers(const Config& config, const Graph& graph) {
  if (config.sparse_infer) log(LogLevel::kInfo, quant::to_text(quant::find_sparse_layers(graph)));
}

// Steps whose zeros the chip skips stand for what it multiplies: half or a quarter of all.
void mark_sparse(const std::vector<quant::SparseLayer>& layers, program::Program& program) {
  for (program::Variant& variant : program.variants) {
    for (program::Step& step : variant.steps) {
      if (!std::holds_alternative<program::ConvParams>(step.params)) continue;
      const auto tensor = [&](int32_t i) -> const program::ProgramTensor& {
        return variant.tensors[static_cast<size_t>(i)];
      };
      const auto layer =
          std::ranges::find(layers, tensor(step.outputs[0]).name, &quant::SparseLayer::name);
      if (layer == layers.end() || tensor(step.inputs[0]).dtype != DType::kI8) continue;
      if (layer->ratio == "75%") step.macs /= 4;
      if (layer->ratio.starts_with("50%")) step.macs /= 2;
    }
  }
}

// The small chips and the microcontroller run one shape.
bool has_dynamic_shapes(const target::Target& target) {
  return target.family == target::Family::kA1 || target.family == target::Family::kA2;
}

// remove_reshape changes what applications meet.
void warn_of_changed_shapes(const std::vector<Value*>& before, const std::vector<Value*>& after,
                            const char* kind) {
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i]->shape() == after[i]->shape()) continue;
    log(LogLevel::kWarning,
        str("remove_reshape: ", kind, " '", after[i]->name(), "' is now ",
            to_string(after[i]->shape()), " instead of ", to_string(before[i]->shape())));
  }
}

constexpr float kMaxF16 = 65504;

// Values that calibration saw outside what float16 holds, in layers that compute in it.
void warn_of_overflow(const Graph& quantized, const quant::Ranges& ranges) {
  constexpr size_t kNamed = 5;
  size_t count = 0;
  for (const Value* value : quantized.values()) {
    const auto range = ranges.find(value->name());
    if (!quant::is_activation(*value) || value->quantized() || range == ranges.end()) continue;
    const float widest = std::max(-range->second.min, range->second.max);
    if (!(widest > kMaxF16) || ++count > kNamed) continue;
    log(LogLevel::kWarning,
        str("'", value->name(), "' reaches ", widest, " in calibration and computes in float16, ",
            "which ends at ", kMaxF16, ": it becomes infinite. Scale the model down before it, or ",
            "end the model before this layer"));
  }
  if (count > kNamed) log(LogLevel::kWarning, str("so do ", count - kNamed, " further values"));
}

// One line for all that the board would refuse: by operator, with a count, the first name and its reason.
void warn_of_unsupported(const compiler::PlacementReport& report, const target::Target& target) {
  struct Group {
    size_t count = 0;
    const compiler::PlacementRow* first = nullptr;
  };
  std::map<std::string, Group> groups;
  bool in_float = true;
  for (const compiler::PlacementRow& row : report.rows) {
    if (row.placement.where != compiler::Placement::Where::kUnsupported) continue;
    Group& group = groups[row.op];
    if (group.count++ == 0) group.first = &row;
    in_float &= row.dtype == to_string(DType::kF16);
  }
  if (groups.empty()) return;
  std::string list;
  for (const auto& [op, group] : groups) {
    list += str(list.empty() ? "" : "; ", group.count, " ", op, " (first: '", group.first->node,
                "': ", group.first->placement.reason, ")");
  }
  log(LogLevel::kWarning,
      str(target.name, " runs these layers on no processor: ", list,
          ". The simulator runs them; the board would refuse the model",
          in_float && target.has_i8 ? ". Build with do_quantization=True for int8" : ""));
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

// The same for every value: scales then lie close together, as those of a trained network do.
quant::Ranges assumed_ranges(const Graph& graph) {
  quant::Ranges ranges;
  for (const Value* value : graph.values())
    if (quant::is_activation(*value)) ranges[value->name()] = {.min = -4, .max = 4};
  return ranges;
}

bool has_resize(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(),
                             [](const Node* node) { return node->op() == "Resize"; });
}

}  // namespace

compiler::CompileOptions compile_options(const Config& config, const target::Target& target,
                                         const Graph& graph, bool quantize,
                                         const quant::FloatLayers& layers) {
  compiler::CompileOptions compile;
  compile.float_layers = layers;
  compile.target = std::string(target.name);
  compile.compiler_version = kVersionText;
  compile.custom_string = config.custom_string;
  compile.op_target = config.op_target;
  // The vendor's rule: level 3 makes Resize a ConvTranspose for the NPU, below it Resize runs on the CPU.
  if (config.optimization_level < 3 && has_resize(graph))
    compile.op_target.try_emplace("Resize", "cpu");
  compile.single_core = config.single_core_mode;
  compile.toolkit_version = kVersionText;
  compile.float_weight_method = config.quantized_method;
  if (quantize && computes_in_float(config)) {
    compile.float_weight_bits = config.quantized_dtype == "w4a16" ? 4 : 8;
  } else if (!quantize && config.quantize_weight) {
    compile.float_weight_bits = 8;
    compile.least_narrow_weights = kLargeWeights;
  }
  const auto feeds = input_feeds(config, graph.inputs().size());
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    compile.inputs.push_back(
        {feeds[i].mean, feeds[i].std, feeds[i].rgb2bgr, graph.inputs()[i]->dtype()});
  }
  return compile;
}

std::vector<quant::InputFeed> raw_feeds(const Config& config, size_t inputs) {
  auto feeds = input_feeds(config, inputs);
  for (quant::InputFeed& feed : feeds) feed.mean = feed.std = {};
  return feeds;
}

Result<Graph> quantized_graph(const Graph& optimized, const quant::Ranges& ranges,
                              const Config& config, const target::Target& target,
                              const LayerTypes& layers) {
  Graph out = optimized.clone();
  const auto method = config.quantized_method == "layer" ? quant::WeightMethod::kLayer
                                                         : quant::WeightMethod::kChannel;
  RK_TRY(
      quant::quantize(out, ranges,
                      {.weights = method,
                       .target = &target,
                       .float_layers = layers.f16,
                       .i16_layers = layers.i16,
                       .dtype = config.quantized_dtype == "w16a16i" ? DType::kI16 : DType::kI8}));
  return out;
}

Result<analysis::Trial> build_trial(const Graph& optimized, const quant::Ranges& ranges,
                                    const Config& config, const target::Target& target,
                                    const LayerTypes& layers, const quant::ValueStats& stats) {
  RK_ASSIGN(Graph graph, quantized_graph(optimized, ranges, config, target, layers));
  quant::correct_biases(graph, stats);
  RK_ASSIGN(program::Program program,
            compiler::compile(graph, compile_options(config, target, graph, true, layers.f16)));
  return analysis::Trial{std::move(graph), std::move(program)};
}

Result<Graph> optimize(const Graph& imported, const Config& config, const target::Target& target,
                       const std::vector<std::string>& only) {
  Graph graph = imported.clone();
  std::vector<std::string> skip = skipped_passes();
  if (quant::is_prequantized(graph)) {
    // A Resize that only moves keeps its parameters; weights of our own would have none of the model.
    skip.emplace_back("resize_to_conv_transpose");
  }
  RK_TRY(quant::take_constants(graph));
  RK_TRY(passes::run_pipeline(graph, target,
                              {.optimization_level = config.optimization_level,
                               .remove_reshape = config.remove_reshape,
                               .skip = std::move(skip),
                               .only = only})
             .status());
  RK_TRY(quant::take_activations(graph, {.target = &target}));
  if (config.remove_reshape) {
    warn_of_changed_shapes(imported.inputs(), graph.inputs(), "input");
    warn_of_changed_shapes(imported.outputs(), graph.outputs(), "output");
  }
  // Between a quantized Pad and its convolution stood a pair.
  if (config.optimization_level > 0) RK_TRY(passes::fold_pad(graph, target).status());
  if (config.model_pruning) {
    RK_ASSIGN(const passes::PruneReport pruned, passes::prune_channels(graph));
    // At the default level: whoever asked for it wants to know what it saved.
    if (pruned.channels > 0) log(LogLevel::kWarning, passes::to_text(pruned));
  }
  return graph;
}

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
  state_->import = [paths, format, import, config = *state_->config,
                    &registry = state_->registry()](const ShapeSet& shapes) -> Result<Graph> {
    frontends::ImportOptions at = import;
    if (!shapes.empty()) at.input_shapes = shapes;
    RK_ASSIGN(frontends::Imported model, frontends::import_model(paths, format, at, registry));
    for (const std::string& note : model.notes) log(LogLevel::kWarning, note);
    RK_TRY(quant::float_borders(model.graph));
    RK_TRY(normalize_flat_inputs(model.graph, config));
    return std::move(model.graph);
  };
  auto imported = state_->import(sets.empty() ? ShapeSet{} : sets[max_shape(sets)]);
  if (!imported.ok() && !sets.empty())
    return imported.status().with_context(str("dynamic_input ", to_string(sets[max_shape(sets)])));
  RK_ASSIGN(Graph graph, std::move(imported));
  RK_TRY(check_inputs(*state_->config, graph));
  state_->imported = std::move(graph);
  state_->model_name = std::filesystem::path(paths[0]).stem().string();
  state_->program.reset();
  return ok_status();
}

Result<Graph> Toolkit::graph_of_shapes(const ShapeSet& set) const {
  const std::string what = str("dynamic_input ", to_string(set));
  auto imported = state_->import(set);
  if (!imported.ok()) return imported.status().with_context(what);
  RK_ASSIGN(Graph graph, optimize(*imported, *state_->config, *state_->target));
  if (state_->dataset.empty()) return graph;
  quant::equalize_alike(graph, state_->equalized);
  RK_ASSIGN(Graph quantized, quantized_graph(graph, state_->ranges, *state_->config,
                                             *state_->target, state_->float_layers));
  quant::correct_biases(quantized, state_->stats);
  return quantized;
}

Status Toolkit::finish(const BuildOptions& options) {
  const Config& config = *state_->config;
  int batch = options.rknn_batch_size;
  RK_TRY(check_batch(batch));
  if (!config.dynamic_input.empty()) {
    if (options.rknn_batch_size > 1)
      return unsupported("rknn_batch_size does not go with dynamic_input: list batches there");
    const std::vector<ShapeSet> sets = max_shape_first(config.dynamic_input);
    RK_ASSIGN(state_->program,
              compiler::compile([&](size_t i) { return graph_of_shapes(sets[i]); }, sets.size(),
                                compile_options(config, *state_->target, *state_->optimized,
                                                options.do_quantization, state_->float_layers)));
  }
  for (const Value* output : state_->quantized->outputs()) {
    if (options.rknn_batch_size > 1 && output->shape().rank() == 0) {
      return unsupported(str("rknn_batch_size: output '", output->name(),
                             "' is one number without an axis, so it cannot hold a batch"));
    }
  }
  state_->program->batch = batch;
  if (config.sparse_infer)
    mark_sparse(quant::find_sparse_layers(*state_->quantized), *state_->program);
  return program::verify(*state_->program);
}

Status Toolkit::build(const BuildOptions& options) {
  if (!state_->imported) return invalid_argument("build: load a model first");
  RK_TRY(prepare(options));
  const bool quantized = options.do_quantization && !computes_in_float(*state_->config);
  Status status = quantized ? build_quantized(options) : build_float(options);
  if (status.ok()) status = finish(options);
  if (!status.ok()) {
    state_->program.reset();
    return status;
  }
  RK_ASSIGN(const compiler::PlacementReport report, placement());
  warn_of_unsupported(report, *state_->target);
  if (quantized) warn_of_overflow(*state_->quantized, state_->ranges);
  return ok_status();
}

Status Toolkit::build_float(const BuildOptions& options) {
  const Config& config = *state_->config;
  Graph& optimized = *state_->optimized;
  RK_ASSIGN(program::Program program,
            compiler::compile(optimized, compile_options(config, *state_->target, optimized,
                                                         options.do_quantization)));
  state_->quantized = optimized.clone();
  state_->program = std::move(program);
  if (config.sparse_infer)
    log(LogLevel::kWarning,
        "sparse_infer has no effect in float16: the NPU skips int8 weights only");
  return ok_status();
}

Status Toolkit::prepare(const BuildOptions& options) {
  const Config& config = *state_->config;
  state_->program.reset();
  state_->dataset.clear();
  state_->float_layers.clear();
  state_->i16_layers.clear();
  state_->stats.clear();
  state_->equalized.clear();
  RK_ASSIGN(Graph graph, optimize(*state_->imported, config, *state_->target));
  const bool brings_parameters = quant::has_quantized_activations(graph);
  RK_TRY(check_types(config, *state_->target, options.do_quantization || brings_parameters));
  state_->optimized = std::move(graph);
  if (!options.do_quantization) return ok_status();
  if (computes_in_float(config)) {
    if (options.auto_hybrid || !options.float_layers.empty()) return check_hybrid_type(config);
    return ok_status();  // ranges of weights need no samples
  }
  if (options.auto_hybrid) RK_TRY(check_hybrid_type(config));
  if (options.assumed_ranges) {
    state_->ranges = assumed_ranges(*state_->optimized);
    state_->dataset = "assumed ranges";
    return ok_status();
  }
  if (options.dataset.empty()) {
    return invalid_argument(
        brings_parameters
            ? "build: the model brings its own quantization; build with do_quantization False to "
              "keep it as it is, or give a dataset to quantize what it leaves in float"
            : "build: quantization needs a dataset file");
  }
  Graph& optimized = *state_->optimized;
  RK_ASSIGN(const auto samples,
            quant::DatasetSamples::open(options.dataset, optimized,
                                        input_feeds(config, optimized.inputs().size())));
  const bool fits_to_data = config.optimization_level >= kEqualizeLevel && !brings_parameters;
  if (fits_to_data && config.remove_weight) {
    // Weights that follow the calibration would be found in no other build.
    log(LogLevel::kWarning,
        "remove_weight: the weights are not fitted to the calibration data (channels are not "
        "equalized), so that another build has them too; build the model that lends its weights "
        "with optimization_level=2, which does not fit them either");
  } else if (fits_to_data) {
    RK_ASSIGN(state_->stats, quant::observe_channels(optimized, samples, state_->pool.get()));
    state_->equalized = quant::equalize(optimized, state_->stats);
    for (const quant::Equalized& value : state_->equalized) {
      log(LogLevel::kInfo, str("'", value.value, "': channels equalized, expected noise ",
                               value.noise_before, " -> ", value.noise_after));
    }
  }
  RK_ASSIGN(state_->ranges, quant::calibrate(optimized, samples,
                                             *quant::parse_algorithm(config.quantized_algorithm),
                                             state_->pool.get(), options.progress));
  state_->dataset = options.dataset;
  return ok_status();
}

Result<quant::FloatLayers> Toolkit::propose_float_layers(const BuildOptions& options,
                                                         size_t samples) const {
  const Config& config = *state_->config;
  const Graph& graph = *state_->optimized;
  const size_t inputs = graph.inputs().size();
  RK_ASSIGN(const auto normalized,
            quant::DatasetSamples::open(options.dataset, graph, input_feeds(config, inputs)));
  RK_ASSIGN(const auto raw,
            quant::DatasetSamples::open(options.dataset, graph, raw_feeds(config, inputs)));
  std::vector<analysis::TrialInput> trials;
  for (size_t i = 0; i < std::clamp<size_t>(samples, 1, normalized.count()); ++i) {
    analysis::TrialInput input;
    RK_ASSIGN(input.normalized, normalized.load(i));
    RK_ASSIGN(input.raw, raw.load(i));
    trials.push_back(std::move(input));
  }
  const auto build = [&](const quant::FloatLayers& more) {
    quant::FloatLayers all(options.float_layers.begin(), options.float_layers.end());
    all.insert(more.begin(), more.end());
    return build_trial(graph, state_->ranges, config, *state_->target, all, state_->stats);
  };
  return analysis::choose_float_layers(
      build, graph, trials, compile_options(config, *state_->target, graph),
      {.cosine = config.auto_hybrid_cos_thresh, .euclidean = config.auto_hybrid_euc_thresh},
      state_->pool.get());
}

// Adds to `layers` those whose ranges the chip's integers cannot express, as a user would after reading the error.
Result<analysis::Trial> Toolkit::build_fitting_trial(quant::FloatLayers& layers) const {
  const Graph& graph = *state_->optimized;
  const Config& config = *state_->config;
  while (true) {
    LayerTypes types(layers);
    types.i16 = state_->i16_layers;
    auto trial = build_trial(graph, state_->ranges, config, *state_->target, types, state_->stats);
    if (trial.ok()) return trial;
    RK_ASSIGN(Graph quantized,
              quantized_graph(graph, state_->ranges, config, *state_->target, types));
    quant::correct_biases(quantized, state_->stats);
    RK_ASSIGN(const auto unfit,
              compiler::unfit_layers(
                  quantized, compile_options(config, *state_->target, quantized, true, layers)));
    const size_t known = layers.size();
    for (const compiler::UnfitLayer& layer : unfit) {
      if (!layers.insert(layer.output).second) continue;
      log(LogLevel::kWarning,
          str("layer '", layer.output, "' computes in float16: ", layer.reason));
    }
    if (layers.size() == known) return trial.status();
  }
}

Status Toolkit::build_quantized(const BuildOptions& options) {
  const Graph& graph = *state_->optimized;
  for (const std::string& name : options.float_layers) {
    if (graph.find(name) == nullptr) {
      return invalid_argument(
          str("float_layers names '", name, "', which is not a value of the optimized graph"));
    }
  }
  quant::FloatLayers layers(options.float_layers.begin(), options.float_layers.end());
  RK_ASSIGN(analysis::Trial trial, build_fitting_trial(layers));
  if (options.auto_hybrid) {
    BuildOptions more = options;
    more.float_layers.assign(layers.begin(), layers.end());
    RK_ASSIGN(const quant::FloatLayers chosen, propose_float_layers(more, kHybridSamples));
    layers.insert(chosen.begin(), chosen.end());
    RK_ASSIGN(trial, build_fitting_trial(layers));
  }
  state_->float_layers = std::move(layers);
  state_->quantized = std::move(trial.graph);
  state_->program = std::move(trial.program);
  log_sparse_layers(*state_->config, *state_->quantized);
  return ok_status();
}

Status Toolkit::export_optimized(const std::string& path,
                                 const std::vector<std::string>& passes) const {
  if (!state_->imported) return invalid_argument("export_optimized: load a model first");
  RK_ASSIGN(const Graph graph,
            optimize(*state_->imported, *state_->config, *state_->target, passes));
  RK_ASSIGN(const std::vector<uint8_t> model, frontends::export_onnx(graph));
  return write_file(path, model);
}

Status Toolkit::export_rknn(const std::string& path) const {
  RK_ASSIGN(const std::vector<uint8_t> bytes, rknn_bytes());
  return write_file(path, bytes, Durability::kPower);
}

const quant::FloatLayers& Toolkit::float_layers() const { return state_->float_layers; }

size_t Toolkit::layer_count() const {
  return state_->quantized ? state_->quantized->node_count() : 0;
}

const program::Program& Toolkit::program() const {
  RK_ASSERT(state_->program.has_value(), "program() is called after build()");
  return *state_->program;
}

Result<compiler::PlacementReport> Toolkit::placement() const {
  if (!state_->program || !state_->quantized)
    return invalid_argument("placement: build the model first");
  return compiler::report_placement(
      *state_->quantized, compile_options(*state_->config, *state_->target, *state_->quantized,
                                          true, state_->float_layers));
}

Result<std::vector<uint8_t>> Toolkit::rknn_bytes() const {
  if (!state_->program) return invalid_argument("export_rknn: build the model first");
  return format::write_rknn(*state_->program, {.remove_weight = state_->config->remove_weight});
}

Result<std::vector<Tensor>> Toolkit::golden(const std::vector<Tensor>& raw_inputs) const {
  if (!state_->imported) return invalid_argument("load a model first");
  const Graph& graph = *state_->imported;
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
