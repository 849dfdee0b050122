# SPDX-License-Identifier: MIT
# redd_flags: how redd's own sources, tests and fuzz targets are compiled. It is never exported.

include(CheckIPOSupported)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(redd_flags INTERFACE)
target_compile_definitions(redd_flags INTERFACE _GNU_SOURCE)
target_compile_options(redd_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<BOOL:${REDD_WERROR}>:-Werror>)

if(REDD_SANITIZE)
    target_compile_options(redd_flags INTERFACE -fsanitize=${REDD_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(redd_flags INTERFACE -fsanitize=${REDD_SANITIZE})
elseif(REDD_HARDEN)
    # _FORTIFY_SOURCE wants an optimiser, and hides from sanitizers what they look for.
    target_compile_options(redd_flags INTERFACE -fstack-protector-strong
        "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
    target_link_options(redd_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
endif()

if(REDD_COVERAGE)
    target_compile_options(redd_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(redd_flags INTERFACE --coverage)
endif()

if(REDD_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "REDD_FUZZ needs libFuzzer, which comes with clang: configure with -DCMAKE_C_COMPILER=clang.")
    endif()
    target_compile_options(redd_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(redd_lto OFF)
if(REDD_LTO AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT REDD_SANITIZE)
    check_ipo_supported(RESULT redd_lto OUTPUT redd_lto_refusal LANGUAGES C)
    if(NOT redd_lto)
        message(STATUS "Link-time optimisation is not available: ${redd_lto_refusal}")
    endif()
endif()

# A shared object that leaves symbols open shows it at link time, not at load time. clang's sanitizers live in the program
# alone, so there this cannot be asked.
set(redd_closed_link "")
if(NOT (REDD_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
    set(redd_closed_link -Wl,-z,defs)
endif()
