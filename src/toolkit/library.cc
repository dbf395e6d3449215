// SPDX-License-Identifier: Apache-2.0
// Entry points of librknn_toolkit.so.
#include "toolkit/version.h"

extern "C" __attribute__((visibility("default"))) const char* rknn_toolkit_version() {
  return rk::toolkit::kVersionText;
}
