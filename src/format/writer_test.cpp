// SPDX-License-Identifier: Apache-2.0
// Program -> file -> Program, what the vendor's tables say of it, and what damage does.
#include "format/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/crc32.h"
#include "format/bson.h"
#include "format/container.h"
#include "format/inspect.h"
#include "format/model_info.h"
#include "format/program_codec.h"
#include "format/reader.h"

namespace rk::format {
namespace {

using namespace program;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr InputStage kStage{.offset = 3, .scale = {.scale = 20000, .shift = 5}};
constexpr OutputStage kOutput{.scale = {.scale = 18923, .shift = 25}, .zero_point = 16};

ProgramTensor feature(std::string name, TensorKind kind, const Shape& shape, uint64_t offset) {
  ProgramTensor t;
  t.name = std::move(name);
  t.dtype = DType::kI8;
  t.kind = kind;
  t.layout = Layout::kNc1hwc2;
  t.shape = shape;
  t.native_shape = {1, 1, static_cast<int32_t>(shape[2]), static_cast<int32_t>(shape[3]), 16};
  t.scale = 0.5f;
  t.zero_point = -3;
  t.min = -62.5f;
  t.max = 65.0f;
  t.size_bytes = 1024;
  t.offset_in_arena = offset;
  t.plane_align = 4;
  return t;
}

ProgramTensor constant(std::string name, DType dtype, const Shape& shape, int32_t weight,
                       uint64_t size_bytes) {
  ProgramTensor t;
  t.name = std::move(name);
  t.dtype = dtype;
  t.kind = TensorKind::kNpuConstant;
  t.shape = shape;
  t.weight = weight;
  t.size_bytes = size_bytes;
  return t;
}

std::vector<uint8_t> ramp(size_t size) {
  std::vector<uint8_t> out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<uint8_t>(i * 7 + 1);
  return out;
}

Variant variant(int64_t h, int64_t w) {
  Variant v;
  v.tensors.emplace_back();
  v.tensors.push_back(feature("x", TensorKind::kInput, {1, 3, h, w}, 0));                 // 1
  v.tensors.push_back(constant("conv.weight", DType::kI8, {8, 3, 3, 3}, 1, 216));         // 2
  v.tensors.push_back(constant("conv.bias", DType::kI32, {8}, 2, 256));                   // 3
  v.tensors.push_back(feature("a", TensorKind::kInternal, {1, 8, h, w}, 1024));           // 4
  v.tensors.push_back(feature("b", TensorKind::kInternal, {1, 8, h, w}, 2048));           // 5
  v.tensors.push_back(feature("c", TensorKind::kInternal, {1, 16, h, w}, 3072));          // 6
  v.tensors.push_back(feature("d", TensorKind::kInternal, {1, 16, h / 2, w / 2}, 4096));  // 7
  v.tensors.push_back(feature("e", TensorKind::kInternal, {1, 16, h, w}, 5120));          // 8
  v.tensors.push_back(feature("f", TensorKind::kInternal, {1, 16, h, w}, 6144));          // 9
  v.tensors.push_back(feature("it's y", TensorKind::kOutput, {1, 16, h, w}, 7168));       // 10
  v.inputs = {1};
  v.outputs = {10};
  v.arena_bytes = 8192;

  ConvParams conv{.kernel = {3, 3},
                  .pads = {1, 1, 1, 1},
                  .activation = Activation::kRelu,
                  .pad_value = -3,
                  .output = kOutput};
  v.steps.push_back({"ConvRelu",
                     "Conv:conv_0",
                     Processor::kNpu,
                     {1, 2, 3, kNone},
                     {4},
                     conv,
                     static_cast<uint64_t>(h * w) * 216});
  v.steps.push_back({"Add",
                     "Add:add",
                     Processor::kNpu,
                     {4, 4},
                     {5},
                     SumParams{{kStage, kStage}, {}, kOutput},
                     0});
  v.steps.push_back({"Concat",
                     "Concat:cat",
                     Processor::kNpu,
                     {4, 5},
                     {6},
                     ConcatParams{1, {kStage, kStage}, kOutput, false},
                     0});
  v.steps.push_back({"AveragePool",
                     "AveragePool:pool",
                     Processor::kNpu,
                     {6},
                     {7},
                     PoolParams{.kind = PoolKind::kAverage,
                                .kernel = {2, 2},
                                .stride = {2, 2},
                                .by_count = {kStage, kStage, kStage, kStage},
                                .output = kOutput},
                     0});
  v.steps.push_back({"Resize",
                     "Resize:up",
                     Processor::kNpu,
                     {7},
                     {8},
                     ResizeParams{.mode = ResizeMode::kLinear,
                                  .scale_h = 2,
                                  .scale_w = 2,
                                  .input = kStage,
                                  .output = kOutput},
                     0});
  std::vector<int8_t> table(256);
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = static_cast<int8_t>(127 - i);
  v.steps.push_back(
      {"Sigmoid", "Sigmoid:s", Processor::kNpu, {8}, {9}, TableParams{"Sigmoid", table}, 0});
  OpParams op{"Softmax", {}};
  op.attrs["axis"] = int64_t{1};
  op.attrs["alpha"] = 0.25f;
  op.attrs["mode"] = std::string("fast");
  op.attrs["list"] = std::vector<int64_t>{4, 5};
  op.attrs["floats"] = std::vector<float>{0.5f};
  op.attrs["names"] = std::vector<std::string>{"p", "q"};
  op.attrs["value"] = Tensor::f32({2}, {1.5f, -2.0f});
  v.steps.push_back({"Softmax", "Softmax:z", Processor::kCpu, {kNone, 9}, {10}, op, 0});
  return v;
}

// One step of every kind.
Program sample(std::initializer_list<std::pair<int64_t, int64_t>> sizes = {{4, 6}}) {
  Program p;
  p.target = "rk3588";
  p.toolkit_version = "2.3.2-open";
  p.compiler_version = "2.3.2";
  p.custom_string = "hello";
  p.name = "net";
  p.weights = {Blob{}, make_blob(ramp(216)), make_blob(ramp(256))};
  p.inputs = {{.mean = {127.5f, 127.5f, 127.5f}, .std = {2, 2, 2}, .rgb2bgr = true}};
  for (const auto& [h, w] : sizes) p.variants.push_back(variant(h, w));
  return p;
}

TEST(WriterTest, SampleProgramIsLegal) {
  const Status status = verify(sample());
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(WriterTest, RoundTripsAProgramWithEveryKindOfStep) {
  const Program program = sample();
  const Result<std::vector<uint8_t>> file = write_rknn(program);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Result<Program> again = read_rknn(*file);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(to_text(*again), to_text(program));
  EXPECT_EQ(encode_program(*again), encode_program(program));
  ASSERT_EQ(again->weights.size(), 3u);
  EXPECT_EQ(std::vector<uint8_t>(again->weights[1].bytes.begin(), again->weights[1].bytes.end()),
            ramp(216));
  const auto& op = std::get<OpParams>(again->variants[0].steps.back().params);
  EXPECT_TRUE(attr_equal(op.attrs.at("value"), Attr(Tensor::f32({2}, {1.5f, -2.0f}))));
}

TEST(WriterTest, WeightsOfAReadProgramAreAlignedViewsKeptAliveByTheProgram) {
  Program program = read_rknn(write_rknn(sample()).value()).value();
  const Blob blob = program.weights[1];
  program = Program();
  EXPECT_EQ(std::vector<uint8_t>(blob.bytes.begin(), blob.bytes.end()), ramp(216))
      << "the blob owns the file image";
}

TEST(WriterTest, VariantsWithEqualStepsAreStoredOnce) {
  const Program one = sample(), two = sample({{4, 6}, {8, 10}});
  const size_t step_bytes = [&] {
    Program bare = one;
    bare.variants[0].steps.clear();
    return encode_program(one).size() - encode_program(bare).size();
  }();
  EXPECT_LT(encode_program(two).size(), encode_program(one).size() * 2 - step_bytes / 2);
  const Program again = read_rknn(write_rknn(two).value()).value();
  EXPECT_EQ(to_text(again), to_text(two));
  EXPECT_EQ(again.variants[1].steps[0].macs, 8u * 10 * 216);
}

TEST(WriterTest, FillsTheVendorTables) {
  const std::vector<uint8_t> file = write_rknn(sample()).value();
  const FileModel model = read_model(ByteSpan(file)).value();
  EXPECT_EQ(model.version, 6);
  EXPECT_EQ(model.npu_generation, "RKNPU v2");
  EXPECT_EQ(model.compiler_version, 20302u);
  EXPECT_EQ(model.compiler, "2.3.2-open(compiler version: 2.3.2)");
  EXPECT_EQ(model.platform, "rk3588");
  EXPECT_EQ(model.custom_string, "hello");
  EXPECT_EQ(model.shape_mode, "static_shape");
  // 216 and 256 bytes of constants, each rounded up to 64.
  EXPECT_EQ(model.memory, (MemSize{.weight_bytes = 256 + 256, .internal_bytes = 8192}));
  EXPECT_EQ(model.input_json, R"({"x": {"dtype": "int8", "layout": "NHWC"}})");
  EXPECT_EQ(model.output_json, R"({"it's y": {"dtype": "int8", "layout": "NCHW"}})");
  EXPECT_THAT(model.info,
              HasSubstr("{'attrs': {'x': {'idx': 0, 'shape': [1, 3, 4, 6], 'layout': 'nchw'"));
  EXPECT_THAT(model.info,
              HasSubstr("'mean': [127.5, 127.5, 127.5], 'std': [2, 2, 2], 'rgb2bgr': True}"));
  EXPECT_THAT(model.info, HasSubstr(R"('it\'s y': {'is_output': True, 'idx': 0)"));
  EXPECT_THAT(model.info, HasSubstr("'min': [-62.5], 'max': [65.0]"));

  const FileGraph& graph = model.graphs.at(0);
  ASSERT_EQ(graph.nodes.size(), 9u) << "input, seven steps, output";
  EXPECT_EQ(graph.nodes[0].type, "InputOperator");
  EXPECT_EQ(graph.nodes[0].name, "InputOperator:x");
  EXPECT_THAT(graph.nodes[0].task_counts, ElementsAre(0, 0, 0, 0, 0, 0))
      << "one column per core of 1, 2 and 3";
  EXPECT_THAT(graph.nodes[1].inputs, ElementsAre(1, 2, 3)) << "a trailing absent input is left out";
  const auto& conv = std::get<FileConvParams>(graph.nodes[1].params);
  EXPECT_THAT(conv.pads, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(std::get<FileConcatParams>(graph.nodes[3].params).axis, 1);
  EXPECT_EQ(std::get<FileResizeParams>(graph.nodes[5].params).mode, "linear");
  EXPECT_THAT(graph.nodes[7].inputs, ElementsAre(11, 9))
      << "an absent first input becomes a placeholder";
  EXPECT_EQ(graph.tensors[11].name, "empty_placeholder_0");
  EXPECT_EQ(read_attributes(graph.nodes[7].attributes).value().size(), 6u)
      << "all but the tensor attribute";
  EXPECT_EQ(graph.nodes[8].attributes, std::vector<uint8_t>(16));
  EXPECT_THAT(graph.normalize.at(0).mean, ElementsAre(127.5f, 127.5f, 127.5f, 127.5f));
  EXPECT_THAT(graph.normalize.at(0).channel_order, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(graph.tensors[0].kind, TensorKind::kDummy);
  const FileTensor& x = graph.tensors[1];
  EXPECT_EQ(x.quant_method, "layer");
  EXPECT_EQ(x.quant_type, "int8");
  EXPECT_THAT(x.scale, ElementsAre(0.5f));
  EXPECT_EQ(graph.tensors[2].buffer, 1u);
  EXPECT_TRUE(graph.tensors[2].scale.empty());
}

TEST(WriterTest, WithoutOurSectionTheMissingConstantsAreNamed) {
  const std::vector<uint8_t> file = write_rknn(sample()).value();
  const Container container = split_container(file).value();
  const Result<Program> program =
      read_rknn(join_container(container.flatbuffer, container.json, {}));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), Code::kUnsupported);
  EXPECT_THAT(program.status().message(),
              HasSubstr("ConvRelu, 1 node, first 'Conv:conv_0': its requantization constants are "
                        "missing"));
}

TEST(WriterTest, RefusesAnIllegalProgramNamingTheStep) {
  Program program = sample();
  program.variants[0].steps[2].inputs[0] = 99;
  const Result<std::vector<uint8_t>> file = write_rknn(program);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(), HasSubstr("Concat:cat"));
}

TEST(InspectTest, ShowsGraphMemoryAndProgramInBothForms) {
  const std::vector<uint8_t> file = write_rknn(sample()).value();
  const std::string text = inspect_text(file, {.tensors = true, .program = true}).value();
  for (const char* part :
       {"target        rk3588 (RKNPU v2)", "internal 8192 bytes", "7 steps", "ConvRelu",
        "Conv:conv_0", "conv.weight", "scale 0.5 zero_point -3", "custom string hello"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const Json json = inspect_json(file).value();
  EXPECT_EQ(*json.find("model")->find("target_platform")->as_string(), "rk3588");
  EXPECT_EQ(json.find("graphs")->at(0)->find("nodes")->size(), 9u);
  EXPECT_EQ(json.find("program")->find("variants")->at(0)->find("macs")->as_int(), 4 * 6 * 216);
  EXPECT_EQ(*json.find("graphs")->at(0)->find("nodes")->at(1)->find("inputs")->at(1)->as_string(),
            "conv.weight");
}

TEST(InspectTest, RefusesToListOneLongNameAThousandTimes) {
  const Program program = sample();
  FileModel model = to_file_model(program).value();
  FileGraph& graph = model.graphs[0];
  graph.tensors[4].name = std::string(100'000, 'n');
  graph.nodes[2].inputs.assign(1'000, 4);
  const std::vector<uint8_t> file = join_container(write_model(model).value(), "{}", {});
  EXPECT_THAT(inspect_text(file).status().message(), HasSubstr("bytes of tensor names"));
  EXPECT_FALSE(inspect_json(file).ok());
}

// Damage to the section: the checksum is repaired each time, so that the decoder and verify() are
// what is tested.
TEST(ReaderTest, SurvivesTwoThousandDamagedPrograms) {
  const Program program = sample({{4, 6}, {8, 10}});
  const std::vector<uint8_t> payload = encode_program(program);
  const uint32_t seed = 77;
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> damaged = payload;
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
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
          if (damaged.end() - at >= 4) std::fill_n(at, 4, uint8_t{0xFF});
      }
    }
    const Result<Program> decoded = decode_program(kSectionVersion, damaged, program.weights);
    if (!decoded.ok() || !verify(*decoded).ok()) ++refused;
  }
  EXPECT_GT(refused, 500) << "seed " << seed;
  for (size_t size = 0; size < payload.size(); ++size) {
    const ByteSpan part = ByteSpan(payload).first(size);
    EXPECT_FALSE(decode_program(kSectionVersion, part, program.weights).ok()) << size;
  }
}

TEST(ReaderTest, RefusesAnotherNumberOfWeightsAndTrailingBytes) {
  const Program program = sample();
  std::vector<uint8_t> payload = encode_program(program);
  EXPECT_THAT(decode_program(kSectionVersion, payload, {}).status().message(),
              HasSubstr("uses 3 weight buffers, the file has 0"));
  payload.push_back(0);
  EXPECT_THAT(decode_program(kSectionVersion, payload, program.weights).status().message(),
              HasSubstr("1 unread bytes"));
}

// The payload is u32 weight count, u32 size of the record, the record; a field is u16 tag, u32 size
// and the value.
std::vector<uint8_t> with_field(std::vector<uint8_t> payload, uint16_t tag) {
  const auto append = [&](auto value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    payload.insert(payload.end(), bytes, bytes + sizeof value);
  };
  append(tag);
  append(uint32_t{3});
  payload.insert(payload.end(), {7, 8, 9});
  const auto size_bytes = static_cast<uint32_t>(payload.size() - 8);
  std::memcpy(payload.data() + 4, &size_bytes, sizeof size_bytes);
  return payload;
}

TEST(ReaderTest, AFieldItDoesNotKnowIsRefusedUnlessItMayBeIgnored) {
  const Program program = sample();
  const std::vector<uint8_t> payload = encode_program(program);
  const Result<Program> needed =
      decode_program(kSectionVersion, with_field(payload, 0x7000), program.weights);
  ASSERT_FALSE(needed.ok());
  EXPECT_EQ(needed.status().code(), Code::kUnsupported);
  EXPECT_THAT(needed.status().message(),
              HasSubstr("field 28672, which this version does not know"));
  const Result<Program> ignored =
      decode_program(kSectionVersion, with_field(payload, 0xF000), program.weights);
  ASSERT_TRUE(ignored.ok()) << ignored.status().message();
  EXPECT_EQ(to_text(*ignored), to_text(program));
}

TEST(ReaderTest, RefusesFieldsOutOfOrder) {
  const Program program = sample();
  EXPECT_THAT(
      decode_program(kSectionVersion, with_field(encode_program(program), 1), program.weights)
          .status()
          .message(),
      HasSubstr("not in ascending order"));
}

TEST(WriterTest, TablesAndSlopesOfAConvolutionSurvive) {
  Program program = sample();
  auto& conv = std::get<ConvParams>(program.variants[0].steps[0].params);
  conv.lookup = LookupStage{.multiplier = 3,
                            .addend = -4,
                            .shift = 5,
                            .start = -16384,
                            .end = 16384,
                            .entry_shift = 6,
                            .low = {1, 2},
                            .high = {3},
                            .below = {7, 8},
                            .above = {9, 10}};
  conv.slope = SlopeStage{
      .negative_multiplier_shift = 1, .positive_shift = 2, .negative_shift = 3, .factor = {4, -5}};
  const Result<Program> again =
      decode_program(kSectionVersion, encode_program(program), program.weights);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(std::get<ConvParams>(again->variants[0].steps[0].params) == conv);
}

TEST(WriterTest, MembersWithTheirDefaultTakeNoSpace) {
  Program program;
  program.framework.clear();
  EXPECT_EQ(encode_program(program).size(), 4u + 4 + 6 + 4) << "counts, and an empty text";
  EXPECT_EQ(encode_program(Program()).size(), 4u + 4);
}

TEST(ModelInfoTest, PrintsAsPythonDoes) {
  const Json value = Json::object({{"a", Json::array({1, 2.0, 0.1})},
                                   {"b's", true},
                                   {"c", nullptr},
                                   {"d", "x\"y"},
                                   {"e", Json::object()}});
  EXPECT_EQ(to_python_literal(value),
            R"({'a': [1, 2.0, 0.1], 'b\'s': True, 'c': None, 'd': 'x"y', 'e': {}})");
  EXPECT_EQ(to_python_json(value),
            R"({"a": [1, 2.0, 0.1], "b's": true, "c": null, "d": "x\"y", "e": {}})");
}

}  // namespace
}  // namespace rk::format
