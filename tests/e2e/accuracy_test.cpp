// SPDX-License-Identifier: Apache-2.0
// The float evaluator against other engines, and int8 through the C API against the float
// evaluator, picture by picture; then what a user measures: mAP and accuracy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/npy.h"
#include "examples/signs/detection.h"
#include "tests/e2e/api_model.h"
#include "tests/e2e/figure.h"
#include "tests/e2e/models.h"

namespace rk::e2e {
namespace {

double max_difference(std::span<const float> a, std::span<const float> b) {
  double out = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    out = std::isnan(difference) ? INFINITY : std::max(out, difference);
  }
  return out;
}

double peak(std::span<const float> values) {
  double out = 0;
  for (const float value : values) out = std::max(out, std::abs(double{value}));
  return out;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa == 0 || bb == 0 ? (aa == bb ? 1 : 0) : dot / std::sqrt(aa * bb);
}

// The comparison of one output over all pictures.
struct OutputScore {
  double worst_cosine = 1;
  size_t worst_picture = 0;
  // Pictures on which the output stays below two of its own steps: the direction of such a vector is noise, so it
  // must be within one step instead.
  size_t faint_pictures = 0;
  double worst_faint_steps = 0;
};

void judge(OutputScore& score, size_t picture, std::span<const float> golden,
           std::span<const float> found, float step) {
  if (step > 0 && peak(golden) < 2 * double{step}) {
    ++score.faint_pictures;
    score.worst_faint_steps =
        std::max(score.worst_faint_steps, max_difference(golden, found) / double{step});
    return;
  }
  const double similarity = cosine(golden, found);
  if (similarity < score.worst_cosine) {
    score.worst_cosine = similarity;
    score.worst_picture = picture;
  }
}

class Accuracy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto loaded = load_model(GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    if (!loaded->has_value()) {
      static std::set<std::string> told;  // two tests a model, one line
      if (told.insert(GetParam()).second)
        std::printf("SKIP %s: ../shared is absent\n", GetParam().c_str());
      GTEST_SKIP();
    }
    model_ = std::move(**loaded);
  }
  TestModel model_;
};

TEST_P(Accuracy, FloatEvaluatorMatchesOtherEngines) {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  if (!model_.mean.empty()) config.mean_values = {model_.mean};
  if (!model_.std.empty()) config.std_values = {model_.std};
  ASSERT_TRUE(toolkit.config(config).ok());
  const Status loaded = toolkit.load_onnx(model_.onnx);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  for (const Golden& golden : model_.goldens) {
    const auto outputs = toolkit.golden({golden.input});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(outputs->size(), golden.outputs.size());
    double worst = 0;  // in units of the tolerance
    for (size_t i = 0; i < golden.outputs.size(); ++i) {
      const auto wanted = golden.outputs[i].span<float>();
      ASSERT_EQ((*outputs)[i].shape(), golden.outputs[i].shape());
      const double tolerance = std::max(1e-5, 2e-4 * peak(wanted));
      worst = std::max(worst, max_difference(wanted, (*outputs)[i].span<float>()) / tolerance);
    }
    figure_at_most(str(model_.name, " float, ", golden.name, ": worst difference / tolerance"),
                   worst, 1);
  }
}

TEST_P(Accuracy, Int8StaysCloseToFloatOnEveryPicture) {
  const auto conversion = converted(model_);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  const auto api = ApiModel::load((*conversion)->rknn);
  ASSERT_TRUE(api.ok()) << api.status().message();
  const auto& attrs = (*api)->outputs();
  std::vector<OutputScore> scores(attrs.size());
  for (size_t p = 0; p < model_.pictures.size(); ++p) {
    const auto golden = (*conversion)->toolkit.golden({picture_tensor(model_.pictures[p])});
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    const auto found = (*api)->run_float(model_.pictures[p]);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->size(), golden->size());
    for (size_t i = 0; i < attrs.size(); ++i) {
      ASSERT_EQ((*found)[i].size(), static_cast<size_t>((*golden)[i].elements())) << attrs[i].name;
      const bool affine = attrs[i].qnt_type == RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC;
      judge(scores[i], p, (*golden)[i].span<float>(), (*found)[i], affine ? attrs[i].scale : 0);
    }
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const std::string name = str(model_.name, " int8, output ", attrs[i].name);
    if (scores[i].faint_pictures < model_.pictures.size()) {
      figure_at_least(
          str(name, ": worst cosine of ", model_.pictures.size() - scores[i].faint_pictures,
              " pictures (picture ", scores[i].worst_picture, ")"),
          scores[i].worst_cosine, 0.98);
    }
    if (scores[i].faint_pictures > 0) {
      figure_at_most(str(name, ": steps off on ", scores[i].faint_pictures, " faint pictures"),
                     scores[i].worst_faint_steps, 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Accuracy,
                         testing::Values("signs", "digits", "ort_mnist", "ultraface_rfb320",
                                         "ultraface_rfb320_nopost", "ultraface_rfb320_simplified"),
                         [](const auto& info) { return info.param; });

TEST(Score, SignsKeepsItsMeanAveragePrecisionInInt8) {
  if (subset()) GTEST_SKIP() << "needs every picture";
  const auto model = load_signs();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto conversion = converted(*model);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  const auto api = ApiModel::load((*conversion)->rknn);
  ASSERT_TRUE(api.ok()) << api.status().message();
  const auto objects = signs::read_labels(example_path("signs/labels.txt"), model->pictures.size());
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  std::vector<std::vector<signs::Detection>> found_float, found_int8;
  for (const media::Picture& picture : model->pictures) {
    const auto golden = (*conversion)->toolkit.golden({picture_tensor(picture)});
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    const auto heads = (*api)->run_float(picture);
    ASSERT_TRUE(heads.ok()) << heads.status().message();
    ASSERT_TRUE(golden->size() == 3 && heads->size() == 3);
    signs::Heads from_float, from_int8;
    for (size_t k = 0; k < 3; ++k) {
      from_float[k] = (*golden)[k].span<float>();
      from_int8[k] = (*heads)[k];
    }
    auto in_float = signs::decode(from_float);
    auto in_int8 = signs::decode(from_int8);
    ASSERT_TRUE(in_float.ok() && in_int8.ok());
    found_float.push_back(std::move(*in_float));
    found_int8.push_back(std::move(*in_int8));
  }
  figure_near("signs mAP@0.5, float", signs::mean_average_precision(found_float, *objects), 0.997,
              0.002);
  figure_at_least("signs mAP@0.5, int8", signs::mean_average_precision(found_int8, *objects), 0.98);
}

TEST(Score, DigitsLosesAtMostOnePointOfAccuracy) {
  if (subset()) GTEST_SKIP() << "needs every picture";
  const auto model = load_digits();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto labels = read_npy(example_path("digits/test_labels.npy"));
  ASSERT_TRUE(labels.ok() && labels->item_size == 8 &&
              labels->bytes.size() == 8 * model->pictures.size());
  const auto conversion = converted(*model);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  const auto api = ApiModel::load((*conversion)->rknn);
  ASSERT_TRUE(api.ok()) << api.status().message();
  const auto best = [](std::span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  double right_float = 0, right_int8 = 0;
  for (size_t i = 0; i < model->pictures.size(); ++i) {
    const auto label = load<int64_t>(labels->bytes.data() + 8 * i);
    const auto golden = (*conversion)->toolkit.golden({picture_tensor(model->pictures[i])});
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    const auto found = (*api)->run_float(model->pictures[i]);
    ASSERT_TRUE(found.ok()) << found.status().message();
    right_float += best((*golden)[0].span<float>()) == label ? 1 : 0;
    right_int8 += best((*found)[0]) == label ? 1 : 0;
  }
  const auto count = static_cast<double>(model->pictures.size());
  figure_near("digits accuracy, float (%)", 100 * right_float / count, 93, 0.001);
  figure_at_most("digits accuracy lost in int8 (points)", 100 * (right_float - right_int8) / count,
                 1);
}

}  // namespace
}  // namespace rk::e2e
