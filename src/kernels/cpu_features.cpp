// SPDX-License-Identifier: Apache-2.0
// Detection by the compiler's builtins on x86 (they check the operating system's register saving
// too) and by the auxiliary vector on ARM.
#include "kernels/cpu_features.h"

#include <cstdlib>
#include <string_view>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace rk::kernels {

const char* to_string(CpuFeature feature) {
  switch (feature) {
    case CpuFeature::kBaseline:
      return "generic";
    case CpuFeature::kX86Avx2:
      return "avx2";
    case CpuFeature::kX86Avx512Vnni:
      return "avx512vnni";
    case CpuFeature::kArm64Neon:
      return "neon";
    case CpuFeature::kArm64DotProd:
      return "dotprod";
  }
  return "?";
}

bool cpu_has(CpuFeature feature) {
  switch (feature) {
    case CpuFeature::kBaseline:
      return true;
#if defined(__x86_64__)
    case CpuFeature::kX86Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
    case CpuFeature::kX86Avx512Vnni:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__) && defined(__linux__)
    case CpuFeature::kArm64Neon:
      return true;
    case CpuFeature::kArm64DotProd:
      return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#endif
    default:
      return false;
  }
}

bool kernel_allowed(CpuFeature feature) {
  static const std::string_view forced = [] {
    const char* value = std::getenv("RKNN_KERNEL");
    return std::string_view(value != nullptr ? value : "");
  }();
  if (feature == CpuFeature::kBaseline) return true;
  return (forced.empty() || forced == to_string(feature)) && cpu_has(feature);
}

}  // namespace rk::kernels
