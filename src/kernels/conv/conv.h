// SPDX-License-Identifier: Apache-2.0
// int8 convolution in the arithmetic of the simulated NPU (docs/fidelity.md): dense, grouped,
// depthwise, strided, dilated, transposed, on blocked activations (layout/blocked.h). Also the
// geometry shared by every convolution dtype.
//
//   acc = sum x * (w + o[c])                           x as stored; a tap outside the input reads
//                                                      the input zero point
//   v   = rne((acc + bias[c]) * m[c] / 2^14)
//   v   = max(v, 0)  or  min(max(v, 0), clip)          activation, if any; or a table or a slope
//                                                      (ConvLookup, ConvSlope)
//   v  += rne((e + e_offset) * e_scale / 2^e_shift)    residual, if any
//   v   = max(v, 0)                                    relu_after_add
//   y   = sat8(rne(v * out_scale / 2^out_shift) + zp_out)
//
// Invariant: `bias` already holds -zp_in * sum(w + o) over all taps of the kernel, also for a
// transposed convolution; that is why a missing tap counts as the zero point and not as nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/extent.h"
#include "kernels/requantize.h"

namespace rk::kernels {

// What a convolution is, apart from the sizes of the picture it meets.
struct ConvFilter {
  int32_t in_channels = 1;
  int32_t out_channels = 1;
  int32_t groups = 1;
  Extent2 kernel;
  Extent2 stride;
  Extent2 dilation;
  // Output (oy) receives input (iy) through tap (ky) where
  //   plain:      iy = oy * stride - pad_before + ky * dilation
  //   transposed: oy = iy * stride - pad_before + ky * dilation
  bool transposed = false;

  int32_t in_per_group() const { return in_channels / groups; }
  int32_t out_per_group() const { return out_channels / groups; }
  bool depthwise() const { return groups == in_channels && groups == out_channels && groups > 1; }
};

// The picture. Padding after the input is whatever the output extent still needs.
struct ConvExtents {
  int32_t batch = 1;
  Extent2 in;
  Extent2 out;
  Extent2 pad_before = {0, 0};
};

// How plain weights lie in memory.
enum class WeightOrder {
  kOihw,  // [out_channels][in_channels / groups][kernel.h][kernel.w]
  kIohw,  // [in_channels][out_channels / groups][kernel.h][kernel.w], as ONNX's ConvTranspose has
          // them
};

enum class Activation { kNone, kRelu, kClip };

// Positive extents, groups that divide the channels. Everything below relies on it.
Status check_conv_filter(const ConvFilter& filter);
Status check_conv_extents(const ConvExtents& extents);

// Activation by two tables of kLookupEntries entries: v becomes the value at t = rne((v * multiplier + addend) / 2^shift),
// on straight lines between entries. Entry i of `low` stands at t = start + i * 2^entry_shift, of `high` at
// i * 2^entry_shift; below `start` a line of slope `below` goes on from the first entry, above `end` one of slope `above`
// from the last.
struct ConvLookup {
  int64_t multiplier = 1, addend = 0;
  int32_t shift = 0;
  int32_t start = 0, end = 0;
  int32_t entry_shift = 0;
  std::vector<int16_t> low, high;
  ScaleShift below, above;
};
inline constexpr size_t kLookupEntries = 513;

// A slope below zero: with p = (acc + bias[c]) * m[c], v is rne(rne(p / 2^multiplier_shift) / 2^positive_shift) where
// p >= 0, else rne(rne(p / 2^negative_multiplier_shift) * factor[c] / 2^negative_shift).
struct ConvSlope {
  int32_t negative_multiplier_shift = 0;
  int32_t positive_shift = 0, negative_shift = 0;
  std::vector<int16_t> factor;  // per output channel, or one for all
};

// All that is known when a model is loaded. The pointers are read by pack_conv_i8 only.
struct ConvI8Params {
  ConvFilter filter;
  WeightOrder order = WeightOrder::kOihw;
  const int8_t* weights = nullptr;
  const int16_t* weight_offset = nullptr;  // o per output channel; null: all 0
  const int32_t* bias = nullptr;           // per output channel; null: all 0
  const int16_t* multiplier = nullptr;     // m per output channel, in 1 / 2^multiplier_shift
  int32_t multiplier_shift = 14;

  int32_t input_zero_point = 0;
  Activation activation = Activation::kNone;
  int32_t clip = 0;  // upper bound of Activation::kClip, in units of v
  // At most one of the two, and then no `activation`.
  std::optional<ConvLookup> lookup;
  std::optional<ConvSlope> slope;
  bool has_residual = false;
  int32_t residual_offset = 0;  // e_offset = -zero point of the residual
  ScaleShift residual_scale;
  bool relu_after_add = false;
  OutputStage output;

  // The stages that every chip's own converter makes do, which is all that some variants know.
  bool has_usual_stages() const { return !lookup && !slope && multiplier_shift == 14; }

  // What helps to choose a form of the weights; none of it changes results.
  Extent2 usual_output = {0, 0};  // the picture it will mostly meet; 0: not known
  int64_t spare_bytes = 0;        // that a faster form may take beyond the weights
  ThreadPool* pool = nullptr;     // that packing may use
};

struct ConvI8Kernel;

// Weights and constants in the form of one kernel variant. Immutable after packing; may be shared
// by threads.
struct PackedConvI8 {
  const ConvI8Kernel* kernel = nullptr;
  ConvI8Params params;    // its pointers are null
  bool wide = false;      // int64 accumulators: some input could leave int32
  int64_t acc_bound = 0;  // |acc + bias| <= acc_bound for every input
  Buffer weights;         // the variant's own layout
  Buffer bias;            // int32 per output channel, rounded up to the variant's tile, zero filled
  Buffer multiplier;      // int32 likewise
  Buffer constants;       // whatever else the variant wants
  Buffer stages;          // of `lookup` and `slope` for vector kernels (i8/stages.h)
};

// Fails when extents are nonsense, the packed form exceeds the allocation limit, or the constants
// could overflow 64 bits. All other constants, however hostile, give exact results.
Result<PackedConvI8> pack_conv_i8(const ConvI8Params& params);

struct ConvI8Args {
  const PackedConvI8* packed = nullptr;
  ConvExtents extents;
  const int8_t* input = nullptr;     // blocked
  const int8_t* residual = nullptr;  // blocked, shape of the output; only if has_residual
  int8_t* output = nullptr;          // blocked; may be `residual`, never `input`
  // Elements from one picture of the batch to the next, where input or output is a channel slice of
  // a larger blocked tensor; 0 means dense. The residual is dense.
  int64_t input_batch_stride = 0;
  int64_t output_batch_stride = 0;
  // The input is [n][h][w][in_channels] without blocks; only where takes_interleaved_input().
  bool interleaved_input = false;
};
// The first layer's kernel reads pictures as callers have them.
bool takes_interleaved_input(const PackedConvI8& packed);

// What a convolution makes of each byte, entry x + 128, where it only repeats pixels: kernel.h times kernel.w bytes of the
// output come from one of the input, in all channels the same way. That is how a quantized model says nearest resizing by
// an integer factor.
using RepeatedBytes = std::array<int8_t, 256>;
std::optional<RepeatedBytes> repeated_bytes(const PackedConvI8& packed);

// One unit is one output row of one tile of output channels, or of all tiles in tall pictures; the
// tile is the variant's own. Rows are innermost.
int64_t conv_i8_units(const ConvI8Args& args);
void conv_i8(const ConvI8Args& args, IndexRange units);

// The packed form still tells the plain weights; else the caller keeps them if it may want them again. Not so for
// depthwise filters, whose weights are few.
bool can_unpack_conv_i8(const PackedConvI8& packed);
// The weights that were packed, in params.order, `weight_offset` being what was given then. Only where that is possible.
void unpack_conv_i8(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain);

// One way to do it. Variants are listed in conv/variants.inc, best first; tests run every one this
// CPU has.
struct ConvI8Kernel {
  const char* name;
  int32_t channel_tile;  // output channels of one unit
  bool (*accepts)(const PackedConvI8& packed);
  // Fills `weights` and `constants`; params, wide, acc_bound, bias and multiplier are set already. `source` still
  // has its pointers.
  Status (*pack)(const ConvI8Params& source, PackedConvI8& packed);
  void (*run)(const ConvI8Args& args, IndexRange units);
  // The inverse of pack for filters that are not depthwise; null: there is none.
  void (*unpack)(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) = nullptr;
  bool (*pays)(const ConvI8Params& params) = nullptr;               // null: whenever it accepts
  int64_t (*units)(const ConvI8Args& args) = nullptr;               // null: rows of tiles, as above
  bool (*takes_interleaved)(const PackedConvI8& packed) = nullptr;  // null: never
  // Prepares inputs or weights anew for each range of units: few large ones are faster.
  bool large_ranges = false;
};

struct ConvI8Variant {
  std::string_view name;
  const ConvI8Kernel* kernel;
};
// The variants this CPU can run, best first; for tests and benchmarks.
std::vector<ConvI8Variant> conv_i8_variants();
// As pack_conv_i8 with the variant chosen by the caller, which must be one of conv_i8_variants().
// kUnsupported when it does not accept these parameters.
Result<PackedConvI8> pack_conv_i8(const ConvI8Params& params, const ConvI8Kernel& kernel);

}  // namespace rk::kernels
