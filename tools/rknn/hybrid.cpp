// SPDX-License-Identifier: Apache-2.0
// rknn hybrid step1|step2: hybrid quantization with a configuration file to edit in between.
#include <cstdio>

#include "rknn/model_options.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kStep1Options = with_model_options({}, ModelFlags::kHybrid);
const std::vector<OptionDef> kStep2Options = {
    {"--output", "-o", "FILE", "the .rknn file to write"},
    {"--help", "-h", "", "this text"},
};

Status step1(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kStep1Options));
  if (args.has("--help")) {
    std::printf("usage: rknn hybrid step1 MODEL.onnx -t CHIP --dataset FILE\n%s",
                help_text(kStep1Options).c_str());
    return ok_status();
  }
  if (args.words().empty()) return invalid_argument("no model given; --help says how");
  toolkit::Config config;
  toolkit::LoadOptions load;
  toolkit::HybridOptions hybrid;
  RK_TRY(read_flags(args, config));
  RK_TRY(read_flags(args, load));
  RK_TRY(read_flags(args, hybrid));
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load(args.words(), args.get("--format"), load));
  RK_ASSIGN(const toolkit::HybridFiles files, toolkit.hybrid_quantization_step1(hybrid));
  std::printf("%s\n%s\n%s\n", files.model.c_str(), files.data.c_str(), files.cfg.c_str());
  return ok_status();
}

Status step2(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kStep2Options));
  if (args.has("--help")) {
    std::printf("usage: rknn hybrid step2 X.model X.data X.quantization.cfg -o X.rknn\n%s",
                help_text(kStep2Options).c_str());
    return ok_status();
  }
  if (args.words().size() != 3 || !args.has("--output"))
    return invalid_argument("give the three files of step1 and -o FILE.rknn");
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.hybrid_quantization_step2({args.words()[0], args.words()[1], args.words()[2]}));
  return toolkit.export_rknn(args.get("--output"));
}

}  // namespace

Status hybrid_command(const std::vector<std::string>& words) {
  const std::string which = words.empty() ? "" : words.front();
  const std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (which == "step1") return step1(rest);
  if (which == "step2") return step2(rest);
  return invalid_argument("expected rknn hybrid step1 or rknn hybrid step2; --help tells more");
}

}  // namespace rk::tools
