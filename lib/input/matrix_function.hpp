#pragma once

namespace libperm {

// What is computed of a matrix: the sum over matchings of its rows to its columns; of its lines to each
// other; of these where a line may also stay single, at the price of its loop.
enum class MatrixFunction { permanent, hafnian, loop_hafnian };
inline const char *function_name(MatrixFunction function) {
    return function == MatrixFunction::permanent ? "permanent"
           : function == MatrixFunction::hafnian ? "hafnian"
                                                 : "loop_hafnian";
}
inline const char *in_words(MatrixFunction function) {
    return function == MatrixFunction::loop_hafnian ? "loop hafnian" : function_name(function);
}

} // namespace libperm
