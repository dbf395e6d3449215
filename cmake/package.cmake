# What `cmake --install` puts beside the libraries so that other projects find them: a CMake package (rknnrt) and
# pkg-config files. Included once, after all targets exist.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Headers carry the interface's version, so that is what find_package(rknnrt 2.3) asks about.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rknnrt)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/package/rknnrt-config.cmake.in
                              ${CMAKE_BINARY_DIR}/package/rknnrt-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/rknnrt-config-version.cmake VERSION ${RK_API_VERSION}
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/rknnrt-config.cmake ${CMAKE_BINARY_DIR}/package/rknnrt-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT rknnrt-targets NAMESPACE rknnrt:: DESTINATION ${package_dir})

# Relative, so that `cmake --install --prefix` and unpacked archives work wherever they lie.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
function(rk_pkg_config library description private_libraries)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/library.pc.in ${CMAKE_BINARY_DIR}/package/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
rk_pkg_config(rknnrt "runs .rknn models on the CPU as the simulated NPU" "-lstdc++ -lm -pthread")
rk_pkg_config(rknnmrt "the same for the small chips" "-lstdc++ -lm -pthread")
if(TARGET rknn_toolkit)
  rk_pkg_config(rknn_toolkit "converts, quantizes and analyzes models" "")
endif()
