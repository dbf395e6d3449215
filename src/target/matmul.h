// SPDX-License-Identifier: Apache-2.0
// What each chip's matmul interface takes: combinations of types, blocks of the native layouts, limits. Data from the
// runtime API sheet, section 9; where its two sources differ, both numbers stand here and the runtime decides.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/type.h"

namespace rk::target {

// A value of rknn_matmul_type.
struct MatmulType {
  int value = 0;
  std::string_view name;  // as in the header, without its prefix
  DType a, b, c;
};
std::span<const MatmulType> matmul_types();
const MatmulType* find_matmul_type(int value);  // null for what is not declared

// Block of native B: [N / n, K / k, n, k].
struct MatmulBlock {
  int n = 0, k = 0;
};

// Rules that depend on the element type of A and B. `a_block` 0: the chip has no such type.
struct MatmulElement {
  int a_block = 0;  // native A is [K / a_block, M, a_block]
  MatmulBlock b_block;
  int k_align = 0, n_align = 0;  // of the header
  int n_align_guide = 0;         // of the user guide, which is stricter for some
  int n_max_guide = 0;           // only the guide has one
};

struct MatmulRules {
  uint32_t types = 0;  // bit v: the type with value v is listed for the chip
  int k_max = 0;       // 0: none
  int k_segment = 0;   // native B is cut here and each piece laid out on its own; 0: never
  bool transposed_b = false;
  MatmulElement i4, i8, f16;

  bool exists() const { return types != 0; }
  bool lists(int value) const { return (types >> value & 1) != 0; }
  // The element whose blocks and limits a combination follows. A and B alike: theirs. Mixed: the float16 blocks where C is
  // a float, else those of int8, as RK3576 has it.
  const MatmulElement& element(const MatmulType& type) const;
};

}  // namespace rk::target
