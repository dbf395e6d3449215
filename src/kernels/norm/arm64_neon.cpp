// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/norm/lanes.inc"
#endif  // 64-bit ARM
