// SPDX-License-Identifier: Apache-2.0
// Writes the small models that the C callers run: write_models FOLDER.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "format/writer.h"
#include "runtime/test_program.h"

namespace {

bool write(const std::string& path, const rk::program::Program& program,
           const rk::format::WriteOptions& options = {}) {
  const auto bytes = rk::format::write_rknn(program, options);
  const rk::Status status = bytes.ok() ? rk::write_file(path, *bytes) : bytes.status();
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", path.c_str(), status.message().c_str());
  return status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  rk::program::Program batch = rk::runtime::picture_program();
  batch.batch = 3;
  const bool written =
      write(folder + "picture.rknn", rk::runtime::picture_program()) &&
      write(folder + "dynamic.rknn", rk::runtime::dynamic_picture_program()) &&
      write(folder + "batch3.rknn", batch) &&
      write(folder + "heavy.rknn", rk::runtime::heavy_program(4)) &&
      write(folder + "light.rknn", rk::runtime::heavy_program(4), {.remove_weight = true});
  return written ? 0 : 1;
}
