# Toolchain of check_arm64.sh: Debian's cross compiler, and qemu for the programs that the build makes. PENSTOCK_STATIC_DEPENDENCIES is
# a folder of `static_dependencies.sh FOLDER arm64`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)      # Debian: gcc-aarch64-linux-gnu
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)    # Debian: g++-aarch64-linux-gnu
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# The C library of the cross compiler has its loader here, too.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)  # Debian: qemu-user-static
# The cross compiler does not find lld.
set(PENSTOCK_LLD OFF CACHE FILEPATH "")

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PENSTOCK_STATIC_DEPENDENCIES)
set(penstock_sysroot ${PENSTOCK_STATIC_DEPENDENCIES}/sysroot)
set(CMAKE_FIND_ROOT_PATH ${penstock_sysroot} ${PENSTOCK_STATIC_DEPENDENCIES} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
include_directories(SYSTEM ${penstock_sysroot}/usr/include/aarch64-linux-gnu)
