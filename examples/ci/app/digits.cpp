// SPDX-License-Identifier: Apache-2.0
// The application under test: reads digits of 28 x 28 gray bytes and prints the class and score of each. Put yours here.
//
//   digits MODEL.rknn DIGITS.raw
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rknn_api.h"

namespace {

constexpr uint32_t kSide = 28, kClasses = 10;

bool check(const char* call, int code) {
  if (code != RKNN_SUCC) std::fprintf(stderr, "%s failed with %d\n", call, code);
  return code == RKNN_SUCC;
}

// The board's name, as its device tree has it.
std::string chip() {
  std::ifstream file("/proc/device-tree/compatible", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t last = text.rfind("rockchip,");
  return last != std::string::npos ? text.substr(last + 9).c_str() : "unknown";
}

class Digits {
 public:
  ~Digits() {
    if (input_ != nullptr) rknn_destroy_mem(context_, input_);
    if (output_ != nullptr) rknn_destroy_mem(context_, output_);
    if (context_ != 0) rknn_destroy(context_);
  }

  bool open(std::string path) {
    rknn_tensor_attr in{}, out{};
    if (!check("rknn_init", rknn_init(&context_, path.data(), 0, 0, nullptr)) ||
        !check("rknn_query", rknn_query(context_, RKNN_QUERY_INPUT_ATTR, &in, sizeof in)) ||
        !check("rknn_query", rknn_query(context_, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out)))
      return false;
    if (in.n_elems != kSide * kSide || out.n_elems != kClasses) {
      std::fprintf(stderr, "the model does not classify digits\n");
      return false;
    }
    row_ = in.w_stride > kSide ? in.w_stride : kSide;  // pixels
    in.type = RKNN_TENSOR_UINT8;
    in.fmt = RKNN_TENSOR_NHWC;
    in.size = kSide * row_;
    out.type = RKNN_TENSOR_FLOAT32;
    out.size = kClasses * sizeof(float);
    input_ =
        rknn_create_mem(context_, in.size > in.size_with_stride ? in.size : in.size_with_stride);
    output_ = rknn_create_mem(context_,
                              out.size > out.size_with_stride ? out.size : out.size_with_stride);
    if (input_ == nullptr || output_ == nullptr) {
      std::fprintf(stderr, "rknn_create_mem failed\n");
      return false;
    }
    return check("rknn_set_io_mem", rknn_set_io_mem(context_, input_, &in)) &&
           check("rknn_set_io_mem", rknn_set_io_mem(context_, output_, &out));
  }

  bool classify(const uint8_t* pixels, uint32_t* best, float* score) {
    auto* const to = static_cast<uint8_t*>(input_->virt_addr);
    for (uint32_t y = 0; y < kSide; ++y) std::memcpy(to + y * row_, pixels + y * kSide, kSide);
    if (!check("rknn_run", rknn_run(context_, nullptr))) return false;
    const auto* const values = static_cast<const float*>(output_->virt_addr);
    *best = 0;
    for (uint32_t c = 1; c < kClasses; ++c)
      if (values[c] > values[*best]) *best = c;
    float sum = 0;
    for (uint32_t c = 0; c < kClasses; ++c) sum += std::exp(values[c] - values[*best]);
    *score = 1 / sum;
    return true;
  }

 private:
  rknn_context context_ = 0;
  rknn_tensor_mem* input_ = nullptr;
  rknn_tensor_mem* output_ = nullptr;
  uint32_t row_ = kSide;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.rknn DIGITS.raw\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  if (bytes.empty() || bytes.size() % (kSide * kSide) != 0) {
    std::fprintf(stderr, "cannot use '%s': digits of 784 bytes are read\n", argv[2]);
    return 1;
  }
  Digits digits;
  if (!digits.open(argv[1])) return 1;
  std::printf("chip %s\n", chip().c_str());
  for (size_t at = 0; at < bytes.size(); at += kSide * kSide) {
    uint32_t best = 0;
    float score = 0;
    if (!digits.classify(reinterpret_cast<const uint8_t*>(&bytes[at]), &best, &score)) return 1;
    std::printf("digit %u %.2f\n", best, score);
  }
  return 0;
}
