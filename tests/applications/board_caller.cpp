// SPDX-License-Identifier: Apache-2.0
// What demos for boards do with memory, as they do it: DRM's dumb buffers, a dma-buf heap, the media memory zone, the chip's name.
// The frame is letterboxed by the 2D engine into memory of another kind, by descriptor. With a model, its input comes from the
// zone. Run with libopenrknn_board.so preloaded and RKNN_TARGET set.
//
//   board_caller [MODEL.rknn]
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "im2d.hpp"
#include "rk_mpi_mmz.h"
#include "rknn_api.h"
#include "standins/drm_abi.h"

// The kernel's numbers.
static_assert(DRM_CREATE_DUMB == 0xc02064b2 && DRM_MAP_DUMB == 0xc01064b3 &&
              DRM_DESTROY_DUMB == 0xc00464b4);
static_assert(DRM_EXPORT_HANDLE == 0xc00c642d && DRM_CLOSE_HANDLE == 0x40086409);

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      return false;                                                \
    }                                                              \
  } while (0)

namespace {

using Ioctl = int (*)(int, unsigned long, void*);

bool chip_is_found() {
  const char* const path = "/proc/device-tree/compatible";
  const std::string wanted = std::string("rockchip,") + std::getenv("RKNN_TARGET");
  struct stat info {};
  CHECK(access(path, R_OK) == 0 && stat(path, &info) == 0);
  std::ifstream stream(path, std::ios::binary);
  const std::string by_stream((std::istreambuf_iterator<char>(stream)),
                              std::istreambuf_iterator<char>());
  CHECK(by_stream.find(wanted) != std::string::npos && by_stream.back() == '\0');
  char by_open[128] = {};
  const int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && read(fd, by_open, sizeof by_open) == static_cast<ssize_t>(by_stream.size()));
  close(fd);
  CHECK(std::memcmp(by_open, by_stream.data(), by_stream.size()) == 0);
  CHECK(access("/proc/device-tree/no-such-file", R_OK) != 0);
  return true;
}

// A frame in a dumb buffer, whole and red; letterboxed into a buffer of the heap.
bool frames_go_from_drm_to_heap() {
  const int width = 64, height = 32, side = 64;
  const int card = open("/dev/dri/card0", O_RDWR);
  void* const library = dlopen("/usr/lib/libdrm.so", RTLD_LAZY);
  CHECK(card >= 0 && library != nullptr);
  const auto call = reinterpret_cast<Ioctl>(dlsym(library, "drmIoctl"));
  CHECK(call != nullptr);
  drm_create_dumb create{};
  create.width = width, create.height = height, create.bpp = 24;
  CHECK(call(card, DRM_CREATE_DUMB, &create) == 0 && create.size >= width * height * 3);
  drm_export_handle prime{};
  prime.handle = create.handle;
  CHECK(call(card, DRM_EXPORT_HANDLE, &prime) == 0 && prime.fd >= 0);
  drm_map_dumb map{};
  map.handle = create.handle;
  CHECK(call(card, DRM_MAP_DUMB, &map) == 0);
  void* const frame = mmap(nullptr, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, card,
                           static_cast<off_t>(map.offset));
  CHECK(frame != MAP_FAILED);
  for (int i = 0; i < width * height; ++i)
    std::memcpy(static_cast<uint8_t*>(frame) + i * 3, "\xff\x00\x00", 3);

  const int heap = open("/dev/dma_heap/system-uncached", O_RDWR);
  dma_heap_allocation_data data{};
  data.len = side * side * 3;
  data.fd_flags = O_CLOEXEC | O_RDWR;
  CHECK(heap >= 0 && ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) == 0);
  const int target = static_cast<int>(data.fd);
  auto* const pixels =
      static_cast<uint8_t*>(mmap(nullptr, data.len, PROT_READ | PROT_WRITE, MAP_SHARED, target, 0));
  CHECK(pixels != MAP_FAILED);
  rga_buffer_t from = wrapbuffer_fd(prime.fd, width, height, RK_FORMAT_RGB_888);
  rga_buffer_t to = wrapbuffer_fd(target, side, side, RK_FORMAT_RGB_888);
  CHECK(imfill(to, {0, 0, side, side}, 0x727272) == IM_STATUS_SUCCESS);
  CHECK(improcess(from, to, rga_buffer_t{}, im_rect{}, {0, 16, side, 32}, im_rect{}, IM_SYNC) ==
        IM_STATUS_SUCCESS);
  dma_buf_sync sync{};
  sync.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ;
  CHECK(ioctl(target, DMA_BUF_IOCTL_SYNC, &sync) == 0);
  CHECK(pixels[0] == 0x72 && pixels[(32 * side + 32) * 3] == 255 &&
        pixels[(32 * side + 32) * 3 + 1] == 0);

  munmap(frame, create.size);
  munmap(pixels, data.len);
  close(prime.fd);
  close(target);
  drm_close_handle done{};
  done.handle = create.handle;
  CHECK(call(card, DRM_CLOSE_HANDLE, &done) == 0);
  CHECK(call(card, DRM_CLOSE_HANDLE, &done) != 0);  // twice
  drm_create_dumb wrong{};
  wrong.width = 0xffffffff, wrong.height = 0xffffffff, wrong.bpp = 32;
  CHECK(call(card, DRM_CREATE_DUMB, &wrong) != 0);
  close(card);
  close(heap);
  return true;
}

bool zone_has_its_blocks() {
  MB_BLK block = nullptr, plain = nullptr;
  CHECK(RK_MPI_MMZ_Alloc(&block, 5000, RK_MMZ_ALLOC_TYPE_CMA | RK_MMZ_ALLOC_UNCACHEABLE) ==
        RK_SUCCESS);
  CHECK(RK_MPI_MMZ_Alloc(&plain, 100, RK_MMZ_ALLOC_TYPE_IOMMU) == RK_SUCCESS);
  auto* const address = static_cast<uint8_t*>(RK_MPI_MMZ_Handle2VirAddr(block));
  CHECK(address != nullptr && RK_MPI_MMZ_GetSize(block) == 5000 &&
        RK_MPI_MMZ_Handle2Fd(block) >= 0);
  CHECK(RK_MPI_MMZ_Handle2PhysAddr(block) != 0 && RK_MPI_MMZ_Handle2PhysAddr(plain) == 0);
  CHECK(RK_MPI_MMZ_IsCacheable(block) == 0 && RK_MPI_MMZ_IsCacheable(plain) == 1);
  CHECK(RK_MPI_MMZ_VirAddr2Handle(address + 4999) == block &&
        RK_MPI_MMZ_VirAddr2Handle(address - 1) != block);
  CHECK(RK_MPI_MMZ_PhyAddr2Handle(RK_MPI_MMZ_Handle2PhysAddr(block) + 1) == block);
  CHECK(RK_MPI_MMZ_Fd2Handle(RK_MPI_MMZ_Handle2Fd(plain)) == plain);
  CHECK(RK_MPI_MMZ_FlushCacheStart(block, 1000, 4000, RK_MMZ_SYNC_RW) == RK_SUCCESS);
  CHECK(RK_MPI_MMZ_FlushCacheEnd(block, 1001, 4000, RK_MMZ_SYNC_RW) == RK_FAILURE);
  CHECK(RK_MPI_MMZ_FlushCacheVaddrStart(address + 4000, 1000, RK_MMZ_SYNC_READONLY) == RK_SUCCESS);
  CHECK(RK_MPI_MMZ_FlushCacheVaddrEnd(address + 4000, 1001, RK_MMZ_SYNC_READONLY) == RK_FAILURE);
  CHECK(RK_MPI_MMZ_Free(block) == RK_SUCCESS && RK_MPI_MMZ_Free(block) == RK_FAILURE &&
        RK_MPI_MMZ_Free(nullptr) == RK_FAILURE);
  CHECK(RK_MPI_MMZ_GetSize(block) == 0 && RK_MPI_MMZ_Alloc(&block, 0, 0) == RK_FAILURE);
  CHECK(RK_MPI_MMZ_Free(plain) == RK_SUCCESS);
  return true;
}

// The same picture through rknn_inputs_set and through a block of the zone, by physical address and by descriptor.
bool model_reads_the_zone(std::string path) {
  rknn_context context = 0;
  rknn_tensor_attr in{}, out{};
  CHECK(rknn_init(&context, path.data(), 0, 0, nullptr) == RKNN_SUCC);
  CHECK(rknn_query(context, RKNN_QUERY_INPUT_ATTR, &in, sizeof in) == RKNN_SUCC);
  CHECK(rknn_query(context, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out) == RKNN_SUCC);
  std::vector<uint8_t> picture(in.n_elems);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<uint8_t>(i * 37 % 251);
  rknn_input input{};
  input.buf = picture.data();
  input.size = in.n_elems;
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_output output{};
  output.want_float = 1;
  CHECK(rknn_inputs_set(context, 1, &input) == RKNN_SUCC &&
        rknn_run(context, nullptr) == RKNN_SUCC);
  CHECK(rknn_outputs_get(context, 1, &output, nullptr) == RKNN_SUCC);
  const std::vector<float> expected(static_cast<float*>(output.buf),
                                    static_cast<float*>(output.buf) + output.size / sizeof(float));
  rknn_outputs_release(context, 1, &output);
  rknn_destroy(context);

  const uint32_t row = in.w_stride > in.dims[2] ? in.w_stride : in.dims[2],
                 line = in.dims[2] * in.dims[3];
  in.type = RKNN_TENSOR_UINT8;
  in.fmt = RKNN_TENSOR_NHWC;
  in.size = in.dims[1] * row * in.dims[3];
  out.type = RKNN_TENSOR_FLOAT32;
  out.size = out.n_elems * 4;
  for (const bool physical : {true, false}) {
    CHECK(rknn_init(&context, path.data(), 0, 0, nullptr) == RKNN_SUCC);
    MB_BLK block = nullptr;
    const uint32_t size = in.size > in.size_with_stride ? in.size : in.size_with_stride;
    CHECK(RK_MPI_MMZ_Alloc(&block, size, RK_MMZ_ALLOC_TYPE_CMA) == RK_SUCCESS);
    void* const address = RK_MPI_MMZ_Handle2VirAddr(block);
    rknn_tensor_mem* const from =
        physical
            ? rknn_create_mem_from_phys(context, RK_MPI_MMZ_Handle2PhysAddr(block), address, size)
            : rknn_create_mem_from_fd(context, RK_MPI_MMZ_Handle2Fd(block), address, size, 0);
    rknn_tensor_mem* const to =
        rknn_create_mem(context, out.size > out.size_with_stride ? out.size : out.size_with_stride);
    CHECK(from != nullptr && to != nullptr);
    for (uint32_t y = 0; y < in.dims[1]; ++y)
      std::memcpy(static_cast<uint8_t*>(address) + y * row * in.dims[3], &picture[y * line], line);
    CHECK(RK_MPI_MMZ_FlushCacheEnd(block, 0, size, RK_MMZ_SYNC_RW) == RK_SUCCESS);
    CHECK(rknn_set_io_mem(context, from, &in) == RKNN_SUCC &&
          rknn_set_io_mem(context, to, &out) == RKNN_SUCC);
    CHECK(rknn_run(context, nullptr) == RKNN_SUCC);
    CHECK(std::memcmp(to->virt_addr, expected.data(), expected.size() * sizeof(float)) == 0);
    rknn_destroy_mem(context, from);
    rknn_destroy_mem(context, to);
    rknn_destroy(context);
    RK_MPI_MMZ_Free(block);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("RKNN_TARGET") == nullptr) {
    std::fprintf(stderr, "RKNN_TARGET is not set\n");
    return 2;
  }
  if (!chip_is_found() || !frames_go_from_drm_to_heap() || !zone_has_its_blocks()) return 1;
  if (argc > 1 && !model_reads_the_zone(argv[1])) return 1;
  std::printf(
      "FIGURE board stand-ins: chip, DRM, dma-buf heap, media memory zone%s | as on a board | as "
      "on a board | ok\n",
      argc > 1 ? ", a model's input" : "");
  return 0;
}
