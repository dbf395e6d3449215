// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX-512 for CPUs that pass 512 bits in two halves: multiply-adds broadcast their input themselves.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

#define RK_INPUT ByOperand
#define RK_FORM by_operand
#include "kernels/conv/f16/x86_avx512_dense.inc"

namespace rk::kernels {

decltype(conv_f16) conv_f16__avx512_6x64;
decltype(conv_f16_half) conv_f16_half__avx512_6x64;

void conv_f16__avx512_6x64(const ConvF16Args& args, IndexRange units) {
  avx512_f16::by_operand::any(args, units);
}

void conv_f16_half__avx512_6x64(const ConvF16Args& args, IndexRange units) {
  avx512_f16::by_operand::dense_half(args, units);
}

}  // namespace rk::kernels

#endif  // x86-64
