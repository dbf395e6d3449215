# What may include what: RK_MAY_USE_<module> lists the modules whose headers <module> may include and whose libraries
# it may link. rk_library() checks its USES against this table and tests/layers checks every #include against it.
# `media` (pictures and .npy files) is foundation: calibration, the command line and dumps all need it.
set(RK_MODULES base ir ops target kernels exec program media frontends passes quant compiler format runtime capi
               analysis toolkit)

set(RK_MAY_USE_base)
set(RK_MAY_USE_ir base)
set(RK_MAY_USE_ops ir base)
set(RK_MAY_USE_target ir base)
set(RK_MAY_USE_kernels base)
set(RK_MAY_USE_media base)
set(RK_MAY_USE_exec kernels ops ir base)
set(RK_MAY_USE_program target ir base)

set(RK_MAY_USE_frontends ops ir base)
set(RK_MAY_USE_passes exec target ops ir base)
set(RK_MAY_USE_quant exec target ops media ir base)
set(RK_MAY_USE_compiler program target ops ir base)
set(RK_MAY_USE_format program target ir base)
set(RK_MAY_USE_runtime format program exec kernels target ops ir base)
set(RK_MAY_USE_capi runtime base)
set(RK_MAY_USE_analysis quant compiler format runtime exec program target ops ir base)
set(RK_MAY_USE_toolkit ${RK_MODULES})
