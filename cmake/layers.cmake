# What may include what: RK_MAY_USE_<module> lists the modules whose headers <module> may include and whose libraries
# it may link. rk_library() checks its USES against this table and tests/layers checks every #include against it.
# `media` (pictures and .npy files) is foundation: calibration, the command line and dumps all need it.
set(RK_MODULES base ir ops target kernels evaluator program media frontends passes quant compiler format runtime capi
               registers emulator analysis remote toolkit)

set(RK_MAY_USE_base)
set(RK_MAY_USE_ir base)
set(RK_MAY_USE_ops ir base)
set(RK_MAY_USE_target ir base)
set(RK_MAY_USE_kernels base)
set(RK_MAY_USE_media base)
set(RK_MAY_USE_evaluator kernels ops ir base)
set(RK_MAY_USE_program target ir base)

set(RK_MAY_USE_frontends ops ir base)
set(RK_MAY_USE_passes evaluator target ops ir base)
set(RK_MAY_USE_quant evaluator target ops media ir base)
set(RK_MAY_USE_compiler program target ops ir base)
set(RK_MAY_USE_format program target ir base)
set(RK_MAY_USE_runtime format program evaluator kernels target ops ir base)
set(RK_MAY_USE_registers format program target ir base)
set(RK_MAY_USE_emulator format program target ir base)
set(RK_MAY_USE_capi runtime program target ir base)
set(RK_MAY_USE_analysis quant compiler format runtime evaluator program target ops ir base)
# Devices behind a server: the client library is loaded at run time, so that this needs nothing.
set(RK_MAY_USE_remote base)
set(RK_MAY_USE_toolkit ${RK_MODULES})
# The command line lies outside src/; the include test reads this row for tools/.
set(RK_MAY_USE_tools toolkit quant format registers media runtime kernels target remote base)
# The server lies outside src/ too. It reaches the runtime through the C interface only; remote/ has what client and
# toolkit agree on.
set(RK_MAY_USE_server remote base)
