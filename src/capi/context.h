// SPDX-License-Identifier: Apache-2.0
// What an rknn_context stands for, and the table of those that exist.
//
// A newcomer's mistake: a handle is a number, never a pointer. Clients keep it in 32 bits, use it after destroying it
// and call from several threads; the table makes each of these an error or a wait instead of a crash.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "base/buffer.h"
#include "capi/api.h"
#include "runtime/session.h"

namespace rk::capi {

// What RKNN_LOG_LEVEL asks for beside lines of text.
inline constexpr int kLayerTable = 4;
inline constexpr int kLayerDumps = 5;

// Buffers that rknn_outputs_get has lent. A client that never releases them does not grow the pool: the oldest of the
// same output is handed out again once kMaxLent are outstanding.
class OutputPool {
 public:
  static constexpr size_t kMaxLent = 8;  // per output

  Result<uint8_t*> lend(size_t output, uint64_t size_bytes);
  void take_back(const void* data);  // anything not lent is ignored

 private:
  struct Entry {
    size_t output = 0;
    Buffer buffer;
  };
  std::deque<Entry> lent_;  // oldest first
  std::deque<Entry> idle_;
};

struct Context {
  std::mutex mutex;
  std::unique_ptr<runtime::Session> session;
  uint32_t flags = 0;
  OutputPool outputs;
  std::string perf_text;  // what perf_data of the last query points at
  uint32_t core_mask = RKNN_NPU_CORE_AUTO;
  // Given by the caller and kept alive; the host plan does not need them.
  std::shared_ptr<runtime::DeviceMemory> weight_memory;
  std::shared_ptr<runtime::DeviceMemory> internal_memory;
};

// A context, locked for the length of one call. It stays alive even if another thread destroys its handle.
class LockedContext {
 public:
  explicit LockedContext(std::shared_ptr<Context> context)
      : context_(std::move(context)), lock_(context_->mutex) {}
  Context* operator->() const { return context_.get(); }
  Context& operator*() const { return *context_; }
  runtime::Session& session() const { return *context_->session; }

 private:
  std::shared_ptr<Context> context_;
  std::unique_lock<std::mutex> lock_;
};

// kInvalidContext for a handle that was never made or is gone.
Result<LockedContext> find_context(rknn_context handle);
// Below 2^31 and not used before, unless two thousand million contexts have been made since.
rknn_context add_context(std::shared_ptr<Context> context);
Status remove_context(rknn_context handle);

}  // namespace rk::capi
