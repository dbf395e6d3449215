// SPDX-License-Identifier: Apache-2.0
#include "quant/sparsity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ops/registry.h"

namespace rk::quant {
namespace {

using target::Sparsity;
using ::testing::HasSubstr;

// One 1x1 convolution whose weight [out][in] is set where `set` says so.
SparseLayer judge(int64_t outs, int64_t ins, const std::function<bool(int64_t, int64_t)>& set,
                  int64_t group = 1) {
  Graph graph(ops::registry());
  const auto x = graph.add_input("x", {DType::kF32, {1, ins * group, 2, 2}});
  std::vector<float> values;
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t i = 0; i < ins; ++i) values.push_back(set(o, i) ? 1.0f : 0.0f);
  }
  Value* const w = graph.add_constant("w", Tensor::f32({outs, ins, 1, 1}, values));
  const auto node = graph.add_node({"Conv", "c", {*x, w}, {"y"}, {{"group", group}}});
  EXPECT_TRUE(node.ok()) << node.status().message();
  EXPECT_TRUE(graph.add_output(&(*node)->output()).ok());
  return find_sparse_layers(graph).at(0);
}

TEST(Sparsity, FindsThePatternsThatTheChipSkips) {
  // Input channels first: two of four in a row, then two rows of four. The other order is the same, turned.
  EXPECT_EQ(
      judge(32, 32, [](int64_t out, int64_t in) { return (in + out / 2) % 4 < 2 && out % 4 < 2; })
          .sparsity,
      Sparsity::kBoth);
  EXPECT_EQ(
      judge(32, 32, [](int64_t out, int64_t in) { return (out + in / 2) % 4 < 2 && in % 4 < 2; })
          .sparsity,
      Sparsity::kBoth);
  // Four of sixteen in a row are more than two of four.
  EXPECT_EQ(judge(32, 32, [](int64_t, int64_t in) { return in % 16 < 4; }).sparsity,
            Sparsity::kNone);
  EXPECT_EQ(judge(32, 32, [](int64_t out, int64_t in) { return (in + out) % 4 < 2; }).sparsity,
            Sparsity::kInputs);
  EXPECT_EQ(judge(32, 64, [](int64_t out, int64_t in) { return in < 32 && out % 4 < 2; }).sparsity,
            Sparsity::kOutputs);
}

TEST(Sparsity, SaysWhyALayerIsDense) {
  const auto all = [](int64_t, int64_t) { return true; };
  EXPECT_EQ(judge(32, 32, all).sparsity, Sparsity::kNone);
  EXPECT_THAT(judge(32, 32, all).reason, HasSubstr("no pattern"));
  EXPECT_THAT(judge(32, 24, all).reason, HasSubstr("channels 24 -> 32"));
  EXPECT_THAT(judge(32, 1, all, 32).reason, HasSubstr("group is 32"));
  // Five of sixteen and three of four are one too many, however many zeros lie elsewhere.
  EXPECT_EQ(judge(32, 32, [](int64_t out, int64_t in) { return out < 3 && in < 5; }).sparsity,
            Sparsity::kNone);
  EXPECT_THAT(to_text({{"y", Sparsity::kNone, "group is 2"}, {"z", Sparsity::kBoth, ""}}),
              HasSubstr("SparseRatio"));
}

}  // namespace
}  // namespace rk::quant
