// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file is a Python dictionary literal; numpy evaluates it, this reader
// accepts exactly the three keys numpy writes, in any order.
#include "base/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/checked_math.h"
#include "base/file.h"

namespace rk {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 32;  // numpy's own limit

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<Header> parse() {
    Header header;
    if (!accept("{")) return expected("'{'");
    while (!accept("}")) {
      RK_ASSIGN(const std::string key, parse_string());
      if (!accept(":")) return expected("':'");
      RK_TRY(parse_member(key, header));
      if (accept("}")) break;
      if (!accept(",")) return expected("',' or '}'");
    }
    skip_blanks();
    if (offset_ != text_.size()) return expected("the end of the header");
    return header;
  }

 private:
  void skip_blanks() {
    while (offset_ < text_.size() && (text_[offset_] == ' ' || text_[offset_] == '\n')) ++offset_;
  }

  bool accept(std::string_view word) {
    skip_blanks();
    if (text_.substr(offset_, word.size()) != word) return false;
    offset_ += word.size();
    return true;
  }

  Status expected(std::string_view what) const {
    return invalid_argument(str("header, character ", offset_, ": ", what, " expected"));
  }

  Result<std::string> parse_string() {
    skip_blanks();
    const char quote = offset_ < text_.size() ? text_[offset_] : '\0';
    if (quote != '\'' && quote != '"') return expected("a text in quotes");
    const size_t end = text_.find(quote, offset_ + 1);
    if (end == std::string_view::npos) return expected("a closed text");
    std::string out(text_.substr(offset_ + 1, end - offset_ - 1));
    offset_ = end + 1;
    return out;
  }

  Status parse_member(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) {
      if (accept("[")) return unsupported("structured dtypes are not supported; save plain arrays");
      RK_ASSIGN(header.descr, parse_string());
    } else if (key == "fortran_order" && !header.fortran_order) {
      const bool is_true = accept("True");
      if (!is_true && !accept("False")) return expected("True or False");
      header.fortran_order = is_true;
    } else if (key == "shape" && !header.shape) {
      RK_ASSIGN(header.shape, parse_shape());
    } else {
      return invalid_argument(str("header: unexpected or repeated key '", key, "'"));
    }
    return ok_status();
  }

  Result<std::vector<int64_t>> parse_shape() {
    std::vector<int64_t> shape;
    if (!accept("(")) return expected("'('");
    while (!accept(")")) {
      skip_blanks();
      int64_t extent = 0;
      const char* const from = text_.data() + offset_;
      const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) return expected("an extent from 0 to 2^63 - 1");
      offset_ += static_cast<size_t>(end - from);
      accept("L");  // Python 2's long
      shape.push_back(extent);
      if (shape.size() > kMaxRank) return expected(str("at most ", kMaxRank, " extents"));
      if (accept(")")) break;
      if (!accept(",")) return expected("',' or ')'");
    }
    return shape;
  }

  std::string_view text_;
  size_t offset_ = 0;
};

bool is_known_dtype(char kind, int item_size) {
  switch (kind) {
    case 'f':
      return item_size == 2 || item_size == 4 || item_size == 8;
    case 'i':
    case 'u':
      return item_size == 1 || item_size == 2 || item_size == 4 || item_size == 8;
    case 'b':
      return item_size == 1;
    default:
      return false;
  }
}

struct ElementType {
  char kind;
  int item_size;
  bool big_endian;
};

Result<ElementType> parse_descr(std::string_view descr) {
  if (descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    const ElementType type{descr[1], descr[2] - '0', descr[0] == '>'};
    const bool order_given = descr[0] != '|' || type.item_size == 1;
    if (order_given && is_known_dtype(type.kind, type.item_size)) return type;
  }
  return unsupported(str("dtype '", descr,
                         "'; expected float16/32/64, int8..int64, uint8..uint64 or bool: convert "
                         "with .astype() before saving"));
}

void swap_byte_order(std::vector<uint8_t>& bytes, size_t item_size) {
  for (size_t at = 0; at + item_size <= bytes.size(); at += item_size) {
    const auto item = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(item, item + static_cast<std::ptrdiff_t>(item_size));
  }
}

std::vector<uint8_t> fortran_to_c(const std::vector<uint8_t>& in, const std::vector<int64_t>& shape,
                                  size_t item_size) {
  std::vector<size_t> stride_bytes(shape.size());
  size_t stride = item_size;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    stride_bytes[axis] = stride;
    stride *= static_cast<size_t>(shape[axis]);
  }
  std::vector<uint8_t> out(in.size());
  std::vector<int64_t> index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < out.size(); to += item_size) {
    std::copy_n(in.data() + from, item_size, out.data() + to);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += stride_bytes[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride_bytes[axis] * static_cast<size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

Result<std::string_view> take_header(ByteReader& in) {
  const auto magic = in.take(kMagic.size());
  if (!magic.ok() || !std::equal(kMagic.begin(), kMagic.end(), magic->begin(),
                                 [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; })) {
    return invalid_argument("not an .npy file: it does not begin with \\x93NUMPY");
  }
  RK_ASSIGN(const uint8_t major, in.read<uint8_t>());
  RK_ASSIGN(const uint8_t minor, in.read<uint8_t>());
  if (major < 1 || major > 3 || minor != 0) {
    return unsupported(str(".npy version ", int{major}, ".", int{minor}, "; 1.0 to 3.0 expected"));
  }
  uint32_t size = 0;
  if (major == 1) {
    RK_ASSIGN(size, in.read<uint16_t>());
  } else {
    RK_ASSIGN(size, in.read<uint32_t>());
  }
  RK_ASSIGN(const ByteSpan text, in.take(size));
  return std::string_view(reinterpret_cast<const char*>(text.data()), text.size());
}

Result<NpyArray> decode(ByteSpan file) {
  ByteReader in(file);
  RK_ASSIGN(const std::string_view text, take_header(in));
  RK_ASSIGN(const Header header, HeaderParser(text).parse());
  if (!header.descr || !header.fortran_order || !header.shape) {
    return invalid_argument(
        "header: 'descr', 'fortran_order' and 'shape' expected, one is missing");
  }
  RK_ASSIGN(const ElementType type, parse_descr(*header.descr));
  const auto item_size = static_cast<size_t>(type.item_size);
  const auto count = checked_product(*header.shape);
  const auto size_bytes = count ? checked_mul(*count, item_size) : std::nullopt;
  if (!size_bytes || *size_bytes != in.remaining()) {
    return invalid_argument(
        str("the header's shape needs ",
            size_bytes ? str(*size_bytes, " bytes") : std::string("more than 2^64 bytes"),
            " of data, the file holds ", in.remaining()));
  }
  NpyArray out;
  out.kind = type.kind;
  out.item_size = type.item_size;
  out.shape = *header.shape;
  RK_ASSIGN(const ByteSpan data, in.take(*size_bytes));
  out.bytes.assign(data.begin(), data.end());
  if (type.big_endian) swap_byte_order(out.bytes, item_size);
  if (*header.fortran_order && out.shape.size() > 1) {
    out.bytes = fortran_to_c(out.bytes, out.shape, item_size);
  }
  if (out.kind == 'b') {  // numpy's own bytes are 0 and 1; a C++ bool may hold nothing else
    for (uint8_t& flag : out.bytes) flag = flag != 0;
  }
  return out;
}

}  // namespace

Result<NpyArray> decode_npy(ByteSpan file, std::string_view name) {
  auto array = decode(file);
  if (array.ok()) return array;
  // Running off the end of the bytes is a damaged argument here, not a damaged model.
  const Status& status = array.status();
  const Code code = status.code() == Code::kInvalidModel ? Code::kInvalidArgument : status.code();
  return Status(code, status.message()).with_context(str("'", name, "'"));
}

Result<NpyArray> read_npy(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  return decode_npy(file, path);
}

Result<std::vector<uint8_t>> encode_npy(const NpyArray& array) {
  if (!is_known_dtype(array.kind, array.item_size)) {
    return invalid_argument(str("no .npy dtype '", array.kind, array.item_size, "'"));
  }
  const auto count = checked_product(array.shape);
  const auto size_bytes =
      count ? checked_mul(*count, static_cast<uint64_t>(array.item_size)) : std::nullopt;
  if (!size_bytes || *size_bytes != array.bytes.size() || array.shape.size() > kMaxRank) {
    return invalid_argument(str("an .npy array of rank ", array.shape.size(), " with ",
                                array.bytes.size(), " bytes does not match its shape"));
  }
  std::string shape;
  for (size_t axis = 0; axis < array.shape.size(); ++axis) {
    shape += str(axis != 0 ? ", " : "", array.shape[axis]);
  }
  if (array.shape.size() == 1) shape += ",";
  std::string header = str("{'descr': '", array.item_size == 1 ? '|' : '<', array.kind,
                           array.item_size, "', 'fortran_order': False, 'shape': (", shape, "), }");
  // numpy leaves room for the first extent to grow to 21 digits, then aligns the data to 64 bytes.
  constexpr size_t kGrowthDigits = 21;
  if (!array.shape.empty()) {
    header.append(kGrowthDigits - std::to_string(array.shape[0]).size(), ' ');
  }
  const size_t prefix_bytes = kMagic.size() + 2 + sizeof(uint16_t);
  const size_t total = align_up(prefix_bytes + header.size() + 1, size_t{64});
  header.resize(total - prefix_bytes - 1, ' ');
  header.push_back('\n');

  ByteWriter out;
  for (const char c : kMagic) out.write(c);
  out.write(uint8_t{1});
  out.write(uint8_t{0});
  out.write(static_cast<uint16_t>(header.size()));
  for (const char c : header) out.write(c);
  out.write_bytes(array.bytes);
  return out.release();
}

Status write_npy(const std::string& path, const NpyArray& array) {
  auto bytes = encode_npy(array);
  if (!bytes.ok()) return bytes.status().with_context(str("'", path, "'"));
  return write_file(path, *bytes);
}

}  // namespace rk
