// SPDX-License-Identifier: Apache-2.0
#include "toolkit/quantization_cfg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ir/text.h"
#include "ops/registry.h"
#include "quant/quantize.h"

namespace rk::toolkit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<QuantizationCfg> read_text(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() / str("cfg_", ::getpid(), ".cfg");
  std::ofstream(path) << text;
  auto out = read_cfg(path.string());
  std::filesystem::remove(path);
  return out;
}

TEST(QuantizationCfg, IsWrittenInTheFormPeopleKnow) {
  auto graph = parse_graph(R"(graph "g" { input %"Conv__350:0": f32[1] %y = Relu(%"Conv__350:0")
                           output %y })",
                           ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  QuantizationCfg cfg;
  cfg.layers["y"] = "float16";
  cfg.parameters["Conv__350:0"] = entry_of(quant::activation_params({0, 6}));
  EXPECT_EQ(write_cfg(*graph, cfg), R"(custom_quantize_layers:
    y: float16
quantize_parameters:
    Conv__350:0:
        qtype: asymmetric_quantized
        qmethod: layer
        dtype: int8
        min:
        - 0.0
        max:
        - 6.0
        scale:
        - 0.023529411764705882
        zero_point:
        - -128
)");
}

TEST(QuantizationCfg, ComesBackWithAwkwardNames) {
  auto graph = parse_graph(R"(graph "g" { input %"378": f32[1] %"a b: \"c\"" = Relu(%"378")
                           output %"a b: \"c\"" })",
                           ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  QuantizationCfg cfg;
  for (const Value* value : graph->values()) {
    cfg.layers[value->name()] = "int16";
    cfg.parameters[value->name()] = entry_of(quant::activation_params({-1, 1}));
  }
  const auto again = read_text(write_cfg(*graph, cfg));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->layers, cfg.layers);
  for (const auto& [name, entry] : again->parameters)
    EXPECT_EQ(entry.scale, cfg.parameters.at(name).scale) << name;
  EXPECT_EQ(again->parameters.size(), 2u);
}

TEST(QuantizationCfg, WrongTypesAndListsAreNamed) {
  const auto type = read_text("custom_quantize_layers:\n    a: float8\n");
  EXPECT_THAT(type.status().message(), HasSubstr("'a' is \"float8\", expect in ['float16'"));
  const auto list = read_text("quantize_parameters:\n    t:\n        min:\n        - x\n");
  EXPECT_THAT(list.status().message(), HasSubstr("'t': min is not a list of finite numbers"));
  const auto map = read_text("custom_quantize_layers: 3\n");
  EXPECT_THAT(map.status().message(), HasSubstr("custom_quantize_layers is not a map"));
}

class EditedParams : public testing::Test {
 protected:
  const QuantParams before_ = quant::activation_params({0, 6});
  TensorEntry entry_ = entry_of(before_);
};

TEST_F(EditedParams, AnUntouchedEntryIsNoEdit) {
  const auto edited = edited_params("t", entry_, before_);
  ASSERT_TRUE(edited.ok()) << edited.status().message();
  EXPECT_FALSE(edited->has_value());
}

TEST_F(EditedParams, AnEditedRangeWinsOverTheScaleThatWasLeft) {
  entry_.max = {{3.0}};
  const auto edited = edited_params("t", entry_, before_);
  ASSERT_TRUE(edited.ok()) << edited.status().message();
  EXPECT_THAT((*edited)->scale, ElementsAre(testing::FloatNear(3 / 255.0f, 1e-8f)));
  EXPECT_THAT((*edited)->zero_point, ElementsAre(-128));
}

TEST_F(EditedParams, AnEditedScaleWinsOverTheRangeThatWasLeft) {
  entry_.scale = {{0.5}};
  entry_.zero_point = {{0.0}};
  const auto edited = edited_params("t", entry_, before_);
  ASSERT_TRUE(edited.ok()) << edited.status().message();
  EXPECT_THAT((*edited)->scale, ElementsAre(0.5f));
  EXPECT_THAT((*edited)->zero_point, ElementsAre(0));
  EXPECT_THAT((*edited)->min, ElementsAre(-64.0f));
}

TEST_F(EditedParams, TwoEditedPairsMustAgree) {
  entry_.max = {{3.0}};
  entry_.scale = {{0.5}};
  const auto clash = edited_params("t", entry_, before_);
  EXPECT_EQ(clash.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(clash.status().message(), HasSubstr("quantize_parameters of 't'"));
  entry_.scale = {{3.0 / 255}};
  EXPECT_TRUE(edited_params("t", entry_, before_).ok());
}

TEST_F(EditedParams, NonsenseIsRefusedWithTheName) {
  entry_.min = {{7.0}};
  EXPECT_THAT(edited_params("t", entry_, before_).status().message(),
              HasSubstr("'t': min 7 is not below max 6"));
  entry_ = entry_of(before_);
  entry_.zero_point = {{300.0}};
  EXPECT_THAT(edited_params("t", entry_, before_).status().message(),
              HasSubstr("from -128 to 127"));
  entry_ = entry_of(before_);
  entry_.max.reset();
  EXPECT_THAT(edited_params("t", entry_, before_).status().message(), HasSubstr("one is missing"));
  entry_ = {};
  EXPECT_THAT(edited_params("t", entry_, before_).status().message(), HasSubstr("neither min"));
}

}  // namespace
}  // namespace rk::toolkit
