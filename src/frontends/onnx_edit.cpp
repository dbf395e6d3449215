// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx_edit.h"

#if RK_FRONTEND_ONNX
#include "frontends/onnx/edit.h"
#endif

namespace rk::frontends {

#if RK_FRONTEND_ONNX
Result<EditedModel> edit_onnx(ByteSpan bytes, const EditOptions& options) {
  return edit_onnx_model(bytes, options);
}
#else
Result<EditedModel> edit_onnx(ByteSpan, const EditOptions&) {
  return unsupported(
      "ONNX was switched off when this library was built; configure with -DRK_FRONTEND_ONNX=ON");
}
#endif

}  // namespace rk::frontends
