// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/checked_math.h"
#include "base/log.h"
#include "runtime/caller_view.h"
#include "runtime/pool_cache.h"

namespace rk::runtime {
namespace {

using Clock = std::chrono::steady_clock;

int64_t microseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

Status no_plan() {
  return invalid_argument(
      "the context was made with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY: it answers RKNN_QUERY_MEM_SIZE "
      "and cannot run");
}

Status check_range(std::string_view what, uint64_t offset_bytes, uint64_t size_bytes,
                   const DeviceMemory& memory) {
  const auto end = checked_add(offset_bytes, size_bytes);
  if (end && *end <= memory.size_bytes()) return ok_status();
  return invalid_argument(str(what, ": ", size_bytes, " bytes at offset ", offset_bytes,
                              " lie beyond the memory of ", memory.size_bytes(), " bytes"));
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedModel> model,
                                                 const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->model_ = std::move(model);
  session->options_ = options;
  const LoadedModel& loaded = *session->model_;
  session->input_bindings_.resize(session->input_count());
  session->output_bindings_.resize(session->output_count());
  session->input_is_set_.resize(session->input_count());
  session->input_durations_us_.resize(session->input_count());
  session->output_durations_us_.resize(session->output_count());
  for (size_t i = 0; i < session->input_count(); ++i) {
    session->input_affine_.push_back(
        input_affine(session->input_tensor(i), loaded.program().inputs[i]));
  }
  if (loaded.can_run()) {
    auto arena = loaded.arenas().take(loaded.plan().arena_bytes);
    if (!arena.ok()) return arena.status().with_context("internal memory of the model");
    session->arena_ = std::move(arena).value();
    // Inputs that are never set read as zeros, also in an arena that served another session.
    for (const int32_t input : loaded.variant().inputs) {
      const cpu::HostTensor& host = loaded.plan().tensors[static_cast<size_t>(input)];
      if (host.size_bytes == 0) continue;
      std::memset(session->arena_.data() + host.offset_in_arena, 0, host.size_bytes);
    }
  }
  return session;
}

Session::~Session() {
  if (arena_.size() != 0) model_->arenas().give(std::move(arena_));
}

const program::ProgramTensor& Session::input_tensor(size_t i) const {
  const program::Variant& variant = model_->variant();
  return variant.tensors[static_cast<size_t>(variant.inputs[i])];
}

const program::ProgramTensor& Session::output_tensor(size_t i) const {
  const program::Variant& variant = model_->variant();
  return variant.tensors[static_cast<size_t>(variant.outputs[i])];
}

TensorAttr Session::input_attr(size_t i, AttrView view) const {
  return runtime::input_attr(input_tensor(i), static_cast<uint32_t>(i), view);
}

TensorAttr Session::output_attr(size_t i, AttrView view) const {
  return runtime::output_attr(output_tensor(i), static_cast<uint32_t>(i), view);
}

ElementView Session::stored_view(int32_t tensor) const {
  const auto index = static_cast<size_t>(tensor);
  const cpu::HostTensor& host = model_->plan().tensors[index];
  auto* const data = const_cast<uint8_t*>(host.in_arena ? arena_.data() + host.offset_in_arena
                                                        : host.constant.data());
  return cpu::host_view(model_->variant().tensors[index], host, data);
}

Result<uint64_t> Session::input_bytes(size_t i, const CallerFormat& format) const {
  RK_ASSIGN(const CallerView view, input_view(input_tensor(i), {.format = format}));
  return view.needed_bytes;
}

Result<uint64_t> Session::output_bytes(size_t i, const CallerFormat& format) const {
  RK_ASSIGN(const CallerView view, output_view(output_tensor(i), format));
  return view.needed_bytes;
}

Status Session::load_input(size_t i, const InputQuestion& question, const void* data,
                           ThreadPool* pool) {
  const program::ProgramTensor& tensor = input_tensor(i);
  RK_ASSIGN(CallerView caller, input_view(tensor, question));
  if (question.available_bytes < caller.needed_bytes) {
    return invalid_argument(str("input '", tensor.name, "': param input size(",
                                question.available_bytes, ") < model input size(",
                                caller.needed_bytes, ") for type ", to_string(caller.view.dtype),
                                ", shape ", to_string(tensor.shape)));
  }
  const Clock::time_point start = Clock::now();
  caller.view.data = static_cast<uint8_t*>(const_cast<void*>(data));
  convert(picture_extents(tensor.shape), caller.view, stored_view(model_->variant().inputs[i]),
          caller.normalise ? input_affine_[i] : ChannelAffine{}, pool);
  input_durations_us_[i] = microseconds_since(start);
  return ok_status();
}

Status Session::set_input(size_t i, const CallerFormat& format, const void* data,
                          uint64_t size_bytes) {
  if (!model_->can_run()) return no_plan();
  const BorrowedPool pool(options_.threads);
  const InputQuestion question{format, false, size_bytes, model_->device().strict};
  RK_TRY(load_input(i, question, data, pool.get()));
  input_bindings_[i].reset();
  input_is_set_[i] = true;
  return ok_status();
}

Status Session::bind_input(size_t i, const CallerFormat& format,
                           std::shared_ptr<DeviceMemory> memory, uint64_t offset_bytes,
                           uint64_t size_bytes) {
  if (!model_->can_run()) return no_plan();
  const program::ProgramTensor& tensor = input_tensor(i);
  RK_TRY(check_range(str("input '", tensor.name, "'"), offset_bytes, size_bytes, *memory));
  RK_ASSIGN(const CallerView caller,
            input_view(tensor, {format, true, size_bytes, model_->device().strict}));
  if (size_bytes < caller.needed_bytes) {
    return invalid_argument(str("input '", tensor.name, "': the memory has ", size_bytes,
                                " bytes, ", caller.needed_bytes, " are needed for type ",
                                to_string(caller.view.dtype)));
  }
  input_bindings_[i] = Binding{format, std::move(memory), offset_bytes, size_bytes};
  return ok_status();
}

Status Session::bind_output(size_t i, const CallerFormat& format,
                            std::shared_ptr<DeviceMemory> memory, uint64_t offset_bytes,
                            uint64_t size_bytes) {
  if (!model_->can_run()) return no_plan();
  const program::ProgramTensor& tensor = output_tensor(i);
  RK_TRY(check_range(str("output '", tensor.name, "'"), offset_bytes, size_bytes, *memory));
  RK_ASSIGN(const CallerView caller, output_view(tensor, format));
  if (size_bytes < caller.needed_bytes) {
    return invalid_argument(str("output '", tensor.name, "': the memory has ", size_bytes,
                                " bytes, ", caller.needed_bytes, " are needed for type ",
                                to_string(caller.view.dtype)));
  }
  output_bindings_[i] = Binding{format, std::move(memory), offset_bytes, size_bytes};
  return ok_status();
}

Status Session::load_bound_inputs(ThreadPool* pool) {
  for (size_t i = 0; i < input_count(); ++i) {
    if (!input_bindings_[i]) {
      if (input_is_set_[i]) continue;
      const std::string text = str("input '", input_tensor(i).name, "' was never set");
      if (model_->device().strict) return Status(Code::kInvalidInput, text);
      log(LogLevel::kWarning,
          text + ": it is taken as zeros. Call rknn_inputs_set or rknn_set_io_mem before rknn_run");
      input_is_set_[i] = true;
      continue;
    }
    const Binding& binding = *input_bindings_[i];
    if (binding.memory->released()) {
      return Status(Code::kInvalidInput, str("input '", input_tensor(i).name,
                                             "' is bound to memory that was destroyed"));
    }
    const InputQuestion question{binding.format, true, binding.size_bytes, model_->device().strict};
    RK_TRY(load_input(i, question, binding.memory->data() + binding.offset_bytes, pool));
  }
  return ok_status();
}

Status Session::store_bound_outputs(ThreadPool* pool) const {
  for (size_t i = 0; i < output_count(); ++i) {
    if (!output_bindings_[i]) continue;
    const Binding& binding = *output_bindings_[i];
    if (binding.memory->released()) {
      return Status(Code::kInvalidOutput, str("output '", output_tensor(i).name,
                                              "' is bound to memory that was destroyed"));
    }
    const Clock::time_point start = Clock::now();
    RK_TRY(store_output(i, binding.format, stored_view(model_->variant().outputs[i]),
                        {binding.memory->data() + binding.offset_bytes, binding.size_bytes}, pool));
    output_durations_us_[i] = microseconds_since(start);
  }
  return ok_status();
}

Status Session::store_output(size_t i, const CallerFormat& format, const ElementView& from,
                             const Destination& to, ThreadPool* pool) const {
  const program::ProgramTensor& tensor = output_tensor(i);
  RK_ASSIGN(CallerView caller, output_view(tensor, format));
  if (to.size_bytes < caller.needed_bytes) {
    return Status(Code::kInvalidOutput,
                  str("output '", tensor.name, "': the buffer has ", to.size_bytes, " bytes, ",
                      caller.needed_bytes, " are needed"));
  }
  caller.view.data = static_cast<uint8_t*>(to.data);
  convert(picture_extents(tensor.shape), from, caller.view, {}, pool);
  return ok_status();
}

Status Session::get_output(size_t i, const CallerFormat& format, void* to,
                           uint64_t size_bytes) const {
  if (!model_->can_run()) return no_plan();
  if (!has_run_) return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  const BorrowedPool pool(options_.threads);
  const Clock::time_point start = Clock::now();
  RK_TRY(store_output(i, format, stored_view(model_->variant().outputs[i]), {to, size_bytes},
                      pool.get()));
  output_durations_us_[i] = microseconds_since(start);
  return ok_status();
}

Status Session::get_output(size_t i, const CallerFormat& format, void* to, uint64_t size_bytes,
                           const SavedOutputs& saved) const {
  const auto tensor = static_cast<size_t>(model_->variant().outputs[i]);
  const cpu::HostTensor& host = model_->plan().tensors[tensor];
  // A constant output is the same in every frame.
  auto* const data =
      const_cast<uint8_t*>(host.in_arena ? saved.stored[i].data() : host.constant.data());
  // The session itself may be running: no pool is taken from it.
  return store_output(i, format, cpu::host_view(model_->variant().tensors[tensor], host, data),
                      {to, size_bytes}, nullptr);
}

Status Session::save_outputs(SavedOutputs& to) const {
  if (!has_run_) return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  to.stored.resize(output_count());
  for (size_t i = 0; i < output_count(); ++i) {
    const auto tensor = static_cast<size_t>(model_->variant().outputs[i]);
    const cpu::HostTensor& host = model_->plan().tensors[tensor];
    if (!host.in_arena) continue;
    if (to.stored[i].size() != host.size_bytes) {
      RK_ASSIGN(to.stored[i], Buffer::try_make(host.size_bytes, kMaxObjectBytes));
    }
    if (host.size_bytes == 0) continue;
    std::memcpy(to.stored[i].data(), arena_.data() + host.offset_in_arena, host.size_bytes);
  }
  return ok_status();
}

bool Session::has_bound_inputs() const {
  return std::any_of(input_bindings_.begin(), input_bindings_.end(),
                     [](const auto& binding) { return binding.has_value(); });
}

bool Session::has_bound_outputs() const {
  return std::any_of(output_bindings_.begin(), output_bindings_.end(),
                     [](const auto& binding) { return binding.has_value(); });
}

Status Session::observe(int32_t index) const {
  const program::ProgramTensor& tensor = model_->variant().tensors[static_cast<size_t>(index)];
  RK_ASSIGN(Tensor plain, Tensor::try_make({tensor.dtype, tensor.shape}));
  const PictureExtents extents = picture_extents(tensor.shape);
  ElementView to{tensor.dtype, tensor.scale, tensor.zero_point, nchw_strides(extents),
                 plain.mutable_data<uint8_t>()};
  convert(extents, stored_view(index), to, {}, nullptr);
  return observer_(index, plain);
}

Status Session::run_steps(ThreadPool* pool) {
  const program::Variant& variant = model_->variant();
  const cpu::HostPlan& plan = model_->plan();
  const cpu::StepCall call{plan.tensors, arena_.data(), pool, &scratch_};
  if (options_.collect_perf) step_durations_us_.assign(plan.steps.size(), 0);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const program::Step& step = variant.steps[i];
    const Clock::time_point start = options_.collect_perf ? Clock::now() : Clock::time_point{};
    if (Status status = plan.steps[i](call); !status.ok()) {
      return std::move(status).with_context(str("step '", step.name, "' (", step.type, ")"));
    }
    if (options_.collect_perf) step_durations_us_[i] = microseconds_since(start);
    if (!observer_) continue;
    for (const int32_t output : step.outputs) RK_TRY(observe(output));
  }
  return ok_status();
}

Status Session::run() {
  if (!model_->can_run()) return no_plan();
  const BorrowedPool pool(options_.threads);
  RK_TRY(load_bound_inputs(pool.get()));
  if (observer_) {
    for (const int32_t input : model_->variant().inputs) RK_TRY(observe(input));
  }
  const Clock::time_point start = Clock::now();
  RK_TRY(run_steps(pool.get()));
  run_duration_us_ = std::max<int64_t>(1, microseconds_since(start));
  has_run_ = true;
  return store_bound_outputs(pool.get());
}

Tensor to_f32(const program::ProgramTensor& tensor, const Tensor& stored) {
  Tensor out = Tensor::make({DType::kF32, tensor.shape});
  const PictureExtents extents = picture_extents(tensor.shape);
  const ElementView from{tensor.dtype, tensor.scale, tensor.zero_point, nchw_strides(extents),
                         const_cast<uint8_t*>(stored.data<uint8_t>())};
  convert(extents, from, {DType::kF32, 0, 0, nchw_strides(extents), out.mutable_data<uint8_t>()},
          {}, nullptr);
  return out;
}

}  // namespace rk::runtime
