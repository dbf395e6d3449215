// SPDX-License-Identifier: Apache-2.0
#include "video/frames.h"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace video {
namespace {

constexpr size_t kMostFrames = 48;  // more than any decoder keeps
constexpr size_t kGuard = 64;       // decoders read past the last row
constexpr const char* kHeap = "/dev/dma_heap/system";

// A dma-buf of this size, or -1.
int from_heap(size_t size) {
  const int heap = open(kHeap, O_RDWR | O_CLOEXEC);
  if (heap < 0) return -1;
  dma_heap_allocation_data request{};
  request.len = size;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  const bool ok = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request) == 0;
  close(heap);
  return ok ? static_cast<int>(request.fd) : -1;
}

class Generated : public Source {
 public:
  Generated(int width, int height, int number, FramePool* pool) : number_(number), pool_(pool) {
    const int wide = (width + 63) / 64 * 64, tall = (height + 1) / 2 * 2;
    layout_ = {width, height, wide, tall};
  }
  ~Generated() override {
    if (frame_ != nullptr) FramePool::give(frame_);
  }

  bool next(View* view) override {
    if (frame_ != nullptr) FramePool::give(frame_);
    frame_ = pool_ != nullptr ? pool_->take(layout_) : nullptr;
    if (frame_ == nullptr) own_.resize(layout_.size());
    uint8_t* const base = frame_ != nullptr ? frame_->address : own_.data();
    const auto luma = static_cast<size_t>(layout_.wstride) * static_cast<size_t>(layout_.hstride);
    uint8_t* const plane[3] = {base, base + luma, base + luma + luma / 4};
    const int line[3] = {layout_.wstride, layout_.wstride / 2, layout_.wstride / 2};
    draw_scene(layout_.width, layout_.height, number_, t_++, plane, line);
    view->frame = frame_;
    std::copy(plane, plane + 3, view->plane);
    std::copy(line, line + 3, view->line);
    return true;
  }
  const Layout& layout() const override { return layout_; }

 private:
  Layout layout_;
  int number_ = 0;
  FramePool* pool_ = nullptr;
  Frame* frame_ = nullptr;
  std::vector<uint8_t> own_;
  int64_t t_ = 0;
};

struct Color {
  uint8_t y, u, v;
};

// Fills the part [x0, x1) of a row in all planes.
void span(uint8_t* const plane[3], const int line[3], int width, int y, int x0, int x1,
          Color color) {
  x0 = std::clamp(x0, 0, width);
  x1 = std::clamp(x1, x0, width);
  std::memset(plane[0] + static_cast<ptrdiff_t>(y) * line[0] + x0, color.y,
              static_cast<size_t>(x1 - x0));
  if (y % 2 != 0) return;
  for (int c = 1; c < 3; ++c)
    std::memset(plane[c] + static_cast<ptrdiff_t>(y / 2) * line[c] + x0 / 2,
                c == 1 ? color.u : color.v, static_cast<size_t>((x1 + 1) / 2 - x0 / 2));
}

}  // namespace

size_t Layout::size() const {
  return static_cast<size_t>(wstride) * static_cast<size_t>(hstride) * 3 / 2 + kGuard;
}

FramePool::~FramePool() {
  for (const auto& frame : frames_) {
    releasebuffer_handle(frame->handle);
    munmap(frame->address, layout_.size());
    close(frame->fd);
  }
}

Frame* FramePool::add() {
  const auto fail = [&](const char* call) {
    why_ = std::string(call) + ": " + std::strerror(errno);
    return nullptr;
  };
  const size_t size = layout_.size();
  kind_ = "dma-buf";
  int fd = from_heap(size);
  if (fd < 0) {
    kind_ = "memfd";
    fd = memfd_create("frame", MFD_CLOEXEC);
    if (fd < 0) return fail("memfd_create");
    if (ftruncate(fd, static_cast<off_t>(size)) != 0) {
      close(fd);
      return fail("ftruncate");
    }
  }
  void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    close(fd);
    return fail("mmap");
  }
  const rga_buffer_handle_t handle = importbuffer_fd(fd, static_cast<int>(size));
  if (handle == 0) {
    munmap(address, size);
    close(fd);
    why_ = "importbuffer_fd: the 2D engine does not take the memory";
    return nullptr;
  }
  frames_.push_back(
      std::make_unique<Frame>(Frame{fd, static_cast<uint8_t*>(address), handle, false}));
  return frames_.back().get();
}

Frame* FramePool::take(const Layout& layout) {
  if (frames_.empty()) layout_ = layout;
  if (layout.width != layout_.width || layout.height != layout_.height ||
      layout.wstride != layout_.wstride || layout.hstride != layout_.hstride) {
    why_ = "the size of the frames changed";
    return nullptr;
  }
  const auto free =
      std::find_if(frames_.begin(), frames_.end(), [](const auto& frame) { return !frame->busy; });
  Frame* frame = free != frames_.end() ? free->get() : nullptr;
  if (frame == nullptr && frames_.size() >= kMostFrames) {
    why_ = "all frames of the pool are in use";
    return nullptr;
  }
  if (frame == nullptr) frame = add();
  if (frame != nullptr) frame->busy = true;
  return frame;
}

const Frame* FramePool::find(const uint8_t* address) const {
  for (const auto& frame : frames_) {
    if (frame->address == address) return frame.get();
  }
  return nullptr;
}

void draw_scene(int width, int height, int number, int64_t t, uint8_t* const plane[3],
                const int line[3]) {
  const int step = static_cast<int>(t % 120), r = height / 6;
  const int circle_x = width / 4 + step * width / 480, circle_y = height / 4 + number * height / 24;
  const int square_x = width * 3 / 4 - step * width / 480, square_y = height / 3;
  const int tip_x = width / 2, tip_y = height * 3 / 5 - number * height / 40, tall = height / 3;
  for (int y = 0; y < height; ++y) {
    span(plane, line, width, y, 0, width, {static_cast<uint8_t>(110 + 24 * y / height), 128, 128});
    if (const int d = y - circle_y; d * d < r * r) {
      int half = 0;
      while ((half + 1) * (half + 1) + d * d < r * r) ++half;
      span(plane, line, width, y, circle_x - half, circle_x + half, {81, 90, 240});  // red
    }
    if (std::abs(y - square_y) < r)
      span(plane, line, width, y, square_x - r, square_x + r, {41, 240, 110});  // blue
    if (const int d = y - tip_y; d >= 0 && d < tall)
      span(plane, line, width, y, tip_x - d * 10 / 17, tip_x + d * 10 / 17,
           {145, 54, 34});  // green
  }
}

std::unique_ptr<Source> generated(int width, int height, int number, FramePool* pool) {
  return std::make_unique<Generated>(width, height, number, pool);
}

}  // namespace video
