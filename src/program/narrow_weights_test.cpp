// SPDX-License-Identifier: Apache-2.0
#include "program/narrow_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rk::program {
namespace {

std::vector<float> ramp(int count) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<float>(i % 17 - 8) * 0.3f + 0.1f);
  return out;
}

std::vector<float> there_and_back(const std::vector<float>& weights, int64_t channels,
                                  const NarrowSpec& spec, NarrowWeights* stored = nullptr) {
  const Shape shape{channels, static_cast<int64_t>(weights.size()) / channels, 1, 1};
  const auto channel_of = output_channels(shape, {}, shape[1], channels);
  const NarrowWeights narrow = narrow_weights(weights, channel_of, channels, spec);
  if (stored != nullptr) *stored = narrow;
  return widen_weights(narrow.dtype, narrow.bytes, narrow.constants, channel_of, channels);
}

TEST(NarrowWeights, NoWeightIsFurtherThanHalfAStep) {
  const std::vector<float> weights = ramp(4 * 70);
  for (const NarrowSpec& spec : {NarrowSpec{8, 0, false}, NarrowSpec{8, 0, true},
                                 NarrowSpec{4, 0, false}, NarrowSpec{4, 32, false}}) {
    NarrowWeights stored;
    const auto back = there_and_back(weights, 4, spec, &stored);
    const size_t runs = stored.constants.size() / 2;
    for (size_t i = 0; i < weights.size(); ++i) {
      const size_t run = i / 70 * (runs / 4) + i % 70 / (spec.group > 0 ? 24 : 70);
      EXPECT_LE(std::fabs(back[i] - weights[i]), stored.constants[run] * 0.5001f) << i;
    }
  }
}

TEST(NarrowWeights, FourBitsTakeHalfAByte) {
  NarrowWeights stored;
  // Scale 1: the integers themselves.
  EXPECT_THAT(there_and_back({7, -7, 3}, 1, {4, 0, false}, &stored),
              testing::ElementsAre(7, -7, 3));
  EXPECT_EQ(stored.dtype, DType::kI4);
  EXPECT_THAT(stored.bytes,
              testing::ElementsAre(0x97, 0x03));  // -7 is 9, the first in the low bits
}

TEST(NarrowWeights, GroupsOfAChannelHaveTheirOwnScale) {
  std::vector<float> weights(64, 0.07f);
  for (int i = 32; i < 64; ++i) weights[static_cast<size_t>(i)] = 700;
  NarrowWeights stored;
  const auto back = there_and_back(weights, 1, {4, 32, false}, &stored);
  EXPECT_EQ(stored.groups, 2);
  EXPECT_NEAR(back[0], 0.07f, 1e-6f);
  EXPECT_NEAR(there_and_back(weights, 1, {4, 0, false})[0], 0, 1e-6f) << "one scale loses it";
}

TEST(NarrowWeights, TransposedWeightsKnowTheirChannel) {
  // IOHW: 2 in, 3 out.
  ConvParams params;
  params.transposed = true;
  EXPECT_THAT(output_channels({2, 3, 1, 1}, params, 2, 3), testing::ElementsAre(0, 1, 2, 0, 1, 2));
}

}  // namespace
}  // namespace rk::program
