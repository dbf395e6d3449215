// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums with AVX-512.
#if defined(__x86_64__)
#include "kernels/x86_avx512_lanes.h"

#include "kernels/norm/lanes.inc"
#endif  // x86-64
