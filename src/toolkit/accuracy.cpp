// SPDX-License-Identifier: Apache-2.0
// accuracy_analysis: the built model against the float model layer by layer, and remedies whose effect was measured by
// building the model with each of them.
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "evaluator/evaluate.h"
#include "format/writer.h"
#include "target/target.h"
#include "toolkit/board.h"
#include "toolkit/config_check.h"
#include "toolkit/dynamic_shapes.h"
#include "toolkit/methods.h"
#include "toolkit/options.h"
#include "toolkit/report.h"
#include "toolkit/state.h"

namespace rk::toolkit {
namespace {

constexpr size_t kLayersTried = 3;
// A remedy must take this share of what is missing to cosine 1 to be worth a sentence.
constexpr double kWorthSaying = 0.02;
// Calibration on the analysed input alone must take this share for the calibration set to be to blame.
constexpr double kBlame = 0.3;

// The analysed input as the only calibration sample.
class OneSample : public quant::SampleSource {
 public:
  explicit OneSample(const std::vector<Tensor>& inputs) : inputs_(inputs) {}
  size_t count() const override { return 1; }
  Result<std::vector<Tensor>> load(size_t) const override { return inputs_; }

 private:
  const std::vector<Tensor>& inputs_;
};

bool helps(const analysis::Proposal& proposal) {
  return proposal.cosine_after - proposal.cosine_before >
         kWorthSaying * (1 - proposal.cosine_before);
}

void best_first(std::vector<analysis::Proposal>& proposals) {
  std::erase_if(proposals, [](const analysis::Proposal& p) { return !helps(p); });
  std::ranges::stable_sort(proposals, std::greater<>(), &analysis::Proposal::cosine_after);
}

// " with what reads it, 'b', 'c'", without `layer` itself.
std::string listed(const quant::FloatLayers& layers, const std::string& layer) {
  std::string out;
  for (const std::string& name : layers) {
    if (name != layer) out += str(out.empty() ? " with what reads it, '" : ", '", name, "'");
  }
  return out;
}

std::vector<std::string> floored_channels(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node* node : graph.nodes()) {
    if (node->input_count() < 2 || !node->has_input(1) || !node->input(1).is_constant()) continue;
    const QuantParams& quant = node->input(1).quant;
    const auto floored = quant::floored_channels(quant);
    if (floored.empty()) continue;
    out.push_back(str("'", node->output().name(), "': ", floored.size(), " of ", quant.scale.size(),
                      " weight channels are narrower than 1/512 of the widest and share its floor "
                      "scale; the first is channel ",
                      floored.front()));
  }
  return out;
}

// What the .quantization.cfg between the two steps of hybrid quantization would say.
std::string layers_code(const quant::FloatLayers& layers) {
  std::string out;
  for (const std::string& layer : layers)
    out += str(out.empty() ? "custom_quantize_layers:\n" : "", "    ", layer, ": float16\n");
  return out;
}

// Tries remedies on one input.
class Remedies {
 public:
  Remedies(const Calibrated& from, const Setting& setting, const analysis::TrialInput& input,
           const std::vector<Tensor>& golden, double before)
      : from_(from), setting_(setting), input_(input), golden_(golden), before_(before) {}

  Result<analysis::Proposal> measure(std::string text, const quant::Ranges& ranges,
                                     const quant::FloatLayers& layers) const {
    RK_ASSIGN(const analysis::Trial trial, build_trial(from_, ranges, setting_, layers));
    RK_ASSIGN(const auto errors, analysis::output_errors(golden_, trial.program,
                                                         from_.optimized.registry(), input_.raw));
    return analysis::Proposal{std::move(text), before_, analysis::worst_cosine(errors),
                              layers_code(layers)};
  }

  // Each of the worst layers alone or, where that is better, with its readers; then all of them together.
  Result<std::vector<analysis::Proposal>> layers(const std::vector<std::string>& worst,
                                                 const quant::Ranges& ranges,
                                                 const quant::FloatLayers& already) const {
    std::vector<analysis::Proposal> out;
    quant::FloatLayers all = already;
    const size_t count = std::min(kLayersTried, worst.size());
    for (size_t i = 0; i < count; ++i) {
      quant::FloatLayers one = already, more = analysis::with_readers(from_.optimized, worst[i]);
      one.insert(worst[i]);
      RK_ASSIGN(auto proposal, measure(str("keep '", worst[i], "' in float16"), ranges, one));
      const std::string text = str("keep '", worst[i], "'", listed(more, worst[i]), " in float16");
      more.insert(already.begin(), already.end());
      RK_ASSIGN(auto wider, measure(text, ranges, more));
      all.insert(more.begin(), more.end());
      const bool better = helps({"", proposal.cosine_after, wider.cosine_after, ""});
      out.push_back(better ? std::move(wider) : std::move(proposal));
    }
    best_first(out);
    if (count < 2) return out;
    RK_ASSIGN(auto together,
              measure(str("keep the ", count, " worst layers and their readers in float16"), ranges,
                      all));
    const double best = out.empty() ? before_ : out.front().cosine_after;
    if (helps({"", best, together.cosine_after, ""})) {
      together.cosine_before = before_;
      out.push_back(std::move(together));
    }
    return out;
  }

  Result<std::vector<analysis::Proposal>> algorithms(const quant::SampleSource& samples,
                                                     const quant::FloatLayers& layers) const {
    std::vector<analysis::Proposal> out;
    RK_ASSIGN(const quant::Histograms histograms,
              quant::observe_histograms(from_.optimized, samples, setting_.pool, {}));
    for (const auto algorithm : {quant::Algorithm::kNormal, quant::Algorithm::kPercentile,
                                 quant::Algorithm::kKlDivergence, quant::Algorithm::kMmse}) {
      if (quant::to_string(algorithm) == setting_.config.quantized_algorithm) continue;
      RK_ASSIGN(auto proposal,
                measure(str("quantized_algorithm '", quant::to_string(algorithm), "'"),
                        quant::choose_ranges(histograms, algorithm, setting_.pool), layers));
      proposal.code = str("rknn.config(quantized_algorithm='", quant::to_string(algorithm),
                          "', target_platform='", setting_.target.name, "')");
      out.push_back(std::move(proposal));
    }
    return out;
  }

  // The sentence says whether other calibration samples would help.
  Result<std::string> blame(const quant::FloatLayers& layers) const {
    const auto algorithm = *quant::parse_algorithm(setting_.config.quantized_algorithm);
    RK_ASSIGN(const quant::Histograms histograms,
              quant::observe_histograms(from_.optimized, OneSample(input_.normalized),
                                        setting_.pool, {}));
    RK_ASSIGN(const auto alone,
              measure("", quant::choose_ranges(histograms, algorithm, setting_.pool), layers));
    const std::string figures =
        str("calibrated on the analysed input alone the worst output has "
            "cosine ",
            alone.cosine_after, " instead of ", before_);
    const bool to_blame = alone.cosine_after - before_ > kBlame * (1 - before_);
    return figures + (to_blame ? ": the calibration set is to blame, it lacks samples like this "
                                 "one or holds rare outliers"
                               : ": the calibration set is not to blame");
  }

 private:
  const Calibrated& from_;
  const Setting& setting_;
  const analysis::TrialInput& input_;
  const std::vector<Tensor>& golden_;
  double before_;
};

// When the worst layer gives an output of the model: end the model before it. The gain is read from the report, where
// the layer's inputs have been measured.
std::optional<analysis::Proposal> cut_off(const analysis::AccuracyReport& report,
                                          const Graph& graph, const std::string& worst) {
  const Value* value = graph.find(worst);
  if (value == nullptr || !graph.is_output(*value) || value->producer() == nullptr)
    return std::nullopt;
  const auto entire = [&](const std::string& name) -> std::optional<double> {
    const auto it = std::ranges::find(report.layers, name, &analysis::Layer::name);
    if (it == report.layers.end() || !it->entire) return std::nullopt;
    return it->entire->cosine;
  };
  double after = 1;
  for (const Value* output : graph.outputs()) {
    if (output != value) after = std::min(after, entire(output->name()).value_or(1));
  }
  std::string names;
  for (const Value* input : value->producer()->inputs()) {
    if (input == nullptr || input->is_constant()) continue;
    const auto cosine = entire(input->name());
    if (!cosine || graph.is_input(*input)) return std::nullopt;
    after = std::min(after, *cosine);
    names += str(names.empty() ? "'" : ", '", input->name(), "'");
  }
  if (names.empty()) return std::nullopt;
  return analysis::Proposal{str("cut off the last layer '", worst, "' with outputs=[", names,
                                "] and compute it in the application"),
                            report.worst_output_cosine(), after, str("outputs=[", names, "]")};
}

// An array in the model's own layout, or a picture's with channels last. Pictures are made to fit.
bool fits(const std::string& file, const std::vector<int64_t>& shape) {
  if (!file.ends_with(".npy")) return true;
  const auto tensor = quant::load_npy_tensor(file);
  if (!tensor.ok()) return true;  // said where it is loaded
  const auto given = tensor->shape().dims();
  if (std::ranges::equal(given, shape)) return true;
  return shape.size() == 4 && given.size() == 4 && given[0] == shape[0] && given[1] == shape[2] &&
         given[2] == shape[3] && given[3] == shape[1];
}

// The set of dynamic_input that the files have the shapes of; none: only the largest will say what is wrong.
const ShapeSet* set_of(const std::vector<std::string>& files, const std::vector<ShapeSet>& sets) {
  for (const ShapeSet& set : sets) {
    bool all = set.size() == files.size();
    for (size_t i = 0; i < files.size() && all; ++i) all = fits(files[i], set[i]);
    if (all) return &set;
  }
  return nullptr;
}

Result<analysis::TrialInput> load_trial_input(const std::vector<std::string>& files,
                                              const Graph& graph, const Config& config) {
  const auto& inputs = graph.inputs();
  if (files.size() != inputs.size()) {
    return invalid_argument(str("accuracy_analysis: ", files.size(),
                                " input file(s), the model has ", inputs.size(), " input(s)"));
  }
  const auto feeds = input_feeds(config, inputs.size()), raw = raw_feeds(config, inputs.size());
  analysis::TrialInput out;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto load = [&](const quant::InputFeed& feed) {
      return quant::load_input_file(files[i], inputs[i]->name(), inputs[i]->type(), feed);
    };
    RK_ASSIGN(Tensor normalized, load(feeds[i]));
    RK_ASSIGN(Tensor fed, load(raw[i]));
    out.normalized.push_back(std::move(normalized));
    out.raw.push_back(std::move(fed));
  }
  return out;
}

// What would help, tried on the input.
Status propose(const Calibrated& from, const Built& built, const Setting& setting,
               const analysis::TrialInput& input, analysis::AccuracyReport& report) {
  const Graph& golden_graph = from.optimized;
  const quant::FloatLayers& already = built.layers.f16;
  RK_ASSIGN(const std::vector<Tensor> golden,
            evaluator::evaluate(golden_graph, input.normalized, {setting.pool, {}}));
  const Remedies remedies(from, setting, input, golden, report.worst_output_cosine());
  const std::vector<std::string> worst = analysis::worst_layers(report);
  RK_ASSIGN(report.proposals, remedies.layers(worst, from.ranges, already));
  RK_ASSIGN(const auto samples,
            quant::DatasetSamples::open(from.dataset, golden_graph,
                                        input_feeds(setting.config, golden_graph.inputs().size())));
  RK_ASSIGN(std::vector<analysis::Proposal> settings, remedies.algorithms(samples, already));
  if (!worst.empty()) {
    if (const auto cut = cut_off(report, golden_graph, worst.front())) settings.push_back(*cut);
  }
  best_first(settings);
  report.proposals.insert(report.proposals.end(), settings.begin(), settings.end());
  RK_ASSIGN(std::string blame, remedies.blame(already));
  report.findings.push_back(std::move(blame));
  return ok_status();
}

Result<analysis::AccuracyReport> analyze_build(const Imported& imported, const Calibrated& from,
                                               const Built& built, const Setting& setting,
                                               const std::vector<std::string>& files,
                                               const AnalysisOptions& options) {
  const Graph& graph = built.graph;
  RK_ASSIGN(const analysis::TrialInput input, load_trial_input(files, graph, setting.config));
  // Batches only repeat: one picture is analyzed.
  program::Program program = built.program;
  program.batch = 1;
  analysis::AccuracyOptions how{options.output_dir, {}, options.progress, options.run_board};
  if (!options.target.empty()) {
    if (!target::runs_on(program.target, options.target)) {
      return Status(Code::kTargetMismatch, str("accuracy_analysis: the model is built for ",
                                               program.target, ", the board is ", options.target));
    }
    if (!how.run_board) {
      RK_ASSIGN(how.board, format::write_rknn(program));
    }
  }
  const compiler::CompileOptions compile = compile_options(setting, graph, true, built.layers.f16);
  RK_ASSIGN(analysis::AccuracyReport report,
            analysis::analyze({from.optimized, graph, program, compile}, input, how, setting.pool));
  for (std::string& sentence : floored_channels(graph))
    report.findings.push_back(std::move(sentence));
  for (const quant::Equalized& value : from.equalized) {
    report.findings.push_back(str("'", value.value, "': channels equalized, expected noise ",
                                  value.noise_before, " -> ", value.noise_after));
  }
  // Ranges are at hand for the shape that was calibrated.
  if (!from.ranges.empty()) RK_TRY(propose(from, built, setting, input, report));
  analysis::name_fused_layers(imported.graph, report);
  report.about = {{"model", graph.name}, {"chip", std::string(setting.target.name)}};
  for (const std::string& file : files) report.about.emplace_back("input", file);
  if (options.output_dir.empty()) return report;
  const auto write = [&](const char* name, const std::string& text) {
    return write_file((std::filesystem::path(options.output_dir) / name).string(),
                      std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  };
  RK_TRY(write("error_analysis.txt", analysis::to_text(report)));
  RK_ASSIGN(const Json page, describe_model(program, graph.name, &report));
  RK_TRY(write("report.html", report_page({&page, 1})));
  return report;
}

}  // namespace

Result<analysis::AccuracyReport> Toolkit::accuracy_analysis(const std::vector<std::string>& files,
                                                            const AnalysisOptions& options) const {
  if (!state_->built) return invalid_argument("accuracy_analysis: build the model first");
  const Calibrated& from = *state_->calibrated;
  const Built& built = *state_->built;
  const Setting setting = state_->setting();
  const std::vector<ShapeSet> sets = max_shape_first(setting.config.dynamic_input);
  const ShapeSet* const chosen = sets.empty() ? nullptr : set_of(files, sets);
  if (chosen == nullptr || chosen == &sets.front())
    return analyze_build(*state_->imported, from, built, setting, files, options);
  // The model as if it had been built at this shape alone, with the parameters of the build at hand.
  RK_ASSIGN(Graph optimized, optimized_at(*state_->imported, *chosen, from, setting));
  Calibrated there(std::move(optimized));
  there.equalized = from.equalized;
  RK_ASSIGN(Graph graph, graph_at(*state_->imported, *chosen, from, built.layers, setting));
  RK_ASSIGN(program::Program program,
            compiler::compile(
                graph, compile_options(setting, graph, !from.dataset.empty(), built.layers.f16)));
  return analyze_build(*state_->imported, there,
                       {std::move(graph), std::move(program), built.layers, {}}, setting, files,
                       options);
}

Result<Json> Methods::accuracy_analysis(const Json& options) {
  std::vector<std::string> inputs;
  AnalysisOptions analysis;
  std::string device_id;
  bool color = false;
  OptionReader reader(options);
  reader.read("inputs", inputs);
  reader.read("output_dir", analysis.output_dir);
  reader.read("target", analysis.target);
  reader.read("device_id", device_id);
  reader.read("color", color);
  RK_TRY(reader.finish());
  if (!built_) return invalid_argument("call build() first");
  RK_ASSIGN(const auto device, device_for(analysis.target, device_id));
  if (device) {
    if (analysis.target.empty()) analysis.target = toolkit_.program().target;
    analysis.run_board = run_on(*device);
  }
  RK_TRY(begin("AccuracyAnalysing"));
  analysis.progress = [this](size_t done, size_t total) {
    return !progress_ || progress_("AccuracyAnalysing", done, total);
  };
  RK_ASSIGN(const analysis::AccuracyReport report, toolkit_.accuracy_analysis(inputs, analysis));
  Json outputs = Json::array();
  for (const analysis::Errors& output : report.outputs) {
    outputs.push(Json::object({{"cosine", output.cosine}, {"euclidean", output.euclidean}}));
  }
  const auto paint = color ? analysis::Color::kTerminal : analysis::Color::kNone;
  return Json::object({{"text", analysis::to_text(report, paint)}, {"outputs", outputs}});
}

}  // namespace rk::toolkit
