// SPDX-License-Identifier: Apache-2.0
#include "toolkit/stages.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "format/removed_weights.h"
#include "passes/fold_pad.h"
#include "passes/pipeline.h"
#include "passes/prune_channels.h"
#include "quant/bias_correction.h"
#include "quant/prequantized.h"
#include "quant/samples.h"
#include "quant/sparsity.h"
#include "toolkit/config_check.h"
#include "toolkit/dynamic_shapes.h"
#include "toolkit/float_check.h"
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
      step.sparsity = layer->sparsity;
      step.macs /= static_cast<uint64_t>(target::divisor(layer->sparsity));
    }
  }
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

// One line for all that the board would refuse: by operator, with a count, the first name and its reason.
void warn_of_unsupported(const compiler::PlacementReport& report, const target::Target& target,
                         bool quantized) {
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
          in_float && !quantized && target.has_i8 ? ". Build with do_quantization=True for int8"
                                                  : ""));
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

// Quantizes the calibrated graph with these layers in other types, and corrects its biases.
Result<Graph> corrected_graph(const Calibrated& from, const Setting& setting,
                              const LayerTypes& layers) {
  RK_ASSIGN(Graph out, quantized_graph(from.optimized, from.ranges, setting, layers));
  quant::correct_biases(out, from.stats);
  return out;
}

// The model with these layers in float16, and those that integers cannot express, which are added as a user would after
// reading the error.
Result<analysis::Trial> build_fitting(const Calibrated& from, const Setting& setting,
                                      LayerTypes& layers) {
  while (true) {
    RK_ASSIGN(Graph graph, corrected_graph(from, setting, layers));
    RK_ASSIGN(
        compiler::Compiled compiled,
        compiler::compile_or_find_unfit(graph, compile_options(setting, graph, true, layers.f16)));
    if (compiled.program) return analysis::Trial{std::move(graph), std::move(*compiled.program)};
    bool added = false;
    for (const compiler::UnfitLayer& layer : compiled.unfit) {
      if (!layers.f16.insert(layer.output).second) continue;
      added = true;
      log(LogLevel::kWarning,
          str("layer '", layer.output, "' computes in float16: ", layer.why.message()));
    }
    if (!added) return compiled.unfit.front().why;
  }
}

Result<analysis::Trial> build_float(const Calibrated& from, const Setting& setting,
                                    bool do_quantization) {
  RK_ASSIGN(
      program::Program program,
      compiler::compile(from.optimized, compile_options(setting, from.optimized, do_quantization)));
  if (setting.config.sparse_infer)
    log(LogLevel::kWarning,
        "sparse_infer has no effect in float16: the NPU skips int8 weights only");
  return analysis::Trial{from.optimized.clone(), std::move(program)};
}

// One variant for each set of dynamic_input.
Result<program::Program> compile_shapes(const Imported& imported, const Calibrated& from,
                                        const Setting& setting, const LayerTypes& layers,
                                        bool do_quantization) {
  const std::vector<ShapeSet> sets = max_shape_first(setting.config.dynamic_input);
  const auto graph = [&](size_t i) { return graph_at(imported, sets[i], from, layers, setting); };
  return compiler::compile(graph, sets.size(),
                           compile_options(setting, from.optimized, do_quantization, layers.f16));
}

// What a file without weights keeps all the same: another build has other samples, so that its
// channels are equalized in another way.
void keep_fitted_weights(const Calibrated& from, Built& built) {
  if (from.stats.empty()) return;  // nothing was fitted
  built.fitted_weights = quant::fittable_weights(built.graph);
  const auto bytes = [](const program::Program& program) {
    uint64_t sum = 0;
    for (const program::RemovedWeight& removed : program.removed) sum += removed.size_bytes;
    return sum;
  };
  const uint64_t shared = bytes(format::without_weights(built.program, built.fitted_weights));
  const uint64_t all = bytes(format::without_weights(built.program));
  if (shared == all) return;
  log(LogLevel::kWarning,
      str("remove_weight: ", all - shared, " of ", all,
          " bytes of weights stay in the file, because optimization_level 3 fits them to the "
          "calibration data (channels are equalized); build both models with "
          "optimization_level=2 to share all of them"));
}

// What runs where, with a warning of what runs nowhere, and what of it another build shares.
Status place(const Calibrated& from, const Setting& setting, Built& built) {
  const auto compile = compile_options(setting, built.graph, true, built.layers.f16);
  RK_ASSIGN(built.placement, compiler::report_placement(built.graph, compile));
  warn_of_unsupported(built.placement, setting.target, !from.dataset.empty());
  if (setting.config.remove_weight) keep_fitted_weights(from, built);
  return ok_status();
}

}  // namespace

compiler::CompileOptions compile_options(const Setting& setting, const Graph& graph, bool quantize,
                                         const quant::FloatLayers& layers) {
  const Config& config = setting.config;
  compiler::CompileOptions compile;
  compile.float_layers = layers;
  compile.target = std::string(setting.target.name);
  compile.compiler_version = kVersionText;
  compile.custom_string = config.custom_string;
  compile.op_target = config.op_target;
  // The vendor's rule, from its documents: below level 3 Resize runs on the CPU.
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
                              const Setting& setting, const LayerTypes& layers) {
  const Config& config = setting.config;
  Graph out = optimized.clone();
  const auto method = config.quantized_method == "layer" ? quant::WeightMethod::kLayer
                                                         : quant::WeightMethod::kChannel;
  RK_TRY(
      quant::quantize(out, ranges,
                      {.weights = method,
                       .target = &setting.target,
                       .float_layers = layers.f16,
                       .i16_layers = layers.i16,
                       .dtype = config.quantized_dtype == "w16a16i" ? DType::kI16 : DType::kI8}));
  return out;
}

Result<analysis::Trial> build_trial(const Calibrated& from, const quant::Ranges& ranges,
                                    const Setting& setting, const LayerTypes& layers) {
  RK_ASSIGN(Graph graph, quantized_graph(from.optimized, ranges, setting, layers));
  quant::correct_biases(graph, from.stats);
  RK_ASSIGN(program::Program program,
            compiler::compile(graph, compile_options(setting, graph, true, layers.f16)));
  return analysis::Trial{std::move(graph), std::move(program)};
}

Result<Graph> optimize(const Graph& imported, const Setting& setting,
                       const std::vector<std::string>& only) {
  const Config& config = setting.config;
  const target::Target& target = setting.target;
  Graph graph = imported.clone();
  std::vector<std::string> skip = skipped_passes();
  // Weights of our own would have no parameters of the model.
  if (quant::is_prequantized(graph)) skip.emplace_back("pool_to_conv");
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

Result<Calibrated> calibrate(Graph optimized, const Setting& setting, const BuildOptions& options) {
  const Config& config = setting.config;
  const bool brings_parameters = quant::has_quantized_activations(optimized);
  RK_TRY(check_types(config, setting.target, options.do_quantization || brings_parameters));
  Calibrated out(std::move(optimized));
  if (!options.do_quantization) return out;
  if (computes_in_float(config)) {
    if (options.auto_hybrid || !options.float_layers.empty()) RK_TRY(check_hybrid_type(config));
    return out;  // ranges of weights need no samples
  }
  if (options.auto_hybrid) RK_TRY(check_hybrid_type(config));
  if (options.assumed_ranges) {
    out.ranges = assumed_ranges(out.optimized);
    out.dataset = "assumed ranges";
    return out;
  }
  if (options.dataset.empty()) {
    return invalid_argument(
        brings_parameters
            ? "build: the model brings its own quantization; build with do_quantization False to "
              "keep it as it is, or give a dataset to quantize what it leaves in float"
            : "build: quantization needs a dataset file");
  }
  RK_ASSIGN(const auto samples,
            quant::DatasetSamples::open(options.dataset, out.optimized,
                                        input_feeds(config, out.optimized.inputs().size())));
  const quant::Algorithm algorithm = *quant::parse_algorithm(config.quantized_algorithm);
  const bool fits_to_data = config.optimization_level >= kEqualizeLevel && !brings_parameters;
  quant::SeenSamples seen;
  if (fits_to_data) {
    const bool by_range = algorithm == quant::Algorithm::kNormal;
    RK_ASSIGN(out.stats, quant::observe_channels(out.optimized, samples, setting.pool,
                                                 by_range ? options.progress : quant::Progress(),
                                                 by_range ? &seen : nullptr));
    out.equalized = quant::equalize(out.optimized, out.stats);
    quant::follow_equalized(out.optimized, out.equalized, out.stats, seen);
    for (const quant::Equalized& value : out.equalized) {
      log(LogLevel::kInfo, str("'", value.value, "': channels equalized, expected noise ",
                               value.noise_before, " -> ", value.noise_after));
    }
  }
  RK_ASSIGN(out.ranges, quant::calibrate(out.optimized, samples, algorithm, setting.pool,
                                         options.progress, std::move(seen)));
  out.dataset = options.dataset;
  return out;
}

Result<quant::FloatLayers> propose_float_layers(const Calibrated& from, const Setting& setting,
                                                const BuildOptions& options, size_t samples) {
  const Config& config = setting.config;
  const Graph& graph = from.optimized;
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
    return build_trial(from, from.ranges, setting, all);
  };
  return analysis::choose_float_layers(
      build, graph, trials, compile_options(setting, graph),
      {.cosine = config.auto_hybrid_cos_thresh, .euclidean = config.auto_hybrid_euc_thresh},
      setting.pool);
}

Result<Graph> optimized_at(const Imported& imported, const ShapeSet& set, const Calibrated& from,
                           const Setting& setting) {
  auto file = imported.at(set);
  if (!file.ok()) return file.status().with_context(str("dynamic_input ", to_string(set)));
  if (imported.optimized) return file;
  RK_ASSIGN(Graph graph, optimize(*file, setting));
  quant::equalize_alike(graph, from.equalized);
  return graph;
}

Result<Graph> graph_at(const Imported& imported, const ShapeSet& set, const Calibrated& from,
                       const LayerTypes& layers, const Setting& setting) {
  RK_ASSIGN(Graph graph, optimized_at(imported, set, from, setting));
  if (from.dataset.empty()) return graph;
  RK_ASSIGN(Graph quantized, quantized_graph(graph, from.ranges, setting, layers));
  quant::correct_biases(quantized, from.stats);
  return quantized;
}

Result<Built> build_layers(const Imported& imported, const Calibrated& from, const Setting& setting,
                           LayerTypes layers) {
  RK_ASSIGN(analysis::Trial trial, build_fitting(from, setting, layers));
  if (!setting.config.dynamic_input.empty()) {
    RK_ASSIGN(trial.program, compile_shapes(imported, from, setting, layers, true));
  }
  Built out{std::move(trial.graph), std::move(trial.program), std::move(layers), {}};
  RK_TRY(place(from, setting, out));
  RK_TRY(check_numbers(from, out.program, setting));
  return out;
}

Status set_batch(int batch, Built& built) {
  for (const Value* output : built.graph.outputs()) {
    if (batch > 1 && output->shape().rank() == 0) {
      return unsupported(str("rknn_batch_size: output '", output->name(),
                             "' is one number without an axis, so it cannot hold a batch"));
    }
  }
  built.program.batch = batch;
  return ok_status();
}

Result<Built> build_model(const Imported& imported, const Calibrated& from, const Setting& setting,
                          const BuildOptions& options) {
  const Config& config = setting.config;
  const bool quantized = options.do_quantization && !computes_in_float(config);
  int batch = options.rknn_batch_size;
  RK_TRY(check_batch(batch));
  RK_TRY(check_batch_at_shapes(batch, config));
  LayerTypes layers;
  std::optional<analysis::Trial> trial;
  if (quantized) {
    for (const std::string& name : options.float_layers) {
      if (from.optimized.find(name) == nullptr) {
        return invalid_argument(
            str("float_layers names '", name, "', which is not a value of the optimized graph"));
      }
      layers.f16.insert(name);
    }
    RK_ASSIGN(trial, build_fitting(from, setting, layers));
    if (options.auto_hybrid) {
      BuildOptions more = options;
      more.float_layers.assign(layers.f16.begin(), layers.f16.end());
      RK_ASSIGN(const quant::FloatLayers chosen,
                propose_float_layers(from, setting, more, kHybridSamples));
      layers.f16.insert(chosen.begin(), chosen.end());
      RK_ASSIGN(trial, build_fitting(from, setting, layers));
    }
    log_sparse_layers(config, trial->graph);
  } else {
    RK_ASSIGN(trial, build_float(from, setting, options.do_quantization));
  }
  Built out{std::move(trial->graph), std::move(trial->program), std::move(layers), {}};
  if (!config.dynamic_input.empty()) {
    RK_ASSIGN(out.program,
              compile_shapes(imported, from, setting, out.layers, options.do_quantization));
  }
  RK_TRY(set_batch(batch, out));
  if (config.sparse_infer) mark_sparse(quant::find_sparse_layers(out.graph), out.program);
  RK_TRY(program::verify(out.program));
  RK_TRY(place(from, setting, out));
  if (quantized && !options.assumed_ranges) RK_TRY(check_numbers(from, out.program, setting));
  if (!quantized && !options.dataset.empty())
    RK_TRY(check_float_numbers(out.graph, options.dataset, out.program, setting));
  return out;
}

}  // namespace rk::toolkit
