// SPDX-License-Identifier: Apache-2.0
// Files that lie, are damaged, or are no ONNX files: a message that names the culprit, never a crash or a huge
// allocation.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

namespace fs = std::filesystem;
using testing::GraphWriter;
using testing::ModelWriter;

Result<Graph> import_text(const std::string& bytes) {
  return import_onnx_bytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "", {},
                           ops::registry());
}

void expect_message(const std::string& found, const std::string& part) {
  EXPECT_NE(found.find(part), std::string::npos) << "found: " << found << "\nexpected: " << part;
}

ModelWriter small_model() {
  ModelWriter m;
  m.input("x", {2, 2}).output("y");
  m.floats("w", {2, 2}, {1, 2, 3, 4});
  m.node("Add", {"x", "w"}, {"y"}, "add");
  return m;
}

TEST(OnnxHostile, ProtobufWithoutAGraphIsProbablyTensorFlow) {
  using namespace std::string_literals;
  // The first field of a TensorFlow GraphDef.
  const auto graph = import_text("\x0a\x00"s);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel);
  expect_message(graph.status().message(), "load_tensorflow");
}

TEST(OnnxHostile, EveryTruncationAndEveryFlippedByteIsSurvived) {
  const std::string bytes = small_model().model->SerializeAsString();
  for (size_t size = 1; size < bytes.size(); ++size) {
    const auto graph = import_text(bytes.substr(0, size));
    if (!graph.ok()) {
      EXPECT_FALSE(graph.status().message().empty());
    }
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      (void)import_text(damaged).ok();
    }
  }
}

TEST(OnnxHostile, TensorsMustHaveAsManyBytesAsTheirShapeNeeds) {
  ModelWriter m = small_model();
  onnx::TensorProto& w = *m.model->mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  w.set_raw_data("1234567");
  EXPECT_EQ(m.failure(), "constant 'w': 7 bytes found, f32[2,2] needs 16");
  w.clear_raw_data();
  w.add_float_data(1);
  EXPECT_EQ(m.failure(), "constant 'w': 1 values found, f32[2,2] needs 4");
}

TEST(OnnxHostile, HugeAndNegativeExtentsAreRefused) {
  for (const int64_t extent : {int64_t{-4}, int64_t{1} << 40, INT64_MAX}) {
    ModelWriter m = small_model();
    m.model->mutable_graph()->mutable_initializer(0)->set_dims(0, extent);
    expect_message(m.failure(), "constant 'w': ");
    ImportOptions options;
    options.input_shapes = {{extent, 2}};
    expect_message(small_model().failure(options), "input 'x': ");
  }
}

TEST(OnnxHostile, ValuesThatDoNotFitTheirTypeAreRefused) {
  ModelWriter m = small_model();
  onnx::TensorProto& w = *m.model->mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  w.set_data_type(3);
  for (const int value : {1, 2, 300, 4}) w.add_int32_data(value);
  EXPECT_EQ(m.failure(), "constant 'w': value 300 does not fit i8");
}

TEST(OnnxHostile, CyclesDuplicatesAndMissingNamesAreNamed) {
  ModelWriter cycle;
  cycle.input("x", {1}).output("y");
  cycle.node("Add", {"x", "b"}, {"a"}, "first");
  cycle.node("Neg", {"a"}, {"b"}, "second");
  cycle.node("Neg", {"b"}, {"y"}, "third");
  EXPECT_EQ(cycle.failure(),
            "node 'first' (Add): depends on its own output (the graph has a cycle)");

  ModelWriter twice;
  twice.input("x", {1}).output("y");
  twice.node("Neg", {"x"}, {"y"}, "first");
  twice.node("Abs", {"x"}, {"y"}, "second");
  EXPECT_EQ(twice.failure(),
            "value 'y' is produced twice, by node 'first' (Neg) and by node 'second' (Abs)");

  ModelWriter missing;
  missing.input("x", {1}).output("y");
  missing.node("Add", {"x", "ghost"}, {"y"}, "add");
  EXPECT_EQ(missing.failure(),
            "node 'add' (Add): reads 'ghost', which is neither an input nor a constant nor the "
            "output of a node");

  ModelWriter constants = small_model();
  constants.floats("w", {1}, {1});
  EXPECT_EQ(constants.failure(), "two constants are named 'w'");

  ModelWriter output = small_model();
  output.output("nowhere");
  expect_message(output.failure(), "output 'nowhere'");
}

TEST(OnnxHostile, ASmallFileCannotAskForAHugeConstant) {
  ModelWriter m;
  m.input("x", {1}).output("y");
  m.ints("shape", {3}, {1024, 1024, 1024});
  m.node("ConstantOfShape", {"shape"}, {"big"}, "fill");
  m.node("Add", {"x", "big"}, {"y"});
  expect_message(m.failure(),
                 "node 'fill' (ConstantOfShape): its result is a constant of "
                 "4294967296 bytes");
}

TEST(OnnxHostile, DeepNestingIsRefused) {
  ModelWriter m;
  m.input("x", {1}).output("y");
  onnx::NodeProto* node = &m.node("If", {"x"}, {"y"});
  for (int depth = 0; depth < 200; ++depth) {
    node = &GraphWriter(testing::set_graph(*node, "then_branch")).node("If", {"x"}, {"y"});
  }
  expect_message(m.failure(), "nested too deep");
}

TEST(OnnxHostile, OperatorsOfTheWrongShapeNameTheirNode) {
  ModelWriter m;
  m.input("x", {2, 3}).output("y");
  m.floats("w", {4, 5}, std::vector<float>(20, 1.0f));
  m.node("MatMul", {"x", "w"}, {"y"}, "product");
  const auto graph = m.import();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel);
  expect_message(graph.status().message(), "node 'product' (MatMul)");
}

class OnnxExternalData : public ::testing::Test {
 protected:
  OnnxExternalData() : folder_(fs::path(::testing::TempDir()) / "onnx_external") {
    fs::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "weights.bin", std::ios::binary)
        << "pad!" << std::string("\0\0\x80\x3f\0\0\0\x40", 8);
    std::ofstream(folder_ / "secret.bin", std::ios::binary) << std::string(64, 's');
  }
  ~OnnxExternalData() override { fs::remove_all(folder_); }

  ModelWriter model(const std::string& location, const std::string& offset,
                    const std::string& length = "8") {
    ModelWriter m;
    m.input("x", {2}).output("y");
    onnx::TensorProto& w = m.floats("w", {2}, {});
    w.set_data_location(1);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                     {"offset", offset},
                                     {"length", length}}) {
      auto& entry = *w.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    m.node("Add", {"x", "w"}, {"y"});
    return m;
  }
  std::string base() const { return (folder_ / "model").string(); }

  const fs::path folder_;
};

TEST_F(OnnxExternalData, IsReadFromBesideTheModel) {
  const auto graph = model("weights.bin", "4").import({}, base());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->find("w")->constant().to_f32(), (std::vector<float>{1, 2}));
}

TEST_F(OnnxExternalData, MayNotLeaveTheModelsFolder) {
  for (const std::string& location :
       {std::string("../secret.bin"), (folder_ / "secret.bin").string(),
        std::string("a/../../secret.bin")}) {
    expect_message(model(location, "0").failure({}, base()), "outside the model's folder");
  }
  fs::create_symlink(folder_ / "secret.bin", folder_ / "model" / "link.bin");
  expect_message(model("link.bin", "0").failure({}, base()), "outside the model's folder");
}

TEST_F(OnnxExternalData, SizesAreChecked) {
  expect_message(model("weights.bin", "8").failure({}, base()),
                 "constant 'w': 8 bytes at offset 8 of 'weights.bin' wanted, the file has 12");
  expect_message(model("weights.bin", "18446744073709551615").failure({}, base()), "wanted");
  expect_message(model("weights.bin", "4", "12").failure({}, base()),
                 "constant 'w': external data has 12 bytes, f32[2] needs 8");
  expect_message(model("weights.bin", "-4").failure({}, base()), "'-4' is not a number");
  expect_message(model("none.bin", "0").failure({}, base()), "none.bin");
  expect_message(model("weights.bin", "4").failure(), "load it by its path");
}

}  // namespace
}  // namespace rk::frontends
