// SPDX-License-Identifier: Apache-2.0
// A conversion as values, each made from the one before by a free function: Imported -> Calibrated -> Built. The Toolkit
// class keeps the latest of each. Private to src/toolkit.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "analysis/auto_hybrid.h"
#include "base/thread_pool.h"
#include "compiler/compile.h"
#include "compiler/placement_report.h"
#include "quant/calibrate.h"
#include "quant/channel_stats.h"
#include "quant/equalize.h"
#include "quant/quantize.h"
#include "target/target.h"
#include "toolkit/config.h"

namespace rk::toolkit {

// What every stage is told.
struct Setting {
  const Config& config;
  const target::Target& target;
  ThreadPool* pool = nullptr;
};

struct Imported {
  Graph graph;       // the golden side of every comparison
  std::string name;  // of its file, without folder and ending
  std::function<Result<Graph>(const ShapeSet& shapes)> at;  // the file once more
  bool optimized = false;  // the passes ran over these graphs before they were written down
};

struct Calibrated {
  explicit Calibrated(Graph graph) : optimized(std::move(graph)) {}
  Graph optimized;      // by the passes; weights may be fitted to the samples
  std::string dataset;  // where the ranges come from; empty: a float build, which has none
  quant::Ranges ranges;
  quant::ValueStats stats;  // of `optimized`, where biases are corrected
  std::vector<quant::Equalized> equalized;
};

// Layers, by the value they compute, that do not run in int8.
struct LayerTypes {
  LayerTypes() = default;
  LayerTypes(quant::FloatLayers f16) : f16(std::move(f16)) {}
  quant::FloatLayers f16;
  quant::FloatLayers i16;
};

struct Built {
  Graph graph;  // the optimized one with parameters, from which the program was compiled
  program::Program program;
  LayerTypes layers;  // asked for, chosen, or beyond what integers express
  compiler::PlacementReport placement;
  // Weights that follow the calibration, by name: remove_weight leaves them in the file.
  std::set<std::string, std::less<>> fitted_weights;
};

// The passes for the chip; a model that arrives quantized keeps its parameters on the values.
// `only`: names of passes to run; empty: all.
Result<Graph> optimize(const Graph& imported, const Setting& setting,
                       const std::vector<std::string>& only = {});

// For a quantized build, runs the samples of the dataset.
Result<Calibrated> calibrate(Graph optimized, const Setting& setting, const BuildOptions& options);

// All variants, with the warnings a user should see.
Result<Built> build_model(const Imported& imported, const Calibrated& from, const Setting& setting,
                          const BuildOptions& options);
// A quantized model with these layers in other types, at all its shapes.
Result<Built> build_layers(const Imported& imported, const Calibrated& from, const Setting& setting,
                           LayerTypes layers);
// `batch` has passed check_batch. Refuses outputs that have no axis to hold it.
Status set_batch(int batch, Built& built);

// Layers to keep in float16, judged on the first samples of the dataset.
Result<quant::FloatLayers> propose_float_layers(const Calibrated& from, const Setting& setting,
                                                const BuildOptions& options, size_t samples);

// The loaded model at other shapes, optimized and equalized as the one at hand.
Result<Graph> optimized_at(const Imported& imported, const ShapeSet& set, const Calibrated& from,
                           const Setting& setting);
// The same with the parameters of a build at hand.
Result<Graph> graph_at(const Imported& imported, const ShapeSet& set, const Calibrated& from,
                       const LayerTypes& layers, const Setting& setting);

// Quantizes a copy of the optimized graph with the given ranges.
Result<Graph> quantized_graph(const Graph& optimized, const quant::Ranges& ranges,
                              const Setting& setting, const LayerTypes& layers);
// Also corrects the biases, where `from` has the means of the layers' inputs, and compiles.
Result<analysis::Trial> build_trial(const Calibrated& from, const quant::Ranges& ranges,
                                    const Setting& setting, const LayerTypes& layers);

// `quantize`: of a quantized build; matters to weights of layers that compute in float16. `layers` compute in float16
// even between int8 values.
compiler::CompileOptions compile_options(const Setting& setting, const Graph& graph,
                                         bool quantize = true,
                                         const quant::FloatLayers& layers = {});

// Pictures in the order the model wants, without mean and std: what an application feeds.
std::vector<quant::InputFeed> raw_feeds(const Config& config, size_t inputs);

}  // namespace rk::toolkit
