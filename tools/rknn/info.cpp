// SPDX-License-Identifier: Apache-2.0
// rknn info: what a .rknn file holds, as text or JSON; or how two files differ.
#include <cstdio>

#include "base/file.h"
#include "base/json.h"
#include "format/inspect.h"
#include "format/inspect_vendor.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "target/operator_table.h"
#include "toolkit/option_table.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--json", "", "", "everything, as JSON"},
    {"--tensors", "", "", "list every tensor, constants included"},
    {"--program", "", "", "append the compiled program: steps with their constants"},
    {"--registers", "", "", "append the register lists, decoded by name"},
    {"--sizes", "", "", "only: what the file's bytes are spent on"},
    {"--diff", "", "", "only: how two files differ"},
    {"--options", "", "",
     "the options of config, load_onnx, build and hybrid quantization, as docs/options.md"},
    {"--operators", "", "", "without a file: every chip's operators and limits, in Markdown"},
    {"--help", "-h", "", "this text"},
};

Status print_diff(const Arguments& args) {
  if (args.words().size() != 2) return invalid_argument("give two .rknn files to --diff");
  RK_ASSIGN(const std::vector<uint8_t> a, read_file(args.words()[0]));
  RK_ASSIGN(const std::vector<uint8_t> b, read_file(args.words()[1]));
  if (args.has("--json")) {
    RK_ASSIGN(const Json json, format::diff_json(a, b));
    std::puts(write_json(json, 2).c_str());
    return ok_status();
  }
  RK_ASSIGN(const std::string text, format::diff_text(a, b));
  std::fputs(text.c_str(), stdout);
  return ok_status();
}

Status print_json(const std::vector<uint8_t>& file, const Arguments& args) {
  Json json;
  if (args.has("--sizes")) {
    RK_ASSIGN(json, format::sizes_json(file));
  } else {
    RK_ASSIGN(json, format::inspect_json(file));
    RK_ASSIGN(Json tasks, format::tasks_json(file));
    json.set("tasks", std::move(tasks));
  }
  if (args.has("--registers")) {
    RK_ASSIGN(Json registers, format::registers_json(file));
    json.set("registers", std::move(registers));
  }
  std::puts(write_json(json, 2).c_str());
  return ok_status();
}

Status print_text(const std::vector<uint8_t>& file, const Arguments& args) {
  std::string text;
  if (args.has("--sizes")) {
    RK_ASSIGN(text, format::sizes_text(file));
  } else {
    RK_ASSIGN(text, format::inspect_text(file, {args.has("--tensors"), args.has("--program")}));
    RK_ASSIGN(const std::string tasks, format::tasks_text(file));
    text += tasks;
  }
  if (args.has("--registers")) {
    RK_ASSIGN(const std::string registers, format::registers_text(file));
    text += registers;
  }
  std::fputs(text.c_str(), stdout);
  return ok_status();
}

}  // namespace

Status info_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn info FILE.rknn [options]\n       rknn info --diff A.rknn B.rknn\n       rknn "
        "info --operators | --options\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.has("--operators")) {
    std::fputs(target::operators_markdown().c_str(), stdout);
    return ok_status();
  }
  if (args.has("--options")) {
    std::fputs(toolkit::option_table_page().c_str(), stdout);
    return ok_status();
  }
  if (args.has("--diff")) return print_diff(args);
  if (args.words().size() != 1)
    return invalid_argument("give one .rknn file; rknn info --help tells how");
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(args.words().front()));
  return args.has("--json") ? print_json(file, args) : print_text(file, args);
}

}  // namespace rk::tools
