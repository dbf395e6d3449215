// SPDX-License-Identifier: Apache-2.0
// How a convolution is cut to fit the convolution buffer: 12 banks of 512 rows of 64 bytes, for features and weights
// together. Read off 3,500 layers of vendor files and 200 layers compiled to ask (docs/fidelity.md, "Register lists").
#include <algorithm>

#include "base/checked_math.h"
#include "registers/convolution.h"

namespace rk::registers {
namespace {

constexpr int64_t kBankBytes = 32768;

// Bytes of a picture's pixel in the buffer.
int64_t picture_pixel_bytes(const Feature& picture, int64_t channels) {
  if (picture.chip->is_rk3566) return picture.chip->atom_bytes;
  if (picture.chip->is_rk3562) return picture.chip->picture_lanes * picture.element_bytes();
  return (channels == 1 ? 4 : 16) * picture.element_bytes();
}

int64_t in_channels(const ConvLayer& layer, int64_t out_channels) {
  return layer.is_depthwise ? out_channels : layer.in.channels;
}

struct Banks {
  int64_t all_weights = 0;  // of the layer
  int64_t least_weights =
      0;  // two groups of kernels, so that one is fetched while the other is used
};

Banks weight_banks(const ConvLayer& layer) {
  const auto bytes = static_cast<int64_t>(layer.weight_bytes);
  Banks banks;
  banks.all_weights = ceil_div(bytes, kBankBytes);
  const int64_t groups =
      ceil_div(layer.out.channels, layer.in.chip->array_bytes / layer.in.element_bytes());
  const int64_t group_bytes = layer.is_depthwise ? 0 : ceil_div(bytes, groups);
  banks.least_weights = std::min(banks.all_weights, ceil_div(2 * group_bytes, kBankBytes));
  if (layer.in.chip->is_rk3562) {
    constexpr int64_t kLeast = 2;
    banks.least_weights =
        std::min(banks.all_weights, std::max(ceil_div(group_bytes, kBankBytes), kLeast));
  }
  if (layer.is_depthwise) banks.least_weights = banks.all_weights;
  if (banks.least_weights > layer.in.chip->banks - 1)
    banks.least_weights = ceil_div(group_bytes, kBankBytes);
  return banks;
}

// Input rows that output rows need, the border above not among them.
int64_t needed_rows(const ConvLayer& layer, int64_t out_rows, int64_t pad_top) {
  const program::ConvParams& p = layer.params;
  const int64_t kernel = int64_t{p.kernel.h - 1} * p.dilation.h + 1;
  return (out_rows - 1) * p.stride.h + kernel - pad_top;
}

// A transposed convolution reads its input with rows of the border's value between the rows, after as many of them as
// the kernel reaches beyond the first.
Result<ConvTile> transposed_tile_at(const ConvLayer& layer, int64_t rows_in_buffer, int64_t first,
                                    int64_t most) {
  const program::ConvParams& p = layer.params;
  const int64_t border = p.kernel.h - 1 - p.pads.top, first_cell = first - border;
  ConvTile tile;
  tile.first_out_row = first;
  tile.first_in_row = first_cell <= 0 ? 0 : ceil_div<int64_t>(first_cell, p.stride.h);
  tile.pad_top = tile.first_in_row * p.stride.h - first_cell;
  const int64_t reach = (tile.first_in_row + rows_in_buffer) * p.stride.h + border - p.kernel.h + 1;
  tile.out_rows = rows_in_buffer >= layer.in.height ? layer.out.height - first
                                                    : std::min(layer.out.height, reach) - first;
  tile.out_rows = std::min(tile.out_rows, most);
  if (tile.out_rows < 1 || tile.first_in_row >= layer.in.height) {
    return unsupported(str("no register form for a transposed convolution where the buffer holds ",
                           rows_in_buffer, " rows of the input"));
  }
  const int64_t last_cell = first_cell + tile.out_rows - 1 + p.kernel.h - 1;
  const int64_t last = std::min(last_cell / p.stride.h, layer.in.height - 1);
  tile.in_rows = last - tile.first_in_row + 1;
  return tile;
}

struct Cut {
  int64_t rows_in_buffer = 0;
  int64_t chunk = 0;  // channels of a tile
  int32_t data_banks = 0, weight_banks = 0;
  bool keeps_weights = false;
};

// Output rows from `first` on whose input fits, `most` of them.
Result<ConvTile> tile_at(const ConvLayer& layer, const Cut& cut, int64_t first, int64_t most) {
  const program::ConvParams& p = layer.params;
  if (p.transposed) {
    RK_ASSIGN(ConvTile tile, transposed_tile_at(layer, cut.rows_in_buffer, first, most));
    tile.data_banks = cut.data_banks;
    tile.weight_banks = cut.weight_banks;
    tile.reuses_weights = cut.keeps_weights && first > 0;
    return tile;
  }
  const int64_t first_in = first * p.stride.h - p.pads.top;
  ConvTile tile;
  tile.first_out_row = first;
  tile.pad_top = std::max<int64_t>(-first_in, 0);
  tile.first_in_row = std::max<int64_t>(first_in, 0);
  const int64_t available = layer.in.height - tile.first_in_row;
  tile.out_rows = std::min(layer.out.height - first, most);
  // Rows of the border below count although they are not fetched: the vendor's compiler cuts so.
  if (needed_rows(layer, tile.out_rows, tile.pad_top) > cut.rows_in_buffer) {
    const int64_t kernel = int64_t{p.kernel.h - 1} * p.dilation.h + 1;
    const int64_t spare = cut.rows_in_buffer + tile.pad_top - kernel;
    if (spare < 0) {
      return unsupported(str("no register form for a kernel of ", p.kernel.h,
                             " rows where the buffer holds ", cut.rows_in_buffer,
                             " rows of the input"));
    }
    tile.out_rows = std::min(tile.out_rows, spare / p.stride.h + 1);
  }
  // A model input is read in whole steps, another feature no further than needed.
  const int64_t kernel = int64_t{p.kernel.h - 1} * p.dilation.h + 1;
  const int64_t overhang = layer.in.is_model_input ? std::max<int64_t>(p.stride.h - kernel, 0) : 0;
  tile.in_rows = std::min(needed_rows(layer, tile.out_rows, tile.pad_top) + overhang, available);
  tile.data_banks = cut.data_banks;
  tile.weight_banks = cut.weight_banks;
  tile.reuses_weights = cut.keeps_weights && first > 0;
  return tile;
}

// Banks for all rows of `channels` output channels.
int64_t full_banks(const ConvLayer& layer, int64_t channels) {
  const int64_t rows =
      layer.params.transposed
          ? layer.in.height
          : std::min(needed_rows(layer, layer.out.height, layer.params.pads.top), layer.in.height);
  const int64_t entries = row_entries(layer, in_channels(layer, channels));
  return std::max<int64_t>(ceil_div(entries * rows, layer.in.chip->bank_entries), 1);
}

// RK3562: rows that the tile before has fetched stay, unless they are of a picture or of float16.
void keep_rows(const ConvLayer& layer, const Cut& cut, const ConvTile& before, ConvTile& tile) {
  const int64_t kept = before.first_in_row + before.in_rows - tile.first_in_row;
  if (kept <= 0 || layer.in.is_picture || layer.in.is_float) return;
  const int64_t entries = row_entries(layer, in_channels(layer, tile.channels));
  const int64_t ring = cut.data_banks * layer.in.chip->bank_entries;
  tile.kept_rows = kept;
  tile.write_entry = (before.write_entry + (before.in_rows - before.kept_rows) * entries) % ring;
  tile.first_entry = (tile.write_entry + ring - kept * entries) % ring;
}

// RK3562: tiles of the same channels share rows and, in a depthwise layer, weights.
void share_rows(const ConvLayer& layer, const Cut& cut, std::vector<ConvTile>& tiles) {
  for (size_t i = 1; i < tiles.size(); ++i)
    if (tiles[i].first_channel == tiles[i - 1].first_channel) {
      keep_rows(layer, cut, tiles[i - 1], tiles[i]);
      tiles[i].reuses_weights = tiles[i].reuses_weights || layer.is_depthwise;
    }
}

// The rows of a tile, in all channels.
void add_chunks(const ConvLayer& layer, const Cut& cut, ConvTile tile,
                std::vector<ConvTile>& tiles) {
  for (int64_t channel = 0; channel < layer.out.channels; channel += cut.chunk) {
    tile.first_channel = channel;
    tile.channels = std::min(cut.chunk, layer.out.channels - channel);
    tiles.push_back(tile);
  }
}

// RK3562: what is left of the buffer when the weights of these channels are in it. All rows are
// fetched at once where they fit; the last channels of a layer may be fewer.
Cut cut_of_channels(const ConvLayer& layer, const Cut& cut, int64_t channels) {
  const program::ConvParams& p = layer.params;
  const int64_t taps = int64_t{p.kernel.h} * p.kernel.w * layer.in.element_bytes() *
                       (has_paired_offsets(layer) ? 2 : 1);
  Cut out = cut;
  out.weight_banks = static_cast<int32_t>(ceil_div(taps * channels, kBankBytes));
  out.data_banks = static_cast<int32_t>(layer.in.chip->banks) - out.weight_banks;
  const int64_t entries = buffer_entries(layer.in, channels, read_width(layer));
  out.rows_in_buffer = full_banks(layer, channels) <= out.data_banks
                           ? needed_rows(layer, layer.out.height, 0)
                           : out.data_banks * layer.in.chip->bank_entries / entries;
  return out;
}

// RK3562: all rows of some channels of a depthwise layer, then those of the next.
Status add_by_channels(const ConvLayer& layer, const Cut& cut, std::vector<ConvTile>& tiles) {
  for (int64_t channel = 0; channel < layer.out.channels; channel += cut.chunk) {
    const int64_t channels = std::min(cut.chunk, layer.out.channels - channel);
    const Cut own = cut_of_channels(layer, cut, channels);
    std::vector<ConvTile> of_channels;
    for (int64_t row = 0; row < layer.out.height; row += of_channels.back().out_rows) {
      RK_ASSIGN(ConvTile tile, tile_at(layer, own, row, layer.out.height));
      tile.first_channel = channel;
      tile.channels = channels;
      of_channels.push_back(tile);
    }
    share_rows(layer, own, of_channels);
    tiles.insert(tiles.end(), of_channels.begin(), of_channels.end());
  }
  return ok_status();
}

Cut cut_for(const ConvLayer& layer) {
  const Banks weights = weight_banks(layer);
  const int64_t full = full_banks(layer, layer.out.channels);
  Cut cut{.chunk = layer.out.channels};
  if (layer.in.chip->is_rk3562 && full + weights.all_weights <= layer.in.chip->banks) {
    cut.rows_in_buffer = needed_rows(layer, layer.out.height, 0);
    cut.weight_banks = static_cast<int32_t>(weights.all_weights);
    cut.data_banks = static_cast<int32_t>(layer.in.chip->banks) - cut.weight_banks;
    return cut;
  }
  if (!layer.params.transposed && !layer.in.chip->is_rk3562 &&
      full + std::max<int64_t>(weights.least_weights, 1) <= layer.in.chip->banks) {
    cut.rows_in_buffer = needed_rows(layer, layer.out.height, 0);
    cut.data_banks = static_cast<int32_t>(full);
    cut.weight_banks = static_cast<int32_t>(layer.in.chip->banks - full);
    return cut;
  }
  const bool whole = layer.in.chip->is_rk3562;  // the least is kept, if it is all
  cut.keeps_weights =
      weights.all_weights <= (whole ? weights.least_weights : layer.in.chip->resident_banks);
  const int64_t kept = cut.keeps_weights ? weights.all_weights : weights.least_weights;
  cut.weight_banks = static_cast<int32_t>(std::max<int64_t>(kept, 1));
  cut.data_banks = static_cast<int32_t>(layer.in.chip->banks - cut.weight_banks);
  const int64_t block = layer.in.chip->depthwise_array_bytes / layer.in.element_bytes();
  if (layer.is_depthwise && cut.chunk > block && full > cut.data_banks) {
    // Channels are cut before rows: the most blocks that fit as a whole, else one.
    cut.chunk = block;
    while (cut.chunk + block < layer.out.channels &&
           full_banks(layer, cut.chunk + block) <= cut.data_banks)
      cut.chunk += block;
    cut.keeps_weights = false;
    const int64_t banks = full_banks(layer, cut.chunk);
    if (banks <= cut.data_banks && !layer.in.chip->is_rk3562) {
      cut.data_banks = static_cast<int32_t>(banks);
      cut.weight_banks = static_cast<int32_t>(layer.in.chip->banks - banks);
    }
  }
  const int64_t entries = row_entries(layer, in_channels(layer, cut.chunk));
  cut.rows_in_buffer = cut.data_banks * layer.in.chip->bank_entries / entries;
  return cut;
}

// RK3576: rows have all banks but three where they fit, else all but those of 32 kernels (16 of float16), of which
// vendor files have two or three. Channels of a depthwise layer are cut before rows, each part by
// itself.
Result<std::vector<ConvTile>> tile_for_rk3576(const ConvLayer& layer) {
  const Chip& chip = *layer.in.chip;
  constexpr int64_t kSpareBanks = 3, kLeastBanks = 2;
  const int64_t kernels = chip.array_bytes / layer.in.element_bytes();
  const int64_t bank_bytes = chip.bank_entries * chip.entry_bytes;
  const auto bytes = static_cast<int64_t>(layer.weight_bytes);
  const int64_t groups = ceil_div(layer.out.channels, kernels);
  const int64_t group = layer.is_depthwise ? 0 : ceil_div(ceil_div(bytes, groups), bank_bytes);
  if (group > kSpareBanks)
    return unsupported(str("no register form for ", kernels, " kernels of more than 192 KiB"));
  const int64_t weight_banks = std::max(group, kLeastBanks), most = chip.banks - weight_banks;
  const int64_t block = chip.depthwise_array_bytes / layer.in.element_bytes();
  int64_t chunk = layer.out.channels;
  if (layer.is_depthwise && chunk > block && full_banks(layer, chunk) > most) {
    chunk = block;
    while (chunk + block < layer.out.channels && full_banks(layer, chunk + block) <= most)
      chunk += block;
  }
  std::vector<ConvTile> tiles;
  for (int64_t channel = 0; channel < layer.out.channels; channel += chunk) {
    const int64_t channels = std::min(chunk, layer.out.channels - channel);
    const int64_t full = full_banks(layer, channels);
    Cut cut{.chunk = channels};
    // Of RV1126B as many as they need.
    const int64_t spare = chip.cores == 1 ? full : chip.banks - kSpareBanks;
    cut.data_banks = static_cast<int32_t>(full <= spare ? std::min(spare, most) : most);
    cut.weight_banks = static_cast<int32_t>(chip.banks - cut.data_banks);
    cut.rows_in_buffer =
        full <= cut.data_banks
            ? std::max(needed_rows(layer, layer.out.height, 0), layer.in.height)
            : cut.data_banks * chip.bank_entries / row_entries(layer, in_channels(layer, channels));
    cut.keeps_weights =
        !layer.params.transposed && (layer.is_depthwise || bytes <= cut.weight_banks * bank_bytes);
    const size_t first = tiles.size();
    for (int64_t row = 0; row < layer.out.height;) {
      RK_ASSIGN(ConvTile tile, tile_at(layer, cut, row, layer.out.height));
      tile.first_channel = channel;
      tile.channels = channels;
      if (tiles.size() > first) keep_rows(layer, cut, tiles.back(), tile);
      tiles.push_back(tile);
      row += tile.out_rows;
    }
  }
  return tiles;
}

using Split = std::vector<std::vector<ConvTile>>;  // of each core

// Rows of the kernel with what its dilation leaves out.
int64_t reach_of(const ConvLayer& layer) {
  return int64_t{layer.params.kernel.h - 1} * layer.params.dilation.h + 1;
}

struct RowPart {
  int64_t first = 0, rows = 0;
};

// RK3576, tiles of two cores in turns. Empty where the buffer does not hold one, or where a core reads all rows of the input.
Result<Split> cut_for_two_cores(const ConvLayer& layer, const Cut& cut,
                                const std::vector<RowPart>& parts) {
  constexpr size_t kCores = 2;
  Split of_core(kCores);
  for (size_t i = 0; i < parts.size(); ++i) {
    RK_ASSIGN(ConvTile tile, tile_at(layer, cut, parts[i].first, parts[i].rows));
    if (tile.out_rows != parts[i].rows || tile.in_rows > cut.rows_in_buffer ||
        tile.in_rows == layer.in.height)
      return Split(kCores);
    tile.channels = layer.out.channels;
    of_core[i % kCores].push_back(tile);
  }
  return of_core;
}

// RK3576, rows of halves that share weights and do not fit at once, as few parts as do. Those that do not overlap are equal.
// Others are equal in the middle of the layer, which comes first, and shorter at its ends: as long as the buffer takes
// while an end is longer than half of one with its overlap.
std::vector<RowPart> parts_together(const ConvLayer& layer, const Cut& cut) {
  const int64_t height = layer.out.height, half = height / 2;
  const int64_t stride = layer.params.stride.h;
  const int64_t overlap = reach_of(layer) - stride;
  const int64_t most = (cut.rows_in_buffer - reach_of(layer)) / stride + 1;
  std::vector<RowPart> parts;
  if (cut.rows_in_buffer < reach_of(layer)) return parts;
  // Of other kernels with steps no rule is known.
  if (overlap > 0 && stride > 1 && (stride != 2 || reach_of(layer) != 3)) return parts;
  for (int64_t pairs = 2; overlap <= 0 && pairs <= half; ++pairs) {
    const int64_t rows = half / pairs;
    if (half % pairs != 0 || rows > most) continue;
    for (int64_t row = 0; row < height; row += rows) parts.push_back({row, rows});
    return parts;
  }
  for (int64_t pairs = 1; overlap > 0 && pairs < half; ++pairs) {
    const int64_t longest = (2 * half - overlap - 1) / (2 * pairs + 1);
    const int64_t rows = std::min({most, (half - 1) / pairs, longest});
    const int64_t end = half - pairs * rows;
    // The border at an end is not read.
    if (rows <= 0 ||
        (end - 1) * stride + reach_of(layer) - layer.params.pads.top > cut.rows_in_buffer)
      continue;
    for (int64_t i = 0; i < 2 * pairs; ++i) parts.push_back({end + i * rows, rows});
    parts.push_back({0, end});
    parts.push_back({height - end, end});
    return parts;
  }
  return parts;
}

// RK3576, rows of two cores. An even number is halved: the cores share 16 banks, of which each has six for rows, and fetch
// weights once. Otherwise each core has the banks that it has alone, and the first one all rows that make the larger part no
// larger, in groups of 16 pixels. Empty where one core takes all rows, or no vendor file shows the cut: an odd number of rows,
// or channels, whose rows do not fit at once.
Result<Split> split_for_rk3576(const ConvLayer& layer) {
  constexpr int64_t kCores = 2, kSharedBanks = 6, kGroup = 16;
  const Chip& chip = *layer.in.chip;
  const int64_t height = layer.out.height;
  if (layer.params.transposed || height < kCores) return Split();
  RK_ASSIGN(const std::vector<ConvTile> alone, tile_for_rk3576(layer));
  const int64_t entries = row_entries(layer, in_channels(layer, layer.out.channels));
  const auto cut_of = [&](int64_t banks) {
    return Cut{.rows_in_buffer = banks * chip.bank_entries / entries,
               .chunk = layer.out.channels,
               .data_banks = static_cast<int32_t>(banks),
               .weight_banks = static_cast<int32_t>(chip.banks - banks)};
  };
  const Cut together = cut_of(kSharedBanks), apart = cut_of(alone.front().data_banks);
  if (height % kCores == 0) {
    const bool in_chunks = layer.is_depthwise && alone.front().channels < layer.out.channels;
    const RowPart upper{0, height / kCores}, lower{height / kCores, height / kCores};
    RK_ASSIGN(Split split, cut_for_two_cores(layer, together, {upper, lower}));
    if (split.front().empty() && !in_chunks) {
      RK_ASSIGN(split, cut_for_two_cores(layer, together, parts_together(layer, together)));
    }
    for (std::vector<ConvTile>& tiles : split)
      for (ConvTile& tile : tiles) tile.cores = kCores;
    if (!split.front().empty()) return split;
    // Halves that would do in a larger buffer.
    const Cut any = cut_of(kSharedBanks * layer.in.height);
    RK_ASSIGN(const Split whole, cut_for_two_cores(layer, any, {upper, lower}));
    if (!whole.front().empty()) return Split();
  }
  Split best;
  int64_t least = INT64_MAX;
  for (int64_t first = height - 1; first > 0; --first) {
    const int64_t pixels = std::max(first, height - first) * layer.out.width;
    if (ceil_div(pixels, kGroup) >= least) continue;
    RK_ASSIGN(Split split, cut_for_two_cores(layer, apart, {{0, first}, {first, height - first}}));
    if (split.front().empty()) continue;
    least = ceil_div(pixels, kGroup);
    best = std::move(split);
  }
  return best;
}

// RV1106: rows have as many banks as they need, at most what weights leave: all of them, two banks
// or those of 16 kernels. Channels of a depthwise layer are cut before rows. No rows stay for the
// next tile.
Result<std::vector<ConvTile>> tile_for_rv1106(const ConvLayer& layer) {
  const Chip& chip = *layer.in.chip;
  const int64_t bank_bytes = chip.bank_entries * chip.entry_bytes;
  const auto bytes = static_cast<int64_t>(layer.weight_bytes);
  constexpr int64_t kLeastBanks = 2;
  const int64_t groups = ceil_div(layer.out.channels, chip.array_bytes);
  const int64_t taps =
      int64_t{layer.params.kernel.h} * layer.params.kernel.w * (has_paired_offsets(layer) ? 2 : 1);
  const auto most_for = [&](int64_t channels) {
    const int64_t all = ceil_div(layer.is_depthwise ? taps * channels : bytes, bank_bytes);
    const int64_t group = layer.is_depthwise ? all : ceil_div(ceil_div(bytes, groups), bank_bytes);
    return chip.banks - std::min(all, std::max(group, kLeastBanks));
  };
  // Whole rows count where less of them is read.
  const auto entries_of = [&](int64_t channels) {
    return buffer_entries(layer.in, in_channels(layer, channels), layer.in.width);
  };
  const auto full_for = [&](int64_t channels) {
    const int64_t rows = layer.params.transposed
                             ? layer.in.height
                             : std::min(needed_rows(layer, layer.out.height, layer.params.pads.top),
                                        layer.in.height);
    return std::max<int64_t>(ceil_div(entries_of(channels) * rows, chip.bank_entries), 1);
  };
  if (most_for(layer.is_depthwise ? chip.depthwise_array_bytes : layer.out.channels) < 1)
    return unsupported("no register form for 16 kernels of more than 224 KiB");
  const int64_t block = chip.depthwise_array_bytes;
  int64_t chunk = layer.out.channels;
  if (layer.is_depthwise && chunk > block && full_for(chunk) > most_for(chunk)) {
    chunk = block;
    while (chunk + block < layer.out.channels && full_for(chunk + block) <= most_for(chunk + block))
      chunk += block;
  }
  std::vector<ConvTile> tiles;
  for (int64_t channel = 0; channel < layer.out.channels; channel += chunk) {
    const int64_t channels = std::min(chunk, layer.out.channels - channel);
    const int64_t full = full_for(channels), most = most_for(channels);
    Cut cut{.chunk = channels};
    cut.data_banks = static_cast<int32_t>(layer.params.transposed ? most : std::min(full, most));
    cut.weight_banks = static_cast<int32_t>(chip.banks - cut.data_banks);
    cut.rows_in_buffer = full <= cut.data_banks
                             ? std::max(needed_rows(layer, layer.out.height, 0), layer.in.height)
                             : cut.data_banks * chip.bank_entries / entries_of(channels);
    cut.keeps_weights =
        !layer.params.transposed && (layer.is_depthwise || bytes <= cut.weight_banks * bank_bytes);
    for (int64_t row = 0; row < layer.out.height;) {
      RK_ASSIGN(ConvTile tile, tile_at(layer, cut, row, layer.out.height));
      tile.first_channel = channel;
      tile.channels = channels;
      tiles.push_back(tile);
      row += tile.out_rows;
    }
  }
  return tiles;
}

// `parts` tiles of as many rows each, the first ones of one more; empty when the buffer does not hold one.
Result<std::vector<ConvTile>> cut_evenly(const ConvLayer& layer, const Cut& cut, int64_t parts) {
  std::vector<ConvTile> tiles;
  int64_t row = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t rows = layer.out.height / parts + (part < layer.out.height % parts ? 1 : 0);
    RK_ASSIGN(const ConvTile tile, tile_at(layer, cut, row, rows));
    if (tile.out_rows != rows) return std::vector<ConvTile>();
    tiles.push_back(tile);
    row += rows;
  }
  return tiles;
}

}  // namespace

int64_t buffer_entries(const Feature& feature, int64_t channels, int64_t width) {
  if (feature.is_picture) {
    const int64_t bytes =
        align_up<int64_t>(width, feature.lanes()) * picture_pixel_bytes(feature, channels);
    return ceil_div(bytes, feature.chip->entry_bytes);
  }
  // Three atoms take the place of four.
  const int64_t together = feature.chip->entry_bytes / feature.chip->atom_bytes;
  const int64_t atoms = ceil_div(channels, feature.lanes()), rest = atoms % together;
  const int64_t partly = rest == 3 ? width : ceil_div(rest * width, together);
  return atoms / together * width + partly;
}

int64_t row_entries(const ConvLayer& layer, int64_t channels) {
  if (!has_weights_in_rows(layer)) return buffer_entries(layer.in, channels, read_width(layer));
  // All that the kernels reach, borders with it.
  const program::ConvParams& p = layer.params;
  const int64_t columns = (layer.out.width - 1) * p.stride.w + p.kernel.w;
  return ceil_div(columns * layer.in.chip->picture_lanes, layer.in.chip->entry_bytes);
}

int64_t read_width(const ConvLayer& layer) {
  if (layer.in.is_model_input || layer.params.transposed) return layer.in.width;
  const program::ConvParams& p = layer.params;
  if (layer.in.chip->is_rk3576 && p.kernel.w > 1) return layer.in.width;
  const int64_t kernel = int64_t{p.kernel.w - 1} * p.dilation.w + 1;
  return std::min((layer.out.width - 1) * p.stride.w + kernel - p.pads.left, layer.in.width);
}

Result<std::vector<ConvTile>> tile_convolution(const ConvLayer& layer) {
  RK_TRY(check_layer(layer));
  if (layer.in.chip->is_rk3576) return tile_for_rk3576(layer);
  if (layer.in.chip->is_rv1106) return tile_for_rv1106(layer);
  const Cut cut = cut_for(layer);
  std::vector<ConvTile> tiles;
  if (layer.in.chip->is_rk3562 && cut.chunk < layer.out.channels) {
    RK_TRY(add_by_channels(layer, cut, tiles));
    return tiles;
  }
  for (int64_t row = 0; row < layer.out.height;) {
    RK_ASSIGN(const ConvTile tile, tile_at(layer, cut, row, layer.out.height));
    add_chunks(layer, cut, tile, tiles);
    row += tile.out_rows;
  }
  if (layer.in.chip->is_rk3566 && cut.chunk < layer.out.channels) {
    // All rows of a block before the next block.
    std::ranges::stable_sort(tiles, {}, &ConvTile::first_channel);
    for (ConvTile& tile : tiles) tile.reuses_weights = tile.first_out_row > 0;
  }
  if (layer.in.chip->is_rk3562) share_rows(layer, cut, tiles);
  return tiles;
}

Result<std::vector<std::vector<ConvTile>>> split_convolution(const ConvLayer& layer, int cores) {
  RK_TRY(check_layer(layer));
  if (layer.in.chip->is_rk3576) return split_for_rk3576(layer);
  const Cut cut = cut_for(layer);
  for (int64_t parts = cores; parts <= layer.out.height; parts += cores) {
    RK_ASSIGN(std::vector<ConvTile> rows, cut_evenly(layer, cut, parts));
    if (rows.empty()) continue;
    std::vector<std::vector<ConvTile>> of_core(static_cast<size_t>(cores));
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<ConvTile>& tiles = of_core[i % of_core.size()];
      rows[i].reuses_weights = cut.keeps_weights && !tiles.empty();
      rows[i].cores = cores;
      add_chunks(layer, cut, rows[i], tiles);
    }
    return of_core;
  }
  return std::vector<std::vector<ConvTile>>();
}

}  // namespace rk::registers
