// SPDX-License-Identifier: Apache-2.0
// The one table of kernel variants, made of the folders' variants.inc.
#include <array>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/dispatch.h"
#include "kernels/eltwise/broadcast.h"
#include "kernels/eltwise/eltwise.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/matrix_f16.h"
#include "kernels/gemm/matrix_i8.h"
#include "kernels/layout/convert.h"
#include "kernels/layout/quantize.h"
#include "kernels/norm/norm.h"
#include "kernels/pool/pool.h"
#include "kernels/recurrent/recurrent.h"
#include "kernels/resize/resize.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16_half;

#define RK_KERNEL(needs, entry, kernel) decltype(entry) kernel;
#define RK_KERNEL_TABLE(needs, family, type, object) extern const type object;
#include "kernels/all_variants.inc"
#undef RK_KERNEL_TABLE
#undef RK_KERNEL

namespace {

constexpr size_t kCount = 0
#define RK_KERNEL(features, entry, kernel) +1
#define RK_KERNEL_TABLE(features, family, type, object) +1
#include "kernels/all_variants.inc"
#undef RK_KERNEL_TABLE
#undef RK_KERNEL
    ;
std::array<std::atomic<bool>, kCount> chosen;

// The inner cast makes a variant with another signature than its entry point fail to compile.
#define RK_KERNEL(features, entry, kernel)        \
  KernelVariant{#entry, #kernel, needs::features, \
                reinterpret_cast<AnyKernel>(static_cast<decltype(&entry)>(&kernel))},
#define RK_KERNEL_TABLE(features, family, type, object) \
  KernelVariant{#family, #object, needs::features, nullptr, &object},
// Made on first use, because initializers of other files may ask.
const std::array<KernelVariant, kCount>& table() {
  static const std::array<KernelVariant, kCount> variants = {
#include "kernels/all_variants.inc"
  };
  return variants;
}
#undef RK_KERNEL_TABLE
#undef RK_KERNEL

size_t index_of(const KernelVariant& variant) {
  return static_cast<size_t>(&variant - table().data());
}

}  // namespace

std::span<const KernelVariant> kernel_variants() { return table(); }

std::vector<KernelFamily> kernel_families() {
  std::vector<KernelFamily> families;
  for (const KernelVariant& variant : table()) {
    KernelFamily* found = nullptr;
    for (KernelFamily& family : families) {
      if (family.entry == variant.family) found = &family;
    }
    if (found == nullptr) found = &families.emplace_back(KernelFamily{variant.family, {}});
    found->variants.push_back(&variant);
  }
  return families;
}

const KernelVariant* find_kernel(std::string_view family) {
  for (const KernelVariant& variant : table()) {
    if (variant.family == family && variant.allowed()) return &variant;
  }
  return nullptr;
}

void note_chosen(const KernelVariant& variant) {
  chosen[index_of(variant)].store(true, std::memory_order_relaxed);
}

void note_chosen(const void* object) {
  for (const KernelVariant& variant : table()) {
    if (variant.object == object) return note_chosen(variant);
  }
}

bool was_chosen(const KernelVariant& variant) {
  return chosen[index_of(variant)].load(std::memory_order_relaxed);
}

void KernelChoice::choose() {
  const uint32_t epoch = kernel_limit_epoch();
  if (const KernelVariant* const variant = find_kernel(family_)) {
    note_chosen(*variant);
    kernel_.store(variant->kernel, std::memory_order_relaxed);
  }
  epoch_.store(epoch, std::memory_order_release);
}

}  // namespace rk::kernels
