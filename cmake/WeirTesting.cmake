# weir_test_properties(TEST [TIMEOUT seconds] [LABELS label...]) sets what every test of the project has, so
# that no report of a sanitizer passes unseen. Criterion ignores how a worker exits once its test has ended,
# but not a signal: so reports abort. The pattern is the net under that; it also catches a run of no test.
function(weir_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  set_tests_properties(${test} PROPERTIES
    TIMEOUT ${arg_TIMEOUT}
    LABELS "${arg_LABELS}"
    ENVIRONMENT "ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1;TSAN_OPTIONS=halt_on_error=1:abort_on_error=1;UBSAN_OPTIONS=print_stacktrace=1"
    FAIL_REGULAR_EXPRESSION
      "LeakSanitizer|ThreadSanitizer|AddressSanitizer|runtime error:|Tested: 0 [|]")
endfunction()
