// SPDX-License-Identifier: Apache-2.0
// RKNN_FAULT makes chosen calls fail, so that an application can test its fall-back paths:
//
//   RKNN_FAULT=rknn_run=-1            every rknn_run returns -1
//   RKNN_FAULT=rknn_run:3=-2          the third one only
//   RKNN_FAULT=rknn_init=-3,rknn_run:1=-1
//
// The call does nothing but fail. Functions that return a pointer return NULL, whatever the code.
#pragma once

namespace rk::capi {

// The code this call of `function` has to return; 0: it is not to fail.
int injected_fault(const char* function) noexcept;

}  // namespace rk::capi
