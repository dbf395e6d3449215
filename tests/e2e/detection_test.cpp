// SPDX-License-Identifier: Apache-2.0
// The scoring code itself, on cases small enough to work out by hand: a wrong mAP would make every
// figure above it worthless.
#include "examples/signs/detection.h"

#include <gtest/gtest.h>

#include <cmath>

namespace signs {
namespace {

TEST(Detection, HalfOverlappingSquaresShareOneThird) {
  EXPECT_FLOAT_EQ(intersection_over_union({10, 10, 4, 4}, {12, 10, 4, 4}), 1.0f / 3.0f);
  EXPECT_FLOAT_EQ(intersection_over_union({10, 10, 4, 4}, {20, 10, 4, 4}), 0.0f);
  EXPECT_FLOAT_EQ(intersection_over_union({0, 0, 0, 0}, {0, 0, 0, 0}), 0.0f);
}

// Stride 32, anchor 1 (156 pixels), cell x 3, y 7: zero logits put the center in the middle of the
// cell and give the anchor's own size.
TEST(Detection, DecodesOneCellOfTheCoarsestHead) {
  std::array<std::vector<float>, 3> values;
  for (size_t k = 0; k < 3; ++k) {
    const auto cells = static_cast<size_t>(kPictureSize / kStrides[k]);
    values[k].assign(static_cast<size_t>(kHeadChannels) * cells * cells, -20.0f);
  }
  const auto at = [](size_t channel) { return (13 + channel) * 100 + 7 * 10 + 3; };
  for (size_t channel = 0; channel < 4; ++channel) values[2][at(channel)] = 0;
  values[2][at(4)] = std::log(4.0f);      // objectness 0.8
  values[2][at(5 + 6)] = std::log(3.0f);  // heart 0.75
  const auto found = decode({values[0], values[1], values[2]});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(class_name((*found)[0].cls), "heart");
  EXPECT_NEAR((*found)[0].score, 0.6, 1e-6);
  EXPECT_NEAR((*found)[0].box.cx, 3.5 * 32, 1e-4);
  EXPECT_NEAR((*found)[0].box.cy, 7.5 * 32, 1e-4);
  EXPECT_NEAR((*found)[0].box.w, 156, 1e-4);
}

TEST(Detection, RefusesHeadsOfAnotherModel) {
  const std::vector<float> few(12);
  const auto found = decode({few, few, few});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.status().message().find("head 0 has 12 values"), std::string::npos);
}

// Class 0: two objects; hits at rank 1 and 3, a miss at rank 2. Precision 1, 1/2, 2/3, made
// monotone 1, 2/3, 2/3: area 0.5 * 1 + 0.5 * 2/3 = 5/6. The other seven classes have no objects and
// count 0.
TEST(Detection, AveragePrecisionInterpolatesOverAllPoints) {
  const Box here{50, 50, 20, 20}, there{150, 150, 20, 20}, nowhere{250, 250, 20, 20};
  const std::vector<std::vector<Object>> objects = {{{here, 0}}, {{there, 0}}};
  const std::vector<std::vector<Detection>> detections = {{{here, 0.9f, 0}, {nowhere, 0.8f, 0}},
                                                          {{there, 0.7f, 0}}};
  EXPECT_NEAR(mean_average_precision(detections, objects), 5.0 / 6.0 / 8.0, 1e-9);
}

TEST(Detection, ASecondHitOnOneObjectIsAMiss) {
  const Box here{50, 50, 20, 20}, there{150, 150, 20, 20};
  const std::vector<std::vector<Object>> objects = {{{here, 0}, {there, 0}}};
  const std::vector<std::vector<Detection>> detections = {
      {{here, 0.9f, 0}, {here, 0.8f, 0}, {there, 0.7f, 0}}};
  EXPECT_NEAR(mean_average_precision(detections, objects), 5.0 / 6.0 / 8.0, 1e-9);
}

}  // namespace
}  // namespace signs
