// SPDX-License-Identifier: Apache-2.0
#include "frontends/recognize.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace rk::frontends {
namespace {

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool begins_at(ByteSpan bytes, size_t offset, std::string_view magic) {
  const std::string_view text = text_of(bytes);
  return text.size() >= offset && text.substr(offset).starts_with(magic);
}

// The fields at the top of a protobuf message, as far as a few of them tell: ONNX, GraphDef and caffemodel have no
// magic number, but differ in the kinds of their first fields.
struct WireField {
  uint64_t number = 0;
  int wire_type = 0;  // 0: varint, 2: length-delimited
  ByteSpan bytes;     // of a length-delimited field, as much as is there
};

std::optional<uint64_t> take_varint(ByteSpan& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 10); ++i) {
    value |= uint64_t{bytes[i] & 0x7fu} << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes = bytes.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

// Empty where the bytes are not a protobuf message.
std::vector<WireField> first_fields(ByteSpan bytes) {
  constexpr size_t kEnough = 16;
  std::vector<WireField> out;
  while (!bytes.empty() && out.size() < kEnough) {
    const auto tag = take_varint(bytes);
    if (!tag) return {};
    WireField field{*tag >> 3, static_cast<int>(*tag & 7), {}};
    if (field.number == 0) return {};
    if (field.wire_type == 0) {
      if (!take_varint(bytes)) return {};
    } else if (field.wire_type == 2) {
      const auto size = take_varint(bytes);
      if (!size || *size > bytes.size()) return {};
      field.bytes = bytes.first(static_cast<size_t>(*size));
      bytes = bytes.subspan(static_cast<size_t>(*size));
    } else {
      const size_t size = field.wire_type == 1 ? 8 : 4;
      if ((field.wire_type != 1 && field.wire_type != 5) || bytes.size() < size) return {};
      bytes = bytes.subspan(size);
    }
    out.push_back(field);
  }
  return out;
}

bool has_message(const std::vector<WireField>& fields, uint64_t number) {
  return std::ranges::any_of(fields, [&](const WireField& field) {
    return field.number == number && field.wire_type == 2;
  });
}

// The first line that says something, of a text whose comments begin with '#' (or ';').
std::string_view first_words(ByteSpan bytes) {
  std::string_view text = text_of(bytes);
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos) return {};
    text.remove_prefix(start);
    if (text.front() != '#' && text.front() != ';') return text;
    const size_t line = text.find('\n');
    text.remove_prefix(line == text.npos ? text.size() : line + 1);
  }
  return {};
}

struct Signature {
  size_t offset;
  std::string_view magic;
  std::string_view meaning;
};

constexpr Signature kNoModels[] = {
    {0, "RKNN", "it is an .rknn file, which is already converted; use load_rknn"},
    {4, "ORTM", "it is an ONNX Runtime .ort file; convert the .onnx file it was made from"},
    {0, "\x80\x02",
     "it is a Python pickle, as torch.save of old PyTorch versions wrote: weights or objects, but "
     "not the network; in "
     "Python, save the network with torch.jit.trace(model.eval(), torch.rand(1, 3, 224, "
     "224)).save('model.pt') and use "
     "load_pytorch, or export it to ONNX"},
    {0, "\x89HDF", "it is an HDF5 file, as Keras' .h5 is; export to ONNX first"},
    {0, "version https://git-lfs",
     "it is a Git LFS pointer, not the model itself; fetch the file with 'git lfs pull'"},
    {0, "\x1f\x8b", "it is compressed with gzip; unpack it first"},
    {0, "<!DOCTYPE", "it is a web page, as a failed download leaves; fetch the model again"},
    {0, "<html", "it is a web page, as a failed download leaves; fetch the model again"},
};

}  // namespace

bool is_onnx(ByteSpan bytes, std::string_view) {
  const auto fields = first_fields(bytes);
  if (fields.empty()) return false;
  // ir_version is a number and comes first, as every exporter writes it; the graph is field 7.
  return fields[0].number == 1 && fields[0].wire_type == 0 && has_message(fields, 7);
}

bool is_tflite(ByteSpan bytes, std::string_view) { return begins_at(bytes, 4, "TFL3"); }

bool is_tensorflow(ByteSpan bytes, std::string_view) {
  const auto fields = first_fields(bytes);
  // A node (field 1) with a name and an operator.
  return !fields.empty() && fields[0].number == 1 && fields[0].wire_type == 2 &&
         !has_message(fields, 100) && has_message(first_fields(fields[0].bytes), 1) &&
         has_message(first_fields(fields[0].bytes), 2);
}

bool is_caffe(ByteSpan bytes, std::string_view) {
  constexpr std::array kFirstWords = {"name:",  "name :",         "layer {",    "layer{",
                                      "layers", "input:",         "input_dim:", "input_shape",
                                      "state",  "force_backward", "debug_info"};
  const std::string_view words = first_words(bytes);
  if (std::ranges::any_of(kFirstWords,
                          [&](const char* first) { return words.starts_with(first); })) {
    return true;
  }
  // The net's name (field 1) is text, layers are field 100, or field 2 in old files.
  const auto fields = first_fields(bytes);
  return has_message(fields, 100) ||
         (fields.size() > 1 && fields[1].number == 2 && fields[1].wire_type == 2 &&
          fields[0].number <= 2 && fields[0].wire_type == 2);
}

bool is_darknet(ByteSpan bytes, std::string_view file_name) {
  const std::string_view words = first_words(bytes);
  if (words.starts_with("[net]") || words.starts_with("[network]")) return true;
  return file_name.ends_with(".weights");
}

bool is_pytorch(ByteSpan bytes, std::string_view) {
  // Or what rknn-import-torchscript made of one.
  return begins_at(bytes, 0, "PK\x03\x04") || begins_at(bytes, 0, "RKTORCH1");
}

std::string recognize_no_model(ByteSpan bytes) {
  if (bytes.empty()) return "the file is empty";
  for (const Signature& signature : kNoModels) {
    if (begins_at(bytes, signature.offset, signature.magic)) return std::string(signature.meaning);
  }
  return {};
}

}  // namespace rk::frontends
