# What `cmake --install` puts beside the libraries and tools: headers, and the files that
# find_package(Spyre COMPONENTS Runtime Compiler) reads. The runtime's component needs neither
# MLIR nor LLVM.
include(CMakePackageConfigHelpers)
find_package(hwy CONFIG QUIET)

set(_config ${CMAKE_INSTALL_LIBDIR}/cmake/Spyre)
foreach(component Runtime Compiler)
  install(EXPORT Spyre${component}Targets NAMESPACE Spyre:: DESTINATION ${_config} COMPONENT ${component})
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SpyreConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SpyreConfig.cmake INSTALL_DESTINATION ${_config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SpyreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SpyreConfig.cmake ${PROJECT_BINARY_DIR}/SpyreConfigVersion.cmake
  DESTINATION ${_config} COMPONENT Runtime)

# Headers of what is on MLIR belong to the compiler, as does what TableGen has made.
set(_of_mlir Dialect Conversion Compiler KTIRExecutor/Interpreter.h Loader Target Tools)
list(JOIN _of_mlir "|" _of_mlir)
foreach(tree ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  install(DIRECTORY ${tree}/spyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Runtime
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
    REGEX "/spyre/(${_of_mlir})(/|$)" EXCLUDE REGEX "CMakeFiles" EXCLUDE)
  install(DIRECTORY ${tree}/spyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Compiler
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.td" REGEX "CMakeFiles" EXCLUDE)
endforeach()
