# Compile flags and the functions that every CMakeLists.txt of this project uses:
#   spyre_add_core_library    an MLIR-free library (runtime, planning, index algebra, numbers)
#   spyre_add_mlir_library    a library on MLIR, compiled with the shared precompiled header
#   spyre_add_tool            a program in build/bin
#   spyre_tablegen_dialect    what TableGen makes of a dialect
#   spyre_tablegen_passes     what it makes of Passes.td
# All three are installed, as components Runtime (free of MLIR) and Compiler of find_package(Spyre).
#   spyre_add_unittest        a GoogleTest program in build/unittests, registered with ctest

find_program(SPYRE_CCACHE ccache)
if(SPYRE_CCACHE)
  # Sloppiness that precompiled headers need; the content of a header is still hashed.
  set(_ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SPYRE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_ccache})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(SPYRE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
endif()
if(SPYRE_SANITIZE)
  # The fuzzers see which code an input reaches.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr,function)
endif()
find_program(SPYRE_LLD NAMES ld.lld-22 ld.lld)
if(SPYRE_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(--ld-path=${SPYRE_LLD})
endif()

separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Everything that an MLIR-free target sees.
add_library(spyre_core_flags INTERFACE)
target_include_directories(spyre_core_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What an MLIR target sees in addition. MLIR code is glue: -O1 halves its compile time.
add_library(spyre_mlir_flags INTERFACE)
target_link_libraries(spyre_mlir_flags INTERFACE spyre_core_flags)
target_include_directories(spyre_mlir_flags SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(spyre_mlir_flags INTERFACE ${_llvm_definitions})
target_compile_options(spyre_mlir_flags INTERFACE $<BUILD_INTERFACE:-O1>)

# What it links: the shared libMLIR and libLLVM, or, where the target that is linked has the
# property SPYRE_STATIC_LLVM, the members that it uses of their static libraries. Those name
# the shared libLLVM as what they link, so that their files are given, in one group.
function(spyre_static_llvm out)
  set(seen)
  set(left MLIRLinalgDialect MLIRFuncAllExtensions MLIRFuncTransforms MLIRTransforms MLIRParser MLIRBytecodeWriter LLVMSupport)
  while(left)
    list(POP_FRONT left name)
    if(name IN_LIST seen OR NOT TARGET ${name})
      continue()
    endif()
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND seen ${name})
      get_target_property(links ${name} INTERFACE_LINK_LIBRARIES)
      if(links)
        string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" links "${links}")
        list(APPEND left ${links})
      endif()
    endif()
  endwhile()
  if(NOT "MLIRLinalgDialect" IN_LIST seen OR NOT "LLVMSupport" IN_LIST seen)
    set(seen) # a build of MLIR without them
  endif()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()
spyre_static_llvm(_static)
if(_static)
  list(TRANSFORM _static REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN _static "," _static)
  set(_is_static "$<BOOL:$<TARGET_PROPERTY:SPYRE_STATIC_LLVM>>")
  target_link_libraries(spyre_mlir_flags INTERFACE "$<${_is_static}:-Wl,--start-group,${_static},--end-group>"
    "$<$<NOT:${_is_static}>:MLIR>" "$<$<NOT:${_is_static}>:LLVM>")
else()
  target_link_libraries(spyre_mlir_flags INTERFACE MLIR LLVM)
endif()

# Exports a target as Spyre::NAME, NAME without the prefix.
function(spyre_install name component)
  string(REGEX REPLACE "^Spyre" "" _short ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${_short})
  add_library(Spyre::${_short} ALIAS ${name})
  install(TARGETS ${name} EXPORT Spyre${component}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/spyre COMPONENT ${component})
endfunction()
set_target_properties(spyre_core_flags PROPERTIES EXPORT_NAME CoreFlags)
set_target_properties(spyre_mlir_flags PROPERTIES EXPORT_NAME MLIRFlags)
install(TARGETS spyre_core_flags EXPORT SpyreRuntimeTargets)
install(TARGETS spyre_mlir_flags EXPORT SpyreCompilerTargets)

function(spyre_add_core_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC spyre_core_flags ${ARG_LINK})
  spyre_install(${name} Runtime)
  if(SPYRE_SANITIZE_THREADS)
    # Public: what links the library has to have the runtime of the sanitizer, too.
    target_compile_options(${name} PUBLIC -fsanitize=thread -fno-omit-frame-pointer -g1)
    target_link_options(${name} PUBLIC -fsanitize=thread)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(spyre_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC spyre_mlir_flags ${ARG_LINK})
  spyre_install(${name} Compiler)
  if(SPYRE_SANITIZE_THREADS)
    # Debian's MLIR is not instrumented: what it does between threads would be reported.
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(TARGET spyre_pch)
    target_precompile_headers(${name} REUSE_FROM spyre_pch)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# <PREFIX>Dialect, Attributes, Types, Enums and Ops .h.inc and .cpp.inc of the dialect
# <dialect> from <td>, as far as the words behind it name them, as the target <target>.
# OP_SHARDS cuts the operations' definitions into so many files' worth.
function(spyre_tablegen_dialect target prefix dialect td)
  cmake_parse_arguments(ARG "ATTRIBUTES;TYPES;ENUMS;OPS" "OP_SHARDS;INTERFACES" "" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${prefix}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${prefix}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  if(ARG_ATTRIBUTES)
    mlir_tablegen(${prefix}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
    mlir_tablegen(${prefix}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  endif()
  if(ARG_TYPES)
    mlir_tablegen(${prefix}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
    mlir_tablegen(${prefix}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  endif()
  if(ARG_ENUMS)
    mlir_tablegen(${prefix}Enums.h.inc -gen-enum-decls)
    mlir_tablegen(${prefix}Enums.cpp.inc -gen-enum-defs)
  endif()
  if(ARG_OPS)
    set(_shards)
    if(ARG_OP_SHARDS)
      set(_shards -op-shard-count=${ARG_OP_SHARDS})
    endif()
    mlir_tablegen(${prefix}Ops.h.inc -gen-op-decls ${_shards})
    mlir_tablegen(${prefix}Ops.cpp.inc -gen-op-defs ${_shards})
  endif()
  if(ARG_INTERFACES)
    set(LLVM_TARGET_DEFINITIONS ${ARG_INTERFACES})
    mlir_tablegen(${prefix}Interfaces.h.inc -gen-op-interface-decls)
    mlir_tablegen(${prefix}Interfaces.cpp.inc -gen-op-interface-defs)
  endif()
  add_public_tablegen_target(${target})
endfunction()

# <stem>.h.inc with the passes of <stem>.td as the target <target>; <name> is that of
# their registration.
function(spyre_tablegen_passes target name stem)
  set(LLVM_TARGET_DEFINITIONS ${stem}.td)
  mlir_tablegen(${stem}.h.inc -gen-pass-decls -name ${name})
  add_public_tablegen_target(${target})
endfunction()

function(spyre_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_MLIR AND SPYRE_SANITIZE_THREADS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(ARG_MLIR)
    # Without the precompiled header: it is compiled for libraries (-fPIC, not -fPIE).
    target_link_libraries(${name} PRIVATE spyre_mlir_flags ${ARG_LINK})
  else()
    target_link_libraries(${name} PRIVATE spyre_core_flags ${ARG_LINK})
  endif()
  # An installed program finds the MLIR that it was built with.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Compiler)
endfunction()

function(spyre_add_unittest name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  if(NOT SPYRE_BUILD_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  if(ARG_MLIR)
    target_link_libraries(${name} PRIVATE spyre_mlir_flags ${ARG_LINK} GTest::gtest GTest::gtest_main)
  else()
    target_link_libraries(${name} PRIVATE spyre_core_flags ${ARG_LINK} GTest::gtest GTest::gtest_main)
  endif()
  target_compile_definitions(${name} PRIVATE SPYRE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ARG_MLIR AND SPYRE_SANITIZE_THREADS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    add_test(NAME ${name} COMMAND ${name})
  endif()
endfunction()

# One precompiled header for all MLIR code. It holds upstream headers only: headers of this
# project would rebuild everything on each change.
add_library(spyre_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(spyre_pch PUBLIC spyre_mlir_flags)
target_precompile_headers(spyre_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
if(SPYRE_SANITIZE_THREADS)
  set_target_properties(spyre_pch PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
