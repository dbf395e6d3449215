// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/sparse.h"

#include <algorithm>
#include <cstring>

namespace rk::frontends::tflite {
namespace {

// The union SparseIndexVector: its kind stands in `slot`, the table with the numbers in the next one.
Result<std::vector<int64_t>> read_numbers(const FlatTable& table, int slot) {
  RK_ASSIGN(const uint8_t kind, table.scalar<uint8_t>(slot, 0));
  RK_ASSIGN(const auto holder, table.table(slot + 1, "SparseIndexVector"));
  if (!holder) return table.slot_error(slot + 1, "a compressed axis without its numbers");
  const auto widened = [&]<typename T>(T) -> Result<std::vector<int64_t>> {
    RK_ASSIGN(const std::vector<T> numbers, holder->vector<T>(0));
    return std::vector<int64_t>(numbers.begin(), numbers.end());
  };
  switch (kind) {
    case 1:
      return widened(int32_t{});
    case 2:
      return widened(uint16_t{});
    case 3:
      return widened(uint8_t{});
    default:
      return table.slot_error(
          slot, str("numbers of kind ", static_cast<int>(kind), "; 1 to 3 are known"));
  }
}

// One walk over the tree.
class Expansion {
 public:
  Expansion(const Sparsity& sparsity, ByteSpan values, Tensor& full)
      : sparsity_(sparsity), values_(values), full_(full), item_(byte_size(full.dtype())) {}

  Status run() {
    RK_TRY(check_axes());
    RK_TRY(visit(0, 0));
    if (used_ != values_.size()) {
      return invalid_model(str("its sparse form has room for ", used_ / item_, " values of ",
                               values_.size() / item_, " stored ones"));
    }
    return ok_status();
  }

 private:
  int64_t extent(int32_t axis) const { return full_.shape()[axis]; }

  // Every axis has one level, blocks are dense and divide their axes, and dense levels have their axis's size.
  Status check_axes() {
    const size_t rank = static_cast<size_t>(full_.shape().rank());
    const size_t count = rank + sparsity_.block_map.size();
    if (sparsity_.order.size() != count || sparsity_.levels.size() != count) {
      return invalid_model(str("its sparse form has ", sparsity_.order.size(), " axes and ",
                               sparsity_.levels.size(), " levels; ", count, " are needed"));
    }
    std::vector<bool> seen(count, false);
    for (const int32_t axis : sparsity_.order) {
      if (axis < 0 || static_cast<size_t>(axis) >= count || seen[static_cast<size_t>(axis)]) {
        return invalid_model(str("axis ", axis, " of its sparse form is unknown or named twice"));
      }
      seen[static_cast<size_t>(axis)] = true;
    }
    block_.assign(rank, 1);
    for (size_t level = 0; level < count; ++level) {
      if (static_cast<size_t>(sparsity_.order[level]) < rank) continue;
      const int32_t axis = sparsity_.block_map[static_cast<size_t>(sparsity_.order[level]) - rank];
      const Sparsity::Level& inside = sparsity_.levels[level];
      if (axis < 0 || static_cast<size_t>(axis) >= rank || block_[static_cast<size_t>(axis)] != 1 ||
          inside.is_compressed || inside.size < 1 || extent(axis) % inside.size != 0) {
        return invalid_model(str("a block of its sparse form has size ", inside.size, " on axis ",
                                 axis, " of ", to_string(full_.shape())));
      }
      block_[static_cast<size_t>(axis)] = inside.size;
    }
    for (size_t level = 0; level < count; ++level) {
      const size_t axis = static_cast<size_t>(sparsity_.order[level]);
      const Sparsity::Level& at = sparsity_.levels[level];
      if (axis >= rank || at.is_compressed) continue;
      const int64_t wanted = extent(static_cast<int32_t>(axis)) / block_[axis];
      if (at.size != wanted) {
        return invalid_model(str("axis ", axis, " of its sparse form has ", at.size, " entries; ",
                                 to_string(full_.shape()), " needs ", wanted));
      }
    }
    position_.assign(rank, 0);
    return ok_status();
  }

  // The children of one node. Depth is at most twice the rank, work at most the elements of the full tensor for each
  // level: dense levels have their axis's size and compressed ones name an entry of their axis once.
  Status visit(size_t level, int64_t node) {
    if (level == sparsity_.levels.size()) return store();
    const Sparsity::Level& at = sparsity_.levels[level];
    if (!at.is_compressed) {
      for (int64_t i = 0; i < at.size; ++i) {
        RK_TRY(step(level, i, node * at.size + i));
      }
      return ok_status();
    }
    const auto place = static_cast<size_t>(node);
    if (place + 1 >= at.segments.size() || at.segments[place] < 0 ||
        at.segments[place] > at.segments[place + 1] ||
        at.segments[place + 1] > static_cast<int64_t>(at.indices.size())) {
      return invalid_model(str("the segments of level ", level, " of its sparse form are broken"));
    }
    const size_t axis = static_cast<size_t>(sparsity_.order[level]);
    int64_t before = -1;
    for (int64_t i = at.segments[place]; i < at.segments[place + 1]; ++i) {
      const int64_t index = at.indices[static_cast<size_t>(i)];
      if (index <= before || index >= extent(static_cast<int32_t>(axis)) / block_[axis]) {
        return invalid_model(str("index ", index, " of axis ", axis,
                                 " of its sparse form is out of order or beyond ",
                                 to_string(full_.shape())));
      }
      before = index;
      RK_TRY(step(level, index, i));
    }
    return ok_status();
  }

  // Goes to entry `index` of the level's axis, whose number among the level's nodes is `node`.
  Status step(size_t level, int64_t index, int64_t node) {
    const size_t rank = position_.size();
    const size_t axis = static_cast<size_t>(sparsity_.order[level]);
    const bool is_inside = axis >= rank;
    const size_t target = is_inside ? static_cast<size_t>(sparsity_.block_map[axis - rank]) : axis;
    const int64_t offset = is_inside ? index : index * block_[axis];
    position_[target] += offset;
    const Status status = visit(level + 1, node);
    position_[target] -= offset;
    return status;
  }

  Status store() {
    if (values_.size() - used_ < item_) {
      return invalid_model(str("its sparse form needs more than the ", values_.size() / item_,
                               " values that are stored"));
    }
    int64_t at = 0;
    for (size_t axis = 0; axis < position_.size(); ++axis) {
      at = at * extent(static_cast<int32_t>(axis)) + position_[axis];
    }
    std::memcpy(full_.mutable_data<uint8_t>() + static_cast<size_t>(at) * item_,
                values_.data() + used_, item_);
    used_ += item_;
    return ok_status();
  }

  const Sparsity& sparsity_;
  const ByteSpan values_;
  Tensor& full_;
  const size_t item_;
  size_t used_ = 0;
  std::vector<int64_t> block_;     // size of a block along each axis of the tensor
  std::vector<int64_t> position_;  // of the walk, in the full tensor
};

}  // namespace

Result<Sparsity> read_sparsity(const FlatTable& table) {
  Sparsity sparsity;
  RK_ASSIGN(sparsity.order, table.vector<int32_t>(0));
  RK_ASSIGN(sparsity.block_map, table.vector<int32_t>(1));
  RK_ASSIGN(const std::vector<FlatTable> levels, table.tables(2, "DimensionMetadata"));
  for (const FlatTable& from : levels) {
    Sparsity::Level level;
    RK_ASSIGN(const int8_t format, from.scalar<int8_t>(0, 0));
    if (format != 0 && format != 1) {
      return from.slot_error(0,
                             str("axis format ", static_cast<int>(format), "; 0 and 1 are known"));
    }
    level.is_compressed = format == 1;
    RK_ASSIGN(level.size, from.scalar<int32_t>(1, 0));
    if (level.is_compressed) {
      RK_ASSIGN(level.segments, read_numbers(from, 2));
      RK_ASSIGN(level.indices, read_numbers(from, 4));
    }
    sparsity.levels.push_back(std::move(level));
  }
  return sparsity;
}

Status expand(const Sparsity& sparsity, ByteSpan values, Tensor& full) {
  return Expansion(sparsity, values, full).run();
}

}  // namespace rk::frontends::tflite
