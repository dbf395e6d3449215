// SPDX-License-Identifier: Apache-2.0
// HammingWindow: a raised cosine that does not quite reach zero. The coefficients are
// 25/46 and 21/46, not the rounded 0.54 and 0.46.
#include "ops/shared/cosine_window.h"

namespace rk::ops {
namespace {

Status hamming_window_reference(const EvalCall& call) {
  return fill_cosine_window(call, {25.0 / 46.0, 21.0 / 46.0, 0.0});
}

}  // namespace

OpDef hamming_window() {
  return cosine_window_def("HammingWindow", "y = 25/46 - 21/46 cos(2 pi n / N)",
                           hamming_window_reference);
}

}  // namespace rk::ops
