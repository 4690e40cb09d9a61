# The shared libraries of an installation with BUILD_SHARED_LIBS (docs/decisions/0120-shared-libraries.md).
#
# They consist of the objects of the modules. Everything else in the build folder links the modules' static libraries.

# Before version 1.0.0 a minor version may change the binary interface.
set(PENSTOCK_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(PENSTOCK_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()

# penstock_shared_library(NAME OUTPUT name PREFIX mangled MODULES ... [LIBRARIES ...] [STATIC ...])
#
# Adds the target penstock_NAME_shared, installed as penstock::NAME.
#   OUTPUT     name of the file: lib<OUTPUT>.so
#   PREFIX     mangled namespace of the exported names; names of other namespaces are local
#   MODULES    modules of which it contains all objects
#   LIBRARIES  shared libraries that its headers need
#   STATIC     modules of which it contains the objects that it needs and that LIBRARIES do not export
function(penstock_shared_library name)
  cmake_parse_arguments(ARG "" "OUTPUT;PREFIX" "MODULES;LIBRARIES;STATIC" ${ARGN})
  set(target penstock_${name}_shared)
  add_library(${target} SHARED)
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME ${ARG_OUTPUT} EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN"
    VERSION ${PROJECT_VERSION} SOVERSION ${PENSTOCK_SOVERSION})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} INTERFACE PENSTOCK_SHARED)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:include>)
  # The linker takes a symbol from the first library that has it: LIBRARIES come before STATIC.
  target_link_libraries(${target} PUBLIC ${ARG_LIBRARIES})
  foreach(module IN LISTS ARG_MODULES)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:penstock_${module}>)
    get_target_property(libraries penstock_${module} LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "^penstock")
    target_link_libraries(${target} PRIVATE ${libraries})
  endforeach()
  list(TRANSFORM ARG_STATIC PREPEND penstock_)
  target_link_libraries(${target} PRIVATE ${ARG_STATIC})

  set(PENSTOCK_EXPORT_PREFIX ${ARG_PREFIX})
  set(script ${PROJECT_BINARY_DIR}/${target}.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${script} @ONLY)
  # nodelete: threads, fork handlers and the list of diagnostic events refer to the code and data of the libraries.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}" LINKER:--no-undefined LINKER:-z,nodelete)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_SHARED_LIBRARIES ${target})
endfunction()

penstock_shared_library(base OUTPUT penstock_base PREFIX 8penstock MODULES base)
penstock_shared_library(client OUTPUT penstock PREFIX 8penstock
  MODULES client_memory client_bodies client_http client_auth client_cache client_s3 client_transfer client_checkpoint
  LIBRARIES penstock_base_shared
  STATIC base)
penstock_shared_library(client_testing OUTPUT penstock_testing PREFIX 8penstock7testing
  MODULES client_testing
  LIBRARIES penstock_client_shared penstock_base_shared
  STATIC base)
if(PENSTOCK_EMULATOR)
  penstock_shared_library(emulator OUTPUT penstock_emulator PREFIX 8penstock8emulator
    MODULES emulator_json emulator_policy emulator_message emulator_http emulator_store emulator_s3 emulator_auth emulator_identity emulator_traffic
      emulator_simulate emulator_journal emulator_faults emulator_server
    LIBRARIES penstock_base_shared
    STATIC base)
endif()
if(PENSTOCK_TORCH)
  penstock_shared_library(torch OUTPUT penstock_torch PREFIX 8penstock5torch
    MODULES client_checkpoint_load client_torch
    LIBRARIES penstock_client_shared penstock_base_shared torch
    STATIC client_checkpoint client_transfer client_memory base)
endif()
