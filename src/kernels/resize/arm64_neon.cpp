// SPDX-License-Identifier: Apache-2.0
// Linear resizing of fp16 on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/resize/lanes.inc"
#endif  // 64-bit ARM
