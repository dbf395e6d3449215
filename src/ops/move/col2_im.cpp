// SPDX-License-Identifier: Apache-2.0
// Col2Im: columns of blocks put back into a picture; where blocks overlap they add up. The input is
// [N, C * elements of a block, blocks], any number of spatial axes; what falls into the padding is
// dropped.
#include <algorithm>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct Axis {
  int64_t image = 1;
  int64_t block = 1;
  int64_t dilation = 1;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t blocks = 1;  // along this axis
};

// Larger numbers are never meant; the bound keeps products in 64 bits.
constexpr int64_t kMaxNumber = int64_t{1} << 30;

Status read_attr(const Node& node, std::string_view attr, size_t count, int64_t fill, int64_t least,
                 std::vector<int64_t>& out) {
  out = node.ints(attr);
  if (out.empty()) out.assign(count, fill);
  const bool in_range = std::ranges::all_of(
      out, [&](int64_t value) { return value >= least && value <= kMaxNumber; });
  if (out.size() == count && in_range) return ok_status();
  return refuse("attribute '", attr, "' is ", to_string(out), ", expected ", count,
                " values of at least ", least);
}

Result<std::vector<Axis>> col2_im_resolve(const Node& node, std::span<const int64_t> image,
                                          std::span<const int64_t> block) {
  const size_t rank = image.size();
  if (rank < 1 || rank > kMaxRank - 2 || block.size() != rank) {
    return refuse("inputs 'image_shape' and 'block_shape' are ", to_string(image), " and ",
                  to_string(block), ", expected 1 to ", kMaxRank - 2, " extents each");
  }
  std::vector<int64_t> dilations, strides, pads;
  RK_TRY(read_attr(node, "dilations", rank, 1, 1, dilations));
  RK_TRY(read_attr(node, "strides", rank, 1, 1, strides));
  RK_TRY(read_attr(node, "pads", 2 * rank, 0, 0, pads));
  std::vector<Axis> axes(rank);
  for (size_t i = 0; i < rank; ++i) {
    Axis& axis = axes[i];
    axis = {image[i], block[i], dilations[i], strides[i], pads[i], 0};
    if (axis.image < 1 || axis.image > kMaxNumber || axis.block < 1 || axis.block > kMaxNumber) {
      return refuse("spatial axis ", i, ": image extent ", axis.image, " and block extent ",
                    axis.block, " must be 1 to ", kMaxNumber);
    }
    const int64_t room =
        axis.image + pads[i] + pads[rank + i] - ((axis.block - 1) * axis.dilation + 1);
    if (room < 0) {
      return refuse("spatial axis ", i, ": the block does not fit the padded image extent ",
                    axis.image + pads[i] + pads[rank + i]);
    }
    axis.blocks = room / axis.stride + 1;
  }
  return axes;
}

Status col2_im_infer(InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> image, constant_ints(call, 1));
  RK_ASSIGN(const std::vector<int64_t> block, constant_ints(call, 2));
  RK_ASSIGN(const std::vector<Axis> axes, col2_im_resolve(call.node, image, block));
  const Shape& in = call.input(0).shape;
  std::vector<int64_t> counts;
  for (const Axis& axis : axes) counts.push_back(axis.blocks);
  RK_ASSIGN(const Shape blocks, Shape::make(counts));
  RK_ASSIGN(const Shape taps, Shape::make(block));
  if (in[1] % taps.elements() != 0 || in[2] != blocks.elements()) {
    return refuse("input 0 ('x') is ", rk::to_string(in), ", expected a multiple of ",
                  taps.elements(), " as axis 1 and ", blocks.elements(), " blocks as axis 2");
  }
  std::vector<int64_t> dims = {in[0], in[1] / taps.elements()};
  dims.insert(dims.end(), image.begin(), image.end());
  return set_output(call, 0, call.input(0).dtype, dims);
}

// Offset in the image of tap number `tap` of block number `block`, or -1 in the padding.
int64_t image_offset(const std::vector<Axis>& axes, int64_t tap, int64_t block) {
  int64_t offset = 0;
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis& axis = axes[i];
    const int64_t at =
        block % axis.blocks * axis.stride + tap % axis.block * axis.dilation - axis.pad;
    if (at < 0 || at >= axis.image) return -1;
    offset += at * step;
    step *= axis.image;
    block /= axis.blocks;
    tap /= axis.block;
  }
  return offset;
}

Status col2_im_compute(const EvalCall& call) {
  RK_ASSIGN(const std::vector<Axis> axes,
            col2_im_resolve(call.node, call.input(1).to_i64(), call.input(2).to_i64()));
  const Shape& in = call.input(0).shape();
  const Shape& out = call.output(0).shape();
  const int64_t plane = extent_product(out, 2, out.rank());
  const int64_t taps = out[1] == 0 ? 0 : in[1] / out[1];
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T* x = call.input(0).data<T>();
    T* y = call.output(0).mutable_data<T>();
    std::fill_n(y, out.elements(), T{});
    for (int64_t row = 0; row < in[0] * in[1]; ++row) {
      T* const to = y + row / taps * plane;
      for (int64_t block = 0; block < in[2]; ++block, ++x) {
        const int64_t offset = image_offset(axes, row % taps, block);
        if (offset >= 0) to[offset] = wrap_add(to[offset], *x);
      }
    }
    return ok_status();
  });
}

Status col2_im_reference(const EvalCall& call) { return halves_as_f32(call, col2_im_compute); }

Cost col2_im_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef col2_im() {
  return {
      .name = "Col2Im",
      .doc = "y = picture made of columns of blocks, which add up where they overlap",
      .inputs = {{"x", numbers().rank(3)},
                 {"image_shape", integers()},
                 {"block_shape", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"dilations", std::vector<int64_t>{}, "per spatial axis; empty: 1"},
                {"pads", std::vector<int64_t>{}, "all beginnings, then all ends; empty: 0"},
                {"strides", std::vector<int64_t>{}, "between blocks, per axis; empty: 1"}},
      .infer = col2_im_infer,
      .reference = col2_im_reference,
      .cost = col2_im_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
