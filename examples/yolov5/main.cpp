// SPDX-License-Identifier: Apache-2.0
// A YOLOv5-style detector on one picture: letterbox, run, decode, table.
//
//   rknn_yolov5_demo MODEL.rknn PICTURE [--zero_copy] [--write OUT.png]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "signs/detection.h"
#include "utils/boxes.h"
#include "utils/rknn_model.h"

namespace {

using examples::Found;

constexpr float kScore = 0.25f;
constexpr char kBars = 114;

void draw(image_buffer_t& image, const Found& box) {
  const auto dot = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
    std::memcpy(image.virt_addr + (y * image.width + x) * 3, "\xff\x20\x20", 3);
  };
  for (int x = static_cast<int>(box.left); x <= static_cast<int>(box.right); ++x) {
    dot(x, static_cast<int>(box.top));
    dot(x, static_cast<int>(box.bottom));
  }
  for (int y = static_cast<int>(box.top); y <= static_cast<int>(box.bottom); ++y) {
    dot(static_cast<int>(box.left), y);
    dot(static_cast<int>(box.right), y);
  }
}

int detect(const std::string& model_path, const std::string& picture, bool zero_copy,
           const char* write) {
  examples::Model model;
  image_buffer_t image{};
  if (!model.init(model_path) || read_image(picture.c_str(), &image) != 0) return 1;
  if (model.outputs().size() != 3 || (zero_copy && !model.bind())) {
    std::fprintf(stderr, "the model is not a detector with three heads\n");
    return 1;
  }
  image_buffer_t input{};
  input.width = static_cast<int>(model.width());
  input.height = static_cast<int>(model.height());
  input.format = IMAGE_FORMAT_RGB888;
  if (zero_copy) {  // the letterbox is written where the NPU reads it
    input.virt_addr = model.write_address();
    input.width_stride = static_cast<int>(model.row_pixels());
  }
  letterbox_t letterbox{};
  if (convert_image_with_letterbox(&image, &input, &letterbox, kBars) != 0) return 1;

  examples::Outputs outputs;
  signs::Heads heads;
  if (!(zero_copy ? model.run_bound() : model.run_picture(input.virt_addr, &outputs))) return 1;
  for (size_t k = 0; k < heads.size(); ++k) {
    const float* const values = zero_copy ? model.bound_output(k) : outputs[k].data();
    heads[k] = {values, model.outputs()[k].n_elems};
  }
  const auto found = signs::decode(heads, {.score_threshold = kScore});
  if (!found.ok()) {
    std::fprintf(stderr, "%s\n", found.status().message().c_str());
    return 1;
  }
  examples::print_table_head();
  for (const signs::Detection& d : *found) {
    const Found box =
        examples::in_picture({d.box.cx - d.box.w / 2, d.box.cy - d.box.h / 2,
                              d.box.cx + d.box.w / 2, d.box.cy + d.box.h / 2, d.score, d.cls},
                             letterbox, image.width, image.height);
    examples::print_table_row(std::string(signs::class_name(d.cls)), box);
    if (write != nullptr) draw(image, box);
  }
  const int status = write != nullptr ? write_image(write, &image) : 0;
  if (!zero_copy) std::free(input.virt_addr);
  std::free(image.virt_addr);
  return status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool zero_copy = false;
  const char* write = nullptr;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--zero_copy") == 0)
      zero_copy = true;
    else if (std::strcmp(argv[i], "--write") == 0 && i + 1 < argc)
      write = argv[++i];
    else
      words.emplace_back(argv[i]);
  }
  if (words.size() != 2) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE [--zero_copy] [--write OUT.png]\n", argv[0]);
    return 2;
  }
  return detect(words[0], words[1], zero_copy, write);
}
