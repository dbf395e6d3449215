// SPDX-License-Identifier: Apache-2.0
// What this CPU can run, as bits, and how much of it kernels may use.
//
// A kernel variant names the bits it needs (families.cpp). A tier is a set of bits with a name: what a class of CPUs has.
// The environment variable RKNN_KERNEL names a tier, and the process then chooses kernels as a CPU of that tier would; so
// any machine can test all it can run. It is read once.
#pragma once

#include <cstdint>
#include <span>

namespace rk::kernels {

using CpuFeatures = uint32_t;

// Single features. "The compiler may assume it anyway" needs no bit.
namespace cpu {
inline constexpr CpuFeatures kAvx2 = 1u << 0;
inline constexpr CpuFeatures kFma = 1u << 1;
inline constexpr CpuFeatures kF16c = 1u << 2;
inline constexpr CpuFeatures kAvxVnni = 1u << 3;
inline constexpr CpuFeatures kAvx512Core = 1u << 4;  // F, BW, DQ, VL
inline constexpr CpuFeatures kAvx512Vnni = 1u << 5;
inline constexpr CpuFeatures kAvx512Vbmi = 1u << 6;
inline constexpr CpuFeatures kNeon = 1u << 7;
inline constexpr CpuFeatures kDotProd = 1u << 8;
inline constexpr CpuFeatures kI8mm = 1u << 9;
// Two loads and two multiply-adds of 512 bits begin in each cycle. Decides about speed alone: what needs it runs anywhere.
inline constexpr CpuFeatures kWide512 = 1u << 10;
}  // namespace cpu

// What variants need, and what the classes of CPUs have that are worth a name.
namespace needs {
inline constexpr CpuFeatures kNothing = 0;
inline constexpr CpuFeatures kAvx2 = cpu::kAvx2 | cpu::kFma | cpu::kF16c;  // Haswell, Zen
inline constexpr CpuFeatures kAvxVnni = kAvx2 | cpu::kAvxVnni;          // Alder Lake clients, Zen 5
inline constexpr CpuFeatures kAvx512 = kAvx2 | cpu::kAvx512Core;        // Skylake-X
inline constexpr CpuFeatures kAvx512Wide = kAvx512 | cpu::kWide512;     // Intel's servers, Zen 5
inline constexpr CpuFeatures kAvx512Vnni = kAvx512 | cpu::kAvx512Vnni;  // Cascade Lake
inline constexpr CpuFeatures kAvx512Vbmi = kAvx512Vnni | cpu::kAvx512Vbmi;  // Ice Lake, Zen 4
inline constexpr CpuFeatures kNeon = cpu::kNeon;                            // every 64-bit ARM
inline constexpr CpuFeatures kDotProd = kNeon | cpu::kDotProd;              // Cortex-A55, A76
inline constexpr CpuFeatures kI8mm = kDotProd | cpu::kI8mm;                 // Cortex-A510, A710
}  // namespace needs

struct CpuTier {
  const char* name;  // as RKNN_KERNEL and the tests have it
  CpuFeatures features;
};

// The tiers of this architecture, best first; the last is "generic", which has no feature.
std::span<const CpuTier> cpu_tiers();

// What the CPU and the operating system support.
CpuFeatures cpu_features();

// What kernels may use: cpu_features() within the tier of RKNN_KERNEL, or within a test's limit.
CpuFeatures allowed_features();

// How the features of a variant read: "avx2 fma f16c", or "-" for none.
const char* feature_name(CpuFeatures single);

// Holds the whole process to a tier while it lives, for tests; never while kernels run in another thread. Kernels that
// packed weights under another limit keep to what they were packed for.
class KernelLimit {
 public:
  explicit KernelLimit(CpuFeatures features);
  ~KernelLimit();
  KernelLimit(const KernelLimit&) = delete;
  KernelLimit& operator=(const KernelLimit&) = delete;

 private:
  CpuFeatures before_;
};

// Changes whenever allowed_features() may have changed.
uint32_t kernel_limit_epoch();

}  // namespace rk::kernels
