// SPDX-License-Identifier: Apache-2.0
// Video through the NPU without a copy: a camera or decoder writes frames into memory with a descriptor, the 2D engine letterboxes
// them into the NPU's input, outputs are read where the NPU wrote them, boxes are drawn on a preview. Beside it the same with copies,
// which is also what remains where memory cannot be shared; the reason is on standard error then.
//
//   rknn_video_demo MODEL.rknn [--file VIDEO | --size 1920x1080] [--streams 1..4] [--frames N] [--mode zero|copy|both]
//                   [--write OUT.png] [--growth] [--table]
//   rknn_video_demo --make VIDEO.mp4 [--size 1920x1080] [--frames N]
#include <dirent.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "signs/detection.h"
#include "utils/boxes.h"
#include "utils/rknn_model.h"
#include "video/frames.h"

namespace {

using examples::Found;
using examples::Model;

constexpr float kScore = 0.4f;
constexpr int kBars = 0x727272;
constexpr int kPreviewWidth = 640;

struct Settings {
  std::string model, file, make, mode = "both", write;
  int width = 1920, height = 1080, streams = 1, frames = 60;  // frames of each stream
  bool growth = false, table = false;
};

// What one stream did.
struct Counts {
  uint64_t frames = 0, copies = 0, bytes = 0, boxes = 0;
  uint64_t sum = 1469598103934665603u;  // of all boxes, to compare two ways

  void copied(size_t size) {
    ++copies;
    bytes += size;
  }
  void mix(int64_t value) { sum = (sum ^ static_cast<uint64_t>(value)) * 1099511628211u; }
};

void draw(std::vector<uint8_t>& pixels, int width, int height, float scale, const Found& box) {
  const auto dot = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    uint8_t* const pixel = &pixels[static_cast<size_t>(y * width + x) * 3];
    pixel[0] = 255, pixel[1] = pixel[2] = 32;
  };
  const int left = static_cast<int>(box.left * scale), right = static_cast<int>(box.right * scale);
  const int top = static_cast<int>(box.top * scale), bottom = static_cast<int>(box.bottom * scale);
  for (int x = left; x <= right; ++x) dot(x, top), dot(x, bottom);
  for (int y = top; y <= bottom; ++y) dot(left, y), dot(right, y);
}

class Stream {
 public:
  ~Stream() {
    if (input_handle_ != 0) releasebuffer_handle(input_handle_);
    source_.reset();  // gives its frames back to the pool
  }

  bool start(const Settings& settings, Model& first, int number, bool zero_copy) {
    number_ = number;
    video::FramePool* const pool = zero_copy ? &pool_ : nullptr;
    source_ = settings.file.empty()
                  ? video::generated(settings.width, settings.height, number, pool)
                  : video::decoded(settings.file, pool);
    if (source_ == nullptr) return false;
    wanted_ = zero_copy;
    if (zero_copy) {
      const std::string why = bind(first);
      bound_ = why.empty();
      if (!bound_)
        std::fprintf(stderr, "stream %d: the NPU's input is copied: %s\n", number_, why.c_str());
    }
    if (!bound_) {
      model_ = std::make_unique<Model>();
      if (!model_->dup(first)) return false;
      input_.resize(size_t{model_->width()} * model_->height() * 3);
    }
    return prepare();
  }

  // One frame: letterbox, NPU, boxes, preview.
  bool step() {
    video::View view;
    if (!source_->next(&view)) return false;
    const video::Layout& layout = source_->layout();
    rga_buffer_t from;
    if (view.frame != nullptr) {
      from = wrapbuffer_handle(view.frame->handle, layout.width, layout.height,
                               RK_FORMAT_YCbCr_420_P, layout.wstride, layout.hstride);
    } else {
      copy_frame(view, layout);
      from =
          wrapbuffer_virtualaddr(frame_.data(), layout.width, layout.height, RK_FORMAT_YCbCr_420_P);
    }
    const im_rect inside = {letterbox_.x_pad, letterbox_.y_pad, inside_width_, inside_height_};
    if (!engine(improcess(from, target_, rga_buffer_t{}, im_rect{}, inside, im_rect{}, IM_SYNC)) ||
        !run())
      return false;
    rga_buffer_t preview =
        wrapbuffer_virtualaddr(preview_.data(), preview_width_, preview_height_, RK_FORMAT_RGB_888);
    if (!engine(improcess(from, preview, rga_buffer_t{}, im_rect{}, im_rect{}, im_rect{}, IM_SYNC)))
      return false;
    const float scale = static_cast<float>(preview_width_) / static_cast<float>(layout.width);
    for (const Found& box : found_) draw(preview_, preview_width_, preview_height_, scale, box);
    ++counts.frames;
    return true;
  }

  bool write_preview(const std::string& path) {
    image_buffer_t image{};
    image.width = preview_width_;
    image.height = preview_height_;
    image.format = IMAGE_FORMAT_RGB888;
    image.virt_addr = preview_.data();
    return write_image(path.c_str(), &image) == 0;
  }
  // Of the last frame.
  void print_boxes() const {
    examples::print_table_head();
    for (const Found& box : found_)
      examples::print_table_row(std::string(signs::class_name(box.cls)), box);
  }
  const char* memory() const { return pool_.kind(); }

  Counts counts;

 private:
  // Empty: the NPU reads its input where the 2D engine writes it.
  std::string bind(Model& first) {
    model_ = std::make_unique<Model>();
    if (!model_->dup(first)) return "rknn_dup_context";
    if (!model_->bind()) return "its memory could not be made or bound";
    input_handle_ = importbuffer_fd(model_->write_descriptor(),
                                    static_cast<int>(model_->row_pixels() * model_->height() * 3));
    return input_handle_ != 0 ? "" : "the 2D engine does not take its memory";
  }

  bool prepare() {
    if (model_->outputs().size() != 3) {
      std::fprintf(stderr, "the model is not a detector with three heads\n");
      return false;
    }
    const video::Layout& layout = source_->layout();
    const int width = static_cast<int>(model_->width()),
              height = static_cast<int>(model_->height());
    target_ = bound_ ? wrapbuffer_handle(input_handle_, width, height, RK_FORMAT_RGB_888,
                                         static_cast<int>(model_->row_pixels()), height)
                     : wrapbuffer_virtualaddr(input_.data(), width, height, RK_FORMAT_RGB_888);
    const float scale = std::min(static_cast<float>(width) / static_cast<float>(layout.width),
                                 static_cast<float>(height) / static_cast<float>(layout.height));
    inside_width_ =
        std::min(width, static_cast<int>(static_cast<float>(layout.width) * scale + 0.5f));
    inside_height_ =
        std::min(height, static_cast<int>(static_cast<float>(layout.height) * scale + 0.5f));
    letterbox_ = {(width - inside_width_) / 2, (height - inside_height_) / 2, scale};
    preview_width_ = std::min(kPreviewWidth, layout.width);
    preview_height_ = std::max(2, preview_width_ * layout.height / layout.width);
    preview_.resize(static_cast<size_t>(preview_width_ * preview_height_) * 3);
    // Once: frames never touch the bars.
    return engine(imfill(target_, {0, 0, width, height}, kBars));
  }

  void copy_frame(const video::View& view, const video::Layout& layout) {
    if (wanted_ && !told_) {
      told_ = true;
      std::fprintf(stderr, "stream %d: frames are copied: %s\n", number_,
                   pool_.why().empty() ? "the decoder has its own memory" : pool_.why().c_str());
    }
    const auto width = static_cast<size_t>(layout.width),
               height = static_cast<size_t>(layout.height);
    frame_.resize(width * height * 3 / 2);
    uint8_t* to = frame_.data();
    for (int c = 0; c < 3; ++c) {
      const size_t line = c == 0 ? width : width / 2, rows = c == 0 ? height : height / 2;
      for (size_t y = 0; y < rows; ++y, to += line)
        std::memcpy(to, view.plane[c] + static_cast<ptrdiff_t>(y) * view.line[c], line);
    }
    counts.copied(frame_.size());
  }

  bool run() {
    signs::Heads heads;
    if (bound_ ? !model_->run_bound() : !model_->run_picture(input_.data(), &outputs_))
      return false;
    if (!bound_) counts.copied(input_.size());  // rknn_inputs_set
    size_t size = 0;
    for (size_t k = 0; k < 3; ++k) {
      heads[k] = {bound_ ? model_->bound_output(k) : outputs_[k].data(),
                  model_->outputs()[k].n_elems};
      size += heads[k].size_bytes();
    }
    if (!bound_) counts.copied(size), counts.copied(size);  // rknn_outputs_get, then into outputs_
    const auto decoded = signs::decode(
        heads, {.score_threshold = kScore, .picture_size = static_cast<int>(model_->width())});
    if (!decoded.ok()) {
      std::fprintf(stderr, "%s\n", decoded.status().message().c_str());
      return false;
    }
    found_.clear();
    const video::Layout& layout = source_->layout();
    for (const signs::Detection& d : *decoded) {
      const Found box =
          examples::in_picture({d.box.cx - d.box.w / 2, d.box.cy - d.box.h / 2,
                                d.box.cx + d.box.w / 2, d.box.cy + d.box.h / 2, d.score, d.cls},
                               letterbox_, layout.width, layout.height);
      found_.push_back(box);
      ++counts.boxes;
      for (const float value : {box.left, box.top, box.right, box.bottom, box.score * 1000})
        counts.mix(std::lround(value));
      counts.mix(box.cls);
    }
    return true;
  }

  static bool engine(IM_STATUS status) {
    if (status == IM_STATUS_SUCCESS) return true;
    std::fprintf(stderr, "the 2D engine: %s\n", imStrError(status));
    return false;
  }

  int number_ = 0;
  bool wanted_ = false, bound_ = false, told_ = false;
  video::FramePool pool_;
  std::unique_ptr<video::Source> source_;
  std::unique_ptr<Model> model_;
  rga_buffer_handle_t input_handle_ = 0;
  rga_buffer_t target_{};
  letterbox_t letterbox_{};
  int inside_width_ = 0, inside_height_ = 0, preview_width_ = 0, preview_height_ = 0;
  std::vector<uint8_t> frame_, input_, preview_;
  examples::Outputs outputs_;
  std::vector<Found> found_;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// "NNN kB, M descriptors" of this process.
std::string held() {
  std::ifstream status("/proc/self/status");
  std::string line, memory = "? kB";
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:")) memory = line.substr(line.find_first_of("0123456789"));
  }
  int descriptors = 0;
  if (DIR* const folder = opendir("/proc/self/fd"); folder != nullptr) {
    while (readdir(folder) != nullptr) ++descriptors;
    closedir(folder);
  }
  return memory + ", " + std::to_string(descriptors - 3) +
         " descriptors";  // ".", ".." and the folder itself
}

bool run(const Settings& settings, bool zero_copy) {
  Model first;
  if (!first.init(settings.model)) return false;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < settings.streams; ++i) {
    streams.push_back(std::make_unique<Stream>());
    if (!streams.back()->start(settings, first, i, zero_copy)) return false;
  }
  std::atomic<bool> failed{false};
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const auto& stream : streams) {
    threads.emplace_back([&, worker = stream.get()] {
      for (int t = 0; t < settings.frames && !failed; ++t) {
        if (!worker->step()) failed = true;
        if (settings.growth && worker == streams[0].get() &&
            (t + 1 == settings.frames / 10 || t + 1 == settings.frames))
          std::printf("after %d frames: %s\n", t + 1, held().c_str());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double busy = cpu_seconds() - cpu;
  if (failed) return false;
  Counts all;
  for (const auto& stream : streams) {
    all.frames += stream->counts.frames;
    all.copies += stream->counts.copies;
    all.bytes += stream->counts.bytes;
    all.boxes += stream->counts.boxes;
    all.mix(static_cast<int64_t>(stream->counts.sum));
  }
  const auto n = static_cast<double>(all.frames);
  std::printf(
      "%s: %d streams, %llu frames, %.1f fps, %.2f copies per frame, %.0f bytes, CPU %.0f %%, %llu "
      "boxes, sum %016llx, memory %s\n",
      zero_copy ? "zero-copy" : "copying", settings.streams,
      static_cast<unsigned long long>(all.frames), n / wall, static_cast<double>(all.copies) / n,
      static_cast<double>(all.bytes) / n, 100 * busy / wall,
      static_cast<unsigned long long>(all.boxes), static_cast<unsigned long long>(all.sum),
      streams[0]->memory());
  if (settings.table) streams[0]->print_boxes();
  return settings.write.empty() || streams[0]->write_preview(settings.write);
}

bool parse(int argc, char** argv, Settings* out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--growth")
      out->growth = true;
    else if (word == "--table")
      out->table = true;
    else if (word == "--file" && more)
      out->file = argv[++i];
    else if (word == "--make" && more)
      out->make = argv[++i];
    else if (word == "--mode" && more)
      out->mode = argv[++i];
    else if (word == "--write" && more)
      out->write = argv[++i];
    else if (word == "--streams" && more)
      out->streams = std::atoi(argv[++i]);
    else if (word == "--frames" && more)
      out->frames = std::atoi(argv[++i]);
    else if (word == "--size" && more) {
      if (std::sscanf(argv[++i], "%dx%d", &out->width, &out->height) != 2) return false;
    } else if (out->model.empty() && !word.starts_with("--"))
      out->model = word;
    else
      return false;
  }
  const auto side = [](int pixels) { return pixels >= 32 && pixels <= 8192 && pixels % 2 == 0; };
  return out->model.empty() != out->make.empty() && side(out->width) && side(out->height) &&
         out->streams >= 1 && out->streams <= 4 && out->frames >= 1 &&
         (out->mode == "zero" || out->mode == "copy" || out->mode == "both");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: %s MODEL.rknn [--file VIDEO | --size 1920x1080] [--streams 1..4] "
                 "[--frames N] [--mode zero|copy|both]\n"
                 "       [--write OUT.png] [--growth] [--table]\n"
                 "       %s --make VIDEO.mp4 [--size 1920x1080] [--frames N]\n",
                 argv[0], argv[0]);
    return 2;
  }
  if (!settings.make.empty())
    return video::encode(settings.make, settings.width, settings.height, settings.frames) ? 0 : 1;
  if (settings.mode != "copy" && !run(settings, true)) return 1;
  return settings.mode == "zero" || run(settings, false) ? 0 : 1;
}
