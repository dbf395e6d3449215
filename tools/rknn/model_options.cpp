// SPDX-License-Identifier: Apache-2.0
#include "rknn/model_options.h"

namespace rk::tools {

std::vector<OptionDef> with_model_options(const std::vector<OptionDef>& own) {
  std::vector<OptionDef> out = {
      {"--format", "", "NAME", "of the model: onnx, tflite, tensorflow, ...; default: told from its files"},
      {"--target", "-t", "CHIP", "rk3588, rk3566, rk3562, rk3576, rv1106, ..."},
      {"--dataset", "", "FILE", "quantise to int8 with the samples listed in FILE"},
      {"--mean", "", "a,b,c", "per channel; repeat for further inputs"},
      {"--std", "", "a,b,c", "per channel; repeat for further inputs"},
      {"--rgb2bgr", "", "", "swap colours of pictures"},
      {"--algorithm", "", "NAME", "quantized_algorithm, default normal"},
      {"--method", "", "NAME", "quantized_method: channel (default) or layer"},
      {"--input-size", "", "1,3,224,224", "shape of an input; repeat in order of the inputs"},
      {"--outputs", "", "a,b", "end the graph at these tensors"},
  };
  out.insert(out.end(), own.begin(), own.end());
  out.push_back({"--help", "-h", "", "this text"});
  return out;
}

Status read_model_options(const Arguments& args, ConvertRequest& request) {
  if (args.words().empty()) return invalid_argument("give a model; --help tells how");
  request.model = args.words();
  request.format = args.get("--format");
  toolkit::Config& config = request.config;
  config.target_platform = args.get("--target");
  config.quantized_algorithm = args.get("--algorithm", config.quantized_algorithm);
  config.quantized_method = args.get("--method", config.quantized_method);
  if (args.has("--rgb2bgr")) config.quant_img_rgb2bgr = {true};
  RK_TRY(read_lists(args, "--mean", config.mean_values));
  RK_TRY(read_lists(args, "--std", config.std_values));
  for (const std::string& text : args.all("--input-size")) {
    RK_ASSIGN(std::vector<int64_t> shape, parse_ints("--input-size", text));
    request.load.input_size_list.push_back(std::move(shape));
  }
  if (args.has("--outputs")) request.load.outputs = split(args.get("--outputs"), ',');
  request.build.dataset = args.get("--dataset");
  return ok_status();
}

}  // namespace rk::tools
