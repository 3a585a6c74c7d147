# What lies in the folders that the packages are made of, one for each: compressed, and found by the system's paths.
file(GLOB compressed ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/perm.1
    ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
execute_process(COMMAND gzip -9nf ${compressed} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB programs ${CPACK_TEMPORARY_DIRECTORY}/perm/usr/bin/*)
foreach(program ${programs})
    file(RPATH_REMOVE FILE ${program})
endforeach()
