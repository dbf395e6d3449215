// SPDX-License-Identifier: Apache-2.0
// Moves in portable loops. Runs are copied whole; where the input is read across its lines, squares of it are turned
// around at a time, so that each line is fetched once.
#include "kernels/layout/move.h"

#include <cstring>
#include <vector>

namespace rk::kernels {
namespace {

using Loop = MoveArgs::Loop;

constexpr int64_t kSquare = 16;

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// What the innermost loops do: `count` elements of `from`, `step` apart.
template <typename T>
void copy_run(const T* from, T* to, const Loop& loop) {
  if (loop.step == 1) {
    std::memcpy(to, from, static_cast<size_t>(loop.extent) * sizeof(T));
  } else if (loop.step == 0) {
    for (int64_t i = 0; i < loop.extent; ++i) to[i] = *from;
  } else {
    for (int64_t i = 0; i < loop.extent; ++i) to[i] = from[i * loop.step];
  }
}

// Pieces of kBytes, which a compiler copies without a call.
template <size_t kBytes, typename T>
void copy_pieces(const T* from, T* to, const Loop& outer) {
  constexpr auto kElements = static_cast<int64_t>(kBytes / sizeof(T));
  for (int64_t i = 0; i < outer.extent; ++i)
    std::memcpy(to + i * kElements, from + i * outer.step, kBytes);
}

// Two loops, of which the inner goes straight.
template <typename T>
void copy_runs(const T* from, T* to, const Loop& outer, const Loop& inner) {
  switch (static_cast<size_t>(inner.extent) * sizeof(T)) {
    case 2:
      return copy_pieces<2>(from, to, outer);
    case 4:
      return copy_pieces<4>(from, to, outer);
    case 8:
      return copy_pieces<8>(from, to, outer);
    case 16:
      return copy_pieces<16>(from, to, outer);
    case 32:
      return copy_pieces<32>(from, to, outer);
    case 64:
      return copy_pieces<64>(from, to, outer);
    default:
      for (int64_t i = 0; i < outer.extent; ++i)
        copy_run(from + i * outer.step, to + i * inner.extent, inner);
  }
}

// to[a * to_step + b] = from[a + b * from_step] for a whole square.
template <typename T>
void turn_square(const T* from, int64_t from_step, T* to, int64_t to_step) {
  T square[kSquare][kSquare];
  for (int64_t b = 0; b < kSquare; ++b) {
    T line[kSquare];
    std::memcpy(line, from + b * from_step, sizeof line);
    for (int64_t a = 0; a < kSquare; ++a) square[a][b] = line[a];
  }
  for (int64_t a = 0; a < kSquare; ++a) std::memcpy(to + a * to_step, square[a], sizeof square[a]);
}

// The same for `rows` values of a and `columns` of b.
template <typename T>
void turn(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  for (int64_t a = 0; a < rows; a += kSquare) {
    for (int64_t b = 0; b < columns; b += kSquare) {
      const T* const x = from + a + b * from_step;
      T* const y = to + a * to_step + b;
      const int64_t height = smaller(kSquare, rows - a), width = smaller(kSquare, columns - b);
      if (height == kSquare && width == kSquare) {
        turn_square(x, from_step, y, to_step);
        continue;
      }
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t k = 0; k < width; ++k) y[i * to_step + k] = x[i + k * from_step];
      }
    }
  }
}

template <typename T>
class Mover {
 public:
  explicit Mover(const MoveArgs& args) : args_(args) {
    int64_t inner = 1;
    for (int i = args.count - 1; i >= 0; --i) {
      out_step_[i] = inner;
      inner *= args.loops[i].extent;
    }
    last_ = args.count - 1;
    // The loop that goes straight through the input where the innermost does not.
    if (last_ < 1 || args.loops[last_].step == 1 || args.loops[last_].extent < 4) return;
    for (int i = 0; i < last_; ++i) {
      if (args.loops[i].step == 1 && args.loops[i].extent >= 4) turned_ = i;
    }
  }

  void run(IndexRange units) {
    const auto* const from = static_cast<const T*>(args_.input);
    auto* const to = static_cast<T*>(args_.output);
    if (args_.count == 0) {
      *to = *from;
      return;
    }
    const Loop& outer = args_.loops[0];
    const int64_t begin = units.begin, count = units.end - units.begin;
    walk(0, {count, outer.step}, from + begin * outer.step, to + begin * out_step_[0]);
  }

 private:
  // Loop number `i`, of which `loop` is a part.
  void walk(int i, const Loop& loop, const T* from, T* to) {
    if (i == last_) return copy_run(from, to, loop);
    if (i == turned_) {
      turned_rows_ = loop.extent;
      return next(i, from, to);
    }
    if (turned_ < 0 && i + 1 == last_ && args_.loops[last_].step == 1)
      return copy_runs(from, to, loop, args_.loops[last_]);
    for (int64_t k = 0; k < loop.extent; ++k) next(i, from + k * loop.step, to + k * out_step_[i]);
  }
  void next(int i, const T* from, T* to) {
    const Loop& loop = args_.loops[i + 1];
    if (i + 1 == last_ && turned_ >= 0)
      return turn(from, loop.step, to, out_step_[turned_], turned_rows_, loop.extent);
    walk(i + 1, loop, from, to);
  }

  const MoveArgs& args_;
  int64_t out_step_[kMoveLoops] = {};
  int last_ = 0;
  int turned_ = -1;
  int64_t turned_rows_ = 0;
};

}  // namespace

int64_t move_units(const MoveArgs& args) { return args.count == 0 ? 1 : args.loops[0].extent; }

void move_elements(const MoveArgs& args, IndexRange units) {
  switch (args.element_bytes) {
    case 1:
      return Mover<uint8_t>(args).run(units);
    case 2:
      return Mover<uint16_t>(args).run(units);
    case 4:
      return Mover<uint32_t>(args).run(units);
    default:
      return Mover<uint64_t>(args).run(units);
  }
}

bool find_move_loops(const int32_t* sources, int64_t elements, MoveArgs& args, int64_t& first) {
  args.count = 0;
  if (elements <= 0) return false;
  first = sources[0];
  Loop found[kMoveLoops];  // innermost first
  int count = 0;
  // `starts` are the first sources of the rounds of the loops found so far.
  std::vector<int32_t> starts(sources, sources + elements);
  while (starts.size() > 1) {
    const auto size = static_cast<int64_t>(starts.size());
    const int64_t step = int64_t{starts[1]} - starts[0];
    int64_t extent = 2;
    while (extent < size &&
           starts[static_cast<size_t>(extent)] - int64_t{starts[static_cast<size_t>(extent - 1)]} ==
               step) {
      ++extent;
    }
    if (size % extent != 0 || count == kMoveLoops) return false;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t begin = i - i % extent;
      if (starts[static_cast<size_t>(i)] != starts[static_cast<size_t>(begin)] + (i - begin) * step)
        return false;
    }
    found[count++] = {extent, step};
    for (int64_t i = 0; i < size / extent; ++i)
      starts[static_cast<size_t>(i)] = starts[static_cast<size_t>(i * extent)];
    starts.resize(static_cast<size_t>(size / extent));
  }
  args.count = count;
  for (int i = 0; i < count; ++i) args.loops[i] = found[count - 1 - i];
  return true;
}

}  // namespace rk::kernels
