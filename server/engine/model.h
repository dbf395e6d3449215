// SPDX-License-Identifier: Apache-2.0
// One loaded model with the contexts that run it. Calls from any number of threads; each runs on a context of its own,
// in the order in which they came when all are busy.
//
// Invariant: nothing reaches the library unchecked: counts, types, shapes and sizes of every tensor fit what the
// library said of the model, so that a runtime that trusts its caller is safe behind the server.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/engine/library.h"
#include "server/engine/limits.h"

namespace rk::server {

struct ModelOptions {
  uint32_t flags = 0;      // of rknn_init
  uint32_t core_mask = 0;  // 0: not set
  uint32_t instances = 1;  // contexts, at most
};

// An input of one call. The bytes are the caller's.
struct InputTensor {
  std::string_view name;
  rknn_tensor_type type = RKNN_TENSOR_FLOAT32;
  rknn_tensor_format format = RKNN_TENSOR_UNDEFINED;  // NCHW: the shape and data are in that order
  bool pass_through = false;                          // native bytes: type and shape mean nothing
  std::span<const int64_t> shape;
  std::string_view bytes;
};

struct OutputWish {
  std::string_view name;
  bool native = false;  // the model's own type; otherwise float32 for what stands for real numbers
};

struct OutputTensor {
  std::string name;
  rknn_tensor_type type = RKNN_TENSOR_FLOAT32;
  std::vector<int64_t> shape;
  std::string bytes;
};

struct Performance {
  int64_t run_us = 0;
  std::string detail;  // empty without RKNN_FLAG_COLLECT_PERF_MASK
};

// Bytes of one element; 0 for what has no such number.
size_t type_size(rknn_tensor_type type);
// Stands for real numbers: handed out as float32 unless asked for otherwise.
bool is_real(const rknn_tensor_attr& attr);

class Model {
 public:
  // Flags about memory, fences or weights of the caller are refused: nobody is there to supply them.
  static Result<std::shared_ptr<Model>> load(std::shared_ptr<const Library> library,
                                             std::string_view file, const ModelOptions& options,
                                             std::shared_ptr<Budget> contexts);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const std::vector<rknn_tensor_attr>& inputs() const { return inputs_; }
  const std::vector<rknn_tensor_attr>& outputs() const { return outputs_; }
  const std::vector<rknn_tensor_attr>& native_inputs() const { return native_inputs_; }
  const std::vector<rknn_tensor_attr>& native_outputs() const { return native_outputs_; }
  // One per input; empty when the shapes are fixed.
  const std::vector<rknn_input_range>& ranges() const { return ranges_; }
  const rknn_mem_size& memory() const { return memory_; }
  const rknn_sdk_version& versions() const { return versions_; }
  const std::string& custom_string() const { return custom_string_; }
  uint32_t context_count() const;

  // `wishes` empty: every output. `abandoned` is asked while the call waits; true ends it with kCancelled.
  Result<std::vector<OutputTensor>> infer(std::span<const InputTensor> inputs,
                                          std::span<const OutputWish> wishes, uint32_t max_waiting,
                                          const std::function<bool()>& abandoned);
  // The outputs for these shapes of the inputs, in the model's order; of a model with several shapes.
  Result<std::vector<rknn_tensor_attr>> outputs_for(std::span<const std::vector<int64_t>> shapes);
  // Of the last run of one context.
  Result<Performance> performance();

 private:
  struct Context;
  struct Waiter;
  Model(std::shared_ptr<const Library> library, std::shared_ptr<Budget> contexts);

  Status start(std::string_view file, const ModelOptions& options);
  Status prepare(rknn_context handle) const;
  Status describe(rknn_context handle);
  Result<std::vector<rknn_tensor_attr>> attributes(rknn_context handle, rknn_query_cmd command,
                                                   uint32_t count) const;
  Result<Context*> acquire(uint32_t max_waiting, const std::function<bool()>& abandoned);
  Context* grow();
  void release(Context* context);

  Result<std::vector<const InputTensor*>> in_order(std::span<const InputTensor> inputs) const;
  Result<size_t> choose_shapes(std::span<const std::vector<int64_t>> shapes) const;
  Status check_input(size_t index, const InputTensor& input, std::span<const int64_t> wanted) const;
  Status set_shapes(Context& context, size_t choice) const;
  Result<std::vector<OutputTensor>> run(Context& context,
                                        const std::vector<const InputTensor*>& inputs,
                                        const std::vector<std::pair<uint32_t, bool>>& wanted) const;

  std::shared_ptr<const Library> library_;
  std::shared_ptr<Budget> budget_;
  ModelOptions options_;
  std::vector<rknn_tensor_attr> inputs_, outputs_, native_inputs_, native_outputs_;
  std::vector<rknn_input_range> ranges_;
  rknn_mem_size memory_{};
  rknn_sdk_version versions_{};
  std::string custom_string_;

  mutable std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Context*> idle_;
  std::list<Waiter*> waiting_;
};

}  // namespace rk::server
