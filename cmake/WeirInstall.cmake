# Installation: the libraries and headers, a CMake package (find_package(weir)) and weir.pc. Both packages can be
# moved to another prefix.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weir)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Two sets of targets: users of the shared library need none of what only static linking needs.
install(TARGETS weir_static EXPORT weirStaticTargets FILE_SET HEADERS)
install(EXPORT weirStaticTargets NAMESPACE weir:: DESTINATION ${package_dir})
if(WEIR_SHARED)
  install(TARGETS weir EXPORT weirSharedTargets FILE_SET HEADERS)
  install(EXPORT weirSharedTargets NAMESPACE weir:: DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/weirConfig.cmake.in weirConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/weirConfig.cmake
  ${PROJECT_BINARY_DIR}/weirConfigVersion.cmake
  cmake/FindLibCSV.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc /root/${pkgconfig_dir} /root)
configure_file(cmake/weir.pc.in weir.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weir.pc DESTINATION ${pkgconfig_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_VENDOR "the weir authors")
  set(CPACK_PACKAGE_CONTACT "the weir authors")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  include(CPack)
endif()
