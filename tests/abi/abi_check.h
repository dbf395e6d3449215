// SPDX-License-Identifier: Apache-2.0
// The assertions that make_checks.py writes, for C11 and C++ alike. C lets an enum stand for its
// integer type, so only the C++ build can tell the two apart in fields and parameters.
#ifndef RK_TESTS_ABI_ABI_CHECK_H_
#define RK_TESTS_ABI_ABI_CHECK_H_

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#include <type_traits>
#define ABI_REQUIRE(...) static_assert(__VA_ARGS__, #__VA_ARGS__)
#define ABI_ALIGN_OF(type) alignof(type)
#define ABI_SAME_TYPE(a, b) std::is_same<a, b>::value
#define ABI_TYPE_OF(expression) decltype(expression)
#define ABI_FIELD_TYPE(type, field) decltype(type::field)
#define ABI_UNDERLYING(name) std::underlying_type<name>::type
// A second declaration that disagrees with the header about the linkage is an error.
#define ABI_C_LINKAGE(name)          \
  extern "C" {                       \
  typedef ABI_TYPE_OF(name) name##_; \
  extern name##_ name;               \
  }
#else
#define ABI_REQUIRE(...) _Static_assert(__VA_ARGS__, #__VA_ARGS__)
#define ABI_ALIGN_OF(type) _Alignof(type)
#define ABI_SAME_TYPE(a, b) __builtin_types_compatible_p(a, b)
#define ABI_TYPE_OF(expression) __typeof__(expression)
#define ABI_FIELD_TYPE(type, field) __typeof__(((type*)0)->field)
#define ABI_UNDERLYING(name) name
#define ABI_C_LINKAGE(name) ABI_REQUIRE(1)
#endif

#define ABI_MACRO(name, value)    \
  ABI_REQUIRE((name) == (value)); \
  ABI_REQUIRE(ABI_SAME_TYPE(ABI_TYPE_OF((name) + 0), int))

#define ABI_TYPEDEF(name, type, size)  \
  ABI_REQUIRE(sizeof(name) == (size)); \
  ABI_REQUIRE(ABI_SAME_TYPE(name, type))

#define ABI_ENUM(name, size, underlying) \
  ABI_REQUIRE(sizeof(name) == (size));   \
  ABI_REQUIRE(ABI_SAME_TYPE(ABI_UNDERLYING(name), underlying))

#define ABI_CONSTANT(name, value) ABI_REQUIRE((name) == (value))

#define ABI_STRUCT(name, size, align)  \
  ABI_REQUIRE(sizeof(name) == (size)); \
  ABI_REQUIRE(ABI_ALIGN_OF(name) == (align))

#define ABI_TAG(name, tag) ABI_REQUIRE(ABI_SAME_TYPE(name, tag))

#define ABI_FIELD(name, field, type, offset, size)            \
  ABI_REQUIRE(offsetof(name, field) == (offset));             \
  ABI_REQUIRE(sizeof(ABI_FIELD_TYPE(name, field)) == (size)); \
  ABI_REQUIRE(ABI_SAME_TYPE(ABI_FIELD_TYPE(name, field), type))

#define ABI_FUNCTION(name, type)                        \
  ABI_REQUIRE(ABI_SAME_TYPE(ABI_TYPE_OF(&name), type)); \
  ABI_C_LINKAGE(name)

// Prints and counts a text that differs from the expected one.
static inline int abi_text_differs(const char* call, const char* found, const char* expected) {
  if (strcmp(found, expected) == 0) return 0;
  fprintf(stderr, "%s: found \"%s\", expected \"%s\"\n", call, found, expected);
  return 1;
}
#define ABI_TEXT(call, expected) abi_text_differs(#call, call, expected)

#endif  // RK_TESTS_ABI_ABI_CHECK_H_
