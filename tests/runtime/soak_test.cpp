// SPDX-License-Identifier: Apache-2.0
// Eight threads, two models, four contexts each, with duplicates made and destroyed in between: results stay those of
// one thread, and neither memory nor descriptors grow.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rknn_api.h"
#include "tests/e2e/figure.h"
#include "tests/runtime/models.h"

namespace rk::under_load {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<uint8_t> picture_of(size_t bytes, size_t seed) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>((i * 131 + seed * 17) % 251);
  return out;
}

std::vector<uint8_t> frame(rknn_context context, std::vector<uint8_t> picture) {
  rknn_input input{};
  input.buf = picture.data();
  input.size = static_cast<uint32_t>(picture.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_output output{};
  if (rknn_inputs_set(context, 1, &input) != RKNN_SUCC || rknn_run(context, nullptr) != RKNN_SUCC ||
      rknn_outputs_get(context, 1, &output, nullptr) != RKNN_SUCC)
    return {};
  const auto* const from = static_cast<const uint8_t*>(output.buf);
  std::vector<uint8_t> out(from, from + output.size);
  rknn_outputs_release(context, 1, &output);
  return out;
}

struct Usage {
  double rss_kib = 0;
  double files = 0;
};

Usage usage() {
  Usage out;
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  out.rss_kib = pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
  out.files = static_cast<double>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
  return out;
}

template <typename Pick>
Usage extreme_usage(std::chrono::milliseconds span, const Pick& pick) {
  const auto end = std::chrono::steady_clock::now() + span;
  std::this_thread::sleep_for(span / 4);
  Usage out = usage();
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Usage now = usage();
    out.files = pick(out.files, now.files);
    out.rss_kib = pick(out.rss_kib, now.rss_kib);
  }
  return out;
}

struct Soak {
  static constexpr size_t kPictures = 4;
  struct Model {
    std::vector<uint8_t> image;
    size_t input_bytes = 0;
    std::vector<std::vector<uint8_t>> expected;  // by picture
  };
  Model models[2];
  rknn_context contexts[8] = {};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> frames{0}, wrong{0};

  void work(size_t thread) {
    const Model& model = models[thread % 2];
    for (size_t i = 0; !stop; ++i) {
      const size_t picture = (i + thread) % kPictures;
      rknn_context context = contexts[thread];
      const bool copy = i % 8 == 5;
      if (copy && rknn_dup_context(&contexts[thread], &context) != RKNN_SUCC) ++wrong;
      if (frame(context, picture_of(model.input_bytes, picture)) != model.expected[picture])
        ++wrong;
      if (copy && rknn_destroy(context) != RKNN_SUCC) ++wrong;
      ++frames;
    }
  }
};

TEST(Soak, ThreadsContextsAndDuplicatesNeitherLeakNorDiffer) {
  mallopt(M_ARENA_MAX, 1);  // an arena that the allocator opens late would pass for growth
  Soak soak;
  soak.models[0] = {image_of(conv_program(16, 12, 3, 32)), 16 * 12 * 12, {}};
  soak.models[1] = {image_of(conv_program(3, 32, 1, 8)), 3 * 32 * 32, {}};
  for (size_t i = 0; i < 8; ++i) {
    Soak::Model& model = soak.models[i % 2];
    ASSERT_EQ(rknn_init(&soak.contexts[i], model.image.data(),
                        static_cast<uint32_t>(model.image.size()), 0, nullptr),
              RKNN_SUCC);
    if (i >= 2) continue;
    for (size_t picture = 0; picture < Soak::kPictures; ++picture)
      model.expected.push_back(frame(soak.contexts[i], picture_of(model.input_bytes, picture)));
  }
  const auto length = std::chrono::seconds(is_long() ? 600 : kSanitized ? 4 : 12);
  const auto warm_up = length / 4;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) threads.emplace_back([&soak, i] { soak.work(i); });
  // Resident memory moves by a few pages all the time: the most of the warm-up against the least of the last quarter.
  // What leaks goes on growing and shows all the same.
  const Usage before = extreme_usage(warm_up, [](double a, double b) { return std::max(a, b); });
  std::this_thread::sleep_for(length - 2 * warm_up);
  const Usage after = extreme_usage(warm_up, [](double a, double b) { return std::min(a, b); });
  soak.stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const rknn_context context : soak.contexts) EXPECT_EQ(rknn_destroy(context), RKNN_SUCC);
  const std::string what = str("soak of ", length.count(), " s");
  e2e::figure_at_most(what + ": wrong results or calls", static_cast<double>(soak.wrong.load()), 0);
  e2e::figure_at_least(what + ": frames", static_cast<double>(soak.frames.load()), 1000);
  e2e::figure_at_most(what + ": growth of open files, %",
                      100 * (after.files - before.files) / before.files, 1);
  if (kSanitized) return;  // a sanitizer keeps what was freed
  e2e::figure_at_most(what + ": growth of resident memory, %",
                      100 * (after.rss_kib - before.rss_kib) / before.rss_kib, 1);
}

}  // namespace
}  // namespace rk::under_load
