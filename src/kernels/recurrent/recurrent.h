// SPDX-License-Identifier: Apache-2.0
// What a recurrent layer computes at each time step, in float32: the product of its state with a packed matrix, and the
// cells of LSTM and GRU with their usual functions (sigmoid and tanh). Gates lie one after another, each of `count`
// numbers, a multiple of kRecurrentColumns: units that do not exist have weights 0, and their state stays 0.
#pragma once

#include <cstdint>

namespace rk::kernels {

inline constexpr int64_t kRecurrentColumns = 64;

// y = start + x * matrix, each element summed over the depth upwards. y may be `start`.
struct RowProductArgs {
  const float* x = nullptr;
  int64_t depth = 0;
  const float* panels = nullptr;  // [panel_count][depth][kRecurrentColumns]
  int64_t panel_count = 0;
  const float* start = nullptr;
  float* y = nullptr;
  bool backwards = false;  // the last panel first: what the cache holds of it serves two steps
};
void row_product_f32(const RowProductArgs& args);

// c = f * c + i * g, h = o * tanh(c) with the arguments of i, o, f and g as gates.
struct LstmCellArgs {
  const float* gates = nullptr;
  float* c = nullptr;
  float* h = nullptr;
  int64_t count = 0;
};
void lstm_cell_f32(const LstmCellArgs& args);

// The gates of update z and reset r are complete. The candidate's argument is from_input + r * from_hidden, or, where the
// reset gate applies before the product, from_input alone, which then has the product.
struct GruCellArgs {
  const float* gates = nullptr;        // z, and r after it
  const float* from_input = nullptr;   // of the candidate
  const float* from_hidden = nullptr;  // of the candidate; null: none
  float* h = nullptr;                  // h = (1 - z) * candidate + z * h
  int64_t count = 0;
};
void gru_cell_f32(const GruCellArgs& args);

// out = sigmoid(gate) * h: what the product of a GRU's candidate reads where the reset gate applies before it.
struct ResetStateArgs {
  const float* gate = nullptr;
  const float* h = nullptr;
  float* out = nullptr;
  int64_t count = 0;
};
void reset_state_f32(const ResetStateArgs& args);

}  // namespace rk::kernels
