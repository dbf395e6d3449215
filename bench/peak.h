// SPDX-License-Identifier: Apache-2.0
// The machine's limits, measured: multiply-accumulates per second of one thread that does nothing else.
#pragma once

namespace rk::bench {

// 8-bit dot products (vpdpbusd on 512 bits); 0 where the CPU has none.
double int8_peak_gmacs();
// Dot products of any bytes: where the instructions for bytes saturate (AVX2), the ones for 16 bits, vpmaddwd and vpaddd.
double any_int8_peak_gmacs();
// float32 fused multiply-adds on 512 bits; 0 where the CPU has none.
double float_peak_gmacs();

}  // namespace rk::bench
