// SPDX-License-Identifier: Apache-2.0
// Looking up chips and asking them. The list of chips is chips.h.
#include "target/target.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "ir/graph.h"
#include "target/chips.h"

namespace rk::target {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool answers_to(const Target& target, std::string_view name) {
  return target.name == name || std::ranges::find(target.also, name) != target.also.end();
}

const Target* find_or_null(std::string_view name) {
  const std::string wanted = lower(name);
  for (const Target* target : all_targets()) {
    if (answers_to(*target, wanted)) return target;
  }
  return nullptr;
}

bool is_convolution(const Node& node) {
  return node.op() == "Conv" || node.op() == "FusedConv" || node.op() == "ConvTranspose";
}

// Only a convolution that reads a model input of 1, 3 or 4 channels works on a packed picture.
std::string refuse_picture(const PictureLimit& limit, const Node& node, DType dtype) {
  const Shape& in = node.input(0).shape();
  const int line = dtype == DType::kI8 ? limit.line_i8 : limit.line_f16;
  if (line == 0 || !is_convolution(node) || node.input(0).producer() != nullptr) return "";
  if (in.rank() != 4 || (in[1] != 1 && in[1] != 3 && in[1] != 4)) return "";
  const Shape& weight = node.input(1).shape();
  int64_t kernel[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto& dilations = node.ints("dilations");
    const int64_t dilation = axis < dilations.size() ? dilations[axis] : 1;
    kernel[axis] = (weight[static_cast<int>(axis) + 2] - 1) * dilation + 1;
  }
  const bool depthwise = node.i64("group") == in[1] && in[1] > 1;
  const int64_t area = depthwise ? limit.depthwise_area : limit.area;
  const int64_t reserved = depthwise ? limit.depthwise_reserved : limit.reserved;
  const int64_t used = std::max((kernel[0] * kernel[1] + area - 1) / area, reserved);
  const int64_t n = std::min<int64_t>(limit.banks - used, 7);
  if (n < 1) return str("kernel ", kernel[0], "x", kernel[1], " on a picture input");
  if (in[3] > limit.max_width) return str("picture width ", in[3], " > ", limit.max_width);
  if (in[3] * kernel[0] > line * n) {
    return str("picture width ", in[3], " * kernel height ", kernel[0], " > ", line * n);
  }
  return "";
}

}  // namespace

const Capability* Target::find(std::string_view op) const {
  const auto row = std::ranges::find(npu, op, &Capability::op);
  return row == npu.end() ? nullptr : &*row;
}

std::string Target::refuse(const Node& node, DType dtype) const {
  const Capability* row = find(node.op());
  if (row == nullptr) return str(name, "'s NPU has no ", node.op());
  const bool has = dtype == DType::kI8    ? row->i8
                   : dtype == DType::kI16 ? row->i16
                   : dtype == DType::kF16 ? row->f16
                                          : false;
  if (!has) return str(name, "'s NPU has no ", node.op(), " in ", to_string(dtype));
  if (row->refuse != nullptr) {
    if (std::string reason = row->refuse(node); !reason.empty()) return reason;
  }
  return refuse_picture(picture, node, dtype);
}

std::string Target::refuse_cpu(const Node& node) const {
  if (!has_cpu_ops) return str(name, " has no CPU operators");
  const std::string_view op = node.op() == "FusedConv" ? "Conv"
                              : node.op() == "Gemm"    ? "MatMul"
                                                       : node.op();
  if (cpu_ops.empty() || std::ranges::find(cpu_ops, op) != cpu_ops.end()) return "";
  return str(name, "'s CPU has no ", node.op());
}

std::span<const Target* const> all_targets() {
#define RK_LIST(chip) &chip(),
  static const std::array targets = {RK_CHIPS(RK_LIST)};
#undef RK_LIST
  return targets;
}

Result<const Target*> find_target(std::string_view name) {
  if (const Target* target = find_or_null(name)) return target;
  std::string known;
  for (const Target* target : all_targets()) {
    known += str(known.empty() ? "" : ", ", target->name);
    for (const std::string_view alias : target->also) known += str(", ", alias);
  }
  return invalid_argument(
      str("target platform '", name, "' is not known; expected one of ", known));
}

bool runs_on(std::string_view model_target, std::string_view chip) {
  const Target* made_for = find_or_null(model_target);
  return made_for != nullptr && made_for == find_or_null(chip);
}

}  // namespace rk::target
