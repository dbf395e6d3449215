// SPDX-License-Identifier: Apache-2.0
// What a Toolkit holds between its calls, and the stages that several of its methods run. Private to src/toolkit.
//
// Note: `imported` is the golden side and never changes after loading; `optimized` is what calibration
// runs on; `quantized` is `optimized` with parameters, the very graph the Program was compiled from.
#pragma once

#include <functional>

#include "analysis/auto_hybrid.h"
#include "base/thread_pool.h"
#include "compiler/compile.h"
#include "ops/registry.h"
#include "quant/calibrate.h"
#include "quant/channel_stats.h"
#include "quant/equalize.h"
#include "quant/quantize.h"
#include "quant/samples.h"
#include "target/target.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {

struct Toolkit::State {
  // Custom operators and, last, the registry that knows them all; graphs loaded earlier refer to those before it.
  std::vector<ops::CustomOp> custom_ops;
  std::vector<std::shared_ptr<const OpRegistry>> registries;
  const OpRegistry& registry() const {
    return registries.empty() ? ops::registry() : *registries.back();
  }

  std::optional<Config> config;
  const target::Target* target = nullptr;
  std::string model_name;  // of its file, without folder and ending
  std::function<Result<Graph>(const ShapeSet& shapes)> import;  // the loaded file once more
  std::optional<Graph> imported;
  std::optional<Graph> optimized;
  std::optional<Graph> quantized;
  std::optional<program::Program> program;
  std::string dataset;  // of the last quantized build; empty: float
  quant::Ranges ranges;
  quant::ValueStats stats;  // of `optimized`, where biases are corrected
  std::vector<quant::Equalized> equalized;
  quant::FloatLayers float_layers;
  quant::FloatLayers i16_layers;  // of hybrid step 2
  std::unique_ptr<ThreadPool> pool = std::make_unique<ThreadPool>(default_thread_count());
};

// Layers, by the value they compute, that do not run in int8.
struct LayerTypes {
  LayerTypes() = default;
  LayerTypes(quant::FloatLayers f16) : f16(std::move(f16)) {}
  quant::FloatLayers f16;
  quant::FloatLayers i16;
};

// `quantize`: of a quantized build; matters to weights of layers that compute in float16. `layers` compute in float16
// even between int8 values.
compiler::CompileOptions compile_options(const Config& config, const target::Target& target,
                                         const Graph& graph, bool quantize = true,
                                         const quant::FloatLayers& layers = {});

// Pictures in the order the model wants, without mean and std: what an application feeds.
std::vector<quant::InputFeed> raw_feeds(const Config& config, size_t inputs);

// The passes for the chip; a model that arrives quantized keeps its parameters on the values.
// `only`: names of passes to run; empty: all.
Result<Graph> optimize(const Graph& imported, const Config& config, const target::Target& target,
                       const std::vector<std::string>& only = {});

// Quantizes a copy of the optimized graph with the given ranges, and compiles it.
Result<Graph> quantized_graph(const Graph& optimized, const quant::Ranges& ranges,
                              const Config& config, const target::Target& target,
                              const LayerTypes& layers);
// Also corrects the biases, where `stats` has the means of the layers' inputs.
Result<analysis::Trial> build_trial(const Graph& optimized, const quant::Ranges& ranges,
                                    const Config& config, const target::Target& target,
                                    const LayerTypes& layers, const quant::ValueStats& stats);

}  // namespace rk::toolkit
