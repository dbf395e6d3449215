// SPDX-License-Identifier: Apache-2.0
// The recurrent family in portable loops, with the functions of the C library.
#include <cmath>
#include <cstring>

#include "kernels/recurrent/recurrent.h"

namespace rk::kernels {

decltype(row_product_f32) row_product_f32__generic;
decltype(lstm_cell_f32) lstm_cell_f32__generic;
decltype(gru_cell_f32) gru_cell_f32__generic;
decltype(reset_state_f32) reset_state_f32__generic;

namespace {

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

}  // namespace

void row_product_f32__generic(const RowProductArgs& args) {
  const float* weights = args.panels;
  for (int64_t panel = 0; panel < args.panel_count; ++panel) {
    float sums[kRecurrentColumns];
    std::memcpy(sums, args.start + panel * kRecurrentColumns, sizeof sums);
    for (int64_t k = 0; k < args.depth; ++k, weights += kRecurrentColumns) {
      for (int64_t c = 0; c < kRecurrentColumns; ++c) sums[c] += args.x[k] * weights[c];
    }
    std::memcpy(args.y + panel * kRecurrentColumns, sums, sizeof sums);
  }
}

void lstm_cell_f32__generic(const LstmCellArgs& args) {
  const float *const in = args.gates, *const out = in + args.count;
  const float *const forget = out + args.count, *const candidate = forget + args.count;
  for (int64_t i = 0; i < args.count; ++i) {
    args.c[i] = sigmoid(forget[i]) * args.c[i] + sigmoid(in[i]) * std::tanh(candidate[i]);
    args.h[i] = sigmoid(out[i]) * std::tanh(args.c[i]);
  }
}

void gru_cell_f32__generic(const GruCellArgs& args) {
  for (int64_t i = 0; i < args.count; ++i) {
    const float update = sigmoid(args.gates[i]), reset = sigmoid(args.gates[args.count + i]);
    const float hidden = args.from_hidden != nullptr ? reset * args.from_hidden[i] : 0.0f;
    const float candidate = std::tanh(args.from_input[i] + hidden);
    args.h[i] = (1.0f - update) * candidate + update * args.h[i];
  }
}

void reset_state_f32__generic(const ResetStateArgs& args) {
  for (int64_t i = 0; i < args.count; ++i) args.out[i] = sigmoid(args.gate[i]) * args.h[i];
}

}  // namespace rk::kernels
