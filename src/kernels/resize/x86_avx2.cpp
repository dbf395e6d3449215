// SPDX-License-Identifier: Apache-2.0
// Linear resizing of fp16 with AVX2.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/resize/lanes.inc"
#endif  // x86-64
