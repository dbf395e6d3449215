// SPDX-License-Identifier: Apache-2.0
// Do two pictures show the same person? Finds the best face in each (../face), cuts it out, and compares embeddings.
//
//   rknn_face_compare_demo DETECTOR.rknn EMBEDDER.rknn PICTURE_A PICTURE_B
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "face/ssd.h"
#include "utils/rknn_model.h"

namespace {

using examples::Found;
using examples::Model;

constexpr float kSame = 0.5f;  // similarity above which two faces count as one person's

std::optional<Found> best_face(Model& detector, image_buffer_t& image) {
  image_buffer_t input{};
  input.width = static_cast<int>(detector.width());
  input.height = static_cast<int>(detector.height());
  input.format = IMAGE_FORMAT_RGB888;
  letterbox_t letterbox{};
  examples::Outputs outputs;
  const bool ok = detector.outputs().size() == 2 &&
                  convert_image_with_letterbox(&image, &input, &letterbox, face::kBars) == 0 &&
                  detector.run_picture(input.virt_addr, &outputs);
  std::free(input.virt_addr);
  if (!ok) return std::nullopt;
  const std::vector<Found> found = face::decode(outputs[0], outputs[1], input.width, input.height);
  if (found.empty()) return std::nullopt;
  return examples::in_picture(found[0], letterbox, image.width, image.height);
}

// A square around the box, cut to the picture.
image_rect_t square_around(const Found& box, int width, int height) {
  const float half = std::max(box.right - box.left, box.bottom - box.top) / 2;
  const float x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const auto place = [](float at, int most) {
    return std::clamp(static_cast<int>(std::floor(at + 0.5f)), 0, most);
  };
  return {place(x - half, width - 2), place(y - half, height - 2), place(x + half - 1, width - 1),
          place(y + half - 1, height - 1)};
}

// Of length 1; empty: no face, or a failure that is on standard error.
std::vector<float> embedding(Model& detector, Model& embedder, const char* path) {
  image_buffer_t image{};
  if (read_image(path, &image) != 0) return {};
  const std::optional<Found> box = best_face(detector, image);
  std::vector<float> out;
  if (!box.has_value()) {
    std::fprintf(stderr, "'%s': no face\n", path);
  } else {
    image_rect_t from = square_around(*box, image.width, image.height);
    std::printf("%s: face %.3f [%4d, %4d, %4d, %4d]\n", path, box->score,
                static_cast<int>(box->left), static_cast<int>(box->top),
                static_cast<int>(box->right), static_cast<int>(box->bottom));
    image_buffer_t input{};
    input.width = static_cast<int>(embedder.width());
    input.height = static_cast<int>(embedder.height());
    input.format = IMAGE_FORMAT_RGB888;
    std::vector<unsigned char> pixels(static_cast<size_t>(get_image_size(&input)));
    input.virt_addr = pixels.data();
    examples::Outputs outputs;
    if (convert_image(&image, &input, &from, nullptr, 0) == 0 &&
        embedder.run_picture(pixels.data(), &outputs) && outputs.size() == 1)
      out = outputs[0];
  }
  std::free(image.virt_addr);
  float squares = 0;
  for (const float value : out) squares += value * value;
  for (float& value : out) value /= std::sqrt(std::max(squares, 1e-12f));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s DETECTOR.rknn EMBEDDER.rknn PICTURE_A PICTURE_B\n", argv[0]);
    return 2;
  }
  Model detector, embedder;
  if (!detector.init(argv[1]) || !embedder.init(argv[2])) return 1;
  const std::vector<float> a = embedding(detector, embedder, argv[3]),
                           b = embedding(detector, embedder, argv[4]);
  if (a.empty() || b.empty()) return 1;
  float similarity = 0;
  for (size_t i = 0; i < a.size(); ++i) similarity += a[i] * b[i];
  std::printf("similarity %.4f: %s\n", similarity,
              similarity > kSame ? "the same person" : "another person");
  return 0;
}
