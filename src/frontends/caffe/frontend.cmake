rk_frontend_proto(caffe rk_caffe.proto)
