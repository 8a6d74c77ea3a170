# cmake -DPROGRAM=... -P CheckNoLLVM.cmake: fails if PROGRAM needs LLVM or MLIR, directly or
# through a library that it needs. The emulator is to be embedded without them.
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE closure RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "ldd ${PROGRAM} failed")
endif()
if(NOT closure MATCHES "libc\\.so")
  message(FATAL_ERROR "${PROGRAM} is not linked as expected:\n${closure}")
endif()
if(closure MATCHES "lib(LLVM|MLIR)[^\n]*")
  message(FATAL_ERROR "${PROGRAM} needs ${CMAKE_MATCH_0}")
endif()
