// SPDX-License-Identifier: Apache-2.0
#include "quant/sparsity.h"

#include <cmath>

namespace rk::quant {
namespace {

constexpr int64_t kChannelMultiple = 32;

// Where the stored weights are not 0, as [out][in][tap].
class NonZero {
 public:
  explicit NonZero(const Value& weight)
      : outs_(weight.shape()[0]),
        ins_(weight.shape()[1]),
        taps_(weight.shape().elements() / std::max<int64_t>(outs_ * ins_, 1)) {
    const auto values = weight.constant().span<float>();
    const std::vector<float>& scale = weight.quant.scale;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto out = static_cast<int64_t>(i) / (ins_ * taps_);
      const float step =
          scale.empty() ? 0 : scale[scale.size() == 1 ? 0 : static_cast<size_t>(out)];
      set_.push_back(std::fabs(values[i]) > step / 2);
    }
  }
  int64_t outs() const { return outs_; }
  int64_t ins() const { return ins_; }

  // Of each `group` weights along one axis at most `most` are set.
  bool holds(bool along_inputs, int64_t group, int64_t most) const {
    const int64_t length = along_inputs ? ins_ : outs_, others = along_inputs ? outs_ : ins_;
    for (int64_t other = 0; other < others; ++other) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        for (int64_t begin = 0; begin < length; begin += group) {
          int64_t count = 0;
          for (int64_t i = begin; i < std::min(begin + group, length); ++i) {
            const int64_t out = along_inputs ? other : i, in = along_inputs ? i : other;
            count += set_[static_cast<size_t>((out * ins_ + in) * taps_ + tap)] ? 1 : 0;
          }
          if (count > most) return false;
        }
      }
    }
    return true;
  }

  // 4:2 along one axis and, of what that leaves, 4:2 along the other: of each 4 by 4 weights at most 4 are set, and at
  // most 2 of them in a line along the first axis.
  bool holds_both(bool inputs_first) const {
    constexpr int64_t kSide = 4, kMost = 4, kMostInLine = 2;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      for (int64_t out = 0; out < outs_; out += kSide) {
        for (int64_t in = 0; in < ins_; in += kSide) {
          int64_t all = 0, lines[kSide] = {};
          for (int64_t i = 0; i < kSide * kSide; ++i) {
            const int64_t o = i / kSide, c = i % kSide;
            if (out + o >= outs_ || in + c >= ins_) continue;
            if (!set_[static_cast<size_t>(((out + o) * ins_ + in + c) * taps_ + tap)]) continue;
            ++all;
            if (++lines[inputs_first ? o : c] > kMostInLine) return false;
          }
          if (all > kMost) return false;
        }
      }
    }
    return true;
  }

 private:
  int64_t outs_, ins_, taps_;
  std::vector<bool> set_;
};

SparseLayer judged(const Node& conv) {
  SparseLayer out{conv.output().name(), target::Sparsity::kNone, ""};
  const Value& weight = conv.input(1);
  if (!weight.is_constant() || weight.dtype() != DType::kF32) {
    out.reason = "weights are computed at run time";
  } else if (weight.shape().rank() != 4) {
    out.reason = "not a 2-D convolution";
  } else if (conv.i64("group") != 1) {
    out.reason = str("group is ", conv.i64("group"));
  } else if (weight.shape()[0] % kChannelMultiple != 0 ||
             weight.shape()[1] % kChannelMultiple != 0) {
    out.reason = str("channels ", weight.shape()[1], " -> ", weight.shape()[0],
                     " are no multiples of ", kChannelMultiple);
  } else {
    const NonZero set(weight);
    if (set.holds_both(true) || set.holds_both(false)) {
      out.sparsity = target::Sparsity::kBoth;
    } else if (set.holds(true, 4, 2)) {
      out.sparsity = target::Sparsity::kInputs;
    } else if (set.holds(false, 4, 2)) {
      out.sparsity = target::Sparsity::kOutputs;
    } else {
      out.reason = "zeros are in no pattern of 4:2 or 16:4";
    }
  }
  return out;
}

}  // namespace

std::vector<SparseLayer> find_sparse_layers(const Graph& graph) {
  std::vector<SparseLayer> out;
  for (const Node* node : graph.nodes()) {
    if (node->op() == "Conv" || node->op() == "FusedConv") out.push_back(judged(*node));
  }
  return out;
}

std::string to_text(const std::vector<SparseLayer>& layers) {
  constexpr size_t kNameColumns = 60, kRatioColumns = 14;
  const auto padded = [](std::string text, size_t columns) {
    text.resize(std::max(text.size() + 1, columns), ' ');
    return text;
  };
  std::string out = padded("Layer", kNameColumns) + "SparseRatio";
  for (const SparseLayer& layer : layers) {
    const std::string ratio(target::to_string(layer.sparsity));
    out += "\n" + padded(layer.name, kNameColumns) +
           (layer.reason.empty() ? ratio : padded(ratio, kRatioColumns) + layer.reason);
  }
  return out;
}

}  // namespace rk::quant
