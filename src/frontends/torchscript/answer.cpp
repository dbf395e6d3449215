// SPDX-License-Identifier: Apache-2.0
#include "frontends/torchscript/answer.h"

#include "base/checked_math.h"

namespace rk::frontends::torchscript {
namespace {

constexpr int kDeepest = 64;  // blocks in blocks, lists in lists
constexpr size_t kMostDims = 16;
constexpr size_t kMostData = 4 << 20;

class AnswerReader {
 public:
  explicit AnswerReader(ByteSpan bytes) : in_(bytes) {}

  Result<TorchProgram> program() {
    RK_TRY(in_.seek(kAnswerMagic.size()));
    TorchProgram out;
    RK_ASSIGN(const size_t count, list_count(13));
    for (size_t i = 0; i < count; ++i) {
      RK_ASSIGN(NamedValue input, value());
      out.inputs.push_back(std::move(input));
      RK_ASSIGN(std::optional<Datum> standard, optional_datum());
      out.defaults.push_back(std::move(standard));
    }
    RK_TRY(body(out.body, 0));
    if (!in_.at_end()) {
      return invalid_model(str("the answer has ", in_.remaining(), " bytes after its end"));
    }
    return out;
  }

 private:
  // How many elements follow; each has `least` bytes at least, so that a count cannot ask for more memory than the
  // answer could fill.
  Result<size_t> list_count(size_t least) {
    RK_ASSIGN(const auto count, in_.read<uint32_t>());
    if (count > in_.remaining() / least) {
      return invalid_model(str("truncated answer: a list of ", count, " elements at offset ",
                               in_.offset(), ", ", in_.remaining(), " bytes are left"));
    }
    return static_cast<size_t>(count);
  }

  Result<NamedValue> value() {
    NamedValue out;
    RK_ASSIGN(out.id, in_.read<uint32_t>());
    RK_ASSIGN(out.name, in_.read_string());
    RK_ASSIGN(out.type, in_.read_string());
    return out;
  }

  Status body(TorchBlock& out, int depth) {
    if (depth > kDeepest) return invalid_model("blocks are nested too deeply");
    RK_ASSIGN(const size_t count, list_count(21));
    out.nodes.reserve(count);
    for (size_t i = 0; i < count; ++i) RK_TRY(node(out.nodes.emplace_back(), depth));
    RK_ASSIGN(out.outputs, in_.read_vector<uint32_t>());
    return ok_status();
  }

  Status node(TorchNode& out, int depth) {
    RK_ASSIGN(out.kind, in_.read_string());
    RK_ASSIGN(out.source, in_.read_string());
    RK_ASSIGN(out.inputs, in_.read_vector<uint32_t>());
    RK_ASSIGN(const size_t outputs, list_count(12));
    for (size_t i = 0; i < outputs; ++i) {
      RK_ASSIGN(NamedValue output, value());
      out.outputs.push_back(std::move(output));
    }
    RK_ASSIGN(out.constant, optional_datum());
    RK_ASSIGN(const size_t blocks, list_count(12));
    for (size_t i = 0; i < blocks; ++i) {
      TorchBlock& block = out.blocks.emplace_back();
      RK_ASSIGN(const size_t inputs, list_count(12));
      for (size_t k = 0; k < inputs; ++k) {
        RK_ASSIGN(NamedValue input, value());
        block.inputs.push_back(std::move(input));
      }
      RK_TRY(body(block, depth + 1));
    }
    return ok_status();
  }

  Result<std::optional<Datum>> optional_datum() {
    RK_ASSIGN(const auto present, in_.read<uint8_t>());
    std::optional<Datum> out;
    if (present != 0) RK_TRY(datum(out.emplace(), 0));
    return out;
  }

  Status datum(Datum& out, int depth) {
    if (depth > kDeepest) return invalid_model("a constant is nested too deeply");
    if (++data_ > kMostData) return invalid_model(str("more than ", kMostData, " constants"));
    RK_ASSIGN(const auto kind, in_.read<uint8_t>());
    if (kind > static_cast<uint8_t>(Datum::Kind::kDict)) {
      return invalid_model(str("a constant is of unknown kind ", static_cast<int>(kind)));
    }
    out.kind = static_cast<Datum::Kind>(kind);
    switch (out.kind) {
      case Datum::Kind::kNone:
        return ok_status();
      case Datum::Kind::kBool: {
        RK_ASSIGN(const auto flag, in_.read<uint8_t>());
        out.integer = flag != 0 ? 1 : 0;
        return ok_status();
      }
      case Datum::Kind::kInt:
        return assign(out.integer);
      case Datum::Kind::kDouble:
        return assign(out.real);
      case Datum::Kind::kTensor: {
        auto stored = std::make_shared<StoredTensor>();
        RK_TRY(tensor(*stored));
        out.tensor = std::move(stored);
        return ok_status();
      }
      case Datum::Kind::kText:
      case Datum::Kind::kOther: {
        RK_ASSIGN(out.text, in_.read_string());
        return ok_status();
      }
      case Datum::Kind::kList:
      case Datum::Kind::kTuple:
      case Datum::Kind::kDict: {
        RK_ASSIGN(const size_t count, list_count(1));
        for (size_t i = 0; i < count; ++i) RK_TRY(datum(out.items.emplace_back(), depth + 1));
        if (out.kind == Datum::Kind::kDict && count % 2 != 0) {
          return invalid_model("a dict has a key without a value");
        }
        return ok_status();
      }
      case Datum::Kind::kConv:
      case Datum::Kind::kLinear:
        return packed(out, depth);
    }
    return ok_status();
  }

  template <typename T>
  Status assign(T& to) {
    RK_ASSIGN(to, in_.read<T>());
    return ok_status();
  }

  Status packed(Datum& out, int depth) {
    auto layer = std::make_shared<PackedLayer>();
    Datum weight, bias;
    RK_TRY(datum(weight, depth + 1));
    RK_TRY(datum(bias, depth + 1));
    if (weight.tensor == nullptr || (bias.tensor == nullptr && bias.kind != Datum::Kind::kNone)) {
      return invalid_model("a packed layer has no weights");
    }
    layer->weight = *weight.tensor;
    layer->bias = bias.tensor;
    if (out.kind == Datum::Kind::kConv) {
      RK_ASSIGN(layer->stride, in_.read_vector<int64_t>());
      RK_ASSIGN(layer->padding, in_.read_vector<int64_t>());
      RK_ASSIGN(layer->output_padding, in_.read_vector<int64_t>());
      RK_ASSIGN(layer->dilation, in_.read_vector<int64_t>());
      RK_TRY(assign(layer->groups));
      RK_ASSIGN(const auto transposed, in_.read<uint8_t>());
      layer->transposed = transposed != 0;
    }
    out.layer = std::move(layer);
    return ok_status();
  }

  Status tensor(StoredTensor& out) {
    RK_ASSIGN(const auto number, in_.read<uint8_t>());
    const auto dtype = dtype_from_onnx(number);
    if (!dtype) return invalid_model(str("a tensor is of unknown type ", static_cast<int>(number)));
    out.dtype = *dtype;
    RK_ASSIGN(out.dims, in_.read_vector<int64_t>());
    if (out.dims.size() > kMostDims) {
      return invalid_model(str("a tensor has ", out.dims.size(), " dimensions"));
    }
    RK_ASSIGN(out.affine.scale, in_.read_vector<double>());
    RK_ASSIGN(out.affine.zero_point, in_.read_vector<int64_t>());
    RK_TRY(assign(out.affine.axis));
    if (out.affine.scale.size() != out.affine.zero_point.size()) {
      return invalid_model(str("a tensor has ", out.affine.scale.size(), " scales and ",
                               out.affine.zero_point.size(), " zero points"));
    }
    RK_ASSIGN(const auto size, in_.read<uint64_t>());
    RK_ASSIGN(out.data, in_.take(size));
    RK_ASSIGN(const Shape shape, Shape::make(out.dims));
    RK_ASSIGN(const uint64_t expected, checked_byte_size(TensorType{out.dtype, shape}));
    if (expected != size) {
      return invalid_model(
          str("a tensor of ", to_string(shape), " has ", size, " bytes, expected ", expected));
    }
    return ok_status();
  }

  ByteReader in_;
  size_t data_ = 0;
};

}  // namespace

Result<TorchProgram> read_answer(ByteSpan bytes) { return AnswerReader(bytes).program(); }

}  // namespace rk::frontends::torchscript
