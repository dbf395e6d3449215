// SPDX-License-Identifier: Apache-2.0
// One describe() per struct, instantiated by an Encoder and a Decoder, so that the two directions
// cannot disagree. The Decoder keeps its first failure and then reads nothing more; every loop over
// a count stops with it.
#include "format/program_codec.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

namespace rk::format {
namespace {

using namespace program;

constexpr uint32_t kMaxVariants = 512;
// Steps that variants share are stored once but copied for each of them; this bounds the copies.
constexpr uint64_t kMaxSharedBytes = uint64_t{256} << 20;

class Encoder {
 public:
  static constexpr bool kReading = false;

  template <typename T>
  void number(const T& value) {
    out_.write(value);
  }
  void flag(const bool& value) { out_.write(static_cast<uint8_t>(value)); }
  template <typename E>
  void choice(const E& value, std::initializer_list<E>, const char*) {
    out_.write(value);
  }
  void text(const std::string& value) { out_.write_string(value); }
  template <typename T>
  void numbers(const std::vector<T>& values) {
    out_.write_vector(values);
  }
  template <typename T, typename Each>
  void list(std::vector<T>& values, const char*, const Each& each) {
    out_.write(static_cast<uint32_t>(values.size()));
    for (T& value : values) each(value);
  }
  ByteWriter& writer() { return out_; }

 private:
  ByteWriter out_;
};

class Decoder {
 public:
  static constexpr bool kReading = true;

  explicit Decoder(ByteSpan bytes) : in_(bytes) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  void fail(std::string message) {
    if (ok()) status_ = invalid_model(std::move(message));
  }
  template <typename T>
  void number(T& value) {
    keep(ok() ? in_.read<T>() : Result<T>(status_), value);
  }
  void flag(bool& value) {
    uint8_t byte = 0;
    number(byte);
    if (byte > 1) fail(str("a flag of the compiled model is ", int{byte}, ", expected 0 or 1"));
    value = byte == 1;
  }
  template <typename E>
  void choice(E& value, std::initializer_list<E> allowed, const char* what) {
    std::underlying_type_t<E> raw{};
    number(raw);
    value = static_cast<E>(raw);
    if (ok() && std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      fail(str("the compiled model has ", what, " ", int{raw}, ", which does not exist"));
    }
  }
  void text(std::string& value) {
    keep(ok() ? in_.read_string() : Result<std::string>(status_), value);
  }
  template <typename T>
  void numbers(std::vector<T>& values) {
    keep(ok() ? in_.read_vector<T>() : Result<std::vector<T>>(status_), values);
  }
  // Elements are appended one by one, so a count that lies ends at the last byte, not in an
  // allocation.
  template <typename T, typename Each>
  void list(std::vector<T>& values, const char* what, const Each& each) {
    uint32_t count = 0;
    number(count);
    if (count > in_.remaining()) {
      fail(str("the compiled model claims ", count, " ", what, " in ", in_.remaining(), " bytes"));
    }
    for (uint32_t i = 0; i < count && ok(); ++i) each(values.emplace_back());
  }
  ByteReader& reader() { return in_; }

 private:
  template <typename T>
  void keep(Result<T> result, T& value) {
    if (result.ok()) {
      value = std::move(*result);
    } else if (ok()) {
      status_ = result.status().with_context("compiled model");
    }
  }
  ByteReader in_;
  Status status_;
};

template <typename Io>
void describe(Io& io, DType& dtype) {
  io.choice(dtype,
            {DType::kUndefined, DType::kF32,    DType::kU8,       DType::kI8,   DType::kU16,
             DType::kI16,       DType::kI32,    DType::kI64,      DType::kBool, DType::kF16,
             DType::kF64,       DType::kU32,    DType::kU64,      DType::kBF16, DType::kF8E4M3,
             DType::kF8E4M3Uz,  DType::kF8E5M2, DType::kF8E5M2Uz, DType::kU4,   DType::kI4,
             DType::kF4,        DType::kF8E8M0, DType::kU2,       DType::kI2},
            "data type");
}

void describe(Encoder& io, Shape& shape) {
  io.number(static_cast<uint8_t>(shape.rank()));
  for (const int64_t extent : shape.dims()) io.number(extent);
}

void describe(Decoder& io, Shape& shape) {
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
void describe(Io& io, ProgramTensor& t) {
  io.text(t.name);
  describe(io, t.dtype);
  io.choice(t.kind,
            {TensorKind::kDummy, TensorKind::kInput, TensorKind::kOutput, TensorKind::kInternal,
             TensorKind::kNpuConstant, TensorKind::kCpuConstant, TensorKind::kHelperConstant},
            "tensor kind");
  io.choice(t.layout, {Layout::kPlain, Layout::kNchw, Layout::kNc1hwc2, Layout::kWeight}, "layout");
  describe(io, t.shape);
  io.numbers(t.native_shape);
  io.number(t.scale);
  io.number(t.zero_point);
  io.number(t.min);
  io.number(t.max);
  io.number(t.size_bytes);
  io.number(t.offset_in_arena);
  io.number(t.weight);
  io.number(t.plane_align);
  io.number(t.width_align);
}

template <typename Io>
void describe(Io& io, Extent2& e) {
  io.number(e.h);
  io.number(e.w);
}

template <typename Io>
void describe(Io& io, Pads2& p) {
  io.number(p.top);
  io.number(p.left);
  io.number(p.bottom);
  io.number(p.right);
}

template <typename Io>
void describe(Io& io, ScaleShift& s) {
  io.number(s.scale);
  io.number(s.shift);
}

template <typename Io>
void describe(Io& io, OutputStage& s) {
  describe(io, s.scale);
  io.number(s.zero_point);
}

template <typename Io>
void describe(Io& io, InputStage& s) {
  io.number(s.offset);
  describe(io, s.scale);
}

template <typename Io>
void describe(Io& io, std::vector<InputStage>& stages) {
  io.list(stages, "input stages", [&](InputStage& stage) { describe(io, stage); });
}

template <typename Io>
void describe(Io& io, Activation& a) {
  io.choice(a, {Activation::kNone, Activation::kRelu, Activation::kClip}, "activation");
}

template <typename Io>
void describe(Io& io, program::ConvParams& p) {
  describe(io, p.kernel);
  describe(io, p.stride);
  describe(io, p.dilation);
  describe(io, p.pads);
  io.number(p.group);
  io.flag(p.transposed);
  describe(io, p.activation);
  describe(io, p.post_activation);
  io.number(p.pad_value);
  io.number(p.multiplier_shift);
  io.number(p.clip_limit);
  describe(io, p.addend);
  describe(io, p.output);
  io.number(p.clip_limit_f32);
}

template <typename Io>
void describe(Io& io, SumParams& p) {
  describe(io, p.inputs);
  describe(io, p.activation);
  describe(io, p.output);
}

template <typename Io>
void describe(Io& io, program::ConcatParams& p) {
  io.number(p.axis);
  describe(io, p.inputs);
  describe(io, p.output);
  io.flag(p.identity);
}

template <typename Io>
void describe(Io& io, PoolParams& p) {
  io.choice(p.kind, {PoolKind::kMax, PoolKind::kAverage}, "pooling kind");
  describe(io, p.kernel);
  describe(io, p.stride);
  describe(io, p.pads);
  io.flag(p.count_include_pad);
  describe(io, p.by_count);
  describe(io, p.output);
}

template <typename Io>
void describe(Io& io, program::ResizeParams& p) {
  io.choice(p.mode, {ResizeMode::kNearest, ResizeMode::kLinear}, "resize mode");
  io.choice(p.coordinates,
            {CoordinateMode::kHalfPixel, CoordinateMode::kPytorchHalfPixel,
             CoordinateMode::kAlignCorners, CoordinateMode::kAsymmetric},
            "coordinate mode");
  io.choice(p.nearest,
            {NearestMode::kRoundPreferFloor, NearestMode::kRoundPreferCeil, NearestMode::kFloor,
             NearestMode::kCeil},
            "nearest mode");
  io.number(p.scale_h);
  io.number(p.scale_w);
  describe(io, p.input);
  describe(io, p.output);
  io.flag(p.identity);
}

template <typename Io>
void describe(Io& io, TableParams& p) {
  io.text(p.function);
  io.numbers(p.table);
}

void describe(Encoder& io, Tensor& tensor) {
  TensorType type = tensor.type();
  describe(io, type.dtype);
  describe(io, type.shape);
  if (!tensor.empty()) io.writer().write_bytes(tensor.bytes());
}

void describe(Decoder& io, Tensor& tensor) {
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

template <typename Io>
void describe(Io& io, int64_t& value) {
  io.number(value);
}
template <typename Io>
void describe(Io& io, float& value) {
  io.number(value);
}
template <typename Io>
void describe(Io& io, std::string& value) {
  io.text(value);
}
template <typename Io>
void describe(Io& io, std::vector<int64_t>& values) {
  io.numbers(values);
}
template <typename Io>
void describe(Io& io, std::vector<float>& values) {
  io.numbers(values);
}
template <typename Io>
void describe(Io& io, std::vector<std::string>& values) {
  io.list(values, "strings", [&](std::string& value) { io.text(value); });
}

// A variant is its alternative's index, then the alternative.
template <typename... Ts>
void describe(Encoder& io, std::variant<Ts...>& value) {
  io.number(static_cast<uint8_t>(value.index()));
  std::visit([&](auto& alternative) { describe(io, alternative); }, value);
}

template <typename Variant, size_t... Indices>
void emplace_index(Variant& value, size_t index, std::index_sequence<Indices...>) {
  ((index == Indices ? (void)value.template emplace<Indices>() : (void)0), ...);
}

template <typename... Ts>
void describe(Decoder& io, std::variant<Ts...>& value) {
  uint8_t index = 0;
  io.number(index);
  if (index >= sizeof...(Ts))
    return io.fail(str("the compiled model has alternative ", int{index}, " of ", sizeof...(Ts)));
  emplace_index(value, index, std::index_sequence_for<Ts...>());
  std::visit([&](auto& alternative) { describe(io, alternative); }, value);
}

void describe(Encoder& io, AttrMap& attrs) {
  io.number(static_cast<uint32_t>(attrs.size()));
  for (auto& [name, value] : attrs) {
    io.text(name);
    describe(io, value);
  }
}

void describe(Decoder& io, AttrMap& attrs) {
  uint32_t count = 0;
  io.number(count);
  for (uint32_t i = 0; i < count && io.ok(); ++i) {
    std::string name;
    io.text(name);
    describe(io, attrs[name]);
  }
}

template <typename Io>
void describe(Io& io, OpParams& p) {
  io.text(p.op);
  describe(io, p.attrs);
}

// Without its cost and its rows, which differ between variants that share steps.
template <typename Io>
void describe(Io& io, Step& s) {
  io.text(s.type);
  io.text(s.name);
  io.choice(s.processor, {Processor::kCpu, Processor::kGpu, Processor::kNpu}, "processor");
  io.numbers(s.inputs);
  io.numbers(s.outputs);
  describe(io, s.params);
}

template <typename Io>
void describe(Io& io, std::vector<Step>& steps) {
  io.list(steps, "steps", [&](Step& step) { describe(io, step); });
}

template <typename Io>
void describe(Io& io, InputInfo& info) {
  io.numbers(info.mean);
  io.numbers(info.std);
  io.flag(info.rgb2bgr);
  describe(io, info.model_dtype);
}

template <typename Io>
void describe_tensors(Io& io, Variant& v) {
  io.list(v.tensors, "tensors", [&](ProgramTensor& tensor) { describe(io, tensor); });
  io.numbers(v.inputs);
  io.numbers(v.outputs);
  io.number(v.arena_bytes);
}

std::vector<uint8_t> encode_steps(Variant& variant) {
  Encoder io;
  describe(io, variant.steps);
  return io.writer().release();
}

void describe_variants(Encoder& io, std::vector<Variant>& variants) {
  io.number(static_cast<uint32_t>(variants.size()));
  std::vector<uint8_t> first_steps;
  for (size_t i = 0; i < variants.size(); ++i) {
    describe_tensors(io, variants[i]);
    const std::vector<uint8_t> steps = encode_steps(variants[i]);
    const bool shared = i > 0 && steps == first_steps;
    io.flag(shared);
    if (!shared) io.writer().write_bytes(steps);
    if (i == 0) first_steps = steps;
    std::vector<uint64_t> macs;
    for (const Step& step : variants[i].steps) macs.push_back(step.macs);
    io.numbers(macs);
    for (const Step& step : variants[i].steps) io.numbers(step.core_rows);
  }
}

void describe_variants(Decoder& io, std::vector<Variant>& variants) {
  uint32_t count = 0;
  io.number(count);
  if (count > kMaxVariants)
    return io.fail(str("the compiled model has ", count, " variants, at most ", kMaxVariants));
  uint64_t first_steps_bytes = 0, shared_bytes = 0;
  for (uint32_t i = 0; i < count && io.ok(); ++i) {
    Variant& variant = variants.emplace_back();
    describe_tensors(io, variant);
    bool shared = false;
    io.flag(shared);
    if (shared && i == 0)
      return io.fail("the compiled model's first variant has no steps of its own");
    const size_t start = io.reader().offset();
    if (!shared) describe(io, variant.steps);
    if (i == 0) first_steps_bytes = io.reader().offset() - start;
    if (shared) shared_bytes += first_steps_bytes;
    if (shared_bytes > kMaxSharedBytes)
      return io.fail("the compiled model's variants are too large together");
    std::vector<uint64_t> macs;
    io.numbers(macs);
    if (!io.ok()) return;
    const std::vector<Step>& steps = shared ? variants.front().steps : variant.steps;
    if (macs.size() != steps.size()) {
      return io.fail(
          str("the compiled model has ", macs.size(), " costs for ", steps.size(), " steps"));
    }
    if (shared) variant.steps = variants.front().steps;
    for (size_t s = 0; s < macs.size(); ++s) {
      variant.steps[s].macs = macs[s];
      io.numbers(variant.steps[s].core_rows);
    }
  }
}

template <typename Io>
void describe(Io& io, RemovedWeight& removed) {
  io.number(removed.weight);
  io.number(removed.size_bytes);
  io.number(removed.crc32);
}

template <typename Io>
void describe(Io& io, Program& p) {
  io.text(p.target);
  io.text(p.framework);
  io.text(p.toolkit_version);
  io.text(p.compiler_version);
  io.text(p.custom_string);
  io.text(p.name);
  io.flag(p.single_core);
  io.number(p.batch);
  io.list(p.removed, "constants left out", [&](RemovedWeight& removed) { describe(io, removed); });
  io.list(p.inputs, "inputs", [&](InputInfo& info) { describe(io, info); });
  describe_variants(io, p.variants);
}

}  // namespace

std::vector<uint8_t> encode_program(const Program& program) {
  Encoder io;
  io.number(static_cast<uint32_t>(program.weights.size()));
  // describe() takes the struct by mutable reference for the Decoder's sake; the Encoder only
  // looks.
  describe(io, const_cast<Program&>(program));
  return io.writer().release();
}

Result<Program> decode_program(ByteSpan payload, std::vector<Blob> weights) {
  Decoder io(payload);
  uint32_t weight_count = 0;
  io.number(weight_count);
  if (io.ok() && weight_count != weights.size()) {
    io.fail(str("the compiled model uses ", weight_count, " weight buffers, the file has ",
                weights.size()));
  }
  Program program;
  describe(io, program);
  RK_TRY(io.status());
  if (!io.reader().at_end()) {
    return invalid_model(str(io.reader().remaining(), " unread bytes after the compiled model"));
  }
  program.weights = std::move(weights);
  return program;
}

}  // namespace rk::format
