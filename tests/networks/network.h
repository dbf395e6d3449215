// SPDX-License-Identifier: Apache-2.0
// Networks as their exporters write them, with seeded random weights: the topology is the real one,
// the numbers are scaled so that activations keep their size from layer to layer. They pass through
// the importer like a user's file.
//
// Note: a random network that lets activations grow or die tests nothing,
// since one saturated layer hides all that follow. Weights are drawn with variance gain / fan-in
// for that reason.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/tensor.h"
#include "tests/frontends/onnx/model_builder.h"

namespace rk::networks {

using AttrValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<std::string>>;
using Attrs = std::vector<std::pair<std::string, AttrValue>>;
using Dims = std::vector<int64_t>;

struct ConvShape {
  int64_t in = 1, out = 1;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t pad = -1;  // -1: kernel / 2
  int64_t group = 1;
  double gain = 2;  // 2 keeps the variance through a Relu, 1 without one
  bool bias = true;
};

// Writes nodes that name their own outputs; every method returns the name of what it made.
class NetworkWriter : public frontends::testing::ModelWriter {
 public:
  NetworkWriter(uint32_t seed, int64_t opset) : ModelWriter(opset), random_(seed) {}

  std::string op(const std::string& type, const std::vector<std::string>& inputs,
                 const Attrs& attrs = {});
  std::vector<std::string> op_with_outputs(size_t outputs, const std::string& type,
                                           const std::vector<std::string>& inputs,
                                           const Attrs& attrs = {});

  // Initializers: normally distributed, or as given.
  std::string normal(const Dims& dims, double deviation, double mean = 0);
  std::string constant(const Dims& dims, const std::vector<float>& values);
  std::string scalar(float value) { return constant({}, {value}); }
  std::string shape(const Dims& values);  // int64, rank 1

  std::string conv(const std::string& x, const ConvShape& shape);
  std::string batch_norm(const std::string& x, int64_t channels);
  // x [..., in] -> [..., out], as MatMul and Add.
  std::string linear(const std::string& x, int64_t in, int64_t out, double gain = 1,
                     bool bias = true);
  std::string reshape(const std::string& x, const Dims& dims);
  std::string transpose(const std::string& x, const Dims& perm);

 private:
  std::string fresh(const std::string& stem) { return stem + "_" + std::to_string(++count_); }
  std::string add_floats(const Dims& dims, std::vector<float> values);
  std::mt19937 random_;
  size_t count_ = 0;
};

struct Network {
  std::string name;
  std::function<void(NetworkWriter&)> write;
  TensorType input;
  int64_t vocabulary = 0;  // integer inputs: tokens below this
  int64_t opset = 13;
};

// Topologies, by file: vision.cpp, yolo.cpp, sequence.cpp.
void mobilenet_v2(NetworkWriter& net);
void resnet50(NetworkWriter& net);
void unet(NetworkWriter& net);
void mobile_mix(NetworkWriter& net);
void yolov5s_relu(NetworkWriter& net);  // the Focus stem of releases before 6
void yolov5s_silu(NetworkWriter& net);  // the 6x6 stem of release 6
void yolov8n(NetworkWriter& net);
void vit_tiny(NetworkWriter& net);
void whisper_encoder(NetworkWriter& net);
void lstm_tagger(NetworkWriter& net);

const std::vector<Network>& all_networks();

}  // namespace rk::networks
