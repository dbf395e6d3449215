// SPDX-License-Identifier: Apache-2.0
// Operands of vendor nodes: which tensors are operands at all, and constants in the form operators take.
//
// Invariant: a constant is read by what the file says of it (kind, dtype, layout, native shape) or refused by name.
#include <algorithm>
#include <array>

#include "base/checked_math.h"
#include "base/half.h"
#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::kNone;
using program::Layout;
using program::ProgramTensor;
using program::TensorKind;

// Scratch of the task lists: no operand, whatever place it takes among the inputs.
// Weights and bias of a convolution that the compiler made itself are operands although of that kind.
bool is_helper(const FileTensor& tensor, const FileNode& node, size_t place) {
  if (tensor.kind == TensorKind::kHelperConstant)
    return !node.type.starts_with("Conv") || place < 1 || place > 2;
  for (const std::string_view ending :
       {"_exSecondary", "_exSecondary0", "_exSecondary1", "_exSecondary2", "_compute_zone"}) {
    if (tensor.name.ends_with(ending)) return true;
  }
  return false;
}

Status check_understood(const FileTensor& tensor) {
  const auto kind = static_cast<int>(tensor.kind);
  const auto layout = static_cast<int>(tensor.layout);
  const bool known_kind = (kind >= 1 && kind <= 5) || kind == 8;
  const bool known_layout = layout == 0x00 || layout == 0x02 || layout == 0x40 || layout == 0x41;
  if (known_kind && known_layout && byte_size(tensor.dtype) != 0) return ok_status();
  return unsupported(str("operand '", tensor.name, "' has kind ", kind, ", dtype ",
                         static_cast<int>(tensor.dtype), " and layout ", layout,
                         ", of which one is not decoded"));
}

// [N, C1, H, W, C2] with planes padded to four pixels (to none where there is one pixel, or the buffer is that short) to
// row-major.
Result<std::vector<uint8_t>> unblock(ByteSpan bytes, const ProgramTensor& t) {
  const std::vector<int32_t>& n = t.native_shape;
  const auto refuse = [&](std::string_view why) {
    return unsupported(str("constant '", t.name, "' of shape ", to_string(t.shape),
                           " in blocks of channels: ", why));
  };
  if (n.size() != 5 || t.shape.rank() != 4) return refuse("its native shape is not known");
  for (const int32_t extent : n) {
    if (extent < 1 || extent > (1 << 24)) return refuse("an extent is out of range");
  }
  const int64_t batch = n[0], blocks = n[1], height = n[2], width = n[3], lanes = n[4];
  const auto element = static_cast<int64_t>(byte_size(t.dtype));
  const int64_t pixels = height * width, channels = t.shape[1];
  if (batch != t.shape[0] || height != t.shape[2] || width != t.shape[3] ||
      channels > blocks * lanes) {
    return refuse("they are not of that shape");
  }
  const auto needed = [&](int64_t plane) {
    return checked_product(std::array<int64_t, 5>{batch, blocks, plane, lanes, element});
  };
  int64_t plane = pixels == 1 ? 1 : align_up<int64_t>(pixels, 4);
  auto size = needed(plane);
  if (!size || *size > bytes.size()) {
    plane = pixels;
    size = needed(plane);
  }
  if (!size || *size > bytes.size())
    return refuse(str("the file has ", bytes.size(), " bytes of it"));
  std::vector<uint8_t> out(static_cast<size_t>(t.shape.elements() * element));
  uint8_t* to = out.data();
  for (int64_t i = 0; i < batch * channels; ++i) {
    const int64_t channel = i % channels;
    const int64_t first = (i / channels * blocks + channel / lanes) * plane * lanes;
    for (int64_t p = 0; p < pixels; ++p, to += element) {
      const int64_t at = (first + p * lanes + channel % lanes) * element;
      std::memcpy(to, bytes.data() + at, static_cast<size_t>(element));
    }
  }
  return out;
}

}  // namespace

Result<std::vector<int32_t>> LiftContext::operands() {
  std::vector<int32_t> out;
  for (size_t place = 0; place < node().inputs.size(); ++place) {
    const int32_t i = node().inputs[place];
    if (i <= 0) {
      out.push_back(kNone);
      continue;
    }
    const FileTensor& from = graph.tensors[static_cast<size_t>(i)];
    const bool computed = written[static_cast<size_t>(i)];
    if (!computed && is_helper(from, node(), place)) continue;
    if (from.name.starts_with("empty_placeholder")) {
      out.push_back(kNone);
      continue;
    }
    RK_TRY(check_understood(from));
    if (!computed && !tensor(i).is_constant()) {
      if (from.kind == TensorKind::kNpuConstant || from.kind == TensorKind::kCpuConstant) {
        out.push_back(kNone);  // a constant without bytes: an empty list
        continue;
      }
      return unsupported(str("operand '", from.name, "' is written by no node"));
    }
    out.push_back(i);
  }
  while (!out.empty() && out.back() == kNone) out.pop_back();
  return out;
}

Result<std::vector<int32_t>> LiftContext::operands(size_t least) {
  RK_ASSIGN(std::vector<int32_t> out, operands());
  for (size_t i = 0; i < least; ++i) {
    if (i >= out.size() || out[i] == kNone) return unsupported(str("operand ", i, " is missing"));
  }
  return out;
}

Result<int32_t> LiftContext::plain(int32_t i) {
  if (i == kNone || !tensor(i).is_constant()) return i;
  const ProgramTensor t = tensor(i);
  if (t.layout == Layout::kWeight) {
    return unsupported(str("constant '", t.name, "' is a blocked weight, expected numbers"));
  }
  if (t.dtype == DType::kI8 && !t.quantized()) {
    return unsupported(str("constant operand '", t.name, "' has no scale in the file"));
  }
  // Real numbers, whatever scale is listed beside them.
  const bool scaled = t.quantized() && !is_float(t.dtype);
  int32_t out = i;
  if (t.layout == Layout::kNc1hwc2) {
    RK_ASSIGN(std::vector<uint8_t> bytes_of, unblock(bytes(i), t));
    out = add_constant(t.name + ".plain", t.dtype, t.shape, std::move(bytes_of));
  } else {
    const auto needed = checked_byte_size({t.dtype, t.shape});
    if (!needed.ok() || *needed > bytes(i).size()) {
      return unsupported(str("constant '", t.name, "' of shape ", to_string(t.shape), " has ",
                             bytes(i).size(), " bytes"));
    }
  }
  ProgramTensor& made = variant().tensors[static_cast<size_t>(out)];
  made.scale = scaled ? t.scale : 0;
  made.zero_point = scaled ? t.zero_point : 0;
  return out;
}

Result<std::vector<float>> LiftContext::floats(int32_t i) {
  if (i == kNone || !tensor(i).is_constant()) return unsupported("it has no constant operand");
  RK_ASSIGN(const int32_t at, plain(i));
  const ProgramTensor& t = tensor(at);
  const size_t element = byte_size(t.dtype);
  std::vector<float> out(static_cast<size_t>(t.shape.elements()));
  for (size_t k = 0; k < out.size(); ++k) {
    const double stored = load_f64(t.dtype, bytes(at).data() + k * element);
    out[k] = static_cast<float>(t.quantized() ? (stored - t.zero_point) * double{t.scale} : stored);
  }
  return out;
}

int32_t LiftContext::add_constant(const std::string& name, DType dtype, const Shape& shape,
                                  std::vector<uint8_t> bytes) {
  ProgramTensor out;
  out.name = name;
  out.dtype = dtype;
  out.kind = TensorKind::kHelperConstant;
  out.shape = shape;
  for (const int64_t extent : shape.dims())
    out.native_shape.push_back(static_cast<int32_t>(extent));
  out.size_bytes = bytes.size();
  out.weight = static_cast<int32_t>(program.weights.size());
  program.weights.push_back(program::make_blob(std::move(bytes)));
  variant().tensors.push_back(std::move(out));
  return static_cast<int32_t>(variant().tensors.size()) - 1;
}

int32_t LiftContext::add_integers(const std::string& name, const std::vector<int64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return add_constant(name, DType::kI64, {std::ssize(values)}, std::move(bytes));
}

int32_t LiftContext::add_floats(const std::string& name, const Shape& shape,
                                const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return add_constant(name, DType::kF32, shape, std::move(bytes));
}

int32_t LiftContext::add_internal(const std::string& name, int32_t like, const Shape& shape) {
  ProgramTensor out;
  out.name = name;
  out.dtype = tensor(like).dtype;
  out.scale = tensor(like).scale;
  out.zero_point = tensor(like).zero_point;
  out.min = tensor(like).min;
  out.max = tensor(like).max;
  out.shape = shape;
  for (const int64_t extent : shape.dims())
    out.native_shape.push_back(static_cast<int32_t>(extent));
  variant().tensors.push_back(std::move(out));
  return static_cast<int32_t>(variant().tensors.size()) - 1;
}

int32_t LiftContext::add_internal_f32(const std::string& name, const Shape& shape) {
  ProgramTensor out;
  out.name = name;
  out.dtype = DType::kF32;
  out.shape = shape;
  for (const int64_t extent : shape.dims())
    out.native_shape.push_back(static_cast<int32_t>(extent));
  variant().tensors.push_back(std::move(out));
  return static_cast<int32_t>(variant().tensors.size()) - 1;
}

}  // namespace rk::format
