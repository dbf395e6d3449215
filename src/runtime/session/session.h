// SPDX-License-Identifier: Apache-2.0
// One running instance of a model: its arena, bindings and timings. The C API, the toolkit's simulator and the
// accuracy analysis all run Programs through this class, so they cannot disagree.
//
// Not thread-safe: one caller at a time. Sessions on one LoadedModel share only immutable data. Note:
// a model built for a batch has tensors of one sample; attributes, inputs and outputs are those of the whole batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "runtime/device/memory.h"
#include "runtime/session/custom_step.h"
#include "runtime/session/loaded_model.h"
#include "runtime/session/tensor_attr.h"

namespace rk::runtime {

struct InputQuestion;

struct SessionOptions {
  int threads = 0;            // 0: RKNN_NUM_THREADS, else the CPUs of this process
  bool collect_perf = false;  // time every step
  bool prior_gpu = false;     // what the NPU does not take counts as the GPU's
};

// How the elements of an input or output lie in the caller's memory.
struct CallerFormat {
  DType dtype = DType::kF32;
  TensorFormat format = TensorFormat::
      kUndefined;  // for four dimensions NHWC, NCHW or NC1HWC2; UNDEFINED: model order
  bool pass_through =
      false;  // inputs: the data has the native dtype and layout already; the rest is not looked at
  uint32_t h_stride = 0;  // inputs: rows from one picture of a batch to the next; 0: the height
};

// The outputs of one frame, put aside before the next frame runs.
struct SavedOutputs {
  std::vector<Buffer> stored;  // per output, as the session stores it; empty for a constant one
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const LoadedModel> model,
                                                 const SessionOptions& options = {});

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const LoadedModel& model() const { return *model_; }
  std::shared_ptr<const LoadedModel> shared_model() const { return model_; }
  const SessionOptions& options() const { return options_; }
  // The shapes in force. All variants have the same number of inputs and outputs.
  const program::Variant& variant() const { return model_->program().variants[variant_index_]; }
  size_t variant_index() const { return variant_index_; }
  // Takes the place of what was set, bound or computed before: the caller gives inputs anew.
  Status choose_variant(size_t index);
  size_t input_count() const { return variant().inputs.size(); }
  size_t output_count() const { return variant().outputs.size(); }
  // Cores of the chip that share the steps they can share; 1 at first. Results do not depend on it.
  void set_cores(int cores, int first = 0) {
    cores_ = cores;
    first_core_ = first;
  }
  int cores() const { return cores_; }
  int first_core() const { return first_core_; }
  // Samples of a batch that run side by side; 0: as the chip would, up to three.
  void set_batch_lanes(int lanes) { batch_lanes_ = lanes; }
  int64_t batch() const { return model_->program().batch; }
  TensorAttr input_attr(size_t i, AttrView view = AttrView::kPlain) const;   // i < input_count()
  TensorAttr output_attr(size_t i, AttrView view = AttrView::kPlain) const;  // i < output_count()

  // Converts and copies; the data is the caller's again afterwards. Takes the place of a binding.
  Status set_input(size_t i, const CallerFormat& format, const void* data, uint64_t size_bytes);
  // Bytes that set_input needs at least.
  Result<uint64_t> input_bytes(size_t i, const CallerFormat& format) const;

  // Every run reads inputs from, and writes outputs to, `size_bytes` at memory->data() + offset.
  Status bind_input(size_t i, const CallerFormat& format, std::shared_ptr<DeviceMemory> memory,
                    uint64_t offset_bytes, uint64_t size_bytes);
  Status bind_output(size_t i, const CallerFormat& format, std::shared_ptr<DeviceMemory> memory,
                     uint64_t offset_bytes, uint64_t size_bytes);

  // Inputs that were never given hold zeros (with a warning), unless the device is strict.
  Status run();
  bool has_run() const { return has_run_; }
  int64_t run_duration_us() const { return run_duration_us_; }  // of the last run, at least 1
  // Microseconds per step of the last run, when collect_perf was asked for.
  const std::vector<int64_t>& step_durations_us() const { return step_durations_us_; }
  // Microseconds of the last conversion of each input and output; those that were never converted show 0.
  const std::vector<int64_t>& input_durations_us() const { return input_durations_us_; }
  const std::vector<int64_t>& output_durations_us() const { return output_durations_us_; }

  // The last run's result as `format` describes it, in model order by default. kInvalidOutput before the first run.
  Status get_output(size_t i, const CallerFormat& format, void* to, uint64_t size_bytes) const;
  // The same of a frame that was put aside.
  Status get_output(size_t i, const CallerFormat& format, void* to, uint64_t size_bytes,
                    const SavedOutputs& saved) const;
  // Copies the last run's outputs; `to` is used again where it fits.
  Status save_outputs(SavedOutputs& to) const;
  Result<uint64_t> output_bytes(size_t i, const CallerFormat& format) const;
  bool has_bound_inputs() const;
  // The values in the memory that input i is bound to, as f32 in the model's order and before normalization, of the
  // first sample; nothing when it is not bound.
  std::optional<Tensor> bound_input(size_t i) const;
  bool has_bound_outputs() const;

  // Steps of this operator type in the shapes in force, with memory for their operands and the constants in it. Empty:
  // the model has none. Only when the model can run.
  Result<std::vector<std::shared_ptr<CustomNode>>> custom_nodes(std::string_view type) const;
  // From now on `compute` runs in place of the node's step, until the shapes change. Steps of a batch call it one at a time.
  void set_custom(std::shared_ptr<CustomNode> node, std::function<Status()> compute);
  void remove_custom(const CustomNode& node);

  // Where a step counts as done. Steps of the GPU are computed by the CPU, unless they are custom operators with OpenCL.
  program::Processor processor(size_t step) const;

  // Called after every step for each tensor it wrote, with its stored elements in plain order, and before the first
  // step for each input. Makes a copy of every tensor: for analysis and dumps.
  using Observer = std::function<Status(int32_t tensor, const Tensor& stored)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  struct Binding {
    CallerFormat format;
    std::shared_ptr<DeviceMemory> memory;
    uint64_t offset_bytes = 0;
    uint64_t size_bytes = 0;
  };

  Session() = default;
  // What runs one sample at a time. The first one holds the inputs and outputs of a model without a batch.
  struct Lane {
    Buffer arena;
    host::ScratchTensors scratch;
    Status status;
  };
  const program::ProgramTensor& input_tensor(size_t i) const;
  const program::ProgramTensor& output_tensor(size_t i) const;
  Status prepare_variant();
  Status add_lane();
  size_t lanes_wanted() const;
  ElementView arena_view(const Lane& lane, int32_t tensor) const;
  ElementView input_place(size_t i, int64_t sample) const;
  ElementView output_place(size_t i, int64_t sample) const;
  Status load_input(size_t i, const InputQuestion& question, const void* data, ThreadPool* pool);
  Status load_bound_inputs(ThreadPool* pool);
  Status store_bound_outputs(ThreadPool* pool) const;
  struct Destination {
    void* data = nullptr;
    uint64_t size_bytes = 0;
  };
  // `from` gives where a sample of the output lies.
  using SamplePlace = std::function<ElementView(int64_t sample)>;
  Status store_output(size_t i, const CallerFormat& format, const SamplePlace& from,
                      const Destination& to, ThreadPool* pool) const;
  Status run_steps(Lane& lane, ThreadPool* pool);
  Status run_batch(ThreadPool* pool);
  Status run_sample(Lane& lane, int64_t sample, ThreadPool* pool);
  Status observe(int32_t tensor) const;

  std::shared_ptr<const LoadedModel> model_;
  SessionOptions options_;
  size_t variant_index_ = 0;
  const host::HostPlan* plan_ = nullptr;       // the model's; null when it cannot run
  std::vector<host::StepFunction> own_steps_;  // by step, in place of the plan's; empty: none
  std::vector<size_t> gpu_steps_;              // of own_steps_, those on the GPU
  int cores_ = 1;
  int first_core_ = 0;
  int batch_lanes_ = 0;
  std::vector<Lane> lanes_;
  // Every sample of each input and output, for models with a batch; empty otherwise.
  std::vector<Buffer> batch_inputs_, batch_outputs_;
  std::vector<std::optional<Binding>> input_bindings_;
  std::vector<std::optional<Binding>> output_bindings_;
  std::vector<bool> input_is_set_;
  std::vector<ChannelAffine> input_affine_;
  bool has_run_ = false;
  int64_t run_duration_us_ = 0;
  std::vector<int64_t> step_durations_us_;
  std::vector<int64_t> input_durations_us_;
  mutable std::vector<int64_t> output_durations_us_;
  Observer observer_;
};

// The stored elements of a tensor as numbers: dequantized, or widened from f16.
Tensor to_f32(const program::ProgramTensor& tensor, const Tensor& stored);

}  // namespace rk::runtime
