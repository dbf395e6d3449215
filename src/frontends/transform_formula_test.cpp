// SPDX-License-Identifier: Apache-2.0
#include "frontends/transform_formula.h"

#include <gtest/gtest.h>

namespace rk::frontends {
namespace {

using Dims = std::vector<int64_t>;

Transform good(std::string_view formula, const Dims& dims) {
  auto out = parse_transform(formula, dims);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? *out : Transform{};
}

std::string refusal(std::string_view formula, const Dims& dims) {
  const auto out = parse_transform(formula, dims);
  return out.ok() ? "accepted" : out.status().message();
}

TEST(TransformFormulaTest, ReordersAndMerges) {
  const Transform t = good("a,b,c,d->1,ad,b,c", {2, 3, 5, 7});
  EXPECT_EQ(t.left_dims, (Dims{2, 3, 5, 7}));
  EXPECT_EQ(t.right_dims, (Dims{1, 14, 3, 5}));
  EXPECT_EQ(t.right_split, (Dims{2, 7, 3, 5}));
  EXPECT_EQ(t.permutation, (Dims{0, 3, 1, 2}));
}

TEST(TransformFormulaTest, SplitsWithGivenAndDerivedSizes) {
  const Transform t = good("ab,c,1,qk[a=2,k=8]->aq,c,1,kb", {32, 4, 1, 64});
  EXPECT_EQ(t.left_split, (Dims{2, 16, 4, 8, 8}));
  EXPECT_EQ(t.right_dims, (Dims{16, 4, 1, 128}));
}

TEST(TransformFormulaTest, OneOpenDimensionStaysOpen) {
  const Transform t = good("a,b,c->a,1,c,b", {-1, 3, 5});
  EXPECT_EQ(t.right_dims, (Dims{-1, 1, 5, 3}));
  EXPECT_EQ(good("a,b[a=4]->b,a", {-1, 3}).right_dims, (Dims{3, 4}));
}

TEST(TransformFormulaTest, RefusalsSayWhatIsWrong) {
  EXPECT_NE(refusal("a,b", {2, 3}).find("'->'"), std::string::npos);
  EXPECT_NE(refusal("a,1,c,d->ac,1", {2, 1, 3, 4}).find("'d' is missing on the right"),
            std::string::npos);
  EXPECT_NE(refusal("a,b->a,b,c", {2, 3}).find("'c' is missing on the left"), std::string::npos);
  EXPECT_NE(refusal("a,a->a", {2, 2}).find("twice"), std::string::npos);
  EXPECT_NE(refusal("a,b,c->a,b,c", {2, 3}).find("3 dimensions, the tensor has 2"),
            std::string::npos);
  EXPECT_NE(refusal("ab,c[a=5]->a,b,c", {32, 2}).find("no whole number"), std::string::npos);
  EXPECT_NE(refusal("ab,c->a,b,c", {32, 2}).find("both unknown"), std::string::npos);
  EXPECT_NE(refusal("1,b->b", {2, 3}).find("dimension 0 is 2"), std::string::npos);
  EXPECT_NE(refusal("a,2->a", {2, 2}).find("'2' is neither"), std::string::npos);
  EXPECT_NE(refusal("a,,b->a,b", {2, 2}).find("empty"), std::string::npos);
  EXPECT_NE(refusal("a,b[a=x]->a,b", {2, 2}).find("a=2"), std::string::npos);
  EXPECT_NE(refusal("a,b->b,a", {-1, -1}).find("more than one"), std::string::npos);
}

}  // namespace
}  // namespace rk::frontends
