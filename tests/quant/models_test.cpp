// SPDX-License-Identifier: Apache-2.0
// int8 against float on the models at hand, with each of the algorithms; what a user measures on signs and digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  double kl_divergence = 0;  // where that algorithm, which cuts off more, has a bar of its own

  double of(const std::string& algorithm) const {
    return algorithm == "kl_divergence" && kl_divergence > 0 ? kl_divergence : cosine;
  }
};

// Of the outputs with this prefix; cosine 2 where there is none.
Closeness least_of(const Worst& worst, const std::string& output) {
  Closeness least{2, 200};
  for (const auto& [name, value] : worst) {
    if (!name.starts_with(output)) continue;
    least.cosine = std::min(least.cosine, value.cosine);
    least.sqnr_db = std::min(least.sqnr_db, value.sqnr_db);
  }
  return least;
}

// The ratio that belongs to a cosine when signal and found have the same length: |a - b|^2 = 2 (1 - cos) |a|^2. It also
// sees what a cosine does not, an output that is too small or too large as a whole.
double sqnr_bar(double cosine) { return -10 * std::log10(2 * (1 - cosine)); }

template <typename Model>
void show(const std::string& name, const Model& model, const std::vector<Bar>& bars) {
  for (const std::string& algorithm : kAlgorithms) {
    const auto build = convert(model, {.algorithm = algorithm});
    ASSERT_TRUE(build.ok()) << build.status().message();
    const auto worst = judge(model, *build);
    ASSERT_TRUE(worst.ok()) << worst.status().message();
    for (const Bar& bar : bars) {
      const Closeness least = least_of(*worst, bar.output);
      ASSERT_LE(least.cosine, 1.000001) << name << " has no output " << bar.output;
      const std::string what = str(name, " int8 (", algorithm, ") '", bar.output, "'");
      figure_at_least(str(what, ", worst cosine"), least.cosine, bar.of(algorithm));
      figure_at_least(str(what, ", worst SQNR (dB)"), least.sqnr_db, sqnr_bar(bar.of(algorithm)));
    }
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

TEST(Models, FastestDet) { show_zoo("fastestdet", {{"", 0.988, 0.97}}); }

TEST(Models, YuNet) { show_zoo("yunet_n_320", {{"bbox", 0.995}, {"kps", 0.995}, {"cls", 0.995}}); }

TEST(Models, AutoHybridBringsTheRawBoxesBackWithOneLayerInTen) {
  const auto shared = e2e::shared_folder();
  if (!shared) GTEST_SKIP() << "../shared is absent";
  const auto model = e2e::load_shared_model("ultraface_rfb320_nopost", *shared);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const std::string& algorithm : kAlgorithms) {
    const auto build =
        convert(*model, {.algorithm = algorithm, .auto_hybrid = true, .cos_thresh = 0.9995});
    ASSERT_TRUE(build.ok()) << build.status().message();
    const auto worst = judge(*model, *build);
    ASSERT_TRUE(worst.ok()) << worst.status().message();
    const double in_float = static_cast<double>(build->toolkit.float_layers().size()) /
                            static_cast<double>(build->toolkit.layer_count());
    const std::string what = str("ultraface_rfb320_nopost auto_hybrid (", algorithm, ")");
    figure_at_least(str(what, ", worst cosine of 'boxes'"), least_of(*worst, "boxes").cosine,
                    0.995);
    figure_at_most(str(what, ", layers in float16 (%)"), 100 * in_float, 10);
  }
}

TEST(Score, SignsKeepsItsMeanAveragePrecision) {
  const auto model = e2e::load_signs();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto objects =
      signs::read_labels(e2e::example_path("signs/labels.txt"), model->pictures.size());
  ASSERT_TRUE(objects.ok()) << objects.status().message();
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
    figure_at_least(str("signs mAP@0.5, int8 (", algorithm, ")"),
                    signs::mean_average_precision(found, *objects), 0.99);
  }
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
