# `cmake --install`: headers, static libraries, the executable, and a package for find_package(penstock).
#
# Every module of PENSTOCK_MODULES goes into the export set of its component; what belongs to both sides goes into `base`,
# which every component needs. Everything here has the install component `cpp`; the Python wheel takes `python` alone.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)

function(penstock_component out target)
  if(target MATCHES "^penstock_emulator")
    set(component emulator)
  elseif(target MATCHES "^penstock_(client_)?torch$")
    set(component torch)
  elseif(target MATCHES "^penstock_client_testing$")
    set(component testing)
  elseif(target MATCHES "^penstock_client")
    set(component client)
  elseif(target STREQUAL "penstock_base")
    set(component base)
  else()
    message(FATAL_ERROR "${target} belongs to no component of the installed package; say which in cmake/PenstockInstall.cmake")
  endif()
  set(${out} ${component} PARENT_SCOPE)
endfunction()

# The names that programs link (penstock::client, ...) beside the modules behind them.
get_property(exported GLOBAL PROPERTY PENSTOCK_MODULES)
foreach(name IN ITEMS client emulator torch)
  if(TARGET penstock_${name})
    list(APPEND exported penstock_${name})
  endif()
endforeach()
list(REMOVE_DUPLICATES exported)

set(components "")
foreach(target IN LISTS exported)
  penstock_component(component ${target})
  list(APPEND components ${component})
  install(TARGETS ${target} EXPORT penstock-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
endforeach()
list(REMOVE_DUPLICATES components)
foreach(component IN LISTS components)
  install(EXPORT penstock-${component} NAMESPACE penstock:: DESTINATION ${package_dir} COMPONENT cpp)
endforeach()

# Headers of what is installed, and no others: a header without its library is a riddle at link time.
install(DIRECTORY base/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp FILES_MATCHING PATTERN "*.h")
set(without "")
if(NOT "torch" IN_LIST components)
  list(APPEND without PATTERN torch.h EXCLUDE)
endif()
if(NOT "testing" IN_LIST components)
  list(APPEND without PATTERN testing EXCLUDE)
endif()
install(DIRECTORY client/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" ${without})
if("emulator" IN_LIST components)
  install(DIRECTORY emulator/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp FILES_MATCHING PATTERN "*.h")
endif()
if(TARGET penstock-emulator)
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
