// SPDX-License-Identifier: Apache-2.0
// rknn analyze: builds a model and compares every layer of it with the float model on one input.
#include <unistd.h>

#include <cstdio>

#include "rknn/model_options.h"
#include "toolkit/board.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = with_model_options({
    {"--input", "-i", "FILE", "picture or .npy to analyse on, one per model input, in order"},
    {"--output", "-o", "DIR", "golden/, simulator/, error_analysis.txt, report.html"},
    {"--board", "-d", "CHIP", "also as this (simulated) board runs the written file: runtime/"},
    {"--device", "", "HOST[:PORT]", "also as the device behind this rknn_server runs it: runtime/"},
});

// A bar on a terminal, silence in a pipe.
bool show_progress(size_t done, size_t total) {
  if (::isatty(STDERR_FILENO) != 0)
    std::fprintf(stderr, "\rAccuracyAnalysing %zu/%zu%s", done, total, done == total ? "\n" : "");
  return true;
}

}  // namespace

Status analyze_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn analyze MODEL [WEIGHTS] -t CHIP (--dataset FILE | --float) -i INPUT\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  ConvertRequest request;
  RK_TRY(read_model_options(args, request));
  if (args.has("--dataset") == args.has("--float"))
    return invalid_argument("give --dataset FILE to analyse the int8 model, or --float");
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  RK_TRY(toolkit.build(request.build));
  toolkit::AnalysisOptions options{.output_dir = args.get("--output"),
                                   .target = args.get("--board"),
                                   .progress = show_progress,
                                   .run_board = {}};
  if (args.has("--device")) {
    RK_ASSIGN(const remote::Device device, remote::find_device(args.get("--device")));
    if (options.target.empty()) options.target = toolkit.program().target;
    options.run_board = toolkit::run_on(device);
  }
  RK_ASSIGN(const analysis::AccuracyReport report,
            toolkit.accuracy_analysis(args.all("--input"), options));
  const auto color =
      ::isatty(STDOUT_FILENO) != 0 ? analysis::Color::kTerminal : analysis::Color::kNone;
  std::fputs(analysis::to_text(report, color).c_str(), stdout);
  return ok_status();
}

}  // namespace rk::tools
