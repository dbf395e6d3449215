// SPDX-License-Identifier: Apache-2.0
// rknn compare: the built model against the float model over a whole dataset, with labels or without; or the float
// model against outputs saved from the original framework.
#include <cstdio>

#include "rknn/model_options.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = with_model_options({
    {"--over", "", "FILE", "list of the samples to compare on; default: the calibration set"},
    {"--labels", "", "FILE", "one class number per sample, text or .npy: also counts top-1"},
    {"--limit", "", "N", "only the first N samples"},
    {"--device", "", "HOST[:PORT]", "the built model runs on the device behind this rknn_server"},
    {"--golden", "", "FILE.npy", "an output saved from the original framework; repeat in order"},
    {"--input", "-i", "FILE", "with --golden: what that output was computed from"},
});

}  // namespace

Status compare_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn compare MODEL [WEIGHTS] -t CHIP --dataset FILE [--over FILE] [--labels FILE]\n"
        "       rknn compare MODEL [WEIGHTS] -t CHIP -i INPUT --golden OUT.npy\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  ConvertRequest request;
  RK_TRY(read_model_options(args, request));
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  if (args.has("--golden")) {
    RK_ASSIGN(const toolkit::SlipReport report,
              toolkit.find_slip(args.all("--input"), args.all("--golden")));
    std::fputs(toolkit::to_text(report).c_str(), stdout);
    return ok_status();
  }
  RK_TRY(toolkit.build(request.build));
  toolkit::CompareOptions options;
  options.dataset = args.get("--over", args.get("--dataset"));
  options.labels = args.get("--labels");
  options.device = args.get("--device");
  if (args.has("--limit")) {
    RK_ASSIGN(const auto limit, parse_ints("--limit", args.get("--limit")));
    if (limit.size() != 1 || limit[0] < 1)
      return invalid_argument("--limit takes a number above 0");
    options.limit = static_cast<size_t>(limit[0]);
  }
  RK_ASSIGN(const toolkit::CompareReport report, toolkit.compare(options));
  std::fputs(toolkit::to_text(report).c_str(), stdout);
  return ok_status();
}

}  // namespace rk::tools
