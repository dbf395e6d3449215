// SPDX-License-Identifier: Apache-2.0
// Calls of TorchScript on numbers, lists, dicts and tensors; expected values are those of Python and torch.
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
using testing::ElementsAreArray;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

// forward(x) of one float tensor, written call by call. What is no tensor shows as a factor of x.
class Script {
 public:
  explicit Script(std::vector<int64_t> shape = {1}) : shape_(std::move(shape)) {
    answer_.input(kX, "x");
  }

  uint32_t x() const { return kX; }
  uint32_t of(int64_t number) { return constant(TestDatum::of_int(number)); }
  uint32_t real(double number) { return constant(TestDatum::of_double(number)); }
  uint32_t text(const std::string& text) { return constant(TestDatum::of_text(text)); }
  uint32_t none() { return constant(TestDatum::of_none()); }
  uint32_t floats(const std::vector<float>& values) {
    return constant(TestDatum::of_floats(values));
  }
  uint32_t list(const std::vector<uint32_t>& items) { return call("prim::ListConstruct", items); }
  uint32_t ints(const std::vector<int64_t>& numbers) {
    std::vector<uint32_t> items;
    for (const int64_t number : numbers) items.push_back(of(number));
    return list(items);
  }
  uint32_t call(const std::string& kind, const std::vector<uint32_t>& inputs) {
    return calls(kind, inputs, 1)[0];
  }
  std::vector<uint32_t> calls(const std::string& kind, const std::vector<uint32_t>& inputs,
                              uint32_t outputs) {
    std::vector<uint32_t> ids;
    for (uint32_t i = 0; i < outputs; ++i) ids.push_back(next_++);
    answer_.node(kind, inputs, ids);
    return ids;
  }

  Result<Imported> import(uint32_t result) const {
    const std::vector<uint8_t> bytes = answer_.bytes({result});
    const ModelFile file{"", bytes};
    ImportOptions options;
    options.input_shapes = {shape_};
    return import_files({&file, 1}, "pytorch", options, ops::registry());
  }
  std::string refusal(uint32_t result) const {
    const auto model = import(result);
    return model.ok() ? "" : model.status().message();
  }
  // Of a call that is not kept.
  std::string refused_call(const std::string& kind, const std::vector<uint32_t>& inputs) const {
    Script more = *this;
    return more.refusal(more.call(kind, inputs));
  }
  std::vector<float> run(uint32_t result, const std::vector<float>& x) const {
    const auto model = import(result);
    if (!model.ok()) {
      ADD_FAILURE() << model.status().message();
      return {};
    }
    const Tensor input = Tensor::f32(Shape::make(shape_).value(), x);
    const auto outputs = evaluator::evaluate(model->graph, {&input, 1}, {});
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? outputs->at(0).to_f32() : std::vector<float>();
  }
  // The number or constant tensor `result`, as x * result with x of ones.
  std::vector<float> value(uint32_t result) {
    return run(call("aten::mul", {x(), call("aten::mul", {real(1), result})}), {1});
  }

 private:
  static constexpr uint32_t kX = 1;
  uint32_t constant(const TestDatum& datum) {
    answer_.constant(next_, datum);
    return next_++;
  }

  TestAnswer answer_;
  std::vector<int64_t> shape_;
  uint32_t next_ = 2;
};

TEST(TorchCalls, ArithmeticOfWholeNumbersIsPythons) {
  struct Case {
    const char* kind;
    int64_t a, b;
    float expected;
  };
  const Case cases[] = {
      {"aten::add", 5, 7, 12},       {"aten::sub", 5, 7, -2},       {"aten::mul", 5, 7, 35},
      {"aten::div", 7, 2, 3.5},      {"aten::floordiv", -7, 2, -4}, {"aten::remainder", -7, 2, 1},
      {"aten::floordiv", 7, -1, -7}, {"aten::remainder", 7, -1, 0}, {"aten::pow", 2, 10, 1024},
      {"aten::lt", 1, 2, 1},         {"aten::le", 2, 2, 1},         {"aten::gt", 1, 2, 0},
      {"aten::ge", 2, 2, 1},         {"aten::eq", 3, 3, 1},         {"aten::ne", 3, 3, 0},
      {"prim::max", 3, 8, 8},        {"prim::min", 3, 8, 3}};
  for (const Case& c : cases) {
    Script s;
    const uint32_t result = s.call("aten::Float", {s.call(c.kind, {s.of(c.a), s.of(c.b)})});
    EXPECT_THAT(s.value(result), ElementsAre(c.expected)) << c.kind << " " << c.a << " " << c.b;
  }
  for (const char* kind : {"aten::floordiv", "aten::remainder"}) {
    Script s;
    EXPECT_THAT(s.refusal(s.call("aten::mul", {s.x(), s.call(kind, {s.of(1), s.of(0)})})),
                HasSubstr("divides by zero"));
  }
  Script s;
  EXPECT_THAT(
      s.refusal(s.call("aten::mul", {s.x(), s.call("aten::add", {s.of(INT64_MAX), s.of(1)})})),
      HasSubstr("does not fit"));
}

TEST(TorchCalls, ArithmeticOfRealNumbersIsPythons) {
  struct Case {
    const char* kind;
    double a, b;
    float expected;
  };
  const Case cases[] = {{"aten::add", 0.5, 2, 2.5},      {"aten::sub", 0.5, 2, -1.5},
                        {"aten::mul", 0.5, 3, 1.5},      {"aten::div", 1, 4, 0.25},
                        {"aten::floordiv", -3.5, 2, -2}, {"aten::remainder", -3.5, 2, 0.5},
                        {"aten::pow", 2, -1, 0.5},       {"aten::lt", 1.5, 2, 1},
                        {"aten::ge", 1.5, 2, 0}};
  for (const Case& c : cases) {
    Script s;
    const uint32_t result = s.call("aten::Float", {s.call(c.kind, {s.real(c.a), s.real(c.b)})});
    EXPECT_THAT(s.value(result), ElementsAre(c.expected)) << c.kind;
  }
  const std::pair<const char*, float> functions[] = {
      {"aten::sqrt", 1.5f},           {"aten::neg", -2.25f},
      {"aten::abs", 2.25f},           {"aten::exp", std::exp(2.25f)},
      {"aten::log", std::log(2.25f)}, {"aten::sin", std::sin(2.25f)},
      {"aten::cos", std::cos(2.25f)}, {"aten::tan", std::tan(2.25f)},
      {"aten::floor", 2.0f},          {"aten::ceil", 3.0f}};
  for (const auto& [kind, expected] : functions) {
    Script s;
    const auto found = s.value(s.call("aten::Float", {s.call(kind, {s.real(2.25)})}));
    EXPECT_THAT(found, ElementsAre(FloatNear(expected, 1e-4f))) << kind;
  }
  Script s;
  EXPECT_THAT(s.value(s.call("aten::neg", {s.of(4)})), ElementsAre(-4));
  EXPECT_THAT(s.value(s.call("aten::abs", {s.of(-4)})), ElementsAre(4));
}

TEST(TorchCalls, ListsChangeAsInPython) {
  Script s;
  const uint32_t list = s.ints({10, 20});
  s.calls("aten::append", {list, s.of(30)}, 0);
  s.calls("aten::extend", {list, list}, 0);  // 10 20 30 10 20 30
  s.calls("aten::_set_item", {list, s.of(-1), s.of(35)}, 0);
  const uint32_t popped = s.call("aten::pop", {list, s.of(0)});
  EXPECT_THAT(s.value(popped), ElementsAre(10));
  EXPECT_THAT(s.value(s.call("aten::len", {list})), ElementsAre(5));
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {list, s.of(-1)})), ElementsAre(35));
  const uint32_t part = s.call("aten::slice", {list, s.of(1), s.of(5), s.of(2)});  // 30 20
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {part, s.of(1)})), ElementsAre(20));
  EXPECT_THAT(s.value(s.call("prim::max", {s.call("aten::list", {list})})), ElementsAre(35));
  const uint32_t joined = s.call("aten::add", {list, part});
  EXPECT_THAT(s.value(s.call("aten::len", {joined})), ElementsAre(7));
  const uint32_t inside = s.call("aten::__contains__", {list, s.of(30)});
  EXPECT_THAT(s.value(s.call("aten::Float", {inside})), ElementsAre(1));
  const auto parts = s.calls("prim::ListUnpack", {part}, 2);
  EXPECT_THAT(s.value(parts[0]), ElementsAre(30));

  const auto refused = [](const std::string& kind, auto arguments) {
    Script bad;
    const std::vector<uint32_t> inputs = arguments(bad);
    return bad.refusal(bad.call("aten::mul", {bad.x(), bad.call(kind, inputs)}));
  };
  using Ids = std::vector<uint32_t>;
  EXPECT_THAT(refused("aten::append",
                      [](Script& b) {
                        return Ids{b.of(1), b.of(2)};
                      }),
              HasSubstr("needs a list"));
  EXPECT_THAT(refused("aten::append",
                      [](Script& b) {
                        return Ids{b.ints({1}), b.ints({2})};
                      }),
              HasSubstr("of a list to a list"));
  EXPECT_THAT(refused("aten::extend",
                      [](Script& b) {
                        return Ids{b.ints({1}), b.of(2)};
                      }),
              HasSubstr("needs two lists"));
  EXPECT_THAT(refused("aten::pop", [](Script& b) { return Ids{b.of(1)}; }),
              HasSubstr("of what is no list"));
  EXPECT_THAT(refused("prim::ListUnpack",
                      [](Script& b) {
                        return Ids{b.ints({1, 2})};
                      }),
              HasSubstr("unpacks 2 elements into 1"));
  EXPECT_THAT(refused("prim::max", [](Script& b) { return Ids{b.text("a")}; }),
              HasSubstr("of what is no number"));
}

TEST(TorchCalls, DictsChangeAsInPython) {
  Script s;
  const uint32_t one = s.call("prim::TupleConstruct", {s.text("a"), s.of(1)});
  const uint32_t two = s.call("prim::TupleConstruct", {s.text("b"), s.of(2)});
  const uint32_t dict = s.call("aten::dict", {s.list({one, two})});
  s.calls("aten::_set_item", {dict, s.text("b"), s.of(5)}, 0);
  s.calls("aten::_set_item", {dict, s.text("c"), s.of(7)}, 0);
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {dict, s.text("b")})), ElementsAre(5));
  EXPECT_THAT(s.value(s.call("aten::get", {dict, s.text("z"), s.of(9)})), ElementsAre(9));
  EXPECT_THAT(s.value(s.call("aten::get", {dict, s.text("c"), s.of(9)})), ElementsAre(7));
  EXPECT_THAT(s.value(s.call("aten::len", {s.call("aten::keys", {dict})})), ElementsAre(3));
  EXPECT_THAT(s.value(s.call("prim::max", {s.call("aten::values", {dict})})), ElementsAre(7));
  const uint32_t pair = s.call("aten::__getitem__", {s.call("aten::items", {dict}), s.of(0)});
  EXPECT_THAT(s.value(s.call("prim::TupleIndex", {pair, s.of(1)})), ElementsAre(1));
  const uint32_t copy = s.call("aten::dict", {dict});
  EXPECT_THAT(s.value(s.call("aten::len", {s.call("aten::keys", {copy})})), ElementsAre(3));
  EXPECT_THAT(
      s.refusal(s.call("aten::mul", {s.x(), s.call("aten::__getitem__", {dict, s.text("z")})})),
      HasSubstr("asks for a key that the dict does not have"));
}

TEST(TorchCalls, LoopsCountAsRangeDoes) {
  Script s;
  EXPECT_THAT(s.value(s.call("aten::__range_length", {s.of(1), s.of(8), s.of(3)})), ElementsAre(3));
  EXPECT_THAT(s.value(s.call("aten::__derive_index", {s.of(2), s.of(1), s.of(3)})), ElementsAre(7));
  EXPECT_THAT(s.refusal(s.call("aten::mul", {s.x(), s.call("aten::__range_length",
                                                           {s.of(0), s.of(1), s.of(0)})})),
              HasSubstr("has a step of 0"));
  Script far;
  EXPECT_THAT(far.refusal(far.call("aten::mul",
                                   {far.x(), far.call("aten::__derive_index",
                                                      {far.of(INT64_MAX), far.of(0), far.of(2)})})),
              HasSubstr("counts too far"));
}

TEST(TorchCalls, TensorsSayWhatTheyAre) {
  Script s({2, 3});
  const auto number = [&](uint32_t result) {
    const auto out =
        s.run(s.call("aten::mul", {s.x(), s.call("aten::Float", {result})}), {1, 1, 1, 1, 1, 1});
    return out.empty() ? -1 : out[0];
  };
  EXPECT_EQ(number(s.call("aten::dim", {s.x()})), 2);
  EXPECT_EQ(number(s.call("aten::numel", {s.x()})), 6);
  EXPECT_EQ(number(s.call("aten::len", {s.x()})), 2);
  EXPECT_EQ(number(s.call("aten::size", {s.x(), s.of(-1)})), 3);
  EXPECT_EQ(number(s.call("prim::dtype", {s.x()})), 6);
  EXPECT_EQ(number(s.call("aten::is_floating_point", {s.x()})), 1);
  EXPECT_EQ(number(s.call("aten::len", {s.call("prim::device", {s.x()})})), 3);
  EXPECT_EQ(number(s.call("prim::is_cuda", {s.x()})), 0);
  EXPECT_EQ(number(s.call("aten::__is__", {s.none(), s.none()})), 1);
  EXPECT_EQ(number(s.call("aten::__isnot__", {s.none(), s.of(1)})), 1);
  EXPECT_EQ(number(s.call("aten::__not__", {s.call("prim::is_cuda", {s.x()})})), 1);
  Script raises;
  const auto text = raises.text("too small");
  raises.calls("prim::RaiseException", {text}, 0);
  EXPECT_THAT(raises.refusal(raises.x()),
              HasSubstr("the model raises an exception for these shapes: too small"));
}

TEST(TorchCalls, TensorsOfNumbers) {
  Script s;
  const uint32_t none = s.none();
  EXPECT_THAT(s.value(s.call("aten::tensor", {s.ints({1, 2, 3}), s.of(6), none, none})),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(s.value(s.call("aten::arange", {s.of(4), none, none, none, none})),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(s.value(s.call("aten::arange", {s.of(1), s.of(8), s.of(3), none, none, none, none})),
              ElementsAre(1, 4, 7));
  EXPECT_THAT(
      s.value(s.call("aten::linspace", {s.of(0), s.of(1), s.of(5), none, none, none, none})),
      ElementsAre(0, 0.25, 0.5, 0.75, 1));
  EXPECT_THAT(s.value(s.call("aten::zeros", {s.ints({2}), none, none, none, none})),
              ElementsAre(0, 0));
  EXPECT_THAT(s.value(s.call("aten::ones", {s.ints({2}), none, none, none, none})),
              ElementsAre(1, 1));
  EXPECT_THAT(s.value(s.call("aten::full", {s.ints({2}), s.real(2.5), none, none, none, none})),
              ElementsAre(2.5, 2.5));
  EXPECT_THAT(s.value(s.call("aten::full_like", {s.x(), s.of(3), none, none, none, none, none})),
              ElementsAre(3));
  EXPECT_THAT(
      s.value(s.call("aten::new_full", {s.x(), s.ints({2}), s.of(4), none, none, none, none})),
      ElementsAre(4, 4));
  EXPECT_THAT(s.value(s.call("aten::new_ones", {s.x(), s.ints({2}), none, none, none, none})),
              ElementsAre(1, 1));
  EXPECT_THAT(s.value(s.call("aten::zeros_like", {s.x(), none, none, none, none, none})),
              ElementsAre(0));
  const uint32_t classes = s.call("aten::tensor", {s.ints({2, 0}), s.of(4), none, none});
  EXPECT_THAT(s.value(s.call("aten::_cast_Float", {s.call("aten::one_hot", {classes, s.of(3)})})),
              ElementsAre(0, 0, 1, 1, 0, 0));
  const uint32_t grid = s.call("aten::meshgrid", {s.list({s.floats({1, 2}), s.floats({5, 6, 7})})});
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {grid, s.of(0)})), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {grid, s.of(1)})), ElementsAre(5, 6, 7, 5, 6, 7));
  const uint32_t xy =
      s.call("aten::meshgrid", {s.list({s.floats({1, 2}), s.floats({5, 6, 7})}), s.text("xy")});
  EXPECT_THAT(s.value(s.call("aten::__getitem__", {xy, s.of(0)})), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(s.refused_call("aten::arange", {s.of(1), s.of(0), s.of(1), none, none, none, none}),
              HasSubstr("elements"));
  const uint32_t ragged = s.list({s.ints({1, 2}), s.ints({3})});
  EXPECT_THAT(s.refused_call("aten::tensor", {ragged, none, none, none}),
              HasSubstr("its lists differ in length"));
}

// 1 .. n
std::vector<float> counting(int n) {
  std::vector<float> out;
  for (int i = 1; i <= n; ++i) out.push_back(static_cast<float>(i));
  return out;
}

TEST(TorchCalls, MovesOfElements) {
  Script s({2, 3});
  const auto moved = [&](uint32_t result) { return s.run(result, counting(6)); };
  EXPECT_THAT(moved(s.call("aten::t", {s.x()})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(moved(s.call("aten::movedim", {s.x(), s.of(0), s.of(1)})),
              ElementsAre(1, 4, 2, 5, 3, 6));
  const uint32_t flat = s.call("aten::view", {s.x(), s.ints({-1})});
  EXPECT_THAT(moved(s.call("aten::view_as", {flat, s.x()})), ElementsAreArray(counting(6)));
  const uint32_t three = s.call("aten::unflatten", {flat, s.of(0), s.ints({3, -1})});
  EXPECT_THAT(moved(s.call("aten::t", {three})), ElementsAre(1, 3, 5, 2, 4, 6));
  const uint32_t parts = s.call("aten::tensor_split", {flat, s.of(4), s.of(0)});  // 2 2 1 1
  EXPECT_THAT(moved(s.call("aten::__getitem__", {parts, s.of(1)})), ElementsAre(3, 4));
  const uint32_t places = s.call("aten::tensor_split", {flat, s.ints({1, -2}), s.of(0)});
  EXPECT_THAT(moved(s.call("aten::__getitem__", {places, s.of(1)})), ElementsAre(2, 3, 4));
  const uint32_t lower = s.call("aten::tril", {s.x(), s.of(0)});
  EXPECT_THAT(moved(lower), ElementsAre(1, 0, 0, 4, 5, 0));
  EXPECT_THAT(moved(s.call("aten::triu", {s.x(), s.of(1)})), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(s.refused_call("aten::view", {s.x(), s.ints({4, -1})}), HasSubstr("another shape"));
  EXPECT_THAT(s.refused_call("aten::permute", {s.x(), s.ints({0})}),
              HasSubstr("an order of 1 axes"));
  EXPECT_THAT(s.refused_call("aten::movedim", {s.x(), s.ints({0, 0}), s.ints({0, 1})}),
              HasSubstr("moves an axis twice"));
  EXPECT_THAT(s.refused_call("aten::tensor_split", {flat, s.of(9), s.of(0)}),
              HasSubstr("into 9 parts of 6"));
}

TEST(TorchCalls, FunctionsOfTwoTensors) {
  Script s({2});
  const uint32_t y = s.floats({4, 12});
  const std::vector<float> x = {3, 5};
  EXPECT_THAT(s.run(s.call("aten::hypot", {s.x(), y}), x), ElementsAre(5, 13));
  EXPECT_THAT(s.run(s.call("aten::outer", {s.x(), y}), x), ElementsAre(12, 36, 20, 60));
  EXPECT_THAT(s.run(s.call("aten::rsub", {s.x(), y, s.of(2)}), x), ElementsAre(-2, 2));
  EXPECT_THAT(s.run(s.call("aten::subtract", {s.x(), y, s.of(1)}), x), ElementsAre(-1, -7));
  EXPECT_THAT(s.run(s.call("aten::multiply", {s.x(), y}), x), ElementsAre(12, 60));
  EXPECT_THAT(s.run(s.call("aten::cosine_similarity", {s.x(), y, s.of(0), s.real(1e-8)}), x),
              ElementsAre(FloatNear(72.0f / std::sqrt(34.0f * 160.0f), 1e-6f)));
  EXPECT_THAT(s.run(s.call("aten::pairwise_distance", {s.x(), y, s.real(2), s.real(0)}), x),
              ElementsAre(FloatNear(std::sqrt(50.0f), 1e-5f)));
  EXPECT_THAT(s.run(s.call("aten::pairwise_distance", {s.x(), y, s.real(1), s.real(0)}), x),
              ElementsAre(8));
  EXPECT_THAT(s.refused_call("aten::pairwise_distance", {s.x(), y, s.real(3), s.real(0)}),
              HasSubstr("of order 3"));
  EXPECT_THAT(s.run(s.call("aten::clip", {s.x(), s.real(3.5), s.real(4)}), x), ElementsAre(3.5, 4));
  EXPECT_THAT(s.run(s.call("aten::clamp_min", {s.x(), s.real(4)}), x), ElementsAre(4, 5));
  const std::pair<const char*, float (*)(float)> functions[] = {{"aten::tan", std::tan},
                                                                {"aten::asin", std::asin},
                                                                {"aten::acos", std::acos},
                                                                {"aten::sinh", std::sinh},
                                                                {"aten::cosh", std::cosh}};
  for (const auto& [kind, function] : functions) {
    Script one({2});
    EXPECT_THAT(one.run(one.call(kind, {one.x()}), {0.25f, -0.5f}),
                Pointwise(FloatNear(1e-5f), {function(0.25f), function(-0.5f)}))
        << kind;
  }
}

// Identity projections: equal keys give equal weights, so every position becomes the mean.
TEST(TorchCalls, SelfAttentionOfOneFastCall) {
  Script s({1, 2, 2});
  const auto zeros = [&](int64_t rows, int64_t columns) {
    const uint32_t flat = s.floats(std::vector<float>(static_cast<size_t>(rows * columns), 0));
    return columns == 1 ? flat : s.call("aten::view", {flat, s.ints({rows, columns})});
  };
  // Rows 0..3 (query, key) are 0, rows 4 and 5 (value) the identity.
  const uint32_t flat = s.floats({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
  const uint32_t in = s.call("aten::view", {flat, s.ints({6, 2})});
  const uint32_t out = s.call("aten::view", {s.floats({1, 0, 0, 1}), s.ints({2, 2})});
  const uint32_t no = s.none(), yes = s.call("aten::Bool", {s.of(1)});
  const auto result = s.calls(
      "aten::_native_multi_head_attention",
      {s.x(), s.x(), s.x(), s.of(2), s.of(1), in, zeros(6, 1), out, zeros(2, 1), no, yes, yes}, 2);
  EXPECT_THAT(s.run(result[0], {1, 2, 3, 6}), ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(s.run(result[1], {1, 2, 3, 6}), ElementsAre(0.5, 0.5, 0.5, 0.5));
  const uint32_t other = s.call("aten::neg", {s.x()});
  EXPECT_THAT(s.refusal(s.calls("aten::_native_multi_head_attention",
                                {s.x(), other, s.x(), s.of(2), s.of(1), in, zeros(6, 1), out,
                                 zeros(2, 1), no, yes, yes},
                                2)[0]),
              HasSubstr("set_fastpath_enabled(False)"));
}

// Attention and the second layer of weights are 0 or the identity, so that normalization alone is left.
TEST(TorchCalls, EncoderLayerOfOneFastCall) {
  Script s({1, 2, 2});
  const auto matrix = [&](int64_t rows, const std::vector<float>& values) {
    return s.call("aten::view", {s.floats(values), s.ints({rows, 2})});
  };
  const uint32_t in = matrix(6, std::vector<float>(12, 0)), in_bias = s.floats({0, 0, 0, 0, 0, 0});
  const uint32_t none = matrix(2, {0, 0, 0, 0}), same = matrix(2, {1, 0, 0, 1});
  const uint32_t zeros = s.floats({0, 0}), ones = s.floats({1, 1}), eps = s.real(1e-9);
  const uint32_t no = s.call("aten::Bool", {s.of(0)}), yes = s.call("aten::Bool", {s.of(1)});
  const auto layer = [&](uint32_t gelu, uint32_t norm_first, uint32_t last) {
    return s.call("aten::_transformer_encoder_layer_fwd",
                  {s.x(), s.of(2), s.of(1), in, in_bias, none, zeros, gelu, norm_first, eps, ones,
                   zeros, ones, zeros, same, zeros, last, zeros});
  };
  const std::vector<float> x = {1, 3, 2, 6};
  EXPECT_THAT(s.run(layer(no, no, same), x), Pointwise(FloatNear(1e-4f), {-1, 1, -1, 1}));
  EXPECT_THAT(s.run(layer(yes, yes, none), x), ElementsAreArray(x));
}

TEST(TorchCalls, PicturesArePaddedUnfoldedAndResized) {
  Script s({1, 1, 3, 3});
  const std::vector<float> x = counting(9);
  const uint32_t two = s.ints({2, 2}), one = s.ints({1, 1}), zero = s.ints({0, 0});
  EXPECT_THAT(s.run(s.call("aten::im2col", {s.x(), two, one, zero, one}), x),
              ElementsAre(1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9));
  EXPECT_THAT(s.run(s.call("aten::im2col", {s.x(), one, one, one, two}), x),
              ElementsAre(0, 0, 0, 0, 5, 0, 0, 0, 0));
  EXPECT_THAT(s.refused_call("aten::im2col", {s.x(), s.ints({4, 4}), one, zero, one}),
              HasSubstr("has a kernel larger than"));
  EXPECT_THAT(s.refused_call("aten::im2col", {s.x(), zero, one, zero, one}),
              HasSubstr("cannot be"));
  const uint32_t sides = s.ints({1, 0});
  EXPECT_THAT(s.run(s.call("aten::pad", {s.x(), sides, s.text("reflect"), s.none()}), x),
              ElementsAre(2, 1, 2, 3, 5, 4, 5, 6, 8, 7, 8, 9));
  EXPECT_THAT(s.run(s.call("aten::pad", {s.x(), sides, s.text("replicate"), s.none()}), x),
              ElementsAre(1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9));
  EXPECT_THAT(s.run(s.call("aten::pad", {s.x(), sides, s.text("circular"), s.none()}), x),
              ElementsAre(3, 1, 2, 3, 6, 4, 5, 6, 9, 7, 8, 9));
  EXPECT_THAT(s.refused_call("aten::pad", {s.x(), sides, s.text("odd"), s.none()}),
              HasSubstr("mode 'odd' is not taken"));

  Script row({1, 1, 4});
  const std::vector<float> y = counting(4);
  const uint32_t none = row.none(), eight = row.ints({8});
  EXPECT_THAT(row.run(row.call("aten::upsample_nearest1d", {row.x(), eight, none}), y),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(row.run(row.call("aten::adaptive_avg_pool1d", {row.x(), row.ints({2})}), y),
              ElementsAre(1.5, 3.5));
  EXPECT_THAT(row.run(row.call("aten::reflection_pad1d", {row.x(), row.ints({1, 1})}), y),
              ElementsAre(2, 1, 2, 3, 4, 3));
  EXPECT_THAT(row.run(row.call("aten::replication_pad1d", {row.x(), row.ints({1, 1})}), y),
              ElementsAre(1, 1, 2, 3, 4, 4));
}

TEST(TorchCalls, RowsAndVolumesHaveTheFunctionsOfPictures) {
  Script row({1, 1, 4});
  const std::vector<float> y = counting(4);
  const uint32_t none = row.none(), no = row.call("aten::Bool", {row.of(0)});
  EXPECT_THAT(
      row.run(row.call("aten::_upsample_nearest_exact1d", {row.x(), row.ints({8}), none}), y),
      ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(row.run(row.call("aten::upsample_linear1d", {row.x(), row.ints({8}), no, none}), y),
              ElementsAre(1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4));

  Script s({1, 1, 2, 2, 2});
  const std::vector<float> x = counting(8);
  const uint32_t two = s.ints({2, 2, 2}), one = s.ints({1, 1, 1}), zero = s.ints({0, 0, 0});
  const uint32_t off = s.call("aten::Bool", {s.of(0)}), on = s.call("aten::Bool", {s.of(1)});
  EXPECT_THAT(s.run(s.call("aten::max_pool3d", {s.x(), two, two, zero, one, off}), x),
              ElementsAre(8));
  EXPECT_THAT(s.run(s.call("aten::avg_pool3d", {s.x(), two, two, zero, off, on, s.none()}), x),
              ElementsAre(4.5));
  EXPECT_THAT(s.run(s.call("aten::adaptive_avg_pool3d", {s.x(), one}), x), ElementsAre(4.5));
  EXPECT_THAT(s.run(s.call("aten::upsample_nearest3d", {s.x(), s.ints({2, 2, 4}), s.none()}), x),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8));
  EXPECT_THAT(s.run(s.call("aten::replication_pad3d", {s.x(), s.ints({1, 0, 0, 0, 0, 0})}), x),
              ElementsAre(1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8));

  Script grid({1, 2, 3});
  const uint32_t corners = grid.call("aten::Bool", {grid.of(1)});
  EXPECT_THAT(grid.run(grid.call("aten::affine_grid_generator",
                                 {grid.x(), grid.ints({1, 1, 2, 2}), corners}),
                       {1, 0, 0, 0, 1, 0}),
              ElementsAre(-1, -1, 1, -1, -1, 1, 1, 1));
}

TEST(TorchCalls, BitsAndWhatIsNoNumber) {
  Script s;
  const uint32_t none = s.none();
  const uint32_t a = s.call("aten::tensor", {s.ints({12, 10}), s.of(4), none, none});
  const uint32_t b = s.call("aten::tensor", {s.ints({10, 6}), s.of(4), none, none});
  const auto bits = [&](const char* kind) {
    return s.value(s.call("aten::_cast_Float", {s.call(kind, {a, b})}));
  };
  EXPECT_THAT(bits("aten::bitwise_and"), ElementsAre(8, 2));
  EXPECT_THAT(bits("aten::bitwise_or"), ElementsAre(14, 14));
  EXPECT_THAT(bits("aten::bitwise_xor"), ElementsAre(6, 12));
  EXPECT_THAT(bits("aten::__xor__"), ElementsAre(6, 12));
  const uint32_t odd = s.floats({NAN, INFINITY, 1});
  EXPECT_THAT(s.value(s.call("aten::_cast_Float", {s.call("aten::isnan", {odd})})),
              ElementsAre(1, 0, 0));
  EXPECT_THAT(s.value(s.call("aten::_cast_Float", {s.call("aten::isinf", {odd})})),
              ElementsAre(0, 1, 0));
  EXPECT_THAT(s.run(s.call("aten::_cast_Long", {s.x()}), {2.75f}), ElementsAre(2));
  EXPECT_THAT(s.run(s.call("aten::softsign", {s.x()}), {3}), ElementsAre(0.75));
}

}  // namespace
}  // namespace rk::frontends::torchscript
