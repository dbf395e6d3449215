// SPDX-License-Identifier: Apache-2.0
// Writes the small models that the C callers run: write_models FOLDER.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "format/writer.h"
#include "runtime/test_program.h"

namespace {

// Enough weights to be left out of a file: 64 channels to 32.
rk::program::Program heavy_program() {
  rk::runtime::TestProgram p;
  const int32_t in = p.input("x", {rk::DType::kI8, {1, 64, 4, 4}, 1.0f, 0});
  const int32_t out = p.output("y", {rk::DType::kI8, {1, 32, 4, 4}, 1.0f, 0});
  rk::runtime::TestProgram::IntegerConv conv;
  for (int i = 0; i < 64 * 32; ++i) conv.weights.push_back(static_cast<int8_t>(i * 7 % 5 - 2));
  conv.params.output.scale = {16384, 18};
  p.conv(in, out, {32, 64, 1, 1}, conv);
  return std::move(p.program);
}

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
  const bool written = write(folder + "picture.rknn", rk::runtime::picture_program()) &&
                       write(folder + "dynamic.rknn", rk::runtime::dynamic_picture_program()) &&
                       write(folder + "batch3.rknn", batch) &&
                       write(folder + "heavy.rknn", heavy_program()) &&
                       write(folder + "light.rknn", heavy_program(), {.remove_weight = true});
  return written ? 0 : 1;
}
