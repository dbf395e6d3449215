// SPDX-License-Identifier: Apache-2.0
// rknn convert: the options of rknn.api.RKNN.config, load_onnx and build as flags, or a yml file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "registers/board_model.h"
#include "rknn/model_options.h"
#include "toolkit/convert_file.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = with_model_options({
    {"--output", "-o", "FILE", "the .rknn file to write; default: the model's name with .rknn"},
    {"--config", "-i", "FILE.yml", "take model and options from an rknn_convert yml file"},
    {"--report", "", "[FILE.html]",
     "list each node as NPU, CPU or unsupported, with the row that decided"},
    {"--for-board", "", "",
     "write register lists too, and say of each layer whether it has one (docs/on-a-board.md)"},
});

// What a yml file says; flags come after it and win.
Status read_yml_file(const std::string& path, ConvertRequest& request) {
  RK_ASSIGN(toolkit::ConvertFile file, toolkit::read_convert_file(path));
  request.format = std::move(file.platform);
  request.model = std::move(file.paths);
  if (!file.name.empty()) request.output = file.name + ".rknn";
  request.config = std::move(file.config);
  request.load = std::move(file.load);
  request.build = std::move(file.build);
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

// One line for each layer.
Status write_for_board(const program::Program& program, const registers::BoardOptions& options,
                       const std::string& path) {
  std::vector<registers::LayerReport> layers;
  RK_ASSIGN(const std::vector<uint8_t> bytes,
            registers::write_board_file(program, &layers, options));
  RK_TRY(write_file(path, bytes, Durability::kPower));
  size_t absent = 0;
  for (const registers::LayerReport& layer : layers) {
    absent += layer.form == registers::LayerForm::kAbsent;
    std::printf("%-10s %3zu tasks  %-16s %s%s%s\n",
                std::string(registers::form_name(layer.form)).c_str(), layer.tasks,
                layer.type.c_str(), layer.name.c_str(), layer.why.empty() ? "" : ": ",
                layer.why.c_str());
  }
  if (absent != 0) {
    std::printf("%zu of %zu layers have no register list: a board cannot run this file\n", absent,
                layers.size());
  }
  return ok_status();
}

}  // namespace

Status convert_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn convert MODEL [WEIGHTS] -t CHIP [--dataset FILE | --float] [options]\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  ConvertRequest request;
  if (args.has("--config")) RK_TRY(read_yml_file(args.get("--config"), request));
  RK_TRY(read_model_options(args, request));
  if (args.has("--dataset") && !args.has("--float")) request.build.do_quantization = true;
  request.output = args.get("--output", request.output);
  if (request.build.do_quantization && request.build.dataset.empty()) {
    return invalid_argument(
        "give --dataset FILE to quantize to int8, or --float for a float16 model");
  }
  if (request.output.empty()) {
    request.output = std::filesystem::path(request.model[0]).replace_extension(".rknn").string();
  }
  for (const std::string& file : request.model) {
    if (!is_same_file(file, request.output)) continue;
    return invalid_argument(
        str("--output '", request.output, "' is the model itself; give another name to keep it"));
  }
  request.build.progress = show_progress;

  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  RK_TRY(toolkit.build(request.build));
  if (args.has("--for-board")) {
    if (request.config.remove_weight)
      return invalid_argument(
          "--for-board does not go with remove_weight: lists name every weight");
    const registers::BoardOptions options{.compress_weight = request.config.compress_weight};
    RK_TRY(write_for_board(toolkit.program(), options, request.output));
  } else {
    RK_TRY(toolkit.export_rknn(request.output));
  }
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
