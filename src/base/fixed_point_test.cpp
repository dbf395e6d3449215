// SPDX-License-Identifier: Apache-2.0
// All numbers by hand: quotients are written beside the cases.
#include "base/fixed_point.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace rk {
namespace {

TEST(FixedPointTest, ScaleRoundSendsTiesToEven) {
  EXPECT_EQ(scale_round(1, 1, 1), 0);   // 0.5
  EXPECT_EQ(scale_round(3, 1, 1), 2);   // 1.5
  EXPECT_EQ(scale_round(5, 1, 1), 2);   // 2.5
  EXPECT_EQ(scale_round(7, 1, 1), 4);   // 3.5
  EXPECT_EQ(scale_round(-1, 1, 1), 0);  // -0.5
  EXPECT_EQ(scale_round(-3, 1, 1), -2);
  EXPECT_EQ(scale_round(-5, 1, 1), -2);
  EXPECT_EQ(scale_round(-7, 1, 1), -4);
}

TEST(FixedPointTest, ScaleRoundSendsTheRestToTheNearest) {
  EXPECT_EQ(scale_round(5, 1, 2), 1);    // 1.25
  EXPECT_EQ(scale_round(7, 1, 2), 2);    // 1.75
  EXPECT_EQ(scale_round(-5, 1, 2), -1);  // -1.25
  EXPECT_EQ(scale_round(-7, 1, 2), -2);
  EXPECT_EQ(scale_round(100, 16385, 14), 100);      // 100.0061
  EXPECT_EQ(scale_round(-8193, 32767, 15), -8193);  // -8192.75
  EXPECT_EQ(scale_round(12345, 3, 0), 37035);
  EXPECT_EQ(scale_round(0, 32767, 50), 0);
}

TEST(FixedPointTest, ScaleRoundReachesTheLargestShift) {
  EXPECT_EQ(scale_round(INT64_MAX, 1, 62), 2);               // just below 2
  EXPECT_EQ(scale_round(INT64_MIN, 1, 62), -2);              // exactly
  EXPECT_EQ(scale_round(int64_t{1} << 61, 1, 62), 0);        // 0.5
  EXPECT_EQ(scale_round((int64_t{1} << 61) + 1, 1, 62), 1);  // just above
  EXPECT_EQ(scale_round(INT32_MIN, 32767, 50), 0);           // -0.0625
}

TEST(FixedPointTest, TheTieRuleActsOnTiesOnly) {
  struct Case {
    int64_t value;
    int64_t even, away, up;
  };
  for (const Case& c : {Case{1, 0, 1, 1}, Case{3, 2, 2, 2}, Case{5, 2, 3, 3}, Case{-1, 0, -1, 0},
                        Case{-3, -2, -2, -1}, Case{-5, -2, -3, -2}}) {  // halves
    EXPECT_EQ(scale_round(c.value, 1, 1, TieRule::kEven), c.even) << c.value;
    EXPECT_EQ(scale_round(c.value, 1, 1, TieRule::kAwayFromZero), c.away) << c.value;
    EXPECT_EQ(scale_round(c.value, 1, 1, TieRule::kUp), c.up) << c.value;
  }
  for (const TieRule ties : {TieRule::kEven, TieRule::kAwayFromZero, TieRule::kUp}) {
    EXPECT_EQ(scale_round(5, 1, 2, ties), 1);    // 1.25
    EXPECT_EQ(scale_round(-7, 1, 2, ties), -2);  // -1.75
    EXPECT_EQ(scale_round(-9, 2, 0, ties), -18);
  }
  for (int64_t value = -200; value <= 200; ++value) {
    EXPECT_EQ(scale_round(value, 3, 3), scale_round(value, 3, 3, TieRule::kEven)) << value;
  }
}

TEST(FixedPointTest, SaturateEndsAtTheEndsOfInt8) {
  EXPECT_EQ(saturate_i8(127), 127);
  EXPECT_EQ(saturate_i8(128), 127);
  EXPECT_EQ(saturate_i8(-128), -128);
  EXPECT_EQ(saturate_i8(-129), -128);
  EXPECT_EQ(saturate_i8(INT64_MAX), 127);
  EXPECT_EQ(saturate_i8(INT64_MIN), -128);
}

TEST(FixedPointTest, RoundEvenIgnoresTheRoundingMode) {
  const int mode = std::fegetround();
  for (const int forced : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(forced);
    EXPECT_EQ(round_even(0.5), 0.0);
    EXPECT_EQ(round_even(1.5), 2.0);
    EXPECT_EQ(round_even(2.5), 2.0);
    EXPECT_EQ(round_even(-0.5), 0.0);
    EXPECT_EQ(round_even(-1.5), -2.0);
    EXPECT_EQ(round_even(-2.5), -2.0);
    EXPECT_EQ(round_even(-2.51), -3.0);
    EXPECT_EQ(round_even(0x1.fffffffffffffp-2), 0.0);  // the last double below a half
    EXPECT_EQ(round_even(0x1p60), 0x1p60);
  }
  std::fesetround(mode);
}

TEST(FixedPointTest, ScaleShiftKeepsTheScaleInFifteenBits) {
  EXPECT_EQ(to_scale_shift(1.0).value(), (ScaleShift{16384, 14}));
  EXPECT_EQ(to_scale_shift(0.5).value(), (ScaleShift{16384, 15}));
  EXPECT_EQ(to_scale_shift(0.75).value(), (ScaleShift{24576, 15}));
  EXPECT_EQ(to_scale_shift(3.0).value(), (ScaleShift{24576, 13}));
  EXPECT_EQ(to_scale_shift(0.1).value(), (ScaleShift{26214, 18}));  // 26214.4
  EXPECT_EQ(to_scale_shift(32767.0).value(), (ScaleShift{32767, 0}));
  EXPECT_EQ(to_scale_shift(20000.5).value(), (ScaleShift{20000, 0}));  // a tie, to even
  EXPECT_EQ(to_scale_shift(20001.5).value(), (ScaleShift{20002, 0}));
}

TEST(FixedPointTest, AScaleThatRoundsTo32768BecomesHalfOfIt) {
  EXPECT_EQ(to_scale_shift(0.99999).value(), (ScaleShift{16384, 14}));          // 32767.67
  EXPECT_EQ(to_scale_shift(32767.5 / 32768).value(), (ScaleShift{16384, 14}));  // a tie, to even
  EXPECT_EQ(to_scale_shift(32767.25 / 32768).value(), (ScaleShift{32767, 15}));
}

TEST(FixedPointTest, ShiftsOutsideTheRegisterAreRefused) {
  EXPECT_EQ(to_scale_shift(0x1p-36).value(), (ScaleShift{16384, 50}));
  EXPECT_EQ(to_scale_shift(0x1.fffffffp-37).value(),
            (ScaleShift{16384, 50}));  // rounds up into range
  EXPECT_FALSE(to_scale_shift(0x1p-37).ok());
  EXPECT_FALSE(to_scale_shift(0x1p-1074).ok());
  EXPECT_FALSE(to_scale_shift(32767.5).ok());  // 16384 with shift -1
  EXPECT_FALSE(to_scale_shift(32768.0).ok());
  EXPECT_FALSE(to_scale_shift(1e300).ok());
  for (const double bad : {0.0, -0.0, -1.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_FALSE(to_scale_shift(bad).ok()) << bad;
  }
}

TEST(FixedPointTest, QuantizeRoundsTiesToEvenBeforeTheZeroPoint) {
  EXPECT_EQ(quantize_f32(0.5f, 1.0f, 0), 0);
  EXPECT_EQ(quantize_f32(1.5f, 1.0f, 0), 2);
  EXPECT_EQ(quantize_f32(-2.5f, 1.0f, 0), -2);
  EXPECT_EQ(quantize_f32(0.5f, 1.0f, 1), 1);  // not round(1.5)
  EXPECT_EQ(quantize_f32(1.0f, 0.25f, -128), -124);
}

TEST(FixedPointTest, QuantizeSaturatesAndSendsNanToTheZeroPoint) {
  EXPECT_EQ(quantize_f32(1e30f, 1e-30f, -128), 127);
  EXPECT_EQ(quantize_f32(-HUGE_VALF, 0.5f, 127), -128);
  EXPECT_EQ(quantize_f32(200.0f, 1.0f, 0), 127);
  EXPECT_EQ(quantize_f32(200.0f, 1.0f, -100), 100);
  EXPECT_EQ(quantize_f32(-200.0f, 1.0f, 0), -128);
  EXPECT_EQ(quantize_f32(std::nanf(""), 1.0f, -7), -7);
}

}  // namespace
}  // namespace rk
