// SPDX-License-Identifier: Apache-2.0
// The recurrent family with NEON.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/recurrent/lanes.inc"
#endif  // 64-bit ARM
