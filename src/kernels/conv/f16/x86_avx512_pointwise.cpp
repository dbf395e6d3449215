// SPDX-License-Identifier: Apache-2.0
// Kernels of one tap under conv_f16__avx512_6x64.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

#define RK_INPUT ByOperand
#define RK_FORM by_operand
#include "kernels/conv/f16/x86_avx512_pointwise.inc"

#endif  // x86-64
