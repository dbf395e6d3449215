// SPDX-License-Identifier: Apache-2.0
// The option table against the structs it describes, and its readers against each other.
#include "toolkit/option_table.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "base/log.h"
#include "quant/calibrate.h"
#include "toolkit/config_check.h"
#include "toolkit/convert_file.h"

namespace rk::toolkit {
namespace {

using testing::HasSubstr;

// Number of members of an aggregate: the longest list of initializers it takes.
struct Anything {
  template <typename T>
  operator T() const;
};
template <typename S, typename... Members>
consteval size_t member_count(Members... members) {
  if constexpr (requires { S{members..., Anything{}}; }) {
    return member_count<S>(members..., Anything{});
  } else {
    return sizeof...(members);
  }
}

TEST(OptionTable, HasARowForEachMember) {
  EXPECT_EQ(config_options().size(), member_count<Config>());
  EXPECT_EQ(load_options().size(), member_count<LoadOptions>());
  // progress, and assumed_ranges, which only rknn cost and rknn advise set
  EXPECT_EQ(build_options().size(), member_count<BuildOptions>() - 2);
  EXPECT_EQ(hybrid_options().size(), member_count<HybridOptions>() - 1);  // progress
}

template <typename S>
void expect_unique_names() {
  std::set<std::string> names, flags;
  for (const Option<S>& option : options_of<S>()) {
    EXPECT_TRUE(names.emplace(option.name).second) << option.name;
    EXPECT_FALSE(option.doc.empty()) << option.name;
    for (const std::string& flag : flags_of(option)) EXPECT_TRUE(flags.insert(flag).second) << flag;
  }
}

TEST(OptionTable, NamesAndFlagsAreUnique) {
  expect_unique_names<Config>();
  expect_unique_names<LoadOptions>();
  expect_unique_names<BuildOptions>();
  expect_unique_names<HybridOptions>();
}

// Every member set to something else than its default.
Config unusual() {
  Config c;
  c.mean_values = {{1.5f, 2}, {}};
  c.std_values = {{0.25f}};
  c.quantized_dtype = "w4a16";
  c.quantized_algorithm = "mmse";
  c.quantized_method = "group32";
  c.quantized_hybrid_level = 2;
  c.target_platform = "rk3576";
  c.quant_img_rgb2bgr = {true, false};
  c.float_dtype = "float32";
  c.optimization_level = 1;
  c.custom_string = "text";
  c.remove_weight = c.compress_weight = c.single_core_mode = c.model_pruning = true;
  c.inputs_yuv_fmt = {"nv12"};
  c.dynamic_input = {{{1, 3, 8, 8}, {1, 2}}, {{1, 3, 4, 4}, {1, 2}}};
  c.op_target = {{"Conv", "cpu"}, {"a/b", "npu"}};
  c.quantize_weight = c.remove_reshape = c.sparse_infer = c.enable_flash_attention = true;
  c.auto_hybrid_cos_thresh = 0.875;
  c.auto_hybrid_euc_thresh = 3.5;
  c.mini_rknn = c.what_if = true;
  c.memory_plan_strategy = "a";
  c.compute_order = "b";
  c.compiler_control_file = "c";
  return c;
}

TEST(OptionTable, ErrorsOnTheCommandLineNameItsFlags) {
  EXPECT_EQ(flags_for_keywords("pass it in input_size_list, for example input_size_list=[[1,3]]"),
            " (input_size_list is --input-size 1,3,224,224 here)");
  EXPECT_EQ(flags_for_keywords("mean_values and std_values"),
            " (mean_values is --mean a,b,c, std_values is --std a,b,c here)");
  // Words, parts of other names, and what names the flag already.
  EXPECT_EQ(
      flags_for_keywords("the inputs of my_input_size_list2 and --input-size for input_size_list"),
      "");
}

TEST(OptionTable, EveryRowIsWrittenAndReadBack) {
  const Config wanted = unusual();
  const Json json = write_options(wanted);
  Config found;
  ASSERT_TRUE(read_options(json, found).ok());
  for (const Option<Config>& option : config_options()) {
    const Json value = option_json(option, found);
    EXPECT_EQ(write_json(value), write_json(option_json(option, wanted))) << option.name;
    // Also proves that unusual() names every row.
    EXPECT_NE(write_json(value), write_json(option_json(option, Config{}))) << option.name;
  }
  Config defaults;
  ASSERT_TRUE(read_options(write_options(Config{}), defaults).ok());
  EXPECT_EQ(write_options(defaults), write_options(Config{}));
}

TEST(OptionTable, WrongNamesAndTypesAreRefused) {
  Config config;
  const auto refused = [&](std::string_view text) {
    return read_options(*parse_json(text), config).message();
  };
  EXPECT_THAT(refused(R"({"mean_value": [1]})"), HasSubstr("did you mean 'mean_values'"));
  EXPECT_THAT(refused(R"({"mean_values": {"x": {"y": 1}}})"), HasSubstr("expect a list per input"));
  EXPECT_THAT(refused(R"({"optimization_level": "3"})"), HasSubstr("expect a whole number"));
  EXPECT_THAT(refused(R"({"auto_hybrid_euc_thresh": "x"})"), HasSubstr("expect a number"));
  EXPECT_THAT(refused(R"({"op_target": ["cpu"]})"), HasSubstr("expect a dict of texts"));
  HybridOptions hybrid;
  EXPECT_THAT(read_options(*parse_json(R"({"custom_hybrid": ["a"]})"), hybrid).message(),
              HasSubstr("[input name, output name]"));
}

TEST(OptionTable, AcceptedValuesAreChecked) {
  const auto refused = [](auto change) {
    Config config;
    config.target_platform = "rk3588";
    change(config);
    return std::string(check_config(config).status().message());
  };
  EXPECT_EQ(refused([](Config& c) { c.float_dtype = "bfloat16"; }),
            "Invalid float_dtype 'bfloat16', expect in ['float16']!");
  EXPECT_EQ(refused([](Config& c) { c.optimization_level = 4; }),
            "Invalid optimization_level 4, expect in [0, 1, 2, 3]!");
  EXPECT_EQ(refused([](Config& c) { c.quantized_method = "row"; }),
            "Invalid quantized_method 'row', expect in ['layer', 'channel', 'group{SIZE}']!");
  EXPECT_EQ(refused([](Config& c) {
              c.op_target = {{"Conv", "tpu"}};
            }),
            "Invalid op_target of 'Conv' 'tpu', expect in ['cpu', 'npu', 'gpu', 'auto']!");
  EXPECT_THAT(refused([](Config& c) { c.inputs_yuv_fmt = {"nv12"}; }), HasSubstr("inputs_yuv_fmt"));
  for (const std::string& name : quant::algorithm_names())
    EXPECT_EQ(refused([&](Config& c) { c.quantized_algorithm = name; }), "");
}

TEST(OptionTable, WhatHasNoEffectIsSaidOnce) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  Config config;
  config.target_platform = "rk3588";
  config.mini_rknn = true;
  EXPECT_TRUE(check_config(config).ok());
  EXPECT_TRUE(
      read_options(*parse_json(R"({"sram_prefer": true, "stream_op": false})"), config).ok());
  set_log_sink({});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("mini_rknn has no effect"));
  EXPECT_THAT(lines[1], HasSubstr("sram_prefer has no effect"));
}

class ConvertYml : public testing::Test {
 protected:
  Result<ConvertFile> read(const std::string& text) {
    const std::string path = testing::TempDir() + "/convert.yml";
    std::ofstream(path) << text;
    return read_convert_file(path);
  }
};

// JSON is YAML: the file that holds every option.
TEST_F(ConvertYml, TakesEveryOptionOfConfig) {
  const auto file = read(str(
      "models: {model_file_path: a.onnx, configs: ", write_json(write_options(unusual())), "}"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(write_options(file->config), write_options(unusual()));
}

TEST_F(ConvertYml, ReadsTheGuidesForm) {
  const auto file = read(R"(
models:
  name: detector
  platform: onnx
  model_file_path: ./model.onnx
  quantize: true
  dataset: ./dataset.txt
  subgraphs:
    input_size_list: ["1,3,512,512", "1, 4"]
    inputs: [data, scale]
    outputs: [out]
  configs:
    quantized_dtype: asymmetric_quantized-8
    mean_values: [127.5, 127.5, 127.5]
    std_values: [[1], [2]]
    quant_img_RGB2BGR: true
)");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->name, "detector");
  EXPECT_TRUE(file->build.do_quantization);
  EXPECT_THAT(file->build.dataset, testing::EndsWith("/dataset.txt"));
  EXPECT_EQ(file->load.input_size_list,
            (std::vector<std::vector<int64_t>>{{1, 3, 512, 512}, {1, 4}}));
  EXPECT_EQ(file->load.inputs, (std::vector<std::string>{"data", "scale"}));
  EXPECT_EQ(file->load.outputs, std::vector<std::string>{"out"});
  EXPECT_EQ(file->config.mean_values, (std::vector<std::vector<float>>{{127.5f, 127.5f, 127.5f}}));
  EXPECT_EQ(file->config.std_values, (std::vector<std::vector<float>>{{1}, {2}}));
  EXPECT_EQ(file->config.quant_img_rgb2bgr, std::vector<bool>{true});
}

TEST_F(ConvertYml, NamesWhatIsWrong) {
  const auto refused = [&](const std::string& text) {
    return std::string(read(text).status().message());
  };
  EXPECT_THAT(refused("model: {}"), HasSubstr("'models' is missing"));
  EXPECT_THAT(refused("models: {model_file_path: a, quantizee: true}"),
              HasSubstr("did you mean 'quantize'"));
  EXPECT_THAT(refused("models: {model_file_path: a, configs: {mean_value: [1]}}"),
              HasSubstr("did you mean 'mean_values'"));
  EXPECT_THAT(refused("models: {model_file_path: a, subgraphs: {input: [x]}}"),
              HasSubstr("did you mean 'inputs'"));
  EXPECT_THAT(refused("models: {model_file_path: a, platform: keras}"), HasSubstr("keras"));
  EXPECT_THAT(refused("models: {model_file_path: a, quantize: true}"),
              HasSubstr("dataset is missing"));
  EXPECT_THAT(refused("models: {quantize: false}"), HasSubstr("model_file_path is missing"));
  EXPECT_THAT(refused("models: {model_file_path: a, subgraphs: {input_size_list: ['1,x']}}"),
              HasSubstr("'x' is not a number"));
}

}  // namespace
}  // namespace rk::toolkit
