// SPDX-License-Identifier: Apache-2.0
// rknn analyze: builds a model and compares every layer of it with the float model on one input.
#include <cstdio>

#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--target", "-t", "CHIP", "rk3588, rk3566, rk3562, rk3576, rv1106, ..."},
    {"--dataset", "", "FILE", "quantise to int8 with the samples listed in FILE"},
    {"--float", "", "", "do not quantise: analyse the float16 model"},
    {"--input", "-i", "FILE", "picture or .npy to analyse on, one per model input, in order"},
    {"--output", "-o", "DIR", "golden/, simulator/, error_analysis.txt, report.html"},
    {"--mean", "", "a,b,c", "per channel; repeat for further inputs"},
    {"--std", "", "a,b,c", "per channel; repeat for further inputs"},
    {"--rgb2bgr", "", "", "swap colours of pictures"},
    {"--algorithm", "", "NAME", "quantized_algorithm, default normal"},
    {"--method", "", "NAME", "quantized_method: channel (default) or layer"},
    {"--input-size", "", "1,3,224,224", "shape of an input; repeat in order of the inputs"},
    {"--outputs", "", "a,b", "end the graph at these tensors"},
    {"--float-layer", "", "NAME", "keep the layer with this output in float16; may be repeated"},
    {"--auto-hybrid", "", "", "choose layers to keep in float16"},
    {"--cos-thresh", "", "X", "cosine that --auto-hybrid aims at, default 0.98"},
    {"--help", "-h", "", "this text"},
};

}  // namespace

Status analyze_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn analyze MODEL.onnx -t CHIP (--dataset FILE | --float) -i INPUT\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1)
    return invalid_argument("give one model; rknn analyze --help tells how");
  if (args.has("--dataset") == args.has("--float"))
    return invalid_argument("give --dataset FILE to analyse the int8 model, or --float");
  toolkit::Config config;
  toolkit::LoadOptions load;
  toolkit::BuildOptions build;
  config.target_platform = args.get("--target");
  config.quantized_algorithm = args.get("--algorithm", config.quantized_algorithm);
  config.quantized_method = args.get("--method", config.quantized_method);
  if (args.has("--rgb2bgr")) config.quant_img_rgb2bgr = {true};
  RK_TRY(read_lists(args, "--mean", config.mean_values));
  RK_TRY(read_lists(args, "--std", config.std_values));
  if (args.has("--cos-thresh")) {
    RK_ASSIGN(const auto values, parse_floats("--cos-thresh", args.get("--cos-thresh")));
    if (values.size() != 1) return invalid_argument("--cos-thresh takes one number");
    config.auto_hybrid_cos_thresh = values[0];
  }
  for (const std::string& text : args.all("--input-size")) {
    RK_ASSIGN(std::vector<int64_t> shape, parse_ints("--input-size", text));
    load.input_size_list.push_back(std::move(shape));
  }
  if (args.has("--outputs")) load.outputs = split(args.get("--outputs"), ',');
  build.do_quantization = !args.has("--float");
  build.dataset = args.get("--dataset");
  build.float_layers = args.all("--float-layer");
  build.auto_hybrid = args.has("--auto-hybrid");

  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(args.words().front(), load));
  RK_TRY(toolkit.build(build));
  RK_ASSIGN(const analysis::AccuracyReport report,
            toolkit.accuracy_analysis(args.all("--input"), args.get("--output")));
  std::fputs(analysis::to_text(report).c_str(), stdout);
  return ok_status();
}

}  // namespace rk::tools
