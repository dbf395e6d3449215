// SPDX-License-Identifier: Apache-2.0
// The functions of im2d.h: arguments are checked, memory is found, pixels are moved one by one.
#include "im2d.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "rga/pixels.h"

namespace rk::rga {
namespace {

constexpr int kMaxExtent = 8192;  // pixels, of the engine
constexpr int kMaxScale = 16;
constexpr int kSupportedUsage =
    IM_HAL_TRANSFORM_MASK | IM_SYNC | IM_ASYNC | IM_CROP | IM_COLOR_FILL;

thread_local std::string t_error;

IM_STATUS fail(IM_STATUS status, std::string text) {
  t_error = std::move(text);
  return status;
}

// Memory behind a handle. A file stays mapped; an address is the caller's.
struct Buffer {
  uint8_t* data = nullptr;
  uint64_t size_bytes = 0;
  bool mapped = false;
};

struct Handles {
  std::mutex mutex;
  std::map<rga_buffer_handle_t, Buffer> buffers;
  rga_buffer_handle_t next = 1;
};

Handles& handles() {
  static Handles* const all = new Handles;  // never destroyed: programs release in destructors
  return *all;
}

// Null, with the reason as the thread's error, when the file cannot be mapped for so many bytes.
uint8_t* map_file(int fd, uint64_t size_bytes) {
  struct stat info {};
  // A DMA buffer has no size for fstat, but for lseek.
  int64_t available = fd >= 0 && ::fstat(fd, &info) == 0 ? info.st_size : -1;
  if (available == 0) available = ::lseek(fd, 0, SEEK_END);
  if (available < 0 || static_cast<uint64_t>(available) < size_bytes) {
    t_error = "the file descriptor " + std::to_string(fd) + " has " + std::to_string(available) +
              " bytes, the picture needs " + std::to_string(size_bytes);
    return nullptr;
  }
  void* const data = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    t_error = "the file descriptor " + std::to_string(fd) + " cannot be mapped";
    return nullptr;
  }
  return static_cast<uint8_t*>(data);
}

rga_buffer_handle_t keep(Buffer buffer) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  const rga_buffer_handle_t handle = all.next++;
  all.buffers[handle] = buffer;
  return handle;
}

rga_buffer_handle_t import_fd(int fd, int64_t size_bytes) {
  if (size_bytes <= 0) return fail(IM_STATUS_ILLEGAL_PARAM, "the size is not positive"), 0;
  uint8_t* const data = map_file(fd, static_cast<uint64_t>(size_bytes));
  if (data == nullptr) return 0;
  return keep({data, static_cast<uint64_t>(size_bytes), true});
}

rga_buffer_handle_t import_address(void* address, int64_t size_bytes) {
  if (address == nullptr || size_bytes <= 0)
    return fail(IM_STATUS_ILLEGAL_PARAM, "the address is NULL or the size is not positive"), 0;
  return keep({static_cast<uint8_t*>(address), static_cast<uint64_t>(size_bytes), false});
}

// -1: not a picture.
int64_t picture_bytes(int64_t width, int64_t height, int64_t format) {
  const Format* const found = format > INT_MAX ? nullptr : find_format(static_cast<int>(format));
  if (found == nullptr || width <= 0 || height <= 0 || width > kMaxExtent || height > kMaxExtent)
    return -1;
  return static_cast<int64_t>(
      View::size_bytes(*found, static_cast<int>(width), static_cast<int>(height)));
}

// The memory of a picture, unmapped with the object.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (mapped_ != nullptr) ::munmap(mapped_, size_);
  }
  IM_STATUS find(const rga_buffer_t& buffer, const Format& format) {
    const uint64_t needed = View::size_bytes(format, buffer.wstride, buffer.hstride);
    if (buffer.handle != 0) {
      Handles& all = handles();
      const std::lock_guard lock(all.mutex);
      const auto found = all.buffers.find(buffer.handle);
      if (found == all.buffers.end())
        return fail(IM_STATUS_FAILED,
                    "handle " + std::to_string(buffer.handle) + " is not imported");
      if (found->second.size_bytes < needed) {
        return fail(IM_STATUS_FAILED, "handle " + std::to_string(buffer.handle) + " has " +
                                          std::to_string(found->second.size_bytes) +
                                          " bytes, the picture needs " + std::to_string(needed));
      }
      data = found->second.data;
      return IM_STATUS_SUCCESS;
    }
    if (buffer.vir_addr != nullptr) {
      data = static_cast<uint8_t*>(buffer.vir_addr);
      return IM_STATUS_SUCCESS;
    }
    if (buffer.phy_addr != nullptr)
      return fail(IM_STATUS_NOT_SUPPORTED, "physical addresses mean nothing on this machine");
    if (buffer.fd < 0)
      return fail(IM_STATUS_INVALID_PARAM, "a picture has neither handle, address nor descriptor");
    data = mapped_ = map_file(buffer.fd, needed);
    size_ = needed;
    return data != nullptr ? IM_STATUS_SUCCESS : IM_STATUS_FAILED;
  }

  uint8_t* data = nullptr;

 private:
  uint8_t* mapped_ = nullptr;
  uint64_t size_ = 0;
};

bool is_whole(const im_rect& rect) {
  return rect.x == 0 && rect.y == 0 && rect.width == 0 && rect.height == 0;
}

IM_STATUS check_picture(const char* name, const rga_buffer_t& buffer, im_rect& rect) {
  const std::string who = name;
  if (buffer.width <= 0 || buffer.height <= 0 || buffer.format < 0)
    return fail(IM_STATUS_ILLEGAL_PARAM, who + ": width, height and format must be positive");
  if (buffer.width < 2 || buffer.height < 2)
    return fail(IM_STATUS_ILLEGAL_PARAM, who + ": the engine takes pictures of 2 x 2 and more");
  if (buffer.wstride < buffer.width || buffer.hstride < buffer.height)
    return fail(IM_STATUS_INVALID_PARAM, who + ": a stride is less than the size it stands for");
  if (buffer.width > kMaxExtent || buffer.height > kMaxExtent || buffer.wstride > 4 * kMaxExtent ||
      buffer.hstride > 4 * kMaxExtent)
    return fail(IM_STATUS_NOT_SUPPORTED, who + ": more than 8192 pixels across or down");
  const Format* const format = find_format(buffer.format);
  if (format == nullptr)
    return fail(IM_STATUS_NOT_SUPPORTED, who + ": format " + std::to_string(buffer.format) +
                                             " is not one of those in rga.h");
  if (rect.x < 0 || rect.y < 0 || rect.width < 0 || rect.height < 0)
    return fail(IM_STATUS_ILLEGAL_PARAM, who + ": the rectangle has negative numbers");
  if (is_whole(rect)) rect = {0, 0, buffer.width, buffer.height};
  if (rect.width < 2 || rect.height < 2)
    return fail(IM_STATUS_INVALID_PARAM, who + ": a rectangle has 2 x 2 pixels and more");
  if (int64_t{rect.x} + rect.width > buffer.wstride ||
      int64_t{rect.y} + rect.height > buffer.hstride)
    return fail(IM_STATUS_INVALID_PARAM, who + ": the rectangle lies outside the picture");
  // Chroma samples belong to whole blocks, so does everything that is measured in them.
  const int mask_x = format->sub_x - 1, mask_y = format->sub_y - 1;
  if (((rect.x | rect.width | buffer.wstride) & mask_x) != 0 ||
      ((rect.y | rect.height | buffer.hstride) & mask_y) != 0)
    return fail(IM_STATUS_INVALID_PARAM,
                who + ": " + format->name + " needs even places, sizes and strides");
  return IM_STATUS_SUCCESS;
}

struct Task {
  rga_buffer_t src{}, dst{};
  im_rect from{}, to{};
  int usage = 0;
  int interpolation = IM_INTERP_DEFAULT;
  int mode = 0;
};

bool swaps_sides(int usage) {
  return (usage & (IM_HAL_TRANSFORM_ROT_90 | IM_HAL_TRANSFORM_ROT_270)) != 0;
}

IM_STATUS check_task(Task& task) {
  if ((task.usage & ~kSupportedUsage) != 0)
    return fail(IM_STATUS_NOT_SUPPORTED,
                "blending, color keys, OSD and quantization are not offered");
  const int turns = task.usage & 7;
  if ((turns & (turns - 1)) != 0)
    return fail(IM_STATUS_INVALID_PARAM, "more than one rotation in the usage");
  if (const IM_STATUS s = check_picture("dst", task.dst, task.to); s != IM_STATUS_SUCCESS) return s;
  if ((task.usage & IM_COLOR_FILL) != 0) return IM_STATUS_SUCCESS;
  if (const IM_STATUS s = check_picture("src", task.src, task.from); s != IM_STATUS_SUCCESS)
    return s;
  if (task.interpolation == IM_INTERP_CUBIC || task.interpolation < 0 ||
      task.interpolation > IM_INTERP_AVERAGE)
    return fail(IM_STATUS_NOT_SUPPORTED, "interpolation: linear and average are offered");
  const bool swap = swaps_sides(task.usage);
  const int width = swap ? task.from.height : task.from.width;
  const int height = swap ? task.from.width : task.from.height;
  const auto beyond = [](int a, int b) {
    return a > int64_t{kMaxScale} * b || b > int64_t{kMaxScale} * a;
  };
  if (beyond(width, task.to.width) || beyond(height, task.to.height))
    return fail(IM_STATUS_NOT_SUPPORTED, "scaling by more than 16");
  return IM_STATUS_SUCCESS;
}

// The source rectangle as usage turns it, before scaling.
struct Turned {
  View view;
  im_rect rect;
  int usage;
  int width() const { return swaps_sides(usage) ? rect.height : rect.width; }
  int height() const { return swaps_sides(usage) ? rect.width : rect.height; }
  Pixel get(int x, int y) const {
    // First the flip, then the rotation, clockwise; undone from the last to the first.
    int u = x, v = y;
    if ((usage & IM_HAL_TRANSFORM_ROT_90) != 0) u = y, v = rect.height - 1 - x;
    if ((usage & IM_HAL_TRANSFORM_ROT_270) != 0) u = rect.width - 1 - y, v = x;
    if ((usage & IM_HAL_TRANSFORM_ROT_180) != 0) u = rect.width - 1 - x, v = rect.height - 1 - y;
    const bool both = (usage & IM_HAL_TRANSFORM_FLIP_H_V) != 0;
    if (both || (usage & IM_HAL_TRANSFORM_FLIP_H) != 0) u = rect.width - 1 - u;
    if (both || (usage & IM_HAL_TRANSFORM_FLIP_V) != 0) v = rect.height - 1 - v;
    return view.get(rect.x + u, rect.y + v);
  }
};

// Where element i of `to` lies among `from`: pixel centers are at half-integers, in 1/2048 of a pixel, within the picture.
struct Tap {
  int first, second, part;
};
std::vector<Tap> linear_taps(int from, int to) {
  std::vector<Tap> taps;
  for (int64_t i = 0; i < to; ++i) {
    const int64_t at =
        std::clamp<int64_t>((2 * i + 1) * from * 1024 / to - 1024, 0, int64_t{from - 1} * 2048);
    const int first = static_cast<int>(at >> 11);
    taps.push_back({first, std::min(first + 1, from - 1), static_cast<int>(at & 2047)});
  }
  return taps;
}

class Scaler {
 public:
  Scaler(const Turned& from, int width, int height, int interpolation)
      : from_(from),
        same_(from.width() == width && from.height() == height),
        average_(interpolation == IM_INTERP_AVERAGE && from.width() >= width &&
                 from.height() >= height),
        width_(width),
        height_(height),
        across_(linear_taps(from.width(), width)),
        down_(linear_taps(from.height(), height)) {}

  Pixel get(int x, int y) const {
    if (same_) return from_.get(x, y);
    return average_ ? average(x, y) : linear(x, y);
  }

 private:
  Pixel linear(int x, int y) const {
    const Tap &h = across_[static_cast<size_t>(x)], &v = down_[static_cast<size_t>(y)];
    const Pixel a = from_.get(h.first, v.first), b = from_.get(h.second, v.first),
                c = from_.get(h.first, v.second), d = from_.get(h.second, v.second);
    Pixel out;
    for (size_t i = 0; i < 4; ++i) {
      const int64_t above = a[i] * (2048 - h.part) + b[i] * h.part;
      const int64_t below = c[i] * (2048 - h.part) + d[i] * h.part;
      out[i] = static_cast<int>((above * (2048 - v.part) + below * v.part + (1 << 21)) >> 22);
    }
    return out;
  }
  // Whole source pixels from floor(x * from / to) to ceil((x + 1) * from / to).
  Pixel average(int x, int y) const {
    const auto range = [](int64_t i, int64_t from, int64_t to) {
      return std::pair<int, int>(i * from / to, ((i + 1) * from + to - 1) / to);
    };
    const auto [x0, x1] = range(x, from_.width(), width_);
    const auto [y0, y1] = range(y, from_.height(), height_);
    std::array<int64_t, 4> sum{};
    for (int v = y0; v < y1; ++v) {
      for (int u = x0; u < x1; ++u) {
        const Pixel pixel = from_.get(u, v);
        for (size_t i = 0; i < 4; ++i) sum[i] += pixel[i];
      }
    }
    const int64_t count = int64_t{x1 - x0} * (y1 - y0);
    Pixel out;
    for (size_t i = 0; i < 4; ++i) out[i] = static_cast<int>((sum[i] + count / 2) / count);
    return out;
  }

  Turned from_;
  bool same_, average_;
  int width_, height_;
  std::vector<Tap> across_, down_;
};

constexpr Matrix k601Limited = {299, 114, 1000, false}, k601Full = {299, 114, 1000, true},
                 k709Limited = {2126, 722, 10000, false};

Matrix matrix_of(int mode, bool from_yuv) {
  if (from_yuv) {
    const int which = mode & IM_YUV_TO_RGB_MASK;
    return which == IM_YUV_TO_RGB_BT601_FULL    ? k601Full
           : which == IM_YUV_TO_RGB_BT709_LIMIT ? k709Limited
                                                : k601Limited;
  }
  const int which = mode & IM_RGB_TO_YUV_MASK;
  return which == IM_RGB_TO_YUV_BT601_FULL    ? k601Full
         : which == IM_RGB_TO_YUV_BT709_LIMIT ? k709Limited
                                              : k601Limited;
}

// pixel(x, y) within the rectangle, in the destination's own color space.
template <typename Source>
void write(const View& dst, const im_rect& to, Source pixel) {
  const int bx = dst.format->sub_x, by = dst.format->sub_y;
  for (int y = 0; y < to.height; y += by) {
    for (int x = 0; x < to.width; x += bx) {
      int cb = 0, cr = 0;
      for (int v = 0; v < by; ++v) {
        for (int u = 0; u < bx; ++u) {
          const Pixel p = pixel(x + u, y + v);
          dst.put(to.x + x + u, to.y + y + v, p);
          cb += p[1];
          cr += p[2];
        }
      }
      // A chroma sample is the mean of its block, rounded half up.
      const int count = bx * by;
      if (dst.format->yuv())
        dst.put_chroma(to.x + x, to.y + y, (cb + count / 2) / count, (cr + count / 2) / count);
    }
  }
}

View view_of(const rga_buffer_t& buffer, uint8_t* data) {
  return {find_format(buffer.format),
          data,
          buffer.width,
          buffer.height,
          buffer.wstride,
          buffer.hstride};
}

IM_STATUS run(Task task) {
  if (const IM_STATUS s = check_task(task); s != IM_STATUS_SUCCESS) return s;
  Place dst_place, src_place;
  const Format& dst_format = *find_format(task.dst.format);
  if (const IM_STATUS s = dst_place.find(task.dst, dst_format); s != IM_STATUS_SUCCESS) return s;
  const View dst = view_of(task.dst, dst_place.data);
  const int mode =
      task.mode != 0 ? task.mode : task.dst.color_space_mode | task.src.color_space_mode;
  if ((task.usage & IM_COLOR_FILL) != 0) {
    const auto color = static_cast<uint32_t>(task.dst.color);
    Pixel pixel = {static_cast<int>(color & 255), static_cast<int>(color >> 8 & 255),
                   static_cast<int>(color >> 16 & 255), static_cast<int>(color >> 24)};
    if (dst_format.yuv()) pixel = to_yuv(pixel, matrix_of(mode, false));
    write(dst, task.to, [&](int, int) { return pixel; });
    return IM_STATUS_SUCCESS;
  }
  const Format& src_format = *find_format(task.src.format);
  if (const IM_STATUS s = src_place.find(task.src, src_format); s != IM_STATUS_SUCCESS) return s;
  const Scaler scaler({view_of(task.src, src_place.data), task.from, task.usage}, task.to.width,
                      task.to.height, task.interpolation);
  const bool from_yuv = src_format.yuv(), to_yuv_format = dst_format.yuv();
  const Matrix matrix = matrix_of(mode, from_yuv);
  // Overlapping pictures: everything is read before anything is written.
  std::vector<Pixel> pixels;
  pixels.reserve(static_cast<size_t>(task.to.width) * static_cast<size_t>(task.to.height));
  for (int y = 0; y < task.to.height; ++y) {
    for (int x = 0; x < task.to.width; ++x) {
      Pixel pixel = scaler.get(x, y);
      if (from_yuv && !to_yuv_format) pixel = to_rgb(pixel, matrix);
      if (!from_yuv && to_yuv_format) pixel = to_yuv(pixel, matrix);
      pixels.push_back(pixel);
    }
  }
  write(dst, task.to, [&](int x, int y) -> const Pixel& {
    return pixels[static_cast<size_t>(y) * static_cast<size_t>(task.to.width) +
                  static_cast<size_t>(x)];
  });
  return IM_STATUS_SUCCESS;
}

// What leaves a call: no exception, and a fence only where one was asked for. All work is done, so there is none to wait
// for.
IM_STATUS run_guarded(const Task& task, int* release_fence_fd = nullptr) {
  if (release_fence_fd != nullptr) *release_fence_fd = -1;
  try {
    return run(task);
  } catch (const std::bad_alloc&) {
    return fail(IM_STATUS_OUT_OF_MEMORY, "the system has no memory left");
  }
}

rga_buffer_t wrap(int width, int height, int wstride, int hstride, int format) {
  rga_buffer_t out{};
  out.fd = -1;
  out.width = width;
  out.height = height;
  out.wstride = wstride;
  out.hstride = hstride;
  out.format = format;
  out.global_alpha = 255;
  return out;
}

Task task_of(const rga_buffer_t& src, const rga_buffer_t& dst, int usage = 0) {
  Task task;
  task.src = src;
  task.dst = dst;
  task.usage = usage;
  return task;
}

IM_STATUS resize(const rga_buffer_t& src, rga_buffer_t dst, double fx, double fy, int interpolation,
                 int* fence = nullptr) {
  // Factors count where they are given: the destination has their size then.
  if (fx > 0 || fy > 0) {
    const double width = src.width * (fx > 0 ? fx : 1), height = src.height * (fy > 0 ? fy : 1);
    if (!(width < kMaxExtent * 2.0) || !(height < kMaxExtent * 2.0))
      return fail(IM_STATUS_INVALID_PARAM, "the factors make too large a picture");
    if (static_cast<int>(width) != dst.width || static_cast<int>(height) != dst.height)
      return fail(IM_STATUS_INVALID_PARAM, "the destination does not have the size of the factors");
  }
  Task task = task_of(src, dst);
  task.interpolation = interpolation;
  return run_guarded(task, fence);
}

IM_STATUS crop(const rga_buffer_t& src, const rga_buffer_t& dst, im_rect rect,
               int* fence = nullptr) {
  Task task = task_of(src, dst, IM_CROP);
  task.from = rect;
  return run_guarded(task, fence);
}

IM_STATUS translate(const rga_buffer_t& src, const rga_buffer_t& dst, int x, int y,
                    int* fence = nullptr) {
  if (x < 0 || y < 0 || x >= src.width || y >= src.height)
    return fail(IM_STATUS_ILLEGAL_PARAM, "the place lies outside the picture");
  Task task = task_of(src, dst);
  task.from = {0, 0, src.width - x, src.height - y};
  task.to = {x, y, src.width - x, src.height - y};
  return run_guarded(task, fence);
}

IM_STATUS convert(rga_buffer_t src, rga_buffer_t dst, int sfmt, int dfmt, int mode,
                  int* fence = nullptr) {
  src.format = sfmt;
  dst.format = dfmt;
  Task task = task_of(src, dst);
  task.mode = mode;
  return run_guarded(task, fence);
}

IM_STATUS fill(rga_buffer_t dst, im_rect rect, int color, int* fence = nullptr) {
  dst.color = color;
  Task task = task_of({}, dst, IM_COLOR_FILL);
  task.to = rect;
  return run_guarded(task, fence);
}

IM_STATUS process(const rga_buffer_t& src, rga_buffer_t dst, im_rect from, im_rect to, int usage,
                  const im_opt_t* options, int* fence = nullptr) {
  if (options != nullptr) dst.color = options->color;
  Task task = task_of(src, dst, usage);
  task.from = from;
  task.to = to;
  return run_guarded(task, fence);
}

}  // namespace
}  // namespace rk::rga

using namespace rk::rga;

extern "C" {

rga_buffer_handle_t importbuffer_fd(int fd, im_handle_param_t* param) {
  return param == nullptr
             ? 0
             : import_fd(fd, picture_bytes(param->width, param->height, param->format));
}
rga_buffer_handle_t importbuffer_virtualaddr(void* va, im_handle_param_t* param) {
  return param == nullptr
             ? 0
             : import_address(va, picture_bytes(param->width, param->height, param->format));
}
rga_buffer_handle_t importbuffer_physicaladdr(uint64_t, im_handle_param_t*) {
  return fail(IM_STATUS_NOT_SUPPORTED, "physical addresses mean nothing on this machine"), 0;
}

IM_STATUS releasebuffer_handle(rga_buffer_handle_t handle) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(handle);
  if (found == all.buffers.end())
    return fail(IM_STATUS_FAILED, "handle " + std::to_string(handle) + " is not imported");
  if (found->second.mapped) ::munmap(found->second.data, found->second.size_bytes);
  all.buffers.erase(found);
  return IM_STATUS_SUCCESS;
}

rga_buffer_t wrapbuffer_handle_t(rga_buffer_handle_t handle, int width, int height, int wstride,
                                 int hstride, int format) {
  rga_buffer_t out = wrap(width, height, wstride, hstride, format);
  out.handle = handle;
  return out;
}
rga_buffer_t wrapbuffer_virtualaddr_t(void* vir_addr, int width, int height, int wstride,
                                      int hstride, int format) {
  rga_buffer_t out = wrap(width, height, wstride, hstride, format);
  out.vir_addr = vir_addr;
  return out;
}
rga_buffer_t wrapbuffer_physicaladdr_t(void* phy_addr, int width, int height, int wstride,
                                       int hstride, int format) {
  rga_buffer_t out = wrap(width, height, wstride, hstride, format);
  out.phy_addr = phy_addr;
  return out;
}
rga_buffer_t wrapbuffer_fd_t(int fd, int width, int height, int wstride, int hstride, int format) {
  rga_buffer_t out = wrap(width, height, wstride, hstride, format);
  out.fd = fd;
  return out;
}

const char* imStrError_t(IM_STATUS status) {
  thread_local std::string text;
  switch (status) {
    case IM_STATUS_NOERROR:
    case IM_STATUS_SUCCESS:
      return "success";
    case IM_STATUS_NOT_SUPPORTED:
      text = "not supported: ";
      break;
    case IM_STATUS_OUT_OF_MEMORY:
      text = "out of memory: ";
      break;
    case IM_STATUS_INVALID_PARAM:
      text = "invalid parameter: ";
      break;
    case IM_STATUS_ILLEGAL_PARAM:
      text = "illegal parameter: ";
      break;
    default:
      text = "failed: ";
  }
  text += t_error;
  return text.c_str();
}

IM_STATUS imcheck_t(const rga_buffer_t src, const rga_buffer_t dst, const rga_buffer_t,
                    const im_rect src_rect, const im_rect dst_rect, const im_rect,
                    const int mode_usage) {
  Task task = task_of(src, dst, mode_usage);
  task.from = src_rect;
  task.to = dst_rect;
  const IM_STATUS status = check_task(task);
  return status == IM_STATUS_SUCCESS ? IM_STATUS_NOERROR : status;
}

IM_STATUS imsync(int) { return IM_STATUS_SUCCESS; }
IM_STATUS imconfig(IM_CONFIG_NAME, uint64_t) { return IM_STATUS_SUCCESS; }

const char* querystring(int name) {
  switch (name) {
    case RGA_VENDOR:
      return "OpenRKNN, on the CPU\n";
    case RGA_VERSION:
      return "RGA_api version: 1.10.1 (OpenRKNN)\n";
    case RGA_MAX_INPUT:
    case RGA_MAX_OUTPUT:
      return "8192x8192\n";
    case RGA_SCALE_LIMIT:
      return "0.0625 ~ 16\n";
    case RGA_INPUT_FORMAT:
    case RGA_OUTPUT_FORMAT:
      return "RGB888 RGBA8888 RGB565 YUV420 YUV422 YUYV gray\n";
    default:
      return "copy, crop, resize, rotate, flip, convert, fill\n";
  }
}

IM_STATUS improcess(rga_buffer_t src, rga_buffer_t dst, rga_buffer_t, im_rect srect, im_rect drect,
                    im_rect, int usage) {
  return process(src, dst, srect, drect, usage, nullptr);
}
IM_STATUS imcopy_t(const rga_buffer_t src, rga_buffer_t dst, int) {
  return imcopy(src, dst, 1, nullptr);
}
IM_STATUS imresize_t(const rga_buffer_t src, rga_buffer_t dst, double fx, double fy,
                     int interpolation, int) {
  return resize(src, dst, fx, fy, interpolation);
}
IM_STATUS imcrop_t(const rga_buffer_t src, rga_buffer_t dst, im_rect rect, int) {
  return crop(src, dst, rect);
}
IM_STATUS imtranslate_t(const rga_buffer_t src, rga_buffer_t dst, int x, int y, int) {
  return translate(src, dst, x, y);
}
IM_STATUS imcvtcolor_t(rga_buffer_t src, rga_buffer_t dst, int sfmt, int dfmt, int mode, int) {
  return convert(src, dst, sfmt, dfmt, mode);
}
IM_STATUS imrotate_t(const rga_buffer_t src, rga_buffer_t dst, int rotation, int) {
  return run_guarded(task_of(src, dst, rotation));
}
IM_STATUS imflip_t(const rga_buffer_t src, rga_buffer_t dst, int mode, int) {
  return run_guarded(task_of(src, dst, mode));
}
IM_STATUS imfill_t(rga_buffer_t dst, im_rect rect, int color, int) {
  return fill(dst, rect, color);
}

}  // extern "C"

rga_buffer_handle_t importbuffer_fd(int fd, int size) { return import_fd(fd, size); }
rga_buffer_handle_t importbuffer_virtualaddr(void* va, int size) {
  return import_address(va, size);
}
rga_buffer_handle_t importbuffer_physicaladdr(uint64_t pa, int) {
  return importbuffer_physicaladdr(pa, nullptr);
}
rga_buffer_handle_t importbuffer_fd(int fd, int width, int height, int format) {
  return import_fd(fd, picture_bytes(width, height, format));
}
rga_buffer_handle_t importbuffer_virtualaddr(void* va, int width, int height, int format) {
  return import_address(va, picture_bytes(width, height, format));
}
rga_buffer_handle_t importbuffer_physicaladdr(uint64_t pa, int, int, int) {
  return importbuffer_physicaladdr(pa, nullptr);
}
rga_buffer_t wrapbuffer_handle(rga_buffer_handle_t handle, int width, int height, int format) {
  return wrapbuffer_handle_t(handle, width, height, width, height, format);
}
rga_buffer_t wrapbuffer_handle(rga_buffer_handle_t handle, int width, int height, int format,
                               int wstride, int hstride) {
  return wrapbuffer_handle_t(handle, width, height, wstride, hstride, format);
}
IM_STATUS imcopy(const rga_buffer_t src, rga_buffer_t dst, int, int* fence) {
  Task task = task_of(src, dst);
  if (const IM_STATUS s = check_task(task); s != IM_STATUS_SUCCESS) return s;
  if (src.width != dst.width || src.height != dst.height)
    return fail(IM_STATUS_INVALID_PARAM, "imcopy: the pictures differ in size; imresize scales");
  return run_guarded(task, fence);
}
IM_STATUS imresize(const rga_buffer_t src, rga_buffer_t dst, double fx, double fy,
                   int interpolation, int, int* fence) {
  return resize(src, dst, fx, fy, interpolation, fence);
}
IM_STATUS imcrop(const rga_buffer_t src, rga_buffer_t dst, im_rect rect, int, int* fence) {
  return crop(src, dst, rect, fence);
}
IM_STATUS imtranslate(const rga_buffer_t src, rga_buffer_t dst, int x, int y, int, int* fence) {
  return translate(src, dst, x, y, fence);
}
IM_STATUS imcvtcolor(rga_buffer_t src, rga_buffer_t dst, int sfmt, int dfmt, int mode, int,
                     int* fence) {
  return convert(src, dst, sfmt, dfmt, mode, fence);
}
IM_STATUS imrotate(const rga_buffer_t src, rga_buffer_t dst, int rotation, int, int* fence) {
  return run_guarded(task_of(src, dst, rotation), fence);
}
IM_STATUS imflip(const rga_buffer_t src, rga_buffer_t dst, int mode, int, int* fence) {
  return run_guarded(task_of(src, dst, mode), fence);
}
IM_STATUS imfill(rga_buffer_t dst, im_rect rect, int color, int, int* fence) {
  return fill(dst, rect, color, fence);
}
IM_STATUS improcess(rga_buffer_t src, rga_buffer_t dst, rga_buffer_t, im_rect srect, im_rect drect,
                    im_rect, int, int* fence, im_opt_t* opt, int usage) {
  return process(src, dst, srect, drect, usage, opt, fence);
}
