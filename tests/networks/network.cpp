// SPDX-License-Identifier: Apache-2.0
#include "tests/networks/network.h"

#include <cmath>

namespace rk::networks {

using frontends::testing::set_float;
using frontends::testing::set_int;
using frontends::testing::set_ints;
using frontends::testing::set_text;

namespace {

void set_attr(onnx::NodeProto& node, const std::string& name, const AttrValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) set_int(node, name, *number);
  if (const auto* real = std::get_if<float>(&value)) set_float(node, name, *real);
  if (const auto* text = std::get_if<std::string>(&value)) set_text(node, name, *text);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) set_ints(node, name, *list);
}

int64_t product(const Dims& dims) {
  int64_t out = 1;
  for (const int64_t extent : dims) out *= extent;
  return out;
}

}  // namespace

std::vector<std::string> NetworkWriter::op_with_outputs(size_t outputs, const std::string& type,
                                                        const std::vector<std::string>& inputs,
                                                        const Attrs& attrs) {
  const std::string name = fresh(type);
  std::vector<std::string> made;
  for (size_t i = 0; i < outputs; ++i)
    made.push_back(outputs == 1 ? name : name + "_" + std::to_string(i));
  onnx::NodeProto& written = node(type, inputs, made, name);
  for (const auto& [attr, value] : attrs) set_attr(written, attr, value);
  return made;
}

std::string NetworkWriter::op(const std::string& type, const std::vector<std::string>& inputs,
                              const Attrs& attrs) {
  return op_with_outputs(1, type, inputs, attrs).front();
}

// As raw bytes: a list of numbers costs several times the memory while the message is written.
std::string NetworkWriter::add_floats(const Dims& dims, std::vector<float> values) {
  std::string name = fresh("c");
  floats(name, dims, {}).set_raw_data(values.data(), values.size() * sizeof(float));
  return name;
}

std::string NetworkWriter::normal(const Dims& dims, double deviation, double mean) {
  std::normal_distribution<float> draw(static_cast<float>(mean), static_cast<float>(deviation));
  std::vector<float> values(static_cast<size_t>(product(dims)));
  for (float& value : values) value = draw(random_);
  return add_floats(dims, std::move(values));
}

std::string NetworkWriter::constant(const Dims& dims, const std::vector<float>& values) {
  return add_floats(dims, values);
}

std::string NetworkWriter::shape(const Dims& values) {
  std::string name = fresh("s");
  ints(name, {static_cast<int64_t>(values.size())}, values);
  return name;
}

std::string NetworkWriter::conv(const std::string& x, const ConvShape& s) {
  const int64_t pad = s.pad < 0 ? s.kernel / 2 : s.pad;
  const double fan_in = static_cast<double>(s.in / s.group * s.kernel * s.kernel);
  std::vector<std::string> inputs = {
      x, normal({s.out, s.in / s.group, s.kernel, s.kernel}, std::sqrt(s.gain / fan_in))};
  if (s.bias) inputs.push_back(normal({s.out}, 0.1));
  return op("Conv", inputs,
            {{"kernel_shape", Dims{s.kernel, s.kernel}},
             {"strides", Dims{s.stride, s.stride}},
             {"pads", Dims{pad, pad, pad, pad}},
             {"group", s.group}});
}

std::string NetworkWriter::batch_norm(const std::string& x, int64_t channels) {
  std::vector<float> variance(static_cast<size_t>(channels));
  std::uniform_real_distribution<float> draw(0.6f, 1.4f);
  for (float& value : variance) value = draw(random_);
  return op("BatchNormalization",
            {x, normal({channels}, 0.15, 1), normal({channels}, 0.1), normal({channels}, 0.1),
             constant({channels}, variance)},
            {{"epsilon", 1e-5f}});
}

std::string NetworkWriter::linear(const std::string& x, int64_t in, int64_t out, double gain,
                                  bool bias) {
  const std::string y =
      op("MatMul", {x, normal({in, out}, std::sqrt(gain / static_cast<double>(in)))});
  return bias ? op("Add", {normal({out}, 0.05), y}) : y;
}

std::string NetworkWriter::reshape(const std::string& x, const Dims& dims) {
  return op("Reshape", {x, shape(dims)});
}

std::string NetworkWriter::transpose(const std::string& x, const Dims& perm) {
  return op("Transpose", {x}, {{"perm", perm}});
}

const std::vector<Network>& all_networks() {
  const auto picture = [](int64_t extent) {
    return TensorType{DType::kF32, {1, 3, extent, extent}};
  };
  static const std::vector<Network> networks = {
      {.name = "mobilenet_v2", .write = mobilenet_v2, .input = picture(224)},
      {.name = "resnet50", .write = resnet50, .input = picture(224)},
      {.name = "yolov5s_relu", .write = yolov5s_relu, .input = picture(320), .opset = 12},
      {.name = "yolov5s_silu", .write = yolov5s_silu, .input = picture(320), .opset = 12},
      {.name = "yolov8n", .write = yolov8n, .input = picture(320), .opset = 17},
      {.name = "vit_tiny", .write = vit_tiny, .input = picture(224), .opset = 14},
      {.name = "whisper_encoder",
       .write = whisper_encoder,
       .input = {DType::kF32, {1, 80, 200}},
       .opset = 17},
      {.name = "lstm_tagger",
       .write = lstm_tagger,
       .input = {DType::kI64, {1, 24}},
       .vocabulary = 200},
      {.name = "mobile_mix", .write = mobile_mix, .input = picture(64)},
      {.name = "unet", .write = unet, .input = picture(128)},
  };
  return networks;
}

}  // namespace rk::networks
