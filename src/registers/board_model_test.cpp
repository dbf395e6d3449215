// SPDX-License-Identifier: Apache-2.0
// Numbers are those of docs/facts/container.md, sections 3.1 to 3.4, worked out for two small layers.
#include "registers/board_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/container.h"
#include "format/reader.h"
#include "format/small_writer.h"
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
  program::Program program = two_layers();
  program.single_core = true;
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

// Four rows on two cores and on three. Lists of these have 122 words; behind the last of a core comes one of the pooling
// unit. Words as in the vendor's file of digits (rk3588, int8).
TEST(BoardModel, CoresWaitForEachOtherBehindEveryList) {
  const program::Program program = two_layers();
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  const format::FileGraph& graph = board->model.graphs.front();
  EXPECT_EQ(graph.schedule_starts, (std::vector<uint32_t>{0, 0, 0, 2, 8}));
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(graph.nodes[2].task_counts, (std::vector<uint32_t>{1, 2, 2, 2, 2, 2}));
  // Rows of four pixels in 32 channels; a list of the pooling unit counts as 608 bytes.
  EXPECT_EQ(graph.nodes[1].core_bytes,
            (std::vector<uint32_t>{512, 0, 0, 256, 256, 0, 256, 128, 128}));
  EXPECT_EQ(graph.nodes[2].core_bytes,
            (std::vector<uint32_t>{512, 0, 0, 864, 864, 0, 864, 736, 736}));

  const auto lists = format::TaskLists::read(board->model, graph);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->tasks().size(), 17U);
  ASSERT_EQ(lists->schedules().size(), 3U);
  const auto tail = [&](size_t task, uint64_t word) {
    return lists->word(lists->tasks()[task].first_word + lists->tasks()[task].command_count + word);
  };
  EXPECT_EQ(lists->tasks()[2].command_count, 122U);
  EXPECT_EQ(tail(2, 1),
            0x01010001003e0014U);  // a list of 122 words follows, when the other core is done
  EXPECT_EQ(tail(3, 1), 0x01010001000e0014U);  // one of 26 words
  EXPECT_EQ(lists->tasks()[4].units, 0x60U);
  EXPECT_EQ(tail(4, 0), 0U);
  EXPECT_EQ(tail(4, 1), 0x0101000000000014U);
  EXPECT_EQ(tail(8, 1), 0x01010002003e0014U);  // two other cores
  // Rows of one fetch, and how many other cores take the same weights.
  const auto fetch = [&](size_t task) {
    const format::Task& t = lists->tasks()[task];
    for (uint64_t i = 0; i < t.command_count; ++i)
      if (const auto c = lists->command(t.first_word + i); c.offset == target::reg::CNA_CONV_CON2)
        return c.value;
    return 0U;
  };
  EXPECT_EQ(fetch(0), 5U << 4);
  EXPECT_EQ(fetch(2), 3U << 4 | 1U << 28);
  EXPECT_EQ(fetch(8), 3U << 4 | 2U << 28);
  const auto to = lists->address_of(lists->tasks()[5], target::reg::DPU_DST_BASE_ADDR);
  ASSERT_TRUE(to.has_value());
  EXPECT_EQ(to->addend, 128U);  // two rows of four pixels
  ASSERT_EQ(graph.input_geometry.size(), 1U);
  ASSERT_EQ(graph.input_geometry[0].patches.size(), 6U);
  EXPECT_EQ(graph.input_geometry[0].patches[2].first_row, 2U);
}

// Places of the file's own order of steps, whatever the Program says: here all of its tensors lie at 0.
TEST(BoardModel, TensorsOfOneStepShareNoByte) {
  program::Program program = two_layers();
  for (size_t i = 1; i < 4; ++i) program.variants[0].tensors[i].offset_in_arena = 0;
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  const auto& tensors = board->model.graphs.front().tensors;
  EXPECT_EQ(tensors[1].offset_in_internal, 0U);    // x, until the first layer
  EXPECT_EQ(tensors[2].offset_in_internal, 512U);  // m beside it
  EXPECT_EQ(tensors[3].offset_in_internal, 0U);    // y where x was
  EXPECT_EQ(board->model.memory.internal_bytes, 1024U);
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

// Two features of 24 channels, joined: x -> Conv -> m, and m beside x's copy.
program::Program joined() {
  program::Program program = two_layers();
  program::Variant& variant = program.variants[0];
  for (const size_t i : {1U, 2U, 3U}) {
    variant.tensors[i].shape = {1, 24, 4, 4};
    variant.tensors[i].native_shape = {1, 2, 4, 4, 16};
  }
  variant.tensors[3].shape = {1, 48, 4, 4};
  variant.tensors[3].native_shape = {1, 3, 4, 4, 16};
  variant.tensors[3].size_bytes = 1024;
  variant.arena_bytes = 2048;
  variant.tensors[4].shape = {24, 24, 1, 1};
  variant.tensors[4].native_shape = {1, 1, 1, 1, 24, 32};
  variant.tensors[4].size_bytes = 768;
  program.weights[1] = program::make_blob(std::vector<uint8_t>(768, 0));
  variant.tensors[5].shape = {24};
  program::Step& step = variant.steps[1];
  step.type = "Concat";
  step.name = "Concat:c1";
  step.inputs = {2, 2};
  program::ConcatParams params{.axis = 1};
  params.inputs = {{0, {16384, 15}}, {0, {1, 0}}};
  params.output = {{16384, 14}, 0};
  step.params = params;
  return program;
}

TEST(BoardModel, ChannelsThatFillNoBlockAreCopiedToScratchAndSelected) {
  const program::Program program = joined();
  const program::Variant& variant = program.variants[0];
  const auto layer = layer_tasks(program, variant, variant.steps[1]);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  ASSERT_EQ(layer->tasks.size(), 3U);
  ASSERT_EQ(layer->scratch.size(), 1U);
  EXPECT_EQ(layer->scratch[0].name, "y_exSecondary");
  EXPECT_EQ(layer->scratch[0].size_bytes, 64U * 16);  // 64 lanes of 16 pixels
  EXPECT_EQ(layer->tasks[1].tensor(Operand::kOutput), "y_exSecondary");
  const Command* const to = layer->tasks[1].task.find(target::reg::DPU_DST_BASE_ADDR);
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(to->value, 32U * 16);
  EXPECT_EQ(layer->tasks[2].task.units, 0x1dU);
  ASSERT_EQ(layer->helpers.size(), 2U);
  // Of 48 by 64 weights 48 are one: channel 24 is lane 32.
  EXPECT_EQ(layer->helpers[0].bytes.size(), 48U * 64);
  EXPECT_EQ(std::count(layer->helpers[0].bytes.begin(), layer->helpers[0].bytes.end(), 1), 48);
}

// A step that the first core runs has its list of one core.
TEST(BoardModel, StepsThatAreNotSplitAreTheFirstCores) {
  const auto board = make_board_model(joined());
  ASSERT_TRUE(board.ok()) << board.status().message();
  const format::FileGraph& graph = board->model.graphs.front();
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(graph.nodes[2].task_counts, (std::vector<uint32_t>{3, 3, 0, 3, 0, 0}));
  const auto lists = format::TaskLists::read(board->model, graph);
  ASSERT_TRUE(lists.ok());
  EXPECT_EQ(lists->tasks()[6].node, 2U);
  EXPECT_EQ(lists->tasks()[6].first_word, lists->tasks()[1].first_word);
}

TEST(BoardModel, ScratchLiesBesideWhatItsStepReadsAndWrites) {
  const auto board = make_board_model(joined());
  ASSERT_TRUE(board.ok()) << board.status().message();
  const auto& tensors = board->model.graphs.front().tensors;
  const auto scratch = std::ranges::find(tensors, "y_exSecondary", &format::FileTensor::name);
  ASSERT_NE(scratch, tensors.end());
  // m of 512 bytes behind x, which is gone; 1024 bytes of scratch and 1024 of the result behind m.
  EXPECT_EQ(tensors[2].offset_in_internal, 512U);
  EXPECT_EQ(scratch->offset_in_internal, 1024U);
  EXPECT_EQ(tensors[3].offset_in_internal, 2048U);
  EXPECT_EQ(board->model.memory.internal_bytes, 3072U);
}

// 16 channels leave the array as 32: the second block has a place too.
TEST(BoardModel, ATensorHasRoomForAllThatItsListsWrite) {
  program::Program program = two_layers();
  program.variants[0].tensors[2].size_bytes = 256;
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  const auto& tensors = board->model.graphs.front().tensors;
  EXPECT_EQ(tensors[2].size_bytes, 512U);
  EXPECT_EQ(board->model.memory.internal_bytes, 1024U);
}

TEST(BoardModel, AnAveragePoolIsASumOfWeightsOfOne) {
  program::Program program = two_layers();
  program::Step& step = program.variants[0].steps[1];
  step.type = "AveragePool";
  step.inputs = {2};
  program.variants[0].tensors[3].shape = {1, 16, 2, 2};
  program.variants[0].tensors[3].native_shape = {1, 1, 2, 2, 16};
  program::PoolParams params{.kind = program::PoolKind::kAverage};
  params.kernel = params.stride = {2, 2};
  params.by_count.assign(4, {3, {16384, 6}});  // x + 3, 256 / 4 in a unit 1024 times finer
  params.output = {{16384, 24}, -3};
  step.params = params;
  const auto layer = layer_tasks(program, program.variants[0], step);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  ASSERT_EQ(layer->helpers.size(), 2U);
  const int8_t* const weights = reinterpret_cast<const int8_t*>(layer->helpers[0].bytes.data());
  EXPECT_EQ(weights[0], 1);
  EXPECT_EQ(load<int32_t>(layer->helpers[1].bytes.data()), 12);  // four times the offset
  const RegisterTask& task = layer->tasks.front().task;
  EXPECT_EQ(task.find(target::reg::DPU_BS_MUL_CFG)->value, 0x601U);  // a shift of 6
  EXPECT_EQ(task.find(target::reg::CNA_PAD_CON1)->value & 0xff, 0xfdU);

  std::get<program::PoolParams>(step.params).pads = {1, 1, 1, 1};
  const auto refused = layer_tasks(program, program.variants[0], step);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("windows count different numbers of pixels"),
            std::string::npos);
}

TEST(BoardModel, ATableHasOneEntryInFourForEachByte) {
  program::Program program = two_layers();
  program::Step& step = program.variants[0].steps[1];
  step.type = "Sigmoid";
  step.inputs = {2};
  program::TableParams params{.function = "Sigmoid", .table = {}};
  for (int x = -128; x < 128; ++x) params.table.push_back(static_cast<int8_t>(-x - 1));
  step.params = params;
  const auto layer = layer_tasks(program, program.variants[0], step);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  ASSERT_EQ(layer->tasks.size(), 2U);
  EXPECT_EQ(layer->loads, 1U);
  const std::vector<Command>& load = layer->tasks[0].task.commands;
  ASSERT_EQ(load.size(), 1097U);  // 69 words and twice 513 entries behind a selection
  EXPECT_EQ(load[69].value, 0x20000U);
  EXPECT_EQ(load[70].value, 127U);           // of -128
  EXPECT_EQ(load[70 + 4].value, 126U);       // of -127
  EXPECT_EQ(load[70 + 512].value, 0xffffU);  // of 0, where the upper table begins too
  EXPECT_EQ(load[583].value, 0x30000U);
  EXPECT_EQ(load[584].value, 0xffffU);
  EXPECT_EQ(load[584 + 4 * 127].value, 0xff80U);
  const RegisterTask& work = layer->tasks[1].task;
  EXPECT_EQ(work.find(target::reg::DPU_S_POINTER)->value, 0x30U);
  EXPECT_EQ(work.find(target::reg::DPU_LUT_LE_START)->value, 0xffffc000U);
  EXPECT_EQ(work.find(target::reg::DPU_BN_MUL_CFG)->value, 128U << 16);
}

TEST(BoardModel, AConvolutionWithATableLoadsItFirst) {
  program::Program program = two_layers();
  program::LookupStage lookup{.multiplier = 3, .addend = 5, .shift = 2};
  for (int16_t i = 0; i < 513; ++i) {
    lookup.low.push_back(i);
    lookup.high.push_back(static_cast<int16_t>(-i));
  }
  program::Step& step = program.variants[0].steps[1];
  std::get<program::ConvParams>(step.params).lookup = lookup;
  const auto layer = layer_tasks(program, program.variants[0], step);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  ASSERT_EQ(layer->tasks.size(), 2U);
  EXPECT_EQ(layer->loads, 1U);
  EXPECT_TRUE(layer->split[0].empty());  // tables are the first core's
  const std::vector<Command>& load = layer->tasks[0].task.commands;
  ASSERT_EQ(load.size(), 1097U);
  EXPECT_EQ(load[70 + 512].value, 512U);
  EXPECT_EQ(load[584 + 512].value, 0xfe00U);
  EXPECT_EQ(layer->tasks[1].task.units, 0x1dU);
  EXPECT_EQ(layer->tasks[1].task.find(target::reg::DPU_S_POINTER)->value, 0x30U);
  EXPECT_EQ(layer->tasks[1].task.find(target::reg::DPU_BN_ALU_CFG)->value, 5U);

  std::get<program::ConvParams>(step.params).lookup->high.pop_back();
  EXPECT_FALSE(layer_tasks(program, program.variants[0], step).ok());
}

TEST(BoardModel, RefusesOtherChips) {
  program::Program program = two_layers();
  program.target = "rk2118";
  const auto board = make_board_model(program);
  ASSERT_FALSE(board.ok());
  EXPECT_EQ(board.status().message(), "no register form for the chip rk2118");
}

// Starts and columns as in vendor files for RK3576 without a layer that cores share (layer_deconv3d)
// and for RV1126B (signs).
TEST(BoardModel, Rk3576HasListsForEitherCoreAlone) {
  program::Program program = two_layers();
  program.target = "rk3576";
  program.single_core = true;
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  const format::FileGraph& graph = board->model.graphs.front();
  EXPECT_EQ(graph.schedule_starts, (std::vector<uint32_t>{0, 2, 4}));
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 1, 0}));
  EXPECT_EQ(graph.nodes[1].core_bytes, (std::vector<uint32_t>{256, 256, 0, 0}));
  const auto lists = format::TaskLists::read(board->model, graph);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->tasks().size(), 6U);
  const auto banks = [&](size_t task) {
    target::RegisterFile registers;
    lists->apply(lists->tasks()[task], registers);
    return registers.get(uint16_t{0x1018});
  };
  const uint32_t expected[] = {0x40000404, 0x40000404, 0x4000040b,
                               0x4000040b, 0x40000404, 0x40000404};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(banks(i), expected[i]) << i;
  EXPECT_EQ(lists->tasks()[4].first_word, lists->tasks()[0].first_word);
  const auto numbers = lists->address_of(lists->tasks()[2], 0x5024);
  ASSERT_TRUE(numbers.has_value());
  EXPECT_EQ(graph.tensors[static_cast<size_t>(numbers->tensor)].name, "m_BScfgTensor");
  ASSERT_EQ(lists->schedules().size(), 2U);
  EXPECT_EQ(lists->schedules()[1].lanes[0].task_count, 2U);
  EXPECT_EQ(lists->schedules()[1].lanes[1].task_count, 0U);

  program.target = "rv1126b";
  const auto single = make_board_model(program);
  ASSERT_TRUE(single.ok()) << single.status().message();
  const format::FileGraph& one = single->model.graphs.front();
  EXPECT_EQ(one.schedule_starts, (std::vector<uint32_t>{0}));
  EXPECT_EQ(one.nodes[1].task_counts, (std::vector<uint32_t>{1, 0, 0, 0, 0}));
  EXPECT_EQ(one.nodes[1].core_bytes, (std::vector<uint32_t>{256, 0, 0, 0, 256, 0, 0, 0}));
}

// Numbers and tails of lists as in vendor files for RK3576: a layer of 16 channels of 4x4, and of 5x4.
TEST(BoardModel, TwoCoresOfRk3576ShareLayers) {
  program::Program program = two_layers();
  program.target = "rk3576";
  const auto even = make_board_model(program);
  ASSERT_TRUE(even.ok()) << even.status().message();
  const format::FileGraph& graph = even->model.graphs.front();
  EXPECT_EQ(graph.schedule_starts, (std::vector<uint32_t>{0, 2, 4}));
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(graph.nodes[1].core_bytes, (std::vector<uint32_t>{256, 256, 128, 128}));
  const auto lists = format::TaskLists::read(even->model, graph);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->tasks().size(), 8U);
  const auto tail = [](const format::TaskLists& of, size_t task, uint64_t word) {
    return of.word(of.tasks()[task].first_word + of.tasks()[task].command_count + word);
  };
  for (const size_t first : {4U, 6U}) {
    EXPECT_EQ(lists->tasks()[first].command_count, 138U);
    EXPECT_EQ(tail(*lists, first, 1), 0x0101000100460014U);
    EXPECT_EQ(tail(*lists, first, 3), 0x00810100001d0008U);
    EXPECT_EQ(tail(*lists, first + 1, 0), 0U);
    EXPECT_EQ(tail(*lists, first + 1, 1), 0x0101000100000014U);
  }
  EXPECT_EQ(lists->schedules()[1].lanes[1].first_task, 6U);
  EXPECT_EQ(lists->schedules()[1].lanes[1].task_count, 2U);

  for (size_t i = 1; i < 4; ++i) {
    program.variants[0].tensors[i].shape = {1, 16, 5, 4};
    program.variants[0].tensors[i].native_shape = {1, 1, 5, 4, 16};
  }
  const auto odd = make_board_model(program);
  ASSERT_TRUE(odd.ok()) << odd.status().message();
  const format::FileGraph& apart = odd->model.graphs.front();
  EXPECT_EQ(apart.nodes[1].task_counts, (std::vector<uint32_t>{1, 2, 2}));
  EXPECT_EQ(apart.nodes[1].core_bytes, (std::vector<uint32_t>{320, 320, 272, 80}));
  const auto apart_lists = format::TaskLists::read(odd->model, apart);
  ASSERT_TRUE(apart_lists.ok());
  ASSERT_EQ(apart_lists->tasks().size(), 12U);
  EXPECT_EQ(tail(*apart_lists, 4, 1), 0x0101000000460014U);
  EXPECT_EQ(tail(*apart_lists, 4, 3), 0x00810000001d0008U);
  EXPECT_EQ(tail(*apart_lists, 5, 1), 0x0101000000460014U);
  EXPECT_EQ(tail(*apart_lists, 5, 3), 0x00810100001d0008U);
  EXPECT_EQ(tail(*apart_lists, 7, 1), 0x0101000000000014U);
  const auto to = apart_lists->address_of(apart_lists->tasks()[5], 0x4018);
  ASSERT_TRUE(to.has_value());
  const format::FileTensor& pixel = apart.tensors[static_cast<size_t>(to->tensor)];
  EXPECT_EQ(pixel.name, "fenceConv_output");
  EXPECT_EQ(pixel.size_bytes, 512U);
}

// Container 0x1004: register words, helpers, weights and internal memory are one image, in which
// addresses are places (docs/facts/small-chips.md, section 1).
TEST(BoardModel, AFileForRv1106IsLinked) {
  program::Program program = two_layers();
  program.target = "rv1106";
  for (size_t i = 0; i < 4; ++i)
    program.weights[i + 1] = program::make_blob(std::vector<uint8_t>(256, static_cast<uint8_t>(i)));
  const auto file = write_board_file(program, nullptr);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto container = format::split_container(ByteSpan(*file));
  ASSERT_TRUE(container.ok()) << container.status().message();
  EXPECT_EQ(container->version, format::kSmallContainerVersion);
  ASSERT_TRUE(container->small && container->section);
  const auto model = format::read_model(*container);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->npu_generation, "RKNPU t3");
  const format::FileGraph& graph = model->graphs.front();
  const auto lists = format::TaskLists::read(*model, graph);
  ASSERT_TRUE(lists.ok() && lists->tasks().size() == 2);
  const auto tensor = [&](const std::string& name) -> const format::FileTensor& {
    return *std::ranges::find(graph.tensors, name, &format::FileTensor::name);
  };
  const uint32_t helpers = static_cast<uint32_t>(container->small->register_words.size());
  const uint32_t weights = helpers + static_cast<uint32_t>(container->small->helpers.size());
  const uint32_t internal = weights + static_cast<uint32_t>(container->small->weights.size());
  const format::Task& second = lists->tasks()[1];
  EXPECT_EQ(second.command_count, 126U);
  const auto word_of = [&](uint16_t offset) {
    for (uint64_t i = second.first_word; i < second.first_word + second.command_count; ++i)
      if (lists->command(i).offset == offset) return lists->command(i).value;
    return 0U;
  };
  EXPECT_EQ(word_of(0x1070), internal + tensor("m").offset_in_internal);
  EXPECT_EQ(word_of(0x4020), internal + tensor("y").offset_in_internal);
  // Four constants of 256 bytes, no two of them alike: weights 16 x 16, biases 16 x 8 bytes.
  EXPECT_GE(word_of(0x1110), weights);
  EXPECT_LT(word_of(0x1110), internal);
  EXPECT_EQ(word_of(0x1110) % 64, 0U);
  EXPECT_NE(word_of(0x1110), word_of(0x5020));
  // Where the next list lies and how long it is: ceil((126 + 4) / 2) - 1.
  const uint64_t tail = lists->tasks()[0].first_word + 126;
  EXPECT_EQ(lists->word(tail), 0x0101000000000010U | second.first_word * 8 << 16);
  EXPECT_EQ(lists->word(tail + 1), 0x0101000000400014U);
  EXPECT_EQ(lists->word(tail + 3), 0x00810000001d0008U);
  // Through our section the Program is the same.
  const auto back = format::read_rknn(*file);
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->weights.size(), program.weights.size());
  for (size_t i = 1; i < program.weights.size(); ++i) {
    const ByteSpan a = back->weights[i].bytes, b = program.weights[i].bytes;
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << i;
  }
}

TEST(BoardModel, WeightsOfAFileForRv1106ThatAreCutOffAreRefused) {
  program::Program program = two_layers();
  program.target = "rv1103";
  const std::vector<uint8_t> payload = format::encode_with_weights(program);
  EXPECT_TRUE(format::decode_with_weights(format::kSectionVersion, payload, nullptr).ok());
  for (size_t size = 0; size < payload.size(); ++size) {
    const auto cut = format::decode_with_weights(format::kSectionVersion,
                                                 ByteSpan(payload).first(size), nullptr);
    EXPECT_FALSE(cut.ok()) << size;
  }
}

// As ConvSigmoid of yunet: both cores load the table, loads wait and are not counted.
TEST(BoardModel, BothCoresOfRk3576LoadTheTable) {
  program::Program program = two_layers();
  program.target = "rk3576";
  program::Step& step = program.variants[0].steps[0];
  auto& params = std::get<program::ConvParams>(step.params);
  params.multiplier_shift = 14;
  params.lookup = program::LookupStage{};
  params.lookup->low.assign(513, 59);
  params.lookup->high.assign(513, 32708);
  params.lookup->multiplier = 18380;
  params.lookup->shift = 12;
  params.lookup->start = -16384;
  params.lookup->end = 16384;
  params.lookup->entry_shift = 5;
  params.lookup->below = params.lookup->above = {0, 0};
  const auto board = make_board_model(program);
  ASSERT_TRUE(board.ok()) << board.status().message();
  ASSERT_TRUE(board->complete()) << board->layers[0].why;
  const format::FileGraph& graph = board->model.graphs.front();
  EXPECT_EQ(graph.schedule_starts, (std::vector<uint32_t>{0, 3, 6}));
  EXPECT_EQ(graph.nodes[1].task_counts, (std::vector<uint32_t>{1, 1, 1}));
  const auto lists = format::TaskLists::read(board->model, graph);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->tasks().size(), 12U);
  ASSERT_EQ(lists->schedules().size(), 2U);
  for (size_t core = 0; core < 2; ++core) {
    const format::Lane& lane = lists->schedules()[1].lanes[core];
    EXPECT_EQ(lane.first_task, 6 + 3 * core);
    EXPECT_EQ(lane.task_count, 3U);
    const format::Task& load = lists->tasks()[lane.first_task];
    EXPECT_EQ(load.units, 0x18U);
    EXPECT_EQ(load.command_count, 1117U);
    EXPECT_EQ(lists->word(load.first_word + 1118), 0x0101000100460014U);
    EXPECT_EQ(lists->word(load.first_word + 1120), 0x0081000000180008U);
  }
}

}  // namespace
}  // namespace rk::registers
