# cmake -DPROGRAM=path -DREPORT=text -P expect_report.cmake: PROGRAM must fail and its output must hold REPORT.
# WILL_FAIL is not enough: a program that cannot start satisfies it too.
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with 0: the sanitizer saw nothing wrong with its planted fault.\n${output}")
endif()
string(FIND "${output}" "${REPORT}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}, but without the report '${REPORT}'. It wrote:\n${output}")
endif()
