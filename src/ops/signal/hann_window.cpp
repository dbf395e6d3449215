// SPDX-License-Identifier: Apache-2.0
// HannWindow: one minus the cosine, halved; zero at the start.
#include "ops/shared/cosine_window.h"

namespace rk::ops {
namespace {

Status hann_window_reference(const EvalCall& call) {
  return fill_cosine_window(call, {0.5, 0.5, 0.0});
}

}  // namespace

OpDef hann_window() {
  return cosine_window_def("HannWindow", "y = 0.5 - 0.5 cos(2 pi n / N)", hann_window_reference);
}

}  // namespace rk::ops
