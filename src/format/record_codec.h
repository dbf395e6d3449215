// SPDX-License-Identifier: Apache-2.0
// How our section spells values, and how it stays readable across versions. One describe() per type
// serves every direction: an Encoder, a RecordDecoder for today's form and a PositionalDecoder for
// section version 2 call it with their own idea of a field.
//
//   record   fields in ascending order of their tag
//   field    u16 tag, u32 size in bytes, the value
//
// A field that holds its default is not written. A field that a reader does not know is refused,
// because it may change the result, unless its tag carries kMayIgnore. So a new member of a struct
// takes a new tag at the end of its describe(), with Io::added(); files that do not use it stay
// readable by older readers, older files leave the member at its default.
//
// Invariant: a tag is never used again for something else, and the spelling of a value type
// (numbers, Extent2, InputStage, ...) never changes; a changed meaning takes a new tag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format::record {

using Tag = uint16_t;
// Part of the tag as stored: says nothing that a result depends on.
inline constexpr Tag kMayIgnore = 0x8000;

// Memory of all lists together. A record may be stored in four bytes and take hundreds in memory;
// this bounds what hostile counts can ask for.
inline constexpr uint64_t kMaxListBytes = uint64_t{512} << 20;

// T as a direction sees it: written to by a decoder, looked at by the encoder.
template <typename Io, typename T>
using As = std::conditional_t<Io::kReading, T, const T>;

class Encoder {
 public:
  static constexpr bool kReading = false;

  template <typename T>
  void number(const T& value) {
    out_.write(value);
  }
  void flag(bool value) { out_.write(static_cast<uint8_t>(value)); }
  template <typename E>
  void choice(const E& value, std::initializer_list<E>, const char*) {
    out_.write(value);
  }
  void text(const std::string& value) { out_.write_string(value); }
  template <typename T>
  void numbers(const std::vector<T>& values) {
    out_.write_vector(values);
  }
  // Elements of a spelling that never changes, one after the other.
  template <typename T>
  void list(const std::vector<T>& values, const char*) {
    out_.write(static_cast<uint32_t>(values.size()));
    for (const T& value : values) describe(*this, value);
  }
  // Records, each after its size in bytes.
  template <typename T>
  void records(const std::vector<T>& values, const char*) {
    out_.write(static_cast<uint32_t>(values.size()));
    for (const T& value : values) sized(value);
  }
  template <typename T>
  void sized(const T& value) {
    Encoder one;
    describe(one, value);
    out_.write(static_cast<uint32_t>(one.out_.size()));
    out_.write_bytes(one.out_.bytes());
  }

  // `fields` calls field() for each member. It runs twice, the first time on a T{}, to know what
  // need not be written; as bytes, so that -0.0 and NaN count as themselves.
  template <typename T, typename Fields>
  void record(const T& value, const Fields& fields) {
    static const std::vector<Field> defaults = fields_of(T{}, fields);
    const std::vector<Field> found = fields_of(value, fields);
    RK_ASSERT(found.size() == defaults.size(), "a record has the same members for every value");
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].bytes == defaults[i].bytes) continue;
      out_.write(found[i].tag);
      out_.write(static_cast<uint32_t>(found[i].bytes.size()));
      out_.write_bytes(found[i].bytes);
    }
  }
  template <typename T>
  void field(Tag tag, const T& value) {
    RK_ASSERT(fields_.empty() || (fields_.back().tag & ~kMayIgnore) < (tag & ~kMayIgnore),
              "tags ascend");
    Encoder one;
    describe(one, value);
    fields_.push_back({tag, one.out_.release()});
  }
  // A field that version 2 does not have.
  template <typename T>
  void added(Tag tag, const T& value) {
    field(tag, value);
  }
  ByteWriter& writer() { return out_; }

 private:
  struct Field {
    Tag tag;
    std::vector<uint8_t> bytes;
  };
  template <typename T, typename Fields>
  static std::vector<Field> fields_of(const T& value, const Fields& fields) {
    Encoder one;
    fields(one, value);
    return std::move(one.fields_);
  }

  ByteWriter out_;
  std::vector<Field> fields_;  // of the record being described
};

// What both decoders share. Keeps its first failure and then reads nothing more; every loop over a
// count stops with it.
class ValueDecoder {
 public:
  static constexpr bool kReading = true;

  explicit ValueDecoder(ByteSpan bytes) : in_(bytes) {}

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
  ByteReader& reader() { return in_; }

 protected:
  // Elements are appended one by one, so a count that lies ends at the last byte, not in an
  // allocation.
  template <typename T, typename Each>
  void append(std::vector<T>& values, const char* what, const Each& each) {
    uint32_t count = 0;
    number(count);
    const uint64_t size_bytes = uint64_t{count} * sizeof(T);
    if (count > in_.remaining() || size_bytes > list_bytes_left_) {
      fail(str("the compiled model claims ", count, " ", what, " in ", in_.remaining(), " bytes"));
    }
    if (!ok()) return;
    list_bytes_left_ -= size_bytes;
    for (uint32_t i = 0; i < count && ok(); ++i) each(values.emplace_back());
  }
  void refuse(Status status) {
    if (ok()) status_ = std::move(status);
  }
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

 private:
  uint64_t list_bytes_left_ = kMaxListBytes;
};

// Section version 3 and up.
class RecordDecoder : public ValueDecoder {
 public:
  using ValueDecoder::ValueDecoder;

  template <typename T>
  void list(std::vector<T>& values, const char* what) {
    append(values, what, [&](T& value) { describe(*this, value); });
  }
  template <typename T>
  void records(std::vector<T>& values, const char* what) {
    append(values, what, [&](T& value) { sized(value); });
  }
  template <typename T>
  void sized(T& value) {
    uint32_t size_bytes = 0;
    number(size_bytes);
    within(size_bytes, [&] { describe(*this, value); });
  }
  // The rest of the span is the record.
  template <typename T, typename Fields>
  void record(T& value, const Fields& fields) {
    const Position outer = std::exchange(at_, Position());
    fields(*this, value);
    skip_below(kMayIgnore);
    at_ = outer;
  }
  // Note: the stored kMayIgnore does not matter for a field that is known.
  template <typename T>
  void field(Tag tag, T& value) {
    const int order = order_of(tag);
    skip_below(order);
    if (!ok() || !at_.waiting || order_of(at_.header.tag) != order) return;
    at_.waiting = false;
    within(at_.header.size_bytes, [&] { describe(*this, value); });
  }
  template <typename T>
  void added(Tag tag, T& value) {
    field(tag, value);
  }

 private:
  struct Header {
    Tag tag = 0;
    uint32_t size_bytes = 0;
  };
  // In the record being read.
  struct Position {
    bool waiting = false;  // the header has been read, its value has not
    Header header;
    int last_order = -1;
  };
  static int order_of(Tag tag) { return tag & ~kMayIgnore; }

  // Runs `body` on the next bytes only; it must read all of them.
  template <typename Body>
  void within(uint32_t size_bytes, const Body& body) {
    ByteSpan bytes;
    keep(ok() ? in_.take(size_bytes) : Result<ByteSpan>(status_), bytes);
    if (!ok()) return;
    const ByteReader outer = std::exchange(in_, ByteReader(bytes));
    body();
    if (ok() && !in_.at_end()) {
      fail(str(in_.remaining(), " unread bytes in a value of the compiled model"));
    }
    in_ = outer;
  }

  // Reads headers up to the first whose order is at least `order`. A field below it is unknown to
  // this build.
  void skip_below(int order) {
    while (ok()) {
      if (!at_.waiting) {
        if (in_.at_end()) return;
        number(at_.header.tag);
        number(at_.header.size_bytes);
        if (!ok()) return;
        if (order_of(at_.header.tag) <= at_.last_order) {
          return fail("fields of the compiled model are not in ascending order");
        }
        at_.last_order = order_of(at_.header.tag);
        at_.waiting = true;
      }
      if (order_of(at_.header.tag) >= order) return;
      if ((at_.header.tag & kMayIgnore) == 0) {
        return refuse(unsupported(
            str("the compiled model has field ", at_.header.tag,
                ", which this version does not know. Update, or convert the model again")));
      }
      ByteSpan ignored;
      keep(in_.take(at_.header.size_bytes), ignored);
      at_.waiting = false;
    }
  }

  Position at_;
};

// Section version 2: every member in order, without tags or sizes.
class PositionalDecoder : public ValueDecoder {
 public:
  using ValueDecoder::ValueDecoder;

  template <typename T>
  void list(std::vector<T>& values, const char* what) {
    append(values, what, [&](T& value) { describe(*this, value); });
  }
  template <typename T>
  void records(std::vector<T>& values, const char* what) {
    list(values, what);
  }
  template <typename T>
  void sized(T& value) {
    describe(*this, value);
  }
  template <typename T, typename Fields>
  void record(T& value, const Fields& fields) {
    fields(*this, value);
  }
  template <typename T>
  void field(Tag, T& value) {
    describe(*this, value);
  }
  template <typename T>
  void added(Tag, T&) {}
};

}  // namespace rk::format::record
