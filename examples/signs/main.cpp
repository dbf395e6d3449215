// SPDX-License-Identifier: Apache-2.0
// The whole way once: convert the detector to int8 for rk3588, run the file through the C API as a
// board application would, draw what it finds, and score it against the float network.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "media/picture.h"
#include "rknn_api.h"
#include "signs/detection.h"
#include "signs/drawing.h"
#include "toolkit/rknn_toolkit.h"

namespace signs {
namespace {

using rk::Result;
using rk::Status;
using rk::media::Picture;

constexpr size_t kShown = 6;  // pictures in the table and in the drawing
constexpr float kShownScore = 0.5f;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct TestSet {
  std::vector<Picture> pictures;
  std::vector<std::vector<Object>> objects;
};

Result<TestSet> load_test_set(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "test", error)) {
    paths.push_back(entry.path().string());
  }
  if (error) return rk::io_error(rk::str("cannot list '", (folder / "test").string(), "'"));
  std::ranges::sort(paths);  // named 000.jpg, 001.jpg, ... as in labels.txt
  TestSet out;
  for (const std::string& path : paths) {
    RK_ASSIGN(Picture picture, rk::media::read_picture(path, rk::media::Color::kRgb));
    out.pictures.push_back(std::move(picture));
  }
  RK_ASSIGN(out.objects, read_labels((folder / "labels.txt").string(), out.pictures.size()));
  return out;
}

// The network wants RGB / 255; mean and std say so and become part of the file.
Result<rk::toolkit::Toolkit> convert(const std::filesystem::path& folder, const std::string& file) {
  rk::toolkit::Toolkit toolkit;
  rk::toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {{0, 0, 0}};
  config.std_values = {{255, 255, 255}};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx((folder / "signs.onnx").string()));
  rk::toolkit::BuildOptions build;
  build.do_quantization = true;
  build.dataset = (folder / "dataset.txt").string();
  RK_TRY(toolkit.build(build));
  RK_TRY(toolkit.export_rknn(file));
  return toolkit;
}

Status check(int code, const char* call) {
  if (code == RKNN_SUCC) return rk::ok_status();
  return Status(rk::Code::kUnavailable, rk::str(call, " returned ", code));
}

// One context, ended with the object.
struct Model {
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    if (context != 0) rknn_destroy(context);
  }
  rknn_context context = 0;
};

// uint8 NHWC picture in, three float heads out.
Result<std::vector<Detection>> detect(const Model& model, const Picture& picture) {
  rknn_input input{};
  input.index = 0;
  input.buf = const_cast<uint8_t*>(picture.pixels.data());  // the C struct has no const
  input.size = static_cast<uint32_t>(picture.pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  RK_TRY(check(rknn_inputs_set(model.context, 1, &input), "rknn_inputs_set"));
  RK_TRY(check(rknn_run(model.context, nullptr), "rknn_run"));
  std::array<rknn_output, 3> outputs{};
  for (rknn_output& output : outputs) output.want_float = 1;
  RK_TRY(check(rknn_outputs_get(model.context, outputs.size(), outputs.data(), nullptr),
               "rknn_outputs_get"));
  Heads heads;
  for (size_t k = 0; k < heads.size(); ++k) {
    heads[k] = {static_cast<const float*>(outputs[k].buf), outputs[k].size / sizeof(float)};
  }
  auto detections = decode(heads);
  RK_TRY(check(rknn_outputs_release(model.context, outputs.size(), outputs.data()),
               "rknn_outputs_release"));
  return detections;
}

// The same with the float network: pictures go in as NCHW floats, before mean and std.
Result<std::vector<Detection>> detect_float(const rk::toolkit::Toolkit& toolkit,
                                            const Picture& picture) {
  rk::Tensor input = rk::Tensor::make({rk::DType::kF32, {1, 3, picture.height, picture.width}});
  const size_t plane = picture.pixels.size() / 3;
  float* const to = input.mutable_data<float>();
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    to[i % 3 * plane + i / 3] = picture.pixels[i];
  }
  RK_ASSIGN(const std::vector<rk::Tensor> outputs, toolkit.golden({input}));
  if (outputs.size() != 3) return rk::invalid_argument("the network does not have three heads");
  return decode({outputs[0].span<float>(), outputs[1].span<float>(), outputs[2].span<float>()});
}

void print_table(const std::vector<std::vector<Detection>>& detections) {
  std::printf("\n  picture   class      score   left    top  width height\n");
  for (size_t i = 0; i < detections.size(); ++i) {
    for (const Detection& found : detections[i]) {
      if (found.score < kShownScore) continue;
      const Box& box = found.box;
      std::printf("  %03zu.jpg   %-9s  %5.2f  %5.0f  %5.0f  %5.0f  %5.0f\n", i,
                  class_name(found.cls).data(), found.score, box.cx - box.w / 2, box.cy - box.h / 2,
                  box.w, box.h);
    }
  }
}

Status run_demo(const std::filesystem::path& data, const std::filesystem::path& out) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) return rk::io_error(rk::str("cannot make folder '", out.string(), "'"));
  const std::string model_file = (out / "signs.rknn").string();
  const std::string picture_file = (out / "detections.png").string();

  RK_ASSIGN(const TestSet test, load_test_set(data));
  auto start = std::chrono::steady_clock::now();
  RK_ASSIGN(const rk::toolkit::Toolkit toolkit, convert(data, model_file));
  std::printf("converted signs.onnx to int8 for rk3588 in %.1f s\n", seconds_since(start));

  Model model;
  std::string path = model_file;  // rknn_init takes a pointer to non-const
  RK_TRY(check(rknn_init(&model.context, path.data(), 0, 0, nullptr), "rknn_init"));
  rknn_sdk_version version{};
  RK_TRY(check(rknn_query(model.context, RKNN_QUERY_SDK_VERSION, &version, sizeof version),
               "rknn_query"));
  std::printf("runtime %s\n", version.api_version);

  start = std::chrono::steady_clock::now();
  std::vector<std::vector<Detection>> found;
  for (const Picture& picture : test.pictures) {
    RK_ASSIGN(auto detections, detect(model, picture));
    found.push_back(std::move(detections));
  }
  const double per_picture_ms = 1000 * seconds_since(start) / static_cast<double>(found.size());

  const size_t shown = std::min(kShown, found.size());
  print_table({found.begin(), found.begin() + static_cast<int64_t>(shown)});
  std::vector<Picture> drawn(test.pictures.begin(),
                             test.pictures.begin() + static_cast<int64_t>(shown));
  for (size_t i = 0; i < shown; ++i) draw_detections(drawn[i], found[i], kShownScore);
  RK_TRY(rk::media::write_png(picture_file, mosaic(drawn, 3)));

  std::vector<std::vector<Detection>> found_float;
  for (const Picture& picture : test.pictures) {
    RK_ASSIGN(auto detections, detect_float(toolkit, picture));
    found_float.push_back(std::move(detections));
  }
  std::printf("\n  mAP@0.5 on %zu pictures: float %.3f, int8 %.3f (int8: %.1f ms a picture)\n",
              test.pictures.size(), mean_average_precision(found_float, test.objects),
              mean_average_precision(found, test.objects), per_picture_ms);
  std::printf("\nmodel    %s\npicture  %s\n", model_file.c_str(), picture_file.c_str());
  return rk::ok_status();
}

}  // namespace
}  // namespace signs

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s examples/signs OUTPUT_FOLDER\n", argv[0]);
    return 2;
  }
  const rk::Status status = signs::run_demo(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "signs_demo: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
