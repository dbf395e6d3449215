// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums with AVX2.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/norm/lanes.inc"
#endif  // x86-64
