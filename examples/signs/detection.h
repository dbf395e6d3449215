// SPDX-License-Identifier: Apache-2.0
// From the detector's three raw heads to boxes, and from boxes to mAP. This is the part of a YOLOv5
// application that stays on the CPU: the network is exported without it.
//
// Note: the heads are logits. Sigmoid comes first, also for the box extents, and
// the score is objectness times class, not objectness alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace signs {

inline constexpr int kPictureSize = 320;  // both sides, pixels
inline constexpr int kClassCount = 8;
inline constexpr int kAnchorsPerHead = 3;
inline constexpr int kHeadChannels = kAnchorsPerHead * (5 + kClassCount);
inline constexpr std::array<int, 3> kStrides = {8, 16, 32};  // one head each, in output order

std::string_view class_name(int cls);  // cls in 0..kClassCount-1

struct Box {  // pixels
  float cx = 0, cy = 0, w = 0, h = 0;
};

struct Detection {
  Box box;
  float score = 0;
  int cls = 0;
};

struct Object {  // what is really there
  Box box;
  int cls = 0;
};

// kHeadChannels planes of (picture_size / stride)^2 logits: the model's output k for stride
// kStrides[k].
using Heads = std::array<std::span<const float>, 3>;

struct DecodeOptions {
  float score_threshold = 0.05f;    // low, as for mAP; show a user 0.5 and above
  float nms_iou = 0.45f;            // of two boxes of one class that overlap more, the weaker goes
  int picture_size = kPictureSize;  // a multiple of 32 where the model was converted for another
};

// Best first. A head of another length than its stride asks for is kInvalidArgument.
rk::Result<std::vector<Detection>> decode(const Heads& heads, const DecodeOptions& options = {});

float intersection_over_union(const Box& a, const Box& b);

// Mean over the classes of the area under the precision-recall curve, all points, where a hit
// overlaps a so far unclaimed object by more than `iou`. Both lists have one entry per picture.
double mean_average_precision(std::span<const std::vector<Detection>> detections,
                              std::span<const std::vector<Object>> objects, float iou = 0.5f);

// labels.txt: "<picture number> <class> <cx> <cy> <w> <h>" a line, '#' starts a comment. One entry
// per picture.
rk::Result<std::vector<std::vector<Object>>> read_labels(const std::string& path,
                                                         size_t picture_count);

}  // namespace signs
