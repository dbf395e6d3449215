// SPDX-License-Identifier: Apache-2.0
#include "toolkit/float_check.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analysis/simulate.h"
#include "base/log.h"
#include "evaluator/evaluate.h"
#include "ops/shared/custom.h"
#include "quant/observe.h"
#include "quant/samples.h"
#include "toolkit/config_check.h"

namespace rk::toolkit {
namespace {

constexpr float kMaxF16 = 65504;

// The value of the graph that a tensor holds; conversions are named after it.
std::string_view value_of(std::string_view tensor) {
  constexpr std::string_view kCopy = "__float16";
  if (tensor.ends_with(kCopy)) tensor.remove_suffix(kCopy.size());
  return tensor;
}

bool has_nan(const Tensor& tensor) {
  return tensor.dtype() == DType::kF32 &&
         std::ranges::any_of(tensor.span<float>(), [](float x) { return std::isnan(x); });
}

// Makes infinities or NaN of finite numbers.
bool has_poles(const program::Step& step) {
  constexpr std::string_view kOps[] = {"Div", "Log", "Pow", "Reciprocal", "Sqrt"};
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  return p != nullptr && std::ranges::find(kOps, p->op) != std::end(kOps);
}

using Names = std::unordered_set<std::string_view>;

// The first value in the order of the steps, which the rest follows from.
std::string_view first_of(const Names& names, const program::Variant& variant) {
  for (const program::Step& step : variant.steps) {
    for (const int32_t tensor : step.outputs) {
      const auto value = value_of(variant.tensors[static_cast<size_t>(tensor)].name);
      if (names.contains(value)) return value;
    }
  }
  return *names.begin();
}

// An output that is NaN, or that a step makes of NaN.
const program::ProgramTensor* output_of(const Names& names, const program::Variant& variant) {
  const auto bad = [&](int32_t tensor) {
    return tensor != program::kNone &&
           names.contains(value_of(variant.tensors[static_cast<size_t>(tensor)].name));
  };
  for (const int32_t output : variant.outputs) {
    const auto writes = [&](const program::Step& step) {
      return std::ranges::find(step.outputs, output) != step.outputs.end();
    };
    const auto step = std::ranges::find_if(variant.steps, writes);
    if (bad(output) || (step != variant.steps.end() && std::ranges::any_of(step->inputs, bad)))
      return &variant.tensors[static_cast<size_t>(output)];
  }
  return nullptr;
}

// Warns of tensors whose values float16 does not hold; true: there are some. `seen_in`: what the
// ranges are of.
bool warn_of_overflow(const program::Program& program, const quant::Ranges& ranges,
                      std::string_view seen_in) {
  constexpr size_t kNamed = 5;
  Names seen;
  for (const program::ProgramTensor& tensor : program.main_variant().tensors) {
    if (tensor.dtype != DType::kF16 || tensor.is_constant()) continue;
    const std::string_view value = value_of(tensor.name);
    const auto range = ranges.find(value);
    if (range == ranges.end()) continue;
    const float widest = std::max(-range->second.min, range->second.max);
    if (!(widest > kMaxF16) || !seen.insert(value).second || seen.size() > kNamed) continue;
    log(LogLevel::kWarning,
        str("'", value, "' reaches ", widest, " ", seen_in, " and computes in float16, ",
            "which ends at ", kMaxF16, ": it becomes infinite. Scale the model down before it, or ",
            "end the model before this layer"));
  }
  if (seen.size() > kNamed)
    log(LogLevel::kWarning, str("so do ", seen.size() - kNamed, " further values"));
  return !seen.empty();
}

// The first sample as an application feeds it, and normalized.
struct FirstSample {
  std::vector<Tensor> raw, normalized;

  static Result<FirstSample> load(const std::string& dataset, const Graph& graph,
                                  const Config& config) {
    const size_t inputs = graph.inputs().size();
    FirstSample out;
    RK_ASSIGN(const auto given,
              quant::DatasetSamples::open(dataset, graph, raw_feeds(config, inputs)));
    RK_ASSIGN(out.raw, given.load(0));
    RK_ASSIGN(const auto fed,
              quant::DatasetSamples::open(dataset, graph, input_feeds(config, inputs)));
    RK_ASSIGN(out.normalized, fed.load(0));
    return out;
  }
};

// What stores NaN on this sample although the float model has numbers there.
struct NanFound {
  std::string text;    // empty: nothing
  std::string output;  // that it reaches; empty: none
};

Result<NanFound> find_nan(const Graph& graph, const program::Program& program,
                          const FirstSample& sample, const Setting& setting) {
  const program::Variant& variant = program.main_variant();
  program::Program one = program;
  one.batch = 1;
  std::unordered_set<std::string> found;
  const auto watch = [&](const std::string& name, const Tensor& tensor) -> Status {
    if (has_nan(tensor)) found.emplace(value_of(name));
    return ok_status();
  };
  // An operator that only an application has cannot be run here.
  const Status ran = analysis::simulate(std::move(one), graph.registry(), sample.raw, watch);
  if (!ran.ok() || found.empty()) return NanFound{};
  Names names(found.begin(), found.end());
  RK_TRY(evaluator::evaluate(
             graph, sample.normalized,
             {setting.pool,
              [&](const Value& value, const Tensor& tensor, const FiniteRange&) -> Status {
                if (names.contains(value.name()) && has_nan(tensor)) names.erase(value.name());
                return ok_status();
              }})
             .status());
  if (names.empty()) return NanFound{};
  NanFound out;
  out.text = str("'", first_of(names, variant),
                 "' holds NaN on the first calibration sample, where the float model has numbers: "
                 "what it reads is infinite or 0 in float16, which holds 6e-08 to 65504");
  if (const auto* const output = output_of(names, variant)) out.output = output->name;
  return out;
}

}  // namespace

Status check_numbers(const Calibrated& from, const program::Program& program,
                     const Setting& setting) {
  const bool overflows = warn_of_overflow(program, from.ranges, "in calibration");
  if (!overflows && std::ranges::none_of(program.main_variant().steps, has_poles))
    return ok_status();
  const auto sample = FirstSample::load(from.dataset, from.optimized, setting.config);
  if (!sample.ok()) {
    log(LogLevel::kInfo, str("not tried for NaN: ", sample.status().message()));
    return ok_status();
  }
  RK_ASSIGN(const NanFound nan, find_nan(from.optimized, program, *sample, setting));
  if (nan.text.empty()) return ok_status();
  if (nan.output.empty()) {
    log(LogLevel::kWarning, nan.text);
    return ok_status();
  }
  return unsupported(str("build: output '", nan.output, "' would be NaN: ", nan.text,
                         ". Scale the model's input or the layers before it so that they stay "
                         "within, or end the model before it (outputs=)"));
}

Status check_float_numbers(const Graph& graph, const std::string& dataset,
                           const program::Program& program, const Setting& setting) {
  const auto not_tried = [](std::string_view why) {
    log(LogLevel::kInfo, str("not tried for values beyond float16: ", why));
    return ok_status();
  };
  // Nothing is calibrated here, so nobody expects a call.
  if (std::ranges::any_of(graph.nodes(),
                          [](const Node* node) { return ops::takes_any_attribute(node->def()); }))
    return not_tried("the model has operators of the user's own");
  const auto sample = FirstSample::load(dataset, graph, setting.config);
  if (!sample.ok()) return not_tried(sample.status().message());
  quant::Ranges ranges;
  const auto note = [&](const Value& value, const Tensor& tensor,
                        const FiniteRange& range) -> Status {
    if (tensor.dtype() != DType::kF32) return ok_status();
    const quant::Extremes seen = quant::extremes(tensor, range, setting.pool);
    if (seen.any_finite) ranges[value.name()] = {seen.low, seen.high};
    return ok_status();
  };
  const Status evaluated =
      evaluator::evaluate(graph, sample->normalized, {setting.pool, note}).status();
  if (!evaluated.ok()) return not_tried(evaluated.message());
  const bool overflows = warn_of_overflow(program, ranges, "on the dataset's first sample");
  if (!overflows && std::ranges::none_of(program.main_variant().steps, has_poles))
    return ok_status();
  const auto nan = find_nan(graph, program, *sample, setting);
  if (!nan.ok()) return not_tried(nan.status().message());
  if (!nan->text.empty())
    log(LogLevel::kWarning,
        str(nan->output.empty() ? "" : str("output '", nan->output, "' becomes NaN: "), nan->text));
  return ok_status();
}

}  // namespace rk::toolkit
