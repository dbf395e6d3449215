// SPDX-License-Identifier: Apache-2.0
// conv_i8 with AVX512-VNNI: tiles of 6 pixels by 64 output channels (8 by 48, 12 by 32, 12 by 16), in bands (bands.h).
//
// Note: the dot products are inline assembly because GCC otherwise moves sums between registers.
#if defined(__x86_64__)

#include "kernels/conv/i8/x86_avx512vnni_band.h"
#include "kernels/conv/i8/x86_avx512vnni_quarters.h"
#include "kernels/conv/i8/x86_avx512vnni_rows.h"
#include "kernels/conv/i8/x86_avx512vnni_squeeze.h"
#include "kernels/conv/i8/x86_avx512vnni_totals.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {

void run(const ConvI8Args& args, IndexRange units);

namespace {

// What one pass over a chunk of input blocks reads.
struct Pass {
  const int32_t* offsets;  // from a pixel to four channels of a tap
  int64_t quads;           // of all taps
  const int8_t* weights;
  const int32_t* start;  // of the tile's sums; null: they go on
};

// kHalf: the last vector has eight channels at most.
template <int kPixels, int kVectors, bool kHalf>
struct Sums {
  __m512i sum[kPixels][kVectors];

  // The products of four channels.
  RK_INLINE void add(const uint8_t* const (&x)[kPixels], int64_t at, const int8_t* weights) {
    __m512i w[kVectors];
    unroll<kVectors>([&](auto v) RK_UNROLLED { w[v] = _mm512_load_si512(weights + v * 64); });
    unroll<kPixels>([&](auto p) RK_UNROLLED {
      int32_t four;
      __builtin_memcpy(&four, x[p] + at, sizeof four);
      const __m512i spread = _mm512_xor_si512(_mm512_set1_epi8(-128), _mm512_set1_epi32(four));
      // Named, because clang does not capture what only stands in assembly.
      unroll<kVectors>([this, p, &spread, &w](auto v) RK_UNROLLED {
        if constexpr (kHalf && v == kVectors - 1) {
          // Half the work. The other half becomes 0, which is as good as any sum for channels whose multiplier is 0.
          asm("vpdpbusd %t2, %t1, %t0" : "+v"(sum[p][v]) : "v"(spread), "v"(w[v]));
        } else {
          asm("vpdpbusd %2, %1, %0" : "+v"(sum[p][v]) : "v"(spread), "v"(w[v]));
        }
      });
    });
  }
};

// Pixels of a band, in scratch or where the input has them.
struct Pixels {
  const uint8_t* first;
  const int32_t* places;
  int64_t bytes;  // of a pixel
};

// All products of a pass.
template <int kPixels, int kVectors, bool kHalf>
RK_INLINE void multiply(const Pass& pass, const Pixels& from, int64_t pixel,
                        Sums<kPixels, kVectors, kHalf>& sums) {
  const uint8_t* x[kPixels];
  unroll<kPixels>([&](auto p)
                      RK_UNROLLED { x[p] = from.first + from.places[pixel + p] * from.bytes; });
  const int8_t* weights = pass.weights;
  int64_t quad = 0;
  if constexpr (kPixels > 8) {
    // So many pointers do not fit the registers: reload some of them less often.
    for (; quad + 4 <= pass.quads; quad += 4, weights += 4 * kVectors * 64) {
      unroll<4>([&](auto i) RK_UNROLLED {
        sums.add(x, pass.offsets[quad + i], weights + i * kVectors * 64);
      });
    }
  }
  if constexpr (kPixels >= 6 && kPixels <= 8) {
    // The first tiles of pixels ask for the weights of the next tile of channels: where pictures are small, its first tile of
    // pixels would wait for memory.
    constexpr int64_t kAheadBytes = kVectors * 64 / 8;
    const int64_t bytes = pass.quads * kVectors * 64,
                  at = pixel / kPixels * pass.quads * kAheadBytes;
    if (at < bytes) {
      const int8_t* ahead = pass.weights + bytes + at;
      for (; quad < pass.quads; ++quad, weights += kVectors * 64, ahead += kAheadBytes) {
        __builtin_prefetch(ahead, 0, 2);
        sums.add(x, pass.offsets[quad], weights);
      }
      return;
    }
  }
  for (; quad < pass.quads; ++quad, weights += kVectors * 64)
    sums.add(x, pass.offsets[quad], weights);
}

// acc[pixel][vector] of kPixels pixels.
template <int kPixels, int kVectors, bool kHalf>
void multiply_tile(const Pass& pass, const Pixels& from, int64_t pixel, int32_t* acc) {
  Sums<kPixels, kVectors, kHalf> sums;
  unroll<kPixels * kVectors>([&](auto i) RK_UNROLLED {
    constexpr int p = i / kVectors, v = i % kVectors;
    sums.sum[p][v] =
        _mm512_load_si512(pass.start != nullptr ? pass.start + v * kVector : acc + i * kVector);
  });
  multiply(pass, from, pixel, sums);
  unroll<kPixels * kVectors>([&](auto i) RK_UNROLLED {
    _mm512_store_si512(acc + i * kVector, sums.sum[i / kVectors][i % kVectors]);
  });
}

// One tile of output channels of a band.
struct TileOfBand {
  const Context& c;
  const Band& band;
  const Target& target;
  int64_t channel;  // the first
  bool last;        // chunk: sums are finished
  Pixels from;
  Scratch& scratch;
};

// Whole tiles whose sums never leave the registers: the stages of one overlap with the products of the next. Returns the
// first pixel after them.
template <int kPixels, int kVectors, bool kHalf, bool kSums, Stages kStages>
int64_t multiply_and_finish(const TileOfBand& tile, const Pass& pass) {
  const Context& c = tile.c;
  const Ending k =
      ending(c, tile.target, tile.channel, tile.scratch.totals, tile.scratch.places.output);
  const FloatRoute<kStages> route(c.params, c.constants);
  const Pixels from = tile.from;
  const int64_t pixels = tile.band.pixels();
  int64_t pixel = 0;
  for (; pixel + kPixels <= pixels; pixel += kPixels) {
    Sums<kPixels, kVectors, kHalf> sums;
    unroll<kPixels * kVectors>([&](auto i) RK_UNROLLED {
      constexpr int p = i / kVectors, v = i % kVectors;
      sums.sum[p][v] = _mm512_load_si512(pass.start + v * kVector);
    });
    multiply(pass, from, pixel, sums);
    finish_tile<kPixels, kVectors, kSums>(k, route, sums.sum, pixel);
  }
  return pixel;
}

template <int kPixels, int kVectors, bool kHalf, Stages kStages>
int64_t multiply_and_finish(const TileOfBand& tile, const Pass& pass) {
  return tile.c.constants.sums
             ? multiply_and_finish<kPixels, kVectors, kHalf, true, kStages>(tile, pass)
             : multiply_and_finish<kPixels, kVectors, kHalf, false, kStages>(tile, pass);
}

// Tiles of kPixels while they fit, from `pixel` on; returns the first pixel after them.
template <int kPixels, int kVectors, bool kHalf>
int64_t multiply_in_memory(const TileOfBand& tile, const Pass& pass, FinishFunction finish,
                           int64_t pixel) {
  Scratch& scratch = tile.scratch;
  constexpr int64_t kSums = kVectors * kVector;
  // What is finished at once takes the same place again and again; 24 pixels are whole fours and whole tiles.
  const bool at_once = tile.last && pass.start != nullptr;
  const int64_t together = at_once && kPixels > 1 ? 24 : kPixels;
  while (pixel + kPixels <= tile.band.pixels()) {
    const int64_t first = pixel;
    int32_t* const acc = scratch.acc + (at_once ? 0 : first * kSums);
    do {
      multiply_tile<kPixels, kVectors, kHalf>(pass, tile.from, pixel,
                                              acc + (pixel - first) * kSums);
      pixel += kPixels;
    } while (pixel - first < together && pixel + kPixels <= tile.band.pixels());
    if (!tile.last) continue;
    finish({tile.c, tile.target, tile.channel, acc, scratch.totals + first,
            scratch.places.output + first, pixel - first});
  }
  return pixel;
}

// All pixels of a band: whole tiles, then ever smaller ones.
template <int kVectors, bool kHalf = false>
void multiply_band(const TileOfBand& tile, const Pass& pass) {
  constexpr int kPixels = kVectors == 4 ? 6 : kVectors == 3 ? 8 : 12;
  constexpr int kFewer = kVectors == 4 ? 3 : 4;
  const Context& c = tile.c;
  const FinishFunction finish = finish_function<kVectors>(c);
  int64_t pixel = 0;
  if (c.constants.ends != Ends::kFloat || !tile.last || pass.start == nullptr) {
    pixel = multiply_in_memory<kPixels, kVectors, kHalf>(tile, pass, finish, pixel);
  } else if (c.params.has_residual) {
    pixel = multiply_and_finish<kPixels, kVectors, kHalf, Stages::kResidual>(tile, pass);
  } else if (c.constants.direct) {
    pixel = multiply_and_finish<kPixels, kVectors, kHalf, Stages::kDirect>(tile, pass);
  } else {
    pixel = multiply_and_finish<kPixels, kVectors, kHalf, Stages::kApart>(tile, pass);
  }
  pixel = multiply_in_memory<kFewer, kVectors, kHalf>(tile, pass, finish, pixel);
  multiply_in_memory<1, kVectors, kHalf>(tile, pass, finish, pixel);
}

int32_t quads_of_block(const Context& c, int64_t block) {
  return (lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block)) + 3) / 4;
}

// Offsets of the taps of input blocks, each block `planes` times and `block_bytes` after the one before; returns their
// number.
int64_t fill_offsets(const Context& c, const Band& band, BlockRange blocks, int64_t block_bytes,
                     int32_t* offsets) {
  int64_t count = 0;
  for (int32_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t first = (block - blocks.begin) * block_bytes;
    const int32_t quads = quads_of_block(c, block);
    for (int32_t plane = 0; plane < c.constants.planes; ++plane) {
      for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
        for (int64_t kx = 0; kx < c.x.kernel; ++kx) {
          const int64_t pixel = c.y.tap(ky) * band.scratch_columns + c.x.tap(kx);
          for (int32_t quad = 0; quad < quads; ++quad)
            offsets[count++] = static_cast<int32_t>(first + pixel * kHostBlock + quad * 4);
        }
      }
    }
  }
  return count;
}

// Input of a band that is ready to be read, in scratch.offsets.
struct Loaded {
  int64_t quads;
  bool first, last;  // of the sum
  Pixels pixels;
};

Loaded load_blocks(const Context& c, const Band& band, int64_t n, BlockRange blocks, bool first,
                   bool last, Scratch& scratch) {
  const int64_t pixels = band.scratch_pixels();
  const bool in_parts = c.constants.sums && !(first && last);
  if (in_parts && first)
    std::memset(scratch.parts, 0, static_cast<size_t>(pixels + 8) * sizeof scratch.parts[0]);
  for (int32_t block = blocks.begin; block < blocks.end; ++block) {
    uint8_t* const to = scratch.pixels + (block - blocks.begin) * pixels * kHostBlock;
    load_block<false>(c, band, c.image(n) + block * c.in_plane,
                      lanes_of_block(c.filter.in_channels, block), to);
    if (in_parts) add_parts(to, pixels, scratch.parts);
  }
  if (in_parts && last) sum_parts(c, band, scratch);
  if (c.constants.sums && !in_parts) sum_blocks(c, band, blocks.end - blocks.begin, scratch);
  return {fill_offsets(c, band, blocks, pixels * kHostBlock, scratch.offsets),
          first,
          last,
          {scratch.pixels, scratch.places.scratch, kHostBlock}};
}

// One tile of output channels over what is loaded. `weights` are the tile's at the first loaded block; returns those
// after the last.
const int8_t* multiply_loaded(const Context& c, const Band& band, int64_t n, Tile tile,
                              const Loaded& part, const int8_t* weights, Scratch& scratch) {
  const int64_t channel = int64_t{tile.first_block} * kHostBlock;
  const Pass pass = {scratch.offsets, part.quads, weights,
                     part.first ? c.constants.start + channel : nullptr};
  const Target target(c, band, n, tile.first_block, tile.vectors);
  const TileOfBand where = {c, band, target, channel, part.last, part.pixels, scratch};
  switch (tile.vectors) {
    case 1:
      multiply_band<1>(where, pass);
      break;
    case 2:
      // 24 channels are common.
      c.filter.out_channels - channel <= kVector + kVector / 2 ? multiply_band<2, true>(where, pass)
                                                               : multiply_band<2>(where, pass);
      break;
    case 3:
      multiply_band<3>(where, pass);
      break;
    default:
      multiply_band<4>(where, pass);
  }
  return weights + part.quads * tile.vectors * 64;
}

const int8_t* weights_of(const Context& c, Tile tile) {
  return c.weights() + tile.first_block * block_weights(c.filter, c.constants.planes);
}

// A biased copy of all input of a band.
struct Biased {
  const uint8_t* first;
  int64_t pixel, row;  // bytes from one output pixel's and one output row's to the next's
};

// One tile of output channels over it.
void multiply_biased(const Context& c, const Band& band, int64_t n, Tile tile, int64_t quads,
                     const Biased& from, Scratch& scratch) {
  const int64_t channel = int64_t{tile.first_block} * kHostBlock;
  const Target target(c, band, n, tile.first_block, tile.vectors);
  multiply_rows(
      c, tile.vectors,
      {scratch.offsets, quads, weights_of(c, tile), tile.vectors * 64, c.constants.start + channel},
      {from.first, from.pixel, from.row, band.rows, band.columns,
       c.extents.out.w * int64_t{kHostBlock}},
      ending(c, target, channel, scratch.totals, nullptr));
}

// Rows of the output are neighboring pixels, and the stages have their short form.
bool takes_biased(const Context& c, int64_t quads) {
  return c.constants.direct && c.out_pixel == kHostBlock && quads >= kFewestQuads;
}

void dense_band(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int64_t taps = c.y.kernel * c.x.kernel * c.constants.planes;
  const auto chunk =
      static_cast<int32_t>(smaller(kScratchPixels / band.scratch_pixels(), kMaxTaps / taps));
  if (!scratch.places_of(band)) scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  Loaded part = {};
  for (int32_t index = tiles.begin; index < tiles.end; ++index) {
    const BlockRange blocks = tile_input_blocks(c.filter, index, kTile);
    const Tile tile = tile_of(c.filter, index);
    const int8_t* weights = weights_of(c, tile);
    // Without groups all tiles read the same blocks: once loaded, they serve every tile.
    const bool loaded =
        index > tiles.begin && c.filter.groups == 1 && blocks.end - blocks.begin <= chunk;
    for (int32_t block = blocks.begin; block < blocks.end; block += chunk) {
      const int32_t end = block + chunk < blocks.end ? block + chunk : blocks.end;
      if (!loaded) {
        part = load_blocks(c, band, n, {block, end}, block == blocks.begin, end == blocks.end,
                           scratch);
      }
      weights = multiply_loaded(c, band, n, tile, part, weights, scratch);
    }
  }
}

// The same over patches.
void patches_band(const Context& c, const Band& band, TileRange tiles, int64_t n, int64_t quads,
                  const PatchOrder& order, Scratch& scratch) {
  auto* const patches = reinterpret_cast<uint8_t*>(scratch.acc);
  squeeze_rows(c, band, n, 0x80, scratch.pixels, nullptr);
  make_patches(c, band, order, scratch.pixels, patches);
  if (c.constants.sums) sum_patches(band, patches, scratch.totals);
  for (int32_t index = tiles.begin; index < tiles.end; ++index) {
    multiply_biased(c, band, n, tile_of(c.filter, index), quads,
                    {patches, kPatchBytes, patch_row(band)}, scratch);
  }
}

// A band of a filter with few input channels.
void squeezed_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                   const PatchOrder& order, Scratch& scratch) {
  const int64_t quads = squeezed_offsets(c, band, scratch.offsets);
  if (c.constants.patches) return patches_band(c, band, tiles, n, quads, order, scratch);
  if (takes_biased(c, quads)) {
    load_squeezed(c, band, n, 0x80, scratch);
    const int64_t pixel = c.filter.in_channels;
    const Biased from = {scratch.pixels, c.x.step * pixel, c.y.step * band.scratch_columns * pixel};
    for (int32_t index = tiles.begin; index < tiles.end; ++index)
      multiply_biased(c, band, n, tile_of(c.filter, index), quads, from, scratch);
    return;
  }
  load_squeezed(c, band, n, 0, scratch);
  if (!scratch.places_of(band)) scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  const Loaded part = {
      quads, true, true, {scratch.pixels, scratch.places.scratch, c.filter.in_channels}};
  for (int32_t index = tiles.begin; index < tiles.end; ++index) {
    const Tile tile = tile_of(c.filter, index);
    multiply_loaded(c, band, n, tile, part, weights_of(c, tile), scratch);
  }
}

// Pictures of one pixel, which lie like the rows of a matrix.
bool is_matrix(const Context& c) { return is_matrix_product(c.filter, c.args.extents); }

// A kernel of one tap over all pixels needs no copy of its input, and its pixels are one long row.
bool is_pointwise(const Context& c) {
  const bool straight = c.in_pixel == kHostBlock && c.out_pixel == kHostBlock &&
                        c.in_row == int64_t{c.extents.in.w} * kHostBlock;
  return c.filter.kernel.h == 1 && c.filter.kernel.w == 1 && c.filter.stride.h == 1 &&
         c.filter.stride.w == 1 && (straight || is_matrix(c)) &&
         c.extents.in.h == c.extents.out.h && c.extents.in.w == c.extents.out.w &&
         c.extents.pad_before.h == 0 && c.extents.pad_before.w == 0 &&
         int64_t{channel_blocks(c.filter.in_channels)} * c.constants.planes <= kMaxTaps &&
         channel_blocks(c.filter.in_channels) * c.in_plane <= INT32_MAX;
}

// `band` counts pixels of the long row.
void pointwise_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                    Scratch& scratch) {
  const bool matrix = is_matrix(c);
  const int64_t step = matrix ? c.in_row : kHostBlock;
  const int8_t* const pixels = c.image(n) + band.ox * step;
  if (c.constants.sums) {
    matrix ? sum_matrix_rows(c, pixels, step, band.columns, scratch.totals)
           : sum_pixels(c, pixels, band.columns, scratch.totals);
  }
  int64_t quads = 0;
  for (int32_t index = tiles.begin; index < tiles.end; ++index) {
    const BlockRange blocks = tile_input_blocks(c.filter, index, kTile);
    if (index == tiles.begin || c.filter.groups != 1)
      quads = fill_offsets(c, band, blocks, c.in_plane, scratch.offsets);
    const auto* const first = reinterpret_cast<const uint8_t*>(pixels + blocks.begin * c.in_plane);
    const Tile tile = tile_of(c.filter, index);
    multiply_loaded(c, band, n, tile, {quads, true, true, {first, scratch.places.output, step}},
                    weights_of(c, tile), scratch);
  }
}

// Where a kernel of one tap has few products for each result, and results enough for each input that a biased copy pays.
bool pays_biased(const Context& c) {
  const int32_t in = channel_blocks(c.filter.in_channels);
  const int32_t out = channel_blocks(c.filter.out_channels);
  return takes_biased(c, (c.filter.in_channels + 3) / 4) && c.constants.planes == 1 &&
         c.filter.groups == 1 && in <= 6 && (in <= out || out == 1);
}

// The same for a biased copy of the band.
void biased_band(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int8_t* const pixels = c.image(n) + band.ox * kHostBlock;
  const BlockRange blocks = {0, channel_blocks(c.filter.in_channels)};
  if (c.constants.sums) {
    bias_and_sum(c, pixels, band.columns, scratch.pixels, scratch.totals);
  } else {
    const __m128i keep = _mm_set1_epi8(-1);
    for (int32_t block = 0; block < blocks.end; ++block) {
      copy_pixels<true>(pixels + block * c.in_plane, kHostBlock,
                        scratch.pixels + block * band.columns * kHostBlock, band.columns, keep);
    }
  }
  const int64_t quads = fill_offsets(c, band, blocks, band.columns * kHostBlock, scratch.offsets);
  for (int32_t index = tiles.begin; index < tiles.end; ++index)
    multiply_biased(c, band, n, tile_of(c.filter, index), quads, {scratch.pixels, kHostBlock, 0},
                    scratch);
}

void run_pointwise(const Context& c, IndexRange units, Scratch& scratch) {
  scratch.places.fill({0, 0, 1, kBandPixels, 1, kBandPixels}, 1, 1, kBandPixels);
  const int64_t width = c.extents.out.w;
  const bool biased = !is_matrix(c) && pays_biased(c);
  const bool quarters = !is_matrix(c) && takes_quarters(c);
  for_each_region({c.params.filter, c.args.extents, kTile}, c.extents.out.h, units,
                  [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                    const int64_t end = (oy + rows) * width;
                    if (quarters) return multiply_quarters(c, n, oy * width, rows * width);
                    // Whole tiles of 6, 8 and 12 pixels.
                    const int64_t most =
                        (even_part(rows * width, kBandPixels / 24 * 24) + 23) / 24 * 24;
                    for (int64_t at = oy * width; at < end; at += most) {
                      const int64_t count = smaller(most, end - at);
                      const Band band = {0, at, 1, count, 1, count};
                      biased ? biased_band(c, band, tiles, n, scratch)
                             : pointwise_band(c, band, tiles, n, scratch);
                    }
                  });
}

}  // namespace

void run(const ConvI8Args& args, IndexRange units) {
  const Context c(args);
  Scratch scratch;
  if (c.filter.depthwise()) return run_depthwise(args, units, scratch);
  if (is_pointwise(c)) return run_pointwise(c, units, scratch);
  const BandLimits limits = {
      kBandPixels, pixels_for_all_blocks(c.filter, c.extents, kScratchPixels, kFewPixels), true};
  const PatchOrder order(c);
  for_each_band(c.filter, c.extents, {c.params.filter, args.extents, kTile}, limits, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  c.constants.squeezed ? squeezed_band(c, band, tiles, n, order, scratch)
                                       : dense_band(c, band, tiles, n, scratch);
                });
}

}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END

#endif  // x86-64
