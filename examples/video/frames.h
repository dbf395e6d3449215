// SPDX-License-Identifier: Apache-2.0
// Frames in memory that has a descriptor, and where frames come from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "im2d.hpp"

namespace video {

// Three planes of 4:2:0 in one piece, as the 2D engine takes them: rows of wstride and wstride / 2 bytes.
struct Layout {
  int width = 0, height = 0, wstride = 0, hstride = 0;
  size_t size() const;  // bytes
};

struct Frame {
  int fd = -1;
  uint8_t* address = nullptr;
  rga_buffer_handle_t handle = 0;  // the 2D engine's name of the same memory
  bool busy = false;
};

// A dma-buf heap where the machine has one, else memfd. One thread.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool();

  // Null: no memory; why() says what failed.
  Frame* take(const Layout& layout);
  static void give(Frame* frame) { frame->busy = false; }
  const Frame* find(const uint8_t* address) const;
  const Layout& layout() const { return layout_; }
  const std::string& why() const { return why_; }
  const char* kind() const { return kind_; }

 private:
  Frame* add();

  Layout layout_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::string why_;
  const char* kind_ = "none";
};

// One frame as it comes from its source. `frame` is null where it does not lie in the pool.
struct View {
  const Frame* frame = nullptr;
  const uint8_t* plane[3] = {};
  int line[3] = {};  // bytes
};

class Source {
 public:
  virtual ~Source() = default;
  // The view is good until the next call. False: an error, which is on standard error.
  virtual bool next(View* view) = 0;
  virtual const Layout& layout() const = 0;
};

// Shapes that move over a gray ground; number is the stream's, so that streams differ. Without a pool frames lie in memory
// without a descriptor.
std::unique_ptr<Source> generated(int width, int height, int number, FramePool* pool);
// Draws frame t of that source.
void draw_scene(int width, int height, int number, int64_t t, uint8_t* const plane[3],
                const int line[3]);

// A file through FFmpeg's libraries; the decoder writes into the pool. Starts again at its end. Null: an error.
std::unique_ptr<Source> decoded(const std::string& path, FramePool* pool);
// The generated source as a file, MPEG-4.
bool encode(const std::string& path, int width, int height, int frames);

}  // namespace video
