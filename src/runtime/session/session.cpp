// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/checked_math.h"
#include "base/log.h"
#include "runtime/session/caller_view.h"
#include "runtime/threads/pool_cache.h"

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

// Contexts that the vendor's library makes for a batch, one per core.
constexpr int64_t kLanesOfAChip = 3;

// One sample's part of a buffer that holds them all.
uint8_t* sample_of(const Buffer& all, int64_t sample, int64_t samples) {
  const size_t one = all.size() / static_cast<size_t>(samples);
  return const_cast<uint8_t*>(all.data()) + static_cast<size_t>(sample) * one;
}

// Once per process: the figures of such steps are those of the CPU.
void tell_about_gpu(const std::string& step) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  log(LogLevel::kInfo, str("step '", step,
                           "' is placed on the GPU: operators of the library are "
                           "computed by the CPU and reported as GPU"));
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedModel> model,
                                                 const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->model_ = std::move(model);
  session->options_ = options;
  RK_TRY(session->prepare_variant());
  return session;
}

// Places for the variant in force, with nothing set, bound or computed.
Status Session::prepare_variant() {
  const size_t inputs = input_count(), outputs = output_count();
  input_bindings_.assign(inputs, std::nullopt);
  output_bindings_.assign(outputs, std::nullopt);
  input_is_set_.assign(inputs, false);
  input_durations_us_.assign(inputs, 0);
  output_durations_us_.assign(outputs, 0);
  step_durations_us_.clear();
  has_run_ = false;
  input_affine_.clear();
  for (size_t i = 0; i < inputs; ++i)
    input_affine_.push_back(input_affine(input_tensor(i), model_->program().inputs[i]));
  own_steps_.clear();
  gpu_steps_.clear();
  if (!model_->can_run()) return ok_status();
  RK_ASSIGN(plan_, model_->plan(variant_index_));
  for (size_t i = 0; i < variant().steps.size(); ++i) {
    if (processor(i) != program::Processor::kGpu) continue;
    tell_about_gpu(variant().steps[i].name);
    break;
  }
  if (lanes_.empty()) RK_TRY(add_lane());
  for (Lane& lane : lanes_) {
    if (lane.arena.size() >= plan_->arena_bytes) continue;
    RK_ASSIGN(Buffer larger, model_->arenas().take(plan_->arena_bytes));
    lane.arena = std::move(larger);
  }
  // Inputs that are never set read as zeros, also in an arena that served another session.
  for (const int32_t input : variant().inputs) {
    const host::HostTensor& host = plan_->tensors[static_cast<size_t>(input)];
    if (host.size_bytes == 0) continue;
    std::memset(lanes_.front().arena.data() + host.offset_in_arena, 0, host.size_bytes);
  }
  if (batch() == 1) return ok_status();
  const auto reserve = [&](const std::vector<int32_t>& tensors, std::vector<Buffer>& to) -> Status {
    to.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const uint64_t one = plan_->tensors[static_cast<size_t>(tensors[i])].size_bytes;
      const auto all = checked_mul(one, static_cast<uint64_t>(batch()));
      RK_ASSIGN(to[i], Buffer::try_make(all.value_or(UINT64_MAX), kMaxObjectBytes));
    }
    return ok_status();
  };
  RK_TRY(reserve(variant().inputs, batch_inputs_));
  return reserve(variant().outputs, batch_outputs_);
}

Status Session::choose_variant(size_t index) {
  if (index >= model_->program().variants.size()) {
    return invalid_argument(
        str("shapes number ", index, "; the model has ", model_->program().variants.size()));
  }
  variant_index_ = index;
  return prepare_variant();
}

Status Session::add_lane() {
  auto arena = model_->arenas().take(plan_->arena_bytes);
  if (!arena.ok()) return arena.status().with_context("internal memory of the model");
  lanes_.push_back({std::move(arena).value(), {}, {}});
  return ok_status();
}

Session::~Session() {
  for (Lane& lane : lanes_) {
    if (lane.arena.size() != 0) model_->arenas().give(std::move(lane.arena));
  }
}

const program::ProgramTensor& Session::input_tensor(size_t i) const {
  return variant().tensors[static_cast<size_t>(variant().inputs[i])];
}

const program::ProgramTensor& Session::output_tensor(size_t i) const {
  return variant().tensors[static_cast<size_t>(variant().outputs[i])];
}

TensorAttr Session::input_attr(size_t i, AttrView view) const {
  return of_batch(runtime::input_attr(input_tensor(i), static_cast<uint32_t>(i), view), batch());
}

TensorAttr Session::output_attr(size_t i, AttrView view) const {
  return of_batch(runtime::output_attr(output_tensor(i), static_cast<uint32_t>(i), view), batch());
}

ElementView Session::arena_view(const Lane& lane, int32_t tensor) const {
  const auto index = static_cast<size_t>(tensor);
  const host::HostTensor& host = plan_->tensors[index];
  auto* const data = const_cast<uint8_t*>(host.in_arena ? lane.arena.data() + host.offset_in_arena
                                                        : host.constant.data());
  return host::host_view(variant().tensors[index], host, data);
}

ElementView Session::input_place(size_t i, int64_t sample) const {
  ElementView view = arena_view(lanes_.front(), variant().inputs[i]);
  if (batch() > 1) view.data = sample_of(batch_inputs_[i], sample, batch());
  return view;
}

ElementView Session::output_place(size_t i, int64_t sample) const {
  ElementView view = arena_view(lanes_.front(), variant().outputs[i]);
  if (batch() > 1) view.data = sample_of(batch_outputs_[i], sample, batch());
  return view;
}

Result<uint64_t> Session::input_bytes(size_t i, const CallerFormat& format) const {
  RK_ASSIGN(const CallerView view,
            input_view(input_tensor(i), {.format = format, .batch = batch()}));
  return view.needed_bytes;
}

Result<uint64_t> Session::output_bytes(size_t i, const CallerFormat& format) const {
  RK_ASSIGN(const CallerView view, output_view(output_tensor(i), format, batch()));
  return view.needed_bytes;
}

Status Session::load_input(size_t i, const InputQuestion& question, const void* data,
                           ThreadPool* pool) {
  const program::ProgramTensor& tensor = input_tensor(i);
  RK_ASSIGN(CallerView caller, input_view(tensor, question));
  if (question.available_bytes < caller.needed_bytes) {
    return invalid_argument(str(
        "input '", tensor.name, "': param input size(", question.available_bytes,
        ") < model input size(", caller.needed_bytes, ") for type ", to_string(caller.view.dtype),
        ", shape ", to_string(tensor.shape), batch() > 1 ? str(", batch ", batch()) : ""));
  }
  const Clock::time_point start = Clock::now();
  caller.view.data = static_cast<uint8_t*>(const_cast<void*>(data));
  for (int64_t sample = 0; sample < batch(); ++sample) {
    convert(picture_extents(tensor.shape), caller.view, input_place(i, sample),
            caller.normalize ? input_affine_[i] : ChannelAffine{}, pool);
    caller.view.data += caller.sample_bytes;
  }
  input_durations_us_[i] = microseconds_since(start);
  return ok_status();
}

Status Session::set_input(size_t i, const CallerFormat& format, const void* data,
                          uint64_t size_bytes) {
  if (!model_->can_run()) return no_plan();
  const BorrowedPool pool(options_.threads);
  const InputQuestion question{format, false, size_bytes, model_->device().strict, batch()};
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
            input_view(tensor, {format, true, size_bytes, model_->device().strict, batch()}));
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
  if (model_->device().strict && !board_binds_output(tensor.dtype, format.dtype)) {
    return Status(Code::kInvalidOutput,
                  str("output '", tensor.name, "' is ", to_string(tensor.dtype),
                      ": a board does not bind ", to_string(format.dtype), " to it"));
  }
  // The guide's table of the small chips has int8 and float16 only: nothing there converts to float32.
  if (model_->device().small_chip_rules(model_->chip()) && format.dtype == DType::kF32 &&
      tensor.dtype != DType::kF32) {
    return Status(Code::kInvalidOutput,
                  str("output '", tensor.name, "' is ", to_string(tensor.dtype), ": a board with ",
                      model_->chip().name, " writes int8 or float16, not float32"));
  }
  RK_ASSIGN(const CallerView caller, output_view(tensor, format, batch()));
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
    const InputQuestion question{binding.format, true, binding.size_bytes, model_->device().strict,
                                 batch()};
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
    RK_TRY(store_output(
        i, binding.format, [&](int64_t sample) { return output_place(i, sample); },
        {binding.memory->data() + binding.offset_bytes, binding.size_bytes}, pool));
    output_durations_us_[i] = microseconds_since(start);
  }
  return ok_status();
}

Status Session::store_output(size_t i, const CallerFormat& format, const SamplePlace& from,
                             const Destination& to, ThreadPool* pool) const {
  const program::ProgramTensor& tensor = output_tensor(i);
  RK_ASSIGN(CallerView caller, output_view(tensor, format, batch()));
  if (to.size_bytes < caller.needed_bytes) {
    return Status(Code::kInvalidOutput,
                  str("output '", tensor.name, "': the buffer has ", to.size_bytes, " bytes, ",
                      caller.needed_bytes, " are needed"));
  }
  caller.view.data = static_cast<uint8_t*>(to.data);
  for (int64_t sample = 0; sample < batch(); ++sample) {
    convert(picture_extents(tensor.shape), from(sample), caller.view, {}, pool);
    caller.view.data += caller.sample_bytes;
  }
  return ok_status();
}

Status Session::get_output(size_t i, const CallerFormat& format, void* to,
                           uint64_t size_bytes) const {
  if (!model_->can_run()) return no_plan();
  if (!has_run_) return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  const BorrowedPool pool(options_.threads);
  const Clock::time_point start = Clock::now();
  RK_TRY(store_output(
      i, format, [&](int64_t sample) { return output_place(i, sample); }, {to, size_bytes},
      pool.get()));
  output_durations_us_[i] = microseconds_since(start);
  return ok_status();
}

Status Session::get_output(size_t i, const CallerFormat& format, void* to, uint64_t size_bytes,
                           const SavedOutputs& saved) const {
  const auto tensor = static_cast<size_t>(variant().outputs[i]);
  const host::HostTensor& host = plan_->tensors[tensor];
  const auto place = [&](int64_t sample) {
    // A constant output is the same in every frame.
    uint8_t* const data = host.in_arena ? sample_of(saved.stored[i], sample, batch())
                                        : const_cast<uint8_t*>(host.constant.data());
    return host::host_view(variant().tensors[tensor], host, data);
  };
  // The session itself may be running: no pool is taken from it.
  return store_output(i, format, place, {to, size_bytes}, nullptr);
}

Status Session::save_outputs(SavedOutputs& to) const {
  if (!has_run_) return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  to.stored.resize(output_count());
  for (size_t i = 0; i < output_count(); ++i) {
    const host::HostTensor& host = plan_->tensors[static_cast<size_t>(variant().outputs[i])];
    if (!host.in_arena) continue;
    const uint64_t size_bytes = host.size_bytes * static_cast<uint64_t>(batch());
    if (to.stored[i].size() != size_bytes) {
      RK_ASSIGN(to.stored[i], Buffer::try_make(size_bytes, kMaxObjectBytes));
    }
    if (size_bytes != 0) std::memcpy(to.stored[i].data(), output_place(i, 0).data, size_bytes);
  }
  return ok_status();
}

std::optional<Tensor> Session::bound_input(size_t i) const {
  if (!input_bindings_[i] || input_bindings_[i]->memory->released()) return std::nullopt;
  const Binding& binding = *input_bindings_[i];
  const program::ProgramTensor& tensor = input_tensor(i);
  auto caller = input_view(
      tensor, {binding.format, true, binding.size_bytes, model_->device().strict, batch()});
  auto made = Tensor::try_make({DType::kF32, tensor.shape});
  if (!caller.ok() || !made.ok()) return std::nullopt;
  Tensor out = std::move(made).value();
  const PictureExtents extents = picture_extents(tensor.shape);
  caller->view.data = binding.memory->data() + binding.offset_bytes;
  caller->view.scale = 0;  // as the bytes are
  convert(extents, caller->view,
          {DType::kF32, 0, 0, nchw_strides(extents), out.mutable_data<uint8_t>()}, {}, nullptr);
  return out;
}

bool Session::has_bound_inputs() const {
  return std::any_of(input_bindings_.begin(), input_bindings_.end(),
                     [](const auto& binding) { return binding.has_value(); });
}

bool Session::has_bound_outputs() const {
  return std::any_of(output_bindings_.begin(), output_bindings_.end(),
                     [](const auto& binding) { return binding.has_value(); });
}

Result<std::vector<std::shared_ptr<CustomNode>>> Session::custom_nodes(
    std::string_view type) const {
  if (!model_->can_run()) return no_plan();
  return find_custom_nodes(variant(), *plan_, type);
}

void Session::set_custom(std::shared_ptr<CustomNode> node, std::function<Status()> compute) {
  own_steps_.resize(plan_->steps.size());
  if (node->on_gpu) gpu_steps_.push_back(node->step);
  host::StepFunction& slot = own_steps_[node->step];
  slot = custom_step(variant(), std::move(node), std::move(compute));
}

void Session::remove_custom(const CustomNode& node) {
  if (node.step < own_steps_.size()) own_steps_[node.step] = nullptr;
  std::erase(gpu_steps_, node.step);
}

program::Processor Session::processor(size_t step) const {
  using program::Processor;
  const bool own = step < own_steps_.size() && own_steps_[step];
  if (own) {
    const bool gpu = std::ranges::find(gpu_steps_, step) != gpu_steps_.end();
    return gpu ? Processor::kGpu : Processor::kCpu;
  }
  const Processor placed = variant().steps[step].processor;
  return placed == Processor::kCpu && options_.prior_gpu ? Processor::kGpu : placed;
}

Status Session::observe(int32_t index) const {
  const program::ProgramTensor& tensor = variant().tensors[static_cast<size_t>(index)];
  RK_ASSIGN(Tensor plain, Tensor::try_make({tensor.dtype, tensor.shape}));
  const PictureExtents extents = picture_extents(tensor.shape);
  ElementView to{tensor.dtype, tensor.scale, tensor.zero_point, nchw_strides(extents),
                 plain.mutable_data<uint8_t>()};
  convert(extents, arena_view(lanes_.front(), index), to, {}, nullptr);
  return observer_(index, plain);
}

Status Session::run_steps(Lane& lane, ThreadPool* pool) {
  const host::HostPlan& plan = *plan_;
  const host::StepCall call{plan.tensors, lane.arena.data(), pool, &lane.scratch, cores_};
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const program::Step& step = variant().steps[i];
    const Clock::time_point start = options_.collect_perf ? Clock::now() : Clock::time_point{};
    const bool own = i < own_steps_.size() && own_steps_[i];
    if (Status status = (own ? own_steps_[i] : plan.steps[i])(call); !status.ok()) {
      return std::move(status).with_context(str("step '", step.name, "' (", step.type, ")"));
    }
    if (options_.collect_perf) step_durations_us_[i] += microseconds_since(start);
    if (!observer_) continue;
    for (const int32_t output : step.outputs) RK_TRY(observe(output));
  }
  return ok_status();
}

// Steps are timed and observed one sample after the other.
size_t Session::lanes_wanted() const {
  if (options_.collect_perf || observer_) return 1;
  const int64_t lanes = batch_lanes_ > 0 ? batch_lanes_ : kLanesOfAChip;
  return static_cast<size_t>(std::min(lanes, batch()));
}

Status Session::run_sample(Lane& lane, int64_t sample, ThreadPool* pool) {
  const auto place = [&](int32_t tensor) { return arena_view(lane, tensor).data; };
  const auto bytes = [&](int32_t tensor) {
    return plan_->tensors[static_cast<size_t>(tensor)].size_bytes;
  };
  for (size_t i = 0; i < input_count(); ++i) {
    const int32_t input = variant().inputs[i];
    if (bytes(input) != 0) std::memcpy(place(input), input_place(i, sample).data, bytes(input));
  }
  if (observer_) {
    for (const int32_t input : variant().inputs) RK_TRY(observe(input));
  }
  RK_TRY(run_steps(lane, pool));
  for (size_t i = 0; i < output_count(); ++i) {
    const int32_t output = variant().outputs[i];
    if (bytes(output) != 0) std::memcpy(output_place(i, sample).data, place(output), bytes(output));
  }
  return ok_status();
}

// Samples are dealt out to lanes in turn; which lane runs a sample does not change its result.
Status Session::run_batch(ThreadPool* pool) {
  const size_t lanes = lanes_wanted();
  while (lanes_.size() < lanes) RK_TRY(add_lane());
  if (lanes == 1 || pool->threads() == 1) {
    for (int64_t sample = 0; sample < batch(); ++sample)
      RK_TRY(run_sample(lanes_.front(), sample, pool));
    return ok_status();
  }
  pool->parallel_for(static_cast<int64_t>(lanes), 1, [&](IndexRange range) {
    for (int64_t at = range.begin; at < range.end; ++at) {
      Lane& lane = lanes_[static_cast<size_t>(at)];
      lane.status = ok_status();
      for (int64_t sample = at; sample < batch() && lane.status.ok();
           sample += static_cast<int64_t>(lanes))
        lane.status = run_sample(lane, sample, nullptr);
    }
  });
  for (size_t i = 0; i < lanes; ++i) RK_TRY(lanes_[i].status);
  return ok_status();
}

Status Session::run() {
  if (!model_->can_run()) return no_plan();
  const BorrowedPool pool(options_.threads);
  RK_TRY(load_bound_inputs(pool.get()));
  if (options_.collect_perf) step_durations_us_.assign(plan_->steps.size(), 0);
  if (observer_ && batch() == 1) {
    for (const int32_t input : variant().inputs) RK_TRY(observe(input));
  }
  const Clock::time_point start = Clock::now();
  RK_TRY(batch() == 1 ? run_steps(lanes_.front(), pool.get()) : run_batch(pool.get()));
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
