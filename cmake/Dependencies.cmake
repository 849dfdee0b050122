# SPDX-License-Identifier: MIT
# Finds what redd is built on. Nothing is vendored or downloaded.
#
# The build includes this file, and the installed CMake package does too (a static redd needs the same parts), so it only
# collects what is missing in redd_missing: one sentence a part, with the package that brings it.
#
# Targets: redd::uv, redd::wslay, redd::llhttp, redd::zlib, redd::brotli, redd::zstd, OpenSSL::Crypto, Threads::Threads. They
# are global, so that a project which adds redd's tree can link it.
# redd_llhttp_sources is set when llhttp is to be compiled from the generated sources instead of linked.

set(redd_missing "")

macro(redd_require sentence) # condition...
    if(NOT (${ARGN}))
        list(APPEND redd_missing "${sentence}")
    endif()
endmacro()

find_package(PkgConfig QUIET)
redd_require("pkg-config was not found: install pkg-config." PKG_CONFIG_FOUND)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)
redd_require("POSIX threads were not found: install libc6-dev." Threads_FOUND)

find_package(OpenSSL 3 QUIET)
redd_require("OpenSSL 3 was not found: install libssl-dev." OPENSSL_FOUND)

if(PKG_CONFIG_FOUND)
    pkg_check_modules(redd_uv QUIET IMPORTED_TARGET GLOBAL libuv>=1.44)
    redd_require("libuv 1.44 or later was not found: install libuv1-dev." redd_uv_FOUND)
    pkg_check_modules(redd_llhttp QUIET IMPORTED_TARGET GLOBAL libllhttp)
    pkg_check_modules(redd_zlib QUIET IMPORTED_TARGET GLOBAL zlib)
    redd_require("zlib was not found: install zlib1g-dev." redd_zlib_FOUND)
endif()
if(redd_uv_FOUND AND NOT TARGET redd::uv)
    add_library(redd::uv INTERFACE IMPORTED GLOBAL)
    target_link_libraries(redd::uv INTERFACE PkgConfig::redd_uv)
endif()
if(redd_zlib_FOUND AND NOT TARGET redd::zlib)
    add_library(redd::zlib INTERFACE IMPORTED GLOBAL)
    target_link_libraries(redd::zlib INTERFACE PkgConfig::redd_zlib)
endif()

# The codings br and zstd, each built in or left out by a switch; on where its library is. The installed package sets what
# its libredd was built with, and needs that.
macro(redd_optional_coding coding switch package modules)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(redd_${coding} QUIET IMPORTED_TARGET GLOBAL ${modules})
    endif()
    if(NOT DEFINED ${switch})
        option(${switch} "The coding that needs ${package}" ${redd_${coding}_FOUND})
    endif()
    redd_require("${coding} was not found: install ${package}, or configure with -D${switch}=OFF." redd_${coding}_FOUND OR
        NOT ${switch})
    if(${switch} AND redd_${coding}_FOUND AND NOT TARGET redd::${coding})
        add_library(redd::${coding} INTERFACE IMPORTED GLOBAL)
        target_link_libraries(redd::${coding} INTERFACE PkgConfig::redd_${coding})
    endif()
endmacro()
redd_optional_coding(brotli REDD_BROTLI libbrotli-dev "libbrotlienc;libbrotlidec")
redd_optional_coding(zstd REDD_ZSTD libzstd-dev libzstd)

# Debian's wslay-config.cmake says nothing that header and library do not.
find_library(redd_wslay_library wslay)
find_path(redd_wslay_include wslay/wslay.h)
mark_as_advanced(redd_wslay_library redd_wslay_include)
redd_require("wslay was not found: install libwslay-dev." redd_wslay_library AND redd_wslay_include)
if(redd_wslay_library AND redd_wslay_include AND NOT TARGET redd::wslay)
    add_library(redd::wslay UNKNOWN IMPORTED GLOBAL)
    set_target_properties(redd::wslay PROPERTIES IMPORTED_LOCATION ${redd_wslay_library}
        INTERFACE_INCLUDE_DIRECTORIES ${redd_wslay_include})
endif()

# llhttp: a library where there is one (Debian 13, Ubuntu 24.04), else the generated sources that Debian 12's node-llhttp
# ships.
if(redd_llhttp_FOUND)
    if(NOT TARGET redd::llhttp)
        add_library(redd::llhttp INTERFACE IMPORTED GLOBAL)
        target_link_libraries(redd::llhttp INTERFACE PkgConfig::redd_llhttp)
    endif()
elseif(NOT redd_llhttp_embedded) # the installed package sets it: its llhttp is inside libredd
    find_path(redd_llhttp_sources llhttp.c PATHS /usr/share/llhttp NO_DEFAULT_PATH)
    find_path(redd_llhttp_include llhttp.h PATHS /usr/share/include/llhttp NO_DEFAULT_PATH)
    mark_as_advanced(redd_llhttp_sources redd_llhttp_include)
    redd_require("llhttp was not found: install libllhttp-dev, or node-llhttp where there is no such package."
        redd_llhttp_sources AND redd_llhttp_include)
endif()
