// SPDX-License-Identifier: Apache-2.0
// Conversions on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/layout/lanes.inc"
#endif  // 64-bit ARM
