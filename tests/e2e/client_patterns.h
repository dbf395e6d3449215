// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests that stand for rows of the list of observed client patterns.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/api_model.h"
#include "tests/e2e/models.h"

namespace rk::e2e {

// digits: one picture in, [1,10] out. signs: three channels in, three 4-D outputs.
class ClientPatterns : public testing::Test {
 protected:
  void load(const std::string& name) {
    auto found = load_model(name);
    ASSERT_TRUE(found.ok() && found->has_value());
    model_ = std::move(**found);
    const auto conversion = converted(model_);
    ASSERT_TRUE(conversion.ok()) << conversion.status().message();
    rknn_ = (*conversion)->rknn;
    auto api = ApiModel::load(rknn_);
    ASSERT_TRUE(api.ok()) << api.status().message();
    api_ = std::move(*api);
  }

  rknn_context context() const { return api_->context(); }
  const media::Picture& picture(size_t i = 0) const { return model_.pictures.at(i); }
  uint32_t output_count() const { return static_cast<uint32_t>(api_->outputs().size()); }

  // The plain flow's stored bytes for a picture: what every other way must give.
  std::vector<std::vector<uint8_t>> plain(size_t i = 0) const {
    auto out = api_->run_raw(picture(i));
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? *out : std::vector<std::vector<uint8_t>>();
  }

  // Runs with `bytes` as the only input and gives output 0 as stored.
  std::vector<uint8_t> run_with(const void* bytes, size_t size, rknn_tensor_type type,
                                rknn_tensor_format fmt, bool pass_through = false) const {
    rknn_input input{};
    input.buf = const_cast<void*>(bytes);
    input.size = static_cast<uint32_t>(size);
    input.type = type;
    input.fmt = fmt;
    input.pass_through = pass_through ? 1 : 0;
    EXPECT_EQ(rknn_inputs_set(context(), 1, &input), RKNN_SUCC);
    EXPECT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
    return first_output();
  }

  std::vector<uint8_t> first_output() const {
    std::vector<rknn_output> outputs(output_count());
    EXPECT_EQ(rknn_outputs_get(context(), output_count(), outputs.data(), nullptr), RKNN_SUCC);
    const auto* const bytes = static_cast<const uint8_t*>(outputs[0].buf);
    std::vector<uint8_t> out(bytes, bytes + outputs[0].size);
    EXPECT_EQ(rknn_outputs_release(context(), output_count(), outputs.data()), RKNN_SUCC);
    return out;
  }

  TestModel model_;
  std::vector<uint8_t> rknn_;
  std::unique_ptr<ApiModel> api_;
};

}  // namespace rk::e2e
