// SPDX-License-Identifier: Apache-2.0
// exGelu: Gelu under the vendor's name, as fusion makes it. Elementwise, any rank.
#include "ops/activation/gelu.h"

namespace rk::ops {

OpDef ex_gelu() { return gelu_def("exGelu"); }

}  // namespace rk::ops
