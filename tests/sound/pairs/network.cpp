// SPDX-License-Identifier: Apache-2.0
#include "tests/sound/pairs/network.h"

#include <algorithm>
#include <cmath>

#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::sound {
namespace {

constexpr float kWeightScale = 1.0f / 64, kActivationScale = 1.0f / 32, kInputScale = 1.0f / 255;

// Whole numbers, so that the quantized form is the same network.
int8_t first_weight(const Network& network, int64_t out, int64_t in, int64_t tap) {
  if (network.empty_channels && out < 2) return 0;
  return static_cast<int8_t>((out * 7 + in * 5 + tap * 3) % 23 - 9);
}
int8_t second_weight(int64_t out, int64_t in) {
  return static_cast<int8_t>((out * 5 + in * 11) % 29 - 13);
}

class Builder {
 public:
  explicit Builder(const Network& network) : network_(network) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    if (network.custom) {
      auto* const own = model_.add_opset_import();
      own->set_domain("test");
      own->set_version(1);
    }
    model_.mutable_graph()->set_name("pairs");
  }

  onnx::NodeProto* node(const std::string& op, std::vector<std::string> inputs,
                        const std::string& output) {
    auto* const out = model_.mutable_graph()->add_node();
    out->set_op_type(op);
    out->set_name(output);
    for (const std::string& input : inputs) out->add_input(input);
    out->add_output(output);
    return out;
  }

  // A value and, in a quantized network, the pair of nodes that rounds it.
  std::string rounded(const std::string& value, float scale, int zero_point) {
    if (!network_.quantized) return value;
    number(value + "_scale", scale);
    zero(value + "_zero", zero_point);
    node("QuantizeLinear", {value, value + "_scale", value + "_zero"}, value + "_q");
    node("DequantizeLinear", {value + "_q", value + "_scale", value + "_zero"}, value + "_r");
    return value + "_r";
  }

  std::string weight(const std::string& name, std::vector<int64_t> dims,
                     const std::vector<int8_t>& values) {
    auto* const tensor = model_.mutable_graph()->add_initializer();
    for (const int64_t dim : dims) tensor->add_dims(dim);
    if (!network_.quantized) {
      tensor->set_name(name);
      tensor->set_data_type(1);
      for (const int8_t value : values) tensor->add_float_data(value * kWeightScale);
      return name;
    }
    tensor->set_name(name + "_q");
    tensor->set_data_type(3);
    for (const int8_t value : values) tensor->add_int32_data(value);
    number(name + "_scale", kWeightScale);
    zero(name + "_zero", 0);
    node("DequantizeLinear", {name + "_q", name + "_scale", name + "_zero"}, name);
    return name;
  }

  void ints(onnx::NodeProto* node, const std::string& name, std::vector<int64_t> values) {
    auto* const attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(7);
    for (const int64_t value : values) attribute->add_ints(value);
  }

  void value(onnx::ValueInfoProto* info, const std::string& name, std::vector<int64_t> dims) {
    info->set_name(name);
    auto* const type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    for (const int64_t dim : dims) type->mutable_shape()->add_dim()->set_dim_value(dim);
  }

  onnx::ModelProto& model() { return model_; }

 private:
  void number(const std::string& name, float value) {
    auto* const tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(1);
    tensor->add_float_data(value);
  }
  void zero(const std::string& name, int value) {
    auto* const tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(3);
    tensor->add_int32_data(value);
  }

  const Network& network_;
  onnx::ModelProto model_;
};

}  // namespace

std::string to_onnx(const Network& network, int64_t height, int64_t width) {
  Builder b(network);
  auto* const graph = b.model().mutable_graph();
  b.value(graph->add_input(), "x", {1, kInChannels, height, width});
  std::vector<int8_t> first, second;
  for (int64_t o = 0; o < kChannels; ++o) {
    for (int64_t i = 0; i < kInChannels; ++i) {
      for (int64_t t = 0; t < 9; ++t) first.push_back(first_weight(network, o, i, t));
    }
    for (int64_t i = 0; i < kChannels; ++i) second.push_back(second_weight(o, i));
  }
  const std::string x = b.rounded("x", kInputScale, -128);
  auto* const conv =
      b.node("Conv", {x, b.weight("w1", {kChannels, kInChannels, 3, 3}, first)}, "conv1");
  b.ints(conv, "kernel_shape", {3, 3});
  b.ints(conv, "pads", {1, 1, 1, 1});
  b.node("Relu", {"conv1"}, "relu1");
  std::string h = b.rounded("relu1", kActivationScale, -128);
  if (network.custom) {
    b.node("Twist", {h}, "twist")->set_domain("test");
    h = b.rounded("twist", kActivationScale, -128);
  }
  auto* const conv2 =
      b.node("Conv", {h, b.weight("w2", {kChannels, kChannels, 1, 1}, second)}, "conv2");
  b.ints(conv2, "kernel_shape", {1, 1});
  std::string y = b.rounded("conv2", kActivationScale, 0);
  if (network.residual) {
    b.node("Add", {y, h}, "sum");
    y = b.rounded("sum", kActivationScale, 0);
  }
  b.node("Relu", {y}, "y_float");
  b.node("Identity", {b.rounded("y_float", kActivationScale, -128)}, "y");
  b.value(graph->add_output(), "y", {1, kChannels, height, width});
  return b.model().SerializeAsString();
}

std::vector<float> compute(const Network& network, const std::vector<float>& x, int64_t height,
                           int64_t width) {
  const int64_t pixels = height * width;
  std::vector<float> h(static_cast<size_t>(kChannels * pixels)), y(h.size());
  for (int64_t o = 0; o < kChannels; ++o) {
    for (int64_t at = 0; at < pixels; ++at) {
      double sum = 0;
      for (int64_t i = 0; i < kInChannels; ++i) {
        for (int64_t t = 0; t < 9; ++t) {
          const int64_t row = at / width + t / 3 - 1, column = at % width + t % 3 - 1;
          if (row < 0 || row >= height || column < 0 || column >= width) continue;
          sum += x[static_cast<size_t>(i * pixels + row * width + column)] * kWeightScale *
                 first_weight(network, o, i, t);
        }
      }
      const auto value = static_cast<float>(std::max(sum, 0.0));
      h[static_cast<size_t>(o * pixels + at)] = network.custom ? twist(value) : value;
    }
  }
  for (int64_t o = 0; o < kChannels; ++o) {
    for (int64_t at = 0; at < pixels; ++at) {
      double sum = network.residual ? h[static_cast<size_t>(o * pixels + at)] : 0;
      for (int64_t i = 0; i < kChannels; ++i)
        sum += h[static_cast<size_t>(i * pixels + at)] * kWeightScale * second_weight(o, i);
      y[static_cast<size_t>(o * pixels + at)] = static_cast<float>(std::max(sum, 0.0));
    }
  }
  return y;
}

}  // namespace rk::sound
