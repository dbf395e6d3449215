// SPDX-License-Identifier: Apache-2.0
// Every struct of a Program, spelled once for all directions and versions (record_codec.h).
#include "format/program_codec.h"

#include <concepts>
#include <optional>

#include "base/model_budget.h"
#include "format/container.h"
#include "format/record_codec.h"

namespace rk::format::record {

using namespace program;

namespace {

constexpr uint32_t kMaxVariants = 512;

}  // namespace

template <typename T>
concept Number =
    std::is_arithmetic_v<std::remove_const_t<T>> && !std::is_same_v<std::remove_const_t<T>, bool>;

template <typename Io, Number T>
void describe(Io& io, T& value) {
  io.number(value);
}
template <typename Io>
void describe(Io& io, As<Io, bool>& value) {
  io.flag(value);
}
template <typename Io>
void describe(Io& io, As<Io, std::string>& value) {
  io.text(value);
}
template <Number T>
void describe(Encoder& io, const std::vector<T>& values) {
  io.numbers(values);
}
template <std::derived_from<ValueDecoder> Io, Number T>
void describe(Io& io, std::vector<T>& values) {
  io.numbers(values);
}
template <typename Io>
void describe(Io& io, As<Io, std::vector<std::string>>& values) {
  io.list(values, "strings");
}
template <typename Io>
void describe(Io& io, As<Io, std::vector<std::vector<int32_t>>>& values) {
  io.list(values, "rows of cores");
}

template <typename Io>
void describe(Io& io, As<Io, DType>& dtype) {
  io.choice(dtype,
            {DType::kUndefined, DType::kF32,    DType::kU8,       DType::kI8,   DType::kU16,
             DType::kI16,       DType::kI32,    DType::kI64,      DType::kBool, DType::kF16,
             DType::kF64,       DType::kU32,    DType::kU64,      DType::kBF16, DType::kF8E4M3,
             DType::kF8E4M3Uz,  DType::kF8E5M2, DType::kF8E5M2Uz, DType::kU4,   DType::kI4,
             DType::kF4,        DType::kF8E8M0, DType::kU2,       DType::kI2},
            "data type");
}

template <typename Io>
void describe(Io& io, As<Io, TensorKind>& kind) {
  io.choice(kind,
            {TensorKind::kDummy, TensorKind::kInput, TensorKind::kOutput, TensorKind::kInternal,
             TensorKind::kNpuConstant, TensorKind::kCpuConstant, TensorKind::kHelperConstant},
            "tensor kind");
}

template <typename Io>
void describe(Io& io, As<Io, Layout>& layout) {
  io.choice(layout, {Layout::kPlain, Layout::kNchw, Layout::kNc1hwc2, Layout::kWeight}, "layout");
}

template <typename Io>
void describe(Io& io, As<Io, target::Sparsity>& sparsity) {
  io.choice(sparsity,
            {target::Sparsity::kNone, target::Sparsity::kInputs, target::Sparsity::kOutputs,
             target::Sparsity::kBoth},
            "sparsity");
}

template <typename Io>
void describe(Io& io, As<Io, Processor>& processor) {
  io.choice(processor, {Processor::kCpu, Processor::kGpu, Processor::kNpu}, "processor");
}

template <typename Io>
void describe(Io& io, As<Io, Activation>& activation) {
  io.choice(activation, {Activation::kNone, Activation::kRelu, Activation::kClip}, "activation");
}

template <typename Io>
void describe(Io& io, As<Io, PoolKind>& kind) {
  io.choice(kind, {PoolKind::kMax, PoolKind::kAverage}, "pooling kind");
}

template <typename Io>
void describe(Io& io, As<Io, ResizeMode>& mode) {
  io.choice(mode, {ResizeMode::kNearest, ResizeMode::kLinear}, "resize mode");
}

template <typename Io>
void describe(Io& io, As<Io, CoordinateMode>& mode) {
  io.choice(mode,
            {CoordinateMode::kHalfPixel, CoordinateMode::kPytorchHalfPixel,
             CoordinateMode::kAlignCorners, CoordinateMode::kAsymmetric},
            "coordinate mode");
}

template <typename Io>
void describe(Io& io, As<Io, NearestMode>& mode) {
  io.choice(mode,
            {NearestMode::kRoundPreferFloor, NearestMode::kRoundPreferCeil, NearestMode::kFloor,
             NearestMode::kCeil},
            "nearest mode");
}

static void describe(Encoder& io, const Shape& shape) {
  io.number(static_cast<uint8_t>(shape.rank()));
  for (const int64_t extent : shape.dims()) io.number(extent);
}

static void describe(ValueDecoder& io, Shape& shape) {
  uint8_t rank = 0;
  io.number(rank);
  std::vector<int64_t> dims;
  for (int axis = 0; axis < rank && io.ok(); ++axis) io.number(dims.emplace_back());
  if (!io.ok()) return;
  Result<Shape> made = Shape::make(dims);
  if (made.ok()) {
    shape = *made;
  } else {
    io.fail(str("shape in the compiled model: ", made.status().message()));
  }
}

template <typename Io>
void describe(Io& io, As<Io, Extent2>& e) {
  io.number(e.h);
  io.number(e.w);
}

template <typename Io>
void describe(Io& io, As<Io, Pads2>& p) {
  io.number(p.top);
  io.number(p.left);
  io.number(p.bottom);
  io.number(p.right);
}

template <typename Io>
void describe(Io& io, As<Io, ScaleShift>& s) {
  io.number(s.scale);
  io.number(s.shift);
}

template <typename Io>
void describe(Io& io, As<Io, OutputStage>& s) {
  describe(io, s.scale);
  io.number(s.zero_point);
}

template <typename Io>
void describe(Io& io, As<Io, InputStage>& s) {
  io.number(s.offset);
  describe(io, s.scale);
}

template <typename Io>
void describe(Io& io, As<Io, std::vector<InputStage>>& stages) {
  io.list(stages, "input stages");
}

template <typename Io>
void describe(Io& io, As<Io, ProgramTensor>& value) {
  io.record(value, [](auto& of, auto& t) {
    of.field(1, t.name);
    of.field(2, t.dtype);
    of.field(3, t.kind);
    of.field(4, t.layout);
    of.field(5, t.shape);
    of.field(6, t.native_shape);
    of.field(7, t.scale);
    of.field(8, t.zero_point);
    of.field(9, t.min);
    of.field(10, t.max);
    of.field(11, t.size_bytes);
    of.field(12, t.offset_in_arena);
    of.field(13, t.weight);
    of.field(14, t.plane_align);
    of.field(15, t.width_align);
  });
}

// Absent, or present: one byte, then the value.
template <typename T>
void describe(Encoder& io, const std::optional<T>& value) {
  io.flag(value.has_value());
  if (value) describe(io, *value);
}
template <std::derived_from<ValueDecoder> Io, typename T>
void describe(Io& io, std::optional<T>& value) {
  bool present = false;
  io.flag(present);
  if (present) describe(io, value.emplace());
}

template <typename Io>
void describe(Io& io, As<Io, LookupStage>& value) {
  io.record(value, [](auto& of, auto& s) {
    of.field(1, s.multiplier);
    of.field(2, s.addend);
    of.field(3, s.shift);
    of.field(4, s.start);
    of.field(5, s.end);
    of.field(6, s.entry_shift);
    of.field(7, s.low);
    of.field(8, s.high);
    of.field(9, s.below);
    of.field(10, s.above);
  });
}

template <typename Io>
void describe(Io& io, As<Io, SlopeStage>& value) {
  io.record(value, [](auto& of, auto& s) {
    of.field(1, s.negative_multiplier_shift);
    of.field(2, s.positive_shift);
    of.field(3, s.negative_shift);
    of.field(4, s.factor);
  });
}

template <typename Io>
void describe(Io& io, As<Io, program::ConvParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.kernel);
    of.field(2, p.stride);
    of.field(3, p.dilation);
    of.field(4, p.pads);
    of.field(5, p.group);
    of.field(6, p.transposed);
    of.field(7, p.activation);
    of.field(8, p.post_activation);
    of.field(9, p.pad_value);
    of.field(10, p.multiplier_shift);
    of.field(11, p.clip_limit);
    of.field(12, p.addend);
    of.field(13, p.output);
    of.field(14, p.clip_limit_f32);
    of.added(15, p.lookup);
    of.added(16, p.slope);
  });
}

template <typename Io>
void describe(Io& io, As<Io, SumParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.inputs);
    of.field(2, p.activation);
    of.field(3, p.output);
  });
}

template <typename Io>
void describe(Io& io, As<Io, program::ConcatParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.axis);
    of.field(2, p.inputs);
    of.field(3, p.output);
    of.field(4, p.identity);
  });
}

template <typename Io>
void describe(Io& io, As<Io, PoolParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.kind);
    of.field(2, p.kernel);
    of.field(3, p.stride);
    of.field(4, p.pads);
    of.field(5, p.count_include_pad);
    of.field(6, p.by_count);
    of.field(7, p.output);
  });
}

template <typename Io>
void describe(Io& io, As<Io, program::ResizeParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.mode);
    of.field(2, p.coordinates);
    of.field(3, p.nearest);
    of.field(4, p.scale_h);
    of.field(5, p.scale_w);
    of.field(6, p.input);
    of.field(7, p.output);
    of.field(8, p.identity);
  });
}

template <typename Io>
void describe(Io& io, As<Io, TableParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.function);
    of.field(2, p.table);
  });
}

static void describe(Encoder& io, const Tensor& tensor) {
  const TensorType type = tensor.type();
  describe(io, type.dtype);
  describe(io, type.shape);
  if (!tensor.empty()) io.writer().write_bytes(tensor.bytes());
}

static void describe(ValueDecoder& io, Tensor& tensor) {
  TensorType type;
  describe(io, type.dtype);
  describe(io, type.shape);
  if (!io.ok() || type.dtype == DType::kUndefined) return;
  const Result<uint64_t> size_bytes = checked_byte_size(type);
  if (!size_bytes.ok()) return io.fail(size_bytes.status().message());
  const Result<ByteSpan> bytes = io.reader().take(*size_bytes);
  if (!bytes.ok()) return io.fail(bytes.status().message());
  Result<Tensor> made = Tensor::from_bytes(type, *bytes);
  if (!made.ok()) return io.fail(made.status().message());
  tensor = std::move(*made);
}

// A variant is its alternative's index, then the alternative.
template <typename... Ts>
void describe(Encoder& io, const std::variant<Ts...>& value) {
  io.number(static_cast<uint8_t>(value.index()));
  std::visit([&](const auto& alternative) { describe(io, alternative); }, value);
}

template <typename Variant, size_t... Indices>
void emplace_index(Variant& value, size_t index, std::index_sequence<Indices...>) {
  ((index == Indices ? (void)value.template emplace<Indices>() : (void)0), ...);
}

template <std::derived_from<ValueDecoder> Io, typename... Ts>
void describe(Io& io, std::variant<Ts...>& value) {
  uint8_t index = 0;
  io.number(index);
  if (index >= sizeof...(Ts))
    return io.fail(str("the compiled model has alternative ", int{index}, " of ", sizeof...(Ts)));
  emplace_index(value, index, std::index_sequence_for<Ts...>());
  std::visit([&](auto& alternative) { describe(io, alternative); }, value);
}

static void describe(Encoder& io, const AttrMap& attrs) {
  io.number(static_cast<uint32_t>(attrs.size()));
  for (const auto& [name, value] : attrs) {
    io.text(name);
    describe(io, value);
  }
}

template <std::derived_from<ValueDecoder> Io>
void describe(Io& io, AttrMap& attrs) {
  uint32_t count = 0;
  io.number(count);
  for (uint32_t i = 0; i < count && io.ok(); ++i) {
    std::string name;
    io.text(name);
    describe(io, attrs[name]);
  }
}

template <typename Io>
void describe(Io& io, As<Io, OpParams>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.op);
    of.field(2, p.attrs);
  });
}

// Without its cost and its rows, which differ between variants that share steps.
template <typename Io>
void describe(Io& io, As<Io, Step>& value) {
  io.record(value, [](auto& of, auto& s) {
    of.field(1, s.type);
    of.field(2, s.name);
    of.field(3, s.processor);
    of.field(4, s.inputs);
    of.field(5, s.outputs);
    of.field(6, s.params);
    of.added(kMayIgnore | 7, s.sparsity);
  });
}

template <typename Io>
void describe(Io& io, As<Io, InputInfo>& value) {
  io.record(value, [](auto& of, auto& info) {
    of.field(1, info.mean);
    of.field(2, info.std);
    of.field(3, info.rgb2bgr);
    of.field(4, info.model_dtype);
  });
}

template <typename Io>
void describe(Io& io, As<Io, RemovedWeight>& value) {
  io.record(value, [](auto& of, auto& removed) {
    of.field(1, removed.weight);
    of.field(2, removed.size_bytes);
    of.field(3, removed.crc32);
  });
}

template <typename Io>
void describe(Io& io, As<Io, CodedWeight>& value) {
  io.record(value, [](auto& of, auto& coded) {
    of.field(1, coded.weight);
    of.field(2, coded.size_bytes);
  });
}

template <typename Io>
void describe(Io& io, As<Io, std::vector<ProgramTensor>>& tensors) {
  io.records(tensors, "tensors");
}
template <typename Io>
void describe(Io& io, As<Io, std::vector<Step>>& steps) {
  io.records(steps, "steps");
}
template <typename Io>
void describe(Io& io, As<Io, std::vector<InputInfo>>& inputs) {
  io.records(inputs, "inputs");
}
template <typename Io>
void describe(Io& io, As<Io, std::vector<RemovedWeight>>& removed) {
  io.records(removed, "constants left out");
}

template <typename Io>
void describe(Io& io, As<Io, std::vector<CodedWeight>>& coded) {
  io.records(coded, "coded constants");
}

// A variant as it is stored: what differs between variants that share steps lies apart.
struct StoredVariant {
  Variant variant;
  bool shares_steps = false;  // with the first variant
  std::vector<uint64_t> macs = {};
  std::vector<std::vector<int32_t>> core_rows = {};
};

template <typename Io>
void describe(Io& io, As<Io, StoredVariant>& value) {
  io.record(value, [](auto& of, auto& v) {
    of.field(1, v.variant.tensors);
    of.field(2, v.variant.inputs);
    of.field(3, v.variant.outputs);
    of.field(4, v.variant.arena_bytes);
    of.field(5, v.shares_steps);
    of.field(6, v.variant.steps);
    of.field(7, v.macs);
    of.field(8, v.core_rows);
  });
}

static std::vector<uint8_t> encode_steps(const Variant& variant) {
  Encoder io;
  describe(io, variant.steps);
  return io.writer().release();
}

static void describe(Encoder& io, const std::vector<Variant>& variants) {
  std::vector<StoredVariant> stored;
  std::vector<uint8_t> first_steps;
  for (const Variant& variant : variants) {
    StoredVariant& out = stored.emplace_back(StoredVariant{.variant = variant});
    const std::vector<uint8_t> steps = encode_steps(variant);
    out.shares_steps = stored.size() > 1 && steps == first_steps;
    if (out.shares_steps) out.variant.steps.clear();
    if (stored.size() == 1) first_steps = steps;
    for (const Step& step : variant.steps) {
      out.macs.push_back(step.macs);
      out.core_rows.push_back(step.core_rows);
    }
  }
  io.records(stored, "variants");
}

// Steps, costs and rows of one variant put together; `first` is the first variant, already whole.
static Status join(StoredVariant& stored, const Variant* first) {
  Variant& variant = stored.variant;
  if (stored.shares_steps) {
    if (first == nullptr)
      return invalid_model("the compiled model's first variant has no steps of its own");
    variant.steps = first->steps;
  }
  if (stored.macs.size() != variant.steps.size() ||
      stored.core_rows.size() != variant.steps.size()) {
    return invalid_model(str("the compiled model has ", stored.macs.size(), " costs and ",
                             stored.core_rows.size(), " divisions among cores for ",
                             variant.steps.size(), " steps"));
  }
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    variant.steps[i].macs = stored.macs[i];
    variant.steps[i].core_rows = std::move(stored.core_rows[i]);
  }
  return ok_status();
}

// Of one copy in memory, where a short text and an attribute are many times as large as in the file.
static uint64_t held_bytes(const Variant& variant) {
  uint64_t bytes = encode_steps(variant).size() + variant.steps.size() * sizeof(Step);
  for (const Step& step : variant.steps) {
    const auto* const op = std::get_if<OpParams>(&step.params);
    if (op == nullptr) continue;
    for (const AttrMap::value_type& attr : op->attrs) {
      bytes += sizeof attr + 4 * sizeof(void*);  // a node of the map
      const auto* const texts = std::get_if<std::vector<std::string>>(&attr.second);
      if (texts != nullptr) bytes += texts->size() * sizeof(std::string);
    }
  }
  return bytes;
}

// The copies that sharing variants make.
class SharedSize {
 public:
  Status add(const Variant& first) {
    if (step_bytes_ == 0) step_bytes_ = held_bytes(first);
    bytes_ += step_bytes_;
    if (bytes_ > budget::kSharedStepBytes)
      return invalid_model("the compiled model's variants are too large together");
    return ok_status();
  }

 private:
  uint64_t step_bytes_ = 0, bytes_ = 0;
};

static void describe(RecordDecoder& io, std::vector<Variant>& variants) {
  std::vector<StoredVariant> stored;
  io.records(stored, "variants");
  if (!io.ok()) return;
  if (stored.size() > kMaxVariants) {
    return io.fail(
        str("the compiled model has ", stored.size(), " variants, at most ", kMaxVariants));
  }
  SharedSize shared;
  for (StoredVariant& one : stored) {
    const Variant* const first = variants.empty() ? nullptr : &variants.front();
    Status status = one.shares_steps && first ? shared.add(*first) : ok_status();
    if (status.ok()) status = join(one, first);
    if (!status.ok()) return io.fail(status.message());
    variants.push_back(std::move(one.variant));
  }
}

// Version 2: the flag and the steps come before the costs, the rows have no count.
static void describe(PositionalDecoder& io, std::vector<Variant>& variants) {
  uint32_t count = 0;
  io.number(count);
  if (count > kMaxVariants)
    return io.fail(str("the compiled model has ", count, " variants, at most ", kMaxVariants));
  SharedSize shared;
  for (uint32_t i = 0; i < count && io.ok(); ++i) {
    StoredVariant one;
    describe(io, one.variant.tensors);
    describe(io, one.variant.inputs);
    describe(io, one.variant.outputs);
    describe(io, one.variant.arena_bytes);
    describe(io, one.shares_steps);
    if (!one.shares_steps) describe(io, one.variant.steps);
    describe(io, one.macs);
    for (size_t s = 0; s < one.macs.size() && io.ok(); ++s)
      describe(io, one.core_rows.emplace_back());
    if (!io.ok()) return;
    const Variant* const first = variants.empty() ? nullptr : &variants.front();
    Status status = one.shares_steps && first ? shared.add(*first) : ok_status();
    if (status.ok()) status = join(one, first);
    if (!status.ok()) return io.fail(status.message());
    variants.push_back(std::move(one.variant));
  }
}

template <typename Io>
void describe(Io& io, As<Io, Program>& value) {
  io.record(value, [](auto& of, auto& p) {
    of.field(1, p.target);
    of.field(2, p.framework);
    of.field(3, p.toolkit_version);
    of.field(4, p.compiler_version);
    of.field(5, p.custom_string);
    of.field(6, p.name);
    of.field(7, p.single_core);
    of.field(8, p.batch);
    of.field(9, p.removed);
    of.field(10, p.inputs);
    of.field(11, p.variants);
    of.added(12, p.coded);
  });
}

namespace {

template <typename Io>
Result<Program> decode(ByteSpan payload, std::vector<Blob> weights) {
  Io io(payload);
  uint32_t weight_count = 0;
  io.number(weight_count);
  // Register lists for a board follow the weights.
  if (io.ok() && weight_count < weights.size()) weights.resize(weight_count);
  if (io.ok() && weight_count != weights.size()) {
    io.fail(str("the compiled model uses ", weight_count, " weight buffers, the file has ",
                weights.size()));
  }
  Program program;
  io.sized(program);
  RK_TRY(io.status());
  if (!io.reader().at_end()) {
    return invalid_model(str(io.reader().remaining(), " unread bytes after the compiled model"));
  }
  program.weights = std::move(weights);
  return program;
}

}  // namespace
}  // namespace rk::format::record

namespace rk::format {

std::vector<uint8_t> encode_program(const program::Program& program) {
  record::Encoder io;
  io.number(static_cast<uint32_t>(program.weights.size()));
  io.sized(program);
  return io.writer().release();
}

Result<program::Program> decode_program(uint32_t version, ByteSpan payload,
                                        std::vector<program::Blob> weights) {
  RK_ASSERT(version >= kOldestSectionVersion && version <= kSectionVersion,
            "split_container() accepts no other version");
  if (version == 2) return record::decode<record::PositionalDecoder>(payload, std::move(weights));
  return record::decode<record::RecordDecoder>(payload, std::move(weights));
}

}  // namespace rk::format
