// SPDX-License-Identifier: Apache-2.0
// Random sequences of API calls: valid handles among stale and invented ones, sizes from 0 to 2^32 - 1, structures
// with random fields. Whatever happens must be an answer. Pointers are real ones of at least the size a call may
// touch, because no library can check those.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "base/log.h"
#include "rknn_api.h"
#include "rknn_custom_op.h"
#include "rknn_matmul_api.h"
#include "tests/e2e/figure.h"
#include "tests/runtime/models.h"

namespace rk::under_load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kScratchBytes = 1 << 20;  // more than any tensor of the models needs

class Caller {
 public:
  explicit Caller(uint32_t seed) : random_(seed), scratch_(kScratchBytes), query_(kScratchBytes) {
    program::Program batch = runtime::picture_program();
    batch.batch = 3;
    images_ = {image_of(runtime::picture_program()), image_of(runtime::dynamic_picture_program()),
               image_of(batch), image_of(runtime::picture_program({}, "rv1106")),
               image_of(conv_program(16, 12, 3, 32))};
  }
  ~Caller() {
    for (const rknn_context context : contexts_) rknn_destroy(context);
    for (rknn_tensor_mem* memory : memories_) rknn_destroy_mem(0, memory);
  }

  void call() {
    static constexpr void (Caller::*kCalls[])() = {
        &Caller::init,    &Caller::init,   &Caller::dup,    &Caller::destroy,     &Caller::query,
        &Caller::query,   &Caller::query,  &Caller::set,    &Caller::set,         &Caller::run,
        &Caller::run,     &Caller::wait,   &Caller::get,    &Caller::get,         &Caller::release,
        &Caller::create,  &Caller::create, &Caller::wrap,   &Caller::free_memory, &Caller::bind,
        &Caller::bind,    &Caller::sync,   &Caller::shapes, &Caller::shapes,      &Caller::cores,
        &Caller::weights, &Caller::others};
    (this->*kCalls[pick(std::size(kCalls))])();
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  bool chance(int in) { return pick(static_cast<size_t>(in)) == 0; }
  uint32_t number() {
    const uint32_t odd[] = {0, 1, 2, 3, 4, 16, 24, 255, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
    return chance(3) ? odd[pick(std::size(odd))] : static_cast<uint32_t>(random_());
  }
  uint32_t size() { return chance(2) ? static_cast<uint32_t>(pick(8192)) : number(); }

  rknn_context context() {
    if (chance(12)) return number();
    if (contexts_.empty()) return 0;
    return contexts_[pick(contexts_.size())];
  }
  rknn_tensor_mem* memory() {
    if (chance(12) || memories_.empty()) {
      return chance(2) ? nullptr : reinterpret_cast<rknn_tensor_mem*>(scratch_.data());
    }
    return memories_[pick(memories_.size())];
  }

  // Real attributes with some fields spoilt.
  rknn_tensor_attr attr(rknn_context context) {
    rknn_tensor_attr out{};
    const rknn_query_cmd queries[] = {
        RKNN_QUERY_INPUT_ATTR,         RKNN_QUERY_OUTPUT_ATTR,
        RKNN_QUERY_NATIVE_INPUT_ATTR,  RKNN_QUERY_NATIVE_OUTPUT_ATTR,
        RKNN_QUERY_CURRENT_INPUT_ATTR, RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR};
    rknn_query(context, queries[pick(std::size(queries))], &out, sizeof out);
    if (chance(2)) out.type = static_cast<rknn_tensor_type>(pick(14));
    if (chance(3)) out.fmt = static_cast<rknn_tensor_format>(pick(6));
    if (chance(4)) out.size = number();
    if (chance(6)) out.h_stride = number();
    if (chance(6)) out.w_stride = number();
    if (chance(4)) out.pass_through = static_cast<uint8_t>(number());
    if (chance(8)) out.n_dims = number();
    if (chance(8)) out.dims[pick(RKNN_MAX_DIMS)] = number();
    if (chance(12)) out.index = number();
    if (chance(12)) std::memset(out.name, static_cast<int>(number()), sizeof out.name);
    return out;
  }

  void init() {
    if (contexts_.size() > 24) return destroy();
    std::vector<uint8_t> image = images_[pick(images_.size())];
    if (chance(6)) image[pick(image.size())] ^= static_cast<uint8_t>(1 + pick(255));
    if (chance(8)) image.resize(1 + pick(image.size()));
    uint32_t flags = 0;
    if (chance(2)) flags = 1u << pick(18);
    if (chance(6)) flags |= number();
    flags &=
        ~uint32_t{RKNN_FLAG_FENCE_IN_OUTSIDE};  // would wait for descriptors of the test itself
    rknn_init_extend extend;
    std::memset(&extend, static_cast<int>(number()), sizeof extend);
    extend.ctx = context();
    rknn_context made = 0;
    const int ret = rknn_init(&made, image.data(), static_cast<uint32_t>(image.size()), flags,
                              chance(3) ? nullptr : &extend);
    if (ret == RKNN_SUCC) contexts_.push_back(made);
  }
  void dup() {
    rknn_context from = context(), made = 0;
    if (contexts_.size() < 24 && rknn_dup_context(&from, &made) == RKNN_SUCC)
      contexts_.push_back(made);
  }
  void destroy() {
    if (contexts_.empty()) return;
    const size_t at = pick(contexts_.size());
    rknn_destroy(contexts_[at]);
    // Stale handles stay in the list for a while.
    if (chance(2)) contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
    if (chance(16)) rknn_destroy(number());
  }
  void query() {
    const auto cmd = static_cast<rknn_query_cmd>(chance(8) ? number() : pick(19));
    uint32_t bytes = chance(2) ? uint32_t{sizeof(rknn_tensor_attr)} : size();
    bytes = std::min<uint32_t>(bytes, kScratchBytes);
    const uint32_t index = chance(3) ? number() : 0;
    std::memcpy(query_.data(), &index, sizeof index);
    rknn_query(context(), cmd, chance(30) ? nullptr : query_.data(), bytes);
  }
  void set() {
    rknn_input inputs[3] = {};
    for (rknn_input& input : inputs) {
      input.index = chance(4) ? number() : 0;
      input.buf = chance(20) ? nullptr : scratch_.data();
      input.size = chance(2) ? static_cast<uint32_t>(scratch_.size()) : size();
      input.pass_through = chance(4) ? 1 : 0;
      input.type = static_cast<rknn_tensor_type>(pick(13));
      input.fmt = static_cast<rknn_tensor_format>(pick(6));
    }
    rknn_inputs_set(context(), static_cast<uint32_t>(chance(8) ? pick(4) : 1), inputs);
  }
  void run() {
    rknn_run_extend extend{};
    extend.non_block = static_cast<int32_t>(chance(2));
    extend.timeout_ms = chance(4) ? static_cast<int32_t>(number()) : 0;
    extend.fence_fd = -1;
    const bool ran = rknn_run(context(), chance(2) ? nullptr : &extend) == RKNN_SUCC;
    if (ran && extend.fence_fd > 2) close(extend.fence_fd);
  }
  void wait() {
    rknn_run_extend extend{};
    extend.timeout_ms = static_cast<int32_t>(pick(50));
    rknn_wait(context(), chance(2) ? nullptr : &extend);
  }
  void get() {
    rknn_output outputs[3] = {};
    for (rknn_output& output : outputs) {
      output.want_float = static_cast<uint8_t>(pick(3));
      output.is_prealloc = static_cast<uint8_t>(pick(2));
      output.index = chance(4) ? number() : 0;
      output.buf = chance(8) ? nullptr : scratch_.data();
      output.size = chance(2) ? static_cast<uint32_t>(scratch_.size()) : size();
    }
    rknn_output_extend extend{};
    const auto count = static_cast<uint32_t>(chance(8) ? pick(4) : 1);
    const rknn_context from = context();
    if (rknn_outputs_get(from, count, outputs, chance(2) ? nullptr : &extend) == RKNN_SUCC &&
        chance(2))
      rknn_outputs_release(chance(10) ? context() : from, count, outputs);
  }
  void release() {
    rknn_output output{};
    output.buf = scratch_.data();
    rknn_outputs_release(context(), 1, chance(4) ? nullptr : &output);
  }
  void keep(rknn_tensor_mem* made) {
    if (made != nullptr) memories_.push_back(made);
  }
  void create() {
    if (memories_.size() > 32) return free_memory();
    const uint64_t flags = chance(2) ? uint64_t{RKNN_MEM_FLAG_ALLOC_NO_CONTEXT} : number();
    const uint64_t wanted = chance(10) ? uint64_t{number()} << pick(33) : pick(65536);
    keep(chance(2) ? rknn_create_mem(context(), static_cast<uint32_t>(wanted))
                   : rknn_create_mem2(context(), wanted, flags));
  }
  void wrap() {
    if (memories_.size() > 32) return free_memory();
    const auto bytes = static_cast<uint32_t>(pick(kScratchBytes / 2));
    const auto offset = static_cast<int32_t>(chance(8) ? number() : pick(kScratchBytes / 2));
    const rknn_tensor_mem* const other = memories_.empty() ? nullptr : memories_.back();
    if (chance(2)) {
      const int fd = other != nullptr && chance(2) ? other->fd : static_cast<int>(number());
      // An offset beyond the buffer would be ours to answer for.
      const bool real = offset >= 0 && static_cast<size_t>(offset) + bytes <= kScratchBytes;
      keep(rknn_create_mem_from_fd(context(), fd, real && chance(2) ? scratch_.data() : nullptr,
                                   bytes, offset));
    } else {
      const uint64_t phys = other != nullptr && chance(2) ? other->phys_addr + pick(64) : number();
      keep(
          rknn_create_mem_from_phys(context(), phys, chance(2) ? scratch_.data() : nullptr, bytes));
    }
  }
  void free_memory() {
    rknn_tensor_mem* const gone = memory();
    rknn_destroy_mem(context(), gone);
    std::erase(memories_, gone);
    if (chance(4)) rknn_destroy_mem(context(), gone);
  }
  void bind() {
    const rknn_context to = context();
    rknn_tensor_attr described = attr(to);
    rknn_set_io_mem(to, memory(), chance(30) ? nullptr : &described);
  }
  void sync() { rknn_mem_sync(context(), memory(), static_cast<rknn_mem_sync_mode>(pick(5))); }
  void shapes() {
    rknn_tensor_attr wanted{};
    constexpr uint32_t kShapes[][2] = {{3, 3}, {2, 4}, {1, 2}, {9, 9}};
    const auto& shape = kShapes[pick(std::size(kShapes))];
    wanted.n_dims = chance(8) ? number() : 4;
    wanted.fmt = static_cast<rknn_tensor_format>(pick(4));
    wanted.dims[0] = 1;
    wanted.dims[1] = shape[0];
    wanted.dims[2] = shape[1];
    wanted.dims[3] = chance(10) ? number() : 3;
    if (chance(10)) wanted.index = number();
    if (chance(4)) {
      rknn_set_input_shape(context(), &wanted);
    } else {
      rknn_set_input_shapes(context(), static_cast<uint32_t>(chance(10) ? 0 : 1), &wanted);
    }
  }
  void cores() {
    rknn_set_core_mask(context(), static_cast<rknn_core_mask>(chance(2) ? pick(9) : number()));
    rknn_set_batch_core_num(context(), static_cast<int>(number()));
  }
  void weights() {
    rknn_set_weight_mem(context(), memory());
    rknn_set_internal_mem(context(), memory());
  }
  void others() {
    rknn_matmul_info info;
    std::memset(&info, static_cast<int>(number()), sizeof info);
    rknn_matmul_io_attr io{};
    rknn_matmul_ctx matmul = 0;
    if (rknn_matmul_create(&matmul, &info, &io) == RKNN_SUCC) rknn_matmul_destroy(matmul);
    rknn_matmul_run(context());
    rknn_register_custom_ops(context(), nullptr, number());
    rknn_create_mem_from_mb_blk(context(), nullptr, 0);
  }

  std::mt19937 random_;
  std::vector<std::vector<uint8_t>> images_;
  std::vector<uint8_t> scratch_, query_;
  std::vector<rknn_context> contexts_;
  std::vector<rknn_tensor_mem*> memories_;
};

TEST(ApiFuzz, EverySequenceOfCallsIsAnswered) {
  set_log_sink([](LogLevel, std::string_view) {});
  const auto limit = std::chrono::seconds(is_long() ? 300 : kSanitized ? 8 : 4);
  const Clock::time_point start = Clock::now();
  uint64_t calls = 0;
  uint32_t seed = 1;
  for (; Clock::now() - start < limit; ++seed) {
    if (seed % 3 == 0) setenv("RKNN_VALIDATE", "1", 1);
    if (seed % 5 == 0) setenv("RKNN_STRICT", "1", 1);
    Caller caller(seed);
    for (int i = 0; i < 500; ++i, ++calls) caller.call();
    unsetenv("RKNN_VALIDATE");
    unsetenv("RKNN_STRICT");
  }
  set_log_sink({});
  e2e::figure_at_least("random API calls answered", static_cast<double>(calls), 1000);
}

}  // namespace
}  // namespace rk::under_load
