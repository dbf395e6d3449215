// SPDX-License-Identifier: Apache-2.0
// The table of variants, and that the tests of this process ran each of them that this CPU can execute.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "kernels/dispatch.h"

namespace rk::kernels {
namespace {

TEST(KernelFamiliesTest, EveryFamilyHasAGenericVariantOrACallerThatAsksFirst) {
  for (const KernelFamily& family : kernel_families()) {
    const bool generic = family.variants.back()->needs == needs::kNothing;
    EXPECT_TRUE(generic || family.entry == "conv_f16_half") << family.entry;
  }
}

TEST(KernelFamiliesTest, NoVariantIsHiddenBehindOneThatNeedsLess) {
  std::set<std::string_view> names;
  for (const KernelFamily& family : kernel_families()) {
    for (size_t i = 0; i < family.variants.size(); ++i) {
      EXPECT_TRUE(names.insert(family.variants[i]->name).second) << family.variants[i]->name;
      if (family.variants[i]->object != nullptr) continue;  // such variants may refuse a filter
      for (size_t j = 0; j < i; ++j) {
        EXPECT_NE(family.variants[j]->needs & ~family.variants[i]->needs, 0u)
            << family.variants[j]->name << " hides " << family.variants[i]->name;
      }
    }
  }
}

TEST(KernelFamiliesTest, ALimitChoosesAsASmallerCpuWould) {
  const KernelLimit limit(needs::kNothing);
  for (const KernelFamily& family : kernel_families()) {
    const KernelVariant* const found = find_kernel(family.entry);
    if (found == nullptr) continue;
    EXPECT_EQ(found->needs, needs::kNothing) << found->name;
  }
}

TEST(KernelFamiliesTest, TiersHaveWhatTheTiersBelowThemHave) {
  EXPECT_STREQ(cpu_tiers().back().name, "generic");
  EXPECT_EQ(cpu_tiers().back().features, needs::kNothing);
  for (const KernelVariant& variant : kernel_variants()) {
    bool reached = false;  // by some class of CPUs of this architecture
    for (const CpuTier& tier : cpu_tiers()) reached |= (variant.needs & ~tier.features) == 0;
    EXPECT_TRUE(reached) << variant.name;
  }
}

// A variant that no test ran is a failure of the whole run. Only a whole run can tell.
class EveryVariantRan : public testing::Environment {
 public:
  void TearDown() override {
    const bool whole = testing::GTEST_FLAG(filter) == "*" && !testing::GTEST_FLAG(list_tests) &&
                       std::getenv("GTEST_TOTAL_SHARDS") == nullptr;
    if (!whole) return;
    for (const KernelVariant& variant : kernel_variants()) {
      if (!variant.runs_here() || !variant.allowed()) continue;
      EXPECT_TRUE(was_chosen(variant))
          << variant.name << " can run on this CPU, and no test ran it: call " << variant.family
          << " in a KERNEL_TEST";
    }
  }
};

const testing::Environment* const kEveryVariantRan =
    testing::AddGlobalTestEnvironment(new EveryVariantRan);

}  // namespace
}  // namespace rk::kernels
