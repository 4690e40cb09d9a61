# Finds third-party packages. Modules link their targets.
if(PENSTOCK_STATIC_DEPENDENCIES)
  # The folder has a static libcurl and the header of cpp-httplib; Debian's development packages have the other archives.
  list(PREPEND CMAKE_PREFIX_PATH ${PENSTOCK_STATIC_DEPENDENCIES})
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(OPENSSL_USE_STATIC_LIBS ON)
  # Older systems have an older libstdc++. libgcc_s stays shared: one unwinder for all libraries of a process.
  add_link_options(-static-libstdc++)
  string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " ${PENSTOCK_STATIC_DEPENDENCIES}/lib/arc4random.o")
endif()
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(pugixml REQUIRED)
if(PENSTOCK_STATIC_DEPENDENCIES)
  set_target_properties(pugixml::pugixml PROPERTIES INTERFACE_LINK_LIBRARIES pugixml::static)
endif()
find_package(nlohmann_json REQUIRED)
if(PENSTOCK_EMULATOR)
  find_package(SQLite3 3.40 REQUIRED)
  find_package(CLI11 REQUIRED)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)  # Debian: libtomlplusplus-dev; compiled in, not linked
  find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # Debian: libxxhash-dev; compiled in, not linked
  find_package(PkgConfig REQUIRED)
  if(PENSTOCK_STATIC_DEPENDENCIES)
    # Interface targets with the names of pkg-config's. One source file includes the header of cpp-httplib.
    foreach(name IN ITEMS httplib re2)
      add_library(PkgConfig::${name} INTERFACE IMPORTED)
    endforeach()
    target_include_directories(PkgConfig::httplib INTERFACE ${PENSTOCK_STATIC_DEPENDENCIES}/include)
    target_link_libraries(PkgConfig::re2 INTERFACE ${PENSTOCK_STATIC_DEPENDENCIES}/lib/libre2.a Threads::Threads)
  else()
    pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)  # PkgConfig::httplib
    pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)  # PkgConfig::re2; its pkg-config file has no version
  endif()
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
