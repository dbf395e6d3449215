// SPDX-License-Identifier: Apache-2.0
// The table of formats, and what happens before and after any importer: reading files, telling mix-ups apart,
// saying which file a failure is about.
#include "frontends/model_source.h"

#include <limits>

#include "base/file.h"
#include "frontends/recognize.h"

namespace rk::frontends {

// Each lies in the folder of its format. CMake sets RK_FRONTEND_<FORMAT> to 1 or 0.
ImportFunction import_onnx_files, import_tflite_files, import_tensorflow_files, import_caffe_files,
    import_darknet_files, import_torchscript_files;

#define RK_WHEN_1(function) &(function)
#define RK_WHEN_0(function) nullptr
#define RK_WHEN_(on, function) RK_WHEN_##on(function)
#define RK_WHEN(on, function) RK_WHEN_(on, function)

namespace {

// clang-format off
const ModelSource kSources[] = {
    {"onnx", "an ONNX model", "RK_FRONTEND_ONNX", {{"model", ".onnx"}},
     is_onnx, RK_WHEN(RK_FRONTEND_ONNX, import_onnx_files)},
    {"tflite", "a TFLite model", "RK_FRONTEND_TFLITE", {{"model", ".tflite"}},
     is_tflite, RK_WHEN(RK_FRONTEND_TFLITE, import_tflite_files)},
    {"tensorflow", "a frozen TensorFlow graph", "RK_FRONTEND_TENSORFLOW", {{"tf_pb", ".pb"}},
     is_tensorflow, RK_WHEN(RK_FRONTEND_TENSORFLOW, import_tensorflow_files)},
    {"caffe", "a Caffe model", "RK_FRONTEND_CAFFE", 
     {{"model", ".prototxt", "prototxt_file_path"}, {"blobs", ".caffemodel", "caffemodel_file_path"}},
     is_caffe, RK_WHEN(RK_FRONTEND_CAFFE, import_caffe_files)},
    {"darknet", "a Darknet model", "RK_FRONTEND_DARKNET", 
     {{"model", ".cfg", "darknet_cfg_path"}, {"weight", ".weights", "darknet_weights_path"}},
     is_darknet, RK_WHEN(RK_FRONTEND_DARKNET, import_darknet_files)},
    {"pytorch", "a zip archive, as PyTorch's TorchScript files are", "RK_FRONTEND_TORCHSCRIPT", {{"model", ".pt"}},
     is_pytorch, RK_WHEN(RK_FRONTEND_TORCHSCRIPT, import_torchscript_files)},
};
// clang-format on

std::string format_list() {
  std::string out;
  for (const ModelSource& source : kSources) {
    out += str(out.empty() ? "'" : ", '", source.format, "'");
  }
  return out;
}

std::string part_list(const ModelSource& source) {
  std::string out;
  for (const FilePart& part : source.parts) {
    out += str(out.empty() ? "" : ", ", part.argument, " (", part.ending, ")");
  }
  return out;
}

Status check_file_count(const ModelSource& source, size_t found) {
  if (found == source.parts.size()) return ok_status();
  return invalid_argument(str(source.title, " has ", source.parts.size(),
                              source.parts.size() == 1 ? " file: " : " files: ", part_list(source),
                              "; ", found, found == 1 ? " was given" : " were given"));
}

}  // namespace

std::span<const ModelSource> model_sources() { return kSources; }

Result<const ModelSource*> find_source(std::string_view format) {
  for (const ModelSource& source : kSources) {
    if (source.format == format) return &source;
  }
  return invalid_argument(
      str("there is no model format '", format, "'; accepted are ", format_list()));
}

Result<const ModelSource*> recognize_source(ByteSpan bytes, std::string_view file_name) {
  const std::string no_model = recognize_no_model(bytes);
  if (!no_model.empty()) return invalid_argument(str("this is not a model: ", no_model));
  for (const ModelSource& source : kSources) {
    if (source.recognize(bytes, file_name)) return &source;
  }
  for (const ModelSource& source : kSources) {
    for (const FilePart& part : source.parts) {
      if (file_name.ends_with(part.ending)) return &source;
    }
  }
  return invalid_argument(
      str("its bytes and its ending do not tell which format it has; name one of ", format_list()));
}

std::string recognize_other(ByteSpan bytes, std::string_view file_name, std::string_view format) {
  if (std::string no_model = recognize_no_model(bytes); !no_model.empty()) return no_model;
  std::string other;
  for (const ModelSource& source : kSources) {
    if (!source.recognize(bytes, file_name)) continue;
    if (source.format == format) return {};
    if (other.empty()) other = str("it is ", source.title, "; use load_", source.format);
  }
  return other;
}

Result<Imported> import_files(std::span<const ModelFile> files, std::string_view format,
                              const ImportOptions& options, const OpRegistry& registry) {
  if (files.empty()) return invalid_argument("no model file was given");
  auto source =
      format.empty() ? recognize_source(files[0].bytes, files[0].path) : find_source(format);
  if (!source.ok()) return source.status();
  for (const ModelFile& file : files) {
    const std::string other = recognize_other(file.bytes, file.path, (*source)->format);
    if (other.empty()) continue;
    return invalid_model(str("this is not ", (*source)->title, ": ", other));
  }
  RK_TRY(check_file_count(**source, files.size()));
  if ((*source)->import == nullptr) {
    return unsupported(str("this library was built without the importer for ", (*source)->format,
                           "; configure with -D", (*source)->option, "=ON"));
  }
  return (*source)->import(files, options, registry);
}

Result<Imported> import_model(const std::vector<std::string>& paths, std::string_view format,
                              const ImportOptions& options, const OpRegistry& registry) {
  // A protobuf message and a flatbuffer end at 2 GiB; larger ONNX models keep their tensors in files of their own.
  constexpr uint64_t kLargestFile = std::numeric_limits<int32_t>::max();
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<ModelFile> files;
  for (const std::string& path : paths) {
    RK_ASSIGN(std::vector<uint8_t> content, read_file(path, kLargestFile));
    bytes.push_back(std::move(content));
  }
  for (size_t i = 0; i < paths.size(); ++i) files.push_back({paths[i], bytes[i]});
  auto imported = import_files(files, format, options, registry);
  if (!imported.ok() && !paths.empty()) {
    return imported.status().with_context(str("'", paths[0], "'"));
  }
  return imported;
}

}  // namespace rk::frontends
