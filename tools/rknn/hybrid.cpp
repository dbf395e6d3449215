// SPDX-License-Identifier: Apache-2.0
// rknn hybrid step1|step2: hybrid quantisation with a configuration file to edit in between.
#include <cstdio>

#include "rknn/model_options.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kStep1Options = with_model_options({
    {"--output", "-o", "DIR", "where the three files go, default the current folder"},
    {"--proposal", "", "", "suggest layers to keep in float16; slow"},
    {"--proposal-samples", "", "N", "samples the suggestions are measured on, default 1"},
    {"--between", "", "IN,OUT", "keep the layers from tensor IN to tensor OUT in float16; repeat"},
});
const std::vector<OptionDef> kStep2Options = {
    {"--output", "-o", "FILE", "the .rknn file to write"},
    {"--help", "-h", "", "this text"},
};

Status step1(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kStep1Options));
  if (args.has("--help")) {
    std::printf("usage: rknn hybrid step1 MODEL [WEIGHTS] -t CHIP --dataset FILE\n%s",
                help_text(kStep1Options).c_str());
    return ok_status();
  }
  ConvertRequest request;
  RK_TRY(read_model_options(args, request));
  toolkit::HybridOptions hybrid;
  hybrid.dataset = request.build.dataset;
  hybrid.output_dir = args.get("--output", hybrid.output_dir);
  hybrid.proposal = args.has("--proposal");
  if (args.has("--proposal-samples")) {
    RK_ASSIGN(const auto count, parse_ints("--proposal-samples", args.get("--proposal-samples")));
    if (count.size() != 1 || count[0] < 1)
      return invalid_argument("--proposal-samples takes a number from 1");
    hybrid.proposal_dataset_size = static_cast<size_t>(count[0]);
  }
  for (const std::string& text : args.all("--between")) {
    const std::vector<std::string> names = split(text, ',');
    if (names.size() != 2) return invalid_argument("--between takes two tensor names: IN,OUT");
    hybrid.custom_hybrid.emplace_back(names[0], names[1]);
  }
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(request.config));
  RK_TRY(toolkit.load(request.model, request.format, request.load));
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
