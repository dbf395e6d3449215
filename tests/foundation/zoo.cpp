// SPDX-License-Identifier: Apache-2.0
#include "tests/foundation/zoo.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "media/picture.h"
#include "media/resize.h"
#include "quant/samples.h"

namespace rk::foundation {
namespace {

namespace fs = std::filesystem;

fs::path assets() {
  const char* given = std::getenv("RK_SHARED");
  return fs::path(given != nullptr ? given : std::string(RK_SOURCE_DIR) + "/../shared") / "assets";
}

Result<Json> read_json(const fs::path& path) {
  RK_ASSIGN(const auto bytes, read_file(path.string()));
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<float> floats(const Json* list) {
  std::vector<float> out;
  if (list == nullptr) return out;
  if (const auto number = list->as_double()) return {static_cast<float>(*number)};
  for (size_t i = 0; i < list->size(); ++i)
    out.push_back(static_cast<float>(*list->at(i)->as_double()));
  return out;
}

// A stored uint8 NHWC picture as the float tensor behind the golden, as load_golden.py makes it.
Result<Tensor> from_picture(const Tensor& raw, const Json& spec) {
  const Shape& s = raw.shape();
  const bool bgr = *spec.find("channel_order")->as_string() == "BGR";
  const std::vector<float> mean = floats(spec.find("mean")), std = floats(spec.find("std"));
  Tensor out = Tensor::make({DType::kF32, {s[0], s[3], s[1], s[2]}});
  const int64_t pixels = s[1] * s[2], channels = s[3];
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = [&](const std::vector<float>& list) {
      return list[static_cast<size_t>(c) < list.size() ? static_cast<size_t>(c) : 0];
    };
    for (int64_t i = 0; i < pixels; ++i) {
      const int64_t source = i * channels + (bgr ? channels - 1 - c : c);
      out.mutable_data<float>()[c * pixels + i] =
          (static_cast<float>(raw.at_f64(source)) - at(mean)) / at(std);
    }
  }
  return out;
}

Result<Tensor> picture_input(const Json& spec, const fs::path& folder) {
  RK_ASSIGN(const Tensor raw,
            quant::load_npy_tensor((folder / *spec.find("raw")->as_string()).string()));
  return from_picture(raw, spec);
}

Result<Tensor> stored(const Json& spec, const fs::path& folder) {
  if (spec.find("raw") != nullptr && spec.find("file") == nullptr)
    return picture_input(spec, folder);
  return quant::load_npy_tensor((folder / *spec.find("file")->as_string()).string());
}

// With a generator: elements drawn from the tensor's own, other noise of the same distribution. Without: all elements
// moved along by a third of their number.
Tensor rearranged(const Tensor& tensor, std::mt19937* random) {
  Tensor out = Tensor::make(tensor.type());
  const size_t item = byte_size(tensor.dtype());
  const auto count = static_cast<size_t>(tensor.elements());
  for (size_t i = 0; i < count; ++i) {
    const size_t from = (random != nullptr ? (*random)() : i + count / 3) % count;
    std::memcpy(out.mutable_data<uint8_t>() + i * item, tensor.bytes().data() + from * item, item);
  }
  return out;
}

constexpr int64_t kPictures = 16;

// The digits have a set to calibrate on.
Status add_digits(const Json& spec, ZooModel& out) {
  RK_ASSIGN(
      const Tensor all,
      quant::load_npy_tensor((assets() / "datasets" / "digits" / "calib_images.npy").string()));
  const int64_t height = all.shape()[1], width = all.shape()[2];
  for (int64_t i = 0; i < kPictures; ++i) {
    Tensor raw = Tensor::make({DType::kU8, {1, height, width, 1}});
    std::ranges::copy(
        all.bytes().subspan(static_cast<size_t>(i * height * width), raw.size_bytes()),
        raw.mutable_data<uint8_t>());
    RK_ASSIGN(Tensor input, from_picture(raw, spec));
    out.cases.push_back({str("digit_", i), "calib_images.npy", {std::move(input)}, {}});
  }
  return ok_status();
}

// Pictures of the folders the cases' own come from, without those.
Status add_pictures(const ZooModel& model, ZooModel& out) {
  RK_ASSIGN(const Json spec, parse_json(model.picture_form));
  if (model.cases.front().inputs.front().shape()[1] == 1) return add_digits(spec, out);
  std::vector<fs::path> files;
  for (const char* folder : {"faces", "coco"}) {
    for (const auto& entry : fs::directory_iterator(assets() / "images" / folder)) {
      const auto is_source = [&](const ZooCase& one) {
        return one.source.ends_with(entry.path().filename().string());
      };
      if (entry.path().extension() == ".jpg" && std::ranges::none_of(model.cases, is_source)) {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  const Shape& shape = model.cases.front().inputs.front().shape();
  for (size_t i = 0; i < std::min(files.size(), static_cast<size_t>(kPictures)); ++i) {
    RK_ASSIGN(const media::Picture picture,
              media::read_picture(files[i].string(), media::Color::kRgb));
    RK_ASSIGN(
        const media::Picture sized,
        media::resize_bilinear(picture, static_cast<int>(shape[3]), static_cast<int>(shape[2])));
    Tensor raw = Tensor::make({DType::kU8, {1, shape[2], shape[3], 3}});
    std::ranges::copy(sized.pixels, raw.mutable_data<uint8_t>());
    RK_ASSIGN(Tensor input, from_picture(raw, spec));
    out.cases.push_back({files[i].stem().string(), files[i].string(), {std::move(input)}, {}});
  }
  return ok_status();
}

}  // namespace

std::vector<std::string> zoo_names() {
  std::vector<std::string> out;
  const fs::path folder = assets() / "models" / "onnx";
  if (!fs::exists(folder)) {
    std::printf("SKIP models of other projects: ../shared is absent\n");
    return out;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "rk_dual_residual") continue;  // a custom operator: no engine for those yet
    out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

Result<ZooModel> load_zoo_model(const std::string& name) {
  ZooModel out;
  out.name = name;
  for (const auto& entry : fs::directory_iterator(assets() / "models" / "onnx" / name)) {
    if (entry.path().extension() == ".onnx") out.onnx = entry.path().string();
  }
  const fs::path folder = assets() / "goldens" / "onnx" / name;
  RK_ASSIGN(const Json root, read_json(folder / "golden.json"));
  for (const Json& entry : *root.find("cases")->as_array()) {
    ZooCase one;
    one.name = *entry.find("dir")->as_string();
    one.source = *entry.find("source")->as_string();
    for (const Json& spec : *entry.find("inputs")->as_array()) {
      RK_ASSIGN(Tensor tensor, stored(spec, folder / one.name));
      one.inputs.push_back(std::move(tensor));
      if (spec.find("raw") != nullptr && spec.find("file") == nullptr)
        out.picture_form = write_json(spec);
    }
    out.output_names.clear();
    for (const Json& spec : *entry.find("outputs")->as_array()) {
      RK_ASSIGN(Tensor tensor, stored(spec, folder / one.name));
      one.outputs.push_back(std::move(tensor));
      out.output_names.push_back(*spec.find("name")->as_string());
    }
    out.cases.push_back(std::move(one));
  }
  return out;
}

Result<ZooModel> calibration_set(const ZooModel& model) {
  ZooModel out = model;
  out.cases.clear();
  std::mt19937 random(20261116);
  for (const ZooCase& one : model.cases) {
    const bool noise = one.source.find("noise") != std::string::npos;
    if (!noise && !model.picture_form.empty()) continue;
    ZooCase other{str("other_", one.name), one.source, {}, {}};
    for (const Tensor& input : one.inputs) {
      other.inputs.push_back(rearranged(input, noise ? &random : nullptr));
    }
    out.cases.push_back(std::move(other));
  }
  if (!model.picture_form.empty()) RK_TRY(add_pictures(model, out));
  return out;
}

Result<std::string> write_calibration(const ZooModel& model) {
  const fs::path folder = fs::temp_directory_path() / str("rk_foundation_", model.name);
  fs::create_directories(folder);
  std::string list;
  for (const ZooCase& one : model.cases) {
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      const Tensor& tensor = one.inputs[i];
      NpyArray array;
      array.kind = is_float(tensor.dtype()) ? 'f' : 'i';
      array.item_size = static_cast<int>(byte_size(tensor.dtype()));
      array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
      array.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
      const std::string file = str(one.name, "_", i, ".npy");
      RK_TRY(write_npy((folder / file).string(), array));
      list += str(i == 0 ? "" : " ", "./", file);
    }
    list += "\n";
  }
  const std::string path = (folder / "dataset.txt").string();
  RK_TRY(write_file(path, {reinterpret_cast<const uint8_t*>(list.data()), list.size()}));
  return path;
}

}  // namespace rk::foundation
