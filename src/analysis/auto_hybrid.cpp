// SPDX-License-Identifier: Apache-2.0
#include "analysis/auto_hybrid.h"

#include <algorithm>

#include "base/log.h"

namespace rk::analysis {
namespace {

bool reached(const AccuracyReport& report, const HybridGoal& goal) {
  return std::ranges::all_of(report.outputs, [&](const Errors& output) {
    return output.cosine >= goal.cosine && (!goal.euclidean || output.euclidean <= *goal.euclidean);
  });
}

}  // namespace

std::vector<std::string> worst_layers(const AccuracyReport& report) {
  std::vector<const Layer*> layers;
  for (const Layer& layer : report.layers) {
    if (!layer.is_float && layer.single && layer.type != "Input") layers.push_back(&layer);
  }
  std::ranges::stable_sort(layers, {}, [](const Layer* layer) { return layer->single->sqnr_db; });
  std::vector<std::string> out;
  for (const Layer* layer : layers) out.push_back(layer->name);
  return out;
}

Result<quant::FloatLayers> choose_float_layers(const BuildTrial& build, const TrialInput& input,
                                               const compiler::CompileOptions& compile,
                                               const HybridGoal& goal, ThreadPool* pool) {
  const auto measure = [&](const quant::FloatLayers& layers,
                           bool single) -> Result<AccuracyReport> {
    RK_ASSIGN(const Trial trial, build(layers));
    return analyze(trial.graph, trial.program, compile, input.normalised, input.raw,
                   {.output_dir = "", .single = single}, pool);
  };
  quant::FloatLayers chosen;
  RK_ASSIGN(AccuracyReport report, measure(chosen, true));
  const std::vector<std::string> candidates = worst_layers(report);
  const auto budget = std::max<size_t>(
      1, static_cast<size_t>(goal.max_share * static_cast<double>(candidates.size())));
  double best = report.worst_output_cosine();
  const size_t tries = std::min(candidates.size(), 3 * budget);
  for (size_t i = 0; i < tries && chosen.size() < budget && !reached(report, goal); ++i) {
    quant::FloatLayers trial = chosen;
    trial.insert(candidates[i]);
    RK_ASSIGN(AccuracyReport found, measure(trial, false));
    if (found.worst_output_cosine() <= best) continue;
    best = found.worst_output_cosine();
    chosen = std::move(trial);
    report = std::move(found);
    log(LogLevel::kInfo,
        str("auto_hybrid: '", candidates[i], "' to float16, worst output cosine ", best));
  }
  if (!reached(report, goal)) {
    log(LogLevel::kWarning,
        str("auto_hybrid: with ", chosen.size(), " of ", candidates.size(),
            " layers in float16 the worst output has cosine ", best, ", wanted ", goal.cosine));
  }
  return chosen;
}

}  // namespace rk::analysis
