// SPDX-License-Identifier: Apache-2.0
#include "runtime/loaded_model.h"

#include "base/checked_math.h"
#include "base/log.h"
#include "format/reader.h"
#include "runtime/version.h"

namespace rk::runtime {
namespace {

void log_banner(const LoadedModel& model) {
  if (!log_enabled(LogLevel::kInfo)) return;
  const program::Program& program = model.program();
  log(LogLevel::kInfo, str("RKNN Runtime Information, ", kRuntimeVersionText));
  log(LogLevel::kInfo, str("RKNN Driver Information, version: ", kDriverVersion));
  log(LogLevel::kInfo,
      str("RKNN Model Information, version: 6, toolkit version: ", program.toolkit_version,
          "(compiler version: ", program.compiler_version, "), target: ", model.chip().npu_name,
          ", target platform: ", program.target, ", framework name: ", program.framework,
          ", framework layout: NCHW, model inference type: ",
          program.variants.size() > 1 ? "dynamic_shape" : "static_shape"));
}

}  // namespace

Result<std::shared_ptr<const LoadedModel>> LoadedModel::from_bytes(ByteSpan file,
                                                                   const LoadOptions& options) {
  RK_ASSIGN(program::Program program,
            format::read_rknn(std::vector<uint8_t>(file.begin(), file.end()),
                              {.info_only = options.info_only}));
  return from_program(std::move(program), options);
}

Result<std::shared_ptr<const LoadedModel>> LoadedModel::from_image(
    ByteSpan file, std::shared_ptr<const DeviceMemory> memory, const LoadOptions& options) {
  RK_ASSIGN(program::Program program,
            format::read_rknn(file, memory, {.info_only = options.info_only}));
  RK_ASSIGN(std::shared_ptr<LoadedModel> model, make(std::move(program), options));
  model->image_memory_ = std::move(memory);
  return std::shared_ptr<const LoadedModel>(model);
}

Result<std::shared_ptr<const LoadedModel>> LoadedModel::from_program(program::Program program,
                                                                     const LoadOptions& options) {
  RK_ASSIGN(std::shared_ptr<LoadedModel> model, make(std::move(program), options));
  return std::shared_ptr<const LoadedModel>(model);
}

Result<std::shared_ptr<LoadedModel>> LoadedModel::make(program::Program program,
                                                       const LoadOptions& options) {
  RK_TRY(program::verify(program));
  const std::shared_ptr<LoadedModel> model(new LoadedModel);
  model->program_ = std::move(program);
  model->device_ = options.device;
  RK_ASSIGN(model->chip_, chip_for_model(options.device, model->program_.target));
  log_banner(*model);
  if (!options.info_only) {
    RK_ASSIGN(cpu::HostPlan plan,
              cpu::make_plan(model->program_, model->variant(),
                             options.operators ? *options.operators : ops::registry()));
    model->plan_ = std::make_unique<const cpu::HostPlan>(std::move(plan));
  }
  return model;
}

uint64_t LoadedModel::weight_bytes() const {
  uint64_t total = 0;
  for (const program::ProgramTensor& tensor : variant().tensors) {
    const bool counted = tensor.kind == program::TensorKind::kNpuConstant ||
                         tensor.kind == program::TensorKind::kCpuConstant;
    if (counted) total += align_up<uint64_t>(tensor.size_bytes, 64);
  }
  return total;
}

}  // namespace rk::runtime
