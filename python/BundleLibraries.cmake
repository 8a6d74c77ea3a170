# Puts the shared libraries that `modules` need, and that not every Linux has, into the folder
# `libraries` of a wheel, stripped, and their licences into `licences`. Included by
# the install script, while pip builds a wheel.

# What manylinux promises; neither these nor what they need is looked at.
set(_platform "^(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread|util|resolv|nsl|gcc_s|stdc\\+\\+)\\.so)")
# Those whose licence is in python/licenses.
set(_known "^lib(LLVM|MLIR|openblas|hwy|z)[-.]")

file(GET_RUNTIME_DEPENDENCIES MODULES ${modules}
  RESOLVED_DEPENDENCIES_VAR _found UNRESOLVED_DEPENDENCIES_VAR _missing PRE_EXCLUDE_REGEXES "${_platform}")
if(_missing)
  message(FATAL_ERROR "libraries that the modules need were not found: ${_missing}")
endif()
foreach(_library IN LISTS _found)
  get_filename_component(_name "${_library}" NAME)
  file(REAL_PATH "${_library}" _file)
  file(MAKE_DIRECTORY "${libraries}")
  file(COPY_FILE "${_file}" "${libraries}/${_name}")
  if(strip)
    execute_process(COMMAND "${strip}" --strip-unneeded "${libraries}/${_name}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  # With a search path of its own it would not see that of the module.
  file(RPATH_REMOVE FILE "${libraries}/${_name}")
  message(STATUS "Bundled: ${_library}")
  if(_name MATCHES "${_known}")
    continue()
  endif()
  # Debian has the licence of every package; it may know the file in /lib or in /usr/lib.
  get_filename_component(_basename "${_file}" NAME)
  execute_process(COMMAND dpkg-query -S "*/${_basename}" OUTPUT_VARIABLE _package ERROR_QUIET)
  string(REGEX REPLACE "[:,].*" "" _package "${_package}")
  if(NOT _package OR NOT EXISTS "/usr/share/doc/${_package}/copyright")
    message(WARNING "the licence of ${_library}, which is now in the wheel, was not found")
    continue()
  endif()
  file(MAKE_DIRECTORY "${licences}")
  file(READ "/usr/share/doc/${_package}/copyright" _text)
  file(WRITE "${licences}/${_name}.txt" "${_text}")
endforeach()
