// SPDX-License-Identifier: Apache-2.0
// Hybrid quantization in two steps with a file to edit between them. Step 1 optimizes and calibrates, then writes
// <model>.model (the optimized graph as ONNX, for Netron), <model>.data and <model>.quantization.cfg; step 2 builds from
// the three files alone. With dynamic_input, .model has the largest set of shapes and .data the graphs at the others.
#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/crc32.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/suggest.h"
#include "frontends/frontend.h"
#include "ir/text.h"
#include "toolkit/config_check.h"
#include "toolkit/dynamic_shapes.h"
#include "toolkit/hybrid_data.h"
#include "toolkit/quantization_cfg.h"
#include "toolkit/state.h"

namespace rk::toolkit {
namespace {

std::vector<std::string> value_names(const Graph& graph) {
  std::vector<std::string> out;
  for (const Value* value : graph.values()) {
    if (!value->is_constant()) out.push_back(value->name());
  }
  return out;
}

Result<Value*> find_tensor(const Graph& graph, std::string_view name, std::string_view where) {
  if (Value* value = graph.find(name)) return value;
  const std::string close = close_names(name, value_names(graph));
  return invalid_argument(str(where, " names '", name,
                              "', which is not a tensor of the .model file",
                              close.empty() ? "" : "; close names: ", close));
}

// Everything computed from `from`, itself included.
std::unordered_set<const Value*> reached_from(const Graph& graph, const Value& from) {
  std::unordered_set<const Value*> out = {&from};
  for (const Node* node : graph.nodes()) {
    const bool reads = std::ranges::any_of(node->inputs(), [&](const Value* value) {
      return value != nullptr && out.contains(value);
    });
    if (reads) out.insert(node->outputs().begin(), node->outputs().end());
  }
  return out;
}

// Everything `to` is computed from, itself included.
std::unordered_set<const Value*> leading_to(const Graph& graph, const Value& to) {
  std::unordered_set<const Value*> out = {&to};
  const std::vector<Node*> nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const bool feeds = std::ranges::any_of((*it)->outputs(),
                                           [&](const Value* value) { return out.contains(value); });
    if (feeds) out.insert((*it)->inputs().begin(), (*it)->inputs().end());
  }
  return out;
}

// The layers on the ways from one tensor to another.
Status add_between(const Graph& graph, const std::pair<std::string, std::string>& border,
                   QuantizationCfg& cfg) {
  RK_ASSIGN(const Value* const from, find_tensor(graph, border.first, "custom_hybrid"));
  RK_ASSIGN(const Value* const to, find_tensor(graph, border.second, "custom_hybrid"));
  const auto after = reached_from(graph, *from), before = leading_to(graph, *to);
  if (!after.contains(to)) {
    return invalid_argument(str("custom_hybrid: '", border.second, "' is not computed from '",
                                border.first, "'; give [input name, output name]"));
  }
  for (const Value* value : graph.values()) {
    if (value == from || !after.contains(value) || !before.contains(value)) continue;
    if (quant::is_activation(*value)) cfg.layers[value->name()] = "float16";
  }
  return ok_status();
}

Status write_text(const std::string& path, const std::string& text) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace

Result<HybridFiles> Toolkit::hybrid_quantization_step1(const HybridOptions& options) {
  if (!state_->imported) return invalid_argument("hybrid_quantization_step1: load a model first");
  RK_TRY(check_hybrid_type(*state_->config));
  HybridData data;
  data.rknn_batch_size = options.rknn_batch_size;
  RK_TRY(check_batch(data.rknn_batch_size));
  RK_TRY(check_batch_at_shapes(data.rknn_batch_size, *state_->config));
  BuildOptions build;
  build.dataset = options.dataset;
  build.progress = options.progress;
  RK_TRY(prepare(build));
  const Calibrated& from = *state_->calibrated;
  const Graph& graph = from.optimized;
  QuantizationCfg cfg;
  for (const auto& border : options.custom_hybrid) RK_TRY(add_between(graph, border, cfg));
  if (options.proposal) {
    RK_ASSIGN(
        const quant::FloatLayers proposed,
        propose_float_layers(from, state_->setting(), build,
                             static_cast<size_t>(std::max(options.proposal_dataset_size, 1))));
    for (const std::string& name : proposed) cfg.layers[name] = "float16";
  }
  RK_ASSIGN(const Graph quantized, quantized_graph(graph, from.ranges, state_->setting(), {}));
  for (const Value* value : quantized.values()) {
    if (value->quantized()) cfg.parameters[value->name()] = entry_of(value->quant);
  }
  data.config = *state_->config;
  std::error_code ignored;
  data.dataset = std::filesystem::absolute(options.dataset, ignored).string();
  data.ranges = from.ranges;
  data.stats = from.stats;
  for (const Value* value : graph.values()) {
    if (value->quantized()) data.own_params[value->name()] = value->quant;
  }
  RK_ASSIGN(const std::vector<uint8_t> model, frontends::export_onnx(graph));
  data.model_crc32 = crc32(model);
  const std::vector<ShapeSet> sets = max_shape_first(state_->config->dynamic_input);
  for (size_t i = 1; i < sets.size(); ++i) {
    RK_ASSIGN(const Graph there, optimized_at(*state_->imported, sets[i], from, state_->setting()));
    data.other_shapes.push_back(to_text(there, {.shared = &graph}));
  }

  const std::string stem =
      (std::filesystem::path(options.output_dir) / state_->imported->name).string();
  HybridFiles files{stem + ".model", stem + ".data", stem + ".quantization.cfg"};
  RK_TRY(write_file(files.model, model, Durability::kPower));
  const std::string data_text = write_hybrid_data(data);
  if (data_text.size() > kMaxJsonBytes) {
    return unsupported(str("hybrid_quantization_step1: the graphs at ", sets.size(),
                           " sets of dynamic_input take ", data_text.size(),
                           " bytes in the .data file, which holds ", kMaxJsonBytes,
                           "; list fewer sets"));
  }
  RK_TRY(write_text(files.data, data_text));
  RK_TRY(write_text(files.cfg, write_cfg(graph, cfg)));
  log(LogLevel::kInfo, str("edit '", files.cfg, "', then call hybrid_quantization_step2"));
  return files;
}

Status Toolkit::hybrid_quantization_step2(const HybridFiles& files) {
  RK_ASSIGN(HybridData data, read_hybrid_data(files.data));
  RK_ASSIGN(const QuantizationCfg cfg, read_cfg(files.cfg));
  RK_ASSIGN(const std::vector<uint8_t> model, read_file(files.model));
  if (crc32(model) != data.model_crc32) {
    return invalid_argument(str("'", files.model, "' and '", files.data,
                                "' do not belong together: give the two files of one "
                                "hybrid_quantization_step1, unchanged"));
  }
  RK_TRY(add_plugins());
  const frontends::ModelFile file{"", model};
  auto imported = frontends::import_files({&file, 1}, "onnx", {}, state_->registry());
  if (!imported.ok()) return imported.status().with_context(str("'", files.model, "'"));
  Graph* const graph = &imported->graph;
  RK_TRY(config(data.config));
  for (const auto& [name, params] : data.own_params) {
    RK_ASSIGN(Value* const value, find_tensor(*graph, name, "the .data file"));
    value->quant = params;
  }
  state_->imported =
      Imported{graph->clone(), std::filesystem::path(files.model).stem().string(), {}, true};
  state_->calibrated.reset();
  state_->built.reset();
  const target::Target& target = *state_->target;

  LayerTypes layers;
  for (const auto& [name, type] : cfg.layers) {
    RK_ASSIGN(const Value* const value, find_tensor(*graph, name, "custom_quantize_layers"));
    if (value->producer() == nullptr && (!graph->is_input(*value) || type == "int16")) {
      return invalid_argument(str("custom_quantize_layers names '", name,
                                  "', which no layer computes; name the output of a layer, or an "
                                  "input of the model as float16"));
    }
    if (type == "int16" && !target.has_i16) {
      log(LogLevel::kWarning, str(target.name, "'s NPU has no int16; layer '", name,
                                  "' is simulated in it, the board would refuse the model"));
    }
    if (type == "float16") layers.f16.insert(name);
    if (type == "int16") layers.i16.insert(name);
  }
  // What step 1 wrote; an entry that differs was edited.
  std::map<std::string, QuantParams, std::less<>> edits;
  RK_ASSIGN(const Graph before, quantized_graph(*graph, data.ranges, state_->setting(), {}));
  for (const auto& [name, entry] : cfg.parameters) {
    RK_ASSIGN(Value* const value, find_tensor(*graph, name, "quantize_parameters"));
    const Value* const written = before.find(name);
    if (!written->quantized()) {
      return invalid_argument(str("quantize_parameters names '", name,
                                  "', which is not quantized in this model; remove the entry"));
    }
    RK_ASSIGN(auto edited, edited_params(name, entry, written->quant));
    if (!edited) continue;
    log(LogLevel::kInfo, str("'", name, "' has edited parameters"));
    value->quant = *edited;
    edits[name] = std::move(*edited);
  }
  state_->imported->at = [model = std::make_shared<const Graph>(graph->clone()),
                          sets = max_shape_first(data.config.dynamic_input),
                          texts = std::move(data.other_shapes),
                          edits](const ShapeSet& set) -> Result<Graph> {
    const auto at = static_cast<size_t>(std::ranges::find(sets, set) - sets.begin());
    if (at == 0) return model->clone();
    if (at >= sets.size()) return invalid_argument("dynamic_input does not list this set");
    RK_ASSIGN(Graph there, parse_graph(texts[at - 1], model->registry(), model.get()));
    for (const auto& [name, params] : edits) {
      if (Value* const value = there.find(name)) value->quant = params;
    }
    return there;
  };
  Calibrated calibrated(std::move(*graph));
  calibrated.dataset = data.dataset;
  calibrated.ranges = std::move(data.ranges);
  calibrated.stats = std::move(data.stats);
  RK_ASSIGN(Built built,
            build_layers(*state_->imported, calibrated, state_->setting(), std::move(layers)));
  RK_TRY(set_batch(data.rknn_batch_size, built));
  for (const Value* input : built.graph.inputs()) {
    if (cfg.layers.contains(input->name()) && input->quantized() &&
        cfg.layers.at(input->name()) == "float16") {
      return invalid_argument(str("custom_quantize_layers names the input '", input->name(),
                                  "' as float16, but an int8 layer reads it; name that layer too"));
    }
  }
  state_->calibrated = std::move(calibrated);
  state_->built = std::move(built);
  return ok_status();
}

}  // namespace rk::toolkit
