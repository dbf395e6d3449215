// SPDX-License-Identifier: Apache-2.0
// fuzz_replay TARGET FILE|FOLDER...: each file through one target, for a finding of libFuzzer in a debugger and for
// coverage. fuzz_replay --rknn GRAPH.txt OUT.rknn compiles a graph in text form, to make seeds of.
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "compiler/compile.h"
#include "format/writer.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "passes/pipeline.h"
#include "target/target.h"
#include "tests/fuzz/target.h"

namespace rk::fuzz {
namespace {

struct Target {
  const char* name;
  void (*run)(Bytes);
};
constexpr Target kTargets[] = {
#define RK_ENTRY(name) {#name, fuzz_##name},
    RK_FUZZ_TARGETS(RK_ENTRY)
#undef RK_ENTRY
};

Status compile_text(const std::string& from, const std::string& to) {
  RK_ASSIGN(const std::vector<uint8_t> text, read_file(from));
  RK_ASSIGN(Graph graph, parse_graph({reinterpret_cast<const char*>(text.data()), text.size()},
                                     ops::registry()));
  RK_ASSIGN(const target::Target* const chip, target::find_target("rk3588"));
  RK_TRY(passes::run_pipeline(graph, *chip, {}).status());
  compiler::CompileOptions options;
  for (const Value* input : graph.inputs())
    options.inputs.push_back({{}, {}, false, input->dtype()});
  RK_ASSIGN(const program::Program program, compiler::compile(graph, options));
  RK_ASSIGN(const std::vector<uint8_t> file, format::write_rknn(program));
  return write_file(to, file);
}

int replay(const Target& target, int count, char** paths) {
  size_t files = 0;
  const auto run = [&](const std::filesystem::path& path) {
    const auto bytes = read_file(path.string());
    if (!bytes.ok()) {
      std::fprintf(stderr, "fuzz_replay: %s\n", bytes.status().message().c_str());
      return;
    }
    target.run(*bytes);
    ++files;
  };
  for (int i = 0; i < count; ++i) {
    if (!std::filesystem::is_directory(paths[i])) {
      run(paths[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths[i])) {
      if (entry.is_regular_file()) run(entry.path());
    }
  }
  std::printf("%s: %zu files\n", target.name, files);
  return files > 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  set_log_level(0);
  if (argc == 4 && std::strcmp(argv[1], "--rknn") == 0) {
    const Status status = compile_text(argv[2], argv[3]);
    if (!status.ok()) std::fprintf(stderr, "fuzz_replay: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
  }
  for (const Target& target : kTargets) {
    if (argc > 2 && std::strcmp(argv[1], target.name) == 0)
      return replay(target, argc - 2, argv + 2);
  }
  std::fputs("usage: fuzz_replay TARGET FILE|FOLDER... | --rknn GRAPH.txt OUT.rknn; targets:",
             stderr);
  for (const Target& target : kTargets) std::fprintf(stderr, " %s", target.name);
  std::fputs("\n", stderr);
  return 2;
}

}  // namespace
}  // namespace rk::fuzz

int main(int argc, char** argv) { return rk::fuzz::main(argc, argv); }
