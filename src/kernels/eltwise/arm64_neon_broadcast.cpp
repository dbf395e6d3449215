// SPDX-License-Identifier: Apache-2.0
// Broadcasts and per-channel scales on every 64-bit ARM.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/eltwise/broadcast_lanes.inc"
#endif  // 64-bit ARM
