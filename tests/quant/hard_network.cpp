// SPDX-License-Identifier: Apache-2.0
#include "tests/quant/hard_network.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/npy.h"
#include "tests/frontends/onnx/model_builder.h"

namespace rk::quant_check {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kIn = 8, kWidth = 16, kOut = 10, kExtent = 28;
constexpr size_t kSpikeInput = 7, kSpikeChannel = 2, kWideChannel = 3, kDeadChannel = 5;
constexpr size_t kCalibration = 20, kSpikeSample = 10, kJudged = 4;
constexpr float kSpike = 100, kThousand = 1000;

class Weights {
 public:
  Weights(std::mt19937& random, int64_t outs, int64_t ins, int64_t taps)
      : ins_(static_cast<size_t>(ins)), taps_(static_cast<size_t>(taps)) {
    std::normal_distribution<float> draw(0, std::sqrt(2.0f / static_cast<float>(ins * taps)));
    values.resize(static_cast<size_t>(outs * ins * taps));
    for (float& value : values) value = draw(random);
  }
  // Both bounds may be kAll.
  static constexpr size_t kAll = SIZE_MAX;
  void scale(size_t out, size_t in, float by) {
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t o = i / taps_ / ins_, c = i / taps_ % ins_;
      if ((out == kAll || out == o) && (in == kAll || in == c)) values[i] *= by;
    }
  }
  void set(size_t out, size_t in, float to) { values[(out * ins_ + in) * taps_] = to; }

  std::vector<float> values;

 private:
  size_t ins_, taps_;
};

Tensor sample(std::mt19937& random, bool with_spike) {
  std::uniform_real_distribution<float> draw(-1, 1), below(-1, -0.1f);
  std::vector<float> values(static_cast<size_t>(kIn * kExtent * kExtent));
  const size_t plane = static_cast<size_t>(kExtent * kExtent);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i / plane == kSpikeInput ? below(random) : draw(random);
  if (with_spike) values[kSpikeInput * plane + 399] = 1;
  return Tensor::f32({1, kIn, kExtent, kExtent}, values);
}

Status write_sample(const std::string& path, const Tensor& tensor) {
  NpyArray array;
  array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  array.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
  return write_npy(path, array);
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string onnx_bytes(std::mt19937& random, const Flaws& flaws) {
  frontends::testing::ModelWriter writer;
  writer.input("x", {1, kIn, kExtent, kExtent});
  const auto conv = [&](const std::string& from, const std::string& to, const Weights& weights,
                        int64_t outs, int64_t ins, int64_t kernel, bool relu) {
    writer.floats(to + "_w", {outs, ins, kernel, kernel}, weights.values);
    auto& node = writer.node("Conv", {from, to + "_w"}, {relu ? to + "_sum" : to}, to + "_conv");
    frontends::testing::set_ints(node, "kernel_shape", {kernel, kernel});
    frontends::testing::set_ints(node, "pads", std::vector<int64_t>(4, kernel / 2));
    if (relu) writer.node("Relu", {to + "_sum"}, {to}, to + "_relu");
  };
  Weights spike(random, kWidth, kIn, 1);
  spike.scale(kSpikeChannel, Weights::kAll, 0);
  spike.scale(Weights::kAll, kSpikeInput, 0);
  spike.set(kSpikeChannel, kSpikeInput, kSpike);
  conv("x", "spike", spike, kWidth, kIn, 1, true);
  Weights wide(random, kWidth, kWidth, 9);
  wide.scale(Weights::kAll, kSpikeChannel, 0.01f);
  const float width = flaws.wide ? kThousand : 1;
  wide.scale(kWideChannel, Weights::kAll, width);
  wide.scale(kDeadChannel, Weights::kAll, 0);
  conv("spike", "wide", wide, kWidth, kWidth, 3, true);
  Weights narrow(random, kWidth, kWidth, 9);
  narrow.scale(Weights::kAll, kWideChannel, 1 / width);
  conv("wide", "narrow", narrow, kWidth, kWidth, 3, true);
  conv("narrow", "y", Weights(random, kOut, kWidth, 1), kOut, kWidth, 1, false);
  writer.output("y");
  return writer.model->SerializeAsString();
}

}  // namespace

Result<HardNetwork> make_hard_network(const Flaws& flaws) {
  HardNetwork out;
  const fs::path folder =
      fs::temp_directory_path() /
      str("rk_hard_", ::getpid(), flaws.spike ? "_spike" : "", flaws.wide ? "_wide" : "");
  fs::create_directories(folder);
  out.folder = folder.string();
  std::mt19937 random(20261115);
  out.onnx = (folder / "hard.onnx").string();
  RK_TRY(write_file(out.onnx, bytes_of(onnx_bytes(random, flaws))));
  std::string list;
  for (size_t i = 0; i < kCalibration; ++i) {
    const std::string file = str("calibration_", i, ".npy");
    RK_TRY(
        write_sample((folder / file).string(), sample(random, flaws.spike && i == kSpikeSample)));
    list += file + "\n";
  }
  out.dataset = (folder / "dataset.txt").string();
  RK_TRY(write_file(out.dataset, bytes_of(list)));
  for (size_t i = 0; i < kJudged; ++i) {
    out.inputs.push_back(sample(random, false));
    out.input_files.push_back((folder / str("input_", i, ".npy")).string());
    RK_TRY(write_sample(out.input_files.back(), out.inputs.back()));
  }
  return out;
}

}  // namespace rk::quant_check
