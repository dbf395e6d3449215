// SPDX-License-Identifier: Apache-2.0
// Attribute values as the callbacks of custom operators read them: elements of one type, one after another.
#pragma once

#include <vector>

#include "ir/attr.h"

namespace rk {

struct FlatAttr {
  DType dtype = DType::kF32;
  uint32_t count = 0;
  std::vector<uint8_t> bytes;
};

// Integers are int64, texts uint8 characters; of several texts each ends with a zero.
FlatAttr flat_attr(const Attr& value);

}  // namespace rk
