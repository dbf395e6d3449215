// SPDX-License-Identifier: Apache-2.0
// How vector variants of a convolution cut their work: into bands, the output pixels of a few rows by one tile of output
// channels. The input rows of a band are first copied to scratch with the border written out; after that no loop knows
// about borders, strides of the batch or transposition. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/blocking.h"

namespace rk::kernels {

// The step of the convolution over the scratch rows and the zero stuffing of its input: a transposed convolution is a
// plain one of step 1 over an input with `stuffing` - 1 border pixels between neighbors.
struct AxisPlan {
  int64_t step;
  int64_t stuffing;
  int64_t kernel;
  int64_t dilation;
  bool reversed;  // tap k lies at (kernel - 1 - k) * dilation

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // Scratch extent for that many outputs.
  int64_t span(int64_t outputs) const { return (outputs - 1) * step + reach(); }
  int64_t tap(int64_t k) const { return (reversed ? kernel - 1 - k : k) * dilation; }
  // The coordinate of scratch position 0 for outputs from `out` on, in the stuffed input.
  int64_t lead(int64_t out, int64_t pad) const {
    return reversed ? out + pad - (kernel - 1) * dilation : out * step - pad;
  }
  // The input coordinate at a stuffed one, or -1 where the border is.
  int64_t source(int64_t at, int64_t extent) const {
    const int64_t i = at >= 0 && at % stuffing == 0 ? at / stuffing : -1;
    return i < extent ? i : -1;
  }
};

inline AxisPlan axis_plan(const ConvFilter& f, bool y) {
  const int64_t stride = y ? f.stride.h : f.stride.w;
  const int64_t kernel = y ? f.kernel.h : f.kernel.w;
  const int64_t dilation = y ? f.dilation.h : f.dilation.w;
  return {f.transposed ? 1 : stride, f.transposed ? stride : 1, kernel, dilation, f.transposed};
}

// Taps of one axis, from `begin` up to, without, `end`.
struct TapRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
  bool operator==(const TapRange&) const = default;
};

// The taps through which outputs `first` to `last` may see the picture; through the others they see its border alone.
inline TapRange seeing_taps(const AxisPlan& axis, int64_t first, int64_t last, int64_t pad,
                            int64_t extent) {
  if (axis.stuffing != 1 || axis.reversed) return {0, axis.kernel};
  TapRange taps = {0, axis.kernel};
  while (taps.begin < taps.end && axis.lead(last, pad) + axis.tap(taps.begin) < 0) ++taps.begin;
  while (taps.begin < taps.end && axis.lead(first, pad) + axis.tap(taps.end - 1) >= extent)
    --taps.end;
  return taps;
}

// A rectangle of output pixels and the rectangle of scratch pixels it reads.
struct Band {
  int64_t oy, ox;
  int64_t rows, columns;
  int64_t scratch_rows, scratch_columns;
  int64_t pixels() const { return rows * columns; }
  int64_t scratch_pixels() const { return scratch_rows * scratch_columns; }
};

// Where the pixels of a band lie, in pixels: in its scratch, and from its first output pixel on.
template <int64_t kMost>
struct BandPlaces {
  int32_t scratch[kMost];
  int32_t output[kMost];

  void fill(const Band& band, int64_t y_step, int64_t x_step, int64_t out_width) {
    int64_t i = 0;
    for (int64_t row = 0; row < band.rows; ++row) {
      for (int64_t column = 0; column < band.columns; ++column, ++i) {
        scratch[i] = static_cast<int32_t>(row * y_step * band.scratch_columns + column * x_step);
        output[i] = static_cast<int32_t>(row * out_width + column);
      }
    }
  }
};

struct BandLimits {
  int64_t pixels;          // of the output
  int64_t scratch_pixels;  // of one input block; a row of kMinBandColumns must fit (fits_bands)
  bool even = false;       // bands of about equal height rather than full ones and a rest
  int64_t rows = 4;        // wanted where neighboring rows read the same input
  int64_t columns =
      1;  // pieces of rows have a multiple of them; `pixels` may be passed by rows * (columns - 1)
};

inline constexpr int32_t kMinBandColumns = 12;
// Loads of four pixels may run past the last one of a row.
inline constexpr int32_t kBandSlack = 3;

inline bool fits_bands(const ConvFilter& filter, int64_t scratch_pixels) {
  const int64_t rows = axis_plan(filter, true).reach();
  const int64_t columns = axis_plan(filter, false).span(kMinBandColumns) + kBandSlack;
  return rows <= scratch_pixels && columns <= scratch_pixels && rows * columns <= scratch_pixels;
}

// Scratch pixels of one input block such that all blocks fit `scratch_pixels`, if bands still have `few_pixels`; else all.
inline int64_t pixels_for_all_blocks(const ConvFilter& filter, const ConvExtents& extents,
                                     int64_t scratch_pixels, int64_t few_pixels) {
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t each = scratch_pixels / channel_blocks(filter.in_channels);
  const int64_t few = smaller(few_pixels, int64_t{extents.out.h} * extents.out.w);
  const int64_t width = smaller(extents.out.w, few);
  const int64_t needed = axis_plan(filter, true).span((few + width - 1) / width) *
                         (axis_plan(filter, false).span(width) + kBandSlack);
  return filter.groups == 1 && each >= needed && fits_bands(filter, each) ? each : scratch_pixels;
}

// Of `columns` pixels from `left` on: how many lie before a row of `width` pixels, and how many in it.
struct RowPart {
  int64_t before;
  int64_t body;
};
inline RowPart row_part(int64_t left, int64_t columns, int64_t width) {
  int64_t before = left < 0 ? -left : 0;
  before = before < columns ? before : columns;
  int64_t body = width - (left > 0 ? left : 0);
  body = body < 0 ? 0 : body;
  return {before, body < columns - before ? body : columns - before};
}

// Tiles of output channels that read the same band.
struct TileRange {
  int32_t begin;
  int32_t end;
};

// Of `total` cut into the fewest parts of at most `most`: the size of all but the last.
inline int64_t even_part(int64_t total, int64_t most) {
  const int64_t parts = (total + most - 1) / most;
  return (total + parts - 1) / parts;
}

// Calls work(n, tiles, oy, rows) for each region of a range: neighboring rows of neighboring tiles. Tiles come
// together where units say so or where the range holds all rows of several.
template <typename Work>
inline void for_each_region(const ConvUnits& units, int64_t height, IndexRange range,
                            const Work& work) {
  for (int64_t unit = range.begin; unit < range.end;) {
    const int64_t oy = units.row(unit);
    const int64_t first = units.first_tile(unit), n = units.picture(unit);
    int64_t together = units.together, rows = height - oy;
    if (oy == 0 && range.end - unit >= height) {
      const int64_t whole = (range.end - unit) / height * units.together;
      together = whole < units.tiles - first ? whole : units.tiles - first;
    }
    rows = rows < range.end - unit ? rows : range.end - unit;
    unit += rows * (together / units.together);
    work(n, TileRange{static_cast<int32_t>(first), static_cast<int32_t>(first + together)}, oy,
         rows);
  }
}

// Cuts units into bands and calls work(band, tiles, n) for each: whole rows while they fit, else pieces of one row of
// about equal width.
template <typename Work>
inline void for_each_band(const ConvFilter& filter, const ConvExtents& extents,
                          const ConvUnits& units, BandLimits limits, IndexRange range,
                          const Work& work) {
  const AxisPlan y = axis_plan(filter, true), x = axis_plan(filter, false);
  const int64_t width = extents.out.w;
  if (units.matrix_product && extents.batch > 1) {
    // A variant that does not know counted_extents gets its pixels one by one.
    for_each_row(units, range, [&](int64_t n, int32_t tile, int64_t) {
      work(Band{0, 0, 1, 1, 1, 1}, TileRange{tile, tile + 1}, n);
    });
    return;
  }
  const auto cut = [&](int64_t n, TileRange tiles, int64_t oy, int64_t left) {
    while (left > 0) {
      int64_t pieces = (width + limits.pixels - 1) / limits.pixels;
      int64_t rows = pieces == 1 ? limits.pixels / width : 1;
      if (y.reach() > y.step && rows < limits.rows && rows < left) {
        // Neighboring rows read the same input: pieces of a few rows load less than whole single rows.
        rows = limits.rows;
        pieces = (width * rows + limits.pixels - 1) / limits.pixels;
      }
      rows = rows < left ? rows : left;
      const auto columns = [&] {
        const int64_t even = (width + pieces - 1) / pieces;
        return pieces == 1 ? even : (even + limits.columns - 1) / limits.columns * limits.columns;
      };
      while (y.span(rows) * (x.span(columns()) + kBandSlack) > limits.scratch_pixels) {
        if (rows > 1) {
          --rows;
        } else {
          ++pieces;
        }
      }
      if (limits.even) rows = even_part(left, rows);
      for (int64_t ox = 0; ox < width; ox += columns()) {
        const int64_t wide = columns() < width - ox ? columns() : width - ox;
        work(Band{oy, ox, rows, wide, y.span(rows), x.span(wide)}, tiles, n);
      }
      oy += rows;
      left -= rows;
    }
  };
  for_each_region(units, extents.out.h, range, cut);
}

// The same where rows follow each other without a border, so that a band may begin and end anywhere: pixels of all rows
// are counted as columns of one. All but a region's last band have a multiple of `tile` pixels.
template <typename Work>
inline void for_each_run(const ConvUnits& units, Extent2 out, int64_t most_pixels, int64_t tile,
                         IndexRange range, const Work& work) {
  for_each_region(units, out.h, range, [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
    const int64_t end = (oy + rows) * out.w;
    const int64_t part = even_part(rows * out.w, most_pixels / tile * tile);
    const int64_t most = (part + tile - 1) / tile * tile;
    for (int64_t at = oy * out.w; at < end; at += most) {
      const int64_t pixels = most < end - at ? most : end - at;
      work(Band{0, at, 1, pixels, 1, pixels}, tiles, n);
    }
  });
}

}  // namespace rk::kernels
