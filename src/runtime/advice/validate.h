// SPDX-License-Identifier: Apache-2.0
// RKNN_VALIDATE=1: watches one context and explains what a board would punish without a word. Every finding is one
// warning, told once: what was seen, what a board makes of it, how to mend it. Results never change.
//
// Note: these are suspicions. Data that only looks wrong must still run.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/memory.h"
#include "runtime/session/session.h"
#include "runtime/session/tensor_attr.h"

namespace rk::runtime {

// What rknn_inputs_set was given for one input.
struct GivenInput {
  TensorAttr attr;  // plain
  CallerFormat format;
  const void* data = nullptr;
  uint64_t size_bytes = 0;
  uint64_t needed_bytes = 0;
};

// What rknn_set_io_mem was given.
struct GivenBinding {
  bool input = false;
  TensorAttr attr;  // as queried in the form the caller names
  CallerFormat format;
  uint32_t w_stride = 0;
  uint32_t size_bytes = 0;  // attr.size
  std::shared_ptr<const DeviceMemory> memory;
  uint64_t memory_bytes = 0;  // from the tensor's offset on
};

class Validator {
 public:
  // Of the flags only those about cache flushes matter.
  struct Flushes {
    bool inputs = true;
    bool outputs = true;
  };
  Validator(bool enabled, Flushes flushes) : enabled_(enabled), flushes_(flushes) {}

  bool enabled() const { return enabled_; }

  void inputs_set(const GivenInput& given);
  void bound(const GivenBinding& given);
  void run_started();
  void outputs_asked(bool has_run);
  void weight_or_internal_memory_set();
  void synced(const DeviceMemory& memory, int mode);  // mode as rknn_mem_sync_mode
  void contended();
  void destroyed(size_t lent_outputs, size_t memories);

 private:
  struct Bound {
    std::string name;
    std::weak_ptr<const DeviceMemory> memory;
    uint64_t seen_syncs = 0;
    DType dtype = DType::kUndefined;  // what the caller says the bytes are
    uint32_t channels = 1;
    uint64_t size_bytes = 0;
  };
  void judge_bytes(const std::string& name, DType dtype, std::span<const uint8_t> bytes,
                   uint32_t channels);
  void tell(const std::string& key, std::string_view text);

  bool enabled_ = false;
  Flushes flushes_;
  bool copying_ = false;
  bool zero_copy_ = false;
  uint64_t runs_ = 0;
  std::vector<Bound> inputs_, outputs_;
  std::set<std::string> told_;
};

// Whether neighboring samples pass smoothly through 127/128 (bytes 0..255) or through -1/0 (bytes -128..127).
enum class ByteRange { kUnclear, kUnsigned, kSigned };
ByteRange guess_byte_range(std::span<const uint8_t> bytes, uint32_t channels);
// More than 30 % of the bytes within 2 of 0x80: int8 data around 0 that was shifted, or int8 passed as uint8.
bool looks_shifted_by_128(std::span<const uint8_t> bytes);
// Neighbors differ less than pixels do, at every position: planes, not interleaved channels.
bool looks_planar(std::span<const uint8_t> pixels, uint32_t channels);

}  // namespace rk::runtime
