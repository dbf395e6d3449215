// SPDX-License-Identifier: Apache-2.0
// rknn edit: other shapes at the inputs and outputs of an ONNX model, by formulas.
#include <cstdio>

#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "toolkit/onnx_edit.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--output", "-o", "FILE.onnx", "the model to write"},
    {"--input", "-i", "NAME=FORMULA", "e.g. x=a,b,c->a,b,1,c; may be repeated"},
    {"--output-formula", "-f", "NAME=FORMULA", "the same for an output"},
    {"--dataset", "", "FILE", "also write dataset_for_<stem>.txt with arrays of the new shapes"},
    {"--help", "-h", "", "this text"},
};

// A size in [ ] has '=' too, so the first one ends the name.
Result<Json> read_formulas(const Arguments& args, std::string_view option) {
  Json out = Json::object();
  for (const std::string& text : args.all(option)) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return invalid_argument(str(option, " ", text, ": expected NAME=FORMULA"));
    out.set(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

}  // namespace

Status edit_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn edit MODEL.onnx -o EDITED.onnx -i NAME=FORMULA -f NAME=FORMULA\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1 || !args.has("--output"))
    return invalid_argument("give one model and -o; rknn edit --help tells how");
  RK_ASSIGN(const Json inputs, read_formulas(args, "--input"));
  RK_ASSIGN(const Json outputs, read_formulas(args, "--output-formula"));
  Json options = Json::object({{"model", args.words().front()},
                               {"export_path", args.get("--output")},
                               {"inputs_transform", inputs},
                               {"outputs_transform", outputs}});
  if (args.has("--dataset")) options.set("dataset", args.get("--dataset"));
  RK_ASSIGN(const Json dataset, toolkit::edit_onnx(options));
  std::printf("%s\n", args.get("--output").c_str());
  if (dataset.as_string() != nullptr) std::printf("%s\n", dataset.as_string()->c_str());
  return ok_status();
}

}  // namespace rk::tools
