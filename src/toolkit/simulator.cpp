// SPDX-License-Identifier: Apache-2.0
#include "toolkit/simulator.h"

#include <algorithm>

#include "base/log.h"
#include "program/cost.h"
#include "runtime/device/core_mask.h"
#include "runtime/report/perf.h"
#include "runtime/version.h"
#include "toolkit/advice.h"
#include "toolkit/board_cost.h"

namespace rk::toolkit {
namespace {

using runtime::AttrView;
using runtime::CallerFormat;
using runtime::TensorAttr;
using runtime::TensorFormat;

// Shape sets that an error lists, in characters.
constexpr size_t kMostSetsText = 400;

// The runtime knows the variable only; here the argument says which board it is.
Status about_target(const Status& status, const RuntimeOptions& options) {
  if (status.code() != Code::kTargetMismatch || options.target.empty()) return status;
  constexpr std::string_view kVariable = "RKNN_TARGET";
  std::string text = status.message();
  for (size_t at = text.find(kVariable); at != std::string::npos; at = text.find(kVariable, at))
    text.replace(at, kVariable.size(), "init_runtime(target=)");
  return Status(status.code(), text);
}

bool has_float16(const program::Variant& variant) {
  return std::ranges::any_of(variant.tensors, [](const program::ProgramTensor& tensor) {
    return tensor.dtype == DType::kF16 && !tensor.is_constant();
  });
}

// NaN, or an infinity that no mask of attention asks for.
std::string_view beyond_float16(const Tensor& tensor) {
  if (tensor.dtype() != DType::kF16) return {};
  constexpr uint16_t kInfinity = 0x7c00;
  bool infinite = false;
  const std::span bits(tensor.data<uint16_t>(), static_cast<size_t>(tensor.elements()));
  for (const uint16_t x : bits) {
    if ((x & 0x7fff) > kInfinity) return "NaN";
    infinite |= x == kInfinity;
  }
  return infinite ? "infinity" : "";
}

Result<runtime::Device> device_for(const RuntimeOptions& options) {
  RK_ASSIGN(runtime::Device device, runtime::device_from_environment());
  if (!options.target.empty()) {
    RK_ASSIGN(device.chip, target::find_target(options.target));
  }
  return device;
}

}  // namespace

Result<std::unique_ptr<Simulator>> Simulator::create(program::Program program,
                                                     const RuntimeOptions& options,
                                                     std::shared_ptr<const OpRegistry> operators) {
  RK_TRY(check_options(options));
  RK_ASSIGN(const runtime::Device device, device_for(options));
  auto model = runtime::LoadedModel::from_program(std::move(program),
                                                  {.device = device, .operators = operators.get()});
  if (!model.ok()) return about_target(model.status(), options);
  return start(std::move(*model), options, std::move(operators));
}

Result<std::unique_ptr<Simulator>> Simulator::create(ByteSpan file, const RuntimeOptions& options,
                                                     std::shared_ptr<const OpRegistry> operators) {
  RK_TRY(check_options(options));
  RK_ASSIGN(const runtime::Device device, device_for(options));
  auto model =
      runtime::LoadedModel::from_bytes(file, {.device = device, .operators = operators.get()});
  if (!model.ok()) return about_target(model.status(), options);
  return start(std::move(*model), options, std::move(operators));
}

Result<std::unique_ptr<Simulator>> Simulator::start(
    std::shared_ptr<const runtime::LoadedModel> model, const RuntimeOptions& options,
    std::shared_ptr<const OpRegistry> operators) {
  // A simulated board has the cores of its chip; the simulator takes a mask that they would.
  const Status mask = options.core_mask == 0
                          ? ok_status()
                          : runtime::check_core_mask(model->chip(), options.core_mask,
                                                     model->program().single_core);
  if (!options.target.empty()) {
    RK_TRY(mask);
    log(LogLevel::kWarning,
        str("no device is known (RKNN_DEVICES, rknn device add): running on the simulated ",
            model->chip().name, " in this process"));
  }
  const target::Family family = model->chip().family;
  if (options.perf_debug && (family == target::Family::kB || family == target::Family::kC)) {
    log(LogLevel::kWarning, str("perf_debug is not supported by ", model->chip().name,
                                ": a board would not give times by layer, the simulator does"));
  }
  std::unique_ptr<Simulator> out(new Simulator);
  out->options_ = options;
  out->operators_ = std::move(operators);
  RK_ASSIGN(out->session_,
            runtime::Session::create(std::move(model),
                                     {.collect_perf = options.perf_debug,
                                      .prior_gpu = options.fallback_prior_device == "gpu"}));
  out->watches_float16_ = has_float16(out->session_->variant());
  if (!mask.ok()) {
    log(LogLevel::kWarning, str("core_mask has no effect: ", mask.message()));
  } else if (options.core_mask != 0) {
    const runtime::LoadedModel& held = out->session_->model();
    out->session_->set_cores(
        runtime::shared_cores(held.chip(), options.core_mask, held.program().single_core),
        runtime::first_core(options.core_mask));
  }
  return out;
}

TensorType Simulator::output_type(size_t i) const {
  const program::Variant& variant = session_->variant();
  const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(variant.outputs[i])];
  const bool real = tensor.quantized() || is_float(tensor.dtype);
  return {real ? DType::kF32 : tensor.dtype, shape_of(session_->output_attr(i))};
}

Status Simulator::set_input(size_t i, const Feed& feed) {
  const TensorAttr attr = session_->input_attr(i);
  CallerFormat format;
  if (feed.pass_through) {
    format.pass_through = true;
    return session_->set_input(i, format, feed.array.data, feed.array.size_bytes);
  }
  RK_TRY(check_shape(attr, feed));
  format.dtype = feed.array.dtype;
  format.format = TensorFormat::kUndefined;
  if (attr.format == TensorFormat::kNhwc)
    format.format = feed.nchw ? TensorFormat::kNchw : TensorFormat::kNhwc;
  return session_->set_input(i, format, feed.array.data, feed.array.size_bytes);
}

Status Simulator::choose_shapes(std::span<const Feed> inputs) {
  const auto& variants = session_->model().program().variants;
  if (variants.size() == 1 || inputs.size() != input_count()) return ok_status();
  const auto fits = [&](const program::Variant& variant, size_t i) {
    const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(variant.inputs[i])];
    const Shape& given = inputs[i].array.shape;
    if (given.rank() != 4 || tensor.shape.rank() != 4 || inputs[i].nchw)
      return given == tensor.shape;
    return nchw_of(given) == tensor.shape;
  };
  for (size_t k = 0; k < variants.size(); ++k) {
    bool all = true;
    for (size_t i = 0; i < inputs.size() && all; ++i) all = fits(variants[k], i);
    if (!all) continue;
    return k == session_->variant_index() ? ok_status() : session_->choose_variant(k);
  }
  return ok_status();
}

Status Simulator::run_watched() {
  const program::Variant& variant = session_->variant();
  bool told = false;
  session_->set_observer([&](int32_t index, const Tensor& stored) -> Status {
    const std::string_view what = told ? std::string_view() : beyond_float16(stored);
    if (what.empty()) return ok_status();
    told = true;
    const std::string& name = variant.tensors[static_cast<size_t>(index)].name;
    const auto writes = [&](const program::Step& step) {
      return std::ranges::find(step.outputs, index) != step.outputs.end();
    };
    const auto step = std::ranges::find_if(variant.steps, writes);
    log(LogLevel::kWarning,
        str(step == variant.steps.end() ? str("input '", name, "'")
                                        : str("'", name, "' (", step->type, ")"),
            " is the first to hold ", what,
            " on these inputs: it is stored in float16, which ends "
            "at 65504 and at 6e-08. Where the model itself has numbers there, scale it down before "
            "this layer; accuracy_analysis compares the two layer by layer"));
    return ok_status();
  });
  const Status status = session_->run();
  session_->set_observer({});
  return status;
}

Status Simulator::run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) {
  RK_TRY(choose_shapes(inputs));
  RK_TRY(check_counts(inputs.size(), outputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) RK_TRY(set_input(i, inputs[i]));
  RK_TRY(watches_float16_ ? run_watched() : session_->run());
  watches_float16_ = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    RK_TRY(check_output(i, outputs[i]));
    CallerFormat format;
    format.dtype = outputs[i].dtype;
    RK_TRY(session_->get_output(i, format, outputs[i].data, outputs[i].size_bytes));
  }
  return ok_status();
}

Result<const program::Variant*> Simulator::find_variant(std::span<const Shape> inputs) const {
  const program::Program& program = session_->model().program();
  if (inputs.empty()) return &program.main_variant();
  std::string sets;
  for (const program::Variant& variant : program.variants) {
    bool all = inputs.size() == variant.inputs.size();
    std::string shapes;
    for (size_t i = 0; i < variant.inputs.size(); ++i) {
      const Shape& shape = variant.tensors[static_cast<size_t>(variant.inputs[i])].shape;
      all = all && inputs[i] == shape;
      shapes += str(i == 0 ? "" : ", ", to_string(shape));
    }
    if (all) return &variant;
    if (sets.size() < kMostSetsText) sets += str(sets.empty() ? "" : "; ", shapes);
  }
  std::string given;
  for (const Shape& shape : inputs) given += str(given.empty() ? "" : ", ", to_string(shape));
  return invalid_argument(str("the model has no inputs of shape ", given, "; it has ", sets));
}

Result<std::string> Simulator::performance(bool fix_freq, std::span<const Shape> shapes) {
  log(LogLevel::kInfo, str("eval_perf: fix_freq ", fix_freq ? "on" : "off",
                           ": times are predicted for the highest clocks either way"));
  log(LogLevel::kInfo,
      "eval_perf: times are predicted for the chip (docs/board-model.md); `rknn bench` measures "
      "this machine");
  RK_ASSIGN(const program::Variant* const variant, find_variant(shapes));
  const target::Target& chip = session_->model().chip();
  const program::ProgramCost cost = program::cost_of(chip, *variant, {.cores = session_->cores()});
  if (options_.perf_debug) {
    runtime::PerfOptions table{.times = runtime::PerfTimes::kPredicted,
                               .variant = variant,
                               .more_columns = {"Bound", "Advice"}};
    const std::vector<std::string> advice = by_step(advise(chip, *variant), variant->steps.size());
    for (size_t i = 0; i < variant->steps.size(); ++i) {
      const auto bound = bound_by(variant->steps[i].processor, cost.steps[i].counted);
      table.rows_of_steps.push_back({std::string(bound), advice[i]});
    }
    return runtime::perf_table(*session_, table);
  }
  return performance_text(
      cost.us, cost.fps(),
      str("NPU cores: ", session_->cores(), "\nNPU clock(MHz): ", chip.time.npu_mhz, "\n"));
}

std::string Simulator::driver_versions() const {
  return str("  DRV: rknn_server: none (simulated in this process)\n  DRV: rknnrt: ",
             runtime::kRuntimeVersion, "\n");
}

}  // namespace rk::toolkit
