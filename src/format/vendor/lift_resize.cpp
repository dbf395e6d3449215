// SPDX-License-Identifier: Apache-2.0
// Resize. The chip enlarges by an integer factor f in f * f depthwise convolutions of 2x2 taps, one
// per position inside an f x f output cell, on a copy of the input with its border repeated; each
// has its own helper weights and output scale. Where the registers show that form it is lifted as
// such, bit for bit: border, convolutions, interleaving. One that makes the picture smaller by an
// integer factor is one depthwise convolution of f x f taps and that stride. Every other resize
// takes the derived rule of ResizeParams.
//
// Note: the helper weights of a phase are not fractions of one common sum. Each phase is scaled so
// that its largest tap uses 8 bits, and the output scale of that phase takes it back.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/checked_math.h"
#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::ConvParams;
using program::kNone;
using program::OpParams;
using program::ResizeParams;
using target::RegisterFile;
namespace reg = target::reg;

constexpr int32_t kMaxFactor = 16;
constexpr int64_t kMaxChannels = 8192;  // the chip's own limit
constexpr int64_t kTaps = 9;  // the 2x2 taps at their place in the 3x3 window around a pixel

// One output position of the cell: weights of every channel, [C, 3, 3], and the common constants.
struct Phase {
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;
  std::vector<bool> has_channel;
  int16_t weight_offset = 0;
  program::OutputStage output;
};

struct Geometry {
  int64_t channels = 0, height = 0, width = 0;  // of the input
  int32_t factor = 0;
  int64_t c2 = 0;
  int64_t in_plane_bytes = 0, in_row_bytes = 0;  // of the copy with borders
  int64_t out_plane_bytes = 0, out_row_bytes = 0;
};

std::optional<Geometry> find_geometry(LiftContext& c, int32_t in, int32_t out) {
  const Shape &a = c.tensor(in).shape, &b = c.tensor(out).shape;
  Geometry g{a[1], a[2], a[3], 0, c.chip.c2_i8, 0, 0, 0, 0};
  if (a[0] != 1 || g.channels < 1 || g.channels > kMaxChannels || g.height < 1 || g.width < 1 ||
      b[2] % g.height != 0 || b[2] / g.height != b[3] / g.width || b[3] % g.width != 0 ||
      b[1] != g.channels) {
    return std::nullopt;
  }
  if (b[2] / g.height < 2 || b[2] / g.height > kMaxFactor) return std::nullopt;
  g.factor = static_cast<int32_t>(b[2] / g.height);
  const auto plane = [&](int64_t h, int64_t w) { return align_up<int64_t>(h * w, 4) * g.c2; };
  g.in_row_bytes = (g.width + 2) * g.c2;
  g.in_plane_bytes = plane(g.height + 2, g.width + 2);
  g.out_row_bytes = b[3] * g.c2;
  g.out_plane_bytes = plane(b[2], b[3]);
  return g;
}

// A depthwise convolution without pads that adds a bias and scales its sum.
bool is_depthwise_task(const LiftContext& c, uint32_t kernel, uint32_t stride) {
  const RegisterFile& r = c.tasks.registers();
  return r.get(reg::CNA_CONV_CON1__CONV_MODE) == 3 &&
         r.get(reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH) == kernel &&
         r.get(reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT) == kernel &&
         r.get(reg::CNA_CONV_CON3__CONV_X_STRIDE) == stride &&
         r.get(reg::CNA_CONV_CON3__CONV_Y_STRIDE) == stride &&
         r.get(reg::CNA_PAD_CON0__PAD_LEFT) == 0 && r.get(reg::CNA_PAD_CON0__PAD_TOP) == 0 &&
         r.get(c.registers->truncate) == 0 &&
         r.get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE) == 1 &&
         !r.is_on(reg::DPU_BS_CFG__BS_BYPASS) && r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS) &&
         r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS) && r.is_on(reg::DPU_BN_CFG__BN_BYPASS) &&
         r.is_on(reg::DPU_EW_CFG__EW_BYPASS);
}

bool is_phase_task(const LiftContext& c, const Geometry& g) {
  const RegisterFile& r = c.tasks.registers();
  return is_depthwise_task(c, 2, 1) &&
         r.get(c.registers->core_width) + 1 == static_cast<uint64_t>(g.width) &&
         r.get(c.registers->core_height) + 1 == static_cast<uint64_t>(g.height);
}

program::OutputStage output_stage(const RegisterFile& r) {
  return {{static_cast<int32_t>(r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE)),
           static_cast<int32_t>(r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT))},
          r.get_signed(reg::DPU_OUT_CVT_OFFSET)};
}

struct PhaseTables {
  std::map<std::pair<int64_t, int64_t>, Phase> phases;  // by row and column in the cell
};

// Adds one task's channels to its phase. False when it is not understood.
bool read_phase(LiftContext& c, const Task& task, const Geometry& g, int32_t out,
                PhaseTables& tables) {
  const RegisterFile& r = c.tasks.registers();
  const auto feature = c.lists.address_of(task, reg::CNA_FEATURE_DATA_ADDR);
  const auto weight = c.lists.address_of(task, reg::CNA_DCOMP_ADDR0);
  const auto bias = c.lists.address_of(task, reg::DPU_RDMA_RDMA_BS_BASE_ADDR);
  const auto to = c.lists.address_of(task, reg::DPU_DST_BASE_ADDR);
  if (!feature || !weight || !bias || !to || to->tensor != out || weight->addend != 0 ||
      bias->addend != 0) {
    return false;
  }
  const int64_t first_block = to->addend / g.out_plane_bytes;
  const int64_t in_plane = to->addend % g.out_plane_bytes;
  const int64_t y = in_plane / g.out_row_bytes, x = in_plane % g.out_row_bytes / g.c2;
  const int64_t window = feature->addend % g.in_plane_bytes;
  const int64_t top = window / g.in_row_bytes, left = window % g.in_row_bytes / g.c2;
  if (y >= g.factor || x >= g.factor || top > 1 || left > 1 ||
      feature->addend / g.in_plane_bytes != first_block) {
    return false;
  }
  const program::ProgramTensor& helper = c.tensor(weight->tensor);
  if (helper.dtype != DType::kI8 || helper.shape.rank() != 4 || helper.shape[1] != 1 ||
      helper.shape[0] > kMaxChannels || helper.shape[2] != 2 || helper.shape[3] != 2) {
    return false;
  }
  const auto plain =
      program::unpack_weights(c.bytes(weight->tensor), helper.native_shape, helper.shape);
  const ByteSpan bias_bytes = c.bytes(bias->tensor);
  const int64_t count = std::min(helper.shape[0], g.channels - first_block * g.c2);
  if (!plain.ok() || count < 1 || bias_bytes.size() < static_cast<size_t>(count) * 4) return false;

  const program::OutputStage output = output_stage(r);
  const auto offset = static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP));
  if (offset > 128 || offset < -127)
    return false;  // a tap of weight zero must exist: -offset in int8
  Phase& phase = tables.phases[{y, x}];
  if (phase.weights.empty()) {
    phase.weights.assign(static_cast<size_t>(g.channels * kTaps), static_cast<int8_t>(-offset));
    phase.bias.resize(static_cast<size_t>(g.channels));
    phase.has_channel.resize(static_cast<size_t>(g.channels));
    phase.output = output;
    phase.weight_offset = offset;
  }
  if (!(phase.output == output) || phase.weight_offset != offset) return false;
  for (int64_t i = 0; i < count; ++i) {
    const auto channel = static_cast<size_t>(first_block * g.c2 + i);
    for (int64_t tap = 0; tap < 4; ++tap) {
      const int64_t at = (top + tap / 2) * 3 + left + tap % 2;
      phase.weights[channel * kTaps + static_cast<size_t>(at)] =
          (*plain)[static_cast<size_t>(i * 4 + tap)];
    }
    phase.bias[channel] = load<int32_t>(bias_bytes.data() + 4 * i);
    phase.has_channel[channel] = true;
  }
  return true;
}

// The phases in row-major order of the cell, or nothing when the tasks are not of the known form.
std::optional<std::vector<Phase>> read_phases(LiftContext& c, const Geometry& g, int32_t out) {
  PhaseTables tables;
  while (const Task* task = c.tasks.next()) {
    if ((task->units & kUnitCna) == 0) continue;  // copies that make the border
    if (!is_phase_task(c, g) || !read_phase(c, *task, g, out, tables)) {
      return std::nullopt;
    }
  }
  if (tables.phases.size() != static_cast<size_t>(g.factor * g.factor)) return std::nullopt;
  std::vector<Phase> phases;
  for (auto& [place, phase] : tables.phases) {
    if (std::find(phase.has_channel.begin(), phase.has_channel.end(), false) !=
        phase.has_channel.end()) {
      return std::nullopt;
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

std::vector<uint8_t> bytes_of(const std::vector<int64_t>& values) {
  std::vector<uint8_t> out(values.size() * 8);
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// The factor by which a picture becomes smaller in both directions; 0: it does not.
int32_t find_divisor(LiftContext& c, int32_t in, int32_t out) {
  const Shape &a = c.tensor(in).shape, &b = c.tensor(out).shape;
  if (a[0] != 1 || b[0] != 1 || a[1] != b[1] || a[1] < 1 || a[1] > kMaxChannels || b[2] < 1 ||
      b[3] < 1 || a[2] % b[2] != 0 || a[3] % b[3] != 0 || a[2] / b[2] != a[3] / b[3]) {
    return 0;
  }
  return a[2] / b[2] >= 2 && a[2] / b[2] <= kMaxFactor ? static_cast<int32_t>(a[2] / b[2]) : 0;
}

// The convolution that averages cells of `factor` x `factor` pixels; all tasks must use the same
// constants.
std::optional<Phase> read_average(LiftContext& c, int32_t factor, int32_t in, int32_t out) {
  const auto channels = static_cast<size_t>(c.tensor(in).shape[1]);
  const auto side = static_cast<uint32_t>(factor);
  int32_t weight = kNone, bias = kNone;
  Phase phase;
  while (const Task* task = c.tasks.next()) {
    const auto from = c.lists.address_of(*task, reg::CNA_FEATURE_DATA_ADDR);
    const auto w = c.lists.address_of(*task, reg::CNA_DCOMP_ADDR0);
    const auto b = c.lists.address_of(*task, reg::DPU_RDMA_RDMA_BS_BASE_ADDR);
    const auto to = c.lists.address_of(*task, reg::DPU_DST_BASE_ADDR);
    if ((task->units & kUnitCna) == 0 || !is_depthwise_task(c, side, side) || !from || !w || !b ||
        !to || from->tensor != in || to->tensor != out || w->addend != 0 || b->addend != 0) {
      return std::nullopt;
    }
    const RegisterFile& r = c.tasks.registers();
    const program::OutputStage output = output_stage(r);
    const auto offset = static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP));
    if (weight != kNone && (weight != w->tensor || bias != b->tensor || !(phase.output == output) ||
                            phase.weight_offset != offset)) {
      return std::nullopt;
    }
    weight = w->tensor;
    bias = b->tensor;
    phase.output = output;
    phase.weight_offset = offset;
  }
  if (weight == kNone || c.tensor(weight).dtype != DType::kI8) return std::nullopt;
  const program::ProgramTensor& helper = c.tensor(weight);
  auto plain = program::unpack_weights(c.bytes(weight), helper.native_shape, helper.shape);
  const ByteSpan biases = c.bytes(bias);
  if (!plain.ok() || plain->size() != channels * side * side || biases.size() < channels * 4)
    return std::nullopt;
  phase.weights = std::move(plain).value();
  for (size_t i = 0; i < channels; ++i) phase.bias.push_back(load<int32_t>(biases.data() + 4 * i));
  return phase;
}

// A depthwise step with the constants of `phase` from `in` to `result`.
void add_depthwise(LiftContext& c, const Phase& phase, int32_t in, int32_t result, int32_t kernel,
                   int32_t stride, const std::string& stem) {
  program::BiasBlock block;
  block.bias = phase.bias;
  block.offset.assign(phase.bias.size(), phase.weight_offset);
  block.multiplier.assign(phase.bias.size(), 16384);
  const target::WeightLayout& layout = c.chip.weights_i8;
  std::vector<uint8_t> packed =
      program::pack_bias(block, layout.bias_group, layout.bias_channel_align);
  const auto* from = reinterpret_cast<const uint8_t*>(phase.weights.data());
  const int64_t channels = std::ssize(phase.bias);
  const int32_t weight = c.add_constant(stem + ".weight", DType::kI8, {channels, 1, kernel, kernel},
                                        {from, from + phase.weights.size()});
  const auto words = static_cast<int64_t>(packed.size() / 4);
  const int32_t bias = c.add_constant(stem + ".bias", DType::kI32, {words}, std::move(packed));
  ConvParams p;
  p.kernel = {kernel, kernel};
  p.stride = {stride, stride};
  p.group = static_cast<int32_t>(channels);
  p.output = phase.output;
  p.pad_value = c.tensor(in).zero_point;
  c.add_step({in, weight, bias}, {result}, p);
}

void add_phases(LiftContext& c, const Geometry& g, int32_t in, int32_t out,
                const std::vector<Phase>& phases) {
  const std::string stem = c.tensor(out).name;
  const int32_t padded =
      c.add_internal(stem + ".border", in, {1, g.channels, g.height + 2, g.width + 2});
  const int32_t pads =
      c.add_constant(stem + ".pads", DType::kI64, {8}, bytes_of({0, 0, 1, 1, 0, 0, 1, 1}));
  c.add_step({in, pads}, {padded}, OpParams{"Pad", {{"mode", std::string("edge")}}});
  std::vector<int32_t> parts;
  for (size_t i = 0; i < phases.size(); ++i) {
    const std::string name = str(stem, ".phase", i);
    parts.push_back(c.add_internal(name, out, {1, g.channels, g.height, g.width}));
    add_depthwise(c, phases[i], padded, parts.back(), 3, 1, name);
  }
  const int64_t stacked = g.channels * g.factor * g.factor;
  const int32_t stack = c.add_internal(stem + ".stack", out, {1, stacked, g.height, g.width});
  program::ConcatParams concat;
  concat.identity = true;
  c.add_step(std::move(parts), {stack}, std::move(concat));
  c.add_step(
      {stack}, {out},
      OpParams{"DepthToSpace",
               {{"blocksize", static_cast<int64_t>(g.factor)}, {"mode", std::string("DCR")}}});
}

template <typename T>
Result<T> choose(const std::string& found, std::string_view what,
                 std::initializer_list<std::pair<std::string_view, T>> known) {
  for (const auto& [name, value] : known) {
    if (name == found) return value;
  }
  return unsupported(str(what, " '", found, "' is not known"));
}

Result<ResizeParams> derived_params(LiftContext& c, const FileResizeParams& from, int32_t in,
                                    int32_t out) {
  ResizeParams p;
  RK_ASSIGN(p.mode, choose<program::ResizeMode>(from.mode, "mode",
                                                {{"nearest", program::ResizeMode::kNearest},
                                                 {"linear", program::ResizeMode::kLinear}}));
  using Mode = program::CoordinateMode;
  RK_ASSIGN(p.coordinates, choose<Mode>(from.coordinate_mode, "coordinate mode",
                                        {{"half_pixel", Mode::kHalfPixel},
                                         {"pytorch_half_pixel", Mode::kPytorchHalfPixel},
                                         {"align_corners", Mode::kAlignCorners},
                                         {"asymmetric", Mode::kAsymmetric}}));
  using Nearest = program::NearestMode;
  if (p.mode == program::ResizeMode::kNearest) {
    RK_ASSIGN(p.nearest, choose<Nearest>(from.nearest_mode, "nearest mode",
                                         {{"round_prefer_floor", Nearest::kRoundPreferFloor},
                                          {"round_prefer_ceil", Nearest::kRoundPreferCeil},
                                          {"floor", Nearest::kFloor},
                                          {"ceil", Nearest::kCeil}}));
  }
  const program::ProgramTensor &a = c.tensor(in), &b = c.tensor(out);
  p.scale_h = static_cast<float>(static_cast<double>(b.shape[2]) / static_cast<double>(a.shape[2]));
  p.scale_w = static_cast<float>(static_cast<double>(b.shape[3]) / static_cast<double>(a.shape[3]));
  if (!c.is_i8(in)) return p;
  p.identity =
      p.mode == program::ResizeMode::kNearest && a.scale == b.scale && a.zero_point == b.zero_point;
  if (p.identity) return p;
  RK_ASSIGN(p.input, derived_input_stage(a, b));
  p.output = derived_output_stage(b);
  return p;
}

// The factors of the third operand, which are not always the ratio of the extents.
std::optional<std::vector<float>> given_factors(LiftContext& c,
                                                const std::vector<int32_t>& operands) {
  if (operands.size() < 3 || operands[2] == kNone || !c.tensor(operands[2]).is_constant())
    return std::nullopt;
  const auto values = c.floats(operands[2]);
  if (!values.ok() || values->size() != 4) return std::nullopt;
  for (const float value : *values) {
    if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  }
  return *values;
}

// What the step form does not say: the operator itself, on real numbers.
Status add_resize_operator(LiftContext& c, const FileResizeParams& from,
                           const std::vector<int32_t>& operands) {
  const int32_t out = c.output();
  const Shape shape = c.tensor(out).shape;
  AttrMap attrs;
  attrs["mode"] = from.mode;
  attrs["coordinate_transformation_mode"] = from.coordinate_mode;
  if (from.mode == "nearest") attrs["nearest_mode"] = from.nearest_mode;
  std::vector<int32_t> inputs = {operands[0], kNone, kNone, kNone};
  if (const auto factors = given_factors(c, operands)) {
    inputs[2] = c.add_floats(c.tensor(out).name + ".factors", Shape{4}, *factors);
    inputs.pop_back();
  } else {
    inputs[3] =
        c.add_integers(c.tensor(out).name + ".sizes", {shape.dims().begin(), shape.dims().end()});
  }
  c.add_step(std::move(inputs), {out}, OpParams{"Resize", std::move(attrs)});
  return ok_status();
}

}  // namespace

Status lift_resize(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  const int32_t in = operands[0], out = c.output();
  const auto* const params = std::get_if<FileResizeParams>(&c.node().params);
  if (params == nullptr) return unsupported("its parameter table (mode, coordinates) is missing");
  if (c.tensor(in).shape.rank() != 4 || c.tensor(out).shape.rank() != 4 ||
      c.tensor(in).shape.elements() == 0) {
    return unsupported("only two-dimensional resizing is decoded");
  }
  if (params->coordinate_mode == "tf_half_pixel_for_nn" ||
      c.tensor(in).dtype != c.tensor(out).dtype) {
    return add_resize_operator(c, *params, operands);
  }
  RK_ASSIGN(ResizeParams derived, derived_params(c, *params, in, out));
  if (const auto factors = given_factors(c, operands)) {
    derived.scale_h = (*factors)[2];
    derived.scale_w = (*factors)[3];
  }
  const bool by_phases = derived.mode == program::ResizeMode::kLinear && c.is_i8(in) &&
                         c.is_i8(out) && c.registers != nullptr && c.registers->has_stages;
  const auto geometry = by_phases ? find_geometry(c, in, out) : std::nullopt;
  if (geometry) {
    if (const auto phases = read_phases(c, *geometry, out)) {
      add_phases(c, *geometry, in, out, *phases);
      return ok_status();
    }
  }
  if (const int32_t divisor = by_phases ? find_divisor(c, in, out) : 0; divisor != 0) {
    if (const auto average = read_average(c, divisor, in, out)) {
      add_depthwise(c, *average, in, out, divisor, divisor, c.tensor(out).name + ".average");
      return ok_status();
    }
  }
  c.add_step({in}, {out}, std::move(derived));
  return ok_status();
}

}  // namespace rk::format
