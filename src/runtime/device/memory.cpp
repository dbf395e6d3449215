// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/checked_math.h"

namespace rk::runtime {
namespace {

constexpr uint64_t kPhysAlign = 4096;

// Addresses are never used twice, so that a stale one finds nothing.
uint64_t next_phys_addr(uint64_t size_bytes) {
  static std::atomic<uint64_t> next{uint64_t{1} << 32};
  return next.fetch_add(align_up(size_bytes, kPhysAlign), std::memory_order_relaxed);
}

}  // namespace

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::allocate(uint64_t size_bytes) {
  if (size_bytes == 0) return invalid_argument("memory of 0 bytes was asked for");
  if (size_bytes > kMaxObjectBytes) {
    return out_of_memory(str(size_bytes, " bytes were asked for; the limit is ", kMaxObjectBytes));
  }
  const std::shared_ptr<DeviceMemory> memory(new DeviceMemory);
  memory->size_bytes_ = size_bytes;
  memory->fd_ = memfd_create("rknn", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  memory->owns_fd_ = memory->fd_ >= 0;
  void* data = MAP_FAILED;
  if (memory->fd_ >= 0 && ftruncate(memory->fd_, static_cast<off_t>(size_bytes)) == 0) {
    // Whoever gets the descriptor cannot cut the file short, which would end us with SIGBUS. Older kernels have no seals.
    fcntl(memory->fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd_, 0);
  }
  if (data == MAP_FAILED) {
    return out_of_memory(str("cannot allocate ", size_bytes, " bytes: ", std::strerror(errno)));
  }
  memory->data_ = static_cast<uint8_t*>(data);
  memory->owns_mapping_ = true;
  memory->phys_addr_ = next_phys_addr(size_bytes);
  return memory;
}

std::shared_ptr<DeviceMemory> DeviceMemory::wrap(void* data, uint64_t size_bytes, int fd) {
  const std::shared_ptr<DeviceMemory> memory(new DeviceMemory);
  memory->data_ = static_cast<uint8_t*>(data);
  memory->size_bytes_ = size_bytes;
  memory->fd_ = fd;
  return memory;
}

std::shared_ptr<DeviceMemory> DeviceMemory::part_of(std::shared_ptr<const DeviceMemory> whole,
                                                    uint64_t offset_bytes, uint64_t size_bytes) {
  std::shared_ptr<DeviceMemory> memory = wrap(whole->data() + offset_bytes, size_bytes, -1);
  memory->whole_ = std::move(whole);
  return memory;
}

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::map(int fd, uint64_t size_bytes,
                                                        uint64_t offset_bytes) {
  const auto end = checked_add(size_bytes, offset_bytes);
  struct stat info {};
  if (!end || fstat(fd, &info) != 0) {
    return out_of_memory(str("failed to convert fd(", fd, ") to handle, errno: ", errno));
  }
  // A page beyond the end of a file cannot be touched; other kinds of descriptors report no size.
  if (S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) < *end) {
    return out_of_memory(str("fd ", fd, " has ", info.st_size, " bytes, ", *end, " are needed"));
  }
  void* const data = mmap(nullptr, *end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return out_of_memory(str("failed to convert fd(", fd, ") to handle, errno: ", errno));
  }
  const std::shared_ptr<DeviceMemory> memory(new DeviceMemory);
  memory->data_ = static_cast<uint8_t*>(data);
  memory->size_bytes_ = *end;
  memory->fd_ = fd;
  memory->owns_mapping_ = true;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (owns_mapping_) munmap(data_, size_bytes_);
  if (owns_fd_) close(fd_);
}

}  // namespace rk::runtime
