// SPDX-License-Identifier: Apache-2.0
// Every pair of features on small networks: what two features do together is where strangers found most mistakes. Each
// pair must give the network's numbers, computed by loops in network.cpp, or be refused with a sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "base/npy.h"
#include "rknn_api.h"
#include "rknn_custom_op.h"
#include "tests/sound/pairs/network.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::sound {
namespace {

enum Feature {
  kHybrid,
  kDynamic,
  kBatch,
  kSharing,
  kCustom,
  kPruning,
  kOpTarget,
  kQdq,
  kFloat16,
  kMultiCore,
  kZeroCopy,
  kFeatures
};
constexpr const char* kNames[kFeatures] = {
    "hybrid",    "dynamic shapes", "batch",     "shared weights",
    "custom op", "pruning",        "op_target", "QDQ",
    "float16",   "several cores",  "zero-copy"};

constexpr int64_t kHeight = 8, kWidth = 8, kOtherHeight = 6, kOtherWidth = 10;
constexpr double kCosine = 0.99;

struct Pair {
  std::set<int> on;
  bool has(Feature feature) const { return on.contains(feature); }
};

// Pixels of sample `seed`, NHWC.
std::vector<uint8_t> picture(int64_t height, int64_t width, int64_t seed) {
  std::vector<uint8_t> out;
  for (int64_t i = 0; i < height * width * kInChannels; ++i)
    out.push_back(static_cast<uint8_t>((i * 37 + seed * 101 + i * i % 13 * 9) % 256));
  return out;
}

std::vector<float> planes(const std::vector<uint8_t>& nhwc) {
  const size_t pixels = nhwc.size() / kInChannels;
  std::vector<float> out(nhwc.size());
  for (size_t at = 0; at < pixels; ++at) {
    for (size_t c = 0; c < kInChannels; ++c)
      out[c * pixels + at] = static_cast<float>(nhwc[at * kInChannels + c]) / 255;
  }
  return out;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

int compute_twist(rknn_custom_op_context*, rknn_custom_op_tensor* inputs, uint32_t,
                  rknn_custom_op_tensor* outputs, uint32_t) {
  const auto* const from = static_cast<const float*>(inputs[0].mem.virt_addr);
  auto* const to = static_cast<float*>(outputs[0].mem.virt_addr);
  for (uint32_t i = 0; i < outputs[0].attr.n_elems; ++i) to[i] = twist(from[i]);
  return 0;
}

ops::CustomOp twist_op() {
  return {.type = "Twist",
          .infer = [](const Node& node, size_t) -> Result<std::vector<TensorType>> {
            return std::vector<TensorType>{node.input(0).type()};
          },
          .compute =
              [](const EvalCall& call) {
                const Tensor& from = call.input(0);
                float* const to = call.output(0).mutable_data<float>();
                for (int64_t i = 0; i < from.elements(); ++i) to[i] = twist(from.data<float>()[i]);
                return ok_status();
              }};
}

class PairRun {
 public:
  PairRun(const Pair& pair, bool residual, std::filesystem::path folder)
      : pair_(pair), folder_(std::move(folder)) {
    network_.residual = residual;
    network_.custom = pair.has(kCustom);
    network_.quantized = pair.has(kQdq);
    network_.empty_channels = pair.has(kPruning);
  }
  ~PairRun() {
    for (rknn_tensor_mem* memory : memories_) rknn_destroy_mem(contexts_.back(), memory);
    while (!contexts_.empty()) {
      rknn_destroy(contexts_.back());
      contexts_.pop_back();
    }
  }
  PairRun(const PairRun&) = delete;
  PairRun& operator=(const PairRun&) = delete;

  // The worst cosine of all shapes and samples, or why the pair is refused.
  Result<double> run() {
    const std::string onnx = to_onnx(network_, kHeight, kWidth);
    RK_TRY(
        write_file(at("net.onnx"), {reinterpret_cast<const uint8_t*>(onnx.data()), onnx.size()}));
    RK_TRY(write_dataset());
    RK_ASSIGN(const std::vector<uint8_t> full, build(false));
    RK_TRY(open(full, nullptr));
    if (pair_.has(kSharing)) {
      RK_ASSIGN(const std::vector<uint8_t> bare, build(true));
      rknn_init_extend extend{};
      extend.ctx = contexts_.front();
      RK_TRY(open(bare, &extend));
    }
    RK_ASSIGN(double worst, infer(kHeight, kWidth));
    if (!pair_.has(kDynamic)) return worst;
    RK_ASSIGN(const double other, infer(kOtherHeight, kOtherWidth));
    RK_ASSIGN(const double again, infer(kHeight, kWidth));
    return std::min({worst, other, again});
  }

 private:
  std::string at(const char* name) const { return (folder_ / name).string(); }
  int64_t batch() const { return pair_.has(kBatch) ? 2 : 1; }
  rknn_context context() const { return contexts_.back(); }

  Status write_dataset() const {
    std::ofstream list(at("dataset.txt"));
    for (int64_t sample = 0; sample < 4; ++sample) {
      const std::string name = str("sample", sample, ".npy");
      NpyArray array;
      array.kind = 'u';
      array.item_size = 1;
      array.shape = {1, kHeight, kWidth, kInChannels};
      array.bytes = picture(kHeight, kWidth, sample);
      RK_TRY(write_npy(at(name.c_str()), array));
      list << name << "\n";
    }
    return ok_status();
  }

  toolkit::Config config(bool without_weights) const {
    toolkit::Config out;
    out.target_platform = "rk3588";
    out.mean_values = {{0, 0, 0}};
    out.std_values = {{255, 255, 255}};
    out.model_pruning = pair_.has(kPruning);
    out.remove_weight = without_weights;
    if (pair_.has(kOpTarget)) out.op_target = {{"conv2", "cpu"}};
    if (pair_.has(kDynamic)) {
      out.dynamic_input = {{{1, kInChannels, kHeight, kWidth}},
                           {{1, kInChannels, kOtherHeight, kOtherWidth}}};
    }
    return out;
  }

  Result<std::vector<uint8_t>> build(bool without_weights) const {
    toolkit::Toolkit toolkit;
    if (network_.custom) RK_TRY(toolkit.reg_custom_op(twist_op()));
    RK_TRY(toolkit.config(config(without_weights)));
    RK_TRY(toolkit.load_onnx(at("net.onnx")));
    if (!pair_.has(kHybrid)) {
      const bool quantize = !pair_.has(kFloat16) && !pair_.has(kQdq);
      RK_TRY(toolkit.build({.do_quantization = quantize,
                            .dataset = quantize ? at("dataset.txt") : std::string(),
                            .rknn_batch_size = static_cast<int>(batch()),
                            .progress = {}}));
      return toolkit.rknn_bytes();
    }
    toolkit::HybridOptions options;
    options.dataset = at("dataset.txt");
    options.output_dir = folder_.string();
    options.rknn_batch_size = static_cast<int>(batch());
    options.custom_hybrid = {{"x", pair_.has(kFloat16) ? "y" : "relu1"}};
    RK_ASSIGN(const toolkit::HybridFiles files, toolkit.hybrid_quantization_step1(options));
    toolkit::Toolkit second;
    if (network_.custom) RK_TRY(second.reg_custom_op(twist_op()));
    RK_TRY(second.hybrid_quantization_step2(files));
    return second.rknn_bytes();
  }

  Status said(const char* call, int code) const {
    if (code == 0) return ok_status();
    return invalid_argument(str(call, " answers ", code, ": ", last_log()));
  }

  Status open(std::vector<uint8_t> file, rknn_init_extend* extend) {
    rknn_context made = 0;
    RK_TRY(
        said("rknn_init", rknn_init(&made, file.data(), static_cast<uint32_t>(file.size()),
                                    extend == nullptr ? 0 : RKNN_FLAG_SHARE_WEIGHT_MEM, extend)));
    contexts_.push_back(made);
    if (network_.custom) {
      rknn_custom_op op{};
      op.version = 1;
      op.target = RKNN_TARGET_TYPE_CPU;
      std::strcpy(op.op_type, "Twist");
      op.compute = compute_twist;
      RK_TRY(said("rknn_register_custom_ops", rknn_register_custom_ops(made, &op, 1)));
    }
    if (!pair_.has(kMultiCore)) return ok_status();
    return said("rknn_set_core_mask", rknn_set_core_mask(made, RKNN_NPU_CORE_0_1_2));
  }

  Status set_shape(int64_t height, int64_t width) {
    rknn_tensor_attr attr{};
    RK_TRY(said("rknn_query", rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr)));
    attr.fmt = RKNN_TENSOR_NHWC;
    attr.dims[0] = static_cast<uint32_t>(batch());
    attr.dims[1] = static_cast<uint32_t>(height);
    attr.dims[2] = static_cast<uint32_t>(width);
    attr.dims[3] = kInChannels;
    return said("rknn_set_input_shapes", rknn_set_input_shapes(context(), 1, &attr));
  }

  Result<double> infer(int64_t height, int64_t width) {
    if (pair_.has(kDynamic)) RK_TRY(set_shape(height, width));
    std::vector<uint8_t> pixels;
    for (int64_t sample = 0; sample < batch(); ++sample) {
      const auto one = picture(height, width, 11 + sample);
      pixels.insert(pixels.end(), one.begin(), one.end());
    }
    std::vector<float> y(static_cast<size_t>(batch() * kChannels * height * width));
    RK_TRY(pair_.has(kZeroCopy) ? run_zero_copy(pixels, y) : run_general(pixels, y));
    double worst = 1;
    for (int64_t sample = 0; sample < batch(); ++sample) {
      const auto expected =
          compute(network_, planes(picture(height, width, 11 + sample)), height, width);
      const auto begin = y.begin() + sample * std::ssize(expected);
      worst = std::min(worst, cosine({begin, begin + std::ssize(expected)}, expected));
    }
    return worst;
  }

  Status run_general(std::vector<uint8_t>& pixels, std::vector<float>& y) {
    rknn_input input{};
    input.buf = pixels.data();
    input.size = static_cast<uint32_t>(pixels.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    RK_TRY(said("rknn_inputs_set", rknn_inputs_set(context(), 1, &input)));
    RK_TRY(said("rknn_run", rknn_run(context(), nullptr)));
    rknn_output output{};
    output.want_float = 1;
    output.is_prealloc = 1;
    output.buf = y.data();
    output.size = static_cast<uint32_t>(y.size() * sizeof(float));
    return said("rknn_outputs_get", rknn_outputs_get(context(), 1, &output, nullptr));
  }

  // The memory is as large as the attributes say, at rows of their stride.
  Status run_zero_copy(const std::vector<uint8_t>& pixels, std::vector<float>& y) {
    const auto query_in =
        pair_.has(kDynamic) ? RKNN_QUERY_CURRENT_INPUT_ATTR : RKNN_QUERY_INPUT_ATTR;
    const auto query_out =
        pair_.has(kDynamic) ? RKNN_QUERY_CURRENT_OUTPUT_ATTR : RKNN_QUERY_OUTPUT_ATTR;
    rknn_tensor_attr in{}, out{};
    RK_TRY(said("rknn_query", rknn_query(context(), query_in, &in, sizeof in)));
    RK_TRY(said("rknn_query", rknn_query(context(), query_out, &out, sizeof out)));
    in.type = RKNN_TENSOR_UINT8;
    in.fmt = RKNN_TENSOR_NHWC;
    out.type = RKNN_TENSOR_FLOAT32;
    out.fmt = RKNN_TENSOR_NCHW;
    // Exactly the dense size, so rows have no padding.
    rknn_tensor_mem* const from = rknn_create_mem(context(), static_cast<uint32_t>(pixels.size()));
    rknn_tensor_mem* const to =
        rknn_create_mem(context(), static_cast<uint32_t>(y.size() * sizeof(float)));
    if (from == nullptr || to == nullptr) return out_of_memory("rknn_create_mem gives nothing");
    memories_.insert(memories_.end(), {from, to});
    RK_TRY(said("rknn_set_io_mem", rknn_set_io_mem(context(), from, &in)));
    RK_TRY(said("rknn_set_io_mem", rknn_set_io_mem(context(), to, &out)));
    std::memcpy(from->virt_addr, pixels.data(), pixels.size());
    RK_TRY(said("rknn_run", rknn_run(context(), nullptr)));
    std::memcpy(y.data(), to->virt_addr, y.size() * sizeof(float));
    return ok_status();
  }

  static std::string last_log() { return "the log tells why"; }

  const Pair pair_;
  const std::filesystem::path folder_;
  Network network_;
  std::vector<rknn_context> contexts_;
  std::vector<rknn_tensor_mem*> memories_;
};

TEST(Pairs, EveryPairIsRightOrRefusedWithASentence) {
  set_log_level(0);
  std::string name = testing::TempDir() + "rk_pairs_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  size_t right = 0, refused = 0, wrong = 0;
  for (const bool residual : {false, true}) {
    for (int a = 0; a < kFeatures; ++a) {
      for (int b = a + 1; b < kFeatures; ++b) {
        const std::string label =
            str(kNames[a], " with ", kNames[b], residual ? " (residual)" : "");
        const std::filesystem::path folder =
            std::filesystem::path(name) / str(residual, "_", a, "_", b);
        std::filesystem::create_directories(folder);
        const auto result = PairRun({{a, b}}, residual, folder).run();
        if (!result.ok()) {
          const bool sentence = result.status().message().size() > 20;
          ++(sentence ? refused : wrong);
          std::printf("refused: %s: %s\n", label.c_str(), result.status().message().c_str());
          EXPECT_TRUE(sentence) << label;
        } else if (*result >= kCosine) {
          ++right;
        } else {
          ++wrong;
          ADD_FAILURE() << label << ": cosine " << *result << ", expected at least " << kCosine;
        }
      }
    }
  }
  std::filesystem::remove_all(name);
  const size_t all = right + refused + wrong;
  std::printf(
      "FIGURE pairs of features | %zu right, %zu refused with a sentence, %zu wrong of %zu | "
      "at least 100, 0 wrong | %s\n",
      right, refused, wrong, all, wrong == 0 && all >= 100 ? "ok" : "SHORT");
  EXPECT_GE(all, 100u);
  EXPECT_GT(right, all / 2);
}

}  // namespace
}  // namespace rk::sound
