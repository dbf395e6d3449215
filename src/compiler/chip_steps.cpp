// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip_steps.h"

#include <algorithm>

#include "compiler/layout.h"
#include "program/cost.h"
#include "target/conv_traffic.h"
#include "target/memory_rules.h"

namespace rk::compiler {
namespace {

using program::Activation;
using program::ConvParams;
using program::kNone;
using program::ProgramTensor;
using program::Step;
using program::Variant;

constexpr size_t kAddend = 3;

const ProgramTensor& tensor(const Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

bool has_addend(const Step& step) {
  return step.inputs.size() > kAddend && step.inputs[kAddend] != kNone;
}

bool is_depthwise(const Variant& variant, const Step& step) {
  const auto* conv = std::get_if<ConvParams>(&step.params);
  const Shape& in = tensor(variant, step.inputs[0]).shape;
  return conv != nullptr && conv->group > 1 && in.rank() == 4 && conv->group == in[1];
}

// A tensor that only the chip has.
int32_t add_tensor(Variant& variant, const ProgramTensor& like, int64_t channels) {
  ProgramTensor added = like;
  added.kind = program::TensorKind::kInternal;
  added.shape = Shape{like.shape[0], channels, like.shape[2], like.shape[3]};
  added.name = str(like.name, "_on_chip_", variant.tensors.size());
  variant.tensors.push_back(std::move(added));
  return static_cast<int32_t>(variant.tensors.size()) - 1;
}

bool activates(const ConvParams& conv) {
  return conv.activation != Activation::kNone || conv.lookup || conv.slope;
}

bool may_take_addend(const target::Target& target, const Variant& variant, const Step& step) {
  const auto* conv = std::get_if<ConvParams>(&step.params);
  if (conv == nullptr || conv->transposed || has_addend(step) || step.inputs.size() < 2 ||
      step.processor != program::Processor::kNpu)
    return false;
  if (conv->lookup || conv->slope || conv->post_activation != Activation::kNone) return false;
  if (is_depthwise(variant, step)) return target::memory_rules(target).depthwise_add;
  const auto geometry = program::conv_geometry(variant, step);
  return geometry && !target::runs_by_group(target, *geometry);
}

// Steps between the inputs and each step; of a convolution, without its addend.
std::vector<size_t> depths(const Variant& variant) {
  std::vector<size_t> depth(variant.steps.size(), 0), behind(variant.tensors.size(), 0);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const Step& step = variant.steps[s];
    size_t last = 0;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kNone) continue;
      const size_t before = behind[static_cast<size_t>(step.inputs[i])];
      if (i != kAddend || !std::holds_alternative<ConvParams>(step.params))
        depth[s] = std::max(depth[s], before);
      last = std::max(last, before);
    }
    for (const int32_t out : step.outputs) behind[static_cast<size_t>(out)] = last + 1;
  }
  return depth;
}

// Which convolution takes an Add that both could: one that ends with an activation, then the one nearer to the inputs,
// then the first. Our compiler gives it to the last.
void move_additions(const target::Target& target, Variant& variant) {
  const std::vector<size_t> depth = depths(variant);
  std::vector<size_t> readers(variant.tensors.size(), 0);
  std::vector<int64_t> writer(variant.tensors.size(), -1);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    for (const int32_t in : variant.steps[s].inputs)
      if (in != kNone) ++readers[static_cast<size_t>(in)];
    for (const int32_t out : variant.steps[s].outputs)
      writer[static_cast<size_t>(out)] = static_cast<int64_t>(s);
  }
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    Step& taker = variant.steps[s];
    auto* conv = std::get_if<ConvParams>(&taker.params);
    if (conv == nullptr || !has_addend(taker)) continue;
    const auto addend = static_cast<size_t>(taker.inputs[kAddend]);
    if (readers[addend] != 1 || writer[addend] < 0) continue;
    const auto other_at = static_cast<size_t>(writer[addend]);
    Step& other = variant.steps[other_at];
    if (!may_take_addend(target, variant, other)) continue;
    auto& other_conv = std::get<ConvParams>(other.params);
    const bool ours = !is_depthwise(variant, taker) || target::memory_rules(target).depthwise_add;
    if (ours && activates(other_conv) != activates(*conv)) {
      if (activates(*conv)) continue;
    } else if (ours && depth[other_at] > depth[s]) {
      continue;
    }
    std::swap(other_conv, *conv);
    std::swap(other_conv.post_activation, conv->post_activation);
    for (size_t i = 0; i < std::min<size_t>(kAddend, other.inputs.size()); ++i)
      std::swap(other.inputs[i], taker.inputs[i]);
  }
}

// The steps of one convolution on the chip, in order.
class Cutter {
 public:
  Cutter(const target::Target& target, Variant& variant) : target_(target), variant_(variant) {}

  void cut() {
    std::vector<Step> before = std::move(variant_.steps);
    variant_.steps.clear();
    for (Step& step : before) cut(step);
  }

 private:
  void cut(Step& step) {
    auto* conv = std::get_if<ConvParams>(&step.params);
    if (conv == nullptr || step.processor != program::Processor::kNpu) {
      variant_.steps.push_back(std::move(step));
      return;
    }
    const auto geometry = program::conv_geometry(variant_, step);
    const bool groups = geometry && !conv->transposed && target::runs_by_group(target_, *geometry);
    // x + conv(x) is one convolution with other weights.
    const bool folds =
        has_addend(step) && step.inputs[kAddend] == step.inputs[0] && !groups && !activates(*conv);
    const bool takes = !groups && (!is_depthwise(variant_, step) ||
                                   target::memory_rules(target_).depthwise_add || folds);
    std::optional<Step> sum;
    if (has_addend(step) && !takes) sum = cut_addition(step, *conv);
    if (groups) {
      cut_groups(step, *geometry);
    } else if (program::repeats_pixels(variant_, step)) {
      step.inputs.resize(1);
      step.params = program::ResizeParams{.scale_h = static_cast<float>(conv->stride.h),
                                          .scale_w = static_cast<float>(conv->stride.w)};
      variant_.steps.push_back(std::move(step));
    } else {
      variant_.steps.push_back(std::move(step));
    }
    if (sum) variant_.steps.push_back(std::move(*sum));
  }

  // The Add behind a convolution, as a step; the convolution then writes a tensor of its own.
  Step cut_addition(Step& step, ConvParams& conv) {
    const int32_t result = step.outputs[0], addend = step.inputs[kAddend];
    const ProgramTensor like = tensor(variant_, result);
    const int32_t between = add_tensor(variant_, like, like.shape[1]);
    step.outputs[0] = between;
    step.inputs.resize(kAddend);
    program::SumParams sum;
    sum.inputs.resize(2);
    sum.activation = std::exchange(conv.post_activation, Activation::kNone);
    return {.type = "Add",
            .name = step.name,
            .inputs = {between, addend},
            .outputs = {result},
            .params = std::move(sum)};
  }

  void cut_groups(Step& step, const target::ConvGeometry& geometry) {
    const int64_t group = geometry.group;
    const ProgramTensor in = tensor(variant_, step.inputs[0]);
    const ProgramTensor out = tensor(variant_, step.outputs[0]);
    Step split{.type = "Split",
               .name = step.name,
               .inputs = {step.inputs[0]},
               .params = program::OpParams{.op = "Split", .attrs = {{"axis", int64_t{1}}}}};
    Step concat{.type = "Concat",
                .name = step.name,
                .outputs = {step.outputs[0]},
                .params = program::ConcatParams{.axis = 1, .identity = true}};
    for (int64_t g = 0; g < group; ++g)
      split.outputs.push_back(add_tensor(variant_, in, geometry.in_channels / group));
    for (int64_t g = 0; g < group; ++g)
      concat.inputs.push_back(add_tensor(variant_, out, geometry.out_channels / group));
    variant_.steps.push_back(split);
    for (int64_t g = 0; g < group; ++g) {
      Step part = step;
      auto& conv = std::get<ConvParams>(part.params);
      conv.group = 1;
      conv.activation = conv.post_activation = Activation::kNone;
      part.inputs[0] = split.outputs[static_cast<size_t>(g)];
      part.outputs = {concat.inputs[static_cast<size_t>(g)]};
      variant_.steps.push_back(std::move(part));
    }
    variant_.steps.push_back(std::move(concat));
  }

  const target::Target& target_;
  Variant& variant_;
};

}  // namespace

Result<Variant> chip_steps(const target::Target& target, const Variant& variant) {
  Variant chip = variant;
  move_additions(target, chip);
  Cutter(target, chip).cut();
  RK_TRY(assign_layouts(target, chip));
  return chip;
}

}  // namespace rk::compiler
