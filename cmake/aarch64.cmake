# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for 64-bit ARM with Debian's compiler (crossbuild-essential-arm64). Libraries of Debian's arm64 packages
# are taken from RK_SYSROOT, which cmake/sysroot_arm64.sh fills; protoc and other programs are this machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(RK_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64 CACHE PATH "folder with Debian's arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RK_SYSROOT)
# Not CMAKE_SYSROOT: libc and its headers are the compiler's own.
set(CMAKE_FIND_ROOT_PATH ${RK_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${RK_SYSROOT}/usr/include/aarch64-linux-gnu")
set(link_path -Wl,-rpath-link,${RK_SYSROOT}/usr/lib/aarch64-linux-gnu:${RK_SYSROOT}/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT ${link_path})
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${link_path})

# Tests run under emulation.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
