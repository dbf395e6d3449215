// SPDX-License-Identifier: Apache-2.0
// Blocked weights. All forms are one walk: output channels in steps of OC2, inside them input
// channels in steps of IC2, each block ordered KH, KW, output channel, input channel. A depthwise
// weight is the same walk over one output channel.
#include <algorithm>
#include <array>

#include "base/checked_math.h"
#include "program/native_layout.h"

namespace rk::program {
namespace {

// Sizes of the blocks along both channel axes. The last block of an axis may differ.
struct Blocks {
  int64_t oc = 0, oc_last = 0;
  int64_t ic = 0, ic_last = 0;
};

struct Extents {
  int64_t oc = 0, ic = 0, kh = 0, kw = 0;
  int64_t taps() const { return kh * kw; }
};

// One block's place in the bytes and in the plain weight.
struct BlockPlace {
  int64_t at = 0;  // bytes from the start
  int64_t oc0 = 0, oc = 0;
  int64_t ic0 = 0, ic = 0;
};

template <typename Visit>
int64_t walk(const Extents& e, const Blocks& blocks, const Visit& visit) {
  int64_t at = 0;
  for (int64_t oc0 = 0; oc0 < e.oc;) {
    const int64_t oc = e.oc - oc0 >= blocks.oc ? blocks.oc : blocks.oc_last;
    for (int64_t ic0 = 0; ic0 < e.ic;) {
      const int64_t ic = e.ic - ic0 > blocks.ic_last ? blocks.ic : blocks.ic_last;
      visit(BlockPlace{at, oc0, oc, ic0, ic});
      at += e.taps() * oc * ic;
      ic0 += ic;
    }
    oc0 += oc;
  }
  return at;
}

// Rows of oc2 x kw-padded-to-4 x 4 lanes: how RK3576 and RV1126B store a picture's first layer
// when the bytes exceed the product of the native shape (docs/facts/container.md, section 4.1).
struct PictureRows {
  bool used = false;
  int64_t oc1 = 0, oc2 = 0, kw_padded = 0;
};

struct Plan {
  Extents extents;
  Blocks blocks;
  PictureRows rows;
};

constexpr int kFields = 6;  // numbers per group of a native shape

// `size_bytes` counts elements of one byte.
Result<Plan> plan_unpack(uint64_t size_bytes, std::span<const int32_t> native, const Shape& shape,
                         bool may_be_rows = true) {
  const auto bad = [&](std::string_view what) {
    return invalid_model(str("weight of shape ", to_string(shape), ": ", what));
  };
  if (shape.rank() != 4) return bad("blocked weights have four logical extents");
  if (native.empty() || native.size() % kFields != 0 || native.size() > 4 * kFields) {
    return bad(str("native shape has ", native.size(), " numbers, expected 1 to 4 groups of six"));
  }
  Plan plan;
  plan.extents = {shape[0], shape[1], shape[2], shape[3]};
  Extents& e = plan.extents;
  if (e.oc < 1 || e.ic < 1 || e.kh < 1 || e.kw < 1) return bad("an extent is zero");
  int64_t stored = 0;
  bool one_row = true;
  for (size_t i = 0; i < native.size(); i += kFields) {
    const auto group = native.subspan(i, kFields);
    for (const int32_t extent : group) {
      if (extent < 0 || extent > (1 << 20)) return bad(str("native extent ", extent));
    }
    if (group[2] != e.kh || group[3] != e.kw) {
      return bad(str("native kernel ", group[2], "x", group[3], " is not the logical one"));
    }
    if (group[4] < 1 || group[5] < 1) return bad("a block without lanes");
    if (group[0] != 1 || group[4] != 1) one_row = false;
    const std::array<int64_t, kFields> extents = {group[0], group[1], group[2],
                                                  group[3], group[4], group[5]};
    const auto product = checked_product(extents);
    if (!product || *product > kMaxObjectBytes) return bad("the blocks exceed 1 GiB");
    stored += static_cast<int64_t>(*product);
  }
  // Depthwise with the channels listed as output channels: same bytes, other name.
  if (one_row && e.oc > 1 && e.ic == 1) std::swap(e.oc, e.ic);

  const auto first = native.first(kFields), last = native.last(kFields);
  plan.blocks = {first[4], last[4], first[5], last[5]};
  if (may_be_rows && native.size() == kFields && first[5] == 4 &&
      size_bytes != static_cast<uint64_t>(stored)) {
    plan.rows = {true, first[0], first[4], align_up<int64_t>(e.kw, 4)};
    const int64_t needed = plan.rows.oc1 * e.kh * plan.rows.oc2 * plan.rows.kw_padded * 4;
    if (plan.rows.oc1 * plan.rows.oc2 < e.oc || e.ic > 4) return bad("the blocks do not cover it");
    if (static_cast<uint64_t>(needed) > size_bytes) {
      return bad(str("needs ", needed, " bytes, the file has ", size_bytes));
    }
    return plan;
  }
  if (static_cast<uint64_t>(stored) > size_bytes) {
    return bad(str("needs ", stored, " bytes, the file has ", size_bytes));
  }
  const Blocks& b = plan.blocks;
  const int64_t rows = ceil_div(e.oc, std::min(b.oc, b.oc_last));
  const int64_t columns = ceil_div(e.ic, std::min(b.ic, b.ic_last));
  if (rows > (1 << 20) || columns > (1 << 20) || rows * columns > (1 << 24)) {
    return bad("too many blocks");
  }
  const int64_t walked = walk(e, b, [](const BlockPlace&) {});
  if (walked != stored) {
    return bad(str("the native shape holds ", stored, " lanes, the logical shape fills ", walked));
  }
  return plan;
}

}  // namespace

std::vector<int32_t> native_weight_shape(const target::WeightLayout& layout, const Shape& shape,
                                         WeightUse use) {
  RK_ASSERT(shape.rank() == 4, "weights are OIHW");
  const auto kh = static_cast<int32_t>(shape[2]), kw = static_cast<int32_t>(shape[3]);
  const auto oc = static_cast<int32_t>(shape[0]), ic = static_cast<int32_t>(shape[1]);
  if (use == WeightUse::kDepthwise) {
    RK_ASSERT(oc == 1, "a depthwise weight is [1, C, KH, KW]");
    const int32_t c2 = layout.depthwise_c2;
    if (c2 == 0) return {};
    const int32_t rest = ic % c2;
    // The remainder is a quarter or half block wide, else a whole one.
    const int32_t width = rest == 0 ? 0 : rest <= c2 / 4 ? c2 / 4 : rest <= c2 / 2 ? c2 / 2 : c2;
    if (width == 0 || width == c2) return {1, ceil_div(ic, c2), kh, kw, 1, c2};
    return {1, ic / c2, kh, kw, 1, c2, 1, 1, kh, kw, 1, width};
  }
  if (layout.oc2 == 0) return {};

  int32_t ic2 = layout.ic2, ic_full = ic / layout.ic2, ic_rest = 0;  // rest: width of the last
  if (use == WeightUse::kPicture) {
    ic2 = layout.first_layer_ic;
    ic_full = ceil_div(ic, ic2);
  } else if (const int32_t left = ic % layout.ic2; left != 0) {
    if (left > layout.ic_small) {
      ++ic_full;
    } else if (ic_full == 0) {
      ic2 = layout.ic_small;
      ic_full = 1;
    } else {
      ic_rest = layout.ic_small;
    }
  }
  // Where a block has a least size, its size is even.
  const int32_t multiple = layout.oc2_min > 1 ? 2 : 1;
  int32_t oc2 = layout.oc2, oc_full = oc / layout.oc2;
  int32_t oc_rest = align_up(oc % layout.oc2, multiple);
  if (oc_full == 0) {
    oc2 = std::max(align_up(oc, multiple), layout.oc2_min);
    oc_full = 1;
    oc_rest = 0;
  }
  std::vector<int32_t> native;
  const auto add = [&](int32_t oc1, int32_t ic1, int32_t oc_lanes, int32_t ic_lanes) {
    native.insert(native.end(), {oc1, ic1, kh, kw, oc_lanes, ic_lanes});
  };
  add(oc_full, ic_full, oc2, ic2);
  if (ic_rest != 0) add(oc_full, 1, oc2, ic_rest);
  if (oc_rest != 0) add(1, ic_full, oc_rest, ic2);
  if (oc_rest != 0 && ic_rest != 0) add(1, 1, oc_rest, ic_rest);
  return native;
}

Status check_native_weights(uint64_t size_bytes, std::span<const int32_t> native_shape,
                            const Shape& shape) {
  return plan_unpack(size_bytes, native_shape, shape).status();
}

std::vector<uint8_t> pack_weights(std::span<const int8_t> plain, const Shape& shape,
                                  std::span<const int16_t> offset,
                                  std::span<const int32_t> native_shape) {
  RK_ASSERT(static_cast<int64_t>(plain.size()) == shape.elements(), "as many weights as elements");
  const Extents e = {shape[0], shape[1], shape[2], shape[3]};
  const auto first = native_shape.first(kFields), last = native_shape.last(kFields);
  const Blocks blocks = {first[4], last[4], first[5], last[5]};
  std::vector<uint8_t> bytes(static_cast<size_t>(walk(e, blocks, [](const BlockPlace&) {})));
  walk(e, blocks, [&](const BlockPlace& block) {
    uint8_t* to = bytes.data() + block.at;
    for (int64_t tap = 0; tap < e.taps(); ++tap) {
      for (int64_t oc = block.oc0; oc < block.oc0 + block.oc; ++oc) {
        for (int64_t ic = block.ic0; ic < block.ic0 + block.ic; ++ic) {
          int value = 0;
          if (oc < e.oc && ic < e.ic) {
            value = plain[static_cast<size_t>((oc * e.ic + ic) * e.taps() + tap)];
          } else if (oc < e.oc && !offset.empty()) {
            value = -offset[static_cast<size_t>(oc)];
          }
          *to++ = static_cast<uint8_t>(value);
        }
      }
    }
  });
  return bytes;
}

Result<std::vector<uint8_t>> unpack_weight_elements(ByteSpan bytes,
                                                    std::span<const int32_t> native_shape,
                                                    const Shape& shape, size_t element_bytes) {
  RK_ASSERT(element_bytes >= 1 && element_bytes <= 8, "an element has 1 to 8 bytes");
  RK_ASSIGN(const Plan plan, plan_unpack(bytes.size() / element_bytes, native_shape, shape, false));
  const Extents& e = plan.extents;
  std::vector<uint8_t> plain(static_cast<size_t>(shape.elements()) * element_bytes);
  walk(e, plan.blocks, [&](const BlockPlace& block) {
    const uint8_t* from = bytes.data() + static_cast<size_t>(block.at) * element_bytes;
    const int64_t oc_end = std::min(block.oc, e.oc - block.oc0);
    const int64_t ic_end = std::min(block.ic, e.ic - block.ic0);
    for (int64_t tap = 0; tap < e.taps(); ++tap) {
      for (int64_t oc = 0; oc < oc_end; ++oc) {
        for (int64_t ic = 0; ic < ic_end; ++ic) {
          const int64_t to = ((block.oc0 + oc) * e.ic + block.ic0 + ic) * e.taps() + tap;
          std::memcpy(plain.data() + static_cast<size_t>(to) * element_bytes,
                      from + static_cast<size_t>(oc * block.ic + ic) * element_bytes,
                      element_bytes);
        }
      }
      from += static_cast<size_t>(block.oc * block.ic) * element_bytes;
    }
  });
  return plain;
}

Result<std::vector<int8_t>> unpack_weights(ByteSpan bytes, std::span<const int32_t> native_shape,
                                           const Shape& shape) {
  RK_ASSIGN(const Plan plan, plan_unpack(bytes.size(), native_shape, shape));
  const Extents& e = plan.extents;
  std::vector<int8_t> plain(static_cast<size_t>(shape.elements()));
  const auto store = [&](int64_t oc, int64_t ic, int64_t tap, uint8_t value) {
    plain[static_cast<size_t>((oc * e.ic + ic) * e.taps() + tap)] = static_cast<int8_t>(value);
  };
  if (plan.rows.used) {
    const PictureRows& rows = plan.rows;
    for (int64_t oc = 0; oc < e.oc; ++oc) {
      for (int64_t ic = 0; ic < e.ic; ++ic) {
        for (int64_t tap = 0; tap < e.taps(); ++tap) {
          const int64_t row = (oc / rows.oc2 * e.kh + tap / e.kw) * rows.oc2 + oc % rows.oc2;
          const int64_t at = (row * rows.kw_padded + tap % e.kw) * 4 + ic;
          store(oc, ic, tap, bytes[static_cast<size_t>(at)]);
        }
      }
    }
    return plain;
  }
  walk(e, plan.blocks, [&](const BlockPlace& block) {
    const uint8_t* from = bytes.data() + block.at;
    const int64_t oc_end = std::min(block.oc, e.oc - block.oc0);
    const int64_t ic_end = std::min(block.ic, e.ic - block.ic0);
    for (int64_t tap = 0; tap < e.taps(); ++tap) {
      for (int64_t oc = 0; oc < oc_end; ++oc) {
        for (int64_t ic = 0; ic < ic_end; ++ic) {
          store(block.oc0 + oc, block.ic0 + ic, tap, from[oc * block.ic + ic]);
        }
      }
      from += block.oc * block.ic;
    }
  });
  return plain;
}

}  // namespace rk::program
