// SPDX-License-Identifier: Apache-2.0
// Several contexts of one model, a thread each; weights are shared. Frames are handed out in order and results come back in
// order; every result must equal that of a single context.
//
//   rknn_pool_demo MODEL.rknn PICTURE [THREADS [FRAMES]]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "utils/image_utils.h"
#include "utils/rknn_model.h"

namespace {

using examples::Model;
using examples::Outputs;

// Frame k is the picture moved by k rows, so that every frame gives other results.
std::vector<uint8_t> frame(const std::vector<uint8_t>& picture, size_t line, size_t k) {
  const size_t cut = k * line % picture.size();
  std::vector<uint8_t> out(picture.begin() + static_cast<int64_t>(cut), picture.end());
  out.insert(out.end(), picture.begin(), picture.begin() + static_cast<int64_t>(cut));
  return out;
}

double seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 3 ? std::atoi(argv[3]) : 3, count = argc > 4 ? std::atoi(argv[4]) : 30;
  if (argc < 3 || argc > 5 || threads < 1 || threads > 64 || count < 1) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE [THREADS [FRAMES]]\n", argv[0]);
    return 2;
  }
  const auto frames = static_cast<size_t>(count);
  Model first;
  image_buffer_t image{}, input{};
  if (!first.init(argv[1]) || read_image(argv[2], &image) != 0) return 1;
  input.width = static_cast<int>(first.width());
  input.height = static_cast<int>(first.height());
  input.format = IMAGE_FORMAT_RGB888;
  letterbox_t letterbox{};
  if (convert_image_with_letterbox(&image, &input, &letterbox, 114) != 0) return 1;
  const std::vector<uint8_t> picture(input.virt_addr, input.virt_addr + input.size);
  std::free(input.virt_addr);
  std::free(image.virt_addr);
  const size_t line = first.width() * 3u;

  std::vector<Outputs> alone(frames), together(frames);
  auto start = std::chrono::steady_clock::now();
  for (size_t k = 0; k < frames; ++k) {
    if (!first.run_picture(frame(picture, line, k).data(), &alone[k])) return 1;
  }
  const double alone_seconds = seconds(start);

  std::vector<std::unique_ptr<Model>> pool;
  for (int t = 0; t < threads; ++t) {
    pool.push_back(std::make_unique<Model>());
    if (!pool.back()->dup(first)) return 1;
  }
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (const auto& model : pool) {
    workers.emplace_back([&, worker = model.get()] {
      for (size_t k; (k = next.fetch_add(1)) < frames;) {
        if (!worker->run_picture(frame(picture, line, k).data(), &together[k])) failed = true;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  const double pool_seconds = seconds(start);
  size_t same = 0;
  for (size_t k = 0; k < frames; ++k) same += alone[k] == together[k];
  std::printf("one context: %.1f fps; %d contexts: %.1f fps; %zu of %zu results equal\n",
              count / alone_seconds, threads, count / pool_seconds, same, frames);
  return !failed && same == frames ? 0 : 1;
}
