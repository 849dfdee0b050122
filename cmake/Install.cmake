# SPDX-License-Identifier: MIT
# What `cmake --install` puts where. Every path is relative to the prefix, so an installed tree can be moved as a whole.

include(CMakePackageConfigHelpers)

install(TARGETS redd_shared redd_static EXPORT redd-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/redd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/redd/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/redd)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(TARGETS ${redd_modules} LIBRARY DESTINATION ${REDD_INSTALL_MODULEDIR})
if(TARGET redd)
    install(TARGETS redd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/redd)
install(EXPORT redd-targets NAMESPACE redd:: DESTINATION ${package_dir})
install(FILES cmake/Dependencies.cmake DESTINATION ${package_dir} RENAME redd-dependencies.cmake)
configure_package_config_file(cmake/redd-config.cmake.in ${PROJECT_BINARY_DIR}/redd-config.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS REDD_INSTALL_MODULEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/redd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/redd-config.cmake ${PROJECT_BINARY_DIR}/redd-config-version.cmake
    DESTINATION ${package_dir})

# Only a static link needs these; a library that llhttp comes from is linked, its sources are inside libredd.
set(redd_pc_requires "libuv >= 1.44, libcrypto >= 3, zlib")
if(TARGET redd::brotli)
    string(APPEND redd_pc_requires ", libbrotlienc, libbrotlidec")
endif()
if(TARGET redd::zstd)
    string(APPEND redd_pc_requires ", libzstd")
endif()
if(redd_llhttp_FOUND)
    string(APPEND redd_pc_requires ", libllhttp")
endif()
set(redd_pc_libs "-lwslay -pthread")
if(CMAKE_DL_LIBS)
    string(APPEND redd_pc_libs " -l${CMAKE_DL_LIBS}")
endif()
redd_relative_path(redd_pc_to_prefix ${CMAKE_INSTALL_LIBDIR}/pkgconfig "")
configure_file(cmake/redd.pc.in ${PROJECT_BINARY_DIR}/redd.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/redd.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
