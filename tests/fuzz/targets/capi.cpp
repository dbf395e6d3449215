// SPDX-License-Identifier: Apache-2.0
// Sequences of C calls as a grammar: each byte picks a call, the next ones its arguments, among them handles and memories
// of earlier calls, stale ones too. Pointers are real ones of at least the size a call may touch, because no library can
// check those.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "format/writer.h"
#include "rknn_api.h"
#include "runtime/test_program.h"
#include "tests/fuzz/target.h"

namespace rk::fuzz {
namespace {

constexpr size_t kScratchBytes = 1 << 16;  // more than any tensor of the models needs
constexpr size_t kMaxHandles = 8;

std::vector<uint8_t> image_of(const program::Program& program) {
  return format::write_rknn(program).value();
}

class Sequence {
 public:
  explicit Sequence(Bytes bytes) : bytes_(bytes), scratch_(kScratchBytes) {}
  ~Sequence() {
    for (rknn_tensor_mem* memory : memories_) rknn_destroy_mem(0, memory);
    for (const rknn_context context : contexts_) rknn_destroy(context);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  void run() {
    while (!bytes_.empty()) call();
  }

 private:
  uint32_t next() {
    if (bytes_.empty()) return 0;
    const uint8_t out = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return out;
  }
  uint32_t number() {
    static constexpr uint32_t kOdd[] = {0, 1, 16, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
    const uint32_t byte = next();
    return byte < std::size(kOdd) ? kOdd[byte] : byte;
  }
  rknn_context context() {
    const uint32_t i = next();
    return contexts_.empty() || i > 200 ? i : contexts_[i % contexts_.size()];
  }
  rknn_tensor_mem* memory() {
    const uint32_t i = next();
    if (memories_.empty() || i > 200)
      return i % 2 == 0 ? nullptr : reinterpret_cast<rknn_tensor_mem*>(scratch_.data());
    return memories_[i % memories_.size()];
  }
  void keep(rknn_tensor_mem* memory) {
    if (memory != nullptr) memories_.push_back(memory);
    if (memories_.size() <= kMaxHandles) return;
    rknn_destroy_mem(0, memories_.front());
    memories_.erase(memories_.begin());
  }

  void init() {
    static const std::array kImages = {
        image_of(runtime::picture_program()), image_of(runtime::dynamic_picture_program()),
        image_of(runtime::picture_program({}, "rv1106")), image_of(runtime::heavy_program(2))};
    std::vector<uint8_t> image = kImages[next() % kImages.size()];
    rknn_context made = 0;
    const uint32_t flags = number() << (next() % 24);
    if (rknn_init(&made, image.data(), static_cast<uint32_t>(image.size()), flags, nullptr) == 0)
      contexts_.push_back(made);
    if (contexts_.size() <= kMaxHandles) return;
    rknn_destroy(contexts_.front());
    contexts_.erase(contexts_.begin());
  }

  rknn_tensor_attr attr(rknn_context context) {
    rknn_tensor_attr out{};
    out.index = next() % 3;
    rknn_query(context, static_cast<rknn_query_cmd>(next() % 24), &out, sizeof out);
    if (next() % 2 == 0) out.type = static_cast<rknn_tensor_type>(next() % 14);
    if (next() % 2 == 0) out.fmt = static_cast<rknn_tensor_format>(next() % 5);
    if (next() % 4 == 0) out.pass_through = static_cast<uint8_t>(next() % 2);
    if (next() % 4 == 0) out.n_dims = number();
    if (next() % 4 == 0) out.dims[next() % RKNN_MAX_DIMS] = number();
    if (next() % 4 == 0) out.h_stride = number();
    return out;
  }

  void call() {
    switch (next() % 17) {
      case 0:
        return init();
      case 1: {
        rknn_context from = context(), made = 0;
        if (rknn_dup_context(&from, &made) == 0 && contexts_.size() < kMaxHandles)
          contexts_.push_back(made);
        return;
      }
      case 2: {
        const rknn_context gone = context();
        rknn_destroy(gone);
        if (next() % 2 == 0) std::erase(contexts_, gone);
        return;
      }
      case 3: {
        const rknn_context of = context();
        const auto command = static_cast<rknn_query_cmd>(number());
        rknn_query(of, command, scratch_.data(), std::min<uint32_t>(number() * 16, kScratchBytes));
        return;
      }
      case 4: {
        rknn_input input{};
        input.index = number();
        input.buf = scratch_.data();
        input.size = std::min<uint32_t>(number() * 8, kScratchBytes);
        input.type = static_cast<rknn_tensor_type>(next() % 14);
        input.fmt = static_cast<rknn_tensor_format>(next() % 5);
        input.pass_through = static_cast<uint8_t>(next() % 2);
        rknn_inputs_set(context(), next() % 4 == 0 ? 0 : 1, &input);
        return;
      }
      case 5: {
        rknn_run_extend extend{};
        extend.non_block = static_cast<int32_t>(next() % 2);
        extend.timeout_ms = static_cast<int32_t>(next() % 3);
        const rknn_context of = context();
        rknn_run(of, next() % 2 == 0 ? nullptr : &extend);
        rknn_wait(of, nullptr);
        return;
      }
      case 6: {
        rknn_output output{};
        output.index = next() % 4;
        output.want_float = static_cast<uint8_t>(next() % 2);
        output.is_prealloc = static_cast<uint8_t>(next() % 2);
        output.buf = output.is_prealloc != 0 ? scratch_.data() : nullptr;
        output.size = std::min<uint32_t>(number() * 8, kScratchBytes);
        const rknn_context of = context();
        if (rknn_outputs_get(of, 1, &output, nullptr) == 0) rknn_outputs_release(of, 1, &output);
        return;
      }
      case 7:
        return keep(rknn_create_mem(context(), std::min<uint32_t>(number() * 16, 1 << 20)));
      case 8: {
        rknn_tensor_mem* const gone = memory();
        rknn_destroy_mem(context(), gone);
        std::erase(memories_, gone);
        return;
      }
      case 9: {
        const rknn_context of = context();
        rknn_tensor_attr described = attr(of);
        rknn_set_io_mem(of, memory(), &described);
        return;
      }
      case 10: {
        const rknn_context of = context();
        std::array<rknn_tensor_attr, 2> described = {attr(of), attr(of)};
        rknn_set_input_shapes(of, next() % 3, described.data());
        return;
      }
      case 11:
        rknn_set_core_mask(context(), static_cast<rknn_core_mask>(number()));
        return;
      case 12:
        rknn_set_weight_mem(context(), memory());
        return;
      case 13:
        rknn_set_internal_mem(context(), memory());
        return;
      case 14:
        rknn_mem_sync(context(), memory(), static_cast<rknn_mem_sync_mode>(next() % 5));
        return;
      case 15:
        rknn_wait(context(), nullptr);
        return;
      default:
        return keep(rknn_create_mem_from_phys(context(), next() % 2, scratch_.data(),
                                              std::min<uint32_t>(number() * 16, kScratchBytes)));
    }
  }

  Bytes bytes_;
  std::vector<uint8_t> scratch_;
  std::vector<rknn_context> contexts_;
  std::vector<rknn_tensor_mem*> memories_;
};

}  // namespace

void fuzz_capi(Bytes bytes) {
  if (bytes.size() <= 4096) Sequence(bytes).run();
}

}  // namespace rk::fuzz
