// SPDX-License-Identifier: Apache-2.0
// KERNEL_TEST is TEST with a body that runs once per class of CPUs that this one can stand for, from its own down to the
// generic kernels. Every variant of a family is reached that way; families_test.cpp fails where one was not.
#pragma once

#include <gtest/gtest.h>

#include "kernels/cpu_features.h"

namespace rk::kernels {

template <typename Body>
void for_each_tier(const Body& body) {
  const CpuFeatures here = allowed_features();
  for (const CpuTier& tier : cpu_tiers()) {
    // A tier of which this CPU lacks something is left out, unless it is the best: that one stands for "all there is".
    const bool best = &tier == &cpu_tiers().front();
    if (!best && (tier.features & ~here & ~cpu::kWide512) != 0) continue;
    const KernelLimit limit(tier.features);
    SCOPED_TRACE(tier.name);
    body();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace rk::kernels

#define KERNEL_TEST(suite, name)                              \
  static void suite##_##name##_body();                        \
  TEST(suite, name) { for_each_tier(suite##_##name##_body); } \
  static void suite##_##name##_body()

// The body is a function of `param`, the fixture's parameter.
#define KERNEL_TEST_P(suite, name)                                      \
  static void suite##_##name##_body(const suite::ParamType& param);     \
  TEST_P(suite, name) {                                                 \
    for_each_tier([this] { suite##_##name##_body(this->GetParam()); }); \
  }                                                                     \
  static void suite##_##name##_body(const suite::ParamType& param)
