// SPDX-License-Identifier: Apache-2.0
// Convolutions whose weights the graph computes, in float16 and int8, with one group (which the NPU
// of the larger chips takes) and with several (which the CPU takes).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/npy.h"
#include "evaluator/evaluate.h"
#include "tests/conformance/run_case.h"
#include "tests/e2e/figure.h"
#include "tests/frontends/onnx/model_builder.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::conformance {
namespace {

namespace fs = std::filesystem;
using frontends::testing::ModelWriter;

// y = Conv(x, tanh(v)): weights [8,8/groups,3,3] from the second input.
ModelWriter computed_weights(int64_t groups) {
  ModelWriter m(13);
  m.input("x", {1, 8, 10, 12}).input("v", {8, 8 / groups, 3, 3}).output("y");
  m.node("Tanh", {"v"}, {"w"});
  onnx::NodeProto& conv = m.node("Conv", {"x", "w"}, {"y"}, "conv");
  frontends::testing::set_int(conv, "group", groups);
  frontends::testing::set_ints(conv, "pads", {1, 1, 1, 1});
  return m;
}

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  std::normal_distribution<float> any;
  Tensor out = Tensor::make({DType::kF32, shape});
  for (int64_t i = 0; i < shape.elements(); ++i) out.mutable_data<float>()[i] = any(random);
  return out;
}

double cosine(const Tensor& a, const Tensor& b) {
  double both = 0, own = 0, other = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    both += a.at_f64(i) * b.at_f64(i);
    own += a.at_f64(i) * a.at_f64(i);
    other += b.at_f64(i) * b.at_f64(i);
  }
  return both / std::sqrt(own * other);
}

// A folder with the model and a calibration list of one sample; gone at the end.
class Workplace {
 public:
  Workplace() : folder_(fs::temp_directory_path() / str("rk_computed_weights_", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Workplace() { fs::remove_all(folder_); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Status write(const std::string& name, const std::string& bytes) const {
    return write_file(path(name), {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  Status write_array(const std::string& name, const Tensor& tensor) const {
    NpyArray array;
    array.kind = 'f';
    array.item_size = 4;
    array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
    array.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
    return write_npy(path(name), array);
  }

 private:
  fs::path folder_;
};

struct Built {
  double cosine = 0;
  program::Processor processor = program::Processor::kCpu;
};

Result<Built> build_and_run(int64_t groups, bool quantized) {
  const ModelWriter m = computed_weights(groups);
  std::mt19937 random(7);
  const std::vector<Tensor> inputs = {random_tensor({1, 8, 10, 12}, random),
                                      random_tensor({8, 8 / groups, 3, 3}, random)};
  RK_ASSIGN(const Graph graph, m.import());
  RK_ASSIGN(const std::vector<Tensor> expected, evaluator::evaluate(graph, inputs));

  const Workplace workplace;
  RK_TRY(workplace.write("model.onnx", m.model->SerializeAsString()));
  RK_TRY(workplace.write_array("x.npy", inputs[0]));
  RK_TRY(workplace.write_array("v.npy", inputs[1]));
  RK_TRY(workplace.write("dataset.txt", "./x.npy ./v.npy\n"));
  toolkit::Toolkit kit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(kit.config(std::move(config)));
  RK_TRY(kit.load_onnx(workplace.path("model.onnx"), {}));
  RK_TRY(kit.build({.do_quantization = quantized, .dataset = workplace.path("dataset.txt")}));
  Built out;
  for (const program::Step& step : kit.program().main_variant().steps) {
    if (step.name.find("conv") != std::string::npos) out.processor = step.processor;
  }
  RK_ASSIGN(std::vector<uint8_t> image, kit.rknn_bytes());
  RK_ASSIGN(const std::vector<Tensor> found, run_image(std::move(image), inputs, expected));
  out.cosine = cosine(found[0], expected[0]);
  return out;
}

TEST(ComputedWeights, RunInFloat16AndInt8) {
  for (const int64_t groups : {int64_t{1}, int64_t{2}}) {
    for (const bool quantized : {false, true}) {
      const auto built = build_and_run(groups, quantized);
      ASSERT_TRUE(built.ok()) << built.status().message();
      e2e::figure_at_least(str("Conv with computed weights, group ", groups, ", ",
                               quantized ? "int8" : "float16", ", cosine"),
                           built->cosine, quantized ? 0.999 : 0.99999);
      EXPECT_EQ(built->processor,
                groups == 1 ? program::Processor::kNpu : program::Processor::kCpu);
    }
  }
}

}  // namespace
}  // namespace rk::conformance
