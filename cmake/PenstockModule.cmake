# penstock_module(NAME SOURCES ... [TESTS ...] [TEST_DEPENDS ...] [TEST_SERIAL ...] [DEPENDS ...] [PRIVATE ...] [INCLUDE dir])
#
# Adds a static library for a module and a test program of its *_test.cc files.
#   NAME          path with '_' for '/', for example client_http: target penstock_client_http, alias penstock::client_http
#   DEPENDS       modules or libraries that its headers need
#   PRIVATE       third-party libraries that only its .cc files include
#   INCLUDE       folder of its public headers, relative to the module
#   TEST_DEPENDS  modules or libraries that only its tests need
#   TEST_SERIAL   test suites that run while no other test runs, because they measure times
function(penstock_module name)
  cmake_parse_arguments(ARG "" "INCLUDE" "SOURCES;TESTS;TEST_DEPENDS;TEST_SERIAL;DEPENDS;PRIVATE" ${ARGN})
  set(target penstock_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(penstock::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_MODULES ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)  # its headers need it, so programs that link it use it too
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  if(ARG_INCLUDE)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/${ARG_INCLUDE}> $<INSTALL_INTERFACE:include>)
    set_property(GLOBAL APPEND PROPERTY PENSTOCK_PUBLIC_INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_INCLUDE})
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS})
  foreach(library IN LISTS ARG_PRIVATE)
    penstock_link_private(${target} ${library})
  endforeach()
  penstock_warnings(${target})
  if(PENSTOCK_TESTS AND ARG_TESTS)
    penstock_test(${target}_test SOURCES ${ARG_TESTS} DEPENDS ${target} ${ARG_TEST_DEPENDS} SERIAL ${ARG_TEST_SERIAL})
  endif()
endfunction()

# Links a private library. A header-only library is not exported: programs that link an installed module do not need it.
function(penstock_link_private target library)
  set(name ${library})
  if(TARGET ${library})
    get_target_property(type ${library} TYPE)
    get_target_property(imported ${library} IMPORTED)
    get_target_property(behind ${library} INTERFACE_LINK_LIBRARIES)
    if(imported AND type STREQUAL "INTERFACE_LIBRARY" AND NOT behind)
      set(name $<BUILD_INTERFACE:${library}>)
    endif()
  endif()
  target_link_libraries(${target} PRIVATE ${name})
endfunction()

# Adds a GoogleTest program; each of its tests is a test of ctest. SERIAL: test suites that run while no other test runs. The tests
# have no TIMEOUT, which would replace the limit of `ctest --timeout` (tools/dev/test.sh).
function(penstock_test target)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;SERIAL" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} GTest::gtest_main GTest::gmock)
  penstock_warnings(${target})
  set(discovery DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${target}.")
  if(ARG_SERIAL)
    list(TRANSFORM ARG_SERIAL APPEND ".*")
    list(JOIN ARG_SERIAL ":" serial)
    gtest_discover_tests(${target} ${discovery} TEST_FILTER "-${serial}")
    gtest_discover_tests(${target} ${discovery} TEST_FILTER "${serial}" PROPERTIES RUN_SERIAL TRUE)
  else()
    gtest_discover_tests(${target} ${discovery})
  endif()
endfunction()

function(penstock_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
  # g++ 12 reports a moved std::variant, and therefore a moved Result, as uninitialised.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # clang 19 reports that libstdc++ 12 uses its own deprecated get_temporary_buffer in std::stable_partition.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-error=deprecated-declarations>)
  if(PENSTOCK_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Adds a libFuzzer program: target fuzz_<name>, in <build>/fuzz, part of the target fuzz_targets. Only with PENSTOCK_FUZZ. The macro
# PENSTOCK_FUZZ_TARGET has the name.
function(penstock_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPENDS})
  target_compile_definitions(fuzz_${name} PRIVATE PENSTOCK_FUZZ_TARGET="${name}")
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  if(PENSTOCK_LLD AND NOT PENSTOCK_FUZZ_SANITIZE)
    # Removes the counters of unused code, which doubles the executions per second.
    target_link_options(fuzz_${name} PRIVATE -fuse-ld=lld -Wl,--gc-sections)
  endif()
  penstock_warnings(fuzz_${name})
  if(NOT TARGET fuzz_targets)
    add_custom_target(fuzz_targets)
  endif()
  add_dependencies(fuzz_targets fuzz_${name})
endfunction()
