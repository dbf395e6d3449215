// SPDX-License-Identifier: Apache-2.0
// What rknn info says of the vendor's files, against numbers of the container notes.
#include <gtest/gtest.h>

#include <cmath>

#include "format/inspect_vendor.h"
#include "format/reader.h"
#include "program/native_layout.h"
#include "target/registers.h"
#include "tests/e2e/figure.h"
#include "tests/vendor/samples.h"

namespace rk::vendor {
namespace {

int64_t number(const Json& object, const char* key) {
  const Json* const found = object.find(key);
  return found ? found->as_int().value_or(-1) : -1;
}

TEST(VendorInfoTest, SchedulesOfPersonSegmentationMatchTheNotes) {
  RK_NEEDS_SAMPLES();
  const auto tasks = format::tasks_json(sample("pp_human_seg_RK3588.rknn"));
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  const Json& graph = *tasks->at(0);
  EXPECT_EQ(graph.find("tasks")->size(), 1722u);
  std::vector<int64_t> counts, starts;
  for (const Json& schedule : *graph.find("schedules")->as_array()) {
    for (const Json& lane : *schedule.find("lanes")->as_array()) {
      counts.push_back(number(lane, "tasks"));
      starts.push_back(number(lane, "first_task"));
    }
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{461, 476, 106, 473, 103, 103}));
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 461, 937, 1043, 1516, 1619}));
}

TEST(VendorInfoTest, RegistersAreNamedAndAddressesShowTheirTensor) {
  RK_NEEDS_SAMPLES();
  const auto text = format::registers_text(sample("multiple_input_RK3588.rknn"));
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("CNA.CONV_CON1 = 0x60008000  ARGB_IN=8 GROUP_LINE_OFF=1 NONALIGN_DMA=1"),
            std::string::npos);
  EXPECT_NE(text->find("DPU.OUT_CVT_SCALE = 0x4f3c  OUT_CVT_SCALE=20284"), std::string::npos);
  EXPECT_NE(text->find("-> 'conv1.weight' + 0"), std::string::npos);
}

TEST(VendorInfoTest, SizesAddUpToTheFile) {
  RK_NEEDS_SAMPLES();
  for (const char* name : {"multiple_input_RK3588.rknn", "pp_human_seg_RK3566_RK3568.rknn"}) {
    const std::vector<uint8_t> file = sample(name);
    const auto sizes = format::sizes_json(file);
    ASSERT_TRUE(sizes.ok());
    int64_t sum = 0;
    for (const Json::Member& member : *sizes->as_object()) {
      if (member.key != "total") sum += member.value.as_int().value_or(0);
    }
    EXPECT_EQ(sum, static_cast<int64_t>(file.size())) << name;
  }
  const auto sizes = format::sizes_json(sample("multiple_input_RK3588.rknn"));
  EXPECT_EQ(number(*sizes, "register commands"), 13696);
  EXPECT_EQ(number(*sizes, "tasks"), 680);
  EXPECT_EQ(number(*sizes, "weights"), 256 + 1152 + 256 + 1152 + 1024 + 1024);
}

TEST(VendorInfoTest, DiffOfAFileWithItselfIsEmptyAndBetweenChipsNamesTheTarget) {
  RK_NEEDS_SAMPLES();
  const std::vector<uint8_t> a = sample("multiple_input_RK3588.rknn");
  const std::vector<uint8_t> b = sample("multiple_input_RK3566_RK3568.rknn");
  const auto same = format::diff_text(a, a);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, "no difference\n");
  const auto different = format::diff_text(a, b);
  ASSERT_TRUE(different.ok());
  EXPECT_NE(different->find("model.target_platform\n  - \"rk3588\"\n  + \"rk3566\""),
            std::string::npos);
}

// An independent check of how registers keep their values: a phase's weights sum to S, so S * scale / 2^shift must be
// the ratio of the input's and the output's scale.
TEST(VendorInfoTest, OutputScalesOfResizePhasesAgreeWithTheirWeights) {
  RK_NEEDS_SAMPLES();
  for (const char* name : {"pp_human_seg_RK3588.rknn", "pp_human_seg_RK3566_RK3568.rknn"}) {
    const auto program = format::read_rknn(sample(name));
    ASSERT_TRUE(program.ok()) << program.status().message();
    const program::Variant& variant = program->main_variant();
    size_t phases = 0, agree = 0;
    for (const program::Step& step : variant.steps) {
      const auto* const conv = std::get_if<program::ConvParams>(&step.params);
      if (conv == nullptr || step.type != "Resize") continue;
      const auto constants = program::unpack_conv_constants(*program, variant, step);
      ASSERT_TRUE(constants.ok());
      int sum = 0;
      for (size_t tap = 0; tap < 9; ++tap)
        sum += constants->weights[tap] + constants->channels.offset[0];
      const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
      const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
      const double factor = std::ldexp(static_cast<double>(sum) * conv->output.scale.scale,
                                       -conv->output.scale.shift);
      ++phases;
      agree += std::abs(factor / (double{in.scale} / double{out.scale}) - 1) < 1e-3;
    }
    EXPECT_GT(phases, 200u);
    e2e::figure_holds(str(name, ": resize phases whose output scale fits their weights"),
                      agree == phases, str(agree, " of ", phases), "all");
  }
}

}  // namespace
}  // namespace rk::vendor
