// SPDX-License-Identifier: Apache-2.0
// Detection by the compiler's builtins on x86 (they check the operating system's register saving too), by cpuid where
// they do not know a feature, and by the auxiliary vector on ARM.
#include "kernels/cpu_features.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/status.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace rk::kernels {
namespace {

constexpr CpuFeatures kAll = ~CpuFeatures{0};

#if defined(__x86_64__)
constexpr CpuTier kTiers[] = {
    {"avx512vnni", needs::kAvx512Vbmi | needs::kAvx512Wide | cpu::kAvxVnni},
    {"zen4", needs::kAvx512Vbmi},
    {"cascadelake", needs::kAvx512Vnni | cpu::kWide512},
    {"avx512", needs::kAvx512Wide},
    {"avxvnni", needs::kAvxVnni},
    {"avx2", needs::kAvx2},
    {"generic", needs::kNothing}};
#elif defined(__aarch64__)
constexpr CpuTier kTiers[] = {{"i8mm", needs::kI8mm},
                              {"dotprod", needs::kDotProd},
                              {"neon", needs::kNeon},
                              {"generic", needs::kNothing}};
#else
constexpr CpuTier kTiers[] = {{"generic", needs::kNothing}};
#endif

#if defined(__x86_64__)
// AMD's Zen 4 and the laptop processors of Zen 5 pass 512 bits in two halves.
bool passes_512_bits_in_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx) return false;
  __get_cpuid(1, &a, &b, &c, &d);
  const unsigned family = ((a >> 8) & 0xf) + ((a >> 20) & 0xff);
  const unsigned model = ((a >> 4) & 0xf) | ((a >> 12) & 0xf0);
  constexpr unsigned kZen4 = 0x19, kZen5 = 0x1a;
  const bool is_laptop = (model & 0xf0) == 0x20 || (model & 0xf0) == 0x60;
  return family == kZen4 || (family == kZen5 && is_laptop);
}
#endif

CpuFeatures detect() {
  CpuFeatures found = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found |= cpu::kAvx2;
  if (__builtin_cpu_supports("fma")) found |= cpu::kFma;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    found |= cpu::kAvx512Core;
    if (__builtin_cpu_supports("avx512vbmi")) found |= cpu::kAvx512Vbmi;
    if (__builtin_cpu_supports("avx512vnni")) found |= cpu::kAvx512Vnni;
    if (!passes_512_bits_in_halves()) found |= cpu::kWide512;
  }
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Not by name, because clang 14 does not know it. AVX2 says that the system keeps the registers.
  constexpr unsigned kF16cBit = 1u << 29;  // leaf 1, ecx
  if ((found & cpu::kAvx2) != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kF16cBit) != 0)
    found |= cpu::kF16c;
  constexpr unsigned kAvxVnniBit = 1u << 4;  // leaf 7.1, eax
  if ((found & cpu::kAvx2) != 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
      (a & kAvxVnniBit) != 0) {
    found |= cpu::kAvxVnni;
  }
#elif defined(__aarch64__)
  found |= cpu::kNeon;
#if defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) found |= cpu::kDotProd;
#if defined(HWCAP2_I8MM)
  if ((getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) found |= cpu::kI8mm;
#endif
#endif
#endif
  return found;
}

CpuFeatures from_environment() {
  const char* const value = secure_getenv("RKNN_KERNEL");
  if (value == nullptr || *value == '\0') return kAll;
  std::string known;
  for (const CpuTier& tier : kTiers) {
    if (std::string_view(value) == tier.name) return tier.features;
    known += str(known.empty() ? "" : ", ", tier.name);
  }
  log(LogLevel::kWarning, str("RKNN_KERNEL='", value, "' is not a class of CPUs; known here: ",
                              known, ". The generic kernels are used"));
  return needs::kNothing;
}

CpuFeatures process_limit() {
  static const CpuFeatures limit = from_environment();
  return limit;
}

std::atomic<CpuFeatures> test_limit{kAll};
std::atomic<uint32_t> epoch{1};

}  // namespace

std::span<const CpuTier> cpu_tiers() { return kTiers; }

CpuFeatures cpu_features() {
  static const CpuFeatures found = detect();
  return found;
}

CpuFeatures allowed_features() {
  return cpu_features() & process_limit() & test_limit.load(std::memory_order_acquire);
}

const char* feature_name(CpuFeatures single) {
  switch (single) {
    case cpu::kAvx2:
      return "avx2";
    case cpu::kFma:
      return "fma";
    case cpu::kF16c:
      return "f16c";
    case cpu::kAvxVnni:
      return "avxvnni";
    case cpu::kAvx512Core:
      return "avx512";
    case cpu::kAvx512Vnni:
      return "avx512vnni";
    case cpu::kAvx512Vbmi:
      return "avx512vbmi";
    case cpu::kNeon:
      return "neon";
    case cpu::kDotProd:
      return "dotprod";
    case cpu::kI8mm:
      return "i8mm";
    case cpu::kWide512:
      return "wide512";
    default:
      return "?";
  }
}

KernelLimit::KernelLimit(CpuFeatures features)
    : before_(test_limit.exchange(features, std::memory_order_acq_rel)) {
  epoch.fetch_add(1, std::memory_order_acq_rel);
}

KernelLimit::~KernelLimit() {
  test_limit.store(before_, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_acq_rel);
}

uint32_t kernel_limit_epoch() { return epoch.load(std::memory_order_acquire); }

}  // namespace rk::kernels
