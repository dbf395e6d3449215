// SPDX-License-Identifier: Apache-2.0
// Folding, and a property of all operators: whatever a file says, a node is refused or runs. The
// random nodes matter most in the sanitized build, where any overflow or stray access ends the
// test.
#include "ops/shared/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ops/registry.h"

namespace rk::ops {
namespace {

TEST(FoldTest, ShapeFoldsAlthoughItsInputIsNotKnown) {
  Graph graph(registry());
  Value* x = *graph.add_input("x", {DType::kF32, {2, 3}});
  Node* node =
      *graph.add_node({.op = "Shape", .name = "s", .inputs = {x}, .outputs = {"y"}, .attrs = {}});
  ASSERT_TRUE(can_fold(*node));
  EXPECT_EQ((*fold(*node))[0].to_i64(), (std::vector<int64_t>{2, 3}));
}

TEST(FoldTest, ANodeWithAnUnknownInputDoesNotFold) {
  Graph graph(registry());
  Value* x = *graph.add_input("x", {DType::kF32, {2}});
  Value* one = graph.add_constant("one", Tensor::scalar(1));
  Node* node = *graph.add_node(
      {.op = "Add", .name = "a", .inputs = {x, one}, .outputs = {"y"}, .attrs = {}});
  EXPECT_FALSE(can_fold(*node));
}

TEST(FoldTest, AResultTooLargeToKeepDoesNotFold) {
  Graph graph(registry());
  Value* shape = graph.add_constant("shape", Tensor::i64({2}, {20000, 20000}));
  Node* node = *graph.add_node(
      {.op = "ConstantOfShape", .name = "c", .inputs = {shape}, .outputs = {"y"}, .attrs = {}});
  EXPECT_FALSE(can_fold(*node));
}

// Each is small enough by itself.
TEST(FoldTest, ManyResultsTogetherAreTooLargeToKeep) {
  Graph graph(registry());
  Value* shape = graph.add_constant("shape", Tensor::i64({2}, {6000, 5000}));  // 120 MB of f32
  FoldBudget budget;
  int taken = 0;
  for (int i = 0; i < 10; ++i) {
    Node* node = *graph.add_node(
        {.op = "ConstantOfShape", .name = "c", .inputs = {shape}, .outputs = {""}, .attrs = {}});
    ASSERT_TRUE(can_fold(*node));
    taken += budget.take(*node);
  }
  EXPECT_EQ(taken, 4);
}

TEST(FoldTest, MuchWorkForLittleIsLeftForTheModelToDo) {
  Graph graph(registry());
  Value* row = graph.add_constant("row", Tensor::make({DType::kF32, {1, 50000}}));
  Value* wide = graph.add_constant("wide", Tensor::make({DType::kF32, {50000, 1}}));
  FoldBudget budget;
  Node* small = *graph.add_node(
      {.op = "MatMul", .name = "m", .inputs = {row, wide}, .outputs = {""}, .attrs = {}});
  EXPECT_TRUE(budget.take(*small));
  Value* many = graph.add_constant("many", Tensor::make({DType::kF32, {90000, 50}}));
  Value* few = graph.add_constant("few", Tensor::make({DType::kF32, {50, 700}}));
  Node* large = *graph.add_node(
      {.op = "MatMul", .name = "l", .inputs = {many, few}, .outputs = {""}, .attrs = {}});
  EXPECT_TRUE(can_fold(*large));
  EXPECT_TRUE(budget.take(*large));   // 3.15e9 of 4.29e9
  EXPECT_FALSE(budget.take(*large));  // the rest does not suffice
}

TEST(FoldTest, FailuresNameTheNode) {
  Graph graph(registry());
  Value* x = graph.add_constant("x", Tensor::i64({1}, {1}));
  Value* zero = graph.add_constant("zero", Tensor::i64({1}, {0}));
  Node* node = *graph.add_node(
      {.op = "Div", .name = "halve", .inputs = {x, zero}, .outputs = {"y"}, .attrs = {}});
  const auto result = fold(*node);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message().find("node 'halve' (Div): integer division by zero"), 0u);
}

// Draws nodes that are wrong in every way a file can be, and right often enough to run.
class RandomNode {
 public:
  explicit RandomNode(uint32_t seed) : random_(seed) {}

  int64_t pick(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }

  int64_t number() {
    constexpr int64_t kOdd[] = {
        INT64_MIN,           INT64_MIN + 1,          INT64_MAX, INT64_MAX - 1, int64_t{1} << 31,
        -(int64_t{1} << 31), (int64_t{1} << 30) - 1, 65536,     -65536};
    return pick(8) == 0 ? kOdd[pick(std::ssize(kOdd))] : pick(8) - 2;
  }

  float real() {
    constexpr float kOdd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, 1e-40f, 0.5f};
    return pick(4) == 0 ? kOdd[pick(std::ssize(kOdd))] : static_cast<float>(pick(17) - 8) * 0.5f;
  }

  Attr attr(const AttrDef& def) {
    const size_t length = static_cast<size_t>(pick(7));
    switch (def.value.index()) {
      case 0:
        return number();
      case 1:
        return real();
      case 2:
        return text(def);
      case 3: {
        std::vector<int64_t> out(length);
        for (int64_t& value : out) value = pick(3) == 0 ? number() : 1 + pick(2);
        return out;
      }
      case 4: {
        std::vector<float> out(length);
        for (float& value : out) value = real();
        return out;
      }
      case 5:
        return std::vector<std::string>(length, pick(2) == 0 ? "Tanh" : "Sigmoid");
      default:
        return tensor(pick(4) == 0 ? Shape{2} : Shape{1});
    }
  }

  Shape shape() {
    std::vector<int64_t> dims(static_cast<size_t>(pick(6)));
    const int64_t common = 1 + pick(3);
    for (int64_t& dim : dims) dim = pick(3) == 0 ? pick(5) : common;
    return *Shape::make(dims);
  }

  Tensor tensor(const Shape& shape) {
    constexpr DType kDTypes[] = {DType::kF32,  DType::kF32, DType::kI64,  DType::kI64,
                                 DType::kF16,  DType::kI8,  DType::kU8,   DType::kI32,
                                 DType::kBool, DType::kF64, DType::kBF16, DType::kU64};
    const DType dtype = pick(2) == 0 ? DType::kF32 : kDTypes[pick(std::ssize(kDTypes))];
    Tensor out = Tensor::make({dtype, shape});
    for (int64_t i = 0; i < out.elements(); ++i) {
      uint8_t* to = out.mutable_data<uint8_t>() + static_cast<size_t>(i) * byte_size(dtype);
      if (dtype == DType::kI64) {
        const int64_t value = number();
        std::memcpy(to, &value, sizeof value);
      } else {
        store_f64(dtype, to, real());
      }
    }
    return out;
  }

 private:
  std::string text(const AttrDef& def) {
    constexpr const char* const kWords[] = {"",
                                            "linear",
                                            "cubic",
                                            "SAME_UPPER",
                                            "SAME_LOWER",
                                            "VALID",
                                            "reflect",
                                            "wrap",
                                            "edge",
                                            "bidirectional",
                                            "reverse",
                                            "align_corners",
                                            "asymmetric",
                                            "tf_crop_and_resize",
                                            "half_pixel_symmetric",
                                            "not_larger",
                                            "not_smaller",
                                            "add",
                                            "max",
                                            "Clip",
                                            "exMish",
                                            "ij,jk->ik",
                                            "ii->i",
                                            "...i->...",
                                            "a,b",
                                            "CRD",
                                            "tanh",
                                            "min",
                                            "nonsense"};
    if (pick(3) == 0) return std::get<std::string>(def.value);
    return kWords[pick(std::ssize(kWords))];
  }

  std::mt19937 random_;
};

// A number that equals itself; the random values hold NaNs.
double comparable(const Tensor& tensor, int64_t k) {
  const double value = tensor.at_f64(k);
  return std::isnan(value) ? std::numeric_limits<double>::max() : value;
}

// OpDef::elements says where results come from; stages rely on it without asking the operator.
void check_elements(const OpDef& def, const std::vector<Tensor>& inputs,
                    const std::vector<Tensor>& outputs) {
  if (def.elements == Elements::kUnary || def.elements == Elements::kView) {
    ASSERT_EQ(outputs[0].elements(), inputs[0].elements());
  }
  if (!is_move(def.elements)) return;
  const bool from_all = def.inputs[0].kind == ArgDef::kVariadic;
  std::vector<double> sources;
  for (size_t i = 0; i < (from_all ? inputs.size() : 1); ++i) {
    for (int64_t k = 0; k < inputs[i].elements(); ++k) sources.push_back(comparable(inputs[i], k));
  }
  if (def.elements != Elements::kView) std::ranges::sort(sources);
  for (const Tensor& output : outputs) {
    ASSERT_EQ(output.dtype(), inputs[0].dtype());
    for (int64_t k = 0; k < output.elements(); ++k) {
      const double value = comparable(output, k);
      if (def.elements == Elements::kView) {
        ASSERT_EQ(value, sources[static_cast<size_t>(k)]) << k;
      } else {
        ASSERT_TRUE(std::ranges::binary_search(sources, value)) << value;
      }
    }
  }
}

// True when the node was legal.
bool make_and_run(const OpDef& def, RandomNode& random) {
  Graph graph(registry());
  NodeSpec spec = {
      .op = std::string(def.name), .name = "n", .inputs = {}, .outputs = {}, .attrs = {}};
  std::vector<Tensor> held;
  const Shape common = random.shape();
  size_t count = def.inputs.size();
  if (!def.inputs.empty() && def.inputs.back().kind == ArgDef::kVariadic)
    count = static_cast<size_t>(random.pick(4));
  for (size_t i = 0; i < count; ++i) {
    const ArgDef& arg = def.inputs[std::min(i, def.inputs.size() - 1)];
    if (arg.kind == ArgDef::kOptional && random.pick(2) == 0) {
      spec.inputs.push_back(nullptr);
      held.emplace_back();
      continue;
    }
    const Shape shape = random.pick(2) == 0 ? common : random.shape();
    held.push_back(random.tensor(random.pick(3) == 0 ? Shape{random.pick(6)} : shape));
    spec.inputs.push_back(random.pick(2) == 0 ? graph.add_constant("c", held.back())
                                              : *graph.add_input(str("i", i), held.back().type()));
  }
  const int64_t outputs = 1 + random.pick(3);
  for (int64_t i = 0; i < outputs; ++i) spec.outputs.push_back(str("y", i));
  for (const AttrDef& attr : def.attrs) {
    if (attr.presence == AttrDef::kRequired || random.pick(3) == 0) {
      spec.attrs.emplace(attr.name, random.attr(attr));
    }
  }
  const auto node = graph.add_node(std::move(spec));
  if (!node.ok()) {
    EXPECT_FALSE(node.status().message().empty());
    return false;
  }
  def.cost(**node);
  uint64_t elements = 0;
  for (const Value* output : (*node)->outputs())
    elements += static_cast<uint64_t>(output->shape().elements());
  if (elements > 100000) return true;
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : held) inputs.push_back(tensor.empty() ? nullptr : &tensor);
  const auto result = evaluate_reference(**node, inputs);
  if (result.ok()) {
    check_elements(def, held, *result);
  } else {
    EXPECT_EQ(result.status().message().find("node 'n'"), 0u) << result.status().message();
  }
  return true;
}

TEST(EvaluateTest, RandomNodesAreRefusedOrRun) {
  for (const auto& def : registry().all()) {
    RandomNode random(20240229);
    int legal = 0;
    for (int i = 0; i < 200; ++i) {
      SCOPED_TRACE(str(def->name, " number ", i));
      legal += make_and_run(*def, random);
    }
    RecordProperty(std::string(def->name), legal);
  }
}

}  // namespace
}  // namespace rk::ops
