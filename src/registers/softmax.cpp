// SPDX-License-Identifier: Apache-2.0
// Softmax. Over channels in the vendor's way: the largest channel of every pixel, packed; that in
// all channels, by a convolution of ones; differences; exponentials from a table; their sum in all
// channels, by two convolutions of ones; quotients. Rows of a plain tensor that share an atom with
// others are compared and summed within the atom, by convolutions that see their own row only.
#include "registers/softmax.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/checked_math.h"
#include "base/half.h"
#include "registers/dpu.h"
#include "registers/half_weights.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

using program::ProgramTensor;

constexpr uint16_t kLowestHalf = 0xfbff;
constexpr uint16_t kOne = 0x3c00;
// Index of the table: 16384 units for the 5 that either half spans, which a half holds as 3276.
constexpr float kTableFactor = 3276, kTableAddend = 5 * kTableFactor;
constexpr float kTableSpan = 5;

// exp from -10 to -5 and from -5 to 0, as vendor files have it.
std::vector<int16_t> exponentials(float first) {
  constexpr float kStep = kTableSpan / 512, kUnit = 1.0f / 32767;
  std::vector<int16_t> entries;
  for (size_t i = 0; i < program::kLookupEntries; ++i) {
    const float x = first + kStep * static_cast<float>(i);
    entries.push_back(static_cast<int16_t>(std::nearbyint(std::exp(x) / kUnit)));
  }
  return entries;
}

// What the lists see of the tensors: channels that are joined, over pixels in planes.
struct Cube {
  const Chip* chip = nullptr;
  int64_t channels = 0, height = 0, width = 0, plane = 0;

  int64_t lanes() const { return chip->atom_bytes / 2; }
  int64_t whole() const { return align_up(channels, lanes()); }
  Feature feature(int64_t count) const {
    return {.channels = count,
            .height = height,
            .width = width,
            .plane = plane,
            .is_float = true,
            .chip = chip};
  }
};

class SoftmaxWriter {
 public:
  SoftmaxWriter(Cube cube, const ProgramTensor& in, const ProgramTensor& out)
      : cube_(cube), in_(in), out_(out) {}

  Result<LayerTasks> over_channels() {
    std::string source = in_.name;
    if (in_.dtype == DType::kI8) {
      source = add_scratch("_half", cube_.channels);
      RK_TRY(add_halves({.chip = cube_.chip,
                         .channels = cube_.channels,
                         .height = cube_.height,
                         .width = cube_.width,
                         .source_plane = cube_.plane,
                         .out_plane = cube_.plane,
                         .scale = in_.scale,
                         .zero_point = in_.zero_point,
                         .from = in_.name,
                         .to = source,
                         .beyond = kLowestHalf},
                        tasks_));
    } else if (cube_.channels % cube_.lanes() != 0) {
      source = add_scratch("_half", cube_.channels);
      DpuTask copy = all();
      copy.beyond = kLowestHalf;
      RK_TRY(add(copy, in_.name, source));
    }
    const std::string largest = add_scratch("_max", 1),
                      in_all = add_scratch("_all", cube_.channels);
    RK_TRY(add_largest(source, largest));
    Feature packed = cube_.feature(1), spread = cube_.feature(cube_.channels);
    packed.is_picture = packed.is_packed = true;
    if (cube_.chip->is_rk3562) reshape(packed, spread);
    RK_TRY(add_ones(packed, spread, {largest, in_all, "_max_weight"}));
    const std::string parts = add_scratch("_parts", cube_.channels);
    RK_TRY(add_exponentials(source, in_all, parts));
    const std::string sum = add_scratch("_sum", 1);
    RK_TRY(add_ones(cube_.feature(cube_.channels), cube_.feature(1), {parts, sum, "_sum_weight"}));
    // Weights of a picture have other blocks than those of a feature on RK3562.
    const std::string weight = cube_.chip->is_rk3562 ? "_all_weight" : "_max_weight";
    RK_TRY(add_ones(cube_.feature(1), cube_.feature(cube_.channels), {sum, in_all, weight}));
    // Vendor files have whole blocks of features in this way.
    const bool is_known = knows_fetch_ && in_.layout == program::Layout::kNc1hwc2 &&
                          cube_.channels % cube_.lanes() == 0;
    if (is_known) tasks_.form = LayerForm::kIdentical;
    return finish(parts, in_all);
  }

  // `row` channels each, of those that an atom has.
  Result<LayerTasks> within_atoms(int64_t row) {
    const Feature atoms = cube_.feature(cube_.channels);
    std::string largest = in_.name;
    const std::string other = add_scratch("_other", cube_.channels);
    for (int64_t step = 1; step < row; step *= 2) {
      RK_TRY(add_matrix(atoms, atoms, {largest, other, str("_swap_weight_", step)},
                        [=](int64_t to, int64_t from) { return from == (to ^ step); }));
      const std::string next = add_scratch(str("_max_", step), cube_.channels);
      DpuTask join = all();
      join.join = Join::kLargest;
      RK_TRY(add_joint(join, largest, other, next));
      largest = next;
    }
    const std::string parts = add_scratch("_parts", cube_.channels);
    RK_TRY(add_exponentials(in_.name, largest, parts));
    RK_TRY(add_matrix(atoms, atoms, {parts, other, "_sum_weight"},
                      [=](int64_t to, int64_t from) { return from / row == to / row; }));
    return finish(parts, other);
  }

 private:
  struct Names {
    std::string from, to, weight;
  };

  // RK3562 reads rows of whole atoms. Pixels are taken in rows that are a power of two and no longer
  // than the columns that they make, or in one row, as in vendor files.
  void reshape(Feature& packed, Feature& spread) const {
    const int64_t pixels = cube_.height * cube_.width;
    int64_t width = pixels % cube_.lanes() == 0 ? cube_.lanes() : pixels;
    while (pixels % (2 * width) == 0 && 2 * width * width <= pixels) width *= 2;
    packed.width = spread.width = width;
    packed.height = spread.height = pixels / width;
  }

  DpuTask all() const {
    DpuTask task{.channels = cube_.whole(), .height = cube_.height, .width = cube_.width};
    task.is_float = true;
    task.chip = cube_.chip;
    task.real_channels = cube_.channels;
    task.source_plane = task.addend_plane = task.out_plane = cube_.plane;
    task.beyond = uint16_t{0};
    return task;
  }

  // Whole pairs of blocks, which is what leaves the array.
  std::string add_scratch(const std::string& suffix, int64_t channels) {
    const int64_t lanes = align_up(channels, 2 * cube_.lanes());
    // The ending says that no node writes it.
    ScratchFeature scratch{.name = out_.name + suffix + "_exSecondary"};
    scratch.shape = Shape{1, lanes, cube_.height, cube_.width};
    scratch.plane_align =
        static_cast<uint32_t>(cube_.plane > cube_.height * cube_.width ? cube_.plane : 0);
    scratch.size_bytes = static_cast<uint64_t>(lanes * cube_.plane) * sizeof(uint16_t);
    scratch.is_float = true;
    tasks_.scratch.push_back(scratch);
    return scratch.name;
  }

  Status add(const DpuTask& dpu, const std::string& from, const std::string& to) {
    RK_ASSIGN(RegisterTask task, write_dpu(dpu));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = from;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = to;
    tasks_.tasks.push_back(std::move(bound));
    return ok_status();
  }

  Status add_joint(DpuTask dpu, const std::string& a, const std::string& b, const std::string& to) {
    dpu.addend = program::InputStage{0, {1, 0}};
    RK_TRY(add(dpu, a, to));
    tasks_.tasks.back().tensors[static_cast<size_t>(Operand::kAddend)] = b;
    return ok_status();
  }

  Status add_largest(const std::string& from, const std::string& to) {
    const int64_t pixels = cube_.height * cube_.width;
    for (int64_t first = 0; first < pixels; first += kMostLargest) {
      DpuTask part = all();
      part.writes_largest = true;
      part.beyond = kLowestHalf;
      part.height = 1;
      part.width = std::min(kMostLargest, pixels - first);
      part.source_bytes = static_cast<uint64_t>(first * cube_.chip->atom_bytes);
      part.out_bytes = static_cast<uint64_t>(first) * sizeof(uint16_t);
      part.out_plane = 0;
      RK_TRY(add(part, from, to));
    }
    return ok_status();
  }

  Status add_matrix(const Feature& in, const Feature& out, const Names& names,
                    const std::function<bool(int64_t, int64_t)>& is_one) {
    ConvLayer layer{.params = {}, .in = in, .out = out};
    layer.params.kernel = {1, 1};
    layer.has_bias = false;
    constexpr PictureChannel kAsStored{{16384, 14}, 0};
    if (in.is_picture && in.chip->is_rk3562) layer.picture = {kAsStored};
    const std::string weight = out_.name + names.weight;
    const auto use = in.is_picture ? program::WeightUse::kPicture : program::WeightUse::kDense;
    RK_ASSIGN(HelperConstant ones,
              half_blocks(*in.chip, Shape{out.channels, in.channels, 1, 1}, use, [&](int64_t i) {
                return is_one(i / in.channels, i % in.channels) ? kOne : uint16_t{0};
              }));
    ones.name = weight;
    layer.weight_bytes = ones.bytes.size();
    RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
    for (const ConvTile& tile : tiles) {
      RK_ASSIGN(RegisterTask task, write_convolution(layer, tile));
      knows_fetch_ = knows_fetch_ && has_known_fetch(layer, tile);
      BoundTask bound{std::move(task), {}};
      bound.tensors[static_cast<size_t>(Operand::kFeature)] = names.from;
      bound.tensors[static_cast<size_t>(Operand::kWeight)] = weight;
      bound.tensors[static_cast<size_t>(Operand::kOutput)] = names.to;
      tasks_.tasks.push_back(std::move(bound));
    }
    const bool known = std::ranges::any_of(
        tasks_.helpers, [&](const HelperConstant& helper) { return helper.name == weight; });
    if (!known) tasks_.helpers.push_back(std::move(ones));
    return ok_status();
  }

  Status add_ones(const Feature& in, const Feature& out, const Names& names) {
    return add_matrix(in, out, names, [](int64_t, int64_t) { return true; });
  }

  Status add_exponentials(const std::string& from, const std::string& largest,
                          const std::string& to) {
    const std::string distance = add_scratch("_distance", cube_.channels);
    DpuTask subtract = all();
    subtract.join = Join::kDifference;
    RK_TRY(add_joint(subtract, from, largest, distance));
    RK_ASSIGN(RegisterTask load,
              write_table_load(exponentials(-2 * kTableSpan), exponentials(-kTableSpan)));
    add_table_load(std::move(load), out_.name + "_table", tasks_);
    DpuTask look_up = all();
    look_up.lookup_factor = float_to_half(kTableFactor);
    look_up.lookup_addend = kTableAddend;
    return add(look_up, distance, to);
  }

  Result<LayerTasks> finish(const std::string& parts, const std::string& sums) {
    DpuTask divide = all();
    divide.join = Join::kQuotient;
    if (out_.dtype != DType::kI8) {
      RK_TRY(add_joint(divide, parts, sums, out_.name));
      return std::move(tasks_);
    }
    const std::string quotient = add_scratch("_quotient", cube_.channels);
    RK_TRY(add_joint(divide, parts, sums, quotient));
    DpuTask narrow = all();
    narrow.channels = align_up(cube_.channels, cube_.chip->atom_bytes);
    narrow.to_int8 = true;
    narrow.half_source =
        HalfStage{static_cast<float>(out_.zero_point), float_to_half(1 / out_.scale)};
    RK_TRY(add(narrow, quotient, out_.name));
    return std::move(tasks_);
  }

  Cube cube_;
  const ProgramTensor& in_;
  const ProgramTensor& out_;
  bool knows_fetch_ = true;
  LayerTasks tasks_;
};

int64_t axis_of(const program::Step& step, const ProgramTensor& in) {
  const auto& params = std::get<program::OpParams>(step.params);
  const auto found = params.attrs.find("axis");
  const auto* given = found == params.attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  const int64_t axis = given == nullptr ? -1 : *given;
  return axis < 0 ? axis + in.shape.rank() : axis;
}

bool is_plain(const ProgramTensor& t) {
  return t.dtype == DType::kF16 &&
         (t.layout == program::Layout::kPlain || t.layout == program::Layout::kNchw);
}

bool joins_channels(const program::Step& step, const ProgramTensor& in, const ProgramTensor& out) {
  const bool halves = is_half_feature(in) && is_half_feature(out);
  return (halves || (is_feature(in) && is_feature(out))) && axis_of(step, in) == 1 &&
         in.shape == out.shape && in.plane_align == out.plane_align;
}

// Atoms as rows that the registers can count; 0 where there is no such number.
int64_t row_of_atoms(int64_t atoms) {
  constexpr int64_t kMost = 2047;
  for (int64_t rows = 1; rows <= kMost && rows <= atoms; ++rows) {
    if (atoms % rows == 0 && atoms / rows <= kMost) return atoms / rows;
  }
  return 0;
}

bool is_softmax(const program::Step& step) {
  const auto* params = std::get_if<program::OpParams>(&step.params);
  return params != nullptr && params->op == "Softmax" && step.inputs.size() == 1 &&
         step.outputs.size() == 1;
}

DType dtype_of(const program::Variant& variant, int32_t tensor) {
  return variant.tensors[static_cast<size_t>(tensor)].dtype;
}

bool is_int8_softmax(const program::Variant& variant, const program::Step& step) {
  return is_softmax(step) && dtype_of(variant, step.inputs[0]) == DType::kI8;
}

bool is_narrowing_softmax(const program::Variant& variant, const program::Step& step) {
  return is_softmax(step) && dtype_of(variant, step.inputs[0]) == DType::kF16 &&
         dtype_of(variant, step.outputs[0]) == DType::kI8;
}

}  // namespace

Result<LayerTasks> softmax_tasks(const program::Program& program, const program::Variant& variant,
                                 const program::Step& step) {
  const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const Chip* const chip = find_chip(program.target);
  if (chip == nullptr) return no_form(step, str("the chip ", program.target));
  if (chip->is_rk3566) return no_form(step, "Softmax on RK3566, which the vendor's CPU computes");
  if (chip->is_rk3576 || chip->is_rv1106) return no_form(step, str("Softmax on ", program.target));
  if (in.kind == program::TensorKind::kInput) return no_form(step, "Softmax of an input");
  if (joins_channels(step, in, out)) {
    const Feature feature = feature_of(program, in);
    return SoftmaxWriter(
               {chip, feature.channels, feature.height, feature.width, feature.plane_pixels()}, in,
               out)
        .over_channels();
  }
  const int64_t axis = axis_of(step, in);
  if (!is_plain(in) || !is_plain(out) || axis != in.shape.rank() - 1)
    return no_form(step, "Softmax over an axis that is neither channels nor the last");
  const int64_t row = in.shape[static_cast<int>(axis)], elements = in.shape.elements();
  if (row == elements) return SoftmaxWriter({chip, row, 1, 1, 1}, in, out).over_channels();
  const int64_t lanes = chip->atom_bytes / 2, atoms = elements / lanes;
  const int64_t width = row_of_atoms(atoms);
  if (row > lanes || lanes % row != 0 || elements % lanes != 0 || width == 0)
    return no_form(step, str("Softmax of rows of ", row, " numbers, ", elements, " in all"));
  return SoftmaxWriter({chip, lanes, atoms / width, width, atoms}, in, out).within_atoms(row);
}

format::SoftmaxStage softmax_stage(const ProgramTensor& in, const ProgramTensor& out) {
  constexpr int32_t kSpan = 16384, kEntryShift = 5, kExponent = 15;
  const auto as_half = [](float value) { return half_to_float(float_to_half(value)); };
  format::SoftmaxStage stage;
  stage.addend = -static_cast<float>(in.zero_point);
  stage.unit = as_half(in.scale);
  stage.table_multiplier = kTableFactor;
  stage.table_addend = kTableAddend;
  stage.table_exponent = kExponent;
  stage.table.low = exponentials(-2 * kTableSpan);
  stage.table.high = exponentials(-kTableSpan);
  stage.table.start = -kSpan;
  stage.table.end = kSpan;
  stage.table.entry_shift = kEntryShift;
  stage.table.below = stage.table.above = {0, 0};  // as it is at either end
  stage.factor = as_half(1 / out.scale);
  stage.zero_point = static_cast<float>(out.zero_point);
  stage.subtracts = stage.divides = true;
  return stage;
}

namespace {

// exTableSoftmax in its place, with the table as another operand.
void use_table(program::Program& program, program::Variant& variant, program::Step& step) {
  const ProgramTensor in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const ProgramTensor out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const format::SoftmaxStage stage = softmax_stage(in, out);
  std::vector<uint8_t> bytes = format::exponential_table(stage);
  ProgramTensor table{.name = out.name + ".exponentials", .dtype = DType::kF16};
  table.kind = program::TensorKind::kHelperConstant;
  table.shape = Shape{format::kSoftmaxCodes, format::kSoftmaxCodes};
  table.native_shape = {format::kSoftmaxCodes, format::kSoftmaxCodes};
  table.size_bytes = bytes.size();
  table.weight = static_cast<int32_t>(program.weights.size());
  program.weights.push_back(program::make_blob(std::move(bytes)));
  step.inputs.push_back(static_cast<int32_t>(variant.tensors.size()));
  variant.tensors.push_back(std::move(table));
  step.params = program::OpParams{"exTableSoftmax",
                                  {{"zero_point", int64_t{in.zero_point}},
                                   {"factor", stage.factor},
                                   {"output_zero_point", int64_t{out.zero_point}},
                                   {"unit", out.scale},
                                   {"input_unit", in.scale},
                                   {"axis", int64_t{1}}}};
}

// Gives the step a result of float16 and returns the conversion of that.
program::Step split_result(program::Variant& variant, program::Step& step) {
  constexpr uint64_t kAlign = 64;
  const int32_t result = step.outputs[0];
  const ProgramTensor& out = variant.tensors[static_cast<size_t>(result)];
  ProgramTensor half{.name = out.name + "__float16", .dtype = DType::kF16};
  half.layout = out.layout;
  half.shape = out.shape;
  half.native_shape = out.native_shape;
  half.size_bytes =
      align_up(static_cast<uint64_t>(out.shape.elements()) * sizeof(uint16_t), kAlign);
  half.offset_in_arena = align_up(variant.arena_bytes, kAlign);
  variant.arena_bytes = half.offset_in_arena + half.size_bytes;
  program::Step convert{.type = "exDataConvert",
                        .name = str("exDataConvert:", half.name, "_to_", out.name)};
  convert.processor = step.processor;
  convert.inputs = step.outputs = {static_cast<int32_t>(variant.tensors.size())};
  convert.outputs = {result};
  convert.params = program::OpParams{.op = "Identity"};
  variant.tensors.push_back(std::move(half));
  return convert;
}

}  // namespace

program::Program with_numbers_of_lists(const program::Program& given) {
  program::Program program = given;
  for (program::Variant& variant : program.variants) {
    std::vector<program::Step> steps;
    for (program::Step step : variant.steps) {
      if (is_int8_softmax(variant, step) && softmax_tasks(given, variant, step).ok())
        use_table(program, variant, step);
      if (is_narrowing_softmax(variant, step)) {
        program::Variant tried = variant;
        program::Step softmax = step;
        program::Step convert = split_result(tried, softmax);
        if (softmax_tasks(given, tried, softmax).ok() &&
            conversion_tasks(given, tried, convert).ok()) {
          variant.tensors = std::move(tried.tensors);
          variant.arena_bytes = tried.arena_bytes;
          steps.push_back(std::move(softmax));
          step = std::move(convert);
        }
      }
      steps.push_back(std::move(step));
    }
    variant.steps = std::move(steps);
  }
  return program;
}

}  // namespace rk::registers
