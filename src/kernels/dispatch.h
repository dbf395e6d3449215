// SPDX-License-Identifier: Apache-2.0
// Which ways there are to compute what an entry point promises, and how it finds its best one.
//
// A family is an entry point and its variants. A folder lists the variants of its families in variants.inc, best first,
// the generic one last:
//   RK_KERNEL(<what it needs of the CPU>, <entry point>, <variant with the entry point's own signature>)
//   RK_KERNEL_TABLE(<needs>, <family>, <type>, <object>)   where a variant is more than one function
// families.cpp makes one table of all lists; dispatch, tests, benchmarks and `rknn device --kernels` read that table.
// Adding a variant is one file and one line.
#pragma once

#include <atomic>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/cpu_features.h"

namespace rk::kernels {

using AnyKernel = void (*)();

struct KernelVariant {
  std::string_view family;  // the entry point
  std::string_view name;
  CpuFeatures needs;
  AnyKernel kernel;              // of the entry point's type, or null:
  const void* object = nullptr;  // then a table of functions, of the family's own type

  bool allowed() const { return (needs & ~allowed_features()) == 0; }
  bool runs_here() const { return (needs & ~cpu_features()) == 0; }
};

// Every variant of every family, those of one family best first.
std::span<const KernelVariant> kernel_variants();

struct KernelFamily {
  std::string_view entry;
  std::vector<const KernelVariant*> variants;  // best first
};
std::vector<KernelFamily> kernel_families();

// The best variant that is allowed now, or null: some families have no generic one.
const KernelVariant* find_kernel(std::string_view family);

// The tables of functions of a family that are allowed now, best first.
template <typename Table>
std::vector<const Table*> allowed_tables(std::string_view family) {
  std::vector<const Table*> tables;
  for (const KernelVariant& variant : kernel_variants()) {
    if (variant.family == family && variant.allowed())
      tables.push_back(static_cast<const Table*>(variant.object));
  }
  return tables;
}

// A variant was chosen since the process began. The tests ask at their end whether any was not.
void note_chosen(const KernelVariant& variant);
void note_chosen(const void* object);
bool was_chosen(const KernelVariant& variant);

// What an entry point remembers: the choice of the first call, made again only when a test has set another limit.
class KernelChoice {
 public:
  constexpr explicit KernelChoice(const char* family) : family_(family) {}
  AnyKernel get() {
    if (epoch_.load(std::memory_order_acquire) != kernel_limit_epoch()) choose();
    return kernel_.load(std::memory_order_relaxed);
  }

 private:
  void choose();

  const char* const family_;
  std::atomic<AnyKernel> kernel_{nullptr};
  std::atomic<uint32_t> epoch_{0};
};

}  // namespace rk::kernels

// The body of an entry point.
#define RK_DISPATCH(entry, ...)                                \
  static constinit ::rk::kernels::KernelChoice choice(#entry); \
  reinterpret_cast<decltype(&::rk::kernels::entry)>(choice.get())(__VA_ARGS__)
