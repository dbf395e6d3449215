// SPDX-License-Identifier: Apache-2.0
#include "frontends/file_kind.h"

#include <string_view>

namespace rk::frontends {
namespace {

struct Signature {
  size_t offset;
  std::string_view magic;
  std::string_view meaning;
};

constexpr Signature kSignatures[] = {
    {0, "RKNN", "it is an .rknn file, which is already converted; use load_rknn"},
    {4, "TFL3", "it is a TFLite model; use load_tflite"},
    {4, "ORTM", "it is an ONNX Runtime .ort file; convert the .onnx file it was made from"},
    {0, "PK\x03\x04",
     "it is a zip archive, as PyTorch's .pt and .pth are; use load_pytorch, or export to ONNX "
     "first"},
    {0, "\x80\x02", "it is a Python pickle, as old PyTorch .pth files are; export to ONNX first"},
    {0, "\x89HDF", "it is an HDF5 file, as Keras' .h5 is; export to ONNX first"},
    {0, "version https://git-lfs",
     "it is a Git LFS pointer, not the model itself; fetch the file with 'git lfs pull'"},
    {0, "\x1f\x8b", "it is compressed with gzip; unpack it first"},
    {0, "[net]", "it is a Darknet .cfg; use load_darknet"},
    {0, "<!DOCTYPE", "it is a web page, as a failed download leaves; fetch the model again"},
    {0, "<html", "it is a web page, as a failed download leaves; fetch the model again"},
};

}  // namespace

std::string recognize_other_than_onnx(ByteSpan bytes) {
  if (bytes.empty()) return "the file is empty";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Signature& signature : kSignatures) {
    if (text.size() >= signature.offset &&
        text.substr(signature.offset).starts_with(signature.magic)) {
      return std::string(signature.meaning);
    }
  }
  return {};
}

}  // namespace rk::frontends
