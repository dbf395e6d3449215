// SPDX-License-Identifier: Apache-2.0
// Kernels of one tap under conv_f16__avx512wide_6x64.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

#define RK_INPUT ByInstruction
#define RK_FORM by_instruction
#include "kernels/conv/f16/x86_avx512_pointwise.inc"

#endif  // x86-64
