// SPDX-License-Identifier: Apache-2.0
// A piece of memory that the caller and a session share. Backed by a memfd when we allocate it, so that its file
// descriptor can be mapped or passed on like a board's dma-buf.
//
// Note: bindings keep a DeviceMemory alive, but a caller who has destroyed it may have unmapped what
// lies behind it. Look at released() before touching external memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"

namespace rk::runtime {

class DeviceMemory {
 public:
  // Zeroed. kInvalidArgument for 0 bytes, kOutOfMemory when the system has none.
  static Result<std::shared_ptr<DeviceMemory>> allocate(uint64_t size_bytes);
  // The caller's memory; stays the caller's.
  static std::shared_ptr<DeviceMemory> wrap(void* data, uint64_t size_bytes, int fd);
  // `size_bytes` of another memory, which must hold them; lives as long as both are needed, and goes with either.
  static std::shared_ptr<DeviceMemory> part_of(std::shared_ptr<const DeviceMemory> whole,
                                               uint64_t offset_bytes, uint64_t size_bytes);
  // A file descriptor that the caller has not mapped: mapped here, from its start to offset + size.
  static Result<std::shared_ptr<DeviceMemory>> map(int fd, uint64_t size_bytes,
                                                   uint64_t offset_bytes);

  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  uint8_t* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }
  int fd() const { return fd_; }
  uint64_t phys_addr() const {
    return phys_addr_;
  }  // of memory we allocate: simulated and unique; else 0
  bool keeps_data() const { return owns_mapping_; }  // data() is good as long as this object lives
  bool released() const {
    return released_.load(std::memory_order_acquire) || (whole_ != nullptr && whole_->released());
  }
  // Nothing depends on it but the validation layer: one CPU has no caches to flush.
  bool cacheable() const { return cacheable_; }
  void set_cacheable(bool cacheable) { cacheable_ = cacheable; }
  void release() { released_.store(true, std::memory_order_release); }

  // How often rknn_mem_sync was called on it, by direction. Nothing depends on it but the validation layer.
  void count_sync(bool to_device, bool from_device) {
    if (to_device) syncs_to_device_.fetch_add(1, std::memory_order_relaxed);
    if (from_device) syncs_from_device_.fetch_add(1, std::memory_order_relaxed);
  }
  uint64_t syncs_to_device() const { return syncs_to_device_.load(std::memory_order_relaxed); }
  uint64_t syncs_from_device() const { return syncs_from_device_.load(std::memory_order_relaxed); }

 private:
  DeviceMemory() = default;
  uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  int fd_ = -1;
  uint64_t phys_addr_ = 0;
  bool owns_mapping_ = false;
  bool owns_fd_ = false;
  bool cacheable_ = true;
  std::shared_ptr<const DeviceMemory> whole_;
  std::atomic<bool> released_{false};
  std::atomic<uint64_t> syncs_to_device_{0};
  std::atomic<uint64_t> syncs_from_device_{0};
};

}  // namespace rk::runtime
