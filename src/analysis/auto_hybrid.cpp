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

Result<quant::FloatLayers> choose_float_layers(const BuildTrial& build,
                                               std::span<const TrialInput> inputs,
                                               const compiler::CompileOptions& compile,
                                               const HybridGoal& goal, ThreadPool* pool) {
  struct Score {
    double cosine = 1;  // of the worst output on the worst input
    bool reached = true;
    std::vector<std::string> candidates;
  };
  const auto measure = [&](const quant::FloatLayers& layers, bool single) -> Result<Score> {
    RK_ASSIGN(const Trial trial, build(layers));
    Score score;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool rank = single && i == 0;
      RK_ASSIGN(const AccuracyReport report,
                analyze(trial.graph, trial.program, compile, inputs[i].normalised, inputs[i].raw,
                        {.output_dir = "", .single = rank}, pool));
      score.cosine = std::min(score.cosine, report.worst_output_cosine());
      score.reached = score.reached && reached(report, goal);
      if (rank) score.candidates = worst_layers(report);
    }
    return score;
  };
  quant::FloatLayers chosen;
  RK_ASSIGN(Score best, measure(chosen, true));
  const std::vector<std::string> candidates = best.candidates;
  const auto budget = std::max<size_t>(
      1, static_cast<size_t>(goal.max_share * static_cast<double>(candidates.size())));
  const size_t tries = std::min(candidates.size(), 3 * budget);
  for (size_t i = 0; i < tries && chosen.size() < budget && !best.reached; ++i) {
    quant::FloatLayers trial = chosen;
    trial.insert(candidates[i]);
    RK_ASSIGN(Score found, measure(trial, false));
    if (found.cosine <= best.cosine) continue;
    best = std::move(found);
    chosen = std::move(trial);
    log(LogLevel::kInfo,
        str("auto_hybrid: '", candidates[i], "' to float16, worst output cosine ", best.cosine));
  }
  if (!best.reached) {
    log(LogLevel::kWarning, str("auto_hybrid: with ", chosen.size(), " of ", candidates.size(),
                                " layers in float16 the worst output has cosine ", best.cosine,
                                ", wanted ", goal.cosine));
  }
  return chosen;
}

}  // namespace rk::analysis
