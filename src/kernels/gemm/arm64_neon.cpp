// SPDX-License-Identifier: Apache-2.0
// Matrix products and float32 convolutions on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/gemm/lanes.inc"
#endif  // 64-bit ARM
