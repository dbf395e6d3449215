// SPDX-License-Identifier: Apache-2.0
// rknn encrypt: a copy of a .rknn file that runs, but shows nothing.
#include <cstdio>
#include <cstdlib>

#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "toolkit/encrypt.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--output", "-o", "FILE.rknn", "the file to write (MODEL.crypt.rknn)"},
    {"--level", "-l", "N", "1 to 3: what each guess at the key costs (1)"},
    {"--key-file", "", "FILE", "a file that is the key; the passphrase is not used then"},
    {"--help", "-h", "", "this text"},
};

}  // namespace

Status encrypt_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn encrypt MODEL.rknn [options]\n%s\n"
        "The key is --key-file or RKNN_MODEL_KEY_FILE, or the passphrase in "
        "RKNN_MODEL_PASSPHRASE;\n"
        "without any of them it is one that every copy of this library has. Programs that load "
        "the\n"
        "file find its key by the same two variables.\n",
        help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1)
    return invalid_argument("give one .rknn file; see rknn encrypt --help");
  const std::string level = args.get("--level", "1");
  if (level.size() != 1 || level[0] < '1' || level[0] > '3')
    return invalid_argument(str("--level '", level, "', expected 1, 2 or 3"));
  format::ModelKeys keys = format::keys_of_environment();
  if (args.has("--key-file")) keys = {std::nullopt, args.get("--key-file")};
  RK_ASSIGN(
      const std::string written,
      toolkit::encrypt_file(args.words().front(), args.get("--output"), level[0] - '0', keys));
  std::printf("%s\n", written.c_str());
  return ok_status();
}

}  // namespace rk::tools
