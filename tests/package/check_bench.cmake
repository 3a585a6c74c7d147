# cmake -DBENCH=perm_bench -P check_bench.cmake - the benchmark writes valid JSON and measures what it is
# asked to.
execute_process(COMMAND ${BENCH} grid4x4 --engine frontier --engine ryser --runs 2 --threads 2
    OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)

string(JSON version GET "${json}" version)
string(JSON count LENGTH "${json}" measurements)
if(NOT count EQUAL 2)
    message(FATAL_ERROR "2 measurements expected, ${count} found:\n${json}")
endif()
foreach(i 0 1)
    string(JSON text ERROR_VARIABLE none GET "${json}" measurements ${i} text)
    if(NOT text EQUAL 36) # the domino tilings of a 4x4 board
        message(FATAL_ERROR "36 expected, '${text}' found:\n${json}")
    endif()
    string(JSON seconds GET "${json}" measurements ${i} seconds total)
    if(NOT seconds GREATER 0)
        message(FATAL_ERROR "no time was measured:\n${json}")
    endif()
endforeach()
