// SPDX-License-Identifier: Apache-2.0
// CNA and CORE: the window walk over a feature and blocked weights. docs/facts/container.md, sections 3.5, 4.1, 4.4.
#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "base/half.h"
#include "emulator/units.h"
#include "program/weight_code.h"
#include "target/weight_code_registers.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr uint32_t kDepthwiseMode = 3;
constexpr int64_t kMaxElements = int64_t{1} << 28;

// Of a feature on its way in: (x + offset) * scale / 2^shift, rounded to int8.
struct InputConversion {
  int64_t offset = 0, scale = 1, shift = 0;
};

// All lanes of all four groups, in the same way. Pictures have groups of their own, and what becomes
// of the lanes beyond their channels is not known.
Result<std::optional<InputConversion>> read_conversion(const RegisterFile& r) {
  if (r.is_on(reg::CNA_CVT_CON0__CVT_BYPASS)) return std::optional<InputConversion>();
  constexpr uint32_t kEveryLane = 0xffff;
  const uint32_t group = r.get(reg::CNA_CVT_CON1);
  const uint32_t shift = r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_0);
  if (r.get(reg::CNA_CONV_CON1__ARGB_IN) != 0 || r.get(reg::CNA_CONV_CON1__IN_PRECISION) != 0 ||
      r.get(reg::CNA_CVT_CON5__PER_CHANNEL_CVT_EN) != kEveryLane ||
      !r.is_on(reg::CNA_CVT_CON0__CVT_TYPE) || !r.is_on(reg::CNA_CVT_CON0__DATA_SIGN) ||
      r.is_on(reg::CNA_CVT_CON0__ROUND_TYPE) || r.get(reg::CNA_CVT_CON2) != group ||
      r.get(reg::CNA_CVT_CON3) != group || r.get(reg::CNA_CVT_CON4) != group ||
      r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_1) != shift ||
      r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_2) != shift ||
      r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_3) != shift) {
    return unsupported("conversion of the input");
  }
  return std::optional(InputConversion{static_cast<int16_t>(r.get(reg::CNA_CVT_CON1__CVT_OFFSET0)),
                                       static_cast<int16_t>(r.get(reg::CNA_CVT_CON1__CVT_SCALE0)),
                                       shift});
}

struct Geometry {
  Precision precision = Precision::kI8;
  bool depthwise = false;
  int64_t in_channels = 0;       // as fetched, padded lanes included
  int64_t real_in_channels = 0;  // of the feature in memory
  int64_t in_height = 0, in_width = 0;
  int64_t out_channels = 0, out_height = 0, out_width = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 0, stride_w = 0;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_value = 0;

  int64_t deconv_h = 1, deconv_w = 1;  // cells of the border's value come between the pixels
  std::optional<InputConversion> conversion;

  int64_t taps() const { return kernel_h * kernel_w; }
};

Result<Geometry> read_geometry(const RegisterFile& r) {
  Geometry g;
  RK_ASSIGN(g.precision, to_precision(r.get(reg::CNA_CONV_CON1__IN_PRECISION)));
  if (element_bytes(g.precision) > 2) return unsupported("convolution of 32-bit numbers");
  const uint32_t mode = r.get(reg::CNA_CONV_CON1__CONV_MODE);
  if (mode != 0 && mode != kDepthwiseMode) return unsupported(str("convolution mode ", mode));
  g.depthwise = mode == kDepthwiseMode;
  if (r.is_on(reg::CNA_CONV_CON1__DECONV)) {
    // Stored less one.
    g.deconv_h = r.get(reg::CNA_CONV_CON3__DECONV_Y_STRIDE) + 1;
    g.deconv_w = r.get(reg::CNA_CONV_CON3__DECONV_X_STRIDE) + 1;
  }
  RK_ASSIGN(g.conversion, read_conversion(r));
  g.in_channels = r.get(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL);
  g.real_in_channels = r.get(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL_REAL) + 1;
  g.in_height = r.get(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
  g.in_width = r.get(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
  g.kernel_h = r.get(reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT);
  g.kernel_w = r.get(reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH);
  // A stride of zero repeats one window: Expand.
  g.stride_h = r.get(reg::CNA_CONV_CON3__CONV_Y_STRIDE);
  g.stride_w = r.get(reg::CNA_CONV_CON3__CONV_X_STRIDE);
  // Stored as the number of skipped pixels.
  g.dilation_h = r.get(reg::CNA_CONV_CON3__ATROUS_Y_DILATION) + 1;
  g.dilation_w = r.get(reg::CNA_CONV_CON3__ATROUS_X_DILATION) + 1;
  g.pad_top = r.get(reg::CNA_PAD_CON0__PAD_TOP);
  g.pad_left = r.get(reg::CNA_PAD_CON0__PAD_LEFT);
  g.pad_value = static_cast<int8_t>(r.get(reg::CNA_PAD_CON1));
  g.out_height = r.get(reg::CORE_DATAOUT_SIZE_0__DATAOUT_HEIGHT) + 1;
  g.out_width = r.get(reg::CORE_DATAOUT_SIZE_0__DATAOUT_WIDTH) + 1;
  const int64_t original = r.get(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL) + 1;
  g.out_channels = g.depthwise ? std::min(original, g.in_channels)
                               : int64_t{r.get(reg::CNA_WEIGHT_SIZE2__WEIGHT_KERNELS)};
  if (g.in_channels < 1 || g.in_height < 1 || g.in_width < 1 || g.out_channels < 1 ||
      g.taps() < 1) {
    return invalid_model("the list describes an empty convolution");
  }
  if (g.in_channels * g.in_height * g.in_width > kMaxElements ||
      g.out_channels * g.out_height * g.out_width > kMaxElements) {
    return invalid_model("the list describes a convolution of more than 2^28 elements");
  }
  return g;
}

int64_t convert(const Unit& unit, const InputConversion& by, double value) {
  const int64_t v = scale_round(static_cast<int64_t>(value) + by.offset, by.scale,
                                static_cast<int>(by.shift), unit.ties);
  return std::clamp<int64_t>(v, INT8_MIN, INT8_MAX);
}

// [C, H, W] of the channels that exist in memory; floats are widened.
template <typename T>
Result<std::vector<T>> read_feature(const Unit& unit, const Geometry& g) {
  const RegisterFile& r = unit.registers;
  const uint64_t base = r.get(reg::CNA_FEATURE_DATA_ADDR);
  const int64_t line = r.get(reg::CNA_DMA_CON1__LINE_STRIDE);
  const int64_t surface = static_cast<int32_t>(r.get(reg::CNA_DMA_CON2__SURF_STRIDE) << 4) >> 4;
  const uint32_t picture_mode = r.get(reg::CNA_CONV_CON1__ARGB_IN);
  const bool picture = picture_mode != 0;
  const int64_t channels = picture ? int64_t{picture_mode} - 7 : g.in_channels;
  if (channels < 1 || channels > g.in_channels)
    return unsupported(str("picture mode ", picture_mode));
  const int64_t bytes = element_bytes(g.precision);
  const int64_t lanes = picture ? channels : unit.chip.atom_bytes / bytes;
  const int64_t pixel_bytes = lanes * bytes;
  // Lines are counted one by one, or in groups of four atoms.
  const bool single_lines = picture || r.is_on(reg::CNA_CONV_CON1__GROUP_LINE_OFF);
  const int64_t row_bytes = single_lines ? line * pixel_bytes : line * 4;
  const int64_t plane_bytes = (surface + (single_lines ? g.in_width : line)) * unit.chip.atom_bytes;
  std::vector<T> out(static_cast<size_t>(channels * g.in_height * g.in_width));
  for (int64_t c0 = 0; c0 < channels; c0 += lanes) {
    for (int64_t y = 0; y < g.in_height; ++y) {
      const int64_t at = static_cast<int64_t>(base) + c0 / lanes * plane_bytes + y * row_bytes;
      RK_ASSIGN(const std::span<uint8_t> row,
                unit.memory.at(static_cast<uint32_t>(at),
                               static_cast<uint64_t>(g.in_width * pixel_bytes)));
      for (int64_t c = c0; c < std::min(c0 + lanes, channels); ++c) {
        for (int64_t x = 0; x < g.in_width; ++x) {
          const uint8_t* const from = row.data() + x * pixel_bytes + (c - c0) * bytes;
          T& to = out[static_cast<size_t>((c * g.in_height + y) * g.in_width + x)];
          to = static_cast<T>(load_element(g.precision, from));
          if (g.conversion) to = static_cast<T>(convert(unit, *g.conversion, to));
        }
      }
    }
  }
  return out;
}

// Channels of one block of weights and of the last, narrower one, whose lanes are padded. 16-bit numbers have half as
// many output channels in a block.
struct WeightBlocks {
  int64_t oc = 32, ic = 32, least = 16;
};

WeightBlocks weight_blocks(const Chip& chip, const Geometry& g) {
  const int64_t bytes = element_bytes(g.precision);
  const bool is_picture = g.in_channels <= chip.picture_lanes;
  const int64_t least = is_picture ? chip.picture_lanes : chip.least_lanes / bytes;
  if (g.depthwise)
    return {1, chip.depthwise_group / bytes,
            chip.depthwise_least_lanes != 0 ? chip.depthwise_least_lanes : least};
  constexpr int64_t kInputBlock = 32;
  const int64_t inputs = chip.input_block_bytes == 0 ? kInputBlock : chip.input_block_bytes / bytes;
  return {chip.kernel_group / bytes, inputs, least};
}

bool has_coded_weights(const Unit& unit) {
  return unit.listed != nullptr && unit.listed->is_on(reg::CNA_DCOMP_CTRL__DECOMP_CONTROL);
}

// Where the code of a task's weights begins, and how long it is.
struct CodePlace {
  uint32_t address = 0;
  uint64_t size_bytes = 0;
};

Result<CodePlace> read_code_place(const Unit& unit) {
  const auto* const known = target::weight_code_registers(unit.weight_code);
  if (known == nullptr) return unsupported("compressed weights");
  const RegisterFile& r = *unit.listed;
  if (r.get(reg::CNA_DCOMP_CTRL) != known->control || r.get(reg::CNA_DCOMP_REGNUM) != known->number)
    return unsupported("compressed weights of another form");
  constexpr uint64_t kStreamAlign = 64;
  CodePlace out{r.get(known->begins.front()), 0};
  for (size_t i = 0; i < known->lengths.size(); ++i) {
    if (i < known->begins.size() && r.get(known->begins[i]) != out.address + out.size_bytes)
      return invalid_model(str("stream ", i, " of the weights does not follow the one before"));
    const uint64_t units = uint64_t{r.get(known->lengths[i])} + 1;
    out.size_bytes = align_up(out.size_bytes + units * known->unit_bytes, kStreamAlign);
  }
  return out;
}

// `size_bytes` of blocks, decoded where the list says that they are coded.
Result<std::vector<uint8_t>> fetch_weights(const Unit& unit, uint64_t size_bytes) {
  if (has_coded_weights(unit)) {
    RK_ASSIGN(const CodePlace place, read_code_place(unit));
    RK_ASSIGN(const std::span<uint8_t> code, unit.memory.at(place.address, place.size_bytes));
    return program::decode_weights(unit.weight_code, code, size_bytes);
  }
  RK_ASSIGN(const std::span<uint8_t> memory,
            unit.memory.at(unit.registers.get(reg::CNA_DCOMP_ADDR0), size_bytes));
  return std::vector<uint8_t>(memory.begin(), memory.end());
}

// Depthwise weights with their offsets between them, w0 w1 o0 o1, or w0 o0 w1 o1 of RV1106: [C, taps]
// of the sums. An offset of -128 is 128.
template <typename T>
Result<std::vector<T>> read_paired_weights(const Unit& unit, const Geometry& g) {
  const int64_t block = unit.chip.depthwise_group;
  // The last block has as many lanes as it needs.
  const int64_t channels = std::min(g.in_channels, g.real_in_channels);
  const int64_t left = (channels - 1) % block + 1, whole = channels - left;
  const int64_t last = align_up(left, unit.chip.paired_least_lanes);
  RK_ASSIGN(const std::span<uint8_t> memory,
            unit.memory.at(unit.registers.get(reg::CNA_DCOMP_ADDR0),
                           static_cast<uint64_t>(2 * (whole + last) * g.taps())));
  std::vector<T> out(static_cast<size_t>(g.in_channels * g.taps()));
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t lanes = c < whole ? block : last;
    for (int64_t tap = 0; tap < g.taps(); ++tap) {
      const int64_t lane = c % block, first = c / block * block * g.taps() + tap * lanes;
      const bool alternates = unit.chip.is_rv1106;
      const uint8_t* const at =
          memory.data() + 2 * first + (alternates ? 2 * lane : lane / 2 * 4 + lane % 2);
      const auto offset = static_cast<int8_t>(at[alternates ? 1 : 2]);
      const int sum = static_cast<int8_t>(at[0]) + (offset == INT8_MIN ? 128 : offset);
      out[static_cast<size_t>(c * g.taps() + tap)] = static_cast<T>(sum);
    }
  }
  return out;
}

// A picture's weights: block, row of the kernel, kernel, four columns of four lanes. [OC, IC, taps].
template <typename T>
Result<std::vector<T>> read_weights_in_rows(const Unit& unit, const Geometry& g) {
  const int64_t lanes = unit.chip.picture_lanes, columns = (g.kernel_w + 3) / 4 * 4;
  if (g.in_channels > lanes || element_bytes(g.precision) != 1)
    return unsupported("rows of weights of other features than pictures");
  const int64_t row = columns * lanes, kernel = g.kernel_h * row;
  RK_ASSIGN(const std::span<uint8_t> memory,
            unit.memory.at(unit.registers.get(reg::CNA_DCOMP_ADDR0),
                           static_cast<uint64_t>(g.out_channels * kernel)));
  std::vector<T> out(static_cast<size_t>(g.out_channels * g.in_channels * g.taps()));
  for (int64_t oc = 0; oc < g.out_channels; ++oc) {
    const int64_t first = oc / unit.chip.kernel_group * unit.chip.kernel_group;
    const int64_t block = std::min(unit.chip.kernel_group, g.out_channels - first);
    for (int64_t ic = 0; ic < g.in_channels; ++ic) {
      for (int64_t tap = 0; tap < g.taps(); ++tap) {
        const int64_t at = first * kernel + (tap / g.kernel_w * block + oc - first) * row +
                           tap % g.kernel_w * lanes + ic;
        out[static_cast<size_t>((oc * g.in_channels + ic) * g.taps() + tap)] =
            static_cast<T>(static_cast<int8_t>(memory[static_cast<size_t>(at)]));
      }
    }
  }
  return out;
}

// [OC, IC, taps], or [C, taps] for a depthwise weight.
template <typename T>
Result<std::vector<T>> read_weights(const Unit& unit, const Geometry& g) {
  const bool is_paired = g.depthwise && has_paired_offsets(unit);
  if (has_coded_weights(unit) && (is_paired || unit.weights_in_rows))
    return unsupported("compressed weights that do not lie in blocks");
  if (is_paired) return read_paired_weights<T>(unit, g);
  if (unit.weights_in_rows) return read_weights_in_rows<T>(unit, g);
  const int64_t bytes = element_bytes(g.precision);
  const WeightBlocks blocks = weight_blocks(unit.chip, g);
  const int64_t rows = g.depthwise ? 1 : g.out_channels;
  std::vector<T> out(static_cast<size_t>(rows * g.in_channels * g.taps()));
  // Lanes of the block that begins at an input channel.
  const auto width_at = [&](int64_t ic0) {
    const int64_t left = g.in_channels - ic0;
    int64_t width = blocks.ic;
    while (width / 2 >= std::max(left, blocks.least)) width /= 2;
    if (g.depthwise && unit.chip.is_rk3576) width = std::min(width, align_up(left, blocks.least));
    return width;
  };
  int64_t lanes = 0;
  for (int64_t ic0 = 0; ic0 < g.in_channels; ic0 += blocks.ic) lanes += width_at(ic0);
  RK_ASSIGN(const std::vector<uint8_t> memory,
            fetch_weights(unit, static_cast<uint64_t>(rows * lanes * g.taps() * bytes)));
  const uint8_t* from = memory.data();
  for (int64_t oc0 = 0; oc0 < rows; oc0 += blocks.oc) {
    const int64_t oc_end = std::min(oc0 + blocks.oc, rows);
    for (int64_t ic0 = 0; ic0 < g.in_channels; ic0 += blocks.ic) {
      const int64_t left = g.in_channels - ic0, width = width_at(ic0);
      for (int64_t tap = 0; tap < g.taps(); ++tap) {
        for (int64_t oc = oc0; oc < oc_end; ++oc) {
          for (int64_t lane = 0; lane < width; ++lane, from += bytes) {
            if (lane >= left) continue;
            out[static_cast<size_t>((oc * g.in_channels + ic0 + lane) * g.taps() + tap)] =
                static_cast<T>(load_element(g.precision, from));
          }
        }
      }
    }
  }
  return out;
}

// One output channel. `weights` has one row of taps per input channel in `channels`.
template <typename T, typename Sum>
void accumulate(const Geometry& g, std::span<const T> feature, std::span<const T> weights,
                int64_t first_channel, int64_t channel_count, T offset, Sum* sums) {
  const T pad = static_cast<T>(g.pad_value);
  for (int64_t i = 0; i < channel_count; ++i) {
    const T* const plane = feature.data() + (first_channel + i) * g.in_height * g.in_width;
    for (int64_t tap = 0; tap < g.taps(); ++tap) {
      const Sum w = static_cast<Sum>(weights[static_cast<size_t>(i * g.taps() + tap)]) + offset;
      const int64_t dy = tap / g.kernel_w * g.dilation_h - g.pad_top;
      const int64_t dx = tap % g.kernel_w * g.dilation_w - g.pad_left;
      for (int64_t y = 0; y < g.out_height; ++y) {
        const int64_t in_y = y * g.stride_h + dy;
        const bool row_inside =
            in_y >= 0 && in_y < g.in_height * g.deconv_h && in_y % g.deconv_h == 0;
        for (int64_t x = 0; x < g.out_width; ++x) {
          const int64_t in_x = x * g.stride_w + dx;
          const bool inside =
              row_inside && in_x >= 0 && in_x < g.in_width * g.deconv_w && in_x % g.deconv_w == 0;
          const T value = inside ? plane[in_y / g.deconv_h * g.in_width + in_x / g.deconv_w] : pad;
          sums[y * g.out_width + x] += static_cast<Sum>(value) * w;
        }
      }
    }
  }
}

template <typename T, typename Sum>
Result<std::vector<Sum>> sum_up(const Unit& unit, const Geometry& g,
                                const std::vector<double>& offset) {
  RK_ASSIGN(const std::vector<T> feature, read_feature<T>(unit, g));
  RK_ASSIGN(const std::vector<T> weights, read_weights<T>(unit, g));
  const int64_t in_pixels = g.in_height * g.in_width, out_pixels = g.out_height * g.out_width;
  const int64_t channels = static_cast<int64_t>(feature.size()) / in_pixels;
  std::vector<Sum> sums(static_cast<size_t>(g.out_channels * out_pixels));
  for (int64_t oc = 0; oc < g.out_channels; ++oc) {
    const int64_t first = g.depthwise ? oc : 0, count = g.depthwise ? 1 : channels;
    const int64_t row = g.depthwise ? oc : oc * g.in_channels;
    const auto taps = std::span<const T>(weights).subspan(static_cast<size_t>(row * g.taps()));
    accumulate<T, Sum>(g, feature, taps, first, count,
                       static_cast<T>(offset[static_cast<size_t>(oc)]),
                       sums.data() + oc * out_pixels);
  }
  return sums;
}

}  // namespace

Result<Cube> convolve(const Unit& unit) {
  RK_ASSIGN(const Geometry g, read_geometry(unit.registers));
  Cube out;
  out.is_float = is_float(g.precision);
  out.channels = g.out_channels;
  out.height = g.out_height;
  out.width = g.out_width;
  if (out.is_float) {
    const std::vector<double> none(static_cast<size_t>(g.out_channels));
    // The chip's order of additions is not known: the sum is exact, then rounded once.
    RK_ASSIGN(const std::vector<double> sums, (sum_up<float, double>(unit, g, none)));
    out.floats.assign(sums.begin(), sums.end());
    return out;
  }
  RK_ASSIGN(const ChannelConstants constants,
            read_channel_constants(unit, g.out_channels, g.precision));
  RK_ASSIGN(out.integers, (sum_up<int32_t, int64_t>(unit, g, constants.offset)));
  const uint32_t truncate = unit.registers.get(reg::CORE_CLIP_TRUNCATE__CLIP_TRUNCATE);
  for (int64_t& sum : out.integers) sum >>= truncate;
  return out;
}

}  // namespace rk::emulator
