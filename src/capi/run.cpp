// SPDX-License-Identifier: Apache-2.0
// Running frames: blocking, in the background (rknn_run_extend::non_block), or one behind the other under
// RKNN_FLAG_ASYNC_MASK.
//
// Note: a frame that failed in the background is reported by the next call that asks for a result or
// starts a frame, once.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/log.h"
#include "capi/context.h"
#include "capi/fence.h"
#include "capi/guard.h"
#include "runtime/device/status_page.h"
#include "runtime/report/perf.h"

namespace rk::capi {
namespace {

constexpr long kLongestMs = 1'000'000'000;

// RKNN_MIN_TIMEOUT_MS raises every time-out, for slow machines.
std::chrono::milliseconds raised(int32_t timeout_ms) {
  const char* const text = secure_getenv("RKNN_MIN_TIMEOUT_MS");
  const long least = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return std::chrono::milliseconds(std::min<long>(std::max<long>(least, timeout_ms), kLongestMs));
}

Status check_given(const std::shared_ptr<runtime::DeviceMemory>& memory, uint64_t needed_bytes,
                   std::string_view call) {
  if (needed_bytes == 0 || (memory != nullptr && !memory->released())) return ok_status();
  return invalid_argument(str(memory == nullptr ? "memory was never given: " : "memory is gone: ",
                              "the context was made to take it from its caller. Call ", call,
                              " with ", needed_bytes, " bytes (RKNN_QUERY_MEM_SIZE) first"));
}

Status check_outside_memory(const Context& context) {
  const runtime::LoadedModel& model = context.model();
  if (context.has_flag(RKNN_FLAG_MEM_ALLOC_OUTSIDE)) {
    RK_TRY(check_given(context.weight_memory, model.weight_bytes(), "rknn_set_weight_mem"));
  }
  if (context.has_flag(RKNN_FLAG_MEM_ALLOC_OUTSIDE | RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE)) {
    RK_TRY(check_given(context.internal_memory, model.internal_bytes(), "rknn_set_internal_mem"));
  }
  return ok_status();
}

Status run_frame(runtime::Session& session) {
  RK_TRY(session.run());
  runtime::note_frame(session.first_core(), session.cores(), session.run_duration_us());
  if (log_level() >= kLayerTable && session.options().collect_perf) {
    log(LogLevel::kDebug, "\n" + runtime::perf_table(session, {}));
  }
  return ok_status();
}

// The worker's thread has no guard above it. Fences work like the rest of the frame: waited for before, told after.
Status run_frame_on_worker(runtime::Session& session, int fence_in,
                           const Fence& fence_out) noexcept {
  try {
    RK_TRY(wait_for_fence(fence_in));
    Status status = run_frame(session);
    fence_out.signal();
    return status;
  } catch (const std::bad_alloc&) {
    return out_of_memory("the system has no memory left");
  } catch (const std::exception& error) {
    return Status(Code::kUnsupported, str("internal error: ", error.what()));
  }
}

Status still_running(std::chrono::milliseconds limit) {
  return Status(Code::kTimeout,
                str("the frame was not done after ", limit.count(),
                    " ms; it goes on, and the next call waits for it. RKNN_MIN_TIMEOUT_MS raises "
                    "the limit"));
}

Status run(Context& context, rknn_run_extend* extend) {
  RK_TRY(check_fence_flags(context, extend));
  runtime::Session& session = context.session();
  RK_TRY(context.worker.take_status().with_context("the frame before"));
  if (context.model().can_run()) RK_TRY(check_outside_memory(context));
  // Bound outputs are written where the caller reads them: there is no previous frame to hand out.
  const bool async = context.has_flag(RKNN_FLAG_ASYNC_MASK) && !session.has_bound_outputs();
  if (async && session.has_run()) {
    RK_TRY(session.save_outputs(context.previous.outputs));
    context.previous.frame = context.frame;
  }
  context.validator.run_started();
  ++context.frame;
  const bool non_block = extend != nullptr && extend->non_block != 0;
  const int32_t timeout_ms = extend == nullptr ? 0 : extend->timeout_ms;
  if (extend != nullptr) extend->frame_id = context.frame;
  const int fence_in = context.has_flag(RKNN_FLAG_FENCE_IN_OUTSIDE) ? extend->fence_fd : -1;
  Fence fence_out;
  if (context.has_flag(RKNN_FLAG_FENCE_OUT_OUTSIDE)) {
    RK_ASSIGN(fence_out, Fence::make());
    RK_ASSIGN(extend->fence_fd, fence_out.for_caller());
  }
  if (!async && !non_block && timeout_ms <= 0) {
    RK_TRY(wait_for_fence(fence_in));
    Status status = run_frame(session);
    fence_out.signal();
    return status;
  }
  RK_TRY(context.worker.start([&session, fence_in, fence_out = std::move(fence_out)] {
    return run_frame_on_worker(session, fence_in, fence_out);
  }));
  if (async || non_block) return ok_status();
  const std::chrono::milliseconds limit = raised(timeout_ms);
  if (!context.worker.wait_for(limit)) return still_running(limit);
  return context.worker.take_status();
}

Status wait(Context& context, rknn_run_extend* extend) {
  const int32_t timeout_ms = extend == nullptr ? 0 : extend->timeout_ms;
  if (timeout_ms > 0 && !context.worker.wait_for(raised(timeout_ms)))
    return still_running(raised(timeout_ms));
  context.worker.wait();
  if (extend != nullptr) extend->frame_id = context.frame;
  context.previous.frame = 0;  // the frame waited for is the one the caller wants
  return context.worker.take_status();
}

}  // namespace
}  // namespace rk::capi

int rknn_run(rknn_context context, rknn_run_extend* extend) {
  return rk::capi::guarded("rknn_run", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(context));
    return rk::capi::run(*locked, extend);
  });
}

int rknn_wait(rknn_context context, rknn_run_extend* extend) {
  return rk::capi::guarded("rknn_wait", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(context));
    return rk::capi::wait(*locked, extend);
  });
}
