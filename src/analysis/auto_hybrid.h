// SPDX-License-Identifier: Apache-2.0
// Which layers to keep in float16 so that the model's outputs come close enough to the float model's: tried, measured,
// and kept only where it helped.
#pragma once

#include <functional>
#include <span>

#include "analysis/accuracy.h"
#include "quant/regions.h"

namespace rk::analysis {

// A build with some layers in float16.
struct Trial {
  Graph graph;
  program::Program program;
};
using BuildTrial = std::function<Result<Trial>(const quant::FloatLayers& layers)>;

struct HybridGoal {
  double cosine = 0.98;             // every output at least
  std::optional<double> euclidean;  // every output at most
  double max_share = 0.1;           // of the quantized layers, at least one
};

// Judged by the worst output on the worst input. Empty when the outputs are good enough as they are.
Result<quant::FloatLayers> choose_float_layers(const BuildTrial& build, const Graph& golden,
                                               std::span<const TrialInput> inputs,
                                               const compiler::CompileOptions& compile,
                                               const HybridGoal& goal, ThreadPool* pool);

// The layer that computes a value, and those that read it: a value between two int8 layers is int8, so one whose range
// is the trouble becomes float16 only together with its readers.
quant::FloatLayers with_readers(const Graph& graph, const std::string& name);

// Quantized layers by their own error, worst first.
std::vector<std::string> worst_layers(const AccuracyReport& report);

}  // namespace rk::analysis
