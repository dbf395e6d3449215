// SPDX-License-Identifier: Apache-2.0
// One function per chip file. Each row lives as long as the process.
#pragma once

#include "target/target.h"

namespace rk::target {

// In the order messages list them. rk3566 is also RK3568, rk3588 RK3588S, rv1106 RV1103, rv1106b RV1103B.
#define RK_CHIPS(X) \
  X(rk3562) X(rk3566) X(rk3576) X(rk3588) X(rv1106) X(rv1106b) X(rv1126b) X(rk2118)

#define RK_DECLARE(chip) const Target& chip();
RK_CHIPS(RK_DECLARE)
#undef RK_DECLARE

}  // namespace rk::target
