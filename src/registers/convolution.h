// SPDX-License-Identifier: Apache-2.0
// The register lists of an int8 or float16 convolution for RK3588: tiles that fit the convolution buffer, and one list for each.
// The rules come from the lists of vendor files (docs/fidelity.md, "Register lists"); what none of them shows is refused.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fixed_point.h"
#include "base/status.h"
#include "program/program.h"
#include "registers/chip.h"
#include "registers/task.h"

namespace rk::registers {

// A feature in chip memory.
struct Feature {
  int64_t channels = 0, height = 0, width = 0;
  int64_t plane_align = 1;  // pixels of a channel block are padded to this
  int64_t plane = 0;        // pixels from one block to the next where that is not the rule
  int64_t row_gap = 0;      // of an output: pixels between two rows
  bool is_picture = false;  // packed NHWC, a model input of 1, 3 or 4 channels
  bool is_packed = false;   // a picture whose rows follow each other without padding
  bool is_model_input = false;
  int32_t zero_point = 0;
  bool is_float = false;  // float16 in place of int8
  const Chip* chip = &kRk3588;

  int64_t plane_pixels() const;
  int64_t lanes() const { return chip->atom_bytes / element_bytes(); }  // of an atom
  int64_t element_bytes() const { return is_float ? 2 : 1; }
};

// What the bias constant holds.
enum class BiasForm : uint8_t {
  kAll,    // bias, weight offset and multiplier of each channel
  kAlone,  // biases; one weight offset and no multiplier for the layer
};

// How the chip brings what an application stores of a channel to the input's type: x * scale /
// 2^shift + offset.
struct PictureChannel {
  ScaleShift scale;
  int32_t offset = 0;
};

struct ConvLayer {
  program::ConvParams params;  // integer form, or float form where the features are float16
  Feature in, out;
  bool is_depthwise = false;
  uint64_t weight_bytes = 0;  // of the constant, blocks padded
  BiasForm bias_form = BiasForm::kAll;
  int32_t weight_offset = 0;             // kAlone
  bool has_bias = true;                  // int8 layers always have one
  bool has_addend = false;               // a feature of the output's extents
  std::vector<PictureChannel> picture;   // RK3562; empty: as stored
  int32_t first_multiplier = 0;          // RK3562: of channel 0, in whose unit limits are
  uint64_t in_bytes = 0, out_bytes = 0;  // from the start of the tensors to the features
};

// Part of a layer that one list computes.
struct ConvTile {
  int64_t first_out_row = 0, out_rows = 0;
  int64_t first_in_row = 0, in_rows = 0;
  int64_t pad_top = 0;
  int64_t first_channel = 0,
          channels = 0;  // of the output; less than all of a depthwise layer only
  int32_t data_banks = 0, weight_banks = 0;
  bool reuses_weights = false;  // those of the tile before stay in the buffer
  // RK3562: rows at the start of the tile that the tile before left in the buffer, a ring of rows
  // of 64 bytes; where in it the tile begins and where fetched rows go.
  int64_t kept_rows = 0, first_entry = 0, write_entry = 0;
  int32_t cores = 1;  // that compute other rows with the same weights at the same time
  bool operator==(const ConvTile&) const = default;
};

// The layer of a step; kUnsupported says which part of it no list has.
Result<ConvLayer> conv_layer(const program::Program& program, const program::Variant& variant,
                             const program::Step& step);

// Extents within the fields of the registers.
Status check_layer(const ConvLayer& layer);

// The layer's tiles in execution order.
Result<std::vector<ConvTile>> tile_convolution(const ConvLayer& layer);

// Tiles of each core, as many for all of them: cores wait for each other after every list, so rows go round. Banks are those
// of the layer on one core. Empty when the layer has too few rows; one core then runs it. Two cores of RK3576 share banks and
// weights where ConvTile::cores says so, else each has its own.
Result<std::vector<std::vector<ConvTile>>> split_convolution(const ConvLayer& layer, int cores);

// The complete list of a tile: no register keeps its value from an earlier one.
Result<RegisterTask> write_convolution(const ConvLayer& layer, const ConvTile& tile);

// RK3576: the weights of a picture of 3 or 4 channels lie by rows of the kernel, four columns after
// another, where 16 divides the widths of picture and output.
bool has_weights_in_rows(const ConvLayer& layer);

// Offsets lie between the weights: w0 w1 o0 o1.
bool has_paired_offsets(const ConvLayer& layer);

// The tile's rows of one fetch (CNA_CONV_CON2) follow a rule that all vendor files confirm.
bool has_known_fetch(const ConvLayer& layer, const ConvTile& tile);

// Pixels of an input row that the layer reads.
int64_t read_width(const ConvLayer& layer);

// Rows of 64 bytes that a row of the layer's input takes in the buffer; `channels` of it.
int64_t row_entries(const ConvLayer& layer, int64_t channels);

// Rows of 64 bytes that a row of the feature takes in the buffer; `channels` of it.
int64_t buffer_entries(const Feature& feature, int64_t channels, int64_t width);

}  // namespace rk::registers
