// SPDX-License-Identifier: Apache-2.0
// Lists in the form of RK3566 and RK3568: the registers of RK3588 in other places and in another order
// (target/rk3566_registers.h), and a few of their own.
#pragma once

#include <vector>

#include "registers/task.h"

namespace rk::registers {

RegisterTask for_rk3566(const RegisterTask& task);

// A list that fills both tables of the DPU is two there, one for each. After the last entry comes the second once more, as
// in vendor files.
bool loads_tables(const RegisterTask& task);
std::vector<RegisterTask> table_loads_for_rk3566(const RegisterTask& task);

}  // namespace rk::registers
