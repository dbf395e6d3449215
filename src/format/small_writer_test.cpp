// SPDX-License-Identifier: Apache-2.0
// Places are worked out from docs/facts/small-chips.md, section 1.
#include "format/small_writer.h"

#include <gtest/gtest.h>

#include "format/bson.h"
#include "format/container.h"
#include "format/trailer.h"

namespace rk::format {
namespace {

using program::TensorKind;

FileTensor tensor(const std::string& name, TensorKind kind, uint32_t buffer = 0) {
  FileTensor out;
  out.dtype = DType::kI8;
  out.kind = kind;
  out.name = name;
  out.shape = out.native_shape = {1, 16};
  out.buffer = buffer;
  return out;
}

// One list of four words: a plain one, and the addresses of a feature, a weight and a helper.
struct Example {
  std::vector<uint8_t> weight = std::vector<uint8_t>(100, 7), helper = std::vector<uint8_t>(10, 9);
  std::vector<uint8_t> words, tasks = std::vector<uint8_t>(40);
  FileModel model;

  Example() {
    for (const uint64_t word :
         {0x0201000000123004U, 0x0201000000001070U, 0x0201000000001110U, 0x2001000000005020U}) {
      const auto* from = reinterpret_cast<const uint8_t*>(&word);
      words.insert(words.end(), from, from + sizeof word);
    }
    model.platform = "rv1106";
    model.buffers = {{}, {weight}, {helper}, {words}, {tasks}};
    model.memory.internal_bytes = 4096;
    FileGraph graph;
    graph.tensors = {tensor("", TensorKind::kDummy),
                     tensor("x", TensorKind::kInput),
                     tensor("w", TensorKind::kNpuConstant, 1),
                     tensor("again", TensorKind::kNpuConstant, 1),
                     tensor("h", TensorKind::kHelperConstant, 2),
                     tensor("regcmd", kRegisterCommandsKind, 3),
                     tensor("task", kTasksKind, 4)};
    graph.tensors[1].size_bytes = 16;
    graph.tensors[1].offset_in_internal = 0x80;
    FileNode node{.type = "MaxPool", .name = "MaxPool:p", .inputs = {1}, .outputs = {1}};
    node.attributes = write_attributes(
        {{"kernel_shape", std::vector<int64_t>{3, 2}}, {"strides", std::vector<int64_t>{2, 1}}});
    FileNode other{.type = "Slice", .name = "Slice:s", .inputs = {1}, .outputs = {1}};
    other.attributes = write_attributes({{"axis", int64_t{-1}}, {"mode", std::string("up")}});
    graph.nodes = {node, other};
    for (FileNode& n : graph.nodes) n.task_counts = {1};
    graph.relocs = {{"x", {{0x20, 1}}, {}}, {"w", {{4, 2}}, {}}, {"h", {{0, 3}}, {}}};
    graph.inputs = graph.outputs = {1};
    graph.normalize.resize(1);
    model.graphs.push_back(graph);
  }
};

TEST(SmallWriter, WordsHoldPlacesInOneImage) {
  const Example example;
  const auto body = write_small_model(example.model);
  ASSERT_TRUE(body.ok()) << body.status().message();
  const std::vector<uint8_t> file =
      join_container(*body, make_trailer(example.model), {}, kSmallContainerVersion);
  const auto container = split_container(ByteSpan(file));
  ASSERT_TRUE(container.ok()) << container.status().message();
  ASSERT_TRUE(container->small.has_value());
  const SmallBody& small = *container->small;
  EXPECT_EQ(small.tasks.size(), 40U);
  ASSERT_EQ(small.register_words.size(), 64U);  // four words, whole lines of 64 bytes
  EXPECT_EQ(small.helpers.size(), 64U);
  EXPECT_EQ(small.weights.size(), 128U);  // 100 bytes once, two tensors share them
  EXPECT_EQ(small.internal_bytes, 4096U);
  const auto word = [&](size_t i) { return load<uint64_t>(small.register_words.data() + 8 * i); };
  EXPECT_EQ(word(0), 0x0201000000123004U);
  EXPECT_EQ(word(1), 0x0201'0000'0000'1070U | uint64_t{64 + 64 + 128 + 0x80 + 0x20} << 16);
  EXPECT_EQ(word(2), 0x0201'0000'0000'1110U | uint64_t{64 + 64 + 4} << 16);
  EXPECT_EQ(word(3), 0x2001'0000'0000'5020U | uint64_t{64} << 16);
  const auto model = read_model(*container);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const FileGraph& graph = model->graphs.front();
  const ByteSpan weight = model->buffers[graph.tensors[3].buffer].data;
  ASSERT_EQ(weight.size(), 128U);
  EXPECT_EQ(weight[99], 7);
  EXPECT_EQ(weight[100], 0);
  // The pooling table has what the attributes said; others are JSON.
  const auto* pool = std::get_if<FileOperatorParams>(&graph.nodes[0].params);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->tag, 3);
  const auto kernel = std::ranges::find(pool->attributes, "kernel_shape", &Attribute::name);
  ASSERT_NE(kernel, pool->attributes.end());
  EXPECT_EQ(std::get<std::vector<int64_t>>(kernel->value), (std::vector<int64_t>{3, 2}));
  const auto attributes = read_json_attributes(graph.nodes[1].attributes);
  ASSERT_TRUE(attributes.ok());
  EXPECT_EQ(*attributes,
            (std::vector<Attribute>{{"axis", int64_t{-1}}, {"mode", std::string("up")}}));
}

TEST(SmallWriter, RefusesAddressesOfNothing) {
  Example example;
  example.model.graphs[0].relocs[0].tensor = "y";
  EXPECT_EQ(write_small_model(example.model).status().code(), Code::kInvalidModel);
  example = Example();
  example.model.graphs[0].relocs[0].entries[0].word = 8;  // the words end before it
  EXPECT_EQ(write_small_model(example.model).status().code(), Code::kInvalidModel);
}

}  // namespace
}  // namespace rk::format
