// SPDX-License-Identifier: Apache-2.0
// What this CPU can run, and which kernel variants are therefore allowed.
//
// The environment variable RKNN_KERNEL names one feature ("generic", "avx2", "avx512vnni", "neon",
// "dotprod"): then only its variants and the generic ones are used, so that any machine can test
// all it can run. It is read once.
#pragma once

namespace rk::kernels {

enum class CpuFeature {
  kBaseline,       // what the compiler may assume anyway
  kX86Avx2,        // AVX2, FMA, F16C
  kX86Avx512Vnni,  // AVX-512 F, BW, DQ, VL, VBMI, VNNI
  kArm64Neon,      // every 64-bit ARM
  kArm64DotProd,   // ASIMD dot product
};

const char* to_string(CpuFeature feature);

// The CPU and the operating system support it.
bool cpu_has(CpuFeature feature);

// cpu_has, and RKNN_KERNEL does not forbid it.
bool kernel_allowed(CpuFeature feature);

}  // namespace rk::kernels
