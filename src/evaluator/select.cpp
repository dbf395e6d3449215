// SPDX-License-Identifier: Apache-2.0
#include "evaluator/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "evaluator/normalize.h"
#include "evaluator/products.h"
#include "ir/graph.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/eltwise/eltwise.h"
#include "kernels/gemm/gemm.h"
#include "ops/nn/conv.h"
#include "ops/shared/activation.h"

namespace rk::evaluator {
namespace {

// All numbers are f32; axes may be i64.
bool all_f32(const EvalCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has_input(i) || call.input(i).dtype() == DType::kF32) continue;
    if (i == 0 || call.input(i).dtype() != DType::kI64) return false;
  }
  return call.output(0).dtype() == DType::kF32 && call.output(0).elements() > 0;
}

void run_units(const EvalCall& call, int64_t units, const std::function<void(IndexRange)>& work) {
  call.parallel_for(units, 1, work);
}

kernels::ConvF32Args conv_args(const EvalCall& call, const ops::ConvAttrs& attrs) {
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const ops::Extent in = ops::spatial_extent(call.input(0).shape());
  const ops::Extent out = ops::spatial_extent(call.output(0).shape());
  const ops::Window& window = attrs.window;
  kernels::ConvF32Args args;
  args.filter = {
      .in_channels = narrow(attrs.in_channels),
      .out_channels = narrow(attrs.out_channels),
      .groups = narrow(attrs.group),
      .kernel = {narrow(window.kernel.h), narrow(window.kernel.w)},
      .stride = {narrow(window.stride.h), narrow(window.stride.w)},
      .dilation = {narrow(window.dilation.h), narrow(window.dilation.w)},
  };
  args.extents = {
      .batch = narrow(call.input(0).shape()[0]),
      .in = {narrow(in.h), narrow(in.w)},
      .out = {narrow(out.h), narrow(out.w)},
      .pad_before = {narrow(window.pads.top), narrow(window.pads.left)},
  };
  args.input = call.input(0).data<float>();
  args.weights = call.input(1).data<float>();
  args.bias = call.has_input(2) ? call.input(2).data<float>() : nullptr;
  args.output = call.output(0).mutable_data<float>();
  return args;
}

// Each slice of the output is a picture made from one whose channels are the slices of all channels that its kernel
// reaches; weights lie in that order already.
Status conv_volume(const EvalCall& call, const ops::ConvAttrs& attrs) {
  const ops::Extent in = ops::spatial_extent(call.input(0).shape());
  const ops::Extent out = ops::spatial_extent(call.output(0).shape());
  const ops::Window& window = attrs.window;
  const auto floats = [](int64_t count) { return std::vector<float>(static_cast<size_t>(count)); };
  const int64_t in_slice = in.h * in.w, out_slice = out.h * out.w;
  std::vector<float> picture = floats(attrs.in_channels * window.kernel.d * in_slice);
  std::vector<float> made = floats(attrs.out_channels * out_slice);
  kernels::ConvF32Args args = conv_args(call, attrs);
  args.filter.in_channels *= static_cast<int32_t>(window.kernel.d);
  args.extents.batch = 1;
  args.input = picture.data();
  args.output = made.data();
  const float* const x = call.input(0).data<float>();
  float* const y = call.output(0).mutable_data<float>();
  for (int64_t n = 0; n < call.input(0).shape()[0]; ++n) {
    for (int64_t d = 0; d < out.d; ++d) {
      float* to = picture.data();
      for (int64_t c = n * attrs.in_channels; c < (n + 1) * attrs.in_channels; ++c) {
        for (int64_t k = 0; k < window.kernel.d; ++k, to += in_slice) {
          const int64_t from = d * window.stride.d - window.pads.begin(0) + k * window.dilation.d;
          if (from < 0 || from >= in.d) {
            std::fill_n(to, in_slice, 0.0f);
          } else {
            std::copy_n(x + (c * in.d + from) * in_slice, in_slice, to);
          }
        }
      }
      run_units(call, kernels::conv_f32_units(args),
                [&](IndexRange units) { conv_f32(args, units); });
      for (int64_t c = 0; c < attrs.out_channels; ++c) {
        std::copy_n(made.data() + c * out_slice, out_slice,
                    y + ((n * attrs.out_channels + c) * out.d + d) * out_slice);
      }
    }
  }
  return ok_status();
}

Status conv(const EvalCall& call) {
  const ops::ConvAttrs attrs = ops::conv_attrs(call.node);
  if (attrs.window.spatial_rank == 3) return conv_volume(call, attrs);
  const kernels::ConvF32Args args = conv_args(call, attrs);
  run_units(call, kernels::conv_f32_units(args), [&](IndexRange units) { conv_f32(args, units); });
  return ok_status();
}

Status conv_transpose(const EvalCall& call) {
  kernels::ConvF32Args args = conv_args(call, ops::conv_transpose_attrs(call.node));
  args.filter.transposed = true;
  args.order = kernels::WeightOrder::kIohw;
  run_units(call, kernels::conv_f32_units(args), [&](IndexRange units) { conv_f32(args, units); });
  return ok_status();
}

Status fused_conv(const EvalCall& call) {
  RK_TRY(conv(call));
  RK_ASSIGN(const auto activation, ops::Activation::from_node(call.node, "activation"));
  RK_ASSIGN(const auto post, ops::Activation::from_node(call.node, "post_activation"));
  const float* addend = call.has_input(3) ? call.input(3).data<float>() : nullptr;
  float* y = call.output(0).mutable_data<float>();
  if (const auto before = activation.bounds(), after = post.bounds(); before && after) {
    const kernels::ClampF32Args args = {.values = y,
                                        .addend = addend,
                                        .before = {before->low, before->high},
                                        .after = {after->low, after->high},
                                        .elements = call.output(0).elements(),
                                        .extremes = call.range != nullptr};
    FiniteRange range = {std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(), true};
    std::mutex mutex;
    run_units(call, kernels::eltwise_units(args.elements), [&](IndexRange units) {
      const auto seen = clamp_f32(args, units);
      const std::lock_guard lock(mutex);
      range.known &= std::isfinite(seen.low) && std::isfinite(seen.high);
      range.low = std::min(range.low, seen.low);
      range.high = std::max(range.high, seen.high);
    });
    if (call.range != nullptr) *call.range = range;
    return ok_status();
  }
  call.parallel_for(call.output(0).elements(), 1 << 14, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      y[i] = post(activation(y[i]) + (addend != nullptr ? addend[i] : 0.0f));
    }
  });
  return ok_status();
}

// alpha * A' * B' + beta * C; only the plain form goes to the kernel, scaled ones are rare and left to the reference.
Status gemm(const EvalCall& call) {
  const bool trans_a = call.node.i64("transA") != 0, trans_b = call.node.i64("transB") != 0;
  const Shape& a = call.input(0).shape();
  const Shape& b = call.input(1).shape();
  kernels::GemmF32Args args;
  args.m = trans_a ? a[1] : a[0];
  args.k = trans_a ? a[0] : a[1];
  args.n = trans_b ? b[0] : b[1];
  args.a = call.input(0).data<float>();
  args.b = call.input(1).data<float>();
  args.c = call.output(0).mutable_data<float>();
  args.a_row_stride = trans_a ? 1 : args.k;
  args.a_col_stride = trans_a ? args.m : 1;
  args.b_row_stride = trans_b ? 1 : args.n;
  args.b_col_stride = trans_b ? args.k : 1;
  args.c_row_stride = args.n;
  if (call.has_input(2)) {
    const Shape& c = call.input(2).shape();
    const int64_t rows = c.rank() == 2 ? c[0] : 1;
    const int64_t columns = c.rank() == 0 ? 1 : c[c.rank() - 1];
    args.bias = call.input(2).data<float>();
    args.bias_row_stride = rows == 1 ? 0 : columns;
    args.bias_col_stride = columns == 1 ? 0 : 1;
  }
  run_units(call, kernels::gemm_f32_units(args), [&](IndexRange units) { gemm_f32(args, units); });
  return ok_status();
}

bool is_picture(const EvalCall& call) { return call.input(0).shape().rank() == 4; }

// The kernel looks at every tap for every pixel of the output. Where few inputs reach far (a wide kernel on a small
// picture) spreading them, as the reference does, is far less work.
bool is_dense_picture(const EvalCall& call) {
  if (!is_picture(call)) return false;
  const Shape &x = call.input(0).shape(), &y = call.output(0).shape();
  return y[2] * y[3] <= 64 * x[2] * x[3];
}

// What a slice's filter has for channels is counted in 32 bits.
bool is_picture_or_volume(const EvalCall& call) {
  const Shape &x = call.input(0).shape(), &weights = call.input(1).shape();
  return is_picture(call) || (x.rank() == 5 && x[1] <= INT32_MAX / weights[2]);
}

bool takes_gemm(const EvalCall& call) {
  return call.node.f32("alpha") == 1.0f && (!call.has_input(2) || call.node.f32("beta") == 1.0f);
}

struct Row {
  std::string_view op;
  bool (*takes)(const EvalCall& call);
  FastKernel kernel;
};

constexpr Row kRows[] = {
    {"Conv", is_picture_or_volume, conv},
    {"FusedConv", is_picture_or_volume, fused_conv},
    {"ConvTranspose", is_dense_picture, conv_transpose},
    {"Gemm", takes_gemm, gemm},
    {"MatMul", takes_matmul, matmul},
    {"Softmax", takes_softmax, run_softmax},
    {"LayerNormalization", takes_layer_norm, run_layer_norm},
    {"RMSNormalization", takes_layer_norm, run_rms_norm},
    {"InstanceNormalization", takes_channel_norm, run_instance_norm},
    {"GroupNormalization", takes_channel_norm, run_group_norm},
    {"ReduceSum", takes_row_sum, run_reduce_sum},
    {"ReduceMean", takes_row_sum, run_reduce_mean},
    {"ReduceL2", takes_row_sum, run_reduce_l2},
    {"ReduceSumSquare", takes_row_sum, run_reduce_sum_square},
    {"Einsum", takes_einsum, einsum},
    {"exSDPAttention", takes_attention, attention},
};

}  // namespace

FastKernel find_fast_kernel(const EvalCall& call) {
  for (const Row& row : kRows) {
    if (row.op == call.node.op()) return all_f32(call) && row.takes(call) ? row.kernel : nullptr;
  }
  return nullptr;
}

}  // namespace rk::evaluator
