// SPDX-License-Identifier: Apache-2.0
// An SSD-style face detector (UltraFace): priors, variances, suppression, table.
//
//   rknn_face_demo MODEL.rknn PICTURE
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "utils/boxes.h"
#include "utils/rknn_model.h"

namespace {

using examples::Found;

constexpr float kScore = 0.6f, kOverlap = 0.35f;
constexpr float kCenterVariance = 0.1f, kSizeVariance = 0.2f;
constexpr char kBars = 127;  // the mean: bars are zeros for the network

struct Scale {
  int stride;
  std::vector<float> boxes;  // sides in pixels
};
const std::vector<Scale> kScales = {
    {8, {10, 16, 24}}, {16, {32, 48}}, {32, {64, 96}}, {64, {128, 192, 256}}};

std::vector<Found> decode(const std::vector<float>& scores, const std::vector<float>& boxes, int width, int height) {
  std::vector<Found> found;
  size_t prior = 0;
  for (const Scale& scale : kScales) {
    const int columns = (width + scale.stride - 1) / scale.stride, rows = (height + scale.stride - 1) / scale.stride;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        for (const float side : scale.boxes) {
          const size_t i = prior++;
          if ((i + 1) * 4 > boxes.size() || (i + 1) * 2 > scores.size()) return {};
          const float score = scores[i * 2 + 1];
          if (score <= kScore) continue;
          const float* const b = &boxes[i * 4];
          const float cx = (static_cast<float>(x) + 0.5f) * static_cast<float>(scale.stride) + b[0] * kCenterVariance * side;
          const float cy = (static_cast<float>(y) + 0.5f) * static_cast<float>(scale.stride) + b[1] * kCenterVariance * side;
          const float w = side * std::exp(b[2] * kSizeVariance), h = side * std::exp(b[3] * kSizeVariance);
          found.push_back({cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2, score, 0});
        }
      }
    }
  }
  if (prior * 2 != scores.size()) return {};  // another network
  return examples::suppress(found, kOverlap);
}

}  // namespace

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
  input.format = IMAGE_FORMAT_RGB888;
  letterbox_t letterbox{};
  examples::Outputs outputs;
  if (model.outputs().size() != 2 || convert_image_with_letterbox(&image, &input, &letterbox, kBars) != 0 ||
      !model.run_picture(input.virt_addr, &outputs))
    return 1;
  examples::print_table_head();
  for (const Found& box : decode(outputs[0], outputs[1], input.width, input.height))
    examples::print_table_row("face", examples::in_picture(box, letterbox, image.width, image.height));
  std::free(input.virt_addr);
  std::free(image.virt_addr);
  return 0;
}
