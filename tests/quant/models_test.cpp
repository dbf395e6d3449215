// SPDX-License-Identifier: Apache-2.0
// int8 against float on the models at hand, with the best of the algorithms; what a user measures on signs and digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/npy.h"
#include "examples/signs/detection.h"
#include "tests/e2e/figure.h"
#include "tests/quant/converted.h"

namespace rk::quant_check {
namespace {

using e2e::figure_at_least;
using e2e::figure_at_most;

// Outputs whose name begins with `output` have this bar.
struct Bar {
  std::string output;
  double cosine;
};

double least_of(const Worst& worst, const std::string& output) {
  double least = 2;
  for (const auto& [name, value] : worst) {
    if (name.starts_with(output)) least = std::min(least, value);
  }
  return least;
}

// The algorithm that is best for the output furthest below its bar.
template <typename Model>
void show(const std::string& name, const Model& model, const std::vector<Bar>& bars) {
  std::string best;
  Worst best_worst;
  double best_margin = -10;
  for (const std::string& algorithm : kAlgorithms) {
    const auto build = convert(model, {.algorithm = algorithm});
    ASSERT_TRUE(build.ok()) << build.status().message();
    const auto worst = judge(model, *build);
    ASSERT_TRUE(worst.ok()) << worst.status().message();
    double margin = 10;
    for (const Bar& bar : bars) {
      const double least = least_of(*worst, bar.output);
      ASSERT_LE(least, 1.000001) << name << " has no output " << bar.output;
      // In shares of what is missing to 1: 0.999 is ten times as strict as 0.99.
      margin = std::min(margin, (least - bar.cosine) / (1 - bar.cosine));
      std::printf("  %s, %s: %s %.5f\n", name.c_str(), algorithm.c_str(), bar.output.c_str(),
                  least);
    }
    if (margin > best_margin) best = algorithm, best_worst = *worst, best_margin = margin;
  }
  for (const Bar& bar : bars) {
    figure_at_least(str(name, " int8 (", best, "), worst cosine of '", bar.output, "'"),
                    least_of(best_worst, bar.output), bar.cosine);
  }
}

void show_shared(const std::string& name, const std::vector<Bar>& bars) {
  const auto shared = e2e::shared_folder();
  if (!shared) {
    std::printf("SKIP %s: ../shared is absent\n", name.c_str());
    GTEST_SKIP();
  }
  const auto model = e2e::load_shared_model(name, *shared);
  ASSERT_TRUE(model.ok()) << model.status().message();
  show(name, *model, bars);
}

void show_zoo(const std::string& name, const std::vector<Bar>& bars) {
  if (foundation::zoo_names().empty()) {
    std::printf("SKIP %s: the networks of ../shared are absent\n", name.c_str());
    GTEST_SKIP();
  }
  const auto model = foundation::load_zoo_model(name);
  ASSERT_TRUE(model.ok()) << model.status().message();
  show(name, *model, bars);
}

TEST(Models, UltrafaceWithItsDecoding) {
  show_shared("ultraface_rfb320", {{"scores", 0.999}, {"boxes", 0.999}});
}

TEST(Models, UltrafaceRawBoxes) { show_shared("ultraface_rfb320_nopost", {{"boxes", 0.99}}); }

TEST(Models, FastestDet) { show_zoo("fastestdet", {{"", 0.988}}); }

TEST(Models, YuNet) { show_zoo("yunet_n_320", {{"bbox", 0.995}, {"kps", 0.995}, {"cls", 0.995}}); }

TEST(Models, AutoHybridBringsTheRawBoxesBackWithOneLayerInTen) {
  const auto shared = e2e::shared_folder();
  if (!shared) GTEST_SKIP() << "../shared is absent";
  const auto model = e2e::load_shared_model("ultraface_rfb320_nopost", *shared);
  ASSERT_TRUE(model.ok()) << model.status().message();
  double best = -1, share = 0;
  std::string name;
  for (const std::string& algorithm : kAlgorithms) {
    const auto build =
        convert(*model, {.algorithm = algorithm, .auto_hybrid = true, .cos_thresh = 0.9995});
    ASSERT_TRUE(build.ok()) << build.status().message();
    const auto worst = judge(*model, *build);
    ASSERT_TRUE(worst.ok()) << worst.status().message();
    const double least = least_of(*worst, "boxes");
    const double in_float = static_cast<double>(build->toolkit.float_layers().size()) /
                            static_cast<double>(build->toolkit.layer_count());
    std::printf("  auto_hybrid, %s: boxes %.5f with %.1f %%\n", algorithm.c_str(), least,
                100 * in_float);
    if (least > best) best = least, share = in_float, name = algorithm;
  }
  figure_at_least(str("ultraface_rfb320_nopost auto_hybrid (", name, "), worst cosine of 'boxes'"),
                  best, 0.995);
  figure_at_most("ultraface_rfb320_nopost auto_hybrid, layers in float16 (%)", 100 * share, 10);
}

TEST(Score, SignsKeepsItsMeanAveragePrecision) {
  const auto model = e2e::load_signs();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto objects =
      signs::read_labels(e2e::example_path("signs/labels.txt"), model->pictures.size());
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  double best = 0;
  std::string name;
  for (const std::string& algorithm : kAlgorithms) {
    const auto build = convert(*model, {.algorithm = algorithm});
    ASSERT_TRUE(build.ok()) << build.status().message();
    std::vector<std::vector<signs::Detection>> found;
    for (const media::Picture& picture : model->pictures) {
      const auto heads = build->model.run_float({e2e::picture_tensor(picture)});
      ASSERT_TRUE(heads.ok()) << heads.status().message();
      auto detections = signs::decode({(*heads)[0], (*heads)[1], (*heads)[2]});
      ASSERT_TRUE(detections.ok()) << detections.status().message();
      found.push_back(std::move(*detections));
    }
    const double map = signs::mean_average_precision(found, *objects);
    std::printf("  signs, %s: mAP@0.5 %.4f\n", algorithm.c_str(), map);
    if (map > best) best = map, name = algorithm;
  }
  figure_at_least(str("signs mAP@0.5, int8 (", name, ")"), best, 0.99);
}

TEST(Score, DigitsLosesAtMostOnePointWithEachAlgorithm) {
  const auto model = e2e::load_digits();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto labels = read_npy(e2e::example_path("digits/test_labels.npy"));
  ASSERT_TRUE(labels.ok() && labels->bytes.size() == 8 * model->pictures.size());
  const auto best = [](std::span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  std::vector<int64_t> golden;
  for (const std::string& algorithm : kAlgorithms) {
    const auto build = convert(*model, {.algorithm = algorithm});
    ASSERT_TRUE(build.ok()) << build.status().message();
    double right_float = 0, right_int8 = 0;
    for (size_t i = 0; i < model->pictures.size(); ++i) {
      const Tensor input = e2e::picture_tensor(model->pictures[i]);
      if (golden.size() <= i) {
        const auto outputs = build->toolkit.golden({input});
        ASSERT_TRUE(outputs.ok());
        golden.push_back(best((*outputs)[0].span<float>()));
      }
      const auto found = build->model.run_float({input});
      ASSERT_TRUE(found.ok()) << found.status().message();
      const auto label = load<int64_t>(labels->bytes.data() + 8 * i);
      right_float += golden[i] == label ? 1 : 0;
      right_int8 += best((*found)[0]) == label ? 1 : 0;
    }
    figure_at_most(str("digits accuracy lost in int8 (points), ", algorithm),
                   100 * (right_float - right_int8) / static_cast<double>(model->pictures.size()),
                   1);
  }
}

}  // namespace
}  // namespace rk::quant_check
