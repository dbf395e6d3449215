// SPDX-License-Identifier: Apache-2.0
// Numbers are those of docs/facts/container.md, sections 3.1 to 3.4, worked out for two small layers.
#include "registers/board_model.h"

#include <gtest/gtest.h>

#include "format/vendor/tasks.h"

namespace rk::registers {
namespace {

using program::ProgramTensor;
using program::TensorKind;

ProgramTensor feature(const std::string& name, TensorKind kind) {
  ProgramTensor t{
      .name = name, .dtype = DType::kI8, .kind = kind, .layout = program::Layout::kNc1hwc2};
  t.shape = {1, 16, 4, 4};
  t.native_shape = {1, 1, 4, 4, 16};
  t.scale = 0.5F;
  t.min = -64;
  t.max = 63.5F;
  t.size_bytes = 512;
  t.plane_align = kind == TensorKind::kInput ? 0 : 4;
  return t;
}

ProgramTensor constant(const std::string& name, int32_t weight, bool is_bias) {
  ProgramTensor t{
      .name = name, .dtype = is_bias ? DType::kI32 : DType::kI8, .kind = TensorKind::kNpuConstant};
  t.layout = is_bias ? program::Layout::kPlain : program::Layout::kWeight;
  t.shape = is_bias ? Shape{16} : Shape{16, 16, 1, 1};
  t.native_shape = is_bias ? std::vector<int32_t>{64} : std::vector<int32_t>{1, 1, 1, 1, 16, 16};
  t.size_bytes = 256;
  t.weight = weight;
  return t;
}

// x -> Conv -> m -> Conv -> y, 16 channels of 4x4, 1x1.
program::Program two_layers() {
  program::Program program;
  program.target = "rk3588";
  program.toolkit_version = program.compiler_version = "2.3.2";
  program.weights.resize(1);
  program::Variant variant;
  variant.tensors = {ProgramTensor{}, feature("x", TensorKind::kInput),
                     feature("m", TensorKind::kInternal), feature("y", TensorKind::kOutput)};
  variant.tensors[0].kind = TensorKind::kDummy;
  for (int32_t i = 0; i < 2; ++i) {
    variant.tensors.push_back(constant(str("w", i), 1 + 2 * i, false));
    variant.tensors.push_back(constant(str("b", i), 2 + 2 * i, true));
    program.weights.push_back(program::make_blob(std::vector<uint8_t>(256, 0)));
    program.weights.push_back(program::make_blob(std::vector<uint8_t>(256, 0)));
    program::Step step{
        .type = "Conv", .name = str("Conv:c", i), .inputs = {1 + i, 4 + 2 * i, 5 + 2 * i}};
    step.outputs = {2 + i};
    step.params = program::ConvParams{};
    variant.steps.push_back(step);
  }
  variant.arena_bytes = 1536;
  for (size_t i = 1; i < 4; ++i) variant.tensors[i].offset_in_arena = (i - 1) * 512;
  variant.inputs = {1};
  variant.outputs = {3};
  program.variants.push_back(variant);
  program.inputs.resize(1);
  return program;
}

TEST(BoardModel, ListsAreLinkedDescribedAndRelocated) {
  const program::Program program = two_layers();
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  EXPECT_TRUE(board->complete());
  const format::FileGraph& graph = board->model.graphs.front();
  EXPECT_EQ(graph.schedule_starts, (std::vector<uint32_t>{0, 0, 0, 2, 2}));
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 0}));
  ASSERT_EQ(graph.outputs_ready.size(), 1U);
  EXPECT_EQ(graph.outputs_ready[0].task_count, 2);

  // 126 words and four more; the next list starts at word 136, byte 1088.
  ASSERT_EQ(board->words.size(), (136U + 136U) * 8);
  const auto word = [&](size_t i) { return load<uint64_t>(board->words.data() + 8 * i); };
  EXPECT_EQ(word(126), 0x0101000004400010U);
  EXPECT_EQ(word(127), 0x0101000000400014U);  // (126 + 4) / 2 - 1 = 64
  EXPECT_EQ(word(128), 0x0041000000000000U);
  EXPECT_EQ(word(129), 0x00810000001d0008U);
  EXPECT_EQ(word(136 + 126), 0U);  // the end of the chain
  EXPECT_EQ(word(136 + 127), 0x0101000000000014U);

  const auto lists = format::TaskLists::read(board->model, graph);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->tasks().size(), 2U);
  EXPECT_EQ(lists->tasks()[1].node, 2U);
  EXPECT_EQ(lists->tasks()[1].command_count, 126U);
  EXPECT_EQ(lists->tasks()[1].first_word, 136U);
  const auto from = lists->address_of(lists->tasks()[1], target::reg::CNA_FEATURE_DATA_ADDR);
  ASSERT_TRUE(from.has_value());
  EXPECT_EQ(from->tensor, 2);
}

TEST(BoardModel, ALayerWithoutAListIsNamedAndLeftToTheCpu) {
  program::Program program = two_layers();
  std::get<program::ConvParams>(program.variants[0].steps[1].params).group = 2;
  program.variants[0].tensors[6].shape = {16, 8, 1, 1};
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  EXPECT_FALSE(board->complete());
  EXPECT_EQ(board->layers[1].form, LayerForm::kAbsent);
  EXPECT_NE(board->layers[1].why.find("no register form for a grouped convolution"),
            std::string::npos)
      << board->layers[1].why;
  EXPECT_EQ(board->model.graphs.front().nodes[2].processor, program::Processor::kCpu);
}

TEST(BoardModel, RefusesOtherChips) {
  program::Program program = two_layers();
  program.target = "rk3566";
  const auto board = make_board_model(program);
  ASSERT_FALSE(board.ok());
  EXPECT_EQ(board.status().message(), "no register form for the chip rk3566");
}

}  // namespace
}  // namespace rk::registers
