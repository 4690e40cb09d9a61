# find_package(penstock REQUIRED COMPONENTS COMPONENT) must fail. The message must name the component, the existing ones, and HINT.
set(folder ${WORK}/asks_for_${COMPONENT})
file(REMOVE_RECURSE ${folder})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCES}/asks_for -B ${folder} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX} -DCOMPONENT=${COMPONENT}
    -DCMAKE_CXX_COMPILER=${COMPILER}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "find_package found the component '${COMPONENT}', which is not installed")
endif()
string(REGEX REPLACE "[ \n]+" " " output "${output}")
foreach(text IN ITEMS "component '${COMPONENT}' is not in this installation of Penstock, which has: client" "${HINT}")
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the message about the component '${COMPONENT}' lacks '${text}':\n${output}")
  endif()
endforeach()
