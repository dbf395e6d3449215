// SPDX-License-Identifier: Apache-2.0
// fp16 convolutions with AVX2.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/conv/f16/lanes.inc"
#endif  // x86-64
