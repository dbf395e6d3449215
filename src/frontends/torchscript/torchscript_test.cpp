// SPDX-License-Identifier: Apache-2.0
// The way to the helper program and back. Shell scripts stand in for it; what the real one answers to every operator is
// tested in tests/frontends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontends/model_source.h"
#include "frontends/torchscript/answer.h"
#include "frontends/torchscript/helper.h"
#include "frontends/torchscript/test_answer.h"
#include "ops/registry.h"

namespace rk::frontends::torchscript {
namespace {

using testing::HasSubstr;

// "PK" and no directory: neither TorchScript nor torch.save, so the helper is asked.
const std::vector<uint8_t> kArchive = {'P', 'K', 3, 4, 0, 0};

class TorchHelper : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / str("rk_torch_", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    unsetenv("RKNN_IMPORT_TORCHSCRIPT");
    unsetenv("RKNN_IMPORT_TORCHSCRIPT_SECONDS");
    std::filesystem::remove_all(folder_);
  }
  void script(const std::string& text) {
    const std::string path = (folder_ / "helper").string();
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0700);
    setenv("RKNN_IMPORT_TORCHSCRIPT", path.c_str(), 1);
  }
  Status ask() { return ask_helper(kArchive).status(); }

  std::filesystem::path folder_;
};

TEST_F(TorchHelper, AbsentProgramNamesThePackageToInstall) {
  setenv("RKNN_IMPORT_TORCHSCRIPT", "/no/such/program", 1);
  const Status status = ask();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("RKNN_IMPORT_TORCHSCRIPT='/no/such/program'"));
  EXPECT_THAT(status.message(), HasSubstr("Debian package libtorch-dev"));
}

TEST_F(TorchHelper, ModelAndAnswerPassThroughFiles) {
  script("printf RKTORCH1 > $2; cat $1 >> $2");
  const auto answer = ask_helper(kArchive);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  std::vector<uint8_t> expected(kAnswerMagic.begin(), kAnswerMagic.end());
  expected.insert(expected.end(), kArchive.begin(), kArchive.end());
  EXPECT_EQ(*answer, expected);
}

TEST_F(TorchHelper, ItsLastWordsAreTheReason) {
  script("echo 'Unknown builtin op: aten::nova' >&2; exit 1");
  const Status status = ask();
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_THAT(status.message(),
              HasSubstr("libtorch cannot read the file: Unknown builtin op: aten::nova"));
}

TEST_F(TorchHelper, CrashOfLibtorchIsAnErrorMessage) {
  script("kill -SEGV $$");
  const Status status = ask();
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_THAT(status.message(), HasSubstr("libtorch ended with signal 11"));
}

TEST_F(TorchHelper, ProgramThatHangsIsEnded) {
  script("exec sleep 100");
  setenv("RKNN_IMPORT_TORCHSCRIPT_SECONDS", "1", 1);
  const Status status = ask();
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_THAT(status.message(), HasSubstr("did not answer within 1 seconds"));
}

TEST_F(TorchHelper, SilentProgramIsNotBelieved) {
  script("exit 0");
  EXPECT_THAT(ask().message(), HasSubstr("gave no answer"));
}

// A zip archive whose directory lists these names; the files themselves are not there.
std::vector<uint8_t> archive(const std::vector<std::string>& names,
                             const std::string& first_bytes) {
  ByteWriter out;
  out.write_bytes({reinterpret_cast<const uint8_t*>(first_bytes.data()), first_bytes.size()});
  const auto start = static_cast<uint32_t>(out.size());
  for (const std::string& name : names) {
    ByteWriter entry;
    entry.write(uint32_t{0x02014b50});
    for (int i = 0; i < 12; ++i) entry.write(uint16_t{0});
    entry.write(static_cast<uint16_t>(name.size()));
    for (int i = 0; i < 8; ++i) entry.write(uint16_t{0});
    out.write_bytes(entry.bytes());
    out.write_bytes({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
  }
  const auto size = static_cast<uint32_t>(out.size()) - start;
  out.write(uint32_t{0x06054b50});
  out.write(uint64_t{0});
  out.write(size);
  out.write(start);
  out.write(uint16_t{0});
  return out.release();
}

TEST(TorchArchive, StateDictIsRefusedWithTheRecipe) {
  const auto bytes = archive({"net/data.pkl", "net/data/0"}, std::string("PK\x03\x04") +
                                                                 "net/data.pkl\x80\x02"
                                                                 "ccollections\nOrderedDict\n");
  const ModelFile file{"net.pth", bytes};
  const auto model = import_files({&file, 1}, "pytorch", {}, ops::registry());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(),
              HasSubstr("written by torch.save: it holds weights (a state dict)"));
  EXPECT_THAT(model.status().message(),
              HasSubstr("torch.jit.trace(model.eval(), torch.rand(1, 3, 224, 224))"));
}

TEST(TorchArchive, PickledModuleIsToldApartFromWeights) {
  const auto bytes = archive({"net/data.pkl"}, std::string("PK\x03\x04") +
                                                   "\x80\x02"
                                                   "c__main__\nNet\n");
  EXPECT_THAT(check_archive(bytes).message(), HasSubstr("it holds a pickled Python object"));
}

TEST(TorchArchive, CodeMakesItTorchScript) {
  EXPECT_TRUE(check_archive(archive({"net/data.pkl", "net/code/__torch__.py"}, "PK\x03\x04")).ok());
}

TEST(TorchArchive, OldPickleIsRefusedWithTheRecipe) {
  const std::vector<uint8_t> bytes = {0x80, 0x02, 0x8a, 0x0a};
  const ModelFile file{"net.pt", bytes};
  const auto model = import_files({&file, 1}, "pytorch", {}, ops::registry());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("torch.jit.trace"));
}

ByteWriter header() {
  ByteWriter out;
  out.write_bytes({reinterpret_cast<const uint8_t*>(kAnswerMagic.data()), kAnswerMagic.size()});
  return out;
}

std::string refusal(ByteWriter answer) {
  const auto bytes = answer.release();
  const auto program = read_answer(bytes);
  return program.ok() ? "" : program.status().message();
}

TEST(TorchAnswer, CountsAreCheckedAgainstWhatIsLeft) {
  ByteWriter answer = header();
  answer.write(uint32_t{0xffffffff});
  EXPECT_THAT(refusal(std::move(answer)), HasSubstr("a list of 4294967295 elements"));
}

// An answer with no inputs and one prim::Constant of a datum.
ByteWriter with_constant(const ByteWriter& datum) {
  ByteWriter out = header();
  out.write(uint32_t{0});  // inputs
  out.write(uint32_t{1});  // nodes
  out.write_string("prim::Constant");
  out.write_string("");
  out.write(uint32_t{0});
  out.write(uint32_t{1});
  out.write(uint32_t{1});
  out.write_string("c");
  out.write_string("Tensor");
  out.write(uint8_t{1});
  out.write_bytes(datum.bytes());
  out.write(uint32_t{0});  // blocks
  out.write(uint32_t{1});  // outputs
  out.write(uint32_t{1});
  return out;
}

TEST(TorchAnswer, TensorsMustHaveTheBytesTheirShapeNeeds) {
  ByteWriter datum;
  datum.write(uint8_t{5});
  datum.write(uint8_t{1});
  datum.write_vector(std::vector<int64_t>{2, 3});
  datum.write(uint32_t{0});
  datum.write(uint32_t{0});
  datum.write(int64_t{-1});
  datum.write(uint64_t{4});
  datum.write(1.0f);
  EXPECT_THAT(refusal(with_constant(datum)),
              HasSubstr("a tensor of [2,3] has 4 bytes, expected 24"));
}

TEST(TorchAnswer, ListsInListsEndSomewhere) {
  ByteWriter datum;
  for (int i = 0; i < 1000; ++i) {
    datum.write(uint8_t{6});
    datum.write(uint32_t{1});
  }
  datum.write(uint8_t{0});
  EXPECT_THAT(refusal(with_constant(datum)), HasSubstr("nested too deeply"));
}

TEST(TorchAnswer, QuantizedSigmoidTakesTheRangeOfTheKernelNotTheRecordedOne) {
  TestAnswer answer;
  answer.input(1, "x");
  answer.constant(2, TestDatum::of_double(0.02));
  answer.constant(3, TestDatum::of_int(120));
  answer.constant(4, TestDatum::of_int(13));
  answer.node("aten::quantize_per_tensor", {1, 2, 3, 4}, {5});
  answer.constant(6, TestDatum::of_int(3));
  answer.node("quantized::sigmoid", {5, 2, 6}, {7});
  answer.node("aten::dequantize", {7}, {8});
  const auto bytes = answer.bytes({8});
  const ModelFile file{"", bytes};
  ImportOptions options;
  options.input_shapes = {{2, 3}};
  const auto model = import_files({&file, 1}, "pytorch", options, ops::registry());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Node* last = nullptr;
  for (const Node* one : model->graph.nodes()) last = one->op() == "QuantizeLinear" ? one : last;
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->input(1).constant().to_f32(), std::vector<float>{1.0f / 256});
  EXPECT_EQ(last->input(2).constant().to_i64(), std::vector<int64_t>{-128});
  ASSERT_EQ(model->notes.size(), 1u);
  EXPECT_THAT(model->notes[0], HasSubstr("records a scale of 0.02"));
}

TEST(TorchAnswer, ShapesOfInputsMustBeGiven) {
  TestAnswer answer;
  answer.input(1, "x");
  const auto bytes = answer.bytes({1});
  const ModelFile file{"", bytes};
  const auto model = import_files({&file, 1}, "pytorch", {}, ops::registry());
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(model.status().message(), HasSubstr("input_size_list=[[1, 3, 224, 224]]"));
}

}  // namespace
}  // namespace rk::frontends::torchscript
