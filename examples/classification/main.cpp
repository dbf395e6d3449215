// SPDX-License-Identifier: Apache-2.0
// A classifier on one picture: the five best classes.
//
//   rknn_mobilenet_demo MODEL.rknn PICTURE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "utils/image_utils.h"
#include "utils/rknn_model.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE\n", argv[0]);
    return 2;
  }
  examples::Model model;
  image_buffer_t image{}, input{};
  if (!model.init(argv[1]) || read_image(argv[2], &image) != 0) return 1;
  input.width = static_cast<int>(model.width());
  input.height = static_cast<int>(model.height());
  input.format = model.inputs()[0].dims[3] == 1 ? IMAGE_FORMAT_GRAY8 : IMAGE_FORMAT_RGB888;
  input.size = get_image_size(&input);
  std::vector<unsigned char> pixels(static_cast<size_t>(input.size));
  input.virt_addr = pixels.data();
  examples::Outputs outputs;
  if (convert_image(&image, &input, nullptr, nullptr, 0) != 0 ||
      !model.run_picture(pixels.data(), &outputs) || outputs.empty() || outputs[0].empty())
    return 1;
  std::free(image.virt_addr);
  // Softmax, for networks that end before it.
  std::vector<float>& scores = outputs[0];
  const float most = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - most);
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::printf("-----TOP 5-----\n");
  for (size_t i = 0; i < std::min<size_t>(5, order.size()); ++i)
    std::printf("[%zu] score=%.6f\n", order[i], scores[order[i]] / sum);
  return 0;
}
