// SPDX-License-Identifier: Apache-2.0
// FileModel against vendor-made files (skipped where they are not at hand), against viewers' rules,
// and against damage.
#include "format/vendor_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/json.h"
#include "format/bson.h"
#include "format/inspect.h"
#include "format/trailer.h"

namespace rk::format {
namespace {

using program::Layout;
using program::Processor;
using program::TensorKind;
using testing::ElementsAre;
using testing::HasSubstr;

// Where vendor-made samples may lie: $RK_SHARED, else "shared" beside the source tree.
std::filesystem::path samples_folder() {
  const char* const shared = std::getenv("RK_SHARED");
  const std::filesystem::path root =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return (shared != nullptr ? std::filesystem::path(shared) : root.parent_path() / "shared") /
         "assets" / "vendor-rknn";
}

FileModel small_model(ByteSpan weights) {
  FileGraph graph;
  graph.tensors.resize(4);
  graph.tensors[1] = {.dtype = DType::kI8,
                      .layout = Layout::kNc1hwc2,
                      .kind = TensorKind::kInput,
                      .native_shape = {1, 1, 5, 7, 3},
                      .shape = {1, 3, 5, 7},
                      .name = "x",
                      .quant_method = "layer",
                      .quant_type = "int8",
                      .range_min = {-1.0f},
                      .range_max = {1.0f},
                      .scale = {2.0f / 255},
                      .zero_point = {0},
                      .size_bytes = 240,
                      .width_align = 16};
  graph.tensors[2] = {.dtype = DType::kI8,
                      .layout = Layout::kWeight,
                      .kind = TensorKind::kNpuConstant,
                      .native_shape = {1, 1, 3, 3, 4, 16},
                      .shape = {4, 3, 3, 3},
                      .name = "w",
                      .size_bytes = 576,
                      .buffer = 1};
  graph.tensors[3] = {.dtype = DType::kF16,
                      .layout = Layout::kNchw,
                      .kind = TensorKind::kOutput,
                      .native_shape = {1, 4, 5, 7},
                      .shape = {1, 4, 5, 7},
                      .name = "y",
                      .size_bytes = 280,
                      .offset_in_internal = 256};
  graph.nodes.resize(3);
  graph.nodes[0] = {.type = "InputOperator", .name = "InputOperator:x", .outputs = {1}};
  graph.nodes[1] = {.type = "ConvRelu",
                    .name = "Conv:c0",
                    .processor = Processor::kNpu,
                    .inputs = {1, 2},
                    .outputs = {3},
                    .params = FileConvParams{.auto_pad = "NOTSET",
                                             .dilations = {1, 1},
                                             .group = 1,
                                             .kernel_shape = {3, 3},
                                             .pads = {1, 1, 1, 1},
                                             .strides = {1, 1}},
                    .attributes = write_attributes({{"alpha", 0.5}}),
                    .task_counts = {1},
                    .reserved = {0},
                    .core_bytes = {280, 0, 0},
                    .split_over_cores = 1};
  graph.nodes[2] = {.type = "OutputOperator", .name = "OutputOperator:y", .inputs = {3}};
  graph.inputs = {1};
  graph.outputs = {3};
  graph.normalize = {{.mean = {0, 0, 0, 0}, .std = {1, 1, 1, 1}, .channel_order = {0, 1, 2, 3}}};
  graph.relocs = {{.tensor = "x", .entries = {{.addend = 4, .word = 26}}, .flags = {1}}};
  graph.input_geometry = {
      {.input = "x", .patches = {GeometryPatch{}, GeometryPatch{.first_row = 63}}}};
  graph.input_geometry[0].patches[0].writes[3] = RegisterWrite{.value = 128, .word = 29};
  graph.input_conversion = {{.input = "x", .patches = {ConversionPatch{}}}};
  graph.input_conversion[0].patches[0].writes[12] = RegisterWrite{.value = 1, .word = 2};
  graph.schedule_starts = {0, 0, 0};
  graph.outputs_ready = {{.output = "y", .task_count = 1}};
  FileModel model;
  model.npu_generation = "RKNPU v2";
  model.graphs = {std::move(graph)};
  model.info = "{}";
  model.compiler_version = 20302;
  model.compiler = "2.3.2-open(compiler version: 2.3.2)";
  model.platform = "rk3588";
  model.source = "ONNX";
  model.input_json = R"({"x": {"dtype": "int8", "layout": "NHWC"}})";
  model.output_json = R"({"y": {"dtype": "float16", "layout": "NCHW"}})";
  model.memory = {.weight_bytes = 576, .internal_bytes = 536};
  model.buffers = {FileBuffer{}, FileBuffer{weights}};
  return model;
}

std::vector<uint8_t> file_of(const FileModel& model) {
  return join_container(write_model(model).value(), make_trailer(model), {});
}

TEST(VendorModelTest, RoundTripsEveryTable) {
  const std::vector<uint8_t> weights(576, 0x5A);
  const FileModel model = small_model(weights);
  const std::vector<uint8_t> file = file_of(model);
  const Result<FileModel> again = read_model(file);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, model);
  const uint8_t* const payload = again->buffers[1].data.data();
  EXPECT_TRUE(payload > file.data() && payload < file.data() + file.size())
      << "weights are views into the file";
  EXPECT_EQ((payload - file.data()) % 64, 0);
}

TEST(VendorModelTest, KeepsEveryKindOfParameterTable) {
  for (const FileParams& params : std::initializer_list<FileParams>{
           FileConvParams{.group = 32}, FileConcatParams{.axis = 1}, FileArgMaxParams{.axis = -1},
           FileResizeParams{
               .coordinate_mode = "half_pixel", .mode = "linear", .nearest_mode = "floor"},
           FileUnknownParams{.tag = 120}}) {
    FileModel model = small_model({});
    model.graphs[0].nodes[1].params = params;
    const std::vector<uint8_t> file = file_of(model);
    EXPECT_EQ(read_model(file).value().graphs[0].nodes[1].params, params);
  }
}

TEST(VendorModelTest, ReadsBuffersOfOldVersionsAndBareFlatbuffers) {
  const FileModel model = small_model({});
  const std::vector<uint8_t> region = write_model(model).value();
  EXPECT_EQ(read_model(ByteSpan(region)).value(), model) << "bare flatbuffer";
  std::vector<uint8_t> file = file_of(model);
  file.erase(file.begin() + 0x18, file.begin() + 0x40);
  file[8] = 1;
  EXPECT_EQ(read_model(file).value(), model) << "container version 1";
}

TEST(VendorModelTest, AnAbsentOperandIsShownAsADash) {
  FileModel model = small_model({});
  model.graphs[0].nodes[1].inputs = {1, program::kNone, 2};
  const std::vector<uint8_t> region = write_model(model).value();
  const auto text = inspect_text(region, {.tensors = false, .program = false});
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(*text, HasSubstr("x, -, w -> "));
}

TEST(VendorModelTest, RefusesIndicesOutsideTheirListsNamingTheNode) {
  const auto refusal = [](const auto& change) {
    FileModel model = small_model({});
    change(model.graphs[0]);
    // The trailer follows the same indices, so only the region is written.
    const std::vector<uint8_t> region = write_model(model).value();
    const Result<FileModel> read = read_model(ByteSpan(region));
    return read.ok() ? std::string("accepted") : read.status().message();
  };
  EXPECT_THAT(refusal([](FileGraph& g) {
                g.nodes[1].inputs = {1, 4};
              }),
              HasSubstr("node 'Conv:c0' (ConvRelu) refers to tensor 4; the graph has 4 tensors"));
  EXPECT_THAT(refusal([](FileGraph& g) { g.nodes[1].outputs = {-2}; }),
              HasSubstr("refers to tensor -2"));
  EXPECT_THAT(refusal([](FileGraph& g) { g.inputs = {9}; }),
              HasSubstr("input list refers to tensor 9"));
  EXPECT_THAT(refusal([](FileGraph& g) { g.outputs = {9}; }),
              HasSubstr("output list refers to tensor 9"));
  EXPECT_THAT(refusal([](FileGraph& g) { g.tensors[2].buffer = 2; }),
              HasSubstr("tensor 'w' refers to buffer 2; the file has 2 buffers"));
  EXPECT_THAT(refusal([](FileGraph& g) { g.tensors[1].shape[2] = -5; }), HasSubstr("extent -5"));
}

TEST(VendorModelTest, DecodesAVendorConvolution) {
  const std::filesystem::path path = samples_folder() / "multiple_input_RK3588.rknn";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "vendor sample " << path << " is not at hand (set RK_SHARED)";
  const auto file = read_file(path.string()).value();
  const FileModel model = read_model(ByteSpan(file)).value();
  EXPECT_EQ(model.npu_generation, "RKNPU v2");
  EXPECT_EQ(model.compiler_version, 10602u);
  EXPECT_EQ(model.memory, (MemSize{.weight_bytes = 4864, .internal_bytes = 1114112}));
  const FileGraph& graph = model.graphs.at(0);
  EXPECT_THAT(graph.inputs, ElementsAre(5, 6));
  EXPECT_THAT(graph.outputs, ElementsAre(8));
  EXPECT_THAT(graph.schedule_starts, ElementsAre(0, 0, 0, 2, 8));
  const FileTensor& output = graph.tensors[8];
  EXPECT_EQ(output.name, "8");
  EXPECT_THAT(output.scale, ElementsAre(4.142374515533447f));
  EXPECT_THAT(output.zero_point, ElementsAre(20));
  EXPECT_EQ(output.offset_in_internal, 589824u);
  const auto& conv = std::get<FileConvParams>(graph.nodes.at(2).params);
  EXPECT_THAT(conv.kernel_shape, ElementsAre(3, 3));
  EXPECT_EQ(conv.group, 1);
  EXPECT_EQ(read_attributes(graph.nodes[2].attributes).value().at(1),
            (Attribute{"group", int64_t{1}}));
  EXPECT_EQ(graph.relocs.size(), 10u);
  EXPECT_EQ(graph.input_geometry.at(0).patches.at(0).writes[3],
            (RegisterWrite{.value = 128, .word = 29}));
}

TEST(VendorModelTest, RewritesVendorFilesWithoutLossAndReproducesTheirTrailer) {
  if (!std::filesystem::exists(samples_folder())) {
    GTEST_SKIP() << "no vendor samples in " << samples_folder() << " (set RK_SHARED)";
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samples_folder())) {
    if (entry.path().extension() != ".rknn") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto bytes = read_file(entry.path().string()).value();
    const Container container = split_container(bytes).value();
    const Result<FileModel> model = read_model(container);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(make_trailer(*model), container.json);
    const std::vector<uint8_t> written = file_of(*model);
    const Result<FileModel> again = read_model(written);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(*again == *model);
    EXPECT_NEAR(static_cast<double>(written.size()), static_cast<double>(bytes.size()),
                0.1 * static_cast<double>(bytes.size()));
    ++files;
  }
  EXPECT_GT(files, 0);
}

// What public viewers require of a file (docs/facts/container.md, section 6).
TEST(VendorModelTest, WritesFilesThatViewersOpen) {
  const std::vector<uint8_t> weights(576);
  const FileModel model = small_model(weights);
  const std::vector<uint8_t> file = file_of(model);
  EXPECT_EQ(load<uint64_t>(&file[8]) >> 8, 0u);
  EXPECT_GE(load<uint64_t>(&file[0x10]), 72u);
  EXPECT_EQ(load<uint64_t>(&file[0x10]) % 64, 0u);
  const Container container = split_container(file).value();
  const Json json = parse_json(container.json).value();
  EXPECT_EQ(*json.find("version")->as_string(), "2.3.2-open");
  EXPECT_EQ(*json.find("target_platform")->at(0)->as_string(), "rk3588");
  for (const char* key :
       {"const_tensor", "virtual_tensor", "norm_tensor", "nodes", "connection", "graph"}) {
    ASSERT_NE(json.find(key), nullptr) << key;
    EXPECT_TRUE(json.find(key)->is_array()) << key;
  }
  EXPECT_EQ(*json.find("nodes")->at(0)->find("op")->as_string(), "RKNN_OP_NNBG");
  EXPECT_EQ(*json.find("norm_tensor")->at(0)->find("dtype")->find("vx_type")->as_string(), "int8");
  EXPECT_EQ(*json.find("norm_tensor")->at(1)->find("dtype")->find("vx_type")->as_string(), "");
  std::string previous;
  for (const Json::Member& member : *json.as_object()) {
    EXPECT_LT(previous, member.key) << "keys are sorted";
    previous = member.key;
  }
}

// Whatever happens to a file, reading it ends with a model or a Status.
TEST(VendorModelTest, SurvivesTwoThousandDamagedFiles) {
  const std::vector<uint8_t> weights(576, 0x5A);
  const std::vector<uint8_t> file = file_of(small_model(weights));
  const uint32_t seed = 20240917;
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int refused = 0;
  for (int variant = 0; variant < 2000; ++variant) {
    std::vector<uint8_t> damaged = file;
    for (size_t edits = 1 + below(4); edits > 0 && !damaged.empty(); --edits) {
      const auto at = damaged.begin() + static_cast<ptrdiff_t>(below(damaged.size()));
      switch (below(5)) {
        case 0:
          *at = static_cast<uint8_t>(random());
          break;
        case 1:
          *at ^= static_cast<uint8_t>(1u << below(8));
          break;
        case 2:
          damaged.insert(at, static_cast<uint8_t>(random()));
          break;
        case 3:
          damaged.erase(at);
          break;
        default:
          if (below(8) == 0)
            damaged.erase(at, damaged.end());
          else if (damaged.end() - at >= 4)
            std::fill_n(at, 4, uint8_t{0xFF});
      }
    }
    const Result<FileModel> model = read_model(damaged);
    if (!model.ok()) {
      ++refused;
      EXPECT_FALSE(model.status().message().empty());
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace rk::format
