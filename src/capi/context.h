// SPDX-License-Identifier: Apache-2.0
// What an rknn_context stands for, and the table of those that exist.
//
// Note: a handle is a number, never a pointer. Clients keep it in 32 bits, use it after destroying it
// and call from several threads; the table makes each of these an error or a wait instead of a crash.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/buffer.h"
#include "capi/api.h"
#include "capi/custom_op.h"
#include "runtime/advice/validate.h"
#include "runtime/device/sram.h"
#include "runtime/matmul/product.h"
#include "runtime/session/session.h"
#include "runtime/threads/frame_worker.h"

namespace rk::capi {

// What RKNN_LOG_LEVEL asks for beside lines of text.
inline constexpr int kMemoryTable = 3;
inline constexpr int kLayerTable = 4;
inline constexpr int kLayerDumps = 5;

// Buffers that rknn_outputs_get has lent. A client that never releases them does not grow the pool: the oldest of the
// same output is handed out again once kMaxLent are outstanding.
class OutputPool {
 public:
  static constexpr size_t kMaxLent = 8;  // per output

  Result<uint8_t*> lend(size_t output, uint64_t size_bytes);
  void take_back(const void* data);  // anything not lent is ignored
  size_t outstanding() const { return lent_.size(); }
  void forget_idle() { idle_.clear(); }  // when the outputs' sizes change

 private:
  struct Entry {
    size_t output = 0;
    Buffer buffer;
  };
  std::deque<Entry> lent_;  // oldest first
  std::deque<Entry> idle_;
};

// The outputs that rknn_outputs_get hands out under RKNN_FLAG_ASYNC_MASK while the next frame runs.
struct PreviousFrame {
  runtime::SavedOutputs outputs;
  uint64_t frame = 0;  // 0: there is none
};

class Context {
 public:
  Context(std::unique_ptr<runtime::Session> session, uint32_t flags)
      : flags(flags),
        validator(session->model().device().validate,
                  {(flags & RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE) == 0,
                   (flags & RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE) == 0}),
        session_(std::move(session)) {}

  // Waits for a frame that runs in the background: nothing may touch a session meanwhile.
  runtime::Session& session() {
    worker.wait();
    return *session_;
  }
  // What never changes may be looked at while a frame runs.
  const runtime::Session& description() const { return *session_; }
  const runtime::LoadedModel& model() const { return session_->model(); }
  bool strict() const { return model().device().strict; }
  bool has_flag(uint32_t flag) const { return (flags & flag) != 0; }

  std::mutex mutex;
  const uint32_t flags;
  runtime::Validator validator;
  OutputPool outputs;
  PreviousFrame previous;
  uint64_t frame = 0;     // of the last run started; the first is 1
  std::string perf_text;  // what perf_data of the last query points at
  uint32_t core_mask = RKNN_NPU_CORE_AUTO;
  // Which of the two flows the program uses; a board does not take both (RKNN_STRICT).
  bool sets_inputs = false, binds_memory = false;
  bool warned_of_input = false;  // once is enough for a program that does it in every frame
  // Given by the caller and kept alive; the host plan does not need them.
  std::shared_ptr<runtime::DeviceMemory> weight_memory;
  std::shared_ptr<runtime::DeviceMemory> internal_memory;
  runtime::SramShare sram;

 private:
  std::unique_ptr<runtime::Session> session_;

 public:
  CustomOps custom_ops;
  runtime::FrameWorker worker;  // last: its frame ends before the session does
};

// A context, locked for the length of one call. It stays alive even if another thread destroys its handle.
class LockedContext {
 public:
  explicit LockedContext(std::shared_ptr<Context> context)
      : context_(std::move(context)), lock_(context_->mutex, std::try_to_lock) {
    if (lock_.owns_lock()) return;
    lock_.lock();
    context_->validator.contended();
  }
  Context* operator->() const { return context_.get(); }
  Context& operator*() const { return *context_; }
  runtime::Session& session() const { return context_->session(); }

 private:
  std::shared_ptr<Context> context_;
  std::unique_lock<std::mutex> lock_;
};

// RKNN_VALIDATE is on: for calls that need no context otherwise.
bool validating();

// kUnsupported where the chip's library lacks the call.
Status check_call_exists(const Context& context);

// kInvalidContext for a handle that was never made or is gone.
Result<LockedContext> find_context(rknn_context handle);
// Below 2^31 and not used before, unless two thousand million contexts have been made since.
rknn_context add_context(std::shared_ptr<Context> context);
// Hands out what the handle stood for; other threads may still hold it.
Result<std::shared_ptr<Context>> remove_context(rknn_context handle);

// A matmul context, in the same table: its handle is good for the memory calls and for rknn_matmul_* only.
struct MatmulContext {
  std::mutex mutex;
  runtime::matmul::Product product;
};
rknn_matmul_ctx add_matmul(std::shared_ptr<MatmulContext> context);
Result<std::shared_ptr<MatmulContext>> find_matmul(rknn_matmul_ctx handle);
Result<std::shared_ptr<MatmulContext>> remove_matmul(rknn_matmul_ctx handle);
// The IOMMU domain of a matmul context; nothing for every other handle.
std::optional<int> matmul_domain(rknn_context handle);

}  // namespace rk::capi
