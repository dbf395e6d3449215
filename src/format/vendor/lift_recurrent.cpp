// SPDX-License-Identifier: Apache-2.0
// LSTM, exLSTM, GRU and exGRU as the IR's LSTM and GRU: weights leave their blocks, int8 ones become real numbers with
// the units that the register lists hold. Operands keep ONNX's places (0 X, 1 W, 2 R, 3 B, 5 h0, 6 c0); the record in
// the attribute slot is often uninitialized, so all extents come from tensors.
//
// Note: that a one-way network runs backwards is written nowhere in the node. It shows in the addresses: the first list
// then starts at the last time step.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked_math.h"
#include "base/half.h"
#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::kNone;
using program::Layout;
using program::ProgramTensor;
namespace reg = target::reg;

constexpr int64_t kMaxHidden = 1 << 16;

struct Network {
  bool lstm = false;
  int64_t gates = 0;  // 4 or 3
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool reverse = false;
  std::vector<float> w, r, b;  // ONNX's [D, gates * H, I], [D, gates * H, H], [D, 2 * gates * H]

  int64_t blocks() const { return gates * directions; }
};

int32_t raw_input(LiftContext& c, size_t i) {
  const auto& inputs = c.node().inputs;
  return i < inputs.size() && inputs[i] > 0 ? inputs[i] : kNone;
}

// One gate's matrix [rows, columns] from its own block: groups of six, of which OC1 counts all gates.
Result<std::vector<double>> read_gate(ByteSpan bytes, const ProgramTensor& t, int64_t gate_count,
                                      int64_t rows, int64_t columns) {
  const std::vector<int32_t>& n = t.native_shape;
  const size_t element = byte_size(t.dtype);
  const auto refuse = [&] {
    return unsupported(str("weights '", t.name, "' are not in the blocks of known files"));
  };
  if (n.empty() || n.size() % 6 != 0) return refuse();
  for (const int32_t extent : n) {
    if (extent < 0 || extent > kMaxHidden * 8) return refuse();
  }
  std::vector<double> out(static_cast<size_t>(rows * columns));
  size_t at = 0;
  int64_t row = 0;
  for (size_t g = 0; g < n.size() && row < rows;) {
    size_t end = g;  // groups of one output width
    while (end < n.size() && n[end] == n[g] && n[end + 4] == n[g + 4]) end += 6;
    const int64_t height = n[g + 4], repeats = std::max<int64_t>(n[g] / gate_count, 1);
    if (height < 1) return refuse();
    for (int64_t k = 0; k < repeats && row < rows; ++k, row += height) {
      int64_t column = 0;
      for (size_t i = g; i < end; i += 6) {
        const int64_t width = n[i + 5];
        if (width < 1) return refuse();
        for (int64_t j = 0; j < n[i + 1]; ++j, column += width) {
          const auto size = static_cast<size_t>(height * width) * element;
          if (at + size > bytes.size()) return refuse();
          for (int64_t y = 0; y < std::min(height, rows - row); ++y) {
            for (int64_t x = 0; x < std::min(width, columns - column); ++x) {
              out[static_cast<size_t>((row + y) * columns + column + x)] = load_f64(
                  t.dtype, bytes.data() + at + static_cast<size_t>(y * width + x) * element);
            }
          }
          at += size;
        }
      }
      if (column < columns) return refuse();
    }
    g = end;
  }
  if (row < rows) return refuse();
  return out;
}

Result<std::vector<double>> read_gates(LiftContext& c, int32_t i, const Network& net,
                                       int64_t columns) {
  const ProgramTensor& t = c.tensor(i);
  const ByteSpan bytes = c.bytes(i);
  std::vector<double> out;
  if (t.layout != Layout::kWeight) {  // on the CPU: as ONNX has them
    RK_ASSIGN(const std::vector<float> values, c.floats(i));
    out.assign(values.begin(), values.end());
    if (std::ssize(out) != net.blocks() * net.hidden * columns) {
      return unsupported(str("weights '", t.name, "' have ", out.size(), " values"));
    }
    return out;
  }
  const size_t element = byte_size(t.dtype);
  // Blocks are padded, so the numbers cannot be more than the bytes.
  const auto needed = checked_product(
      std::array<int64_t, 4>{net.blocks(), net.hidden, columns, static_cast<int64_t>(element)});
  if (!needed || *needed > bytes.size()) {
    return unsupported(str("weights '", t.name, "' have ", bytes.size(), " bytes for ",
                           net.blocks(), " gates of ", net.hidden, " x ", columns));
  }
  const size_t part = bytes.size() / static_cast<size_t>(net.blocks()) / element * element;
  for (int64_t g = 0; g < net.blocks(); ++g) {
    RK_ASSIGN(const std::vector<double> gate,
              read_gate(bytes.subspan(static_cast<size_t>(g) * part, part), t, net.blocks(),
                        net.hidden, columns));
    out.insert(out.end(), gate.begin(), gate.end());
  }
  return out;
}

// float32 vectors padded to the row block, 2 * gates per direction.
Result<std::vector<double>> read_float_bias(LiftContext& c, int32_t i, const Network& net) {
  const ByteSpan bytes = c.bytes(i);
  const int64_t vectors = 2 * net.blocks();
  const int64_t padded = static_cast<int64_t>(bytes.size() / 4) / vectors;
  if (c.tensor(i).dtype != DType::kF32 || padded < net.hidden) {
    return unsupported(str("bias '", c.tensor(i).name, "' has ", bytes.size(), " bytes"));
  }
  std::vector<double> out;
  for (int64_t v = 0; v < vectors; ++v) {
    for (int64_t h = 0; h < net.hidden; ++h)
      out.push_back(load<float>(bytes.data() + static_cast<size_t>((v * padded + h) * 4)));
  }
  return out;
}

// The unit 2^-15 of the gates' sums in terms of the accumulators: from the tasks that read W and R.
struct Units {
  double w = 0, r = 0;
};
Units read_units(LiftContext& c, int32_t w, int32_t r) {
  Units units;
  if (c.registers == nullptr) return units;
  while (const Task* task = c.tasks.next()) {
    const auto address = c.lists.address_of(*task, reg::CNA_DCOMP_ADDR0);
    if (!address || (address->tensor != w && address->tensor != r)) continue;
    const target::RegisterFile& registers = c.tasks.registers();
    const double unit =
        std::ldexp(static_cast<double>(registers.get(c.registers->output_scale)),
                   -static_cast<int>(registers.get(c.registers->output_shift)) - 15);
    if (address->tensor == r) {
      units.r = unit;  // the last: h is in 1/128 from the second step on
    } else if (units.w == 0) {
      units.w = unit;
    }
  }
  return units;
}

// int8: a convolution's bias block per gate of W and of R holds bias, weight offset and multiplier.
Status scale_integers(LiftContext& c, int32_t x, int32_t bias, const Units& units, Network& net,
                      std::vector<double>& w, std::vector<double>& r, std::vector<double>& b) {
  const ByteSpan bytes = c.bytes(bias);
  const int64_t vectors = 2 * net.blocks();
  const size_t part = bytes.size() / static_cast<size_t>(vectors);
  const ProgramTensor& data = c.tensor(x);
  for (int64_t v = 0; v < vectors; ++v) {
    RK_ASSIGN(const program::BiasBlock block,
              program::unpack_bias(bytes.subspan(static_cast<size_t>(v) * part, part), net.hidden,
                                   c.registers->bias_group));
    const bool of_w = v % (2 * net.gates) < net.gates;
    const int64_t gate = v / (2 * net.gates) * net.gates + v % net.gates;
    const int64_t columns = of_w ? net.inputs : net.hidden;
    std::vector<double>& matrix = of_w ? w : r;
    const double unit = of_w ? units.w : units.r;
    for (int64_t h = 0; h < net.hidden; ++h) {
      const auto channel = static_cast<size_t>(h);
      const double factor = block.multiplier[channel] / 16384.0 * unit;
      double* const row = matrix.data() + (gate * net.hidden + h) * columns;
      double sum = 0;
      for (int64_t i = 0; i < columns; ++i) {
        row[i] += block.offset[channel];
        sum += row[i];
        row[i] *= factor * (of_w ? 1 / double{data.scale} : 128);
      }
      b.push_back((block.bias[channel] + (of_w ? data.zero_point * sum : 0)) * factor);
    }
  }
  return ok_status();
}

bool runs_backwards(LiftContext& c) {
  const auto first_addend = [&](std::string_view tensor) -> std::optional<uint32_t> {
    for (const TensorReloc& reloc : c.graph.relocs) {
      if (reloc.tensor == tensor && !reloc.entries.empty()) return reloc.entries.front().addend;
    }
    return std::nullopt;
  };
  for (const int32_t i : c.node().inputs) {
    const std::string& name = tensor_name(c.graph, i);
    if (!name.ends_with("_exSecondary2")) continue;
    if (const auto addend = first_addend(name)) return *addend != 0;
  }
  if (c.output() == kNone) return false;
  return first_addend(c.tensor(c.output()).name).value_or(0) != 0;
}

// A start state: computed, or a constant [D][N][H padded to the chip's lanes]; kNone when it is zero.
Result<int32_t> read_state(LiftContext& c, int32_t i, const Network& net) {
  if (i == kNone) return kNone;
  if (c.written[static_cast<size_t>(i)]) return i;
  const ProgramTensor& t = c.tensor(i);
  const ByteSpan bytes = c.bytes(i);
  if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t v) { return v == 0; })) return kNone;
  const size_t element = byte_size(t.dtype);
  const int64_t count = static_cast<int64_t>(bytes.size() / element);
  const int64_t lanes = t.dtype == DType::kF32  ? 1
                        : t.dtype == DType::kI8 ? c.chip.c2_i8
                                                : c.chip.c2_f16;
  const int64_t padded = align_up(net.hidden, std::max<int64_t>(lanes, 1));
  if (count < net.directions * net.batch * padded) {
    return unsupported(str("start state '", t.name, "' has ", bytes.size(), " bytes"));
  }
  std::vector<float> values;
  for (int64_t row = 0; row < net.directions * net.batch; ++row) {
    for (int64_t h = 0; h < net.hidden; ++h) {
      const auto at = static_cast<size_t>(row * padded + h) * element;
      values.push_back(static_cast<float>(load_f64(t.dtype, bytes.data() + at)));
    }
  }
  const std::string name = t.name + ".state";
  return c.add_floats(name, Shape{net.directions, net.batch, net.hidden}, values);
}

Result<Network> read_network(LiftContext& c) {
  Network net;
  net.lstm = c.node().type.ends_with("LSTM");
  net.gates = net.lstm ? 4 : 3;
  const int32_t x = raw_input(c, 0), w = raw_input(c, 1), r = raw_input(c, 2), b = raw_input(c, 3),
                h0 = raw_input(c, 5);
  for (const int32_t i : {x, w, r, b, h0}) {
    if (i == kNone) return unsupported("an operand of its first six is missing");
  }
  const Shape in = c.tensor(x).shape, state = c.tensor(h0).shape, recurrent = c.tensor(r).shape;
  if (in.rank() != 3 || state.rank() < 1 || recurrent.rank() < 2) {
    return unsupported(str("data ", to_string(in), ", start state ", to_string(state),
                           " and recurrent weights ", to_string(recurrent), " are not understood"));
  }
  net.steps = in[0];
  net.batch = in[1];
  net.inputs = in[2];
  net.directions = state[0];
  const bool plain = c.tensor(r).layout != Layout::kWeight;
  net.hidden = plain ? recurrent[recurrent.rank() - 1] : recurrent[1];
  const auto legal = [](int64_t v) { return v >= 1 && v <= kMaxHidden; };
  if (!legal(net.steps) || !legal(net.batch) || !legal(net.inputs) || !legal(net.hidden) ||
      net.directions < 1 || net.directions > 2) {
    return unsupported("its extents are out of range");
  }
  const auto cells = checked_product(
      std::array<int64_t, 3>{net.blocks(), net.hidden, std::max(net.inputs, net.hidden)});
  if (!cells || *cells > (uint64_t{1} << 27)) return unsupported("its weights exceed 512 MiB");
  RK_ASSIGN(std::vector<double> weights, read_gates(c, w, net, net.inputs));
  RK_ASSIGN(std::vector<double> recurrence, read_gates(c, r, net, net.hidden));
  std::vector<double> bias;
  if (c.tensor(w).dtype == DType::kI8) {
    const Units units = read_units(c, w, r);
    if (units.w == 0 || units.r == 0 || !c.is_i8(x)) {
      return unsupported("the units of its int8 weights are not in its register lists");
    }
    RK_TRY(scale_integers(c, x, b, units, net, weights, recurrence, bias));
  } else {
    RK_ASSIGN(bias, read_float_bias(c, b, net));
  }
  net.w.assign(weights.begin(), weights.end());
  net.r.assign(recurrence.begin(), recurrence.end());
  net.b.assign(bias.begin(), bias.end());
  const auto direction = c.text("direction");
  net.reverse = net.directions == 1 && (direction ? *direction == "reverse" : runs_backwards(c));
  return net;
}

// `from` in another shape of as many elements; the last step may write the node's result itself.
void add_result(LiftContext& c, int32_t from, int32_t to) {
  const Shape shape = c.tensor(to).shape;
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  c.add_operator("Reshape", {from, c.add_integers(c.tensor(to).name + ".shape", dims)}, to);
}

}  // namespace

Status lift_recurrent(LiftContext& c) {
  RK_ASSIGN(const Network net, read_network(c));
  const int64_t d = net.directions, h = net.hidden, rows = net.gates * h;
  const int32_t x = raw_input(c, 0);
  const std::string stem = c.node().name;
  const int32_t w = c.add_floats(stem + ".w", Shape{d, rows, net.inputs}, net.w);
  const int32_t r = c.add_floats(stem + ".r", Shape{d, rows, h}, net.r);
  const int32_t b = c.add_floats(stem + ".b", Shape{d, 2 * rows}, net.b);
  RK_ASSIGN(const int32_t h0, read_state(c, raw_input(c, 5), net));
  int32_t c0 = kNone;
  if (net.lstm) {
    RK_ASSIGN(c0, read_state(c, raw_input(c, 6), net));
  }
  AttrMap attrs;
  attrs["hidden_size"] = h;
  attrs["direction"] = std::string(d == 2 ? "bidirectional" : net.reverse ? "reverse" : "forward");
  if (!net.lstm) attrs["linear_before_reset"] = c.integer("linear_before_reset").value_or(0);

  const Shape sequence{net.steps, d, net.batch, h}, state{d, net.batch, h};
  const size_t results = net.lstm ? 3 : 2;
  std::vector<int32_t> outputs;
  for (size_t i = 0; i < results; ++i)
    outputs.push_back(c.add_internal_f32(str(stem, ".y", i), i == 0 ? sequence : state));
  std::vector<int32_t> inputs = {x, w, r, b, kNone, h0};
  if (net.lstm) inputs.push_back(c0);
  while (inputs.back() == kNone) inputs.pop_back();
  c.add_step(std::move(inputs), outputs,
             program::OpParams{net.lstm ? "LSTM" : "GRU", std::move(attrs)});
  for (size_t i = 0; i < results; ++i) {
    const int32_t to = c.output(i);
    if (to == kNone) continue;
    const int64_t elements = (i == 0 ? sequence : state).elements();
    if (c.tensor(to).shape.elements() != elements) {
      return unsupported(str("result '", c.tensor(to).name, "' has shape ",
                             to_string(c.tensor(to).shape), " for ", elements, " elements"));
    }
    int32_t from = outputs[i];
    if (i == 0 && c.tensor(to).shape.rank() == 3 && d > 1) {  // [S, N, D * H]
      const int32_t moved = c.add_internal_f32(stem + ".moved", Shape{net.steps, net.batch, d, h});
      c.add_operator("Transpose", {from}, moved, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
      from = moved;
    }
    add_result(c, from, to);
  }
  return ok_status();
}

}  // namespace rk::format
