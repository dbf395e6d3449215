// SPDX-License-Identifier: Apache-2.0
// fp16 convolutions on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/conv/f16/lanes.inc"
#endif  // 64-bit ARM
