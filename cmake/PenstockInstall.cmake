# `cmake --install`: headers, libraries, the executable, a package for find_package(penstock), and pkg-config files.
#
# Every module of PENSTOCK_MODULES is in the export set of its component. Modules of both sides are in `base`, which every
# component needs. With BUILD_SHARED_LIBS, the shared libraries of PenstockShared.cmake replace the modules. Everything here has the install component `cpp`; the Python wheel installs the component `python` only.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)

function(penstock_component out target)
  if(target MATCHES "^penstock_emulator")
    set(component emulator)
  elseif(target MATCHES "^penstock_(client_)?torch(_shared)?$")
    set(component torch)
  elseif(target MATCHES "^penstock_client_testing(_shared)?$")
    set(component testing)
  elseif(target MATCHES "^penstock_client")
    set(component client)
  elseif(target MATCHES "^penstock_base(_shared)?$")
    set(component base)
  else()
    message(FATAL_ERROR "${target} belongs to no component of the installed package; add it to cmake/PenstockInstall.cmake")
  endif()
  set(${out} ${component} PARENT_SCOPE)
endfunction()

# The targets that programs link (penstock::client, ...), and the modules that they consist of.
if(BUILD_SHARED_LIBS)
  get_property(exported GLOBAL PROPERTY PENSTOCK_SHARED_LIBRARIES)
else()
  get_property(exported GLOBAL PROPERTY PENSTOCK_MODULES)
  foreach(name IN ITEMS client emulator torch)
    if(TARGET penstock_${name})
      list(APPEND exported penstock_${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES exported)
endif()

set(components "")
foreach(target IN LISTS exported)
  penstock_component(component ${target})
  list(APPEND components ${component})
  install(TARGETS ${target} EXPORT penstock-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
endforeach()
list(REMOVE_DUPLICATES components)
add_custom_target(penstock_installed)  # what `cmake --install` needs
add_dependencies(penstock_installed ${exported})
include(PenstockPkgConfig)
foreach(component IN LISTS components)
  install(EXPORT penstock-${component} NAMESPACE penstock:: DESTINATION ${package_dir} COMPONENT cpp)
endforeach()

# Installs only headers of installed libraries: a header without its library would fail at link time.
install(DIRECTORY base/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp FILES_MATCHING PATTERN "*.h")
set(without "")
if(NOT "torch" IN_LIST components)
  list(APPEND without PATTERN torch.h EXCLUDE PATTERN torch_checkpoint.h EXCLUDE)
endif()
if(NOT "testing" IN_LIST components)
  list(APPEND without PATTERN testing EXCLUDE)
endif()
install(DIRECTORY client/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp
  FILES_MATCHING PATTERN "*.h" ${without})
if("emulator" IN_LIST components)
  install(DIRECTORY emulator/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp FILES_MATCHING PATTERN "*.h")
endif()
if(TARGET penstock-emulator)
  add_dependencies(penstock_installed penstock-emulator)
  install(TARGETS penstock-emulator RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cpp)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock COMPONENT cpp)

set(PENSTOCK_INSTALLED_COMPONENTS ${components})
list(REMOVE_ITEM PENSTOCK_INSTALLED_COMPONENTS base)
configure_package_config_file(cmake/penstockConfig.cmake.in penstockConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT cpp)
