// SPDX-License-Identifier: Apache-2.0
// rknn cost: what a model would cost on chips, side by side. rknn advise: what to change. Both without calibration data
// and without a board.
#include <cstdio>

#include "rknn/model_options.h"
#include "target/target.h"
#include "toolkit/advice.h"
#include "toolkit/board_cost.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = with_model_options({
    {"--cores", "", "N", "NPU cores that share the frame; default: 1, as published rates are"},
    {"--mhz", "", "N", "NPU clock; default: the chip's highest"},
    {"--dearest", "", "N", "layers to list; default: 5"},
    {"--csv", "", "", "one line per chip"},
    {"--layers", "", "", "one line per chip and layer, as CSV"},
    {"--calibrate", "", "FILE.csv",
     "your measurements: chip,type,predicted_us,measured_us; type as --layers says, or * for "
     "frames"},
});

const std::vector<OptionDef> kAdviseOptions = with_model_options({
    {"--all", "", "", "every item; default: the 20 that gain most"},
});

Result<int> number(const Arguments& args, const char* option, int otherwise) {
  if (!args.has(option)) return otherwise;
  RK_ASSIGN(const auto values, parse_ints(option, args.get(option)));
  if (values.size() != 1 || values[0] < 1 || values[0] > 100000)
    return invalid_argument(str(option, " ", args.get(option), ": expected one number from 1 on"));
  return static_cast<int>(values[0]);
}

}  // namespace

namespace {

// A command's words with `chips` taken out of -t, which takes one.
std::vector<std::string> with_one_chip(const std::vector<std::string>& words,
                                       const std::string& chip) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-t" || words[i] == "--target" || words[i] == "--target-platform") {
      ++i;
    } else if (!words[i].starts_with("--target=") && !words[i].starts_with("--target-platform=")) {
      rest.push_back(words[i]);
    }
  }
  rest.insert(rest.end(), {"-t", chip});
  return rest;
}

// Ranges are made up, so no dataset is needed.
Status read_request(const Arguments& args, ConvertRequest& request) {
  RK_TRY(read_model_options(args, request));
  request.build.do_quantization = !args.has("--float");
  request.build.assumed_ranges = true;
  return ok_status();
}

}  // namespace

Status cost_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments parsed, Arguments::parse(words, kOptions));
  if (parsed.has("--help")) {
    std::printf("usage: rknn cost MODEL -t CHIP[,CHIP...] [--float] [options]\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  std::vector<std::string> chips = split(parsed.get("--target"), ',');
  if (chips.empty())
    for (const target::Target* target : target::all_targets()) chips.emplace_back(target->name);
  RK_ASSIGN(const Arguments args, Arguments::parse(with_one_chip(words, chips.front()), kOptions));
  ConvertRequest request;
  RK_TRY(read_request(args, request));
  RK_ASSIGN(const int cores, number(args, "--cores", 1));
  RK_ASSIGN(const int mhz, number(args, "--mhz", 0));
  RK_ASSIGN(const int dearest, number(args, "--dearest", 5));
  toolkit::Calibration calibration;
  if (args.has("--calibrate")) {
    RK_ASSIGN(calibration, toolkit::read_calibration(args.get("--calibrate")));
  }
  toolkit::Toolkit toolkit;
  std::vector<toolkit::BoardCost> costs;
  for (const std::string& chip : chips) {
    request.config.target_platform = chip;
    RK_TRY(toolkit.config(request.config));
    if (costs.empty()) RK_TRY(toolkit.load(request.model, request.format, request.load));
    RK_TRY(toolkit.build(request.build).with_context(chip));
    RK_ASSIGN(toolkit::BoardCost cost, toolkit::board_cost(toolkit.program(), {cores, mhz}));
    toolkit::calibrate(calibration, cost);
    costs.push_back(std::move(cost));
  }
  const std::string text = args.has("--layers") ? toolkit::layers_csv(costs)
                           : args.has("--csv")
                               ? toolkit::to_csv(costs)
                               : toolkit::side_by_side(costs, static_cast<size_t>(dearest));
  std::fputs(text.c_str(), stdout);
  return ok_status();
}

Status advise_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kAdviseOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn advise MODEL -t CHIP [--float] [options]\n%s",
                help_text(kAdviseOptions).c_str());
    return ok_status();
  }
  ConvertRequest request;
  RK_TRY(read_request(args, request));
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
  RK_TRY(toolkit.build(request.build));
  RK_ASSIGN(const target::Target* const target, target::find_target(toolkit.program().target));
  const auto report = toolkit::advise(*target, toolkit.program().main_variant());
  std::fputs(toolkit::to_text(report, args.has("--all") ? SIZE_MAX : 20).c_str(), stdout);
  return ok_status();
}

}  // namespace rk::tools
