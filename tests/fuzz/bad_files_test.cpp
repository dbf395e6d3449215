// SPDX-License-Identifier: Apache-2.0
// Files that once crashed, hung, leaked or took all memory (tests/fuzz/bad). Each is read again, within the time and
// memory that any file has; those of a known kind must be refused with the sentence that tells why.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "frontends/frontend.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "runtime/session/session.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/target.h"
#include "toolkit/hybrid_data.h"

namespace rk::fuzz {
namespace {

std::vector<std::filesystem::path> bad_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(RK_SOURCE_DIR "/tests/fuzz/bad"))
    out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

std::vector<uint8_t> bytes_of(const std::filesystem::path& path) {
  auto bytes = read_file(path.string());
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? std::move(*bytes) : std::vector<uint8_t>();
}

std::string bad(std::string_view name) { return str(RK_SOURCE_DIR, "/tests/fuzz/bad/", name); }

TEST(BadFiles, EachIsReadWithinItsLimits) {
  const int level = log_level();
  set_log_level(0);
  size_t read = 0;
  {
    Guard guard;
    for (const auto& path : bad_files()) {
      const std::vector<uint8_t> bytes = bytes_of(path);
      guard.begin_case(path.filename().string());
      const std::string kind = path.extension().string();
      if (kind == ".rknn") {
        fuzz_rknn(bytes);
        fuzz_info(bytes);
        fuzz_lift(bytes);
        fuzz_program(bytes);
      } else if (kind == ".onnx") {
        fuzz_onnx(bytes);
      } else if (kind == ".pb") {
        fuzz_tensorflow(bytes);
      } else if (kind == ".tflite") {
        fuzz_tflite(bytes);
      } else if (kind == ".data") {
        fuzz_hybrid(bytes);
      } else if (kind == ".json") {
        fuzz_options(bytes);
      } else if (kind == ".graph") {
        fuzz_graph_text(bytes);
      } else {
        EXPECT_EQ(kind, ".xz") << path;  // unpacked and tried by tests/sound/bombs.py
        continue;
      }
      ++read;
    }
  }
  set_log_level(level);
  std::printf("FIGURE stored bad files read: crash, hang, over 1 GiB | 0 of %zu | 0 | ok\n", read);
  EXPECT_GT(read, 10u);
}

Status open(const std::vector<uint8_t>& file) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  return runtime::Session::create(model, {.threads = 1}).status();
}

TEST(BadFiles, AStateOfAnotherDtypeIsRefusedNamingTheInput) {
  for (const char* const name : {"linear_attention_leak_16.rknn", "linear_attention_leak_256.rknn",
                                 "linear_attention_state_dtype.rknn"}) {
    const Status status = open(bytes_of(bad(name)));
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_NE(status.message().find("input "), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("expected a float dtype"), std::string::npos)
        << status.message();
  }
}

TEST(BadFiles, SparseTensorsThatStandForMuchMoreAreRefused) {
  for (const char* const name :
       {"sparse_1.onnx", "sparse_8.onnx", "sparse_40.onnx", "sparse_gather_8.onnx"}) {
    const auto graph = frontends::import_onnx_bytes(bytes_of(bad(name)), "", {}, ops::registry());
    ASSERT_FALSE(graph.ok()) << name;
    EXPECT_NE(graph.status().message().find("stand for a tensor of"), std::string::npos)
        << graph.status().message();
  }
}

TEST(BadFiles, ConstantsThatAreOnlyDescribedHaveALimitEachAndInAll) {
  for (const char* const name : {"scatter_nd_declared.pb", "consts_of_one_value.pb"}) {
    const std::vector<uint8_t> bytes = bytes_of(bad(name));
    const frontends::ModelFile file{name, bytes};
    const auto model = frontends::import_files({&file, 1}, "tensorflow", {}, ops::registry());
    ASSERT_FALSE(model.ok()) << name;
    EXPECT_EQ(model.status().code(), Code::kOutOfMemory);
    EXPECT_NE(model.status().message().find("describes without holding"), std::string::npos)
        << model.status().message();
  }
}

TEST(BadFiles, NegativePermutationsCountFromTheFrontAfterImport) {
  for (const char* const name : {"transpose_negative_perm.onnx", "transpose_negative_pair.onnx",
                                 "transpose_negative_shuffle_abort.onnx"}) {
    const auto graph = frontends::import_onnx_bytes(bytes_of(bad(name)), "", {}, ops::registry());
    ASSERT_TRUE(graph.ok()) << name << ": " << graph.status().message();
    for (const Node* node : graph->nodes()) {
      if (node->op() != "Transpose") continue;
      for (const int64_t axis : node->ints("perm")) EXPECT_GE(axis, 0) << name;
    }
  }
}

TEST(BadFiles, AnObjectForAListInHybridDataIsRefused) {
  const auto data = toolkit::read_hybrid_data(bad("hybrid_means_object.data"));
  ASSERT_FALSE(data.ok());
  EXPECT_NE(data.status().message().find("is missing or wrong"), std::string::npos)
      << data.status().message();
}

}  // namespace
}  // namespace rk::fuzz
