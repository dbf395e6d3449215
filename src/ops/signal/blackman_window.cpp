// SPDX-License-Identifier: Apache-2.0
// BlackmanWindow: two cosines, flatter at its ends than Hann's.
#include "ops/shared/cosine_window.h"

namespace rk::ops {
namespace {

Status blackman_window_reference(const EvalCall& call) {
  return fill_cosine_window(call, {0.42, 0.5, 0.08});
}

}  // namespace

OpDef blackman_window() {
  return cosine_window_def("BlackmanWindow",
                           "y = 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)",
                           blackman_window_reference);
}

}  // namespace rk::ops
