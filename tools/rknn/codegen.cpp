// SPDX-License-Identifier: Apache-2.0
// rknn codegen: a C++ project that runs one .rknn file.
#include "toolkit/codegen.h"

#include <cstdio>

#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--output", "-o", "DIR", "the project's folder"},
    {"--input", "-i", "FILE", "picture or .npy, one per model input, in order"},
    {"--overwrite", "", "", "also into a folder that exists"},
    {"--bgr", "", "", "feed pictures blue first"},
    {"--help", "-h", "", "this text"},
};

}  // namespace

Status codegen_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn codegen MODEL.rknn -o DIR [-i INPUT ...] [options]\n%s",
                help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1 || !args.has("--output"))
    return invalid_argument("give one .rknn file and -o; rknn codegen --help tells how");
  const std::string folder = args.get("--output");
  toolkit::CodegenOptions options;
  options.model = args.words().front();
  options.output_path = folder;
  options.inputs = args.all("--input");
  options.overwrite = args.has("--overwrite");
  if (args.has("--bgr")) options.rgb2bgr = {true};
  RK_ASSIGN(const toolkit::CodegenResult result, toolkit::codegen(options));
  if (result.skipped)
    return invalid_argument(str("'", folder, "' exists: --overwrite writes into it"));
  std::printf("%s: ./build-linux.sh builds the program, README.md tells more\n", folder.c_str());
  return ok_status();
}

}  // namespace rk::tools
