// SPDX-License-Identifier: Apache-2.0
#include "toolkit/codegen.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/npy.h"
#include "media/dataset.h"
#include "quant/samples.h"
#include "toolkit/simulator.h"

namespace rk::toolkit {
namespace {

namespace fs = std::filesystem;

struct ProjectFile {
  const char* path;
  const char* text;
};

// The files of codegen_project/ and rknn_api.h, made by CMakeLists.txt.
constexpr ProjectFile kFiles[] = {
#include "codegen_files.inc"
};

// Words between '@' in the project's files.
using Words = std::map<std::string, std::string>;

std::string replace_words(std::string text, const Words& words) {
  for (const auto& [name, value] : words) {
    const std::string mark = "@" + name + "@";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

// A name that CMake, a shell and C++ string literals take as it is.
std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.' ? c : '_';
  }
  if (out.empty() || std::isalnum(static_cast<unsigned char>(out[0])) == 0) out.insert(0, "m");
  return out;
}

// Names come from the model's file: nothing in them may end a table row or a line.
std::string markdown_name(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f || c == '|' || c == '`' ? '_' : c;
  }
  return out;
}

std::string numpy_kind(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kF16:
    case DType::kF64:
      return "f";
    case DType::kBool:
      return "b";
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return "u";
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return "i";
    default:
      return "";
  }
}

Result<std::vector<uint8_t>> npy_bytes(const Tensor& tensor) {
  const std::string kind = numpy_kind(tensor.dtype());
  if (kind.empty()) return unsupported(str("numpy has no type for ", to_string(tensor.dtype())));
  NpyArray array;
  array.kind = kind[0];
  array.item_size = static_cast<int>(byte_size(tensor.dtype()));
  array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  const ByteSpan bytes = tensor.bytes();
  array.bytes.assign(bytes.begin(), bytes.end());
  return encode_npy(array);
}

bool is_picture(const runtime::TensorAttr& attr) {
  return attr.format == runtime::TensorFormat::kNhwc && attr.dims.size() == 4;
}

Tensor to_nhwc(const Tensor& from) {
  const Shape& shape = from.shape();
  const int64_t channels = shape[1], pixels = shape[2] * shape[3];
  Tensor out = Tensor::make({from.dtype(), {shape[0], shape[2], shape[3], channels}});
  const auto item = static_cast<int64_t>(byte_size(from.dtype()));
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t i = 0; i < pixels; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        std::memcpy(out.mutable_data<uint8_t>() + ((n * pixels + i) * channels + c) * item,
                    from.data<uint8_t>() + ((n * channels + c) * pixels + i) * item,
                    static_cast<size_t>(item));
      }
    }
  }
  return out;
}

Result<Tensor> load_picture(const std::string& path, const runtime::TensorAttr& attr,
                            bool rgb2bgr) {
  if (!is_picture(attr)) {
    return invalid_argument(
        str("'", path, "': input '", attr.name, "' is not a picture; give an .npy file"));
  }
  RK_ASSIGN(const media::Picture picture,
            media::load_image_as(path, {.width = static_cast<int>(attr.dims[2]),
                                        .height = static_cast<int>(attr.dims[1]),
                                        .channels = static_cast<int>(attr.dims[3]),
                                        .rgb2bgr = rgb2bgr}));
  RK_ASSIGN(Tensor out, Tensor::try_make({DType::kU8, shape_of(attr)}));
  if (picture.pixels.size() * attr.dims[0] != out.size_bytes())
    return invalid_argument(str("'", path, "' does not have the ", attr.dims[3],
                                " channels of input '", attr.name, "'"));
  // A batch is the same picture several times.
  for (size_t n = 0; n < attr.dims[0]; ++n) {
    std::memcpy(out.mutable_data<uint8_t>() + n * picture.pixels.size(), picture.pixels.data(),
                picture.pixels.size());
  }
  return out;
}

// As the generated program feeds it: NHWC; uint8 or float32 where the model has real numbers, else the model's type.
Result<Tensor> prepare(const std::string& path, Tensor array, const runtime::TensorAttr& attr) {
  const Shape wanted = shape_of(attr);
  // An array is in the model's own order; the order that the C API shows is taken where only that fits.
  if (is_picture(attr) && array.shape() == nchw_of(wanted)) {
    array = to_nhwc(array);
  } else if (!(array.shape() == wanted)) {
    return invalid_argument(str("'", path, "' has shape ", to_string(array.shape()), ", input '",
                                attr.name, "' needs ",
                                to_string(is_picture(attr) ? nchw_of(wanted) : wanted)));
  }
  const bool real = attr.affine || is_float(attr.dtype);
  if (!real) return array.cast(attr.dtype);
  return array.dtype() == DType::kU8 ? array : array.cast(DType::kF32);
}

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

Result<std::vector<Tensor>> load_inputs(const CodegenOptions& options, Simulator& simulator) {
  if (options.inputs.size() != simulator.input_count()) {
    return invalid_argument(str("inputs has ", options.inputs.size(), " file(s), the model has ",
                                simulator.input_count(), " input(s)"));
  }
  // Several shapes: arrays choose. Pictures take what is chosen then, the largest without arrays.
  std::vector<Tensor> arrays(options.inputs.size());
  bool all_arrays = true;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!is_npy(options.inputs[i])) {
      all_arrays = false;
      continue;
    }
    RK_ASSIGN(arrays[i], quant::load_npy_tensor(options.inputs[i]));
  }
  for (const bool nchw : {false, true}) {
    if (!simulator.dynamic() || !all_arrays) break;
    std::vector<Feed> feeds;
    for (const Tensor& array : arrays)
      feeds.push_back({{array.dtype(), array.shape(), nullptr, 0}, nchw, false});
    RK_TRY(simulator.choose_shapes(feeds));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const runtime::TensorAttr attr = simulator.input_attr(i);
    if (is_npy(options.inputs[i])) {
      RK_ASSIGN(arrays[i], prepare(options.inputs[i], arrays[i], attr));
    } else {
      const std::vector<bool>& swap = options.rgb2bgr;
      const bool bgr = !swap.empty() && swap[i < swap.size() ? i : 0];
      RK_ASSIGN(arrays[i], load_picture(options.inputs[i], attr, bgr));
      RK_ASSIGN(arrays[i], prepare(options.inputs[i], arrays[i], attr));
    }
  }
  return arrays;
}

Result<std::vector<Tensor>> simulate(Simulator& simulator, std::vector<Tensor>& inputs) {
  std::vector<Feed> feeds;
  for (Tensor& input : inputs) {
    feeds.push_back(
        {{input.dtype(), input.shape(), input.mutable_data<uint8_t>(), input.size_bytes()},
         false,
         false});
  }
  RK_TRY(simulator.choose_shapes(feeds));
  std::vector<Tensor> outputs;
  std::vector<ArrayRef> refs;
  for (size_t i = 0; i < simulator.output_count(); ++i) {
    RK_ASSIGN(Tensor output, Tensor::try_make(simulator.output_type(i)));
    outputs.push_back(std::move(output));
    Tensor& last = outputs.back();
    refs.push_back({last.dtype(), last.shape(), last.mutable_data<uint8_t>(), last.size_bytes()});
  }
  RK_TRY(simulator.run(feeds, refs));
  return outputs;
}

std::string tensor_line(const runtime::TensorAttr& attr) {
  const Shape shape = shape_of(attr);
  return str("- `", markdown_name(attr.name), "`: ", to_string(shape), " ",
             runtime::to_string(attr.format), ", ", to_string(attr.dtype),
             attr.affine && !is_float(attr.dtype)
                 ? str(", scale ", attr.scale, ", zero point ", attr.zero_point)
                 : std::string(),
             "\n");
}

struct File {
  std::string path;
  std::vector<uint8_t> bytes;
};

Status write_files(const fs::path& folder, const std::vector<File>& files) {
  for (const File& file : files) {
    const fs::path path = folder / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return io_error(
          str("cannot make folder '", path.parent_path().string(), "': ", error.message()));
    }
    RK_TRY(write_file(path.string(), file.bytes));
    if (!file.path.ends_with(".sh")) continue;
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, error);
    if (error) return io_error(str("cannot change '", path.string(), "': ", error.message()));
  }
  return ok_status();
}

}  // namespace

Result<CodegenResult> codegen(const CodegenOptions& options) {
  if (options.output_path.empty())
    return invalid_argument("output_path is empty: the folder to write");
  const fs::path folder = fs::path(options.output_path).lexically_normal();
  CodegenResult result;
  std::error_code error;
  if (fs::exists(folder, error)) {
    if (!fs::is_directory(folder, error))
      return invalid_argument(str("output_path '", options.output_path, "' is not a folder"));
    result.skipped = !options.overwrite;
    if (result.skipped) return result;
  }
  RK_ASSIGN(std::vector<uint8_t> model, read_file(options.model));
  RK_ASSIGN(const std::unique_ptr<Simulator> simulator, Simulator::create(ByteSpan(model), {}));

  const std::string model_name = plain_name(fs::path(options.model).stem().string()) + ".rknn";
  // "out/" has an empty last name.
  const fs::path last = folder.has_filename() ? folder : folder.parent_path();
  result.project = plain_name(last.filename().string());
  std::ranges::replace(result.project, '.', '_');
  // Names that CMake keeps for itself.
  if (result.project == "test" || result.project == "all" || result.project == "install" ||
      result.project == "clean" || result.project == "help") {
    result.project += "_demo";
  }
  std::vector<File> files;
  Words words = {{"PROJECT", result.project},
                 {"MODEL", model_name},
                 {"CHIP", std::string(simulator->chip())},
                 {"SEVERAL_SHAPES", simulator->dynamic() ? "true" : "false"}};
  words["COMPARISON"] =
      "There are no saved inputs, so nothing is compared: codegen(inputs=[...]) saves some.";
  if (!options.inputs.empty()) {
    RK_ASSIGN(std::vector<Tensor> inputs, load_inputs(options, *simulator));
    RK_ASSIGN(const std::vector<Tensor> outputs, simulate(*simulator, inputs));
    const auto save = [&](const std::string& stem, const std::vector<Tensor>& tensors,
                          std::string& list) -> Status {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const std::string path = str("data/", stem, "_", i, ".npy");
        RK_ASSIGN(std::vector<uint8_t> bytes, npy_bytes(tensors[i]));
        files.push_back({path, std::move(bytes)});
        list += str("\"", path, "\", ");
      }
      return ok_status();
    };
    RK_TRY(save("input", inputs, words["INPUT_FILES"]));
    RK_TRY(save("simulator_output", outputs, words["OUTPUT_FILES"]));
    words["COMPARISON"] =
        "With the saved inputs it ends with the cosine of each output and the simulator's, and one "
        "line that says\n"
        "whether they agree; the program returns 1 if they do not.";
  } else {
    words["INPUT_FILES"] = words["OUTPUT_FILES"] = "";
  }
  for (size_t i = 0; i < simulator->input_count(); ++i)
    words["INPUTS"] += tensor_line(simulator->input_attr(i));
  for (size_t i = 0; i < simulator->output_count(); ++i)
    words["OUTPUTS"] += tensor_line(simulator->output_attr(i));
  for (const ProjectFile& file : kFiles) {
    const std::string text = replace_words(file.text, words);
    files.push_back({file.path, {text.begin(), text.end()}});
  }
  files.push_back({"model/" + model_name, std::move(model)});
  RK_TRY(write_files(folder, files));
  return result;
}

}  // namespace rk::toolkit
