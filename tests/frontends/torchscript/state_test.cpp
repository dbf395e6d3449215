// SPDX-License-Identifier: Apache-2.0
// What a module keeps between calls, arguments that are no pictures, lists and dicts that change, attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluator/evaluate.h"
#include "frontends/model_source.h"
#include "frontends/torchscript/test_answer.h"
#include "ops/registry.h"

namespace rk::frontends::torchscript {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Imported> load_answer(const std::vector<uint8_t>& bytes, const ImportOptions& options) {
  const ModelFile file{"", bytes};
  return import_files({&file, 1}, "pytorch", options, ops::registry());
}

std::string refusal(const std::vector<uint8_t>& bytes, const ImportOptions& options) {
  const auto model = load_answer(bytes, options);
  return model.ok() ? "" : model.status().message();
}

ImportOptions shapes(std::vector<std::vector<int64_t>> list) {
  ImportOptions options;
  options.input_shapes = std::move(list);
  return options;
}

// The elements of all outputs, one after the other.
std::vector<float> run(const Imported& model, const std::vector<std::vector<float>>& inputs) {
  std::vector<Tensor> tensors;
  for (const auto& values : inputs)
    tensors.push_back(Tensor::f32({static_cast<int64_t>(values.size())}, values));
  const auto outputs = evaluator::evaluate(model.graph, tensors, {});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<float> out;
  for (const Tensor& tensor : *outputs) {
    const auto values = tensor.to_f32();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

// self.s = x * 2 + self.s; return x * self.s
std::vector<uint8_t> accumulator() {
  TestAnswer answer;
  answer.input(1, "x");
  answer.get_state(2, "cell.s", TestDatum::of_floats({0, 0}));
  answer.constant(3, TestDatum::of_int(2));
  answer.node("aten::add", {2, 1, 3}, {4});
  answer.set_state("cell.s", 4);
  answer.get_state(5, "cell.s", TestDatum::of_floats({0, 0}));
  answer.node("aten::mul", {1, 5}, {6});
  return answer.bytes({6});
}

TEST(TorchState, TensorThatIsKeptIsRefusedWithTheWayOut) {
  const std::string message = refusal(accumulator(), shapes({{2}}));
  EXPECT_THAT(message,
              HasSubstr("forward() keeps 'cell.s' between calls (f32[2]). Name it in inputs"));
  EXPECT_THAT(message, HasSubstr("its next value is the output 'cell.s_next'"));
}

TEST(TorchState, NamedTensorIsAnInputAndItsNextValueAnOutput) {
  ImportOptions options = shapes({{2}, {2}});
  options.inputs = {"x", "cell.s"};
  const auto model = load_answer(accumulator(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.outputs()[1]->name(), "cell.s_next");
  EXPECT_THAT(run(*model, {{1, 3}, {10, 20}}), ElementsAre(12, 78, 12, 26));
}

TEST(TorchState, GivenValueBeginsEveryCall) {
  ImportOptions options = shapes({{2}, {2}});
  options.inputs = {"x", "cell.s"};
  options.input_initial_values = {std::nullopt, Tensor::f32({2}, std::vector<float>{5, 6})};
  const auto model = load_answer(accumulator(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1, 3}}), ElementsAre(7, 36));
}

TEST(TorchState, AnotherShapeAfterTheCallIsAnError) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.get_state(2, "s", TestDatum::of_floats({}));
  answer.node("aten::mul", {1, 2}, {3});
  answer.set_state("s", 3);
  ImportOptions options = shapes({{4}, {1}});
  options.inputs = {"x", "s"};
  EXPECT_THAT(refusal(answer.bytes({3}), options),
              HasSubstr("attribute 's' is f32[1] before and f32[4] after a call"));
}

// Set before it is read: nothing is kept.
TEST(TorchState, AttributeThatIsOnlyWrittenIsNoState) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.node("aten::neg", {1}, {2});
  answer.set_state("last", 2);
  answer.get_state(3, "last", TestDatum::of_floats({7}));
  const auto model = load_answer(answer.bytes({3}), shapes({{2}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1, 3}}), ElementsAre(-1, -3));
}

// buffer.add_(x): the attribute changes without being set.
TEST(TorchState, ChangeInPlaceIsState) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.get_state(2, "buffer", TestDatum::of_floats({1, 1}));
  answer.node("aten::add_", {2, 1}, {3});
  answer.get_state(4, "buffer", TestDatum::of_floats({1, 1}));
  EXPECT_THAT(refusal(answer.bytes({4}), shapes({{2}})), HasSubstr("keeps 'buffer' between calls"));
  ImportOptions options = shapes({{2}, {2}});
  options.inputs = {"x", "buffer"};
  const auto model = load_answer(answer.bytes({4}), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1, 3}, {10, 20}}), ElementsAre(11, 23, 11, 23));
}

TEST(TorchState, NumberIsTakenAsTheFirstCallLeavesIt) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.get_state(2, "rate", TestDatum::of_int(0));
  answer.node("aten::mul", {1, 2}, {3});
  answer.constant(4, TestDatum::of_int(5));
  answer.set_state("rate", 4);
  const auto model = load_answer(answer.bytes({3}), shapes({{2}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1, 3}}), ElementsAre(5, 15));
}

TEST(TorchState, NumberThatCountsCallsIsRefused) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.get_state(2, "calls", TestDatum::of_int(0));
  answer.constant(3, TestDatum::of_int(1));
  answer.node("aten::add", {2, 3}, {4});
  answer.set_state("calls", 4);
  EXPECT_THAT(refusal(answer.bytes({1}), shapes({{2}})),
              HasSubstr("sets 'calls' to another number at every call"));
}

std::vector<uint8_t> with_rate() {
  TestAnswer answer;
  answer.input(1, "x");
  answer.input(2, "rate", "int");
  answer.node("aten::mul", {1, 2}, {3});
  return answer.bytes({3});
}

TEST(TorchArguments, NumberWithoutValueIsRefusedWithTheWayOut) {
  EXPECT_THAT(
      refusal(with_rate(), shapes({{2}})),
      HasSubstr(
          "forward() takes 'rate' of type int; only tensors can be inputs. Give it a value with "
          "input_initial_val"));
  ImportOptions options = shapes({{2}, {}});
  options.input_initial_values = {std::nullopt, std::nullopt};
  EXPECT_THAT(refusal(with_rate(), options),
              HasSubstr("input_initial_val must hold one number for it"));
}

TEST(TorchArguments, NumberTakesTheGivenValue) {
  ImportOptions options = shapes({{2}, {}});
  options.input_initial_values = {std::nullopt, Tensor::i64({}, std::vector<int64_t>{4})};
  const auto model = load_answer(with_rate(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.inputs().size(), 1u);
  EXPECT_THAT(run(*model, {{1, 3}}), ElementsAre(4, 12));
}

// What cannot be imported is appended to a list: the list is not simply shorter.
TEST(TorchLists, LostElementIsLostInTheListToo) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.node("prim::ListConstruct", {1}, {2});
  answer.node("aten::nova", {1}, {3});
  answer.node("aten::append", {2, 3}, {4});
  answer.constant(5, TestDatum::of_int(0));
  answer.node("aten::cat", {2, 5}, {6});
  EXPECT_THAT(refusal(answer.bytes({6}), shapes({{2}})), HasSubstr("aten::nova"));
}

TEST(TorchLists, OperatorThatIsNotTakenMayHaveChangedTheList) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.node("prim::ListConstruct", {1, 1}, {2});
  answer.node("aten::sort_in_a_new_way", {2}, {3});
  answer.constant(4, TestDatum::of_int(0));
  answer.node("aten::cat", {2, 4}, {5});
  EXPECT_THAT(refusal(answer.bytes({5}), shapes({{2}})), HasSubstr("aten::sort_in_a_new_way"));
}

TEST(TorchLists, DictGivesItsItemsByKey) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.constant(2, TestDatum::of_text("out"));
  answer.constant(3, TestDatum::of_text("aux"));
  answer.node("prim::DictConstruct", {2, 1}, {4});
  answer.node("aten::neg", {1}, {5});
  answer.node("aten::_set_item", {4, 3, 5}, {});
  answer.node("aten::_set_item", {4, 2, 5}, {});
  answer.node("aten::__getitem__", {4, 2}, {6});
  const auto model = load_answer(answer.bytes({6}), shapes({{2}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1, 3}}), ElementsAre(-1, -3));
  answer.constant(7, TestDatum::of_text("none"));
  answer.node("aten::__getitem__", {4, 7}, {8});
  EXPECT_THAT(refusal(answer.bytes({8}), shapes({{2}})),
              HasSubstr("a key that the dict does not have"));
}

TEST(TorchLists, DictOfPairsAndListsThatAreCopied) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.constant(2, TestDatum::of_text("a"));
  answer.node("prim::TupleConstruct", {2, 1}, {3});
  answer.node("prim::ListConstruct", {3}, {4});
  answer.node("aten::dict", {4}, {5});
  answer.node("aten::__getitem__", {5, 2}, {6});
  answer.node("prim::ListConstruct", {6}, {7});
  answer.node("aten::copy", {7}, {8});
  answer.node("aten::append", {8, 1}, {});
  answer.node("aten::len", {7}, {9});
  answer.node("aten::len", {8}, {10});
  answer.node("aten::mul", {6, 9}, {11});
  answer.node("aten::mul", {6, 10}, {12});
  const auto model = load_answer(answer.bytes({11, 12}), shapes({{1}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{5}}), ElementsAre(5, 10));
}

// for i in range(5, 0, -2): 5, 3, 1
TEST(TorchLists, RangesCountAsPythonDoes) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.constant(2, TestDatum::of_int(5));
  answer.constant(3, TestDatum::of_int(0));
  answer.constant(4, TestDatum::of_int(-2));
  answer.node("aten::__range_length", {2, 3, 4}, {5});
  answer.node("aten::__derive_index", {5, 2, 4}, {6});
  answer.node("aten::mul", {1, 5}, {7});
  answer.node("aten::mul", {1, 6}, {8});
  const auto model = load_answer(answer.bytes({7, 8}), shapes({{1}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(run(*model, {{1}}), ElementsAre(3, -1));
}

// x attends to itself with a scale of 1. x0 = 0 and x1 * x1 = ln 3: row 1 sees 1/4 of x0 and 3/4 of x1, and as much the
// other way round without a mask in row 0: one half each.
TEST(TorchAttention, CausalAttentionSeesNoLaterPosition) {
  for (const bool causal : {false, true}) {
    TestAnswer answer;
    answer.input(1, "x");
    answer.constant(2, TestDatum::of_none());
    answer.constant(3, TestDatum::of_double(0));
    answer.constant(4, TestDatum::of_int(causal));
    answer.constant(5, TestDatum::of_double(1));
    answer.node("aten::scaled_dot_product_attention", {1, 1, 1, 2, 3, 4, 5}, {6});
    const auto model = load_answer(answer.bytes({6}), shapes({{2, 1}}));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const float x1 = std::sqrt(std::log(3.0f));
    const std::vector<Tensor> inputs = {Tensor::f32({2, 1}, std::vector<float>{0, x1})};
    const auto outputs = evaluator::evaluate(model->graph, inputs, {});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    const auto y = (*outputs)[0].to_f32();
    EXPECT_NEAR(y[0], causal ? 0 : x1 / 2, 1e-6);
    EXPECT_NEAR(y[1], 0.75f * x1, 1e-6);
  }
}

// An index that was reshaped on its way makes the input whole numbers.
TEST(TorchArguments, InputThatBecomesAnIndexHoldsIntegers) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.input(2, "i");
  answer.constant(3, TestDatum::of_int(0));
  answer.node("aten::unsqueeze", {2, 3}, {4});
  answer.node("aten::gather", {1, 3, 4}, {5});
  const auto model = load_answer(answer.bytes({5}), shapes({{3, 2}, {2}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.inputs()[1]->dtype(), DType::kI64);
}

}  // namespace
}  // namespace rk::frontends::torchscript
