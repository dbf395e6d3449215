// SPDX-License-Identifier: Apache-2.0
// libmpimmz.so: the media memory zone on memfds, for programs that take the NPU's memory from it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <new>

#include "mmz/rk_mpi_mmz.h"

namespace {

constexpr uint64_t kFirstPhysical = 0x40000000;  // no other meaning than that blocks do not overlap
constexpr uint64_t kPage = 4096;

struct Block {
  int fd = -1;
  uint8_t* address = nullptr;
  uint64_t size = 0, physical = 0;
  bool cacheable = true;
};

// Handles are addresses of blocks; one that is not in the table is not touched.
struct Table {
  std::mutex mutex;
  std::map<void*, Block*> blocks;
  uint64_t next_physical = kFirstPhysical;
};

// Leaked on purpose: blocks may be freed by destructors that run later.
Table& table() {
  static auto* const table = new Table;
  return *table;
}

// What `use` says about the block of a handle, or `otherwise`.
template <typename T, typename Use>
T with(MB_BLK handle, T otherwise, const Use& use) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().blocks.find(handle);
  return found != table().blocks.end() ? use(*found->second) : otherwise;
}

template <typename Is>
MB_BLK find(const Is& is) {
  const std::lock_guard lock(table().mutex);
  for (const auto& [handle, block] : table().blocks) {
    if (is(*block)) return handle;
  }
  return nullptr;
}

RK_S32 flush(MB_BLK handle, uint64_t offset, uint64_t length, RK_U32 flags) {
  return with(handle, RK_FAILURE, [&](const Block& block) {
    const bool inside = offset <= block.size && length <= block.size - offset;
    return inside && flags <= RK_MMZ_SYNC_RW ? RK_SUCCESS : RK_FAILURE;
  });
}

uint64_t offset_of(MB_BLK handle, uintptr_t address) {
  return with(handle, uint64_t{0}, [&](const Block& block) {
    return address - reinterpret_cast<uintptr_t>(block.address);
  });
}

}  // namespace

RK_S32 RK_MPI_MMZ_Alloc(MB_BLK* out, RK_U32 length, RK_U32 flags) {
  if (out == nullptr || length == 0 ||
      (flags & ~(RK_MMZ_ALLOC_TYPE_CMA | RK_MMZ_ALLOC_UNCACHEABLE)) != 0)
    return RK_FAILURE;
  const int fd = memfd_create("mmz", MFD_CLOEXEC);
  if (fd < 0) return RK_FAILURE;
  void* address = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(length)) == 0)
    address = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  auto* const block = address != MAP_FAILED ? new (std::nothrow) Block : nullptr;
  if (block == nullptr) {
    if (address != MAP_FAILED) munmap(address, length);
    close(fd);
    return RK_FAILURE;
  }
  const std::lock_guard lock(table().mutex);
  *block = {fd, static_cast<uint8_t*>(address), length, 0, (flags & RK_MMZ_ALLOC_UNCACHEABLE) == 0};
  if ((flags & RK_MMZ_ALLOC_TYPE_CMA) != 0) {
    block->physical = table().next_physical;
    table().next_physical += (uint64_t{length} + kPage - 1) / kPage * kPage + kPage;
  }
  table().blocks.emplace(block, block);
  *out = block;
  return RK_SUCCESS;
}

RK_S32 RK_MPI_MMZ_Free(MB_BLK handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().blocks.find(handle);
  if (found == table().blocks.end()) return RK_FAILURE;
  munmap(found->second->address, found->second->size);
  close(found->second->fd);
  delete found->second;
  table().blocks.erase(found);
  return RK_SUCCESS;
}

RK_U64 RK_MPI_MMZ_Handle2PhysAddr(MB_BLK handle) {
  return with(handle, RK_U64{0}, [](const Block& block) { return RK_U64{block.physical}; });
}
RK_VOID* RK_MPI_MMZ_Handle2VirAddr(MB_BLK handle) {
  return with(handle, static_cast<void*>(nullptr),
              [](const Block& block) { return static_cast<void*>(block.address); });
}
RK_S32 RK_MPI_MMZ_Handle2Fd(MB_BLK handle) {
  return with(handle, RK_S32{-1}, [](const Block& block) { return RK_S32{block.fd}; });
}
RK_U64 RK_MPI_MMZ_GetSize(MB_BLK handle) {
  return with(handle, RK_U64{0}, [](const Block& block) { return RK_U64{block.size}; });
}
RK_S32 RK_MPI_MMZ_IsCacheable(MB_BLK handle) {
  return with(handle, RK_S32{-1}, [](const Block& block) { return block.cacheable ? 1 : 0; });
}

MB_BLK RK_MPI_MMZ_Fd2Handle(RK_S32 fd) {
  return find([&](const Block& block) { return block.fd == fd; });
}
MB_BLK RK_MPI_MMZ_VirAddr2Handle(RK_VOID* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return find([&](const Block& block) {
    const auto begin = reinterpret_cast<uintptr_t>(block.address);
    return at >= begin && at - begin < block.size;
  });
}
MB_BLK RK_MPI_MMZ_PhyAddr2Handle(RK_U64 address) {
  return find([&](const Block& block) {
    return block.physical != 0 && address >= block.physical &&
           address - block.physical < block.size;
  });
}

RK_S32 RK_MPI_MMZ_FlushCacheStart(MB_BLK block, RK_U32 offset, RK_U32 length, RK_U32 flags) {
  return flush(block, offset, length, flags);
}
RK_S32 RK_MPI_MMZ_FlushCacheEnd(MB_BLK block, RK_U32 offset, RK_U32 length, RK_U32 flags) {
  return flush(block, offset, length, flags);
}
RK_S32 RK_MPI_MMZ_FlushCacheVaddrStart(RK_VOID* address, RK_U32 length, RK_U32 flags) {
  MB_BLK const block = RK_MPI_MMZ_VirAddr2Handle(address);
  return flush(block, offset_of(block, reinterpret_cast<uintptr_t>(address)), length, flags);
}
RK_S32 RK_MPI_MMZ_FlushCacheVaddrEnd(RK_VOID* address, RK_U32 length, RK_U32 flags) {
  return RK_MPI_MMZ_FlushCacheVaddrStart(address, length, flags);
}
RK_S32 RK_MPI_MMZ_FlushCachePaddrStart(RK_U64 address, RK_U32 length, RK_U32 flags) {
  MB_BLK const block = RK_MPI_MMZ_PhyAddr2Handle(address);
  const uint64_t offset = with(
      block, uint64_t{0}, [&](const Block& found) { return uint64_t{address} - found.physical; });
  return flush(block, offset, length, flags);
}
RK_S32 RK_MPI_MMZ_FlushCachePaddrEnd(RK_U64 address, RK_U32 length, RK_U32 flags) {
  return RK_MPI_MMZ_FlushCachePaddrStart(address, length, flags);
}
