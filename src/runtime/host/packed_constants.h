// SPDX-License-Identifier: Apache-2.0
// Constants in the form their kernels want, each once per model: the variants of a dynamic-shape model, and steps that
// use one weight in the same way, share them.
//
// Note: what is packed depends on scales and activations too, so the parameters are part of the key.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/model_budget.h"
#include "base/thread_pool.h"
#include "ir/attr.h"
#include "ir/tensor.h"
#include "program/program.h"

namespace rk::runtime::host {

// Not thread-safe: a model makes its plans one at a time.
class PackedConstants {
 public:
  struct ConvKey {
    DType dtype = DType::kUndefined;
    int32_t weight = program::kNone;  // indices into Program::weights
    int32_t bias = program::kNone;
    int32_t scales = program::kNone;  // of narrow weights
    int64_t in_channels = 0, out_channels = 0;
    bool has_addend = false;
    program::ConvParams params;  // without pads, which belong to the picture
    bool operator==(const ConvKey&) const = default;
  };
  // T is the packed form that belongs to key.dtype; `make` returns a Result<T>.
  template <typename T, typename Make>
  Result<std::shared_ptr<const T>> conv(const ConvKey& key, const Make& make) {
    std::vector<ConvEntry>& entries = convs_[key.weight];
    for (const ConvEntry& entry : entries) {
      if (entry.key == key) return std::static_pointer_cast<const T>(entry.packed);
    }
    RK_ASSIGN(T packed, make());
    RK_TRY(take_budget(packed.weights.size()));
    auto shared = std::make_shared<const T>(std::move(packed));
    entries.push_back({key, shared});
    return shared;
  }

  // Sets what may be held (base/model_budget.h), once: later plans may find weights gone.
  void open_budget(const program::Program& program) {
    if (left_bytes_) return;
    uint64_t weights = 0;
    for (const program::Blob& blob : program.weights) weights += blob.bytes.size();
    left_bytes_ = budget::packed_bytes(weights);
  }

  // A packed form of a weight for convolutions of `input` elements: a PackedConvI8 or PackedConvF16; null: none was made.
  const void* packed_conv(int32_t weight, DType input) const {
    const auto found = convs_.find(weight);
    if (found == convs_.end()) return nullptr;
    for (const ConvEntry& entry : found->second) {
      if (entry.key.dtype == input) return entry.packed.get();
    }
    return nullptr;
  }

  // What packed weights may still take beyond the file's own bytes, for forms that buy speed with memory.
  int64_t& spare_bytes(const program::Program& program) {
    if (spare_bytes_ < 0) {
      int64_t weights = 0;
      for (const program::Blob& blob : program.weights) weights += std::ssize(blob.bytes);
      spare_bytes_ = weights / 8 * 7;
    }
    return spare_bytes_;
  }

  // Threads that packing may use while a plan is made; null: none.
  ThreadPool* pool = nullptr;

  // A constant operand of an operator, as it is seen there.
  struct TensorKey {
    int32_t weight = program::kNone;
    DType stored = DType::kUndefined;
    TensorType seen;
    float scale = 0;
    int32_t zero_point = 0;
    bool operator==(const TensorKey&) const = default;
  };
  template <typename Make>
  Result<Tensor> tensor(const TensorKey& key, const Make& make) {
    std::vector<TensorEntry>& entries = tensors_[key.weight];
    for (const TensorEntry& entry : entries) {
      if (entry.key == key) return entry.value;
    }
    RK_ASSIGN(Tensor value, make());
    RK_TRY(take_budget(value.size_bytes()));
    entries.push_back({key, value});
    return value;
  }

  // What a function of one half makes of all 65536. Steps of the same function, its attributes included, read one table,
  // which so stays in the cache from one to the next.
  using HalfTable = std::vector<uint16_t>;
  template <typename Make>
  Result<std::shared_ptr<const HalfTable>> half_table(const program::OpParams& function,
                                                      const Make& make) {
    for (const HalfEntry& entry : half_tables_) {
      if (entry.function.op == function.op && attrs_equal(entry.function.attrs, function.attrs))
        return entry.table;
    }
    RK_ASSIGN(HalfTable made, make());
    RK_TRY(take_budget(made.size() * sizeof made[0]));
    half_tables_.push_back({function, std::make_shared<const HalfTable>(std::move(made))});
    return half_tables_.back().table;
  }

  // The operand that holds exactly these bytes of a weight; empty: there is none.
  Tensor tensor_of_bytes(int32_t weight, ByteSpan bytes) const {
    const auto found = tensors_.find(weight);
    if (found == tensors_.end()) return {};
    for (const TensorEntry& entry : found->second) {
      if (entry.key.stored == entry.key.seen.dtype && entry.value.bytes().size() == bytes.size())
        return entry.value;
    }
    return {};
  }

 private:
  struct ConvEntry {
    ConvKey key;
    std::shared_ptr<const void> packed;
  };
  struct TensorEntry {
    TensorKey key;
    Tensor value;
  };
  struct HalfEntry {
    program::OpParams function;
    std::shared_ptr<const HalfTable> table;
  };
  Status take_budget(uint64_t bytes) {
    if (left_bytes_ && bytes > *left_bytes_) {
      return out_of_memory(
          "its weights, in the forms that kernels want, take more memory than a file of this size "
          "may ask for");
    }
    if (left_bytes_) *left_bytes_ -= bytes;
    return ok_status();
  }

  std::optional<uint64_t> left_bytes_;
  int64_t spare_bytes_ = -1;  // before the first question
  std::map<int32_t, std::vector<ConvEntry>> convs_;
  std::map<int32_t, std::vector<TensorEntry>> tensors_;
  std::vector<HalfEntry> half_tables_;
};

}  // namespace rk::runtime::host
