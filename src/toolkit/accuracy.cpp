// SPDX-License-Identifier: Apache-2.0
// accuracy_analysis: the built model against the float model layer by layer, and remedies whose effect was measured.
#include <algorithm>

#include "toolkit/config_check.h"
#include "toolkit/state.h"

namespace rk::toolkit {

Result<analysis::AccuracyReport> Toolkit::accuracy_analysis(const std::vector<std::string>& files,
                                                            const std::string& output_dir) const {
  if (!state_->program || !state_->quantized)
    return invalid_argument("accuracy_analysis: build the model first");
  const Config& config = *state_->config;
  const Graph& graph = *state_->quantized;
  const auto& inputs = graph.inputs();
  if (files.size() != inputs.size()) {
    return invalid_argument(str("accuracy_analysis: ", files.size(),
                                " input file(s), the model has ", inputs.size(), " input(s)"));
  }
  const auto feeds = input_feeds(config, inputs.size()), raw = raw_feeds(config, inputs.size());
  analysis::TrialInput input;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto load = [&](const quant::InputFeed& feed) {
      return quant::load_input_file(files[i], inputs[i]->name(), inputs[i]->type(), feed);
    };
    RK_ASSIGN(Tensor normalised, load(feeds[i]));
    RK_ASSIGN(Tensor fed, load(raw[i]));
    input.normalised.push_back(std::move(normalised));
    input.raw.push_back(std::move(fed));
  }
  const compiler::CompileOptions compile = compile_options(config, *state_->target, graph);
  const auto measure = [&](const Graph& of, const program::Program& program,
                           const analysis::AccuracyOptions& options) {
    return analysis::analyze(of, program, compile, input.normalised, input.raw, options,
                             state_->pool.get());
  };
  RK_ASSIGN(analysis::AccuracyReport report,
            measure(graph, *state_->program, {.output_dir = output_dir, .single = true}));
  const auto propose = [&](std::string text, const quant::Ranges& ranges,
                           const quant::FloatLayers& layers) -> Status {
    RK_ASSIGN(const analysis::Trial trial,
              build_trial(*state_->optimized, ranges, config, *state_->target, layers));
    RK_ASSIGN(const analysis::AccuracyReport found,
              measure(trial.graph, trial.program, {.output_dir = "", .single = false}));
    report.proposals.push_back(
        {std::move(text), report.worst_output_cosine(), found.worst_output_cosine()});
    return ok_status();
  };
  if (!state_->dataset.empty()) {
    const std::vector<std::string> worst = analysis::worst_layers(report);
    quant::FloatLayers layers = state_->float_layers;
    for (size_t i = 0; i < std::min<size_t>(3, worst.size()); ++i) {
      layers.insert(worst[i]);
      RK_TRY(propose(str(i == 0 ? "" : "also ", "keep '", worst[i], "' in float16"), state_->ranges,
                     layers));
    }
    RK_ASSIGN(const auto samples,
              quant::DatasetSamples::open(state_->dataset, *state_->optimized, feeds));
    RK_ASSIGN(const quant::Histograms histograms,
              quant::observe_histograms(*state_->optimized, samples, state_->pool.get(), {}));
    for (const auto algorithm : {quant::Algorithm::kNormal, quant::Algorithm::kPercentile,
                                 quant::Algorithm::kKlDivergence, quant::Algorithm::kMmse}) {
      if (quant::to_string(algorithm) == config.quantized_algorithm) continue;
      RK_TRY(propose(str("quantized_algorithm '", quant::to_string(algorithm), "'"),
                     quant::choose_ranges(histograms, algorithm), state_->float_layers));
    }
    std::ranges::stable_sort(report.proposals, std::greater<>(), &analysis::Proposal::cosine_after);
  }
  if (!output_dir.empty()) RK_TRY(analysis::write_report(report, output_dir));
  return report;
}

}  // namespace rk::toolkit
