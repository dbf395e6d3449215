// SPDX-License-Identifier: Apache-2.0
// rknn lift: a .rknn file back as an ONNX model, for looking at, comparing and converting again.
#include <cstdio>

#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "toolkit/program_graph.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--output", "-o", "FILE.onnx", "the model to write"},
    {"--help", "-h", "", "this text"},
};

}  // namespace

Status lift_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn lift MODEL.rknn -o MODEL.onnx\n%s", help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1 || !args.has("--output"))
    return invalid_argument("give one .rknn file and -o FILE.onnx; see rknn lift --help");
  RK_ASSIGN(const std::vector<std::string> notes,
            toolkit::lift_to_onnx(args.words().front(), args.get("--output")));
  std::printf("%s\n", args.get("--output").c_str());
  for (const std::string& note : notes) std::printf("  %s\n", note.c_str());
  return ok_status();
}

}  // namespace rk::tools
