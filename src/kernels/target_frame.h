// SPDX-License-Identifier: Apache-2.0
// Frame of code for a newer CPU than the rest of the library is compiled for. Include every other header first: only
// what stands between RK_TARGET_BEGIN("features") and RK_TARGET_END is compiled for the newer CPU, so that no inline
// function of a header is, and leaks into the rest.
#pragma once

#define RK_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define RK_TARGET_BEGIN(features) \
  RK_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define RK_TARGET_END RK_PRAGMA(clang attribute pop)
#else
#define RK_TARGET_BEGIN(features) RK_PRAGMA(GCC push_options) RK_PRAGMA(GCC target(features))
#define RK_TARGET_END RK_PRAGMA(GCC pop_options)
#endif
