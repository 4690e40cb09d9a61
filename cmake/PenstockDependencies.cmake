# Finds third-party packages. Modules link their targets.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(pugixml REQUIRED)
find_package(nlohmann_json REQUIRED)
if(PENSTOCK_EMULATOR)
  find_package(SQLite3 3.40 REQUIRED)
  find_package(CLI11 REQUIRED)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)  # Debian: libtomlplusplus-dev; compiled in, not linked
  find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # Debian: libxxhash-dev; compiled in, not linked
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)  # PkgConfig::httplib
  pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)  # PkgConfig::re2; its pkg-config file has no version
endif()
if(PENSTOCK_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(PENSTOCK_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(PENSTOCK_TORCH)
  # Without Torch_DIR, asks Python for the CMake folder of its torch package; CMAKE_PREFIX_PATH has precedence.
  if(NOT Torch_DIR)
    find_package(Python 3.10 COMPONENTS Interpreter)
    if(Python_FOUND)
      execute_process(COMMAND ${Python_EXECUTABLE} -c "import torch; print(torch.utils.cmake_prefix_path)"
        OUTPUT_VARIABLE torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
  endif()
  find_package(Torch REQUIRED HINTS ${torch_prefix})
endif()
