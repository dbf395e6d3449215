// SPDX-License-Identifier: Apache-2.0
// Objects keep their number from frame to frame. Frames come from a generated source: three shapes that pass
// each other, one of which is hidden for a while.
//
//   rknn_tracking_demo MODEL.rknn [FRAMES]
//
// Prints "frame id class score xmin ymin xmax ymax" for everything that is followed.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "signs/detection.h"
#include "utils/boxes.h"
#include "utils/rknn_model.h"

namespace {

using examples::Found;

constexpr int kSide = 320;
constexpr float kScore = 0.4f, kSameObject = 0.2f;
constexpr int kPatience = 12;  // frames that an object may stay unseen
constexpr int kSure = 3;       // frames before an object is believed

void draw_frame(int frame, std::vector<uint8_t>& pixels) {
  const float t = static_cast<float>(frame);
  const float circle_x = 60 + 3.0f * t, circle_y = 65, square_x = 260 - 3.0f * t, square_y = 155;
  const float top_y = 215, middle_x = 100 + 2.0f * t;
  const bool hidden = frame >= 30 && frame < 36;  // the square, for six frames
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const float fx = static_cast<float>(x), fy = static_cast<float>(y);
      float color[3] = {0.5f + 0.12f * std::sin(fx / 31) * std::cos(fy / 47),
                        0.5f + 0.12f * std::sin(fx / 23) * std::cos(fy / 61),
                        0.5f + 0.12f * std::sin(fx / 53) * std::cos(fy / 29)};
      const auto paint = [&](float r, float g, float b) {
        color[0] = r, color[1] = g, color[2] = b;
      };
      if (fy < top_y + 85 && fy - top_y > 1.7f * std::fabs(fx - middle_x)) paint(0.05f, 0.8f, 0.2f);
      if (!hidden && std::fabs(fx - square_x) < 35 && std::fabs(fy - square_y) < 35)
        paint(0.1f, 0.2f, 0.95f);
      if ((fx - circle_x) * (fx - circle_x) + (fy - circle_y) * (fy - circle_y) < 36 * 36)
        paint(0.9f, 0.15f, 0.1f);
      for (int c = 0; c < 3; ++c)
        pixels[static_cast<size_t>((y * kSide + x) * 3 + c)] = static_cast<uint8_t>(color[c] * 255);
    }
  }
}

struct Track {
  int id = 0;
  Found box;
  float vx = 0, vy = 0;  // pixels a frame
  int unseen = 0;
  int seen = 1;
};

class Tracker {
 public:
  // Best pairs of a track, moved on by its speed, and a detection of its class first; what is left begins a track.
  void update(const std::vector<Found>& found) {
    for (Track& track : tracks_) {
      track.box.left += track.vx, track.box.right += track.vx;
      track.box.top += track.vy, track.box.bottom += track.vy;
      ++track.unseen;
    }
    std::vector<bool> taken(found.size());
    for (;;) {
      float best = kSameObject;
      size_t t = tracks_.size(), f = 0;
      for (size_t i = 0; i < tracks_.size(); ++i) {
        if (tracks_[i].unseen == 0) continue;
        for (size_t k = 0; k < found.size(); ++k) {
          if (taken[k] || found[k].cls != tracks_[i].box.cls) continue;
          const float same = examples::overlap(tracks_[i].box, found[k]);
          if (same > best) best = same, t = i, f = k;
        }
      }
      if (t == tracks_.size()) break;
      Track& track = tracks_[t];
      const float n = 0.3f;  // of the new speed; a box jitters more than an object
      track.vx += n * (found[f].left + found[f].right - track.box.left - track.box.right) / 2;
      track.vy += n * (found[f].top + found[f].bottom - track.box.top - track.box.bottom) / 2;
      track.box = found[f];
      track.unseen = 0;
      ++track.seen;
      taken[f] = true;
    }
    for (size_t k = 0; k < found.size(); ++k) {
      if (!taken[k]) tracks_.push_back({next_++, found[k], 0, 0, 0, 1});
    }
    std::erase_if(tracks_, [](const Track& track) { return track.unseen > kPatience; });
  }
  const std::vector<Track>& tracks() const { return tracks_; }

 private:
  std::vector<Track> tracks_;
  int next_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc == 3 ? std::atoi(argv[2]) : 60;
  examples::Model model;
  if ((argc != 2 && argc != 3) || frames <= 0) {
    std::fprintf(stderr, "usage: %s MODEL.rknn [FRAMES]\n", argv[0]);
    return 2;
  }
  if (!model.init(argv[1]) || !model.bind()) return 1;
  if (model.width() != kSide || model.height() != kSide || model.outputs().size() != 3 ||
      model.row_pixels() != kSide) {
    std::fprintf(stderr, "the model is not the signs detector\n");
    return 1;
  }
  std::vector<uint8_t> pixels(kSide * kSide * 3);
  Tracker tracker;
  for (int frame = 0; frame < frames; ++frame) {
    draw_frame(frame, pixels);
    std::copy(pixels.begin(), pixels.end(), model.write_address());
    if (!model.run_bound()) return 1;
    signs::Heads heads;
    for (size_t k = 0; k < 3; ++k) heads[k] = {model.bound_output(k), model.outputs()[k].n_elems};
    const auto found = signs::decode(heads, {.score_threshold = kScore});
    if (!found.ok()) return 1;
    std::vector<Found> boxes;
    for (const signs::Detection& d : *found) {
      boxes.push_back({d.box.cx - d.box.w / 2, d.box.cy - d.box.h / 2, d.box.cx + d.box.w / 2,
                       d.box.cy + d.box.h / 2, d.score, d.cls});
    }
    tracker.update(boxes);
    for (const Track& track : tracker.tracks()) {
      if (track.unseen != 0 || track.seen < kSure) continue;
      std::printf("%d %d %s %.3f %.1f %.1f %.1f %.1f\n", frame, track.id,
                  std::string(signs::class_name(track.box.cls)).c_str(), track.box.score,
                  track.box.left, track.box.top, track.box.right, track.box.bottom);
    }
  }
  return 0;
}
