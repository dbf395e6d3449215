// SPDX-License-Identifier: Apache-2.0
// Register lists executed word by word, against the same model executed as a Program: every tensor that a task of the
// NPU writes, for one, two and three cores. Before each node the emulator's memory holds what earlier tasks wrote, so
// an error cannot hide behind a fresh start.
#include <gtest/gtest.h>

#include <random>

#include "emulator/emulator.h"
#include "tests/e2e/figure.h"
#include "tests/vendor/samples.h"
#include "tests/vendor/session_run.h"

namespace rk::vendor {
namespace {

using emulator::Core;
using emulator::Emulator;
using emulator::TaskResult;
using format::FileGraph;
using format::FileNode;
using format::Task;

struct Comparison {
  size_t tasks = 0, convolution_tasks = 0, barriers = 0;
  size_t tensors = 0, bytes = 0, different_bytes = 0;
  std::string first_difference;
};

void compare(const FileNode& node, int32_t tensor, const std::vector<uint8_t>& got,
             const Tensor& wanted, Comparison& result) {
  ++result.tensors;
  result.bytes += got.size();
  size_t different = 0;
  for (size_t i = 0; i < got.size(); ++i) different += got[i] != wanted.bytes()[i];
  result.different_bytes += different;
  if (different != 0 && result.first_difference.empty()) {
    result.first_difference = str("node '", node.name, "' (", node.type, "), tensor ", tensor, ": ",
                                  different, " of ", got.size(), " bytes");
  }
}

// All nodes up to `last_node` on one schedule; lanes advance node by node, which is what the barriers allow.
void emulate(Emulator& emulator, const FileGraph& graph, const format::Schedule& schedule,
             const RunResult& wanted, size_t last_node, Comparison& result) {
  std::vector<Core> cores(schedule.lanes.size());
  std::vector<size_t> next;
  for (const format::Lane& lane : schedule.lanes) next.push_back(lane.first_task);
  for (size_t n = 0; n < graph.nodes.size() && n <= last_node; ++n) {
    const FileNode& node = graph.nodes[n];
    bool ran = false;
    for (size_t core = 0; core < cores.size(); ++core) {
      for (uint32_t i = 0; i < node.task_counts[schedule.columns[core]]; ++i) {
        const Task& task = emulator.lists().tasks()[next[core]++];
        ASSERT_EQ(task.node, n);
        const auto done = emulator.run(task, cores[core]);
        ASSERT_TRUE(done.ok()) << "node '" << node.name << "': " << done.status().message();
        ++result.tasks;
        result.barriers += *done == TaskResult::kBarrier;
        result.convolution_tasks += (task.units & format::kUnitCna) != 0;
        ran = ran || *done == TaskResult::kDone;
      }
    }
    if (!ran) continue;
    for (const int32_t output : node.outputs) {
      const auto got = emulator.load(output);
      ASSERT_TRUE(got.ok()) << got.status().message();
      ASSERT_TRUE(wanted.tensors.contains(output)) << node.name;
      compare(node, output, *got, wanted.tensors.at(output), result);
    }
  }
}

// The lists stop at operators of the CPU; everything before is compared.
void expect_equal(const std::string& name, const std::vector<uint8_t>& file,
                  const RunResult& wanted, const std::vector<std::vector<uint8_t>>& inputs,
                  size_t last_node = SIZE_MAX) {
  const auto model = format::read_model(file);
  ASSERT_TRUE(model.ok());
  const FileGraph& graph = model->graphs.front();
  Comparison total;
  size_t schedules = 0;
  for (size_t s = 0;; ++s) {
    auto emulator = Emulator::create(*model, TieRule::kEven);
    ASSERT_TRUE(emulator.ok()) << emulator.status().message();
    if (s >= emulator->lists().schedules().size()) break;
    if (is_subset() && last_node != SIZE_MAX && s == 1) continue;
    for (size_t i = 0; i < inputs.size(); ++i)
      ASSERT_TRUE(emulator->store(graph.inputs[i], inputs[i]).ok());
    emulate(*emulator, graph, emulator->lists().schedules()[s], wanted, last_node, total);
    if (::testing::Test::HasFatalFailure()) return;
    ++schedules;
  }
  EXPECT_EQ(schedules, is_subset() && last_node != SIZE_MAX ? 2u : 3u);
  EXPECT_GT(total.convolution_tasks, 0u);
  e2e::figure_holds(
      str("emulator, ", name, ": ", total.convolution_tasks, " convolution tasks of ", total.tasks,
          " (", total.barriers, " barriers), ", schedules,
          " schedules, bytes that differ from the graph"),
      total.different_bytes == 0,
      str(total.different_bytes, " of ", total.bytes, " in ", total.tensors, " tensors"), "0");
  EXPECT_EQ(total.first_difference, "");
}

TEST(EmulatorTest, MultipleInputTasksGiveTheBytesOfTheGraph) {
  RK_NEEDS_SAMPLES();
  const std::vector<uint8_t> file = sample("multiple_input_RK3588.rknn");
  std::vector<std::vector<uint8_t>> inputs = {sample("multiple_input_input1.bin"),
                                              sample("multiple_input_input2.bin")};
  // Stored form: zero point -128, channels apart.
  for (uint8_t& v : inputs[0]) v ^= 0x80;
  std::vector<uint8_t> planes(inputs[1].size());
  for (size_t i = 0; i < planes.size(); ++i)
    planes[i % 3 * (planes.size() / 3) + i / 3] = inputs[1][i] ^ 0x80;
  inputs[1] = planes;
  const auto wanted = run_with_tensors(file, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status().message();
  expect_equal("multiple_input", file, *wanted, inputs);
}

TEST(EmulatorTest, PersonSegmentationTasksGiveTheBytesOfTheGraph) {
  RK_NEEDS_SAMPLES();
  const std::vector<uint8_t> file = sample("pp_human_seg_RK3588.rknn");
  const auto model = format::read_model(file);
  ASSERT_TRUE(model.ok());
  const FileGraph& graph = model->graphs.front();
  const format::FileTensor& in = graph.tensors[static_cast<size_t>(graph.inputs[0])];
  const auto pixels = portrait_pixels();
  ASSERT_TRUE(pixels.ok());
  const std::vector<std::vector<uint8_t>> inputs = {
      quantized_portrait(*pixels, in.scale[0], in.zero_point[0])};
  const auto wanted = run_with_tensors(file, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status().message();
  // The sanitized build stops after the first few convolutions.
  expect_equal("pp_human_seg", file, *wanted, inputs, is_subset() ? 8 : SIZE_MAX);
}

TEST(EmulatorTest, DualResidualAdaptersGiveTheBytesOfTheGraph) {
  RK_NEEDS_SAMPLES();
  const std::vector<uint8_t> file = sample("dual_residual_RK3588.rknn");
  std::mt19937 random(7);
  std::vector<std::vector<uint8_t>> inputs(2, std::vector<uint8_t>(600));
  for (std::vector<uint8_t>& input : inputs) {
    for (size_t i = 0; i < input.size(); i += 2) {
      // Any finite float16 of moderate size.
      const auto half = static_cast<uint16_t>((random() & 0x83ff) | (random() % 12 + 8) << 10);
      std::memcpy(input.data() + i, &half, 2);
    }
  }
  // The run fails at the custom operator; what came before has been observed.
  RunResult wanted;
  ASSERT_FALSE(run_with_tensors(file, inputs, wanted).ok());
  expect_equal("dual_residual", file, wanted, inputs);
}

TEST(EmulatorTest, TheTieRuleIsAParameter) {
  EXPECT_EQ(scale_round(1, 1, 1, TieRule::kEven), 0);
  EXPECT_EQ(scale_round(1, 1, 1, TieRule::kAwayFromZero), 1);
  EXPECT_EQ(scale_round(-1, 1, 1, TieRule::kAwayFromZero), -1);
  EXPECT_EQ(scale_round(-1, 1, 1, TieRule::kUp), 0);
}

}  // namespace
}  // namespace rk::vendor
