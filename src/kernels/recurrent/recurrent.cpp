// SPDX-License-Identifier: Apache-2.0
// Dispatch of the recurrent family.
#include "kernels/recurrent/recurrent.h"

#include "kernels/dispatch.h"

namespace rk::kernels {

void row_product_f32(const RowProductArgs& args) { RK_DISPATCH(row_product_f32, args); }

void lstm_cell_f32(const LstmCellArgs& args) { RK_DISPATCH(lstm_cell_f32, args); }

void gru_cell_f32(const GruCellArgs& args) { RK_DISPATCH(gru_cell_f32, args); }

void reset_state_f32(const ResetStateArgs& args) { RK_DISPATCH(reset_state_f32, args); }

}  // namespace rk::kernels
