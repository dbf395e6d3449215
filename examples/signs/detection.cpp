// SPDX-License-Identifier: Apache-2.0
// YOLOv5 decoding, non-maximum suppression per class, and average precision.
#include "signs/detection.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace signs {
namespace {

using rk::invalid_argument;
using rk::str;

constexpr std::array<std::string_view, kClassCount> kClassNames = {
    "circle", "triangle", "square", "pentagon", "star", "cross", "heart", "arrow"};

// Side lengths in pixels, per head; the anchors are square.
constexpr std::array<std::array<float, kAnchorsPerHead>, 3> kAnchors = {
    {{16, 24, 34}, {48, 66, 90}, {120, 156, 204}}};

// More candidates than this are noise; keeps suppression quadratic in a small number.
constexpr size_t kMaxCandidates = 300;

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// All candidates of one head above the threshold.
void decode_head(std::span<const float> head, int cells, int stride, std::span<const float> anchors,
                 float threshold, std::vector<Detection>& out) {
  const size_t plane = static_cast<size_t>(cells) * static_cast<size_t>(cells);
  for (size_t a = 0; a < anchors.size(); ++a) {
    const float* const first = head.data() + a * (5 + kClassCount) * plane;
    for (size_t cell = 0; cell < plane; ++cell) {
      const auto channel = [&](size_t c) { return first[c * plane + cell]; };
      const float objectness = sigmoid(channel(4));
      if (objectness <= threshold) continue;  // a score cannot exceed it
      size_t best = 0;
      for (size_t c = 1; c < kClassCount; ++c) {
        if (channel(5 + c) > channel(5 + best)) best = c;
      }
      const float score = objectness * sigmoid(channel(5 + best));
      if (score <= threshold) continue;
      const auto x = static_cast<float>(cell % static_cast<size_t>(cells));
      const auto y = static_cast<float>(cell / static_cast<size_t>(cells));
      const auto pixels = static_cast<float>(stride);
      const float w = 2 * sigmoid(channel(2));
      const float h = 2 * sigmoid(channel(3));
      out.push_back(
          {{(2 * sigmoid(channel(0)) - 0.5f + x) * pixels,
            (2 * sigmoid(channel(1)) - 0.5f + y) * pixels, w * w * anchors[a], h * h * anchors[a]},
           score,
           static_cast<int>(best)});
    }
  }
}

// One detection of one class, in the order of the precision-recall curve.
struct Ranked {
  float score = 0;
  bool hit = false;
};

// Claims objects for the detections of one picture and class, best score first.
void rank_picture(const std::vector<Detection>& detections, const std::vector<Object>& objects,
                  int cls, float iou, std::vector<Ranked>& ranked) {
  std::vector<bool> claimed(objects.size());
  for (const Detection& detection : detections) {
    if (detection.cls != cls) continue;
    size_t best = objects.size();
    float best_iou = 0;
    for (size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].cls != cls) continue;
      const float overlap = intersection_over_union(detection.box, objects[i].box);
      if (overlap > best_iou) {
        best_iou = overlap;
        best = i;
      }
    }
    const bool hit = best_iou > iou && !claimed[best];
    if (hit) claimed[best] = true;
    ranked.push_back({detection.score, hit});
  }
}

double average_precision(std::vector<Ranked> ranked, size_t object_count) {
  if (ranked.empty() || object_count == 0) return 0;
  std::ranges::stable_sort(ranked, std::greater<>{}, &Ranked::score);
  std::vector<double> precision, recall;
  size_t hits = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    hits += ranked[i].hit ? 1 : 0;
    precision.push_back(static_cast<double>(hits) / static_cast<double>(i + 1));
    recall.push_back(static_cast<double>(hits) / static_cast<double>(object_count));
  }
  // The best precision at this recall or beyond.
  for (size_t i = precision.size() - 1; i > 0; --i) {
    precision[i - 1] = std::max(precision[i - 1], precision[i]);
  }
  double area = 0;
  for (size_t i = 0; i < precision.size(); ++i) {
    area += (recall[i] - (i == 0 ? 0.0 : recall[i - 1])) * precision[i];
  }
  return area;
}

}  // namespace

std::string_view class_name(int cls) { return kClassNames[static_cast<size_t>(cls)]; }

float intersection_over_union(const Box& a, const Box& b) {
  const auto shared = [](float ca, float sa, float cb, float sb) {
    return std::max(0.0f, std::min(ca + sa / 2, cb + sb / 2) - std::max(ca - sa / 2, cb - sb / 2));
  };
  const float both = shared(a.cx, a.w, b.cx, b.w) * shared(a.cy, a.h, b.cy, b.h);
  const float either = a.w * a.h + b.w * b.h - both;
  return either > 0 ? both / either : 0;
}

rk::Result<std::vector<Detection>> decode(const Heads& heads, const DecodeOptions& options) {
  std::vector<Detection> candidates;
  for (size_t k = 0; k < heads.size(); ++k) {
    const int cells = options.picture_size / kStrides[k];
    const auto wanted = static_cast<size_t>(kHeadChannels * cells * cells);
    if (heads[k].size() != wanted) {
      return invalid_argument(str("head ", k, " has ", heads[k].size(), " values, stride ",
                                  kStrides[k], " needs ", wanted, "; is this the signs model?"));
    }
    decode_head(heads[k], cells, kStrides[k], kAnchors[k], options.score_threshold, candidates);
  }
  std::ranges::stable_sort(candidates, std::greater<>{}, &Detection::score);
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);

  std::vector<Detection> kept;
  for (const Detection& candidate : candidates) {
    const bool suppressed = std::ranges::any_of(kept, [&](const Detection& better) {
      return better.cls == candidate.cls &&
             intersection_over_union(better.box, candidate.box) > options.nms_iou;
    });
    if (!suppressed) kept.push_back(candidate);
  }
  return kept;
}

double mean_average_precision(std::span<const std::vector<Detection>> detections,
                              std::span<const std::vector<Object>> objects, float iou) {
  double sum = 0;
  for (int cls = 0; cls < kClassCount; ++cls) {
    std::vector<Ranked> ranked;
    size_t object_count = 0;
    for (size_t i = 0; i < objects.size(); ++i) {
      object_count += static_cast<size_t>(
          std::ranges::count_if(objects[i], [&](const Object& o) { return o.cls == cls; }));
      rank_picture(detections[i], objects[i], cls, iou, ranked);
    }
    sum += average_precision(std::move(ranked), object_count);
  }
  return sum / kClassCount;
}

rk::Result<std::vector<std::vector<Object>>> read_labels(const std::string& path,
                                                         size_t picture_count) {
  std::ifstream file(path);
  if (!file) return rk::io_error(str("cannot read '", path, "'"));
  std::vector<std::vector<Object>> out(picture_count);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    size_t picture = 0;
    Object object;
    words >> picture >> object.cls >> object.box.cx >> object.box.cy >> object.box.w >>
        object.box.h;
    if (!words || object.cls < 0 || object.cls >= kClassCount || picture >= picture_count) {
      return invalid_argument(str("'", path, "' line ", number, ": expected picture (below ",
                                  picture_count, "), class (0..7), cx, cy, w, h, found '", line,
                                  "'"));
    }
    out[picture].push_back(object);
  }
  return out;
}

}  // namespace signs
