// SPDX-License-Identifier: Apache-2.0
// Tables beside the numbers that docs/facts/lookup-tables.md has of vendor files.
#include "program/lookup_table.h"

#include <gtest/gtest.h>

namespace rk::program {
namespace {

struct Ends {
  const char* op;
  int low_first, low_last, high_first, high_last;
  ScaleShift above;
};

TEST(LookupTable, EndsAndSlopesAreThoseOfVendorFiles) {
  const Ends known[] = {
      {"Sigmoid", 59, 16384, 16384, 32708, {0, 0}},
      {"Tanh", -32611, 0, 0, 32611, {0, 0}},
      {"HardSigmoid", 0, 16384, 16384, 32767, {0, 0}},
      {"HardSwish", 0, 0, 0, 32767, {16384, 13}},
      {"exSwish", -99, 0, 0, 32767, {16434, 13}},
      {"exGelu", -1, 0, 0, 32767, {16422, 13}},
      {"exMish", -122, -2487, -2487, 32767, {20493, 13}},
      {"Elu", -32766, -32546, -32546, 0, {20480, 11}},
      {"Softplus", 148, 5652, 5652, 32767, {32033, 14}},
  };
  for (const Ends& ends : known) {
    LookupSpec spec{.function = find_lookup_function(ends.op)};
    ASSERT_NE(spec.function, nullptr) << ends.op;
    if (spec.function->op == "HardSigmoid") spec.alpha = 1 / 6.0F, spec.beta = 0.5F;
    const auto made = make_lookup(spec, 1e-3, 0.02F, false);
    ASSERT_TRUE(made.ok()) << made.status().message();
    const LookupStage& s = made->stage;
    ASSERT_EQ(s.low.size(), kLookupEntries);
    ASSERT_EQ(s.high.size(), kLookupEntries);
    EXPECT_EQ(s.low.front(), ends.low_first) << ends.op;
    EXPECT_EQ(s.low.back(), ends.low_last) << ends.op;
    EXPECT_EQ(s.high.front(), ends.high_first) << ends.op;
    EXPECT_EQ(s.high.back(), ends.high_last) << ends.op;
    EXPECT_EQ(s.above, ends.above) << ends.op;
    EXPECT_EQ(s.below, (ScaleShift{0, 0})) << ends.op;
  }
}

// Entries beside a tie, where the vendor's float32 falls to the other side than exact numbers would.
TEST(LookupTable, TiesFallAsInVendorFiles) {
  const auto stage = [](const char* op) {
    return make_lookup({.function = find_lookup_function(op),
                        .alpha = 1 / 6.0F,
                        .beta = op[0] == 'H' ? 0.5F : 1},
                       1e-3, 0.02F, false)
        ->stage;
  };
  EXPECT_EQ(stage("Sigmoid").high[8], 17190);      // 17190.5017
  EXPECT_EQ(stage("Tanh").low[397], -19347);       // -19346.4998
  EXPECT_EQ(stage("HardSigmoid").high[1], 16416);  // 16415.499
  EXPECT_EQ(stage("HardSwish").high[422], 24634);  // 24633.4982
  EXPECT_EQ(stage("exMish").low[15], -138);        // -137.4996
  EXPECT_EQ(stage("Elu").low[470], -32620);        // -32620.5007
}

TEST(LookupTable, AnOffsetBeyondItsRegisterMakesTheSumsCoarser) {
  const LookupSpec elu{.function = find_lookup_function("Elu")};
  // 5 * 2^16 * 26214 = 8.59e9: two bits too many.
  const auto made = make_lookup(elu, 0x1p-16, 0.02F, false);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->coarser_bits, 2);
  EXPECT_LE(made->stage.addend, INT32_MAX);
  EXPECT_EQ(make_lookup(elu, 0x1p-16, 0.02F, true)->coarser_bits, 0);
  EXPECT_FALSE(make_lookup(elu, 1e-30, 0.02F, false).ok());
}

// Convolutions compiled to ask: the unit of the sums and the result's scale as the file has them, and what its registers
// hold. Multipliers would be one off, and addends by up to 3e-5, with the unit as it is.
TEST(LookupTable, TheIndexIsThatOfVendorFiles) {
  struct Asked {
    const char* op;
    float alpha, beta;
    double unit;
    float out_scale;
    int32_t coarser_bits, multiplier, shift;
    int64_t addend;
  };
  const Asked asked[] = {
      {"Elu", 0, 1, 0x1.c8046p-14, 0x1.eff6fap-7F, 0, 23348, 16, 1073727277},
      {"Elu", 0, 1, 0x1.17f1f6p-15, 0x1.13ad58p-7F, 2, 28667, 16, 1073742754},
      {"Elu", 0, 1, 0x1.5300dcp-17, 0x1.c5040ep-9F, 3, 17357, 16, 1073749446},
      {"Elu", 0, 1, 0x1.355f8ep-15, 0x1.8c4478p-8F, 1, 31680, 17, 2147460232},
      {"exMish", 0, 1, 0x1.12975ep-17, 0x1.135c02p-9F, 1, 28118, 19, 1717956530},
      {"HardSigmoid", 0.285470024F, 0.771488479F, 0x1.919f58p-15, 0x1.0101020p-8F, 0, 29350, 16,
       583012871},
      {"HardSigmoid", 0.322998990F, 0.465244377F, 0x1.3638d8p-16, 0x1.6448bp-9F, 0, 25652, 17,
       -149274662},
      {"HardSigmoid", 0.194030332F, 0.803133304F, 0x1.0b81ecp-17, 0x1.cca552p-9F, 2, 26575, 17,
       1301949320},
  };
  for (const Asked& a : asked) {
    const LookupSpec spec{.function = find_lookup_function(a.op), .alpha = a.alpha, .beta = a.beta};
    const auto made = make_lookup(spec, a.unit, a.out_scale, false);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->coarser_bits, a.coarser_bits) << a.op << a.addend;
    EXPECT_EQ(made->stage.multiplier, a.multiplier) << a.op << a.addend;
    EXPECT_EQ(made->stage.shift, a.shift) << a.op << a.addend;
    EXPECT_EQ(made->stage.addend, a.addend) << a.op;
  }
  // RK3576 has the first one's addend in front of the multiplication: 5 / 1.0872289e-4.
  const auto first =
      make_lookup({.function = find_lookup_function("Elu")}, 0x1.c8046p-14, 0x1.eff6fap-7F, true);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->stage.addend, int64_t{45988} * 23348);
}

TEST(LookupTable, StepsAreKnownByTheirTypes) {
  EXPECT_EQ(lookup_function_of("ConvExSwish")->op, "exSwish");
  EXPECT_EQ(lookup_function_of("ConvTransposeexSwish")->op, "exSwish");
  EXPECT_EQ(lookup_function_of("ConvRelu"), nullptr);
  EXPECT_EQ(lookup_function_of("Sigmoid"), nullptr);
  EXPECT_EQ(find_lookup_function("Relu"), nullptr);
}

}  // namespace
}  // namespace rk::program
