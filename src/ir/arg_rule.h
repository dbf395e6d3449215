// SPDX-License-Identifier: Apache-2.0
// What an operator takes for one of its inputs: dtypes, the input whose dtype it shares, ranks. It is data in the
// OpDef, so that no operator can forget to check an argument: whoever makes a node, and whoever binds an operator of a
// Program to stored tensors, calls check_arguments() once, before type inference looks at shapes.
#pragma once

#include <span>

#include "ir/type.h"

namespace rk {

struct OpDef;

class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ |= bit(dtype);
  }
  constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet other) const { return DTypeSet(bits_ | other.bits_); }
  constexpr bool operator==(const DTypeSet&) const = default;

 private:
  constexpr explicit DTypeSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(DType dtype) { return uint32_t{1} << static_cast<unsigned>(dtype); }
  uint32_t bits_ = 0;
};

std::string to_string(DTypeSet dtypes);  // "f32, f16 or i8"

// Empty dtypes: nothing is declared, which only a user's custom operator may do.
struct ArgRule {
  DTypeSet dtypes;
  std::string_view words;  // for messages: "a float dtype"
  int same_as = -1;        // this input has the dtype of that one, where both are present
  int least_rank = 0;
  int most_rank = kMaxRank;

  constexpr ArgRule like(int input) const {
    ArgRule out = *this;
    out.same_as = input;
    return out;
  }
  constexpr ArgRule rank(int least, int most) const {
    ArgRule out = *this;
    out.least_rank = least;
    out.most_rank = most;
    return out;
  }
  constexpr ArgRule rank(int only) const { return rank(only, only); }
  constexpr bool declared() const { return !dtypes.empty(); }
};

inline constexpr DTypeSet kFloatTypes = {DType::kF32, DType::kF16, DType::kF64, DType::kBF16};
inline constexpr DTypeSet kSmallFloatTypes = {DType::kF8E4M3,   DType::kF8E4M3Uz, DType::kF8E5M2,
                                              DType::kF8E5M2Uz, DType::kF4,       DType::kF8E8M0};
inline constexpr DTypeSet kIntegerTypes = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16,
                                           DType::kI32, DType::kI64, DType::kU32, DType::kU64,
                                           DType::kU4,  DType::kI4,  DType::kU2,  DType::kI2};
inline constexpr DTypeSet kAllTypes =
    kFloatTypes | kSmallFloatTypes | kIntegerTypes | DTypeSet{DType::kBool};

constexpr ArgRule one_of(DTypeSet dtypes) { return {dtypes, ""}; }
constexpr ArgRule anything() { return {kAllTypes, "a known dtype"}; }
constexpr ArgRule floats() { return {kFloatTypes, "a float dtype"}; }
constexpr ArgRule integers() { return {kIntegerTypes, "an integer dtype"}; }
constexpr ArgRule numbers() { return {kFloatTypes | kIntegerTypes, "a number dtype"}; }
constexpr ArgRule booleans() { return {{DType::kBool}, "dtype bool"}; }
constexpr ArgRule indices() { return {{DType::kI32, DType::kI64}, "dtype i32 or i64"}; }

// `inputs` in the operator's order, null where an optional one is absent. kInvalidModel naming the input, what was
// found and what is expected.
Status check_arguments(const OpDef& def, std::span<const TensorType* const> inputs);

}  // namespace rk
