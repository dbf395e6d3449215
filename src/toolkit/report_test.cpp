// SPDX-License-Identifier: Apache-2.0
#include "toolkit/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/test_program.h"

namespace rk::toolkit {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportTest, DescribesStepsTensorsAndMemory) {
  const program::Program program = runtime::picture_program();
  const auto model = describe_model(program, "picture.rknn", nullptr);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->find("steps")->as_array()->size(), program.main_variant().steps.size());
  EXPECT_EQ(model->find("tensors")->as_array()->size(), program.main_variant().tensors.size());
  EXPECT_EQ(model->find("layers"), nullptr);
  const std::string page = report_page({&*model, 1});
  EXPECT_THAT(page, HasSubstr("const REPORT = {\"models\":[{\"name\":\"picture.rknn\""));
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  EXPECT_THAT(page, Not(HasSubstr("http://www.w3.org/1999")));
}

TEST(ReportTest, TheHeaderHasADateThatABuildCanFix) {
  const auto page = [](const char* epoch) {
    EXPECT_EQ(::setenv("SOURCE_DATE_EPOCH", epoch, 1), 0);
    const auto model = describe_model(runtime::picture_program(), "x", nullptr);
    ::unsetenv("SOURCE_DATE_EPOCH");
    return model.ok() ? write_json(*model) : std::string(model.status().message());
  };
  EXPECT_THAT(page("1709210096"),
              HasSubstr("[\"Date\",\"2024-02-29\"]"));  // date -u -d @1709210096
  EXPECT_EQ(page("1709210096"), page("1709210097"));
  EXPECT_THAT(page("soon"), testing::ContainsRegex("\"Date\",\"2[0-9]{3}-[0-9]{2}-[0-9]{2}\""));
}

TEST(ReportTest, NamesCannotEndTheScript) {
  program::Program program = runtime::picture_program();
  program.variants.front().steps.front().name = "</script><script>alert(1)</script><!--";
  const auto model = describe_model(program, "x", nullptr);
  ASSERT_TRUE(model.ok());
  const std::string page = report_page({&*model, 1});
  EXPECT_THAT(page, HasSubstr("<\\/script><script>alert(1)<\\/script>\\u003c!--"));
  size_t ends = 0;
  for (size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 1u);
}

TEST(ReportTest, AccuracyAddsLayersProposalsAndAVerdict) {
  analysis::AccuracyReport accuracy;
  analysis::Layer layer;
  layer.name = "a";
  layer.histogram = {1, 2};
  layer.stored_histogram = {0, 3};
  layer.channel_ranges = {{-1.0f, 2.0f}};
  accuracy.layers.push_back(layer);
  accuracy.outputs.push_back({.cosine = 0.97});
  accuracy.proposals.push_back({"keep 'a' in float16", 0.97, 0.999, "custom_quantize_layers:\n"});
  const auto model = describe_model(runtime::picture_program(), "x", &accuracy);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string text = write_json(*model);
  EXPECT_THAT(text, HasSubstr("\"stored\":[0,3]"));
  EXPECT_THAT(text, HasSubstr("\"channels\":[[-1"));
  EXPECT_THAT(text, HasSubstr("Some loss"));
  EXPECT_THAT(text, HasSubstr("\"code\":\"custom_quantize_layers:\\n\""));
}

}  // namespace
}  // namespace rk::toolkit
