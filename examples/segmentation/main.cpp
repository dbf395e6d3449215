// SPDX-License-Identifier: Apache-2.0
// The class of every pixel: letterbox, run, best class of each cell, back to the picture.
//
//   rknn_segmentation_demo MODEL.rknn PICTURE [--write MASK.png|MASK.ppm]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "utils/image_utils.h"
#include "utils/rknn_model.h"

namespace {

constexpr const char* kNames[] = {"background", "circle", "square", "triangle"};
constexpr uint8_t kColors[][3] = {{0, 0, 0}, {255, 64, 64}, {64, 64, 255}, {64, 255, 64}};
constexpr size_t kClasses = 4;
constexpr char kBars = 114;

// Best class per cell of planes of scores.
std::vector<uint8_t> best_classes(const std::vector<float>& scores, size_t cells) {
  std::vector<uint8_t> best(cells);
  for (size_t i = 0; i < cells; ++i) {
    for (size_t c = 1; c < kClasses; ++c) {
      if (scores[c * cells + i] > scores[best[i] * cells + i]) best[i] = static_cast<uint8_t>(c);
    }
  }
  return best;
}

// One class per pixel of the picture: the cell that holds the pixel's center.
std::vector<uint8_t> in_picture(const std::vector<uint8_t>& best, int columns, int rows, int stride,
                                const letterbox_t& letterbox, int width, int height) {
  const auto cell = [&](int at, int pad, int most) {
    const float place = (static_cast<float>(at) + 0.5f) * letterbox.scale + static_cast<float>(pad);
    return std::min(static_cast<int>(place) / stride, most - 1);
  };
  std::vector<uint8_t> out;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      out.push_back(best[static_cast<size_t>(cell(y, letterbox.y_pad, rows) * columns +
                                             cell(x, letterbox.x_pad, columns))]);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if ((argc != 3 && argc != 5) || (argc == 5 && std::strcmp(argv[3], "--write") != 0)) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE [--write MASK.png|MASK.ppm]\n", argv[0]);
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
  if (convert_image_with_letterbox(&image, &input, &letterbox, kBars) != 0 ||
      !model.run_picture(input.virt_addr, &outputs))
    return 1;
  const rknn_tensor_attr& attr = model.outputs()[0];
  const int rows = static_cast<int>(attr.dims[2]), columns = static_cast<int>(attr.dims[3]);
  if (attr.n_dims != 4 || attr.dims[1] != kClasses || columns <= 0 || input.width % columns != 0 ||
      rows * columns * 4 != static_cast<int>(outputs[0].size())) {
    std::fprintf(stderr, "the model does not score %zu classes per cell\n", kClasses);
    return 1;
  }
  const std::vector<uint8_t> mask =
      in_picture(best_classes(outputs[0], static_cast<size_t>(rows * columns)), columns, rows,
                 input.width / columns, letterbox, image.width, image.height);
  size_t pixels[kClasses] = {};
  for (const uint8_t cls : mask) ++pixels[cls];
  std::printf("class        pixels  share\n----------------------------\n");
  for (size_t c = 0; c < kClasses; ++c)
    std::printf("%-10s %8zu  %.4f\n", kNames[c], pixels[c],
                static_cast<double>(pixels[c]) / static_cast<double>(mask.size()));
  int status = 0;
  if (argc == 5) {
    for (size_t i = 0; i < mask.size(); ++i)
      std::memcpy(image.virt_addr + i * 3, kColors[mask[i]], 3);
    status = write_image(argv[4], &image);
  }
  std::free(input.virt_addr);
  std::free(image.virt_addr);
  return status == 0 ? 0 : 1;
}
