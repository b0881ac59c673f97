# Runs a program and compares what it prints with a file:
#   cmake -DEXPECTED=file -DDIRECTORY=directory -P compare.cmake -- program arguments...
# What it prints on stderr is passed on.
set(command)
set(begun FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(begun)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(begun TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} WORKING_DIRECTORY ${DIRECTORY} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
if(NOT result STREQUAL "0")
  message(FATAL_ERROR "exit status ${result}; printed:\n${printed}")
endif()
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "printed:\n${printed}\nexpected (${EXPECTED}):\n${expected}")
endif()
