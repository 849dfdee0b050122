# SPDX-License-Identifier: MIT
# Read by ctest (TEST_INCLUDE_FILES). Options that the caller has set come last and so win.
set(ENV{ASAN_OPTIONS} "detect_leaks=1:halt_on_error=1:abort_on_error=0:strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1:$ENV{ASAN_OPTIONS}")
set(ENV{UBSAN_OPTIONS} "halt_on_error=1:print_stacktrace=1:$ENV{UBSAN_OPTIONS}")
set(ENV{TSAN_OPTIONS} "halt_on_error=1:second_deadlock_stack=1:suppressions=${CMAKE_CURRENT_LIST_DIR}/tsan.supp:$ENV{TSAN_OPTIONS}")
