// SPDX-License-Identifier: Apache-2.0
#include "toolkit/simulator.h"

#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/log.h"
#include "program/cost.h"
#include "runtime/device/core_mask.h"
#include "runtime/report/perf.h"
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

// An array [h,w,c] (or [c,h,w]) for an input [1,h,w,c].
bool is_batch_of_one_without_its_axis(const Shape& given, const Shape& wanted) {
  if (wanted.rank() != 4 || given.rank() != 3 || wanted[0] != 1) return false;
  return given[0] == wanted[1] && given[1] == wanted[2] && given[2] == wanted[3];
}

Status check_options(const RuntimeOptions& options) {
  if (options.fallback_prior_device != "cpu" && options.fallback_prior_device != "gpu") {
    return invalid_argument(str("Invalid fallback_prior_device '", options.fallback_prior_device,
                                "', expect in ['cpu', 'gpu']!"));
  }
  if (!options.device_id.empty()) {
    return {Code::kUnavailable,
            str("RKNN init failed. error code: RKNN_ERR_DEVICE_UNAVAILABLE: no rknn_server answers "
                "for device_id '",
                options.device_id, "'; leave device_id out to run on the simulated board")};
  }
  if (options.async_mode)
    log(LogLevel::kWarning, "async_mode is not supported: inference waits for its result");
  return ok_status();
}

// The runtime knows the variable only; here the argument says which board it is.
Status about_target(const Status& status, const RuntimeOptions& options) {
  if (status.code() != Code::kTargetMismatch || options.target.empty()) return status;
  constexpr std::string_view kVariable = "RKNN_TARGET";
  std::string text = status.message();
  for (size_t at = text.find(kVariable); at != std::string::npos; at = text.find(kVariable, at))
    text.replace(at, kVariable.size(), "init_runtime(target=)");
  return Status(status.code(), text);
}

Result<runtime::Device> device_for(const RuntimeOptions& options) {
  RK_ASSIGN(runtime::Device device, runtime::device_from_environment());
  if (!options.target.empty()) {
    RK_ASSIGN(device.chip, target::find_target(options.target));
  }
  return device;
}

}  // namespace

Shape shape_of(const TensorAttr& attr) {
  Shape out;
  const std::vector<int64_t> dims(attr.dims.begin(), attr.dims.end());
  auto made = Shape::make(dims);
  return made.ok() ? *made : out;
}

Shape nchw_of(const Shape& nhwc) { return {nhwc[0], nhwc[3], nhwc[1], nhwc[2]}; }

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
    log(LogLevel::kWarning, str("no rknn_server is reachable: running on the simulated ",
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
  Shape wanted = shape_of(attr);
  format.dtype = feed.array.dtype;
  format.format = TensorFormat::kUndefined;
  if (attr.format == TensorFormat::kNhwc) {
    format.format = feed.nchw ? TensorFormat::kNchw : TensorFormat::kNhwc;
    if (feed.nchw) wanted = nchw_of(wanted);
  }
  if (is_batch_of_one_without_its_axis(feed.array.shape, wanted)) {
    if (!warned_of_batch_) {
      log(LogLevel::kWarning,
          str("The input(", attr.name, ") need ", wanted.rank(), "dims input, but ",
              feed.array.shape.rank(), "dims input buffer feed: a batch of 1 is ",
              "assumed; np.expand_dims(array, 0) says so"));
    }
    warned_of_batch_ = true;
  } else if (!(feed.array.shape == wanted)) {
    const bool turned = attr.format == TensorFormat::kNhwc && feed.array.shape.rank() == 4 &&
                        feed.array.shape == (feed.nchw ? shape_of(attr) : nchw_of(wanted));
    const bool one_missing = feed.array.shape.rank() == wanted.rank() - 1;
    return invalid_argument(
        str("The input(", attr.name, ") shape ", to_string(feed.array.shape), " is wrong, expect '",
            feed.nchw ? "nchw" : "nhwc", "' like ", to_string(wanted), "!",
            turned ? str(" Pass data_format=['", feed.nchw ? "nhwc" : "nchw", "'] for this array.")
                   : "",
            one_missing ? " Add the batch dimension, e.g. with np.expand_dims(array, 0)." : ""));
  }
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

Status Simulator::run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) {
  RK_TRY(choose_shapes(inputs));
  if (inputs.size() != input_count()) {
    return invalid_argument(str("The inputs have ", inputs.size(), " array(s), the model has ",
                                input_count(), " input(s)!"));
  }
  if (outputs.size() != output_count()) {
    return invalid_argument(
        str(outputs.size(), " array(s) for results, the model has ", output_count(), " output(s)"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) RK_TRY(set_input(i, inputs[i]));
  RK_TRY(session_->run());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType type = output_type(i);
    if (outputs[i].dtype != type.dtype || !(outputs[i].shape == type.shape)) {
      return invalid_argument(str("the array for output ", i, " must be ", to_string(type)));
    }
    CallerFormat format;
    format.dtype = type.dtype;
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

std::string Simulator::performance(const program::Variant& variant) const {
  const target::Target& chip = session_->model().chip();
  const program::ProgramCost cost = program::cost_of(chip, variant, {.cores = session_->cores()});
  if (options_.perf_debug) {
    runtime::PerfOptions table{.times = runtime::PerfTimes::kPredicted,
                               .variant = &variant,
                               .more_columns = {"Bound", "Advice"}};
    const std::vector<std::string> advice = by_step(advise(chip, variant), variant.steps.size());
    for (size_t i = 0; i < variant.steps.size(); ++i) {
      const auto bound = bound_by(variant.steps[i].processor, cost.steps[i].counted);
      table.rows_of_steps.push_back({std::string(bound), advice[i]});
    }
    return runtime::perf_table(*session_, table);
  }
  const std::string rule(70, '=');
  std::ostringstream out;
  out << rule << "\n"
      << std::string(29, ' ') << "Performance\n"
      << rule << "\nTotal Time(us): " << std::llround(cost.us) << "\nFPS: " << std::fixed
      << std::setprecision(2) << cost.fps() << "\nNPU cores: " << session_->cores()
      << "\nNPU clock(MHz): " << chip.time.npu_mhz << "\n"
      << rule << "\n";
  return out.str();
}

}  // namespace rk::toolkit
