// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cstdio>
#include <cstdlib>

namespace rk {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kInvalidModel:
      return "invalid model";
    case Code::kInvalidContext:
      return "invalid context";
    case Code::kInvalidInput:
      return "invalid input";
    case Code::kInvalidOutput:
      return "invalid output";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kTargetMismatch:
      return "target mismatch";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kIo:
      return "i/o error";
    case Code::kTimeout:
      return "timeout";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

void assert_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "E RKNN: %s:%d: internal error, must hold: %s\n", file, line, what);
  std::abort();
}

}  // namespace rk
