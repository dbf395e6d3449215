// SPDX-License-Identifier: Apache-2.0
// rknn convert: the options of rknn.api.RKNN.config, load_... and build as flags, or a yml file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "quant/samples.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--output", "-o", "FILE", "the .rknn file to write; default: the model's name with .rknn"},
    {"--target", "-t", "CHIP", "rk3588, rk3566, rk3562, rk3576, rv1106, ..."},
    {"--format", "", "NAME", "of the model: onnx, tflite, tensorflow, ...; default: told from its files"},
    {"--nchw", "", "", "TFLite, TensorFlow: the inputs are NCHW already"},
    {"--config", "-i", "FILE.yml", "take model and options from an rknn_convert yml file"},
    {"--dataset", "", "FILE", "quantise to int8 with the samples listed in FILE"},
    {"--float", "", "", "do not quantise: float16, or as a model that is quantised already says"},
    {"--mean", "", "a,b,c", "per channel; repeat for further inputs"},
    {"--std", "", "a,b,c", "per channel; repeat for further inputs"},
    {"--rgb2bgr", "", "", "swap colours of calibration pictures"},
    {"--dtype", "", "NAME", "quantized_dtype, default w8a8"},
    {"--algorithm", "", "NAME", "quantized_algorithm, default normal"},
    {"--method", "", "NAME", "quantized_method: channel (default) or layer"},
    {"--optimization-level", "-O", "0..3", "graph rewriting, default 3"},
    {"--inputs", "", "a,b", "cut the graph at these tensors"},
    {"--outputs", "", "a,b", "end the graph at these tensors"},
    {"--input-size", "", "1,3,224,224", "shape of an input; repeat in order of the inputs"},
    {"--input-value", "", "I=FILE.npy", "input number I becomes this constant"},
    {"--custom-string", "", "TEXT", "stored in the file, read back with RKNN_QUERY_CUSTOM_STRING"},
    {"--op-target", "", "NAME=cpu",
     "place an operator type or the node with this output: cpu, npu, gpu, auto"},
    {"--remove-reshape", "", "", "drop Reshape at inputs and outputs"},
    {"--single-core", "", "", "build for one NPU core only"},
    {"--report", "", "[FILE.html]",
     "list each node as NPU, CPU or unsupported, with the row that decided"},
    {"--dynamic-input", "", "1,3,64,64",
     "a further set of shapes; shapes of one set separated by ';'"},
    {"--batch", "", "N", "rknn_batch_size: samples of one run"},
    {"--remove-weight", "", "",
     "leave out weights that another build has (RKNN_FLAG_SHARE_WEIGHT_MEM)"},
    {"--help", "-h", "", "this text"},
};

Status read_flags(const Arguments& args, ConvertRequest& request) {
  toolkit::Config& config = request.config;
  if (!args.words().empty()) request.model = args.words();
  if (args.has("--format")) request.format = args.get("--format");
  if (args.has("--nchw")) request.load.input_is_nchw = true;
  config.target_platform = args.get("--target", config.target_platform);
  config.quantized_dtype = args.get("--dtype", config.quantized_dtype);
  config.quantized_algorithm = args.get("--algorithm", config.quantized_algorithm);
  config.quantized_method = args.get("--method", config.quantized_method);
  config.custom_string = args.get("--custom-string", config.custom_string);
  for (const std::string& text : args.all("--mean")) {
    RK_ASSIGN(std::vector<float> values, parse_floats("--mean", text));
    config.mean_values.push_back(std::move(values));
  }
  for (const std::string& text : args.all("--std")) {
    RK_ASSIGN(std::vector<float> values, parse_floats("--std", text));
    config.std_values.push_back(std::move(values));
  }
  if (args.has("--rgb2bgr")) config.quant_img_rgb2bgr = {true};
  if (args.has("--remove-reshape")) config.remove_reshape = true;
  if (args.has("--single-core")) config.single_core_mode = true;
  if (args.has("--remove-weight")) config.remove_weight = true;
  for (const std::string& text : args.all("--dynamic-input")) {
    toolkit::ShapeSet set;
    for (const std::string& part : split(text, ';')) {
      RK_ASSIGN(std::vector<int64_t> shape, parse_ints("--dynamic-input", part));
      set.push_back(std::move(shape));
    }
    config.dynamic_input.push_back(std::move(set));
  }
  if (args.has("--batch")) {
    RK_ASSIGN(const auto batch, parse_ints("--batch", args.get("--batch")));
    if (batch.size() != 1 || batch[0] < 1 || batch[0] > 1024)
      return invalid_argument("--batch takes one number, 1 to 1024");
    request.build.rknn_batch_size = static_cast<int>(batch[0]);
  }
  if (args.has("--optimization-level")) {
    RK_ASSIGN(const auto level,
              parse_ints("--optimization-level", args.get("--optimization-level")));
    if (level.size() != 1) return invalid_argument("--optimization-level takes one number, 0 to 3");
    config.optimization_level = static_cast<int>(level[0]);
  }
  for (const std::string& text : args.all("--op-target")) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return invalid_argument(str("--op-target '", text, "': expected NAME=cpu"));
    config.op_target[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (args.has("--inputs")) request.load.inputs = split(args.get("--inputs"), ',');
  if (args.has("--outputs")) request.load.outputs = split(args.get("--outputs"), ',');
  for (const std::string& text : args.all("--input-size")) {
    RK_ASSIGN(std::vector<int64_t> shape, parse_ints("--input-size", text));
    request.load.input_size_list.push_back(std::move(shape));
  }
  for (const std::string& text : args.all("--input-value")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalid_argument(str("--input-value '", text, "': expected I=FILE.npy"));
    RK_ASSIGN(const auto index, parse_ints("--input-value", text.substr(0, equals)));
    if (index.size() != 1 || index[0] < 0 || index[0] > 255)
      return invalid_argument("--input-value: I counts inputs from 0");
    RK_ASSIGN(Tensor value, quant::load_npy_tensor(text.substr(equals + 1)));
    auto& values = request.load.input_initial_val;
    if (values.size() <= static_cast<size_t>(index[0]))
      values.resize(static_cast<size_t>(index[0]) + 1);
    values[static_cast<size_t>(index[0])] = std::move(value);
  }
  if (args.has("--dataset")) request.build.dataset = args.get("--dataset");
  if (args.has("--float")) request.build.do_quantization = false;
  if (args.has("--output")) request.output = args.get("--output");
  return ok_status();
}

// A bar on a terminal, silence in a pipe.
bool show_progress(size_t done, size_t total) {
  if (isatty(STDERR_FILENO) == 0) return true;
  std::fprintf(stderr, "\rQuantizating %zu/%zu%s", done, total, done == total ? "\n" : "");
  return true;
}

Status write_placement(const toolkit::Toolkit& toolkit, const std::string& page) {
  RK_ASSIGN(const compiler::PlacementReport report, toolkit.placement());
  if (page.empty()) {
    std::fputs(compiler::to_text(report).c_str(), stdout);
    return ok_status();
  }
  const std::string html = compiler::to_html(report);
  return write_file(page, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
}

}  // namespace

Status convert_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn convert MODEL [WEIGHTS] -t CHIP [--dataset FILE | --float] [options]\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  ConvertRequest request;
  if (args.has("--config")) RK_TRY(read_yml(args.get("--config"), request));
  RK_TRY(read_flags(args, request));
  if (request.model.empty())
    return invalid_argument("no model given; rknn convert --help tells how");
  if (request.build.do_quantization && request.build.dataset.empty()) {
    return invalid_argument(
        "give --dataset FILE to quantise to int8, or --float for a float16 model");
  }
  if (request.output.empty()) {
    request.output = std::filesystem::path(request.model[0]).replace_extension(".rknn").string();
  }
  if (is_same_file(request.model, request.output)) {
    return invalid_argument(
        str("--output '", request.output, "' is the model itself; give another name to keep it"));
  }
  request.build.progress = show_progress;

  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  RK_TRY(toolkit.build(request.build));
  RK_TRY(toolkit.export_rknn(request.output));
  if (args.has("--report")) RK_TRY(write_placement(toolkit, args.get("--report")));
  const program::Variant& variant = toolkit.program().main_variant();
  const bool integers = std::ranges::any_of(variant.tensors, [](const program::ProgramTensor& t) {
    return t.quantized() && !t.is_constant();
  });
  uint64_t weight_bytes = 0;
  for (const program::Blob& blob : toolkit.program().weights) weight_bytes += blob.bytes.size();
  std::printf("%s: %s, %s, %zu steps, weights %.1f KiB, internal memory %.1f KiB\n",
              request.output.c_str(), toolkit.program().target.c_str(),
              integers ? request.config.quantized_dtype.c_str() : "float16", variant.steps.size(),
              static_cast<double>(weight_bytes) / 1024,
              static_cast<double>(variant.arena_bytes) / 1024);
  return ok_status();
}

}  // namespace rk::tools
