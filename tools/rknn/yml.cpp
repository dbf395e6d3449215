// SPDX-License-Identifier: Apache-2.0
// The yml file of rknn_convert. yaml-cpp throws; everything is caught here.
#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {
namespace {

std::vector<std::string> strings(const YAML::Node& node) {
  if (!node || node.IsNull()) return {};
  if (node.IsScalar()) return {node.as<std::string>()};
  return node.as<std::vector<std::string>>();
}

// [a,b,c] for one input, [[..],[..]] for several.
std::vector<std::vector<float>> lists(const YAML::Node& node) {
  if (!node || node.IsNull() || node.size() == 0) return {};
  if (node[0].IsSequence()) return node.as<std::vector<std::vector<float>>>();
  return {node.as<std::vector<float>>()};
}

Status read_models(const YAML::Node& models, const std::filesystem::path& folder,
                   ConvertRequest& request) {
  const auto beside = [&](const std::string& path) { return (folder / path).string(); };
  request.format = models["platform"].as<std::string>("onnx");
  auto keys = toolkit::yml_file_keys(request.format);
  if (!keys.ok()) return keys.status().with_context("models.platform");
  for (const std::string& key : *keys) {
    if (!models[key]) return invalid_argument(str("models.", key, " is missing"));
    request.model.push_back(beside(models[key].as<std::string>()));
  }
  if (models["name"]) request.output = models["name"].as<std::string>() + ".rknn";
  request.build.do_quantization = models["quantize"].as<bool>(false);
  if (models["dataset"]) request.build.dataset = beside(models["dataset"].as<std::string>());
  if (const YAML::Node subgraphs = models["subgraphs"]) {
    for (const std::string& text : strings(subgraphs["input_size_list"])) {
      RK_ASSIGN(std::vector<int64_t> shape, parse_ints("subgraphs.input_size_list", text));
      request.load.input_size_list.push_back(std::move(shape));
    }
    request.load.inputs = strings(subgraphs["inputs"]);
    request.load.outputs = strings(subgraphs["outputs"]);
  }
  if (const YAML::Node configs = models["configs"]) {
    toolkit::Config& config = request.config;
    config.quantized_dtype = configs["quantized_dtype"].as<std::string>(config.quantized_dtype);
    config.quantized_algorithm =
        configs["quantized_algorithm"].as<std::string>(config.quantized_algorithm);
    config.quantized_method = configs["quantized_method"].as<std::string>(config.quantized_method);
    config.optimization_level = configs["optimization_level"].as<int>(config.optimization_level);
    config.single_core_mode = configs["single_core_mode"].as<bool>(config.single_core_mode);
    config.mean_values = lists(configs["mean_values"]);
    config.std_values = lists(configs["std_values"]);
    if (const YAML::Node swap = configs["quant_img_RGB2BGR"]) {
      if (swap.IsSequence()) {
        for (const YAML::Node& entry : swap) config.quant_img_rgb2bgr.push_back(entry.as<bool>());
      } else {
        config.quant_img_rgb2bgr = {swap.as<bool>()};
      }
    }
  }
  return ok_status();
}

}  // namespace

Status read_yml(const std::string& path, ConvertRequest& request) {
  try {
    const YAML::Node root = YAML::LoadFile(path);
    if (!root.IsMap() || !root["models"])
      return invalid_argument(str("'", path, "': the top key 'models' is missing"));
    return read_models(root["models"], std::filesystem::path(path).parent_path(), request)
        .with_context(path);
  } catch (const YAML::Exception& error) {
    return invalid_argument(str("'", path, "': ", error.what()));
  }
}

}  // namespace rk::tools
