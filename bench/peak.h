// SPDX-License-Identifier: Apache-2.0
// The machine's limits, measured: multiply-accumulates per second of threads that do nothing else, bytes per second of
// threads that only read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rk::bench {

// Work at the limit: `rounds` rounds of `macs_per_round` multiply-accumulates each; the sums go to `keep`.
struct Peak {
  void (*work)(int64_t rounds,
               int32_t* keep) = nullptr;  // null: the CPU has none of these instructions
  double macs_per_round = 0;
};

// Dot products of any bytes: where the instructions for bytes saturate (AVX2), the ones for 16 bits, vpmaddwd and vpaddd.
Peak any_int8_peak();
// float32 fused multiply-adds on the widest registers.
Peak float_peak();

// One thread. 8-bit dot products: vpdpbusd, with AVX2 what products of weights that saturate nothing take; 0 where the
// CPU has none.
double int8_peak_gmacs();
double float_peak_gmacs();

// Reads size_bytes (a multiple of 4096) once, as several streams with prefetches; answers a value of all bytes read.
uint64_t read_memory(const uint8_t* from, size_t size_bytes);

}  // namespace rk::bench
