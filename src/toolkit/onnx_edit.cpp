// SPDX-License-Identifier: Apache-2.0
#include "toolkit/onnx_edit.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/npy.h"
#include "frontends/onnx_edit.h"
#include "media/dataset.h"
#include "quant/samples.h"
#include "toolkit/options.h"

namespace rk::toolkit {
namespace {

using frontends::Transform;

// Equal apart from extents that the model leaves open.
bool fits(const std::vector<int64_t>& shape, const std::vector<int64_t>& model) {
  return std::ranges::equal(
      shape, model, [](int64_t found, int64_t extent) { return extent < 0 || found == extent; });
}

// The array with its dimensions split, reordered and merged.
Result<NpyArray> transformed(const NpyArray& array, const std::string& formula,
                             const Transform& model) {
  if (!fits(array.shape, model.left_dims)) {
    return invalid_argument(str("shape ", write_json(Json::array_of(array.shape)),
                                " is not the model's ",
                                write_json(Json::array_of(model.left_dims))));
  }
  RK_ASSIGN(const Transform t, frontends::parse_transform(formula, array.shape));
  const size_t rank = t.left_split.size();
  std::vector<int64_t> strides(rank, 1);  // of the split array, in elements
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * t.left_split[i];
  NpyArray out = array;
  out.shape = t.right_dims;
  std::vector<int64_t> index(rank, 0);  // in the order of the right side
  const auto size = static_cast<size_t>(array.item_size);
  for (size_t to = 0; to + size <= out.bytes.size(); to += size) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i)
      from += index[i] * strides[static_cast<size_t>(t.permutation[i])];
    std::memcpy(&out.bytes[to], &array.bytes[static_cast<size_t>(from) * size], size);
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < t.right_split[i]) break;
      index[i] = 0;
    }
  }
  return out;
}

// A picture as build() would feed it to the model before the edit, without mean and std: RGB, made to fit.
Result<NpyArray> picture_array(const std::string& file, const std::string& input,
                               const std::vector<int64_t>& dims) {
  const bool is_picture =
      dims.size() == 4 && std::ranges::all_of(dims, [](int64_t extent) { return extent > 0; });
  if (!is_picture) {
    return invalid_argument(str("'", file, "' is a picture, but input '", input, "' has shape ",
                                write_json(Json::array_of(dims)),
                                ", expected four known extents (N, C, H, W): give an .npy file"));
  }
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  RK_ASSIGN(const Tensor tensor, quant::load_input_file(file, input, {DType::kF32, shape}, {}));
  const auto values = tensor.span<float>();
  const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
  return NpyArray{'f', 4, dims, {bytes, bytes + values.size_bytes()}};
}

Result<std::string> edit_dataset(const std::string& path, const std::filesystem::path& model,
                                 const frontends::EditedModel& edited,
                                 const frontends::EditOptions& options) {
  RK_ASSIGN(const media::Dataset dataset, media::read_dataset(path));
  const std::string stem = "dataset_for_" + model.stem().string();
  const std::filesystem::path folder = model.parent_path() / stem;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return io_error(str("cannot make folder '", folder.string(), "': ", error.message()));
  std::string lines;
  for (const media::DatasetSample& sample : dataset.samples) {
    if (sample.files.size() != edited.input_names.size()) {
      return invalid_argument(str("'", path, "' line ", sample.line, " has ", sample.files.size(),
                                  " files, the model has ", edited.input_names.size(), " inputs"));
    }
    for (size_t i = 0; i < sample.files.size(); ++i) {
      std::string file = std::filesystem::absolute(sample.files[i].path).string();
      const auto it = edited.input_transforms.find(edited.input_names[i]);
      if (it != edited.input_transforms.end()) {
        RK_ASSIGN(const NpyArray array, sample.files[i].is_npy
                                            ? read_npy(file)
                                            : picture_array(file, it->first, it->second.left_dims));
        auto changed = transformed(array, options.inputs.at(it->first), it->second);
        if (!changed.ok()) return changed.status().with_context(file);
        const std::string name = str(sample.line, "_", i, ".npy");
        RK_TRY(write_npy((folder / name).string(), *changed));
        file = stem + "/" + name;
      }
      lines += (i == 0 ? "" : " ") + file;
    }
    lines += "\n";
  }
  const std::string out = (model.parent_path() / (stem + ".txt")).string();
  RK_TRY(write_file(out, {reinterpret_cast<const uint8_t*>(lines.data()), lines.size()}));
  return out;
}

}  // namespace

Result<Json> edit_onnx(const Json& options) {
  std::string model;
  std::string export_path;
  std::string dataset;
  frontends::EditOptions edit;
  OptionReader reader(options);
  reader.read("model", model);
  reader.read("export_path", export_path);
  reader.read("inputs_transform", edit.inputs);
  reader.read("outputs_transform", edit.outputs);
  reader.read("dataset", dataset);
  RK_TRY(reader.finish());
  if (export_path.empty())
    return invalid_argument("export_path is empty: the path of the file to write");
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(model));
  auto edited = frontends::edit_onnx(bytes, edit);
  if (!edited.ok()) return edited.status().with_context(model);
  const auto folder_of = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().parent_path();
  };
  if (edited->has_external_data && folder_of(model) != folder_of(export_path)) {
    return invalid_argument(
        str("'", model, "' has constants in files beside it: export_path has to be in folder '",
            folder_of(model).string(), "', not '", folder_of(export_path).string(), "'"));
  }
  RK_TRY(write_file(export_path, edited->bytes));
  if (dataset.empty()) return Json();
  RK_ASSIGN(const std::string path, edit_dataset(dataset, export_path, *edited, edit));
  return Json(path);
}

}  // namespace rk::toolkit
