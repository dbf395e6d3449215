// SPDX-License-Identifier: Apache-2.0
// Operators of quantized models, one at a time and end to end: what the standard's formula gives in
// double against the evaluator (the source framework's arithmetic, one step allowed) and against
// the compiled model through the C API (the chip's arithmetic, two steps).
//
// 8-bit inputs and outputs of a model that arrives quantized are real numbers to the C API: they
// are fed and read as such here, and put back on the model's scale for the comparison.
//
// Note: a difference of one step is not an error of either side. Frameworks round
// the quotient in float32, the formula here in double, the chip multiplies by an integer and
// shifts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "base/file.h"
#include "evaluator/evaluate.h"
#include "tests/conformance/run_case.h"
#include "tests/e2e/figure.h"
#include "tests/frontends/onnx/model_builder.h"

namespace rk::conformance {
namespace {

using frontends::testing::ModelWriter;

using Reals = std::vector<double>;

// Integers with their scale, as they lie in a model.
struct Quantized {
  Tensor integers;
  std::vector<double> scale{1.0};
  std::vector<int> zero_point{0};
  int64_t per_channel = 0;  // elements per scale; 0: one for all

  Reals reals() const {
    Reals out;
    for (int64_t i = 0; i < integers.elements(); ++i) {
      const auto c = static_cast<size_t>(per_channel == 0 ? 0 : i / per_channel);
      out.push_back((integers.at_f64(i) - zero_point[c]) * scale[c]);
    }
    return out;
  }
};

Tensor quantize(const Reals& reals, const TensorType& type, double scale, int zero_point) {
  Tensor out = Tensor::make(type);
  for (size_t i = 0; i < reals.size(); ++i) {
    store_f64(type.dtype, out.mutable_data<uint8_t>() + i * byte_size(type.dtype),
              std::nearbyint(reals[i] / scale) + zero_point);
  }
  return out;
}

class Maker {
 public:
  Quantized random(DType dtype, const Shape& shape, double scale, int zero_point) {
    Quantized out;
    out.integers = Tensor::make({dtype, shape});
    std::uniform_int_distribution<int> any(dtype == DType::kU8 ? 0 : -128,
                                           dtype == DType::kU8 ? 255 : 127);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      store_f64(dtype, out.integers.mutable_data<uint8_t>() + i, any(random_));
    }
    out.scale = {scale};
    out.zero_point = {zero_point};
    return out;
  }

 private:
  std::mt19937 random_{20261115};
};

void add_constant(ModelWriter& m, const std::string& name, const Tensor& tensor) {
  onnx::TensorProto& proto = *m.model->mutable_graph()->add_initializer();
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const int64_t dim : tensor.shape().dims()) proto.add_dims(dim);
  proto.set_raw_data(
      std::string(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()));
}

Tensor float_list(const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  if (floats.size() == 1) return Tensor::f32({}, floats);
  return Tensor::f32({static_cast<int64_t>(floats.size())}, floats);
}

Tensor integer_list(DType dtype, const std::vector<int>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor out = Tensor::make({dtype, count == 1 ? Shape{} : Shape{count}});
  for (size_t i = 0; i < values.size(); ++i) {
    store_f64(dtype, out.mutable_data<uint8_t>() + i, values[i]);
  }
  return out;
}

// A model of one operator: its text, its run-time inputs and what must come out.
struct Model {
  ModelWriter writer{13};
  std::vector<Tensor> inputs;
  std::vector<Tensor> real_inputs;  // what the integers stand for
  Tensor expected;
  double y_scale = 1;
  int y_zero = 0;

  // The names of the integers, the scale and the zero point.
  std::vector<std::string> add(const std::string& name, const Quantized& q, bool constant) {
    if (constant) {
      add_constant(writer, name, q.integers);
    } else {
      const auto dims = q.integers.shape().dims();
      writer.input(name, {dims.begin(), dims.end()}, static_cast<int>(q.integers.dtype()));
      inputs.push_back(q.integers);
      const Reals reals = q.reals();
      real_inputs.push_back(Tensor::f32(q.integers.shape(), {reals.begin(), reals.end()}));
    }
    add_scale(name, q.integers.dtype(), q.scale, q.zero_point);
    return {name, name + "_scale", name + "_zero"};
  }
  void add_scale(const std::string& name, DType dtype, const std::vector<double>& scale,
                 const std::vector<int>& zero_point) {
    if (name == "y") {
      y_scale = scale[0];
      y_zero = zero_point[0];
    }
    add_constant(writer, name + "_scale", float_list(scale));
    add_constant(writer, name + "_zero", integer_list(dtype, zero_point));
  }
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& names,
                        const std::string& domain = "com.microsoft") {
    writer.output("y");
    onnx::NodeProto& out = writer.node(op, names, {"y"}, "op");
    out.set_domain(domain);
    return out;
  }
};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A 3x3 convolution with padding 1 over [1,channels,height,width]; 0 stands outside.
Reals convolve(const Reals& x, const Shape& in, const Reals& w, int64_t out_channels) {
  Reals out;
  const int64_t channels = in[1], height = in[2], width = in[3];
  for (int64_t o = 0; o < out_channels; ++o) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t z = 0; z < width; ++z) {
        double sum = 0;
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t k = 0; k < 9; ++k) {
            const int64_t from_y = y + k / 3 - 1, from_x = z + k % 3 - 1;
            if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
            sum += x[static_cast<size_t>((c * height + from_y) * width + from_x)] *
                   w[static_cast<size_t>((o * channels + c) * 9 + k)];
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

Reals multiply(const Reals& a, const Reals& b, int64_t rows, int64_t depth, int64_t columns) {
  Reals out;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += a[static_cast<size_t>(i * depth + k)] * b[static_cast<size_t>(k * columns + j)];
      }
      out.push_back(sum);
    }
  }
  return out;
}

Reals mapped(Reals values, const std::function<double(double)>& f) {
  for (double& value : values) value = f(value);
  return values;
}

// Weights [16,8,3,3] with a scale per output channel.
Quantized conv_weights(Maker& make) {
  Quantized w = make.random(DType::kI8, {16, 8, 3, 3}, 1, 0);
  w.per_channel = 8 * 9;
  w.scale.clear();
  w.zero_point.clear();
  for (int c = 0; c < 16; ++c) {
    w.scale.push_back(0.01 * (1 + c % 5));
    w.zero_point.push_back(0);
  }
  return w;
}

Model qlinear_conv() {
  Maker make;
  Model m;
  const Quantized x = make.random(DType::kU8, {1, 8, 7, 9}, 0.05, 120);
  const Quantized w = conv_weights(make);
  std::vector<int32_t> bias;
  for (int c = 0; c < 16; ++c) bias.push_back(1000 * (c - 8));
  Reals y = convolve(x.reals(), x.integers.shape(), w.reals(), 16);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] += bias[i / 63] * x.scale[0] * w.scale[i / 63];
  }
  m.expected = quantize(y, {DType::kU8, {1, 16, 7, 9}}, 0.5, 110);
  const auto x_names = m.add("x", x, false);
  const auto w_names = m.add("w", w, true);
  m.add_scale("y", DType::kU8, {0.5}, {110});
  add_constant(m.writer, "bias", Tensor::of<int32_t>(DType::kI32, {16}, bias));
  onnx::NodeProto& node =
      m.node("QLinearConv", joined(joined(x_names, w_names), {"y_scale", "y_zero", "bias"}), "");
  frontends::testing::set_ints(node, "pads", {1, 1, 1, 1});
  return m;
}

Model qlinear_matmul(const std::string& op) {
  Maker make;
  Model m;
  const Quantized a = make.random(DType::kU8, {6, 24}, 0.02, 130);
  const Quantized b = make.random(DType::kI8, {24, 10}, 0.03, 0);
  m.expected = quantize(multiply(a.reals(), b.reals(), 6, 24, 10), {DType::kU8, {6, 10}}, 0.4, 127);
  auto names = joined(m.add("a", a, false), m.add("b", b, true));
  m.add_scale("y", DType::kU8, {0.4}, {127});
  if (op == "QGemm") names.push_back("");  // no bias
  m.node(op, joined(names, {"y_scale", "y_zero"}), op == "QGemm" ? "com.microsoft" : "");
  return m;
}

Model qlinear_binary(const std::string& op) {
  Maker make;
  Model m;
  const Quantized a = make.random(DType::kU8, {1, 4, 5, 6}, 0.02, 100);
  const Quantized b = make.random(DType::kU8, {1, 4, 5, 6}, 0.03, 140);
  Reals y = a.reals();
  const Reals other = b.reals();
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = op == "QLinearAdd" ? y[i] + other[i] : y[i] * other[i];
  m.expected = quantize(y, {DType::kU8, {1, 4, 5, 6}}, 0.05, 128);
  const auto names = joined(m.add("a", a, false), m.add("b", b, false));
  m.add_scale("y", DType::kU8, {0.05}, {128});
  m.node(op, joined(names, {"y_scale", "y_zero"}));
  return m;
}

Model qlinear_concat() {
  Maker make;
  Model m;
  const Quantized a = make.random(DType::kU8, {1, 4, 5, 6}, 0.02, 100);
  const Quantized b = make.random(DType::kU8, {1, 2, 5, 6}, 0.05, 140);
  Reals y = a.reals();
  const Reals other = b.reals();
  y.insert(y.end(), other.begin(), other.end());
  m.expected = quantize(y, {DType::kU8, {1, 6, 5, 6}}, 0.04, 128);
  m.add_scale("y", DType::kU8, {0.04}, {128});
  const auto names = joined(m.add("a", a, false), m.add("b", b, false));
  frontends::testing::set_int(m.node("QLinearConcat", joined({"y_scale", "y_zero"}, names)), "axis",
                              1);
  return m;
}

// Operators of one input; `attrs` completes the node.
Model qlinear_unary(const std::string& op, const Shape& in, const Shape& out, double out_scale,
                    int out_zero, const std::function<Reals(const Reals&)>& f,
                    const std::function<void(onnx::NodeProto&)>& attrs = {}) {
  Maker make;
  Model m;
  const Quantized x = make.random(DType::kU8, in, 0.04, 128);
  m.expected = quantize(f(x.reals()), {DType::kU8, out}, out_scale, out_zero);
  const auto names = m.add("x", x, false);
  m.add_scale("y", DType::kU8, {out_scale}, {out_zero});
  onnx::NodeProto& node = m.node(op, joined(names, {"y_scale", "y_zero"}));
  if (attrs) attrs(node);
  return m;
}

// Means over windows of k x k without overlap, of [1,channels,size,size].
Reals pooled(const Reals& x, int64_t channels, int64_t size, int64_t k) {
  Reals out;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < size; y += k) {
      for (int64_t z = 0; z < size; z += k) {
        double sum = 0;
        for (int64_t i = 0; i < k * k; ++i) {
          sum += x[static_cast<size_t>((c * size + y + i / k) * size + z + i % k)];
        }
        out.push_back(sum / static_cast<double>(k * k));
      }
    }
  }
  return out;
}

Reals softmax_rows(const Reals& x, size_t length) {
  Reals out = x;
  for (size_t row = 0; row < x.size(); row += length) {
    double sum = 0;
    for (size_t i = row; i < row + length; ++i) sum += out[i] = std::exp(x[i]);
    for (size_t i = row; i < row + length; ++i) out[i] /= sum;
  }
  return out;
}

Model integer_product(const std::string& op) {
  Maker make;
  Model m;
  const bool conv = op == "ConvInteger";
  const Shape shape = conv ? Shape{1, 8, 7, 9} : Shape{6, 24};
  const Quantized a = make.random(DType::kU8, shape, 1, 120);
  const Quantized b = make.random(DType::kI8, conv ? Shape{16, 8, 3, 3} : Shape{24, 10}, 1, 3);
  const Reals y =
      conv ? convolve(a.reals(), shape, b.reals(), 16) : multiply(a.reals(), b.reals(), 6, 24, 10);
  m.expected = Tensor::make({DType::kI32, conv ? Shape{1, 16, 7, 9} : Shape{6, 10}});
  for (size_t i = 0; i < y.size(); ++i)
    m.expected.mutable_data<int32_t>()[i] = static_cast<int32_t>(y[i]);
  m.add("a", a, false);
  m.add("b", b, true);
  onnx::NodeProto& node = m.node(op, {"a", "b", "a_zero", "b_zero"}, "");
  if (conv) frontends::testing::set_ints(node, "pads", {1, 1, 1, 1});
  return m;
}

Model dequantize_quantize() {
  Maker make;
  Model m;
  const Quantized x = make.random(DType::kI8, {1, 3, 4, 5}, 0.04, -7);
  m.expected = quantize(x.reals(), {DType::kU8, {1, 3, 4, 5}}, 0.05, 100);
  const auto names = m.add("x", x, false);
  m.add_scale("y", DType::kU8, {0.05}, {100});
  m.writer.node("DequantizeLinear", names, {"real"}).set_domain("com.microsoft");
  m.node("QuantizeLinear", {"real", "y_scale", "y_zero"});
  return m;
}

Model dynamic_quantize() {
  Model m;
  Reals x;
  for (int i = 0; i < 60; ++i) x.push_back(0.5 * (i % 17) - 3);  // -3 to 5
  m.writer.input("x", {3, 20});
  m.inputs.push_back(Tensor::f32({3, 20}, {x.begin(), x.end()}));
  m.expected = quantize(x, {DType::kU8, {3, 20}}, 8.0 / 255, 96);  // 3 / (8 / 255) = 95.6
  m.node("DynamicQuantizeLinear", {"x"}, "");
  return m;
}

enum class Kind {
  kQuantized,  // 8-bit inputs and outputs have a scale
  kDynamic,    // a real input; the scale of the output is found at run time
  kInteger     // integers without a scale, exact
};

struct NamedModel {
  const char* name;
  Model (*make)();
  Kind kind = Kind::kQuantized;
};

const NamedModel kModels[] = {
    {"QLinearConv", qlinear_conv},
    {"QLinearMatMul", [] { return qlinear_matmul("QLinearMatMul"); }},
    {"QGemm", [] { return qlinear_matmul("QGemm"); }},
    {"QLinearAdd", [] { return qlinear_binary("QLinearAdd"); }},
    {"QLinearMul", [] { return qlinear_binary("QLinearMul"); }},
    {"QLinearConcat", qlinear_concat},
    {"QLinearGlobalAveragePool",
     [] {
       return qlinear_unary("QLinearGlobalAveragePool", {1, 4, 6, 6}, {1, 4, 1, 1}, 0.01, 128,
                            [](const Reals& x) { return pooled(x, 4, 6, 6); });
     }},
    {"QLinearAveragePool",
     [] {
       return qlinear_unary(
           "QLinearAveragePool", {1, 4, 6, 6}, {1, 4, 3, 3}, 0.03, 128,
           [](const Reals& x) { return pooled(x, 4, 6, 2); },
           [](onnx::NodeProto& node) {
             frontends::testing::set_ints(node, "kernel_shape", {2, 2});
             frontends::testing::set_ints(node, "strides", {2, 2});
           });
     }},
    {"QLinearLeakyRelu",
     [] {
       return qlinear_unary(
           "QLinearLeakyRelu", {1, 4, 6, 6}, {1, 4, 6, 6}, 0.03, 30,
           [](const Reals& x) {
             return mapped(x, [](double v) { return v >= 0 ? v : 0.125 * v; });
           },
           [](onnx::NodeProto& node) { frontends::testing::set_float(node, "alpha", 0.125f); });
     }},
    {"QLinearSigmoid",
     [] {
       return qlinear_unary("QLinearSigmoid", {1, 4, 6, 6}, {1, 4, 6, 6}, 1.0 / 256, 0,
                            [](const Reals& x) {
                              return mapped(x, [](double v) { return 1 / (1 + std::exp(-v)); });
                            });
     }},
    {"QLinearSoftmax",
     [] {
       return qlinear_unary(
           "QLinearSoftmax", {4, 12}, {4, 12}, 1.0 / 256, 0,
           [](const Reals& x) { return softmax_rows(x, 12); },
           [](onnx::NodeProto& node) {
             frontends::testing::set_int(node, "axis", -1);
             frontends::testing::set_int(node, "opset", 13);
           });
     }},
    {"DequantizeLinear and QuantizeLinear of com.microsoft", dequantize_quantize},
    {"DynamicQuantizeLinear", dynamic_quantize, Kind::kDynamic},
    {"ConvInteger", [] { return integer_product("ConvInteger"); }, Kind::kInteger},
    {"MatMulInteger", [] { return integer_product("MatMulInteger"); }, Kind::kInteger},
};

int64_t largest_step(const Tensor& found, const Tensor& expected) {
  if (found.type() != expected.type()) return 1 << 20;
  int64_t out = 0;
  for (int64_t i = 0; i < found.elements(); ++i) {
    out = std::max(out, std::abs(found.at_i64(i) - expected.at_i64(i)));
  }
  return out;
}

Tensor on_scale(const Tensor& reals, const Model& m) {
  const std::vector<float> values = reals.to_f32();
  return quantize({values.begin(), values.end()}, m.expected.type(), m.y_scale, m.y_zero);
}

class QuantizedOperator : public ::testing::TestWithParam<NamedModel> {};

TEST_P(QuantizedOperator, IsWithinItsSteps) {
  const Model m = GetParam().make();
  const auto graph = m.writer.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto evaluated = evaluator::evaluate(*graph, m.inputs);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status().message();
  const std::string name = GetParam().name;
  e2e::figure_at_most(name + ", steps off in the evaluator",
                      static_cast<double>(largest_step((*evaluated)[0], m.expected)),
                      GetParam().kind == Kind::kInteger ? 0 : 1);

  const std::string path =
      (std::filesystem::temp_directory_path() / str("rk_quantized_", ::getpid(), ".onnx")).string();
  const std::string bytes = m.writer.model->SerializeAsString();
  ASSERT_TRUE(
      write_file(path, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}).ok());
  const bool real = GetParam().kind == Kind::kQuantized;
  const Tensor wanted =
      real ? Tensor::make({DType::kF32, m.expected.shape()}) : m.expected;  // its type counts
  const auto found = run_rknn(path, {}, real ? m.real_inputs : m.inputs, {wanted});
  std::filesystem::remove(path);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const Tensor integers = real ? on_scale((*found)[0], m) : (*found)[0];
  e2e::figure_at_most(name + ", steps off through the C API",
                      static_cast<double>(largest_step(integers, m.expected)),
                      GetParam().kind == Kind::kInteger ? 0 : 2);
}

std::string test_name(const ::testing::TestParamInfo<NamedModel>& info) {
  std::string out;
  for (const char* c = info.param.name; *c != '\0'; ++c) {
    if (std::isalnum(*c)) out += *c;
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Onnx, QuantizedOperator, ::testing::ValuesIn(kModels), test_name);

}  // namespace
}  // namespace rk::conformance
