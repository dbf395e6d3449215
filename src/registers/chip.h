// SPDX-License-Identifier: Apache-2.0
// Sizes in which the chips of the family differ. Lists are written with the registers of RK3588, strides counted in atoms;
// rk3566.h, rk3562.h, rk3576.h and rv1106.h bring them into the form of those chips.
#pragma once

#include <cstdint>
#include <string_view>

namespace rk::registers {

struct Chip {
  int64_t atom_bytes = 16;   // a pixel of one block of channels
  int64_t array_bytes = 32;  // of the output channels that leave the array at a time
  int64_t depthwise_array_bytes = 64;
  // The convolution buffer.
  int64_t banks = 12, bank_entries = 512, entry_bytes = 64;
  int64_t resident_banks = 10;  // more of weights do not stay for the next tile
  bool is_rk3566 = false;
  bool is_rk3562 = false;  // registers of RK3562, or close to them
  bool is_rk3576 = false;
  bool is_rv1106 = false;
  int64_t picture_lanes = 16;  // of the weights of a picture's first layer
  size_t cores = 3;
};

inline constexpr Chip kRk3588;
// RK3566 and RK3568.
inline constexpr Chip kRk3566{.atom_bytes = 8,
                              .array_bytes = 16,
                              .depthwise_array_bytes = 32,
                              .banks = 8,
                              .bank_entries = 1024,
                              .entry_bytes = 32,
                              .resident_banks = 6,
                              .is_rk3566 = true,
                              .picture_lanes = 8,
                              .cores = 1};
inline constexpr Chip kRk3562{.array_bytes = 16,
                              .depthwise_array_bytes = 32,
                              .banks = 8,
                              .is_rk3562 = true,
                              .picture_lanes = 4,
                              .cores = 1};

// Banks of one core. RV1126B is a core of RK3576 with one bank more.
inline constexpr Chip kRk3576{.banks = 7,
                              .bank_entries = 1024,
                              .is_rk3562 = true,
                              .is_rk3576 = true,
                              .picture_lanes = 4,
                              .cores = 2};
inline constexpr Chip kRv1126b{.banks = 8,
                               .bank_entries = 1024,
                               .is_rk3562 = true,
                               .is_rk3576 = true,
                               .picture_lanes = 4,
                               .cores = 1};

// RV1103 and RV1106, int8 alone.
inline constexpr Chip kRv1106{.array_bytes = 16,
                              .depthwise_array_bytes = 32,
                              .banks = 8,
                              .bank_entries = 1024,
                              .entry_bytes = 32,
                              .is_rk3562 = true,
                              .is_rv1106 = true,
                              .picture_lanes = 4,
                              .cores = 1};

// Null for chips without lists.
inline const Chip* find_chip(std::string_view target) {
  if (target == "rk3588") return &kRk3588;
  if (target == "rk3562") return &kRk3562;
  if (target == "rk3576") return &kRk3576;
  if (target == "rv1106" || target == "rv1103") return &kRv1106;
  if (target == "rv1126b") return &kRv1126b;
  return target == "rk3566" || target == "rk3568" ? &kRk3566 : nullptr;
}

}  // namespace rk::registers
