// SPDX-License-Identifier: Apache-2.0
// Slots of container version 0x1004 that are not those of version 6 (vendor_tables.h), for both
// directions. Private to format/.
#pragma once

#include "format/vendor_model.h"
#include "format/vendor_tables.h"

namespace rk::format {

template <typename Io>
void describe_small(Io& io, FileTensor& t) {
  io.scalar(0, t.dtype);
  io.scalar(1, t.layout);
  io.scalar(2, t.kind);
  io.vector(3, t.native_shape);
  io.vector(4, t.shape);
  io.string(5, t.name);
  io.vector(6, t.scale);
  io.vector(7, t.zero_point);
  io.scalar(8, t.size_bytes);
  io.scalar(9, t.offset_in_internal);  // of constants: in their region
  io.scalar(11, t.plane_align);
  io.scalar(12, t.width_align);
}

template <typename Io>
void describe_small(Io& io, FileNode& n) {
  io.required_string(1, n.type);
  io.string(2, n.name);
  io.scalar(3, n.processor);
  io.vector(4, n.inputs);
  io.vector(5, n.outputs);
  io.params(6, 7, n.params);
  io.vector(8, n.attributes);
  io.vector(9, n.task_counts);
  // Slot 12 holds stray bytes.
}

template <typename Io>
void describe_small(Io& io, TensorReloc& r) {
  io.string(0, r.tensor);
  io.vector(1, r.entries);
}

}  // namespace rk::format
