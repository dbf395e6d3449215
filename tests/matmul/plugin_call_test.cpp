// SPDX-License-Identifier: Apache-2.0
// openrknn_plugin.h: the operators of plug-in libraries as the converter calls them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/log.h"
#include "openrknn_plugin.h"
#include "rknn_api.h"

namespace rk::plugin_call {
namespace {

constexpr int kFloat = 1, kInt64 = 7;

openrknn_tensor tensor(const char* name, const std::vector<int64_t>& dims, float* data = nullptr) {
  openrknn_tensor out = {};
  out.name = name;
  out.type = kFloat;
  out.n_dims = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), out.dims);
  out.data = data;
  return out;
}

template <typename T>
openrknn_attr attr(const char* name, int type, const T& value) {
  return {name, type, 1, sizeof value, &value};
}

class PluginCall : public testing::Test {
 protected:
  void SetUp() override {
    setenv("RKNN_OP_PLUGIN_DIR", RK_PLUGIN_DIR, 1);
    set_log_sink([this](LogLevel level, std::string_view line) {
      if (level == LogLevel::kError) error_ = std::string(line);
    });
  }
  void TearDown() override {
    set_log_sink(nullptr);
    unsetenv("RKNN_OP_PLUGIN_DIR");
  }
  openrknn_node node(const char* type) {
    return {type,
            "n",
            attrs_.data(),
            static_cast<uint32_t>(attrs_.size()),
            inputs_.data(),
            static_cast<uint32_t>(inputs_.size()),
            outputs_.data(),
            static_cast<uint32_t>(outputs_.size())};
  }
  bool says(std::string_view text) const { return error_.find(text) != std::string::npos; }

  std::vector<openrknn_attr> attrs_;
  std::vector<openrknn_tensor> inputs_, outputs_;
  std::string error_;
};

TEST_F(PluginCall, TypesAreThoseOfTheLibrariesInTheFolder) {
  const char* types[2] = {};
  ASSERT_EQ(openrknn_plugin_types(types, 2), 2u);
  std::vector<std::string> names(types, types + 2);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"cstPair", "cstTail"}));
  EXPECT_EQ(openrknn_plugin_types(nullptr, 0), 2u);
  setenv("RKNN_OP_PLUGIN_DIR", "/nowhere", 1);
  EXPECT_EQ(openrknn_plugin_types(types, 2), 0u);
}

TEST_F(PluginCall, AnOperatorComputesOnTheCallersArrays) {
  float a[] = {1, 2, 3}, b[] = {10, 20, 30}, sum[3], difference[3];
  inputs_ = {tensor("a", {3}, a), tensor("b", {3}, b)};
  outputs_ = {tensor("s", {3}, sum), tensor("d", {3}, difference)};
  const openrknn_node pair = node("cstPair");
  ASSERT_EQ(openrknn_plugin_compute(&pair), RKNN_SUCC) << error_;
  EXPECT_EQ(std::vector<float>(sum, sum + 3), (std::vector<float>{11, 22, 33}));
  EXPECT_EQ(std::vector<float>(difference, difference + 3), (std::vector<float>{-9, -18, -27}));
  inputs_.pop_back();
  const openrknn_node one = node("cstPair");  // which the operator itself refuses
  EXPECT_NE(openrknn_plugin_compute(&one), RKNN_SUCC);
}

TEST_F(PluginCall, ShapesAreTheFirstInputsOrTheOperatorsOwn) {
  inputs_ = {tensor("a", {1, 4, 2}), tensor("b", {1, 4, 2})};
  outputs_.resize(2);
  const openrknn_node pair = node("cstPair");
  ASSERT_EQ(openrknn_plugin_infer(&pair), RKNN_SUCC) << error_;
  EXPECT_EQ(outputs_[1].type, kFloat);
  EXPECT_EQ(outputs_[1].n_dims, 3u);
  EXPECT_EQ(outputs_[1].dims[1], 4);

  inputs_.resize(1);
  outputs_.assign(1, {});
  const int64_t keep = 3, none = 0;
  attrs_ = {attr("keep", kInt64, keep)};
  const openrknn_node tail = node("cstTail");
  ASSERT_EQ(openrknn_plugin_infer(&tail), RKNN_SUCC) << error_;
  EXPECT_EQ(outputs_[0].dims[1], 3);
  attrs_ = {attr("keep", kInt64, none)};
  const openrknn_node empty = node("cstTail");
  EXPECT_EQ(openrknn_plugin_infer(&empty), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(says("openrknn_infer_shapes of 'cstTail' returned -1")) << error_;

  inputs_.clear();
  attrs_.clear();
  const openrknn_node alone = node("cstPair");
  EXPECT_NE(openrknn_plugin_infer(&alone), RKNN_SUCC);
  EXPECT_TRUE(says("the node has no first input to take the shape of")) << error_;
}

TEST_F(PluginCall, AttributesReachTheOperator) {
  float x[] = {1, 2, 3, 4}, y[2];
  const float gain = 10;
  const int64_t keep = 2;
  attrs_ = {attr("gain", kFloat, gain), attr("keep", kInt64, keep)};
  inputs_ = {tensor("x", {1, 4}, x)};
  outputs_ = {tensor("y", {1, 2}, y)};
  const openrknn_node tail = node("cstTail");
  ASSERT_EQ(openrknn_plugin_compute(&tail), RKNN_SUCC) << error_;
  EXPECT_EQ(std::vector<float>(y, y + 2), (std::vector<float>{30, 40}));
}

TEST_F(PluginCall, MistakesOfTheCallerAreNamed) {
  float x[] = {1, 2, 3};
  const float gain = 1;
  inputs_ = {tensor("x", {3}, x)};
  outputs_ = {tensor("y", {3}, x)};
  const auto refused = [&](const openrknn_node& bad, std::string_view text) {
    error_.clear();
    return openrknn_plugin_compute(&bad) != RKNN_SUCC && says(text);
  };
  EXPECT_EQ(openrknn_plugin_compute(nullptr), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(openrknn_plugin_infer(nullptr), RKNN_ERR_PARAM_INVALID);
  EXPECT_TRUE(refused(node("cstUnknown"), "no plug-in library has the operator 'cstUnknown'"))
      << error_;
  openrknn_node bad = node("cstTail");
  bad.inputs = nullptr;
  EXPECT_TRUE(refused(bad, "a list is NULL")) << error_;
  bad = node("cstTail");
  bad.n_attrs = 5000;
  EXPECT_TRUE(refused(bad, "5000 attributes; at most 1024")) << error_;
  inputs_[0].data = nullptr;
  EXPECT_TRUE(refused(node("cstTail"), "tensor 'x' has no data")) << error_;
  inputs_[0] = tensor("x", {3}, x);
  inputs_[0].type = 99;
  EXPECT_TRUE(refused(node("cstTail"), "type 99 with 1 dimensions")) << error_;
  inputs_[0] = tensor("x", {3}, x);
  inputs_[0].n_dims = 17;
  EXPECT_TRUE(refused(node("cstTail"), "with 17 dimensions")) << error_;
  inputs_[0] = tensor("x", {3}, x);
  attrs_ = {attr("gain", kFloat, gain)};
  attrs_[0].n_elems = 2;
  EXPECT_TRUE(refused(node("cstTail"), "attribute 0 of node 'n'")) << error_;
}

}  // namespace
}  // namespace rk::plugin_call
