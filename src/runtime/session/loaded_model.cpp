// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/loaded_model.h"

#include <malloc.h>

#include <algorithm>

#include "base/log.h"
#include "format/encrypted/encrypted_model.h"
#include "format/reader.h"
#include "runtime/device/library_name.h"
#include "runtime/host/kept_constants.h"
#include "runtime/version.h"

namespace rk::runtime {
namespace {

void log_banner(const LoadedModel& model) {
  if (!log_enabled(LogLevel::kInfo)) return;
  const program::Program& program = model.program();
  log(LogLevel::kInfo, str("RKNN Runtime Information, ", this_library().version_text,
                           ", simulated on the CPU: times are not an NPU's"));
  log(LogLevel::kInfo, str("RKNN Driver Information, version: ", kDriverVersion));
  log(LogLevel::kInfo,
      str("RKNN Model Information, version: 6, toolkit version: ", program.toolkit_version,
          "(compiler version: ", program.compiler_version, "), target: ", model.chip().npu_name,
          ", target platform: ", program.target, ", framework name: ", program.framework,
          ", framework layout: NCHW, model inference type: ",
          program.variants.size() > 1 ? "dynamic_shape" : "static_shape"));
}

// Our compiler signs its Programs; one lifted from a vendor's file has the vendor's version.
bool is_ours(const program::Program& program) {
  return program.compiler_version.ends_with("-openrknn");
}

// Plain weights lie between the packed ones for a moment; the C library would keep those pages (6 MB of ResNet50's).
void return_free_pages() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace

Result<std::shared_ptr<const LoadedModel>> LoadedModel::from_bytes(ByteSpan file,
                                                                   const LoadOptions& options) {
  std::vector<uint8_t> decrypted;
  if (format::is_encrypted(file)) {
    RK_ASSIGN(decrypted, format::decrypt_model(file, format::keys_of_environment()));
    file = decrypted;
  }
  RK_ASSIGN(program::Program program,
            format::read_rknn(file, nullptr, {options.info_only, options.weights_from}));
  RK_ASSIGN(std::shared_ptr<LoadedModel> model, make(std::move(program), options));
  // Plans that are made later need everything.
  program::Program& kept = model->program_;
  const bool is_packed = model->can_run() && !model->dynamic();
  const std::vector<bool> released = is_packed ? host::recoverable_weights(kept, model->constants_)
                                               : std::vector<bool>(kept.weights.size(), false);
  RK_TRY(host::keep_constants(kept, released, model->constants_));
  return_free_pages();
  return std::shared_ptr<const LoadedModel>(model);
}

Result<program::Program> LoadedModel::complete_program() const {
  const std::lock_guard lock(plans_mutex_);
  return host::restore_constants(program_, constants_);
}

Result<std::shared_ptr<const LoadedModel>> LoadedModel::from_image(
    ByteSpan file, std::shared_ptr<const DeviceMemory> memory, const LoadOptions& options) {
  if (format::is_encrypted(file)) {
    log(LogLevel::kWarning,
        "the model is encrypted: its weights are decrypted into memory of their own, the model "
        "buffer is not used in place");
    return from_bytes(file, options);
  }
  RK_ASSIGN(program::Program program,
            format::read_rknn(file, memory, {options.info_only, options.weights_from}));
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
  model->memory_ = is_ours(model->program_) ? program::memory_of(*model->chip_, model->program_)
                                            : program::memory_of_file(model->program_);
  if (options.announce) log_banner(*model);
  if (options.operators != nullptr) model->operators_ = options.operators;
  model->plans_.resize(model->program_.variants.size());
  model->can_run_ = !options.info_only;
  if (model->can_run_) RK_TRY(model->plan(0).status());
  return model;
}

Result<const host::HostPlan*> LoadedModel::plan(size_t variant) const {
  const std::lock_guard lock(plans_mutex_);
  std::unique_ptr<const host::HostPlan>& slot = plans_[variant];
  if (slot == nullptr) {
    RK_ASSIGN(host::HostPlan plan,
              host::make_plan(program_, program_.variants[variant], constants_, *operators_));
    slot = std::make_unique<const host::HostPlan>(std::move(plan));
  }
  return slot.get();
}

}  // namespace rk::runtime
