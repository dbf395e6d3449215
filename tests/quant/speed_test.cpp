// SPDX-License-Identifier: Apache-2.0
// What calibration costs on top of the float forward passes it cannot do without: MobileNetV2 at 224x224. And what it
// needs of memory: YOLOv5s at 640x640. Both networks come from bench/models.py.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <algorithm>
#include <cmath>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>

#include "evaluator/evaluate.h"
#include "frontends/frontend.h"
#include "ops/registry.h"
#include "passes/pipeline.h"
#include "quant/calibrate.h"
#include "quant/channel_stats.h"
#include "quant/equalize.h"
#include "target/target.h"
#include "tests/e2e/figure.h"

namespace rk::quant_check {
namespace {

// Pictures that cost nothing to load, each different.
class RandomPictures : public quant::SampleSource {
 public:
  RandomPictures(Shape shape, size_t count) : shape_(shape), count_(count) {}
  size_t count() const override { return count_; }
  Result<std::vector<Tensor>> load(size_t sample) const override {
    Tensor out = Tensor::make({DType::kF32, shape_});
    auto* x = out.mutable_data<float>();
    uint32_t state = static_cast<uint32_t>(sample) * 2654435761u + 1;
    for (int64_t i = 0; i < out.elements(); ++i) {
      state = state * 1664525u + 1013904223u;
      x[i] = static_cast<float>(state >> 8) / 16777216.0f;
    }
    return std::vector<Tensor>{out};
  }

 private:
  Shape shape_;
  size_t count_;
};

Result<Graph> optimized(const std::string& path) {
  RK_ASSIGN(Graph graph, frontends::import_onnx(path, {}, ops::registry()));
  RK_ASSIGN(const target::Target* chip, target::find_target("rk3588"));
  RK_TRY(passes::run_pipeline(graph, *chip, {}).status());
  return graph;
}

// Processor time of all threads, which a busy machine does not change.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string bench_model(const char* name) {
  const char* folder = std::getenv("RK_BENCH_MODELS");
  return (std::filesystem::path(folder == nullptr ? "" : folder) /
          (std::string(name) + ".float.onnx"))
      .string();
}

TEST(Calibration, CostsLittleMoreThanTheForwardPasses) {
  const std::string path = bench_model("mobilenet_v2");
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "RK_BENCH_MODELS names no folder with " << path;
  const auto graph = optimized(path);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ThreadPool pool(default_thread_count());
  const RandomPictures pictures(graph->inputs()[0]->shape(), 100);
  const auto forward = [&](size_t count) {
    const double start = cpu_seconds();
    for (size_t i = 0; i < count; ++i) {
      const auto inputs = pictures.load(i);
      EXPECT_TRUE(inputs.ok() && evaluator::evaluate(*graph, *inputs, {&pool, {}}).ok());
    }
    return cpu_seconds() - start;
  };
  forward(3);
  // All that a build at optimization_level 3 does with samples.
  const auto calibrate = [&](quant::Algorithm algorithm) {
    const double start = cpu_seconds();
    Graph copy = graph->clone();
    auto stats = quant::observe_channels(copy, pictures, &pool);
    EXPECT_TRUE(stats.ok()) << stats.status().message();
    if (stats.ok()) quant::equalize(copy, *stats);
    const auto ranges = quant::calibrate(copy, pictures, algorithm, &pool, {});
    EXPECT_TRUE(ranges.ok()) << ranges.status().message();
    return cpu_seconds() - start;
  };
  struct Row {
    quant::Algorithm algorithm;
    double bar;
  };
  for (const Row row : {Row{quant::Algorithm::kNormal, 1.3},
                        Row{quant::Algorithm::kKlDivergence, 2}, Row{quant::Algorithm::kMmse, 6}}) {
    // The best of three rounds each: a neighbor on the machine only adds.
    double passes = INFINITY, calibration = INFINITY;
    for (int round = 0; round < 3; ++round) {
      passes = std::min(passes, forward(100));
      calibration = std::min(calibration, calibrate(row.algorithm));
    }
    e2e::figure_at_most(str("calibration of 100 pictures, MobileNetV2-224, ",
                            quant::to_string(row.algorithm), " / float forward passes"),
                        calibration / passes, row.bar);
    std::printf("  100 forward passes: %.2f s of processor time\n", passes);
  }
}

TEST(Calibration, MemoryIsBounded) {
  const std::string path = bench_model("yolov5s_relu");
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "RK_BENCH_MODELS names no folder with " << path;
  const auto graph = optimized(path);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ThreadPool pool(default_thread_count());
  const RandomPictures pictures(graph->inputs()[0]->shape(), 200);
  size_t reports = 0;
  // Memory is at its height after the first samples: later ones only repeat it. LONG=1 takes all of them.
  const size_t enough = std::getenv("LONG") != nullptr ? 200 : 6;
  const auto ranges = quant::calibrate(*graph, pictures, quant::Algorithm::kMmse, &pool,
                                       [&](size_t done, size_t all) {
                                         EXPECT_EQ(all, 200u);
                                         ++reports;
                                         return done < enough || enough == 200;
                                       });
  EXPECT_EQ(reports, enough);
  EXPECT_EQ(ranges.ok(), enough == 200);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  e2e::figure_at_most(
      str("calibration on YOLOv5s-640 (", reports, " of 200 pictures), peak memory (MiB)"),
      static_cast<double>(usage.ru_maxrss) / 1024, 2048);
}

}  // namespace
}  // namespace rk::quant_check
