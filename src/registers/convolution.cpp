// SPDX-License-Identifier: Apache-2.0
#include "registers/convolution.h"

#include <algorithm>
#include <bit>

#include "base/checked_math.h"
#include "base/fixed_point.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using program::Activation;
using program::ConvParams;

constexpr uint32_t kUnits = 0x1d;  // CNA, CORE, DPU, DPU_RDMA
constexpr uint32_t kUnitsWithoutReader = 0xd;
constexpr uint32_t kPingPong = 0xe, kRestart = 0x30;
constexpr int64_t kHalf = 2;                                     // of precision fields: float16
constexpr uint16_t kCoreUnnamed = 0x3030, kDpuUnnamed = 0x40c4;  // always written as 0

// Registers of a list, in its order, after the first six.
constexpr uint16_t kOrder[] = {
    0x100c,      0x1010, 0x1014,       0x1020, 0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038,
    0x1040,      0x1044, 0x104c,       0x1050, 0x1054, 0x1058, 0x105c, 0x1060, 0x1064, 0x1068,
    0x1070,      0x1074, 0x1078,       0x107c, 0x1080, 0x1084, 0x1088, 0x1100, 0x1104, 0x1110,
    0x1140,      0x1144, 0x1148,       0x114c, 0x1150, 0x1154, 0x1158, 0x115c, 0x1160, 0x1164,
    0x1168,      0x116c, 0x1170,       0x1174, 0x1178, 0x117c, 0x1180, 0x1184, 0x3010, 0x3014,
    0x3018,      0x301c, kCoreUnnamed, 0x400c, 0x4010, 0x4014, 0x4020, 0x4024, 0x4030, 0x4034,
    0x4038,      0x403c, 0x4040,       0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4058, 0x405c,
    0x4060,      0x4064, 0x4068,       0x406c, 0x4070, 0x4074, 0x4078, 0x407c, 0x4080, 0x4084,
    0x4088,      0x4090, 0x4094,       0x4098, 0x409c, 0x40a0, 0x40a4, 0x40a8, 0x40ac, 0x40c0,
    kDpuUnnamed, 0x4100, 0x4104,       0x4108, 0x410c, 0x4110, 0x4114, 0x4118, 0x411c, 0x4120,
    0x4124,      0x4128, 0x412c,       0x500c, 0x5010, 0x5014, 0x5018, 0x501c, 0x5020, 0x5028,
    0x502c,      0x5034, 0x5038,       0x5040, 0x5044, 0x5048, 0x504c, 0x5064, 0x5068, 0x506c};

// Rows fetched before the array starts, at least, by kernel and stride (`bank` is the rows that a bank holds).
int64_t least_grains(const ConvParams& p, int64_t bank) {
  if (p.kernel.h == 1 && p.stride.h == 1) return std::min<int64_t>(9, 3 * bank);
  if (p.kernel.h == 3 && p.stride.h == 1)
    return std::max<int64_t>(std::min<int64_t>(16, 3 * bank), 12);
  if (p.kernel.h == 3) return bank < 8 ? 3 * bank : 0;
  return p.kernel.h == 5 ? std::min<int64_t>(23, 3 * bank) : 0;
}

// RK3562, in quarters of a row: a quarter of a bank, and what 50 rows of windows and those of eight
// outputs reach. Lines in quarters of atoms are counted in whole rows. `entries` of a whole row,
// also where less of it is read.
int64_t grains_of_rk3562(const ConvLayer& layer, int64_t entries, int64_t width) {
  constexpr int64_t kQuarterBank = 128, kMost = 0x3ff, kSteps = 50, kOutputs = 8;
  const ConvParams& p = layer.params;
  if (p.transposed) return kMost;
  const int64_t stride = p.stride.h;
  const int64_t reach = std::max(int64_t{p.kernel.h - 1} * p.dilation.h + 1, stride);
  const int64_t windows = stride * (kSteps + ceil_div(kOutputs, layer.out.width)) + reach;
  const int64_t first = ceil_div(kQuarterBank, entries);
  const bool single = layer.in.is_picture || width != layer.in.width;
  const int64_t rows = single ? 4 * first + windows : first + ceil_div<int64_t>(windows, 4);
  return std::min(4 * rows, kMost);
}

// RV1106: a quarter of a bank, and the rows that 16 pixels of the output reach. Lines in quarters
// of atoms are counted by fours. Of more than a bank, whole banks.
int64_t grains_of_rv1106(const ConvLayer& layer, const ConvTile& tile, int64_t entries,
                         int64_t width) {
  constexpr int64_t kBank = 1024, kMost = 0x3ff, kPixels = 16;
  const ConvParams& p = layer.params;
  if (p.transposed) return kMost;
  const int64_t stride = p.stride.h, kernel = int64_t{p.kernel.h - 1} * p.dilation.h + 1;
  const int64_t steps =
      layer.out.width > kPixels ? 1 : 1 + ceil_div<int64_t>(kPixels, layer.out.width);
  const int64_t rows_of_bank = ceil_div(kBank, entries);
  if (layer.in.is_picture || width != layer.in.width)
    return std::min(4 * (rows_of_bank + std::max(kernel, stride) + stride * steps), kMost);
  const int64_t windows = kernel + stride * steps;
  const int64_t least = 4 * ceil_div(kBank + windows * entries, 4 * entries);
  if (tile.in_rows * entries <= kBank || least >= tile.in_rows) return std::min(least, kMost);
  // The vendor's number where a bank has few rows, fitted to what was seen.
  const int64_t few = stride == 1 ? 8 + 3 * (kernel - 1) / 2 : 4 + 6 * stride;
  const int64_t wanted = std::max(least, few);
  const int64_t banks = align_up(wanted, rows_of_bank);
  if (banks <= tile.in_rows) return banks;
  return 2 * rows_of_bank >= tile.in_rows ? tile.in_rows : std::min(wanted, tile.in_rows);
}

// Lists for RK3562 have limits in the unit of the sums of channel 0, whichever channels they
// compute: the result is as large as int8 can be before the limit counts. Only such limits have a
// form.
Result<uint32_t> limit_in_first_unit(const ConvLayer& layer) {
  const ConvParams& p = layer.params;
  constexpr int kMostShift = 30;
  if (layer.first_multiplier <= 0 || p.multiplier_shift < 0 || p.multiplier_shift > kMostShift)
    return unsupported("no register form for a limit without multipliers");
  const int64_t one = int64_t{1} << p.multiplier_shift;
  const int64_t twice = 2 * int64_t{layer.first_multiplier};
  const int64_t limit = (2 * int64_t{p.clip_limit} * one + layer.first_multiplier) / twice;
  const int64_t back = scale_round(limit, layer.first_multiplier, p.multiplier_shift);
  const auto is_hidden = [&](int64_t v) {
    return scale_round(v, p.output.scale.scale, p.output.scale.shift) + p.output.zero_point >=
           INT8_MAX;
  };
  if (limit > INT32_MAX || !is_hidden(limit) || !is_hidden(back) || !is_hidden(p.clip_limit))
    return unsupported("no register form for a limit below the range of the output");
  return static_cast<uint32_t>(limit);
}

class ConvWriter {
 public:
  ConvWriter(const ConvLayer& layer, const ConvTile& tile)
      : layer_(layer), p_(layer.params), tile_(tile), chip_(*layer.in.chip) {
    in_channels_ = layer.is_depthwise ? tile.channels : layer.in.channels;
    width_ = read_width(layer);
    entries_ = row_entries(layer, in_channels_);
    is_float_ = layer.in.is_float;
    aligned_out_ = align_up<int64_t>(
        tile.channels, (layer.is_depthwise ? chip_.depthwise_array_bytes : chip_.array_bytes) /
                           layer.in.element_bytes());
  }

  Result<RegisterTask> write() {
    write_fetch();
    write_weights();
    write_buffer();
    write_array();
    write_output();
    write_bias();
    RK_TRY(write_activation());
    write_conversion();
    write_addend();
    return in_order();
  }

 private:
  void write_fetch();
  void write_picture_conversion();
  void write_weights();
  void write_buffer();
  void write_array();
  void write_output();
  void write_bias();
  Status write_activation();
  void write_lookup(const program::LookupStage& lookup);
  void write_conversion();
  void write_addend();
  int64_t grains() const;
  RegisterTask in_order() const;
  uint64_t out_bytes() const;  // from the start of the output to the tile

  const ConvLayer& layer_;
  const ConvParams& p_;
  const ConvTile& tile_;
  const Chip& chip_;
  bool is_float_ = false;
  int64_t in_channels_ = 0, width_ = 0, entries_ = 0, aligned_out_ = 0;
  RegisterImage image_;
};

void ConvWriter::write_fetch() {
  const Feature& in = layer_.in;
  const int64_t plane = in.plane_pixels();
  image_.set(reg::CNA_CONV_CON1__CONV_MODE, layer_.is_depthwise ? 3 : 0);
  image_.set(reg::CNA_CONV_CON1__IN_PRECISION, is_float_ ? kHalf : 0);
  image_.set(reg::CNA_CONV_CON1__PROC_PRECISION, is_float_ ? kHalf : 0);
  uint64_t row_bytes = static_cast<uint64_t>(in.width * chip_.atom_bytes);
  int64_t line = 4 * in.width, surface = plane - line;
  if (in.is_picture) {
    constexpr int64_t kPictureOf = 7;  // plus channels
    image_.set(reg::CNA_CONV_CON1__ARGB_IN, kPictureOf + in.channels);
    image_.set(reg::CNA_CONV_CON1__NONALIGN_DMA, 1);
    image_.set(reg::CNA_CONV_CON1__GROUP_LINE_OFF, 1);
    line = in.width;
    surface = in.width * (in.height - 1);
    const int64_t row = chip_.is_rk3562 ? align_up(in.width, in.lanes()) : in.width;
    row_bytes = static_cast<uint64_t>(row * in.channels * in.element_bytes());
  } else if (width_ != in.width || chip_.is_rk3566) {
    image_.set(reg::CNA_CONV_CON1__GROUP_LINE_OFF, 1);
    line = in.width;
    surface = plane - width_;
  }
  // Bits 29..28 name the other cores that take the same weights; no description of the chip has them.
  constexpr int kOthersShift = 28;
  image_.set(reg::CNA_CONV_CON2, static_cast<uint32_t>(tile_.cores - 1) << kOthersShift);
  image_.set(reg::CNA_CONV_CON2__FEATURE_GRAINS, grains());
  if (p_.transposed) {
    // Steps of one over the input with cells of the border's value between its pixels.
    image_.set(reg::CNA_CONV_CON1__DECONV, 1);
    image_.set(reg::CNA_CONV_CON3__DECONV_X_STRIDE, p_.stride.w - 1);
    image_.set(reg::CNA_CONV_CON3__DECONV_Y_STRIDE, p_.stride.h - 1);
  }
  image_.set(reg::CNA_CONV_CON3__CONV_X_STRIDE, p_.transposed ? 1 : p_.stride.w);
  image_.set(reg::CNA_CONV_CON3__CONV_Y_STRIDE, p_.transposed ? 1 : p_.stride.h);
  image_.set(reg::CNA_CONV_CON3__ATROUS_X_DILATION, p_.dilation.w - 1);
  image_.set(reg::CNA_CONV_CON3__ATROUS_Y_DILATION, p_.dilation.h - 1);
  image_.set(reg::CNA_DATA_SIZE0__DATAIN_WIDTH, width_);
  image_.set(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT, tile_.in_rows);
  constexpr int64_t kRealBlock = 64;
  const int64_t aligned = align_up<int64_t>(in_channels_, in.lanes());
  image_.set(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL, aligned);
  // Counted within a block, but in all of a transposed convolution.
  image_.set(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL_REAL,
             p_.transposed || chip_.is_rk3566 || chip_.is_rk3562 ? in_channels_ - 1
                                                                 : (in_channels_ - 1) % kRealBlock);
  image_.set(reg::CNA_DATA_SIZE2__DATAOUT_WIDTH, layer_.out.width);
  image_.set(reg::CNA_DATA_SIZE3__DATAOUT_ATOMICS, layer_.out.width * tile_.out_rows);
  // The converter of inputs is bypassed: int8 as stored.
  image_.set(reg::CNA_CVT_CON0__CVT_BYPASS, 1);
  image_.set(reg::CNA_CVT_CON0__CVT_TYPE, 1);
  image_.set(reg::CNA_CVT_CON0__DATA_SIGN, 1);
  image_.set(reg::CNA_CVT_CON1__CVT_SCALE0, 1);
  image_.set(reg::CNA_CVT_CON2__CVT_SCALE1, 1);
  image_.set(reg::CNA_CVT_CON3__CVT_SCALE2, 1);
  image_.set(reg::CNA_CVT_CON4__CVT_SCALE3, 1);
  if (!layer_.picture.empty()) write_picture_conversion();
  image_.set(reg::CNA_PAD_CON0__PAD_TOP, tile_.pad_top);
  image_.set(reg::CNA_PAD_CON0__PAD_LEFT,
             p_.transposed ? p_.kernel.w - 1 - p_.pads.left : p_.pads.left);
  // Depthwise layers take borders in pairs of bytes.
  const auto zero = is_float_ ? 0U : static_cast<uint32_t>(p_.pad_value);
  image_.set(reg::CNA_PAD_CON1, layer_.is_depthwise ? zero << 8 | (zero & 0xff) : zero);
  const uint64_t channel_bytes = static_cast<uint64_t>(
      layer_.is_depthwise ? tile_.first_channel * in.element_bytes() * plane : 0);
  image_.set_address(reg::CNA_FEATURE_DATA_ADDR, Operand::kFeature,
                     layer_.in_bytes +
                         static_cast<uint64_t>(tile_.first_in_row + tile_.kept_rows) * row_bytes +
                         channel_bytes);
  constexpr int64_t kLongestBurst = 15;
  image_.set(reg::CNA_DMA_CON0__DATA_BURST_LEN, kLongestBurst);
  image_.set(reg::CNA_DMA_CON0__WEIGHT_BURST_LEN, kLongestBurst);
  image_.set(reg::CNA_DMA_CON1__LINE_STRIDE, line);
  image_.set(reg::CNA_DMA_CON2__SURF_STRIDE, surface);
  image_.set(reg::CNA_FC_DATA_SIZE0__DMA_WIDTH, width_);
  image_.set(reg::CNA_FC_DATA_SIZE0__DMA_HEIGHT, tile_.in_rows - tile_.kept_rows);
  image_.set(reg::CNA_FC_DATA_SIZE1__DMA_CHANNEL, aligned);
}

void ConvWriter::write_picture_conversion() {
  const target::RegisterField shifts[] = {
      reg::CNA_CVT_CON0__CVT_TRUNCATE_0, reg::CNA_CVT_CON0__CVT_TRUNCATE_1,
      reg::CNA_CVT_CON0__CVT_TRUNCATE_2, reg::CNA_CVT_CON0__CVT_TRUNCATE_3};
  const uint16_t channels[] = {reg::CNA_CVT_CON1, reg::CNA_CVT_CON2, reg::CNA_CVT_CON3,
                               reg::CNA_CVT_CON4};
  image_.set(reg::CNA_CVT_CON0, 0);
  for (size_t i = 0; i < std::min(layer_.picture.size(), std::size(channels)); ++i) {
    const PictureChannel& channel = layer_.picture[i];
    image_.set(shifts[i], channel.scale.shift);
    image_.set(channels[i], static_cast<uint32_t>(channel.scale.scale) << 16 |
                                static_cast<uint16_t>(channel.offset));
  }
}

void ConvWriter::write_weights() {
  int64_t kernels = 1, kernel_bytes = 0;
  uint64_t first_byte = 0;
  // Bytes of a channel. RK3562 has offsets between depthwise weights.
  const int64_t taps = int64_t{p_.kernel.h} * p_.kernel.w * layer_.in.element_bytes() *
                       (has_paired_offsets(layer_) ? 2 : 1);
  if (layer_.is_depthwise) {
    // Blocks of 64 channels; the last one of the layer is 16 or 32 wide where that is enough.
    first_byte = static_cast<uint64_t>(taps * tile_.first_channel);
    const bool last = tile_.first_channel + tile_.channels == layer_.out.channels;
    constexpr int64_t kLeastLanes = 16;
    kernel_bytes = chip_.is_rv1106 ? taps * align_up(tile_.channels, kLeastLanes)
                   : last          ? static_cast<int64_t>(layer_.weight_bytes - first_byte)
                                   : taps * tile_.channels;
  } else {
    constexpr int64_t kPictureKernels = 16;
    const bool more = chip_.is_rk3576 && layer_.in.is_picture;
    const bool any = chip_.is_rk3566 || (chip_.is_rv1106 && !layer_.in.is_picture);
    kernels = align_up<int64_t>(layer_.out.channels, any ? 1 : more ? kPictureKernels : 2);
    kernel_bytes = is_float_ || chip_.is_rk3566
                       ? static_cast<int64_t>(layer_.weight_bytes) / layer_.out.channels
                       : taps * align_up<int64_t>(layer_.in.channels, layer_.in.is_picture
                                                                          ? chip_.picture_lanes
                                                                          : chip_.atom_bytes);
    if (is_float_) kernels = layer_.out.channels;
    if (is_float_ && more) {
      constexpr int64_t kHalfKernels = 8;
      kernels = align_up(layer_.out.channels, kHalfKernels);
      kernel_bytes = static_cast<int64_t>(layer_.weight_bytes) / kernels;
    }
    if (has_weights_in_rows(layer_))
      kernel_bytes = int64_t{p_.kernel.h} * align_up<int64_t>(p_.kernel.w, 4) * chip_.picture_lanes;
  }
  int64_t bytes = kernels * kernel_bytes;
  if (chip_.is_rv1106 && layer_.in.is_picture) bytes = align_up(bytes, chip_.atom_bytes);
  image_.set(reg::CNA_WEIGHT_SIZE0, static_cast<uint32_t>(bytes));
  image_.set(reg::CNA_WEIGHT_SIZE1__WEIGHT_BYTES_PER_KERNEL, kernel_bytes);
  image_.set(reg::CNA_WEIGHT_SIZE2__WEIGHT_KERNELS, kernels);
  image_.set(reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT, p_.kernel.h);
  image_.set(reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH, p_.kernel.w);
  image_.set_address(reg::CNA_DCOMP_ADDR0, Operand::kWeight, first_byte);
}

void ConvWriter::write_buffer() {
  image_.set(reg::CNA_CBUF_CON0__DATA_BANK, tile_.data_banks);
  image_.set(reg::CNA_CBUF_CON0__WEIGHT_BANK, tile_.weight_banks);
  image_.set(reg::CNA_CBUF_CON0__WEIGHT_REUSE, tile_.reuses_weights ? 1 : 0);
  image_.set(reg::CNA_CBUF_CON0__DATA_REUSE, tile_.kept_rows != 0 ? 1 : 0);
  const int64_t row = layer_.in.is_packed ? width_ : align_up(width_, layer_.in.lanes());
  const bool of_all = layer_.in.is_picture && !chip_.is_rk3566 && !chip_.is_rk3562;
  const int64_t entries = of_all ? tile_.in_rows * row : entries_;
  image_.set(reg::CNA_CBUF_CON1,
             static_cast<uint32_t>(entries));  // a picture's needs more than the field has
}

// Rows of one fetch. The number does not change results; for features of several banks the vendor's is not always
// explained (docs/fidelity.md, "Register lists").
int64_t ConvWriter::grains() const {
  if (chip_.is_rk3566) {
    // Rows of the kernel and of as many steps as 17 pixels of the output take.
    constexpr int64_t kPixels = 17;
    if (layer_.out.width == 1) return p_.kernel.h;
    const int64_t kernel = int64_t{p_.kernel.h - 1} * p_.dilation.h + 1;
    const int64_t rows = kernel + p_.stride.h * (1 + kPixels / layer_.out.width);
    return std::min(rows, tile_.in_rows);
  }
  if (chip_.is_rv1106)
    return grains_of_rv1106(layer_, tile_, buffer_entries(layer_.in, in_channels_, width_), width_);
  if (chip_.is_rk3562)
    return grains_of_rk3562(layer_, buffer_entries(layer_.in, in_channels_, layer_.in.width),
                            width_);
  if (p_.transposed) return tile_.in_rows + tile_.pad_top;
  const int64_t all = tile_.in_rows + tile_.pad_top + p_.kernel.h;
  if (entries_ * tile_.in_rows <= chip_.bank_entries) return all;
  if (layer_.in.is_picture) return tile_.in_rows;
  const int64_t rows_of_bank = ceil_div(chip_.bank_entries, entries_);
  const int64_t two_banks = 2 * rows_of_bank;
  if (two_banks >= tile_.in_rows) {
    // Rows of up to about 1.4 banks are fetched like those of one.
    const bool fits = entries_ * tile_.in_rows * 5 < chip_.bank_entries * 7;
    return p_.kernel.h < 5 && !fits ? tile_.in_rows : all;
  }
  return std::min(std::max(two_banks, least_grains(p_, rows_of_bank)), all);
}

void ConvWriter::write_array() {
  image_.set(reg::CORE_MISC_CFG__QD_EN, is_float_ ? 0 : 1);
  image_.set(reg::CORE_MISC_CFG__PROC_PRECISION, is_float_ ? kHalf : 0);
  image_.set(reg::CORE_MISC_CFG__DW_EN, layer_.is_depthwise ? 1 : 0);
  image_.set(reg::CORE_DATAOUT_SIZE_0__DATAOUT_WIDTH, layer_.out.width - 1);
  image_.set(reg::CORE_DATAOUT_SIZE_0__DATAOUT_HEIGHT, tile_.out_rows - 1);
  image_.set(reg::CORE_DATAOUT_SIZE_1__DATAOUT_CHANNEL, aligned_out_ - 1);
}

uint64_t ConvWriter::out_bytes() const {
  const Feature& out = layer_.out;
  return layer_.out_bytes +
         static_cast<uint64_t>(tile_.first_out_row * (out.width + out.row_gap) * chip_.atom_bytes +
                               tile_.first_channel * out.element_bytes() * out.plane_pixels());
}

void ConvWriter::write_output() {
  const int64_t plane = layer_.out.plane_pixels();
  constexpr int64_t kDepthwiseMode = 3, kToMemory = 2, kLongestBurst = 15;
  image_.set(reg::DPU_FEATURE_MODE_CFG__OUTPUT_MODE, kToMemory);
  image_.set(reg::DPU_FEATURE_MODE_CFG__CONV_MODE, layer_.is_depthwise ? kDepthwiseMode : 0);
  image_.set(reg::DPU_FEATURE_MODE_CFG__BURST_LEN, kLongestBurst);
  image_.set_address(reg::DPU_DST_BASE_ADDR, Operand::kOutput, out_bytes());
  image_.set(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE, plane);
  image_.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0, layer_.out.row_gap);
  image_.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_1, layer_.out.row_gap);
  image_.set(reg::DPU_DATA_CUBE_WIDTH__WIDTH, layer_.out.width - 1);
  image_.set(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT, tile_.out_rows - 1);
  image_.set(reg::DPU_DATA_CUBE_CHANNEL__CHANNEL, aligned_out_ - 1);
  // Kernels of a picture come in pairs on RV1106.
  const bool pairs = chip_.is_rv1106 && layer_.in.is_picture;
  image_.set(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL,
             align_up<int64_t>(tile_.channels, pairs ? 2 : 1) - 1);
  image_.set(reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA, aligned_out_ - 1);
  image_.set(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA, layer_.out.width - 1);
  image_.set(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA, tile_.out_rows - 1);
  // The channels that the array delivers at a time lie in two planes of atoms, or in four; RK3562
  // has half of them.
  const int64_t planes =
      (layer_.is_depthwise ? chip_.depthwise_array_bytes : chip_.array_bytes) / chip_.atom_bytes;
  image_.set(reg::DPU_SURFACE_ADD__SURF_ADD, plane * planes);
  const int64_t size = planes - 1;
  image_.set(reg::DPU_BS_OW_CFG__SIZE_E_0, size);
  image_.set(reg::DPU_BS_OW_CFG__SIZE_E_1, size);
  image_.set(reg::DPU_BS_OW_CFG__SIZE_E_2, size);
  image_.set(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH, layer_.out.width - 1);
  image_.set(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT, tile_.out_rows - 1);
  image_.set(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL, aligned_out_ - 1);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__CONV_MODE,
             layer_.is_depthwise ? kDepthwiseMode : 0);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__BURST_LEN, kLongestBurst);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__MRDMA_DISABLE, layer_.has_addend ? 0 : 1);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__PROC_PRECISION, is_float_ ? kHalf : 0);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION, is_float_ ? kHalf : 0);
  image_.set(reg::DPU_RDMA_RDMA_WEIGHT, 0x01010101);
}

void ConvWriter::write_bias() {
  if (!layer_.has_bias) {
    image_.set(reg::DPU_BS_CFG__BS_BYPASS, 1);
    image_.set(reg::DPU_BS_CFG__BS_ALU_BYPASS, 1);
    image_.set(reg::DPU_BS_CFG__BS_MUL_BYPASS, 1);
    image_.set(reg::DPU_BS_CFG__BS_RELU_BYPASS, 1);
    image_.set(reg::DPU_BS_OW_CFG__OD_BYPASS, 1);
    return;
  }
  constexpr int64_t kAddition = 2;
  const bool alone = layer_.bias_form == BiasForm::kAlone || is_float_;
  constexpr int64_t kBytesAlone = 4;
  const int64_t kBytesOfAll = has_paired_offsets(layer_) ? 6 : 8;
  image_.set(reg::DPU_BS_CFG__BS_ALU_ALGO, kAddition);
  image_.set(reg::DPU_BS_CFG__BS_ALU_SRC, 1);
  image_.set(reg::DPU_BS_CFG__BS_RELU_BYPASS, 1);
  image_.set(reg::DPU_BS_CFG__BS_MUL_BYPASS, alone ? 1 : 0);
  image_.set(reg::DPU_BS_OW_CFG__OW_SRC, alone ? 0 : 1);
  image_.set(reg::DPU_BS_OW_CFG__OD_BYPASS, is_float_ ? 1 : 0);
  image_.set(reg::DPU_BS_OW_OP__OW_OP, alone && !is_float_ ? layer_.weight_offset : 0);
  if (!alone) {
    image_.set(reg::DPU_BS_MUL_CFG__BS_MUL_SRC, 1);
    image_.set(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE, p_.multiplier_shift);
    image_.set(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG, p_.multiplier_shift);
  }
  image_.set(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE, alone ? 1 : 7);
  image_.set_address(
      reg::DPU_RDMA_RDMA_BS_BASE_ADDR, Operand::kBias,
      static_cast<uint64_t>(tile_.first_channel * (alone ? kBytesAlone : kBytesOfAll)));
}

Status ConvWriter::write_activation() {
  const bool clips = p_.activation == Activation::kClip;
  const bool stage = p_.activation != Activation::kNone || p_.slope || p_.lookup;
  image_.set(reg::DPU_BN_CFG__BN_BYPASS, stage ? 0 : 1);
  image_.set(reg::DPU_BN_CFG__BN_ALU_BYPASS, 1);
  image_.set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 1);
  image_.set(reg::DPU_BN_CFG__BN_RELU_BYPASS, p_.activation == Activation::kNone ? 1 : 0);
  image_.set(reg::DPU_BN_CFG__BN_RELUX_EN, clips ? 1 : 0);
  const uint32_t limit =
      is_float_ ? std::bit_cast<uint32_t>(p_.clip_limit_f32) : static_cast<uint32_t>(p_.clip_limit);
  if (clips && chip_.is_rk3562 && !is_float_) {
    RK_ASSIGN(const uint32_t there, limit_in_first_unit(layer_));
    image_.set(reg::DPU_BN_RELUX_CMP_VALUE, there);
  } else if (clips) {
    image_.set(reg::DPU_BN_RELUX_CMP_VALUE, limit);
  }
  if (p_.lookup && chip_.is_rk3562 &&
      (p_.lookup->multiplier == 0 || p_.lookup->addend % p_.lookup->multiplier != 0))
    return unsupported("no register form for an index whose addend is not a multiple on RK3562");
  if (p_.slope) {
    if (p_.slope->factor.size() != 1)
      return unsupported("no register form for a slope of each channel");
    image_.set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 0);
    image_.set(reg::DPU_BN_CFG__BN_MUL_PRELU,
               p_.slope->factor[0] == 1 ? 0 : 1);  // 1: a shift and no more
    image_.set(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND, p_.slope->factor[0]);
    image_.set(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE, p_.slope->positive_shift);
    image_.set(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG, p_.slope->negative_shift);
    image_.set(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG, p_.slope->negative_multiplier_shift);
  }
  if (p_.lookup) write_lookup(*p_.lookup);
  return ok_status();
}

void ConvWriter::write_lookup(const program::LookupStage& lookup) {
  constexpr int64_t kAddition = 2;
  image_.set(reg::DPU_BN_CFG__BN_ALU_BYPASS, 0);
  image_.set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 0);
  image_.set(reg::DPU_BN_CFG__BN_ALU_ALGO, kAddition);
  // RK3562 adds before it multiplies; stages made for it have a multiple.
  const int64_t addend = chip_.is_rk3562 ? lookup.addend / lookup.multiplier : lookup.addend;
  image_.set(reg::DPU_BN_ALU_CFG, static_cast<uint32_t>(addend));
  image_.set(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND, lookup.multiplier);
  image_.set(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE, lookup.shift);
  image_.set(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG, lookup.shift);
  image_.set(reg::DPU_LUT_CFG__LUT_LO_LE_MUX, 2);
  image_.set(reg::DPU_LUT_CFG__LUT_OFLOW_PRIORITY, 1);
  image_.set(reg::DPU_LUT_CFG__LUT_HYBRID_PRIORITY, 1);
  image_.set(reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT, lookup.entry_shift);
  image_.set(reg::DPU_LUT_INFO__LUT_LO_INDEX_SELECT, lookup.entry_shift);
  image_.set(reg::DPU_LUT_LE_START, static_cast<uint32_t>(lookup.start));
  image_.set(reg::DPU_LUT_LO_END, static_cast<uint32_t>(lookup.end));
  image_.set(reg::DPU_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE, lookup.below.scale);
  image_.set(reg::DPU_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT, lookup.below.shift);
  image_.set(reg::DPU_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE, lookup.above.scale);
  image_.set(reg::DPU_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT, lookup.above.shift);
}

void ConvWriter::write_conversion() {
  if (is_float_) {
    image_.set(reg::DPU_DATA_FORMAT__PROC_PRECISION, kHalf);
    image_.set(reg::DPU_DATA_FORMAT__IN_PRECISION, kHalf);
    image_.set(reg::DPU_DATA_FORMAT__OUT_PRECISION, kHalf);
    image_.set(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE, 1);
    image_.set(reg::DPU_OUT_CVT_SCALE__FP32TOFP16_EN, 1);
    return;
  }
  image_.set(reg::DPU_OUT_CVT_OFFSET, static_cast<uint32_t>(p_.output.zero_point));
  image_.set(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE, p_.output.scale.scale);
  image_.set(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT, p_.output.scale.shift);
}

void ConvWriter::write_addend() {
  image_.set(reg::DPU_EW_CFG__EW_LUT_BYPASS, p_.lookup ? 0 : 1);
  image_.set(reg::DPU_EW_CFG__EW_RELU_BYPASS, p_.post_activation == Activation::kNone ? 1 : 0);
  if (!layer_.has_addend) {
    image_.set(reg::DPU_EW_CFG__EW_BYPASS, p_.lookup ? 0 : 1);
    image_.set(reg::DPU_EW_CFG__EW_OP_BYPASS, 1);
    image_.set(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS, 1);
    image_.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE, 1);
    image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE, 1);
    return;
  }
  constexpr int64_t kAddition = 2, kBothStreams = 5;
  image_.set(reg::DPU_EW_CFG__EW_OP_SRC, 1);
  image_.set(reg::DPU_EW_CFG__EW_ALU_ALGO, kAddition);
  image_.set(reg::DPU_EW_CFG__EDATA_SIZE, layer_.out.element_bytes());
  image_.set(reg::DPU_EW_CFG__EW_DATA_MODE, 1);
  image_.set(reg::DPU_EW_CFG__EW_CVT_TYPE, is_float_ ? 0 : 1);
  const program::InputStage stage = is_float_ ? program::InputStage{0, {1, 0}} : p_.addend;
  image_.set(reg::DPU_EW_CVT_OFFSET_VALUE, static_cast<uint32_t>(stage.offset));
  image_.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE, stage.scale.scale);
  image_.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT, stage.scale.shift);
  // Both streams of the reader carry the operand, every other plane each.
  const int64_t plane = layer_.out.plane_pixels();
  const int64_t notch = 2 * plane - layer_.out.width * tile_.out_rows;
  if (chip_.is_rk3562) {
    image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE, layer_.out.element_bytes());
    image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE, 1);
    image_.set_address(reg::DPU_RDMA_RDMA_EW_BASE_ADDR, Operand::kAddend, out_bytes());
    image_.set(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE, plane);
    image_.set(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR,
               plane - layer_.out.width * layer_.out.height);
    image_.set(reg::DPU_RDMA_RDMA_EW_SURF_NOTCH__EW_SURF_NOTCH, notch - plane);
    return;
  }
  image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE, layer_.out.element_bytes());
  image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE, 1);
  image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE, kBothStreams);
  image_.set_address(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, Operand::kAddend, out_bytes());
  image_.set_address(reg::DPU_RDMA_RDMA_EW_BASE_ADDR, Operand::kAddend,
                     out_bytes() + static_cast<uint64_t>(plane * chip_.atom_bytes));
  image_.set(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE, plane);
  image_.set(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR, notch);
  image_.set(reg::DPU_RDMA_RDMA_EW_SURF_NOTCH__EW_SURF_NOTCH, notch);
}

RegisterTask ConvWriter::in_order() const {
  RegisterTask task;
  task.first_entry = static_cast<uint32_t>(tile_.first_entry);
  task.write_entry = static_cast<uint32_t>(tile_.write_entry);
  task.weights_in_rows = has_weights_in_rows(layer_);
  if (p_.lookup && !p_.lookup->low.empty() && !p_.lookup->high.empty()) {
    task.first_table_entry = p_.lookup->low.front();
    task.last_table_entry = p_.lookup->high.back();
  }
  // Without constants and addend nothing is read behind the array.
  const bool reads = layer_.has_bias || layer_.has_addend;
  task.units = reads ? kUnits : kUnitsWithoutReader;
  // Four registers of the fetch are written twice, first and in their place.
  for (const uint16_t offset :
       {reg::CNA_CBUF_CON0, reg::CNA_DCOMP_REGNUM, reg::CNA_DCOMP_CTRL, reg::CNA_CONV_CON1})
    task.commands.push_back(image_.get(offset));
  // A list that uses tables follows the one that loads them into the first bank of the DPU's registers.
  const uint32_t pointer = p_.lookup ? kRestart : kPingPong;
  task.commands.push_back({reg::DPU_S_POINTER, pointer});
  if (reads) task.commands.push_back({reg::DPU_RDMA_RDMA_S_POINTER, pointer});
  constexpr uint16_t kReader = 0x5000;
  for (const uint16_t offset : kOrder) {
    if (reads || offset < kReader) task.commands.push_back(image_.get(offset));
  }
  return task;
}

}  // namespace

int64_t Feature::plane_pixels() const {
  if (plane != 0) return plane;
  const int64_t pixels = height * width;
  return pixels == 1 ? 1 : align_up<int64_t>(pixels, std::max<int64_t>(plane_align, 1));
}

Status check_layer(const ConvLayer& layer) {
  const ConvParams& p = layer.params;
  constexpr int64_t kMostRows = 2047, kMostChannels = 8192, kMostPad = 15, kMostStride = 7,
                    kMostKernel = 31;
  const auto within = [](int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most;
  };
  const bool good =
      within(layer.in.height, 1, kMostRows) && within(layer.in.width, 1, kMostRows) &&
      within(layer.in.channels, 1, kMostChannels) && within(layer.out.channels, 1, kMostChannels) &&
      within(layer.out.height, 1, kMostRows) && within(layer.out.width, 1, kMostRows) &&
      within(p.kernel.h, 1, kMostKernel) && within(p.kernel.w, 1, kMostKernel) &&
      within(p.stride.h, 1, kMostStride) && within(p.stride.w, 1, kMostStride) &&
      within(p.dilation.h, 1, kMostKernel) && within(p.dilation.w, 1, kMostKernel) &&
      within(p.pads.top, 0, kMostPad) && within(p.pads.left, 0, kMostPad);
  if (!good) return unsupported("no register form for extents beyond the registers' fields");
  // Every row and column of the output reads the input.
  const int64_t reach_h = int64_t{p.kernel.h - 1} * p.dilation.h;
  const int64_t reach_w = int64_t{p.kernel.w - 1} * p.dilation.w;
  if (p.transposed && (p.dilation.h != 1 || p.dilation.w != 1))
    return unsupported("no register form for a transposed convolution with dilation");
  if (p.pads.top > reach_h || p.pads.left > reach_w)
    return unsupported("no register form for a border as wide as the kernel");
  return ok_status();
}

bool has_weights_in_rows(const ConvLayer& layer) {
  constexpr int64_t kLeastChannels = 3;
  return layer.in.chip->is_rk3576 && layer.in.is_picture && !layer.in.is_float &&
         layer.in.channels >= kLeastChannels && layer.in.width % layer.in.lanes() == 0 &&
         layer.out.width % layer.in.lanes() == 0;
}

bool has_paired_offsets(const ConvLayer& layer) {
  return layer.in.chip->is_rk3562 && layer.is_depthwise && !layer.in.is_float &&
         layer.bias_form == BiasForm::kAll;
}

bool has_known_fetch(const ConvLayer& layer, const ConvTile& tile) {
  if (layer.in.chip->is_rv1106 && !layer.in.is_picture && !layer.params.transposed) {
    // Of eight rows in a bank at least, and of 16 kernels in less than two.
    constexpr int64_t kLeastRows = 8, kMostKernelBytes = 57344;
    const int64_t entries = buffer_entries(
        layer.in, layer.is_depthwise ? tile.channels : layer.in.channels, layer.in.width);
    const int64_t groups = ceil_div(layer.out.channels, layer.in.chip->array_bytes);
    const bool small =
        layer.is_depthwise || static_cast<int64_t>(layer.weight_bytes) <= groups * kMostKernelBytes;
    return small && (entries * kLeastRows <= layer.in.chip->bank_entries ||
                     entries * tile.in_rows <= layer.in.chip->bank_entries);
  }
  if (layer.in.is_picture || layer.in.chip->is_rk3562) return true;
  const int64_t channels = layer.is_depthwise ? tile.channels : layer.in.channels;
  return buffer_entries(layer.in, channels, read_width(layer)) * tile.in_rows <=
         layer.in.chip->bank_entries;
}

Result<RegisterTask> write_convolution(const ConvLayer& layer, const ConvTile& tile) {
  RK_TRY(check_layer(layer));
  return ConvWriter(layer, tile).write();
}

}  // namespace rk::registers
