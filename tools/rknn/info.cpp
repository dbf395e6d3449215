// SPDX-License-Identifier: Apache-2.0
// rknn info: what a .rknn file holds, as text or JSON.
#include <cstdio>

#include "base/file.h"
#include "base/json.h"
#include "format/inspect.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--json", "", "", "everything, as JSON"},
    {"--tensors", "", "", "list every tensor, constants included"},
    {"--program", "", "", "append the compiled program: steps with their constants"},
    {"--help", "-h", "", "this text"},
};

}  // namespace

Status info_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn info FILE.rknn [options]\n%s", help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1)
    return invalid_argument("give one .rknn file; rknn info --help tells how");
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(args.words().front()));
  if (args.has("--json")) {
    RK_ASSIGN(const Json json, format::inspect_json(file));
    std::puts(write_json(json, 2).c_str());
    return ok_status();
  }
  RK_ASSIGN(const std::string text,
            format::inspect_text(file, {args.has("--tensors"), args.has("--program")}));
  std::fputs(text.c_str(), stdout);
  return ok_status();
}

}  // namespace rk::tools
