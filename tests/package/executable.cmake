# The installed penstock-emulator runs in its prefix and prints its version.
execute_process(COMMAND ${PREFIX}/bin/penstock-emulator --version RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "penstock-emulator --version ended with ${status}:\n${output}")
endif()
string(FIND "${output}" "${VERSION}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "penstock-emulator --version does not name ${VERSION}:\n${output}")
endif()
