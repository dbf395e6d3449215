// SPDX-License-Identifier: Apache-2.0
// Note: names come from model files and may hold anything. They reach the page inside JSON that cannot end the script
// element it stands in, and the script puts them into text nodes only.
#include "toolkit/report.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "target/target.h"
#include "toolkit/advice.h"
#include "toolkit/board_cost.h"

namespace rk::toolkit {
namespace {

constexpr std::string_view kPage =
#include "report_page.inc"
    ;

// Of the worst output; a rule of thumb, which the page says to check on the task's own data.
constexpr double kGoodCosine = 0.99, kPoorCosine = 0.95;

Json number(float value) { return Json(static_cast<double>(value)); }

Json errors_json(const std::optional<analysis::Errors>& errors) {
  if (!errors) return {};
  return Json::array({errors->cosine, errors->euclidean, errors->max_abs, errors->sqnr_db});
}

Json layer_json(const analysis::Layer& layer) {
  Json channels = Json::array();
  for (const auto& [low, high] : layer.channel_ranges)
    channels.push(Json::array({number(low), number(high)}));
  Json out = Json::object({{"name", layer.name},
                           {"type", layer.type},
                           {"float", layer.is_float},
                           {"low", number(layer.low)},
                           {"high", number(layer.high)},
                           {"min", number(layer.seen_min)},
                           {"max", number(layer.seen_max)},
                           {"saturated", layer.saturated},
                           {"entire", errors_json(layer.entire)},
                           {"single", errors_json(layer.single)},
                           {"board", errors_json(layer.board_entire)}});
  out.set("bins", Json::array_of(layer.histogram));
  out.set("stored", Json::array_of(layer.stored_histogram));
  out.set("channels", std::move(channels));
  return out;
}

std::string_view kind_of(const program::ProgramTensor& tensor) {
  if (tensor.is_constant()) return "constant";
  if (tensor.kind == program::TensorKind::kInput) return "input";
  return tensor.kind == program::TensorKind::kOutput ? "output" : "internal";
}

Json tensor_json(const program::ProgramTensor& tensor) {
  return Json::object({{"name", tensor.name},
                       {"dtype", to_string(tensor.dtype)},
                       {"shape", to_string(tensor.shape)},
                       {"kind", kind_of(tensor)},
                       {"size", tensor.size_bytes},
                       {"offset", tensor.is_constant() ? 0 : tensor.offset_in_arena},
                       {"scale", number(tensor.scale)},
                       {"zero", tensor.zero_point}});
}

Json indices(const std::vector<int32_t>& tensors) {
  Json out = Json::array();
  for (const int32_t tensor : tensors)
    if (tensor != program::kNone) out.push(Json(tensor));
  return out;
}

std::string_view name_of(program::Processor processor) {
  return processor == program::Processor::kNpu   ? "NPU"
         : processor == program::Processor::kCpu ? "CPU"
                                                 : "GPU";
}

Json step_json(const program::Variant& variant, const program::Step& step, const LayerCost& layer) {
  uint64_t weights = 0;
  for (const int32_t input : step.inputs) {
    if (input == program::kNone) continue;
    const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(input)];
    if (tensor.is_constant()) weights += tensor.size_bytes;
  }
  const target::NpuCost& counted = layer.cost.counted;
  return Json::object({{"type", step.type},
                       {"name", step.name},
                       {"on", name_of(step.processor)},
                       {"in", indices(step.inputs)},
                       {"out", indices(step.outputs)},
                       {"macs", step.macs},
                       {"us", layer.cost.us},
                       {"npu", counted.npu_cycles},
                       {"ddr", counted.ddr_cycles},
                       {"read", counted.read_bytes},
                       {"written", counted.written_bytes},
                       {"usage", layer.cost.mac_usage},
                       {"bound", bound_by(step.processor, counted)},
                       {"weights", weights}});
}

std::string in_text(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string tensors_text(const program::Variant& variant, const std::vector<int32_t>& list) {
  std::string out;
  for (const int32_t index : list) {
    const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
    out += str(out.empty() ? "" : ", ", tensor.name, " ", to_string(tensor.dtype), " ",
               to_string(tensor.shape));
  }
  return out;
}

// "2026-11-18", UTC. SOURCE_DATE_EPOCH (reproducible-builds.org) takes the clock's place.
std::string date_text() {
  using namespace std::chrono;
  sys_seconds now = floor<seconds>(system_clock::now());
  if (const char* const given = ::secure_getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text(given);
    constexpr int64_t kMost = 253402300799;  // the last second of the year 9999
    int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size() && count >= 0 && count <= kMost)
      now = sys_seconds(seconds(count));
  }
  const year_month_day date(floor<days>(now));
  char out[32];
  std::snprintf(out, sizeof out, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return out;
}

Json about_json(const program::Program& program, const BoardCost& cost,
                const analysis::AccuracyReport* accuracy) {
  const program::Variant& variant = program.main_variant();
  const auto mib = [](uint64_t bytes) {
    return in_text("%.2f MiB", static_cast<double>(bytes) / 1048576);
  };
  Json out = Json::array();
  const auto row = [&](std::string_view name, std::string value) {
    out.push(Json::array({name, std::move(value)}));
  };
  row("Chip", cost.chip);
  row("Date", date_text());
  row("Inputs", tensors_text(variant, variant.inputs));
  row("Outputs", tensors_text(variant, variant.outputs));
  row("Predicted",
      str(in_text("%.2f ms", cost.us / 1000), in_text(" (%.1f frames a second", cost.fps), ", ",
          cost.cores, cost.cores == 1 ? " core, " : " cores, ", cost.npu_mhz, " MHz)"));
  row("Weights", mib(cost.memory.weight_bytes));
  row("Internal memory", mib(cost.memory.internal_bytes));
  row("Layers", str(variant.steps.size(), cost.integers ? ", int8" : ", float16"));
  if (accuracy == nullptr) return out;
  for (size_t i = 0; i < accuracy->outputs.size(); ++i) {
    row(str("Output ", i), str(in_text("cosine %.5f", accuracy->outputs[i].cosine),
                               in_text(", SQNR %.1f dB", accuracy->outputs[i].sqnr_db)));
  }
  for (const auto& [name, value] : accuracy->about)
    if (name == "input") row("Analyzed on", value);
  return out;
}

struct Verdict {
  std::string text;
  const char* grade = "";
};

Verdict verdict_of(const program::Variant& variant, const BoardCost& cost,
                   const analysis::AccuracyReport* accuracy) {
  const auto on_cpu = std::ranges::count_if(variant.steps, [](const program::Step& step) {
    return step.processor == program::Processor::kCpu;
  });
  const std::string where =
      on_cpu == 0 ? "Everything runs on the NPU."
                  : str(on_cpu, " of ", variant.steps.size(), " layers run on the CPU.");
  if (accuracy == nullptr || accuracy->outputs.empty())
    return {str(where, in_text(" %.1f frames a second predicted.", cost.fps)), ""};
  const double worst = accuracy->worst_output_cosine();
  if (worst >= kGoodCosine) return {str("Close to the float model. ", where), "good"};
  if (worst >= kPoorCosine)
    return {str("Some loss: judge it on your own data, and see Advice. ", where), "warn"};
  return {str("Far from the float model: see Advice. ", where), "bad"};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

}  // namespace

Result<Json> describe_model(const program::Program& program, const std::string& name,
                            const analysis::AccuracyReport* accuracy) {
  RK_ASSIGN(const BoardCost cost, board_cost(program, {}));
  RK_ASSIGN(const target::Target* const target, target::find_target(program.target));
  const program::Variant& variant = program.main_variant();
  Json tensors = Json::array(), steps = Json::array(), advice = Json::array();
  for (const program::ProgramTensor& tensor : variant.tensors) tensors.push(tensor_json(tensor));
  for (size_t i = 0; i < variant.steps.size(); ++i)
    steps.push(step_json(variant, variant.steps[i], cost.layers[i]));
  for (const Advice& item : advise(*target, variant).items) {
    Json row = Json::object({{"layer", item.layer},
                             {"text", str(item.found, ": ", item.change)},
                             {"us", item.gain_us}});
    if (item.step != program::kNone) row.set("step", Json(item.step));
    advice.push(std::move(row));
  }
  const Verdict verdict = verdict_of(variant, cost, accuracy);
  Json out = Json::object({{"name", name},
                           {"verdict", verdict.text},
                           {"grade", verdict.grade},
                           {"about", about_json(program, cost, accuracy)},
                           {"arena", variant.arena_bytes},
                           {"memory", Json::object({{"weights", cost.memory.weight_bytes},
                                                    {"internal", cost.memory.internal_bytes}})},
                           {"tensors", std::move(tensors)},
                           {"steps", std::move(steps)},
                           {"advice", std::move(advice)}});
  if (accuracy == nullptr) return out;
  Json layers = Json::array(), proposals = Json::array(), findings = Json::array();
  for (const analysis::Layer& layer : accuracy->layers) layers.push(layer_json(layer));
  for (const analysis::Proposal& proposal : accuracy->proposals) {
    proposals.push(Json::object({{"text", proposal.text},
                                 {"before", proposal.cosine_before},
                                 {"after", proposal.cosine_after},
                                 {"code", proposal.code}}));
  }
  for (const std::string& finding : accuracy->findings) findings.push(Json(finding));
  if (!accuracy->outputs.empty()) out.set("cosine", Json(accuracy->worst_output_cosine()));
  out.set("layers", std::move(layers));
  out.set("proposals", std::move(proposals));
  out.set("findings", std::move(findings));
  return out;
}

std::string report_page(std::span<const Json> models) {
  Json list = Json::array();
  for (const Json& model : models) list.push(model);
  std::string data = write_json(Json::object({{"models", std::move(list)}}));
  replace_all(data, "</", "<\\/");
  replace_all(data, "<!", "\\u003c!");
  std::string out(kPage);
  const size_t at = out.find("@DATA@");
  RK_ASSERT(at != std::string::npos, "the page has a place for its data");
  return out.replace(at, 6, data);
}

}  // namespace rk::toolkit
