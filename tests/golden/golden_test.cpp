// SPDX-License-Identifier: Apache-2.0
// Files of every version of our section must keep loading and giving the same bytes. v2/*.rknn were
// made by make.py with the last build that wrote section version 2; later versions hold the same
// Programs as the first build of their version wrote them. expected/*.bin are the outputs' stored
// bytes as the build that made v2 gave them. None of these files is ever made again;
// RK_WRITE_GOLDEN=1 adds those of a new version or case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/half.h"
#include "format/container.h"
#include "format/reader.h"
#include "format/writer.h"
#include "rknn_api.h"

namespace rk::golden {
namespace {

using Bytes = std::vector<uint8_t>;

const std::filesystem::path kFolder = std::filesystem::path(RK_SOURCE_DIR) / "tests/golden";
constexpr uint32_t kVersions[] = {2, 3};

struct Case {
  const char* name;
  const char* donor = nullptr;  // the file that holds the weights this one leaves out
  // Softmax and LayerNormalization go through an exponential and a square root, whose last bits
  // differ between instruction sets; everything else is exact. In parts of the largest output.
  float tolerance = 0;
  bool dynamic = false;  // runs with every shape it has
};
constexpr Case kCases[] = {
    {"int8"},
    {"int8_batch"},
    {"float16"},
    {"float16_no_weights", "float16"},
    {.name = "dynamic", .dynamic = true},
    {.name = "attention", .tolerance = 2e-3f},
};

std::string path_of(uint32_t version, const char* name) {
  return (kFolder / ("v" + std::to_string(version)) / (std::string(name) + ".rknn")).string();
}

Bytes read(const std::string& path) {
  Result<Bytes> bytes = read_file(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? std::move(*bytes) : Bytes();
}

void write_missing(const std::string& path, const Bytes& bytes) {
  if (std::getenv("RK_WRITE_GOLDEN") == nullptr || std::filesystem::exists(path)) return;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  EXPECT_TRUE(write_file(path, bytes).ok());
}

class Context {
 public:
  explicit Context(const Bytes& file, const Context* donor = nullptr) {
    rknn_init_extend extend{};
    if (donor != nullptr) extend.ctx = donor->handle_;
    const uint32_t flags = donor != nullptr ? RKNN_FLAG_SHARE_WEIGHT_MEM : 0;
    EXPECT_EQ(
        rknn_init(&handle_, const_cast<uint8_t*>(file.data()), static_cast<uint32_t>(file.size()),
                  flags, donor != nullptr ? &extend : nullptr),
        RKNN_SUCC);
  }
  ~Context() { rknn_destroy(handle_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The outputs' stored bytes, one after the other; for a dynamic model those of every shape.
  Bytes run(bool dynamic) const {
    if (!dynamic) return run_once();
    rknn_input_range range{};
    EXPECT_EQ(rknn_query(handle_, RKNN_QUERY_INPUT_DYNAMIC_RANGE, &range, sizeof range), RKNN_SUCC);
    EXPECT_EQ(range.shape_number, 3u);
    Bytes out;
    for (uint32_t i = 0; i < range.shape_number; ++i) {
      rknn_tensor_attr shape{};
      rknn_query(handle_, RKNN_QUERY_INPUT_ATTR, &shape, sizeof shape);
      std::copy_n(range.dyn_range[i], range.n_dims, shape.dims);
      EXPECT_EQ(rknn_set_input_shapes(handle_, 1, &shape), RKNN_SUCC);
      const Bytes one = run_once();
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

 private:
  Bytes run_once() const {
    rknn_input_output_num counts{};
    EXPECT_EQ(rknn_query(handle_, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts), RKNN_SUCC);
    EXPECT_EQ(counts.n_input, 1u);
    rknn_tensor_attr attr{};
    EXPECT_EQ(rknn_query(handle_, RKNN_QUERY_CURRENT_INPUT_ATTR, &attr, sizeof attr), RKNN_SUCC);
    // Small integers: exact in float16, and the whole range of an 8-bit picture is touched.
    std::vector<float> values(attr.n_elems);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = attr.qnt_type == RKNN_TENSOR_QNT_NONE ? static_cast<float>(i * 37 % 11) - 5
                                                        : static_cast<float>(i * 89 % 256);
    }
    rknn_input input{};
    input.buf = values.data();
    input.size = static_cast<uint32_t>(values.size() * sizeof(float));
    input.type = RKNN_TENSOR_FLOAT32;
    input.fmt = attr.fmt;
    EXPECT_EQ(rknn_inputs_set(handle_, 1, &input), RKNN_SUCC);
    EXPECT_EQ(rknn_run(handle_, nullptr), RKNN_SUCC);
    std::vector<rknn_output> outputs(counts.n_output);
    EXPECT_EQ(rknn_outputs_get(handle_, counts.n_output, outputs.data(), nullptr), RKNN_SUCC);
    Bytes out;
    for (const rknn_output& output : outputs) {
      const auto* bytes = static_cast<const uint8_t*>(output.buf);
      out.insert(out.end(), bytes, bytes + output.size);
    }
    rknn_outputs_release(handle_, counts.n_output, outputs.data());
    return out;
  }

  rknn_context handle_ = 0;
};

Bytes run(const Case& one, uint32_t version, const Bytes& file) {
  if (one.donor == nullptr) return Context(file).run(one.dynamic);
  const Context donor(read(path_of(version, one.donor)));
  return Context(file, &donor).run(one.dynamic);
}

void expect_close(const Case& one, const Bytes& found, const Bytes& expected) {
  ASSERT_EQ(found.size(), expected.size());
  if (one.tolerance == 0) {
    EXPECT_TRUE(found == expected) << "the output bytes changed";
    return;
  }
  const size_t count = found.size() / sizeof(uint16_t);
  float peak = 0, worst = 0;
  for (size_t i = 0; i < count; ++i) {
    const float want = half_to_float(load<uint16_t>(expected.data() + i * sizeof(uint16_t)));
    const float have = half_to_float(load<uint16_t>(found.data() + i * sizeof(uint16_t)));
    peak = std::max(peak, std::abs(want));
    if (!(std::abs(want - have) <= worst)) worst = std::abs(want - have);
  }
  EXPECT_LE(worst, one.tolerance * peak);
}

class GoldenTest : public testing::TestWithParam<Case> {};

TEST_P(GoldenTest, FilesOfEveryVersionGiveTheStoredBytes) {
  const Case one = GetParam();
  const std::string stored = (kFolder / "expected" / (std::string(one.name) + ".bin")).string();
  Bytes first;
  for (const uint32_t version : kVersions) {
    SCOPED_TRACE(path_of(version, one.name));
    const Bytes file = read(path_of(version, one.name));
    const Result<format::Container> container = format::split_container(file);
    ASSERT_TRUE(container.ok() && container->section) << container.status().message();
    EXPECT_EQ(container->section->version, version);
    const Bytes found = run(one, version, file);
    write_missing(stored, found);
    expect_close(one, found, read(stored));
    if (first.empty()) first = found;
    EXPECT_TRUE(found == first) << "versions differ from each other";
  }
}

// The file's Program, whole, written by this build.
Bytes written_again(const Case& one, uint32_t version, const Bytes& file) {
  program::Program weights;
  format::ReadOptions options;
  if (one.donor != nullptr) {
    Result<program::Program> donor = format::read_rknn(read(path_of(version, one.donor)));
    EXPECT_TRUE(donor.ok()) << donor.status().message();
    if (donor.ok()) weights = std::move(*donor);
    options.weights_from = &weights;
  }
  const Result<program::Program> program = format::read_rknn(file, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  Result<Bytes> again = format::write_rknn(*program, {.remove_weight = one.donor != nullptr});
  EXPECT_TRUE(again.ok()) << again.status().message();
  return again.ok() ? std::move(*again) : Bytes();
}

TEST_P(GoldenTest, AFileWrittenAgainGivesTheSameBytes) {
  const Case one = GetParam();
  for (const uint32_t version : kVersions) {
    SCOPED_TRACE(path_of(version, one.name));
    const Bytes file = read(path_of(version, one.name));
    const Bytes again = written_again(one, version, file);
    EXPECT_EQ(format::split_container(again)->section->version, format::kSectionVersion);
    write_missing(path_of(format::kSectionVersion, one.name), again);
    EXPECT_TRUE(run(one, version, again) == run(one, version, file));
  }
}

// This build spells the newest golden files as they are, byte for byte: a changed spelling of a
// known field shows here before it orphans a file.
TEST_P(GoldenTest, TheNewestSectionIsEncodedTheSameAgain) {
  const Case one = GetParam();
  const Bytes file = read(path_of(format::kSectionVersion, one.name));
  const Bytes again = written_again(one, format::kSectionVersion, file);
  const Result<format::Container> then = format::split_container(file);
  const Result<format::Container> now = format::split_container(again);
  ASSERT_TRUE(then.ok() && then->section && now.ok() && now->section);
  EXPECT_TRUE(std::ranges::equal(now->section->payload, then->section->payload));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rk::golden
