// SPDX-License-Identifier: Apache-2.0
// How real programs call the C API, tolerated on the board and therefore served here. A test is
// named after the row of the list of observed patterns that it stands for.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/file.h"
#include "base/half.h"
#include "tests/e2e/client_patterns.h"

namespace rk::e2e {
namespace {

size_t open_file_count() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                           std::filesystem::directory_iterator()));
}

TEST_F(ClientPatterns, Row01OutputIndicesLeftZeroGoByPosition) {
  load("signs");
  const auto wanted = plain();
  std::vector<rknn_output> outputs(output_count());  // every index 0
  ASSERT_EQ(rknn_outputs_get(context(), output_count(), outputs.data(), nullptr), RKNN_SUCC);
  for (uint32_t i = 0; i < output_count(); ++i) {
    EXPECT_EQ(outputs[i].index, i);
    ASSERT_EQ(outputs[i].size, wanted[i].size());
    EXPECT_EQ(std::memcmp(outputs[i].buf, wanted[i].data(), wanted[i].size()), 0);
  }
  EXPECT_EQ(rknn_outputs_release(context(), output_count(), outputs.data()), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row02HandleIsSmallAndItsHighHalfIsIgnored) {
  load("digits");
  EXPECT_LT(context(), uint64_t{1} << 31);
  EXPECT_GT(context(), 0u);
  rknn_input_output_num counts{};
  const rknn_context with_garbage = context() | (uint64_t{0xDEADBEEF} << 32);
  EXPECT_EQ(rknn_query(with_garbage, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts), RKNN_SUCC);
  EXPECT_EQ(counts.n_input, 1u);
}

TEST_F(ClientPatterns, Row03ModelBufferMayGoRightAfterInit) {
  load("digits");
  const auto wanted = plain();
  std::vector<uint8_t> copy = rknn_;
  auto second = ApiModel::load(copy);
  ASSERT_TRUE(second.ok());
  std::fill(copy.begin(), copy.end(), 0xFF);
  copy = {};
  const auto found = (*second)->run_raw(picture());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, wanted);
}

TEST_F(ClientPatterns, Row04SizeZeroMeansPath) {
  load("digits");
  std::string path = testing::TempDir() + str("rk_row04_", ::getpid(), ".rknn");
  ASSERT_TRUE(write_file(path, rknn_).ok());
  rknn_context from_path = 0;
  EXPECT_EQ(rknn_init(&from_path, path.data(), 0, 0, nullptr), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy(from_path), RKNN_SUCC);
  std::filesystem::remove(path);
  rknn_context untouched = 77;
  EXPECT_LT(rknn_init(&untouched, path.data(), 0, 0, nullptr), 0);
  EXPECT_EQ(untouched, 77u);
}

TEST_F(ClientPatterns, Row05QueriesReadTheIndexOnlyAndWriteTheGivenSizeOnly) {
  load("digits");
  rknn_tensor_attr clean{}, dirty;
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &clean, sizeof clean), RKNN_SUCC);
  std::memset(&dirty, 0xA5, sizeof dirty);
  dirty.index = 0;
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &dirty, sizeof dirty), RKNN_SUCC);
  EXPECT_EQ(std::memcmp(&clean, &dirty, offsetof(rknn_tensor_attr, pass_through)), 0);

  // The first headers ended before w_stride: nothing behind their structure may change.
  constexpr size_t kOld = offsetof(rknn_tensor_attr, w_stride);
  std::memset(&dirty, 0xA5, sizeof dirty);
  dirty.index = 0;
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &dirty, kOld), RKNN_SUCC);
  EXPECT_EQ(std::memcmp(&clean, &dirty, kOld), 0);
  EXPECT_EQ(dirty.w_stride, 0xA5A5A5A5u);

  // A later header's larger structure: the rest is zero.
  std::vector<uint8_t> large(sizeof clean + 64, 0xA5);
  std::memset(large.data(), 0, sizeof(uint32_t));
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, large.data(),
                       static_cast<uint32_t>(large.size())),
            RKNN_SUCC);
  EXPECT_EQ(std::count(large.end() - 64, large.end(), 0), 64);

  EXPECT_LT(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &dirty, 8), 0);
  dirty.index = 5;
  EXPECT_LT(rknn_query(context(), RKNN_QUERY_INPUT_ATTR, &dirty, sizeof dirty), 0);
}

TEST_F(ClientPatterns, Row06NativeQueriesOfTensorsWithoutANativeForm) {
  load("digits");
  rknn_tensor_attr input{}, output{};
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_NATIVE_INPUT_ATTR, &input, sizeof input), RKNN_SUCC);
  EXPECT_EQ(input.fmt, RKNN_TENSOR_NHWC);
  ASSERT_EQ(input.n_dims, 4u);
  EXPECT_EQ(std::vector(input.dims, input.dims + 4), (std::vector<uint32_t>{1, 28, 28, 1}));
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_NATIVE_OUTPUT_ATTR, &output, sizeof output),
            RKNN_SUCC);
  ASSERT_EQ(output.n_dims, 2u);
  EXPECT_EQ(std::vector(output.dims, output.dims + 2), (std::vector<uint32_t>{1, 10}));
}

TEST_F(ClientPatterns, Row07PreallocatedOutputsStayTheCallersAndInputsAreConsumedAtOnce) {
  load("digits");
  const auto wanted = plain();
  std::vector<uint8_t> pixels = picture().pixels;
  rknn_input input{};
  input.buf = pixels.data();
  input.size = static_cast<uint32_t>(pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  ASSERT_EQ(rknn_inputs_set(context(), 1, &input), RKNN_SUCC);
  std::fill(pixels.begin(), pixels.end(), 0);  // the buffer is the caller's again
  ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
  std::vector<uint8_t> buffer(wanted[0].size());
  rknn_output output{};
  output.is_prealloc = 1;
  output.buf = buffer.data();
  output.size = static_cast<uint32_t>(buffer.size());
  for (int i = 0; i < 3; ++i) {
    std::fill(buffer.begin(), buffer.end(), 0);
    ASSERT_EQ(rknn_outputs_get(context(), 1, &output, nullptr), RKNN_SUCC);
    EXPECT_EQ(output.buf, buffer.data());
    EXPECT_EQ(buffer, wanted[0]);
  }
  EXPECT_EQ(rknn_outputs_release(context(), 1, &output), RKNN_SUCC);
  buffer[0] = 1;  // not freed: a sanitizer would complain here
  output.buf = buffer.data();
  output.size = 1;
  EXPECT_LT(rknn_outputs_get(context(), 1, &output, nullptr), 0);
}

TEST_F(ClientPatterns, Row08OutputsReleasedLateTwiceOrNever) {
  load("digits");
  const auto first = plain(0), second = plain(1);
  std::vector<rknn_output> held(4);
  for (size_t i = 0; i < held.size(); ++i) {
    ASSERT_TRUE(api_->set_picture(picture(i % 2)).ok());
    ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
    ASSERT_EQ(rknn_outputs_get(context(), 1, &held[i], nullptr), RKNN_SUCC);
  }
  for (size_t i = 0; i < held.size(); ++i) {  // results of earlier runs are still there
    const auto& wanted = i % 2 == 0 ? first[0] : second[0];
    EXPECT_EQ(std::memcmp(held[i].buf, wanted.data(), wanted.size()), 0) << i;
  }
  rknn_output copy = held[0];  // a second structure with the same pointer
  EXPECT_EQ(rknn_outputs_release(context(), 1, &held[0]), RKNN_SUCC);
  EXPECT_EQ(rknn_outputs_release(context(), 1, &held[0]), RKNN_SUCC);
  EXPECT_EQ(rknn_outputs_release(context(), 1, &copy), RKNN_SUCC);
  // The others are never released: the context frees them (LeakSanitizer watches).
}

TEST_F(ClientPatterns, Row09InputSizeMayBeLargerAndNotSmaller) {
  load("digits");
  const auto wanted = plain();
  std::vector<uint8_t> pixels = picture().pixels;
  const size_t needed = pixels.size();
  pixels.resize(needed + 100);
  EXPECT_EQ(run_with(pixels.data(), needed + 100, RKNN_TENSOR_UINT8, RKNN_TENSOR_NHWC), wanted[0]);
  rknn_input input{};
  input.buf = pixels.data();
  input.size = static_cast<uint32_t>(needed - 1);
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  EXPECT_LT(rknn_inputs_set(context(), 1, &input), 0);
  input.size = static_cast<uint32_t>(needed);  // elements instead of bytes
  input.type = RKNN_TENSOR_FLOAT32;
  EXPECT_LT(rknn_inputs_set(context(), 1, &input), 0);
}

TEST_F(ClientPatterns, Row10LayoutsOfOnePictureGiveTheSameBytes) {
  load("signs");
  const auto wanted = plain();
  std::vector<uint8_t> nchw(picture().pixels.size());
  const size_t plane = nchw.size() / 3;
  for (size_t i = 0; i < nchw.size(); ++i) nchw[i % 3 * plane + i / 3] = picture().pixels[i];
  EXPECT_EQ(run_with(nchw.data(), nchw.size(), RKNN_TENSOR_UINT8, RKNN_TENSOR_NCHW), wanted[0]);
  EXPECT_EQ(run_with(nchw.data(), nchw.size(), RKNN_TENSOR_UINT8, RKNN_TENSOR_UNDEFINED),
            wanted[0]);
}

TEST_F(ClientPatterns, Row10TypesOfOnePictureGiveTheSameBytes) {
  load("digits");
  const auto wanted = plain();
  const auto& pixels = picture().pixels;
  const std::vector<float> f32(pixels.begin(), pixels.end());
  std::vector<uint16_t> f16;
  for (const uint8_t pixel : pixels) f16.push_back(float_to_half(pixel));
  const std::vector<int16_t> i16(pixels.begin(), pixels.end());
  const std::vector<int32_t> i32(pixels.begin(), pixels.end());
  const std::vector<int64_t> i64(pixels.begin(), pixels.end());
  const auto run = [&](const auto& values, rknn_tensor_type type) {
    return run_with(values.data(), values.size() * sizeof values[0], type, RKNN_TENSOR_NHWC);
  };
  EXPECT_EQ(run(f32, RKNN_TENSOR_FLOAT32), wanted[0]);
  EXPECT_EQ(run(f16, RKNN_TENSOR_FLOAT16), wanted[0]);
  EXPECT_EQ(run(i16, RKNN_TENSOR_INT16), wanted[0]);
  EXPECT_EQ(run(i32, RKNN_TENSOR_INT32), wanted[0]);
  EXPECT_EQ(run(i64, RKNN_TENSOR_INT64), wanted[0]);
}

TEST_F(ClientPatterns, Row10PassThroughTakesBytesThatAreQuantizedAlready) {
  load("digits");
  const auto wanted = plain();
  const rknn_tensor_attr& attr = api_->inputs().at(0);
  ASSERT_EQ(attr.type, RKNN_TENSOR_INT8);
  std::vector<int8_t> stored;
  for (const uint8_t pixel : picture().pixels) {
    const double real = (static_cast<double>(pixel) - 127.5) / 64;
    const double q = std::nearbyint(real / double{attr.scale}) + attr.zp;
    stored.push_back(static_cast<int8_t>(std::clamp(q, -128.0, 127.0)));
  }
  EXPECT_EQ(run_with(stored.data(), stored.size(), RKNN_TENSOR_INT8, RKNN_TENSOR_NHWC, true),
            wanted[0]);
}

TEST_F(ClientPatterns, WantFloatIsTheStoredByteDequantized) {
  load("signs");
  const auto stored = plain();
  const auto reals = api_->run_float(picture());
  ASSERT_TRUE(reals.ok());
  for (size_t i = 0; i < stored.size(); ++i) {
    const rknn_tensor_attr& attr = api_->outputs()[i];
    ASSERT_EQ(attr.type, RKNN_TENSOR_INT8);
    ASSERT_EQ((*reals)[i].size(), stored[i].size());
    for (size_t k = 0; k < stored[i].size(); ++k) {
      const auto q = static_cast<int8_t>(stored[i][k]);
      ASSERT_FLOAT_EQ((*reals)[i][k], static_cast<float>(q - attr.zp) * attr.scale);
    }
  }
}

TEST_F(ClientPatterns, Row12NarrowPicturesHavePaddedRowsInBoundMemory) {
  load("digits");
  const auto wanted = plain();
  rknn_tensor_attr attr = api_->inputs().at(0);
  EXPECT_EQ(attr.w_stride, 32u);
  EXPECT_EQ(attr.size_with_stride, 28u * 32u);
  rknn_tensor_mem* const memory = rknn_create_mem(context(), attr.size_with_stride);
  ASSERT_NE(memory, nullptr);
  for (size_t y = 0; y < 28; ++y) {
    std::memcpy(static_cast<uint8_t*>(memory->virt_addr) + y * attr.w_stride,
                picture().pixels.data() + y * 28, 28);
  }
  attr.type = RKNN_TENSOR_UINT8;
  attr.fmt = RKNN_TENSOR_NHWC;
  ASSERT_EQ(rknn_set_io_mem(context(), memory, &attr), RKNN_SUCC);
  ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
  EXPECT_EQ(first_output(), wanted[0]);
  EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row13BindingMemoryBeforeEveryRunIsTheSameAsOnce) {
  load("digits");
  const auto wanted = plain();
  rknn_tensor_attr in = api_->inputs().at(0), out = api_->outputs().at(0);
  in.type = RKNN_TENSOR_UINT8;
  out.type = RKNN_TENSOR_FLOAT32;
  rknn_tensor_mem* const input = rknn_create_mem(context(), in.size_with_stride);
  rknn_tensor_mem* const output = rknn_create_mem(context(), out.n_elems * 4);
  ASSERT_TRUE(input != nullptr && output != nullptr);
  for (size_t y = 0; y < 28; ++y) {
    std::memcpy(static_cast<uint8_t*>(input->virt_addr) + y * in.w_stride,
                picture().pixels.data() + y * 28, 28);
  }
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(rknn_set_io_mem(context(), input, &in), RKNN_SUCC);
    ASSERT_EQ(rknn_set_io_mem(context(), output, &out), RKNN_SUCC);
    std::memset(output->virt_addr, 0, output->size);
    ASSERT_EQ(rknn_run(context(), nullptr), RKNN_SUCC);
    for (size_t i = 0; i < wanted[0].size(); ++i) {
      const auto q = static_cast<int8_t>(wanted[0][i]);
      EXPECT_FLOAT_EQ(static_cast<const float*>(output->virt_addr)[i],
                      static_cast<float>(q - out.zp) * out.scale);
    }
  }
  EXPECT_EQ(rknn_destroy_mem(context(), input), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy_mem(context(), output), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row14DuplicatesOutliveTheirParent) {
  load("digits");
  const auto wanted = plain();
  rknn_context parent = context(), child = 0, grandchild = 0;
  ASSERT_EQ(rknn_dup_context(&parent, &child), RKNN_SUCC);
  ASSERT_EQ(rknn_dup_context(&child, &grandchild), RKNN_SUCC);
  EXPECT_EQ(rknn_set_core_mask(grandchild, RKNN_NPU_CORE_1), RKNN_SUCC);
  api_.reset();
  EXPECT_EQ(rknn_destroy(child), RKNN_SUCC);
  rknn_input input{};
  input.buf = const_cast<uint8_t*>(picture().pixels.data());
  input.size = static_cast<uint32_t>(picture().pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  ASSERT_EQ(rknn_inputs_set(grandchild, 1, &input), RKNN_SUCC);
  ASSERT_EQ(rknn_run(grandchild, nullptr), RKNN_SUCC);
  rknn_output output{};
  ASSERT_EQ(rknn_outputs_get(grandchild, 1, &output, nullptr), RKNN_SUCC);
  EXPECT_EQ(std::memcmp(output.buf, wanted[0].data(), wanted[0].size()), 0);
  EXPECT_EQ(rknn_destroy(grandchild), RKNN_SUCC);
}

TEST_F(ClientPatterns, Row15ContextsRunInParallelAndOneContextIsSharedByMistake) {
  load("digits");
  const auto wanted = plain();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      auto own = ApiModel::load(rknn_);
      for (int i = 0; i < 10; ++i) {
        const auto found = own.ok() ? (*own)->run_raw(picture()) : own.status();
        wrong[t] += found.ok() && *found == wanted ? 0 : 1;
        // The shared one: every call is served, and all set the same picture.
        const auto shared = api_->run_raw(picture());
        wrong[t] += shared.ok() && *shared == wanted ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(ClientPatterns, Row16CoreMasksOfTheChip) {
  load("digits");
  for (const int mask : {0, 1, 2, 4, 3, 7, 0xFFFF}) {
    EXPECT_EQ(rknn_set_core_mask(context(), static_cast<rknn_core_mask>(mask)), RKNN_SUCC) << mask;
  }
  for (const int mask : {5, 6, 8}) {
    EXPECT_LT(rknn_set_core_mask(context(), static_cast<rknn_core_mask>(mask)), 0) << mask;
  }
}

TEST_F(ClientPatterns, Row17LibraryStaysAfterDlclose) {
  load("digits");
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&rknn_init), &info), 0);
  const std::string path = info.dli_fname;
  for (int i = 0; i < 3; ++i) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_NE(dlsym(library, "rknn_run"), nullptr);
    EXPECT_EQ(dlclose(library), 0);
  }
  EXPECT_EQ(plain().size(), 1u);
}

TEST_F(ClientPatterns, Row19MemoryWithoutAContextLeaksNoFile) {
  const size_t before = open_file_count();
  for (int i = 0; i < 1000; ++i) {
    rknn_tensor_mem* const memory = rknn_create_mem2(0, 4096, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(rknn_mem_sync(0, memory, RKNN_MEMORY_SYNC_TO_DEVICE), RKNN_SUCC);
    EXPECT_EQ(rknn_destroy_mem(0, memory), RKNN_SUCC);
  }
  EXPECT_EQ(open_file_count(), before);
}

TEST_F(ClientPatterns, Row20StaleHandlesAndPointersAreErrors) {
  load("digits");
  rknn_context gone = 0;
  ASSERT_EQ(rknn_init(&gone, rknn_.data(), static_cast<uint32_t>(rknn_.size()), 0, nullptr),
            RKNN_SUCC);
  ASSERT_EQ(rknn_destroy(gone), RKNN_SUCC);
  EXPECT_EQ(rknn_destroy(gone), RKNN_ERR_CTX_INVALID);
  EXPECT_EQ(rknn_run(gone, nullptr), RKNN_ERR_CTX_INVALID);
  EXPECT_EQ(rknn_destroy(0), RKNN_ERR_CTX_INVALID);
  rknn_tensor_mem* const memory = rknn_create_mem(context(), 64);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(rknn_destroy_mem(context(), memory), RKNN_SUCC);
  EXPECT_LT(rknn_destroy_mem(context(), memory), 0);
  int never_made = 0;
  EXPECT_LT(rknn_destroy_mem(context(), reinterpret_cast<rknn_tensor_mem*>(&never_made)), 0);
}

TEST_F(ClientPatterns, Row23QueriesBeforeARunAreDefined) {
  load("digits");
  auto fresh = ApiModel::load(rknn_, RKNN_FLAG_COLLECT_PERF_MASK);
  ASSERT_TRUE(fresh.ok());
  const rknn_context context = (*fresh)->context();
  rknn_perf_run run{-1};
  rknn_perf_detail detail{};
  if (rknn_query(context, RKNN_QUERY_PERF_RUN, &run, sizeof run) == RKNN_SUCC) {
    EXPECT_EQ(run.run_duration, 0);
  }
  EXPECT_LT(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), 0);
  rknn_output output{};
  EXPECT_LT(rknn_outputs_get(context, 1, &output, nullptr), 0);
  ASSERT_TRUE((*fresh)->run_raw(picture()).ok());
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_PERF_RUN, &run, sizeof run), RKNN_SUCC);
  EXPECT_GT(run.run_duration, 0);
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), RKNN_SUCC);
  ASSERT_NE(detail.perf_data, nullptr);
  EXPECT_GT(detail.data_len, 100u);
  EXPECT_NE(std::string(detail.perf_data, detail.data_len).find("Conv"), std::string::npos);
}

TEST_F(ClientPatterns, Row25VersionIsFoundByQueryAndInTheBinary) {
  load("digits");
  rknn_sdk_version version{};
  ASSERT_EQ(rknn_query(context(), RKNN_QUERY_SDK_VERSION, &version, sizeof version), RKNN_SUCC);
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(version.api_version, "%d.%d.%d (", &major, &minor, &patch), 3)
      << version.api_version;
  EXPECT_NE(std::string(version.api_version).find('@'), std::string::npos) << version.api_version;
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&rknn_init), &info), 0);
  const auto binary = read_file(info.dli_fname);
  ASSERT_TRUE(binary.ok());
  const std::string wanted = std::string("librknnrt version: ") + version.api_version;
  EXPECT_NE(std::search(binary->begin(), binary->end(), wanted.begin(), wanted.end()),
            binary->end());
}

TEST_F(ClientPatterns, Row29PicturesGoInNhwcAndComeOutNchw) {
  load("signs");
  const rknn_tensor_attr& in = api_->inputs().at(0);
  EXPECT_EQ(in.fmt, RKNN_TENSOR_NHWC);
  EXPECT_EQ(std::vector(in.dims, in.dims + in.n_dims), (std::vector<uint32_t>{1, 320, 320, 3}));
  const rknn_tensor_attr& out = api_->outputs().at(0);
  EXPECT_EQ(out.fmt, RKNN_TENSOR_NCHW);
  EXPECT_EQ(std::vector(out.dims, out.dims + out.n_dims), (std::vector<uint32_t>{1, 39, 40, 40}));
  EXPECT_STREQ(out.name, "head8");
}

TEST_F(ClientPatterns, Row30LogFollowsASwappedStandardError) {
  const std::string path = testing::TempDir() + str("rk_row30_", ::getpid(), ".txt");
  const int saved = dup(STDERR_FILENO);
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
  ASSERT_TRUE(saved >= 0 && file >= 0);
  ASSERT_GE(dup2(file, STDERR_FILENO), 0);
  const int result = rknn_run(0, nullptr);
  ASSERT_GE(dup2(saved, STDERR_FILENO), 0);
  close(saved);
  close(file);
  EXPECT_EQ(result, RKNN_ERR_CTX_INVALID);
  std::ifstream log(path);
  const std::string text(std::istreambuf_iterator<char>(log), {});
  EXPECT_EQ(text.find("E RKNN: ["), 0u) << text;
  EXPECT_NE(text.find("rknn_run"), std::string::npos) << text;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rk::e2e
