// SPDX-License-Identifier: Apache-2.0
// The runtime's bytes against the independent arithmetic of recompute.h, on every layer of a real
// network: each step is recomputed from the inputs the runtime itself saw.
#include <gtest/gtest.h>

#include "format/reader.h"
#include "runtime/session/session.h"
#include "tests/e2e/figure.h"
#include "tests/e2e/models.h"
#include "tests/e2e/recompute.h"

namespace rk::e2e {
namespace {

// Ties and negative values by hand: 2.5 -> 2, 3.5 -> 4, -2.5 -> -2, -3.5 -> -4.
TEST(Recompute, RoundsTiesToEven) {
  EXPECT_EQ(divide_rne(5, 1), 2);
  EXPECT_EQ(divide_rne(7, 1), 4);
  EXPECT_EQ(divide_rne(-5, 1), -2);
  EXPECT_EQ(divide_rne(-7, 1), -4);
  EXPECT_EQ(divide_rne(-9, 2), -2);  // -2.25
  EXPECT_EQ(divide_rne(11, 0), 11);
}

// Two output channels, 17 input channels, 1x1: one block of 2 x 32, channel-major.
TEST(Recompute, UnpacksOneRemainderBlock) {
  program::ProgramTensor weight;
  weight.name = "w";
  weight.layout = program::Layout::kWeight;
  weight.shape = {2, 17, 1, 1};
  std::vector<uint8_t> bytes(64, static_cast<uint8_t>(-3));
  for (size_t i = 0; i < 17; ++i) {
    bytes[i] = static_cast<uint8_t>(i);
    bytes[32 + i] = static_cast<uint8_t>(100 + i);
  }
  const std::vector<int64_t> offsets = {3, 3};
  const auto plain = unpack_blocks(weight, bytes, offsets, false);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ((*plain)[16], 16);
  EXPECT_EQ((*plain)[17], 100);
  bytes[31] = 0;  // a lane that does not cancel
  EXPECT_FALSE(unpack_blocks(weight, bytes, offsets, false).ok());
}

class Arithmetic : public testing::TestWithParam<std::string> {};

// Fills `stored` with every tensor of one run on the model's first picture.
Status observe_run(const TestModel& model, const program::Program& program, StoredTensors& stored) {
  RK_ASSIGN(const auto loaded, runtime::LoadedModel::from_program(program, {}));
  RK_ASSIGN(const auto session, runtime::Session::create(loaded));
  stored.assign(program.main_variant().tensors.size(), std::nullopt);
  session->set_observer([&](int32_t tensor, const Tensor& elements) {
    stored[static_cast<size_t>(tensor)] = elements.clone();
    return ok_status();
  });
  const media::Picture& picture = model.pictures.at(0);
  runtime::CallerFormat format;
  format.dtype = DType::kU8;
  format.format = runtime::TensorFormat::kNhwc;
  RK_TRY(session->set_input(0, format, picture.pixels.data(), picture.pixels.size()));
  return session->run();
}

TEST_P(Arithmetic, EveryLayerEqualsTheIndependentRecomputation) {
  const auto model = load_model(GetParam());
  ASSERT_TRUE(model.ok() && model->has_value());
  const auto conversion = converted(**model);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  // As read back from the file: what the runtime gets.
  const auto program = format::read_rknn((*conversion)->rknn);
  ASSERT_TRUE(program.ok()) << program.status().message();
  StoredTensors stored;
  const Status run = observe_run(**model, *program, stored);
  ASSERT_TRUE(run.ok()) << run.message();

  size_t layers = 0, bytes = 0, different = 0, without_rule = 0;
  const program::Variant& variant = program->main_variant();
  for (const program::Step& step : variant.steps) {
    const auto& output = variant.tensors[static_cast<size_t>(step.outputs.at(0))];
    if (output.dtype != DType::kI8) {
      ++without_rule;
      continue;
    }
    const auto wanted = recompute(*program, step, stored);
    ASSERT_TRUE(wanted.ok()) << step.name << ": " << wanted.status().message();
    if (!wanted->has_value()) {
      ADD_FAILURE() << step.name << " (" << step.type << ") has no integer formula";
      ++without_rule;
      continue;
    }
    const auto found = stored[static_cast<size_t>(step.outputs[0])]->span<int8_t>();
    ASSERT_EQ(found.size(), (*wanted)->size()) << step.name;
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) wrong += found[i] != (**wanted)[i] ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << step.name << " (" << step.type << ") of " << found.size() << " bytes";
    ++layers;
    bytes += found.size();
    different += wrong;
  }
  figure_holds(str(GetParam(), " integer arithmetic, recomputed"),
               different == 0 && without_rule == 0 && layers > 0,
               str(layers, " layers, ", bytes, " bytes, ", different, " different, ", without_rule,
                   " layers without a rule"),
               "every layer, 0 different");
}

INSTANTIATE_TEST_SUITE_P(Models, Arithmetic, testing::Values("signs", "digits"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rk::e2e
