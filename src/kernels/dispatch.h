// SPDX-License-Identifier: Apache-2.0
// How a family's entry point finds its best variant, once. A family lists its variants in
// variants.inc, best first, the generic one last:
//   RK_KERNEL(<feature>, <entry point>, <variant with the entry point's own signature>)
// and defines its entry points with RK_DISPATCH. Adding a variant is one file and one line.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/cpu_features.h"

namespace rk::kernels {

using AnyKernel = void (*)();

struct KernelVariant {
  CpuFeature feature;
  std::string_view entry;
  AnyKernel kernel;
};

template <size_t N>
AnyKernel select_kernel(const KernelVariant (&variants)[N], std::string_view entry) {
  for (const KernelVariant& variant : variants) {
    if (variant.entry == entry && kernel_allowed(variant.feature)) return variant.kernel;
  }
  return nullptr;  // not reached: the generic variant is always allowed
}

}  // namespace rk::kernels

// The inner cast makes a variant with another signature than its entry point fail to compile.
#define RK_KERNEL_VARIANT(feature, entry, variant)                                 \
  ::rk::kernels::KernelVariant {                                                   \
    ::rk::kernels::CpuFeature::feature, #entry,                                    \
        reinterpret_cast<::rk::kernels::AnyKernel>(                                \
            static_cast<decltype(&::rk::kernels::entry)>(&::rk::kernels::variant)) \
  }

// The body of an entry point: selects on the first call, then calls through a pointer.
#define RK_DISPATCH(variants, entry, ...)                                         \
  static const auto selected = reinterpret_cast<decltype(&::rk::kernels::entry)>( \
      ::rk::kernels::select_kernel(variants, #entry));                            \
  selected(__VA_ARGS__)
