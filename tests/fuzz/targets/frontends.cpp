// SPDX-License-Identifier: Apache-2.0
// Models of the formats beside ONNX. Two files are one input: u32 size of the first
// (little-endian), the first, the second.
#include "tests/fuzz/import_and_run.h"
#include "tests/fuzz/target.h"

namespace rk::fuzz {
namespace {

void one_file(Bytes bytes, std::string_view format) {
  const frontends::ModelFile file{"", bytes};
  (void)import_and_run({&file, 1}, format, {});
}

void two_files(Bytes bytes, std::string_view format) {
  ByteReader in(bytes);
  const auto size = in.read<uint32_t>();
  if (!size.ok() || *size > bytes.size() - sizeof(uint32_t)) return;
  const Bytes rest = bytes.subspan(sizeof(uint32_t));
  const frontends::ModelFile files[] = {{"", rest.first(*size)}, {"", rest.subspan(*size)}};
  (void)import_and_run(files, format, {});
}

}  // namespace

void fuzz_tflite(Bytes bytes) { one_file(bytes, "tflite"); }
void fuzz_tensorflow(Bytes bytes) { one_file(bytes, "tensorflow"); }
void fuzz_darknet(Bytes bytes) { two_files(bytes, "darknet"); }
void fuzz_caffe(Bytes bytes) { two_files(bytes, "caffe"); }

// The helper program's answer; it holds no shapes of inputs.
void fuzz_torchscript(Bytes bytes) {
  std::vector<uint8_t> answer = {'R', 'K', 'T', 'O', 'R', 'C', 'H', '1'};
  if (bytes.size() > answer.size()) answer.insert(answer.end(), bytes.begin() + 8, bytes.end());
  const frontends::ModelFile file{"", answer};
  frontends::ImportOptions options;
  for (int inputs = 1; inputs <= 3; ++inputs) {
    options.input_shapes.push_back({2, 3, 4});
    (void)import_and_run({&file, 1}, "pytorch", options);
  }
}

}  // namespace rk::fuzz
