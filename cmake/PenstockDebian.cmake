# `cpack -G DEB --config BUILD/CPackConfig.cmake`: the Debian package penstock-emulator with a systemd unit (0121).
#
# Its files have the install component `debian`, which a plain `cmake --install` leaves out.
# A Debian package must have an address, and the project has none: who publishes a package sets their own.
set(CPACK_PACKAGE_CONTACT "Penstock developers <penstock@example.invalid>" CACHE STRING "Maintainer of the Debian package")
set(packaging ${PROJECT_SOURCE_DIR}/packaging/debian)
set(doc_dir usr/share/doc/penstock-emulator)

# The Debian changelog is compressed without a time, and its date is SOURCE_DATE_EPOCH if that is set.
string(TIMESTAMP PENSTOCK_DEBIAN_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${packaging}/changelog.in debian/changelog @ONLY)
find_program(PENSTOCK_GZIP gzip REQUIRED)
execute_process(COMMAND ${PENSTOCK_GZIP} -9nf ${PROJECT_BINARY_DIR}/debian/changelog COMMAND_ERROR_IS_FATAL ANY)

install(TARGETS penstock-emulator RUNTIME DESTINATION usr/bin COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${packaging}/penstock-emulator.service DESTINATION usr/lib/systemd/system COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${packaging}/penstock-emulator.default DESTINATION etc/default RENAME penstock-emulator
  COMPONENT debian EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION etc/penstock-emulator COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz ${packaging}/copyright DESTINATION ${doc_dir}
  COMPONENT debian EXCLUDE_FROM_ALL)
# The program prints what its man pages and completion scripts have.
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -E env PENSTOCK_BUILD_DIR=${PROJECT_BINARY_DIR} PYTHONDONTWRITEBYTECODE=1
  python3 ${PROJECT_SOURCE_DIR}/tools/install_manuals.py --debian \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/usr COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PENSTOCK_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL debian)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_DEBIAN_PACKAGE_NAME penstock-emulator)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_COMPONENT_DEBIAN_DESCRIPTION "S3 emulator for development and tests
Implements the protocol of Amazon S3 on one machine, with buckets in memory or
in a directory. It verifies signatures, chunks and checksums, injects faults
on request, and records every request.
.
The service listens on the loopback address, port 9000.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${packaging}/postinst ${packaging}/prerm ${packaging}/postrm ${packaging}/conffiles)
include(CPack)
