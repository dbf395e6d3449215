// SPDX-License-Identifier: Apache-2.0
// The frame of every entry point: no exception leaves it, a failure is logged once, and one table turns a Status into
// an RKNN_ERR_* value.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "base/status.h"
#include "capi/fault.h"

namespace rk::capi {

int to_rknn_error(Code code);

// Logs a failure as "<function>, <message>" and maps it.
int finish(const char* function, const Status& status);

// Runs `work`, which returns a Status.
template <typename Work>
int guarded(const char* function, const Work& work) noexcept {
  if (const int code = injected_fault(function); code != 0) return code;
  try {
    try {
      return finish(function, work());
    } catch (const std::bad_alloc&) {
      return finish(function, out_of_memory("the system has no memory left"));
    } catch (const std::exception& error) {
      return finish(function, Status(Code::kUnsupported, str("internal error: ", error.what())));
    }
  } catch (...) {
    return to_rknn_error(Code::kOutOfMemory);  // not even the message could be made
  }
}

// The same for functions that return a pointer: null on failure. `work` returns a Result<T*>.
template <typename T, typename Work>
T* guarded_pointer(const char* function, const Work& work) noexcept {
  T* out = nullptr;
  guarded(function, [&]() -> Status {
    RK_ASSIGN(out, work());
    return ok_status();
  });
  return out;
}

}  // namespace rk::capi
