# Configures, builds and runs SOURCES/PROGRAM with PREFIX (and MORE_PREFIXES, a:b) only. The last line of its output must be EXPECTED.
set(folder ${WORK}/${PROGRAM})
set(ENV{CMAKE_PREFIX_PATH} "${PREFIX}:${MORE_PREFIXES}")
file(REMOVE_RECURSE ${folder})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} -S ${SOURCES}/${PROGRAM} -B ${folder} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
  -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  "-DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS}" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
step(${CMAKE_COMMAND} --build ${folder})
step(${folder}/${PROGRAM})
string(STRIP "${output}" output)
if(NOT output MATCHES "(^|\n)${EXPECTED}$")
  message(FATAL_ERROR "${PROGRAM} should end with '${EXPECTED}'. It wrote:\n${output}")
endif()
