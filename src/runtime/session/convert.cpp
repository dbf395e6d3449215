// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/fixed_point.h"
#include "base/half.h"
#include "kernels/layout/convert.h"

namespace rk::runtime {
namespace {

// A run of one row of one channel; small enough for the stack, long enough to amortise the dtype switch.
constexpr int64_t kRun = 512;

template <typename T>
int64_t saturate_to(double value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  if (!(value == value)) return 0;
  if (value <= low) return static_cast<int64_t>(std::numeric_limits<T>::min());
  if (value >= high) return static_cast<int64_t>(std::numeric_limits<T>::max());
  return static_cast<int64_t>(value);
}

template <typename T>
int64_t clamp_to(int64_t value) {
  if constexpr (sizeof(T) == 8) {
    if (std::is_unsigned_v<T> && value < 0) return 0;
    return value;
  } else {
    return std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
}

struct Run {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_step;  // elements
  int64_t to_step;
  int64_t count;
};

template <typename T>
T read(const uint8_t* base, int64_t index) {
  return load<T>(base + index * static_cast<int64_t>(sizeof(T)));
}
template <typename T>
void write(uint8_t* base, int64_t index, T value) {
  std::memcpy(base + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Calls `body` with a value of the C++ type that stores `dtype`; halves are handled by the callers.
template <typename Body>
void with_storage_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::kF32:
      return body(float{});
    case DType::kF64:
      return body(double{});
    case DType::kI8:
      return body(int8_t{});
    case DType::kU8:
      return body(uint8_t{});
    case DType::kBool:
      return body(uint8_t{});
    case DType::kI16:
      return body(int16_t{});
    case DType::kU16:
      return body(uint16_t{});
    case DType::kI32:
      return body(int32_t{});
    case DType::kU32:
      return body(uint32_t{});
    case DType::kI64:
      return body(int64_t{});
    case DType::kU64:
      return body(uint64_t{});
    default:  // halves are handled apart, smaller types do not occur at the interface
      return;
  }
}

void load_floats(const ElementView& view, const Run& run, float* out) {
  if (view.dtype == DType::kF16) {
    for (int64_t i = 0; i < run.count; ++i)
      out[i] = half_to_float(read<uint16_t>(run.from, i * run.from_step));
  } else if (view.dtype == DType::kBF16) {
    for (int64_t i = 0; i < run.count; ++i)
      out[i] = bfloat16_to_float(read<uint16_t>(run.from, i * run.from_step));
  } else {
    with_storage_type(view.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < run.count; ++i)
        out[i] = static_cast<float>(read<T>(run.from, i * run.from_step));
    });
  }
  if (view.scale != 0) {
    const float zero_point = static_cast<float>(view.zero_point);
    for (int64_t i = 0; i < run.count; ++i) out[i] = (out[i] - zero_point) * view.scale;
  }
}

void store_quantized(const ElementView& view, const Run& run, const float* values) {
  if (view.dtype == DType::kI8) {
    for (int64_t i = 0; i < run.count; ++i) {
      write(run.to, i * run.to_step, quantize_f32(values[i], view.scale, view.zero_point));
    }
    return;
  }
  with_storage_type(view.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < run.count; ++i) {
      const double q = round_even(static_cast<double>(values[i] / view.scale)) + view.zero_point;
      const double finite = q == q ? q : static_cast<double>(view.zero_point);
      write(run.to, i * run.to_step, static_cast<T>(saturate_to<T>(finite)));
    }
  });
}

void store_floats(const ElementView& view, const Run& run, const float* values) {
  if (view.scale != 0) return store_quantized(view, run, values);
  switch (view.dtype) {
    case DType::kF16:
      for (int64_t i = 0; i < run.count; ++i)
        write(run.to, i * run.to_step, float_to_half(values[i]));
      return;
    case DType::kBF16:
      for (int64_t i = 0; i < run.count; ++i)
        write(run.to, i * run.to_step, float_to_bfloat16(values[i]));
      return;
    case DType::kBool:
      for (int64_t i = 0; i < run.count; ++i)
        write(run.to, i * run.to_step, static_cast<uint8_t>(values[i] != 0));
      return;
    case DType::kF32:
      for (int64_t i = 0; i < run.count; ++i) write(run.to, i * run.to_step, values[i]);
      return;
    case DType::kF64:
      for (int64_t i = 0; i < run.count; ++i)
        write(run.to, i * run.to_step, static_cast<double>(values[i]));
      return;
    default:
      with_storage_type(view.dtype, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < run.count; ++i) {
          write(run.to, i * run.to_step,
                static_cast<T>(saturate_to<T>(static_cast<double>(values[i]))));
        }
      });
  }
}

void convert_integers(const ElementView& from, const ElementView& to, const Run& run) {
  int64_t values[kRun];
  with_storage_type(from.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < run.count; ++i)
      values[i] = static_cast<int64_t>(read<T>(run.from, i * run.from_step));
  });
  if (to.dtype == DType::kBool) {
    for (int64_t i = 0; i < run.count; ++i)
      write(run.to, i * run.to_step, static_cast<uint8_t>(values[i] != 0));
    return;
  }
  with_storage_type(to.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < run.count; ++i)
        write(run.to, i * run.to_step, static_cast<T>(clamp_to<T>(values[i])));
    }
  });
}

void copy_elements(size_t element_bytes, const Run& run) {
  if (run.from_step == 1 && run.to_step == 1) {
    std::memcpy(run.to, run.from, static_cast<size_t>(run.count) * element_bytes);
    return;
  }
  const auto copy_as = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < run.count; ++i)
      write(run.to, i * run.to_step, read<T>(run.from, i * run.from_step));
  };
  switch (element_bytes) {
    case 1:
      return copy_as(uint8_t{});
    case 2:
      return copy_as(uint16_t{});
    case 4:
      return copy_as(uint32_t{});
    default:
      return copy_as(uint64_t{});
  }
}

bool holds_integers(const ElementView& view) {
  return view.scale == 0 && (is_integer(view.dtype) || view.dtype == DType::kBool);
}

bool is_copy(const ElementView& from, const ElementView& to, const ChannelAffine& affine) {
  return affine.empty() && from.dtype == to.dtype && from.same_quantization(to);
}

void convert_run(const ElementView& from, const ElementView& to,
                 const kernels::BorderAffine* affine, const Run& run) {
  float values[kRun];
  load_floats(from, run, values);
  if (affine != nullptr) {
    for (int64_t i = 0; i < run.count; ++i) values[i] = (values[i] - affine->mean) / affine->stddev;
  }
  store_floats(to, run, values);
}

// Any pair of views, any strides.
void convert_strided(const PictureExtents& e, const ElementView& from, const ElementView& to,
                     const ChannelAffine& affine, ThreadPool* pool) {
  const auto from_bytes = static_cast<int64_t>(byte_size(from.dtype));
  const auto to_bytes = static_cast<int64_t>(byte_size(to.dtype));
  const bool copy = is_copy(from, to, affine);
  const bool integers = affine.empty() && holds_integers(from) && holds_integers(to);
  const int64_t runs = (e.w + kRun - 1) / kRun;
  const auto work = [&](IndexRange units) {
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t w = unit % runs * kRun;
      const int64_t h = unit / runs % e.h;
      const int64_t n = unit / runs / e.h;
      for (int64_t c = 0; c < e.c; ++c) {
        const Run run{from.data + from.strides.at(n, c, h, w) * from_bytes,
                      to.data + to.strides.at(n, c, h, w) * to_bytes, from.strides.w, to.strides.w,
                      std::min(kRun, e.w - w)};
        if (copy) {
          copy_elements(static_cast<size_t>(from_bytes), run);
        } else if (integers) {
          convert_integers(from, to, run);
        } else {
          const size_t channel =
              static_cast<int64_t>(affine.size()) < e.c ? 0 : static_cast<size_t>(c);
          convert_run(from, to, affine.empty() ? nullptr : &affine[channel], run);
        }
      }
    }
  };
  const int64_t units = e.n * e.h * runs;
  const int64_t grain =
      std::max<int64_t>(1, 16384 / std::max<int64_t>(1, e.c * std::min(kRun, e.w)));
  if (pool != nullptr) {
    pool->parallel_for(units, grain, work);
  } else {
    work({0, units});
  }
}

// Pieces of equal size at regular steps, all in bytes.
struct Pieces {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_step, to_step, count;
};

template <size_t kBytes>
void copy_pieces(const Pieces& pieces) {
  const uint8_t* from = pieces.from;
  uint8_t* to = pieces.to;
  for (int64_t i = 0; i < pieces.count; ++i) {
    std::memcpy(to, from, kBytes);
    from += pieces.from_step;
    to += pieces.to_step;
  }
}

// The sizes of a pixel's channels in a block that others share, or have to themselves.
template <size_t... kSmaller>
bool copy_small(const Pieces& pieces, size_t bytes, std::index_sequence<kSmaller...>) {
  return ((bytes == kSmaller + 1 ? (copy_pieces<kSmaller + 1>(pieces), true) : false) || ...);
}

void copy_pieces(const Pieces& pieces, size_t bytes) {
  if (copy_small(pieces, bytes, std::make_index_sequence<32>())) return;
  for (int64_t i = 0; i < pieces.count; ++i)
    std::memcpy(pieces.to + i * pieces.to_step, pieces.from + i * pieces.from_step, bytes);
}

// Elements whose channels lie next to each other on both sides, as blocks of channels do: a pixel's share of the smaller
// block is copied at once, a whole row where nothing lies between pixels.
bool copy_lanes(const PictureExtents& e, const ElementView& from, const ElementView& to,
                ThreadPool* pool) {
  const Strides &a = from.strides, &b = to.strides;
  const bool dense = a.w == e.c && b.w == e.c;
  if (a.c2 != 1 || b.c2 != 1 || (!dense && (a.block < 4 || b.block < 4))) return false;
  const auto bytes = static_cast<int64_t>(byte_size(from.dtype));
  const auto work = [&](IndexRange rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t n = row / e.h, h = row % e.h;
      for (int64_t c = 0; c < e.c;) {
        const int64_t lanes = std::min({a.block - c % a.block, b.block - c % b.block, e.c - c});
        const uint8_t* const source = from.data + a.at(n, c, h, 0) * bytes;
        uint8_t* const target = to.data + b.at(n, c, h, 0) * bytes;
        const auto size = static_cast<size_t>(lanes * bytes);
        if (a.w == lanes && b.w == lanes) {
          std::memcpy(target, source, size * static_cast<size_t>(e.w));
        } else {
          copy_pieces({source, target, a.w * bytes, b.w * bytes, e.w}, size);
        }
        c += lanes;
      }
    }
  };
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, e.c * e.w));
  if (pool != nullptr) {
    pool->parallel_for(e.n * e.h, grain, work);
  } else {
    work({0, e.n * e.h});
  }
  return true;
}

bool equal(const Strides& a, const Strides& b) {
  return a.n == b.n && a.c1 == b.c1 && a.c2 == b.c2 && a.h == b.h && a.w == b.w &&
         a.block == b.block;
}

struct KernelCase {
  kernels::ActivationShape shape;
  kernels::PlainLayout layout = kernels::PlainLayout::kNchw;
  int64_t w_stride = 0;
};

bool is_blocked(const PictureExtents& e, const Strides& strides) {
  return e.c > 0 && equal(strides, blocked_strides(e, kernels::kHostBlock));
}

// The plain side of a conversion that a layout kernel can do: NCHW dense or NHWC with padded rows.
bool plain_case(const PictureExtents& e, const Strides& strides, KernelCase& out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (e.n > kMax || e.c > kMax || e.h > kMax || e.w > kMax || e.elements() == 0) return false;
  out.shape = {static_cast<int32_t>(e.n),
               static_cast<int32_t>(e.c),
               {static_cast<int32_t>(e.h), static_cast<int32_t>(e.w)}};
  if (equal(strides, nchw_strides(e))) {
    out.layout = kernels::PlainLayout::kNchw;
    return true;
  }
  if (e.c > 1 && strides.h % e.c != 0) return false;
  const int64_t w_stride = strides.h / e.c;
  if (!equal(strides, nhwc_strides(e, {.w_stride = w_stride}))) return false;
  out.layout = kernels::PlainLayout::kNhwc;
  out.w_stride = w_stride;
  return true;
}

template <typename Args>
void set_border(Args& args, const KernelCase& k, const ElementView& from, const ElementView& to) {
  args.shape = k.shape;
  args.layout = k.layout;
  args.w_stride = k.w_stride;
  args.input = reinterpret_cast<decltype(args.input)>(from.data);
  args.output = reinterpret_cast<decltype(args.output)>(to.data);
}

template <typename Args>
void run_rows(const KernelCase& k, const Args& args, void (*kernel)(const Args&, IndexRange),
              ThreadPool* pool) {
  const int64_t units = kernels::layout_units(k.shape);
  const int64_t row = int64_t{k.shape.channels} * k.shape.extent.w;
  const auto work = [&](IndexRange range) { kernel(args, range); };
  if (pool != nullptr) {
    pool->parallel_for(units, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row)), work);
  } else {
    work({0, units});
  }
}

// One entry per channel, whatever was given.
ChannelAffine per_channel(const ChannelAffine& affine, int64_t channels) {
  ChannelAffine out(static_cast<size_t>(channels));
  if (affine.empty()) return out;
  for (size_t c = 0; c < out.size(); ++c)
    out[c] = affine.size() < out.size() ? affine[0] : affine[c];
  return out;
}

// Kernels read and write whole elements; a caller's memory may begin anywhere.
bool is_aligned(const ElementView& view) {
  const auto size = static_cast<uintptr_t>(byte_size(view.dtype));
  return size <= 1 || reinterpret_cast<uintptr_t>(view.data) % size == 0;
}

bool plain_numbers(const ElementView& view, DType dtype) {
  return view.dtype == dtype && view.scale == 0;
}

// The caller's picture to blocked int8 or f16, through the border kernels. False: no kernel for this pair.
bool to_blocked(const PictureExtents& e, const ElementView& from, const ElementView& to,
                const ChannelAffine& affine, ThreadPool* pool) {
  KernelCase k;
  // Pictures for first layers stay interleaved.
  constexpr int64_t kMaxInterleaved = 4;
  const bool interleaved =
      ((to.dtype == DType::kI8 && to.scale != 0) || plain_numbers(to, DType::kF16)) &&
      e.c <= kMaxInterleaved && equal(to.strides, nhwc_strides(e)) && !is_copy(from, to, affine);
  if (!(interleaved || is_blocked(e, to.strides)) || !plain_case(e, from.strides, k)) return false;
  const bool bytes = plain_numbers(from, DType::kU8) || plain_numbers(from, DType::kI8);
  const bool from_signed = from.dtype == DType::kI8;
  if (is_copy(from, to, affine) && byte_size(from.dtype) <= 4) {
    kernels::PlainArgs args{k.shape,   static_cast<int32_t>(byte_size(from.dtype)),
                            k.layout,  k.w_stride,
                            from.data, to.data,
                            0};
    run_rows(k, args, kernels::plain_to_blocked, pool);
    return true;
  }
  if (to.dtype == DType::kI8 && to.scale != 0 && bytes) {
    const ChannelAffine all = per_channel(affine, e.c);
    std::vector<int8_t> tables(all.size() * 256);
    for (size_t c = 0; c < all.size(); ++c) {
      int8_t* const table = tables.data() + c * 256;
      if (from_signed) {
        kernels::make_quantize_table_i8(all[c], to.scale, to.zero_point, table);
      } else {
        kernels::make_quantize_table_u8(all[c], to.scale, to.zero_point, table);
      }
    }
    kernels::TableQuantizeArgs args;
    set_border(args, k, from, to);
    args.interleaved = interleaved;
    args.tables = tables.data();
    run_rows(k, args, kernels::quantize_by_table, pool);
    return true;
  }
  const ChannelAffine all = affine.empty() ? affine : per_channel(affine, e.c);
  const kernels::BorderAffine* const affine_data = all.empty() ? nullptr : all.data();
  const auto quantize = [&]<typename Args>(Args args, void (*kernel)(const Args&, IndexRange)) {
    set_border(args, k, from, to);
    args.interleaved = interleaved;
    args.params = {affine_data, to.scale, to.zero_point};
    run_rows(k, args, kernel, pool);
    return true;
  };
  const auto narrow = [&]<typename Args>(Args args, void (*kernel)(const Args&, IndexRange)) {
    set_border(args, k, from, to);
    args.interleaved = interleaved;
    args.affine = affine_data;
    run_rows(k, args, kernel, pool);
    return true;
  };
  const bool to_bytes = to.dtype == DType::kI8 && to.scale != 0;
  const bool to_halves = plain_numbers(to, DType::kF16);
  if (plain_numbers(from, DType::kF32)) {
    if (to_bytes) return quantize(kernels::QuantizeF32Args{}, kernels::quantize_f32_to_i8);
    if (to_halves) return narrow(kernels::HalfF32Args{}, kernels::f32_to_blocked_f16);
  }
  if (plain_numbers(from, DType::kF16)) {
    if (to_bytes) return quantize(kernels::QuantizeF16Args{}, kernels::quantize_f16_to_i8);
    if (to_halves) return narrow(kernels::HalfF16Args{}, kernels::f16_to_blocked_f16);
  }
  if (to_halves && bytes) {
    const ChannelAffine full = per_channel(affine, e.c);
    std::vector<uint16_t> tables(full.size() * 256);
    for (size_t c = 0; c < full.size(); ++c) {
      uint16_t* const table = tables.data() + c * 256;
      from_signed ? kernels::make_half_table_i8(full[c], table)
                  : kernels::make_half_table_u8(full[c], table);
    }
    kernels::TableHalfArgs args;
    set_border(args, k, from, to);
    args.interleaved = interleaved;
    args.tables = tables.data();
    run_rows(k, args, kernels::half_by_table, pool);
    return true;
  }
  return false;
}

bool from_blocked(const PictureExtents& e, const ElementView& from, const ElementView& to,
                  const ChannelAffine& affine, ThreadPool* pool) {
  KernelCase k;
  if (!affine.empty() || !is_blocked(e, from.strides) || !plain_case(e, to.strides, k))
    return false;
  if (is_copy(from, to, affine) && byte_size(from.dtype) <= 4) {
    kernels::PlainArgs args{k.shape,   static_cast<int32_t>(byte_size(from.dtype)),
                            k.layout,  k.w_stride,
                            from.data, to.data,
                            0};
    run_rows(k, args, kernels::blocked_to_plain, pool);
    return true;
  }
  if (!plain_numbers(to, DType::kF32)) return false;
  if (from.dtype == DType::kI8 && from.scale != 0) {
    kernels::DequantizeArgs args;
    set_border(args, k, from, to);
    args.scale = from.scale;
    args.zero_point = from.zero_point;
    run_rows(k, args, kernels::dequantize_i8_to_f32, pool);
    return true;
  }
  if (from.dtype == DType::kF16) {
    kernels::BorderArgs<uint16_t, float> args;
    set_border(args, k, from, to);
    run_rows(k, args, kernels::blocked_f16_to_f32, pool);
    return true;
  }
  return false;
}

// Elements that kernels take as flat arrays: float32 and what activations are stored in.
bool is_flat_type(const ElementView& view) {
  return plain_numbers(view, DType::kF32) || plain_numbers(view, DType::kF16) ||
         (view.dtype == DType::kI8 && view.scale != 0);
}

void load_flat(const ElementView& view, int64_t first, int64_t count, float* to) {
  if (view.dtype == DType::kF32) {
    std::memcpy(to, view.data + first * 4, static_cast<size_t>(count) * sizeof(float));
  } else if (view.dtype == DType::kF16) {
    kernels::f16_to_f32(reinterpret_cast<const uint16_t*>(view.data) + first, to, {0, count});
  } else {
    kernels::i8_to_f32(reinterpret_cast<const int8_t*>(view.data) + first, to,
                       {view.scale, view.zero_point}, {0, count});
  }
}

void store_flat(const ElementView& view, int64_t first, int64_t count, const float* from) {
  if (view.dtype == DType::kF32) {
    std::memcpy(view.data + first * 4, from, static_cast<size_t>(count) * sizeof(float));
  } else if (view.dtype == DType::kF16) {
    kernels::f32_to_f16(from, reinterpret_cast<uint16_t*>(view.data) + first, {0, count});
  } else {
    kernels::f32_to_i8(from, reinterpret_cast<int8_t*>(view.data) + first,
                       {view.scale, view.zero_point}, {0, count});
  }
}

// Both sides lie in the same order without gaps: plain, or in blocks whose padding lanes are converted like all others.
// False: no kernel for this pair.
bool convert_flat(const PictureExtents& e, const ElementView& from, const ElementView& to,
                  ThreadPool* pool) {
  if (!equal(from.strides, to.strides) || !is_flat_type(from) || !is_flat_type(to)) return false;
  int64_t elements = e.elements();
  if (is_blocked(e, from.strides)) {
    elements = e.n * from.strides.n;
  } else if (!equal(from.strides, nchw_strides(e))) {
    return false;
  }
  const auto work = [&](IndexRange range) {
    const int64_t count = range.end - range.begin;
    if (from.dtype == DType::kF32) {
      const auto* const x = reinterpret_cast<const float*>(from.data) + range.begin;
      return store_flat(to, range.begin, count, x);
    }
    if (to.dtype == DType::kF32)
      return load_flat(from, range.begin, count, reinterpret_cast<float*>(to.data) + range.begin);
    float values[kRun];
    for (int64_t at = range.begin; at < range.end; at += kRun) {
      const int64_t part = std::min(kRun, range.end - at);
      load_flat(from, at, part, values);
      store_flat(to, at, part, values);
    }
  };
  constexpr int64_t kGrain = 1 << 15;  // some microseconds
  if (pool != nullptr) {
    pool->parallel_for(elements, kGrain, work);
  } else {
    work({0, elements});
  }
  return true;
}

}  // namespace

std::string_view to_string(TensorFormat format) {
  switch (format) {
    case TensorFormat::kNchw:
      return "NCHW";
    case TensorFormat::kNhwc:
      return "NHWC";
    case TensorFormat::kNc1hwc2:
      return "NC1HWC2";
    case TensorFormat::kUndefined:
      return "UNDEFINED";
  }
  return "?";
}

PictureExtents picture_extents(const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], shape[3]};
  return {1, 1, 1, shape.elements()};
}

Strides nchw_strides(const PictureExtents& e, Padding padding) {
  const int64_t w = padding.w_stride != 0 ? padding.w_stride : e.w;
  const int64_t h = padding.h_stride != 0 ? padding.h_stride : e.h;
  return {.n = e.c * h * w, .c1 = h * w, .c2 = 0, .h = w, .w = 1, .block = 1};
}

Strides nhwc_strides(const PictureExtents& e, Padding padding) {
  const int64_t w = padding.w_stride != 0 ? padding.w_stride : e.w;
  const int64_t h = padding.h_stride != 0 ? padding.h_stride : e.h;
  return {.n = h * w * e.c,
          .c1 = 0,
          .c2 = 1,
          .h = w * e.c,
          .w = e.c,
          .block = std::max<int64_t>(e.c, 1)};
}

Strides blocked_strides(const PictureExtents& e, int64_t c2) {
  const int64_t c1 = (e.c + c2 - 1) / c2;
  return {
      .n = c1 * e.h * e.w * c2, .c1 = e.h * e.w * c2, .c2 = 1, .h = e.w * c2, .w = c2, .block = c2};
}

int64_t span_elements(const PictureExtents& e, const Strides& strides) {
  if (e.elements() == 0) return 0;
  const int64_t last_channel = std::min(e.c, strides.block) - 1;
  // The largest c / block and the largest c % block need not belong to one channel, but the sum bounds both.
  return (e.n - 1) * strides.n + (e.c - 1) / strides.block * strides.c1 +
         last_channel * strides.c2 + (e.h - 1) * strides.h + (e.w - 1) * strides.w + 1;
}

void convert(const PictureExtents& extents, const ElementView& from, const ElementView& to,
             const ChannelAffine& affine, ThreadPool* pool) {
  if (extents.elements() == 0) return;
  if (is_copy(from, to, affine) && equal(from.strides, to.strides) && from.data == to.data) return;
  const bool aligned = is_aligned(from) && is_aligned(to);
  if (aligned && (to_blocked(extents, from, to, affine, pool) ||
                  from_blocked(extents, from, to, affine, pool))) {
    return;
  }
  const bool copy = is_copy(from, to, affine);
  if (aligned && affine.empty() && !copy && convert_flat(extents, from, to, pool)) return;
  if (copy && copy_lanes(extents, from, to, pool)) return;
  convert_strided(extents, from, to, affine, pool);
}

}  // namespace rk::runtime
