// SPDX-License-Identifier: Apache-2.0
// The recurrent family with AVX-512.
#if defined(__x86_64__)
#include "kernels/x86_avx512_lanes.h"

#include "kernels/recurrent/lanes.inc"
#endif  // x86-64
