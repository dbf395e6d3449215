// SPDX-License-Identifier: Apache-2.0
// One function per chip file. Each row lives as long as the process.
#pragma once

#include "target/target.h"

namespace rk::target {

const Target& rk3562();
const Target& rk3566();  // also RK3568
const Target& rk3576();
const Target& rk3588();   // also RK3588S
const Target& rv1106();   // also RV1103
const Target& rv1106b();  // also RV1103B
const Target& rv1126b();
const Target& rk2118();

}  // namespace rk::target
