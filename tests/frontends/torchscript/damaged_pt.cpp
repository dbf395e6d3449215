// SPDX-License-Identifier: Apache-2.0
// damaged_pt FOLDER [COUNT]: damages the .pt files of a folder and gives each to the code of rknn-import-torchscript, in a
// process of its own with a time limit; what it answers is imported here. A crash or hang there is an error message for
// the user (src/frontends/torchscript/helper.cpp), here it would be one of the toolkit.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/log.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "tests/fuzz/mutate.h"

int import_torchscript(const char* model_path, const char* answer_path);

namespace rk::fuzz {
namespace {

constexpr uint64_t kSeed = 20261116;
constexpr int kSeconds = 20;

struct Counts {
  size_t refused = 0, answered = 0, crashed = 0, hung = 0, imported = 0;
};

// The exit status, or -1 when it was ended for taking too long.
int run_child(const std::string& model, const std::string& answer) {
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    _exit(import_torchscript(model.c_str(), answer.c_str()));
  }
  for (int waited = 0;; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    if (waited > kSeconds * 1000) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    usleep(1000);
  }
}

int run(const std::string& folder, size_t count) {
  std::vector<std::vector<uint8_t>> bases;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    auto bytes = read_file(path.string());
    if (bytes.ok()) bases.push_back(std::move(*bytes));
  }
  if (bases.empty()) {
    std::printf("no .pt files in %s\n", folder.c_str());
    return 1;
  }
  set_log_level(0);
  const std::string model = folder + "/damaged", answer = folder + "/answer";
  Counts counts;
  // Once here, so that libtorch's tables are made before the processes part.
  setenv("OMP_NUM_THREADS", "1", 1);
  if (import_torchscript(paths[0].c_str(), answer.c_str()) != 0) return 1;
  for (size_t i = 0; i < count; ++i) {
    Random random(kSeed + i);
    std::vector<uint8_t> file = bases[random.below(bases.size())];
    mutate(file, {0, file.size()}, false, random);
    std::filesystem::remove(answer);
    std::ofstream(model, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
    const int status = run_child(model, answer);
    if (status == -1) {
      ++counts.hung;
    } else if (WIFSIGNALED(status)) {
      ++counts.crashed;
    } else if (WEXITSTATUS(status) != 0) {
      ++counts.refused;
    } else {
      ++counts.answered;
      const auto bytes = read_file(answer);
      if (!bytes.ok()) continue;
      const frontends::ModelFile part{"", *bytes};
      frontends::ImportOptions options;
      options.input_shapes = {{1, 4, 9, 7}};
      if (frontends::import_files({&part, 1}, "pytorch", options, ops::registry()).ok())
        ++counts.imported;
    }
  }
  std::printf(
      "FIGURE damaged .pt files (seed %llu): crash or hang of the toolkit | 0 of %zu; libtorch "
      "refused %zu, "
      "answered %zu (%zu imported), crashed in its own process %zu, was ended after %d s %zu | 0 | "
      "ok\n",
      static_cast<unsigned long long>(kSeed), count, counts.refused, counts.answered,
      counts.imported, counts.crashed, kSeconds, counts.hung);
  return counts.refused > 0 && counts.answered > 0 ? 0 : 1;
}

}  // namespace
}  // namespace rk::fuzz

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return rk::fuzz::run(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20000);
}
