// SPDX-License-Identifier: Apache-2.0
// rknn: convert models to .rknn files, look into them, run them.
#include <cstdio>
#include <string>
#include <vector>

#include "base/version.h"
#include "rknn/commands.h"
#include "toolkit/option_table.h"

namespace {

struct Command {
  const char* name;
  rk::Status (*run)(const std::vector<std::string>& words);
  const char* doc;
};

constexpr Command kCommands[] = {
    {"advise", rk::tools::advise_command, "what to change so that a chip runs a model faster"},
    {"analyze", rk::tools::analyze_command, "what quantization costs, layer by layer"},
    {"bench", rk::tools::bench_command, "how long a model takes on this machine"},
    {"codegen", rk::tools::codegen_command, "a C++ project that runs a .rknn file"},
    {"compare", rk::tools::compare_command,
     "against the float model over a dataset, or against saved outputs"},
    {"convert", rk::tools::convert_command, "model file -> .rknn"},
    {"cost", rk::tools::cost_command, "frame rate, memory and dearest layers on chips, predicted"},
    {"device", rk::tools::device_command,
     "load and memory of the simulated NPU; devices at a distance"},
    {"edit", rk::tools::edit_command, "other shapes at the inputs and outputs of an ONNX model"},
    {"encrypt", rk::tools::encrypt_command, "a copy of a .rknn file that only runs"},
    {"hybrid", rk::tools::hybrid_command, "int8 with some layers in float16, in two steps"},
    {"info", rk::tools::info_command, "what a .rknn file holds"},
    {"lift", rk::tools::lift_command,
     ".rknn -> ONNX with quantization, to look at or convert again"},
    {"report", rk::tools::report_command,
     "one page to look at: graph, cost, memory, errors; or two builds compared"},
    {"run", rk::tools::run_command, "run a .rknn file on pictures or .npy arrays"},
    {"view", rk::tools::view_command, "the pages of report for a folder of models, in a browser"},
};

void print_usage(std::FILE* out) {
  std::fputs("usage: rknn <command> [options]; rknn <command> --help tells more\n", out);
  for (const Command& command : kCommands)
    std::fprintf(out, "  %-8s %s\n", command.name, command.doc);
}

int usage() {
  print_usage(stderr);
  return 2;
}

}  // namespace

namespace {

int run(int argc, char** argv) {
  const std::string program = argc > 0 ? argv[0] : "";
  if (program.ends_with("rknn_benchmark")) {
    const rk::Status status =
        rk::tools::benchmark_command(std::vector<std::string>(argv + 1, argv + argc));
    if (!status.ok()) std::fprintf(stderr, "rknn_benchmark: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
  }
  if (argc < 2) return usage();
  const std::string name = argv[1];
  if (name == "--version" || name == "-V") {
    std::printf("rknn %s (OpenRKNN %s)\n", RK_API_VERSION, RK_PROJECT_VERSION);
    return 0;
  }
  if (name == "--help" || name == "-h") {
    print_usage(stdout);
    return 0;
  }
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    const rk::Status status = command.run(std::vector<std::string>(argv + 2, argv + argc));
    if (status.ok()) return 0;
    const std::string flags = rk::toolkit::flags_for_keywords(status.message());
    std::fprintf(stderr, "rknn %s: %s%s\n", command.name, status.message().c_str(), flags.c_str());
    return 1;
  }
  return usage();
}

}  // namespace

// Whatever a library throws is an answer with a sentence, not an abort.
int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("rknn: the system has no memory left\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rknn: internal error: %s\n", error.what());
  }
  return 1;
}
