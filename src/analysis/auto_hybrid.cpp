// SPDX-License-Identifier: Apache-2.0
#include "analysis/auto_hybrid.h"

#include <algorithm>

#include "base/log.h"
#include "exec/evaluate.h"

namespace rk::analysis {
namespace {

// Of one build, over all inputs.
struct Score {
  double cosine = 1;  // of the worst output on the worst input
  bool reached = true;

  void add(const std::vector<Errors>& outputs, const HybridGoal& goal) {
    cosine = std::min(cosine, worst_cosine(outputs));
    reached = reached && std::ranges::all_of(outputs, [&](const Errors& output) {
                return output.cosine >= goal.cosine &&
                       (!goal.euclidean || output.euclidean <= *goal.euclidean);
              });
  }
};

}  // namespace

std::vector<std::string> worst_layers(const AccuracyReport& report) {
  std::vector<const Layer*> layers;
  for (const Layer& layer : report.layers) {
    const bool computed = layer.type != "Input" && layer.type != "exDataConvert";
    if (!layer.is_float && layer.single && computed) layers.push_back(&layer);
  }
  std::ranges::stable_sort(layers, {}, [](const Layer* layer) { return layer->single->sqnr_db; });
  std::vector<std::string> out;
  for (const Layer* layer : layers) out.push_back(layer->name);
  return out;
}

quant::FloatLayers with_readers(const Graph& graph, const std::string& name) {
  quant::FloatLayers out = {name};
  const Value* value = graph.find(name);
  if (value == nullptr) return out;
  for (const Use& use : value->uses()) out.insert(use.node->output().name());
  return out;
}

Result<quant::FloatLayers> choose_float_layers(const BuildTrial& build, const Graph& golden,
                                               std::span<const TrialInput> inputs,
                                               const compiler::CompileOptions& compile,
                                               const HybridGoal& goal, ThreadPool* pool) {
  std::vector<std::vector<Tensor>> wanted;
  for (const TrialInput& input : inputs) {
    RK_ASSIGN(auto outputs, exec::evaluate(golden, input.normalised, {pool, {}}));
    wanted.push_back(std::move(outputs));
  }
  const auto measure = [&](const Trial& trial) -> Result<Score> {
    Score score;
    for (size_t i = 0; i < inputs.size(); ++i) {
      RK_ASSIGN(const auto errors,
                output_errors(wanted[i], trial.program, golden.registry(), inputs[i].raw));
      score.add(errors, goal);
    }
    return score;
  };
  quant::FloatLayers chosen;
  RK_ASSIGN(const Trial plain, build(chosen));
  RK_ASSIGN(Score best, measure(plain));
  if (best.reached) return chosen;
  RK_ASSIGN(const AccuracyReport report,
            analyze({golden, plain.graph, plain.program, compile}, inputs.front(), {}, pool));
  const std::vector<std::string> candidates = worst_layers(report);
  const auto budget = std::max<size_t>(
      1, static_cast<size_t>(goal.max_share * static_cast<double>(candidates.size())));
  const size_t tries = std::min(candidates.size(), 3 * budget);
  for (size_t i = 0; i < tries && chosen.size() < budget && !best.reached; ++i) {
    for (const quant::FloatLayers& more :
         {quant::FloatLayers{candidates[i]}, with_readers(golden, candidates[i])}) {
      quant::FloatLayers layers = chosen;
      layers.insert(more.begin(), more.end());
      if (layers.size() > budget || layers.size() == chosen.size() || best.reached) continue;
      RK_ASSIGN(const Trial trial, build(layers));
      RK_ASSIGN(const Score found, measure(trial));
      if (found.cosine <= best.cosine) continue;
      best = found;
      chosen = std::move(layers);
      log(LogLevel::kInfo,
          str("auto_hybrid: '", candidates[i], "' to float16, worst output cosine ", best.cosine));
    }
  }
  if (!best.reached) {
    log(LogLevel::kWarning, str("auto_hybrid: with ", chosen.size(), " of ", candidates.size(),
                                " layers in float16 the worst output has cosine ", best.cosine,
                                ", wanted ", goal.cosine));
  }
  return chosen;
}

}  // namespace rk::analysis
