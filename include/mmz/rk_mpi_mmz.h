/* SPDX-License-Identifier: Apache-2.0
 * The media memory zone's calls as programs for boards make them, on memfds. Values and names are those that such programs are
 * compiled with. A block has a descriptor (for rknn_create_mem_from_fd and importbuffer_fd), an address, and where it was asked
 * to be contiguous (RK_MMZ_ALLOC_TYPE_CMA) a number in place of a physical address; without that 0.
 *
 * Calls return 0 (RK_SUCCESS) or -1; what gives a handle or address gives NULL or 0, what gives a descriptor -1. */
#ifndef OPENRKNN_RK_MPI_MMZ_H
#define OPENRKNN_RK_MPI_MMZ_H

#include <stdint.h>

typedef uint32_t RK_U32;
typedef int32_t RK_S32;
typedef uint64_t RK_U64;
typedef void RK_VOID;
typedef void* MB_BLK;

#define RK_SUCCESS 0
#define RK_FAILURE (-1)

#define RK_MMZ_ALLOC_TYPE_IOMMU 0x00000000
#define RK_MMZ_ALLOC_TYPE_CMA 0x00000001
#define RK_MMZ_ALLOC_CACHEABLE 0x00000000
#define RK_MMZ_ALLOC_UNCACHEABLE 0x00000010

#define RK_MMZ_SYNC_READONLY 0x00000000
#define RK_MMZ_SYNC_WRITEONLY 0x00000001
#define RK_MMZ_SYNC_RW 0x00000002

#ifdef __cplusplus
extern "C" {
#endif

RK_S32 RK_MPI_MMZ_Alloc(MB_BLK* block, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_Free(MB_BLK block);

RK_U64 RK_MPI_MMZ_Handle2PhysAddr(MB_BLK block);
RK_VOID* RK_MPI_MMZ_Handle2VirAddr(MB_BLK block);
RK_S32 RK_MPI_MMZ_Handle2Fd(MB_BLK block);
RK_U64 RK_MPI_MMZ_GetSize(MB_BLK block);
/* 1, 0, or -1. */
RK_S32 RK_MPI_MMZ_IsCacheable(MB_BLK block);
/* An address anywhere in a block finds it. */
MB_BLK RK_MPI_MMZ_Fd2Handle(RK_S32 fd);
MB_BLK RK_MPI_MMZ_VirAddr2Handle(RK_VOID* address);
MB_BLK RK_MPI_MMZ_PhyAddr2Handle(RK_U64 address);

/* A CPU's cache needs no help here: arguments are checked, nothing else. Length 0: to the end. */
RK_S32 RK_MPI_MMZ_FlushCacheStart(MB_BLK block, RK_U32 offset, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_FlushCacheEnd(MB_BLK block, RK_U32 offset, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_FlushCacheVaddrStart(RK_VOID* address, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_FlushCacheVaddrEnd(RK_VOID* address, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_FlushCachePaddrStart(RK_U64 address, RK_U32 length, RK_U32 flags);
RK_S32 RK_MPI_MMZ_FlushCachePaddrEnd(RK_U64 address, RK_U32 length, RK_U32 flags);

#ifdef __cplusplus
}
#endif
#endif
