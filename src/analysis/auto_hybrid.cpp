// SPDX-License-Identifier: Apache-2.0
#include "analysis/auto_hybrid.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/log.h"
#include "evaluator/evaluate.h"

namespace rk::analysis {
namespace {

// Of one build, over all inputs.
struct Score {
  double cosine = 1;  // of the worst output on the worst input
  bool reached = true;

  void join(const Score& other) {
    cosine = std::min(cosine, other.cosine);
    reached = reached && other.reached;
  }
  void add(const std::vector<Errors>& outputs, const HybridGoal& goal) {
    cosine = std::min(cosine, worst_cosine(outputs));
    reached = reached && std::ranges::all_of(outputs, [&](const Errors& output) {
                return output.cosine >= goal.cosine &&
                       (!goal.euclidean || output.euclidean <= *goal.euclidean);
              });
  }
};

// Layers to float16 and what they do to the worst output.
struct Move {
  quant::FloatLayers layers;
  double gain = 0;
};

// Each costs a build and a run; beyond so many only those with the largest error of their own are tried.
constexpr size_t kMostCandidates = 64;

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
    RK_ASSIGN(auto outputs, evaluator::evaluate(golden, input.normalized, {pool, {}}));
    wanted.push_back(std::move(outputs));
  }
  // On one input, or on all of them.
  const auto measure = [&](const Trial& trial, std::optional<size_t> only = {}) -> Result<Score> {
    Score score;
    for (size_t i = only.value_or(0); i < (only ? *only + 1 : inputs.size()); ++i) {
      RK_ASSIGN(const auto errors,
                output_errors(wanted[i], trial.program, golden.registry(), inputs[i].raw));
      score.add(errors, goal);
    }
    return score;
  };
  quant::FloatLayers chosen;
  RK_ASSIGN(const Trial plain, build(chosen));
  Score best;
  size_t hardest = 0;  // the input the outputs are worst on
  for (size_t i = 0; i < inputs.size(); ++i) {
    RK_ASSIGN(const Score found, measure(plain, i));
    if (found.cosine < best.cosine) hardest = i;
    best.join(found);
  }
  if (best.reached) return chosen;
  RK_ASSIGN(const AccuracyReport report,
            analyze({golden, plain.graph, plain.program, compile}, inputs[hardest], {}, pool));
  std::vector<std::string> candidates = worst_layers(report);
  const auto budget = std::max<size_t>(
      1, static_cast<size_t>(goal.max_share * static_cast<double>(candidates.size())));
  const size_t layer_count = candidates.size();
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);

  // What each layer is worth, measured: its own error says little about what becomes of it further on.
  std::vector<Move> moves;
  const auto weigh = [&](quant::FloatLayers layers) -> Status {
    if (layers.size() > budget) return ok_status();
    RK_ASSIGN(const Trial trial, build(layers));
    RK_ASSIGN(const Score found, measure(trial, hardest));
    moves.push_back({std::move(layers), found.cosine - best.cosine});
    return ok_status();
  };
  const auto by_worth = [](const Move& move) {
    return move.gain / static_cast<double>(move.layers.size());
  };
  for (const std::string& name : candidates) RK_TRY(weigh({name}));
  std::ranges::stable_sort(moves, std::greater<>(), by_worth);
  const size_t promising = std::min(moves.size(), 2 * budget);
  for (size_t i = 0; i < promising; ++i) {
    const quant::FloatLayers wider = with_readers(golden, *moves[i].layers.begin());
    if (wider.size() > 1) RK_TRY(weigh(wider));
  }
  std::ranges::stable_sort(moves, std::greater<>(), by_worth);

  // A layer must bring a fair part of what is missing: less is chance, and lost again on the next picture.
  const double least_gain =
      std::max(goal.cosine - best.cosine, 0.0) / static_cast<double>(4 * budget);
  for (const Move& move : moves) {
    if (best.reached || move.gain <= 0 || by_worth(move) < least_gain) break;
    quant::FloatLayers layers = chosen;
    layers.insert(move.layers.begin(), move.layers.end());
    if (layers.size() > budget || layers.size() == chosen.size()) continue;
    RK_ASSIGN(const Trial trial, build(layers));
    RK_ASSIGN(const Score found, measure(trial));
    if (found.cosine <= best.cosine + least_gain) continue;
    best = found;
    chosen = std::move(layers);
    log(LogLevel::kInfo, str("auto_hybrid: '", *move.layers.begin(),
                             "' to float16, worst output cosine ", best.cosine));
  }
  if (!best.reached) {
    log(LogLevel::kWarning, str("auto_hybrid: with ", chosen.size(), " of ", layer_count,
                                " layers in float16 the worst output has cosine ", best.cosine,
                                ", wanted ", goal.cosine));
  }
  return chosen;
}

}  // namespace rk::analysis
