// SPDX-License-Identifier: Apache-2.0
// Matrix products and float32 convolutions with AVX2.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/gemm/lanes.inc"
#endif  // x86-64
