rk_frontend_proto(onnx rk_onnx.proto)
