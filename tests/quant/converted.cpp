// SPDX-License-Identifier: Apache-2.0
#include "tests/quant/converted.h"

#include <cmath>

namespace rk::quant_check {
namespace {

toolkit::Config config_of(const Settings& settings) {
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.quantized_algorithm = settings.algorithm;
  config.auto_hybrid_cos_thresh = settings.cos_thresh;
  config.optimization_level = settings.optimization_level;
  return config;
}

Result<Build> finish(toolkit::Toolkit toolkit, const std::string& dataset,
                     const Settings& settings) {
  toolkit::BuildOptions build;
  build.dataset = dataset;
  build.auto_hybrid = settings.auto_hybrid;
  RK_TRY(toolkit.build(build));
  RK_ASSIGN(const auto rknn, toolkit.rknn_bytes());
  RK_ASSIGN(auto model, foundation::AnyModel::load(rknn));
  return Build{std::move(toolkit), std::move(model)};
}

// One picture of one output.
double sqnr_db(std::span<const float> golden, std::span<const float> found) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    const double difference = double{golden[i]} - found[i];
    signal += double{golden[i]} * golden[i];
    noise += difference * difference;
  }
  return noise == 0 ? 200 : 10 * std::log10(signal / noise);
}

Closeness judged(std::span<const float> golden, std::span<const float> found,
                 const rknn_tensor_attr& attr) {
  double peak = 0, difference = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    peak = std::max(peak, std::fabs(double{golden[i]}));
    difference = std::max(difference, std::fabs(double{golden[i]} - found[i]));
  }
  if (attr.type == RKNN_TENSOR_INT8 && peak < 2 * double{attr.scale}) {
    return difference <= double{attr.scale} ? Closeness{} : Closeness{0, 0};
  }
  return {cosine(golden, found), sqnr_db(golden, found)};
}

void keep_worst(Worst& worst, const std::string& name, const Closeness& value) {
  const auto [it, is_new] = worst.emplace(name, value);
  it->second.cosine = std::min(it->second.cosine, value.cosine);
  it->second.sqnr_db = std::min(it->second.sqnr_db, value.sqnr_db);
}

}  // namespace

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa == 0 || bb == 0 ? (aa == bb ? 1 : 0) : dot / std::sqrt(aa * bb);
}

Result<Build> convert(const e2e::TestModel& model, const Settings& settings) {
  toolkit::Toolkit toolkit;
  toolkit::Config config = config_of(settings);
  if (!model.mean.empty()) config.mean_values = {model.mean};
  if (!model.std.empty()) config.std_values = {model.std};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(model.onnx));
  return finish(std::move(toolkit), model.dataset, settings);
}

Result<Build> convert(const foundation::ZooModel& model, const Settings& settings) {
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(config_of(settings)));
  toolkit::LoadOptions load;
  for (const Tensor& input : model.cases.front().inputs) {
    load.input_size_list.emplace_back(input.shape().dims().begin(), input.shape().dims().end());
  }
  RK_TRY(toolkit.load_onnx(model.onnx, load));
  RK_ASSIGN(const foundation::ZooModel others, foundation::calibration_set(model));
  RK_ASSIGN(const std::string dataset, foundation::write_calibration(others));
  return finish(std::move(toolkit), dataset, settings);
}

Result<Worst> judge(const e2e::TestModel& model, const Build& build) {
  Worst out;
  for (const media::Picture& picture : model.pictures) {
    const Tensor input = e2e::picture_tensor(picture);
    RK_ASSIGN(const auto golden, build.toolkit.golden({input}));
    RK_ASSIGN(const auto found, build.model.run_float({input}));
    for (size_t i = 0; i < golden.size(); ++i) {
      const rknn_tensor_attr attr = build.model.output_attr(static_cast<uint32_t>(i));
      keep_worst(out, attr.name, judged(golden[i].span<float>(), found[i], attr));
    }
  }
  return out;
}

Result<Worst> judge(const foundation::ZooModel& model, const Build& build) {
  Worst out;
  for (const foundation::ZooCase& one : model.cases) {
    RK_ASSIGN(const auto found, build.model.run_float(one.inputs));
    for (size_t i = 0; i < one.outputs.size(); ++i) {
      const rknn_tensor_attr attr = build.model.output_attr(static_cast<uint32_t>(i));
      keep_worst(out, model.output_names[i], judged(one.outputs[i].span<float>(), found[i], attr));
    }
  }
  return out;
}

}  // namespace rk::quant_check
