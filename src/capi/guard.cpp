// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"

#include "base/log.h"
#include "capi/api.h"

namespace rk::capi {

int to_rknn_error(Code code) {
  switch (code) {
    case Code::kOk:
      return RKNN_SUCC;
    case Code::kInvalidArgument:
      return RKNN_ERR_PARAM_INVALID;
    case Code::kInvalidModel:
      return RKNN_ERR_MODEL_INVALID;
    case Code::kInvalidContext:
      return RKNN_ERR_CTX_INVALID;
    case Code::kInvalidInput:
      return RKNN_ERR_INPUT_INVALID;
    case Code::kInvalidOutput:
      return RKNN_ERR_OUTPUT_INVALID;
    case Code::kUnsupported:
      return RKNN_ERR_FAIL;
    case Code::kTargetMismatch:
      return RKNN_ERR_TARGET_PLATFORM_UNMATCH;
    case Code::kOutOfMemory:
      return RKNN_ERR_MALLOC_FAIL;
    case Code::kIo:
      return RKNN_ERR_FAIL;
    case Code::kTimeout:
      return RKNN_ERR_TIMEOUT;
    case Code::kUnavailable:
      return RKNN_ERR_DEVICE_UNAVAILABLE;
    case Code::kCancelled:
      return RKNN_ERR_FAIL;
  }
  return RKNN_ERR_FAIL;
}

int finish(const char* function, const Status& status) {
  if (!status.ok()) log(LogLevel::kError, str(function, ", ", status.message()));
  return to_rknn_error(status.code());
}

}  // namespace rk::capi
