// SPDX-License-Identifier: Apache-2.0
// Files of the same layers with and without compress_weight.
#include "registers/coded_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "format/reader.h"
#include "format/vendor/tasks.h"
#include "registers/board_model.h"

namespace rk::registers {
namespace {

using program::ProgramTensor;
using program::TensorKind;

// x -> Conv 7x7 -> m -> Conv 7x7 -> y, 32 channels of 8x8. One weight in `sparse` is other than 0.
program::Program two_layers(const std::string& target, unsigned sparse) {
  program::Program program;
  program.target = target;
  program.toolkit_version = program.compiler_version = "2.3.2";
  program.single_core = true;
  program.weights.resize(1);
  program::Variant variant;
  variant.tensors.resize(1);
  variant.tensors[0].kind = TensorKind::kDummy;
  const auto atom = target == "rk3566" ? 8 : 16;
  constexpr uint64_t kFeatureBytes = 2048;
  constexpr std::pair<const char*, TensorKind> kFeatures[] = {
      {"x", TensorKind::kInput}, {"m", TensorKind::kInternal}, {"y", TensorKind::kOutput}};
  for (const auto& [name, kind] : kFeatures) {
    ProgramTensor t{
        .name = name, .dtype = DType::kI8, .kind = kind, .layout = program::Layout::kNc1hwc2};
    t.shape = {1, 32, 8, 8};
    t.native_shape = {1, 32 / atom, 8, 8, atom};
    t.scale = 0.5F;
    t.min = -64;
    t.max = 63.5F;
    t.size_bytes = kFeatureBytes;
    t.offset_in_arena = (variant.tensors.size() - 1) * kFeatureBytes;
    variant.tensors.push_back(t);
  }
  std::mt19937 random(3);
  const int32_t rows = target == "rk3576" ? 32 : 16;
  for (int32_t i = 0; i < 2; ++i) {
    std::vector<uint8_t> blocks(size_t{32} * 32 * 49);
    for (uint8_t& byte : blocks) byte = static_cast<uint8_t>(random() % sparse == 0 ? random() : 0);
    ProgramTensor weight{
        .name = str("w", i), .dtype = DType::kI8, .kind = TensorKind::kNpuConstant};
    weight.layout = program::Layout::kWeight;
    weight.shape = {32, 32, 7, 7};
    weight.native_shape = {32 / rows, 1, 7, 7, rows, 32};
    weight.size_bytes = blocks.size();
    weight.weight = static_cast<int32_t>(program.weights.size());
    program.weights.push_back(program::make_blob(std::move(blocks)));
    ProgramTensor bias{.name = str("b", i), .dtype = DType::kI32, .kind = TensorKind::kNpuConstant};
    bias.shape = {32};
    bias.native_shape = {128};
    bias.size_bytes = 256;
    bias.weight = static_cast<int32_t>(program.weights.size());
    program.weights.push_back(program::make_blob(std::vector<uint8_t>(256)));
    const auto first = static_cast<int32_t>(variant.tensors.size());
    variant.tensors.push_back(weight);
    variant.tensors.push_back(bias);
    program::Step step{
        .type = "Conv", .name = str("Conv:c", i), .inputs = {1 + i, first, first + 1}};
    step.outputs = {2 + i};
    program::ConvParams params;
    params.kernel = {7, 7};
    params.pads = {3, 3, 3, 3};
    step.params = params;
    variant.steps.push_back(step);
  }
  variant.arena_bytes = 3 * kFeatureBytes;
  variant.inputs = {1};
  variant.outputs = {3};
  program.variants.push_back(variant);
  program.inputs.resize(1);
  return program;
}

const format::FileTensor& tensor_of(const BoardModel& board, const std::string& name) {
  const auto& tensors = board.model.graphs.front().tensors;
  return *std::ranges::find(tensors, name, &format::FileTensor::name);
}

ByteSpan bytes_of(const BoardModel& board, const std::string& name) {
  return board.model.buffers[tensor_of(board, name).buffer].data;
}

size_t addresses_of(const BoardModel& board, const std::string& name) {
  const auto& relocs = board.model.graphs.front().relocs;
  return std::ranges::find(relocs, name, &format::TensorReloc::tensor)->entries.size();
}

class CodedWeightsTest : public testing::TestWithParam<const char*> {};

TEST_P(CodedWeightsTest, ListsSayWhereTheStreamsLie) {
  const program::Program program = two_layers(GetParam(), 5);
  const auto plain = make_board_model(program);
  const auto coded = make_board_model(program, {.compress_weight = true});
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(coded.ok()) << coded.status().message();
  ASSERT_TRUE(coded->complete());
  const auto target = target::find_target(GetParam());
  ASSERT_TRUE(target.ok());
  const auto* const known = target::weight_code_registers((*target)->weight_code);
  ASSERT_NE(known, nullptr);
  for (const std::string name : {"w0", "w1"}) {
    const format::FileTensor& tensor = tensor_of(*coded, name);
    EXPECT_EQ(tensor.dtype, DType::kUndefined);
    EXPECT_EQ(tensor.layout, program::Layout::kPlain);
    EXPECT_EQ(tensor.native_shape, tensor_of(*plain, name).native_shape);
    EXPECT_EQ(tensor.size_bytes, bytes_of(*coded, name).size());
    EXPECT_EQ(tensor.is_coded, 1U);
    ASSERT_EQ(tensor.stream_begins.size(), known->lengths.size());
    const ByteSpan blocks = bytes_of(*plain, name);
    EXPECT_LT(tensor.size_bytes, blocks.size());
    const auto back =
        program::decode_weights((*target)->weight_code, bytes_of(*coded, name), blocks.size());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_TRUE(std::ranges::equal(*back, blocks));
    EXPECT_EQ(addresses_of(*coded, name), addresses_of(*plain, name) * known->begins.size());
  }
  EXPECT_LT(coded->model.memory.weight_bytes, plain->model.memory.weight_bytes);

  // Only the registers of the code differ; the first list is that of w0.
  ASSERT_EQ(coded->words.size(), plain->words.size());
  const format::FileTensor& first = tensor_of(*coded, "w0");
  size_t of_first = 0;
  for (size_t at = 0; at < coded->words.size(); at += sizeof(uint64_t)) {
    const auto word = load<uint64_t>(coded->words.data() + at);
    if (word == load<uint64_t>(plain->words.data() + at)) continue;
    const auto now = target::RegisterCommand::decode(word);
    EXPECT_TRUE(now.offset >= 0x1100 && now.offset <= 0x114c) << std::hex << now.offset;
    const auto begin = std::ranges::find(known->begins, now.offset);
    const auto length = std::ranges::find(known->lengths, now.offset);
    const auto stream =
        static_cast<size_t>(begin != known->begins.end() ? begin - known->begins.begin()
                                                         : length - known->lengths.begin());
    if (now.offset == 0x1100) {
      EXPECT_EQ(now.value, known->control);
      ++of_first;
    } else if (now.offset == 0x1104) {
      EXPECT_EQ(now.value, known->number);
    } else if (of_first == 1 && begin != known->begins.end()) {
      EXPECT_EQ(now.value, first.stream_begins[stream]);
    } else if (of_first == 1) {
      const uint32_t bytes = first.stream_headers[stream] + first.stream_data[stream];
      EXPECT_EQ(now.value, (bytes + known->unit_bytes - 1) / known->unit_bytes - 1);
    }
  }
  EXPECT_GE(of_first, 2U);
}

TEST_P(CodedWeightsTest, OurSectionReadsTheCode) {
  const program::Program program = two_layers(GetParam(), 5);
  const auto plain = write_board_file(program, nullptr);
  const auto coded = write_board_file(program, nullptr, {.compress_weight = true});
  ASSERT_TRUE(plain.ok() && coded.ok());
  EXPECT_LT(coded->size() + 30000, plain->size());
  const auto back = format::read_rknn(*coded);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_TRUE(back->coded.empty());
  ASSERT_EQ(back->weights.size(), program.weights.size());
  for (size_t i = 0; i < program.weights.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(back->weights[i].bytes, program.weights[i].bytes)) << i;
}

TEST_P(CodedWeightsTest, WeightsWhoseCodeIsNoShorterStay) {
  const program::Program program = two_layers(GetParam(), 1);
  const auto plain = write_board_file(program, nullptr);
  const auto coded = write_board_file(program, nullptr, {.compress_weight = true});
  ASSERT_TRUE(plain.ok() && coded.ok());
  EXPECT_EQ(*plain, *coded);
}

INSTANTIATE_TEST_SUITE_P(Chips, CodedWeightsTest,
                         testing::Values("rk3566", "rk3562", "rk3576", "rv1126b", "rv1106"));

TEST(CodedWeights, ChipsWithoutACodeHavePlainWeights) {
  const program::Program program = two_layers("rk3588", 5);
  const auto plain = write_board_file(program, nullptr);
  const auto coded = write_board_file(program, nullptr, {.compress_weight = true});
  ASSERT_TRUE(plain.ok() && coded.ok());
  EXPECT_EQ(*plain, *coded);
}

}  // namespace
}  // namespace rk::registers
