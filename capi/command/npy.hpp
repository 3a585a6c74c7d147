// Reads arrays as numpy.save writes them: versions 1 to 3 of the format; integers, bool, floats and complex
// numbers of 4 to 16 bytes, in either byte order and either order of the elements. Objects are not unpickled.
#pragma once

#include "file_matrix.hpp"
#include "file_text.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace perm {

// One array of a stream, element by element in the stream's order: nothing is allocated for what its header
// claims. Throws FileError.
class NpyArray {
  public:
    NpyArray(std::istream &in, std::string name);

    const std::vector<std::int64_t> &shape() const { return shape_; }
    bool is_by_columns() const { return is_by_columns_; } // Fortran's order
    std::int64_t size() const;                            // number of elements
    Field field() const;                                  // of numbers
    bool is_integer() const { return kind_ == 'i' || kind_ == 'u'; }
    bool is_text() const { return kind_ == 'S' || kind_ == 'U'; }

    // Of the element that was read last.
    std::vector<std::int64_t> index() const;

    FileNumber next();           // of numbers; finite
    std::int64_t next_integer(); // of integers
    std::string next_text();     // ASCII
    void expect_end();

    [[noreturn]] void fail(const std::string &what) const;

  private:
    std::string header_text();
    void take_type(const std::string &type);
    std::string place() const; // of that element
    void take(char *to, std::size_t bytes);
    template <class T> T raw();
    double finite(double number) const;

    std::istream &in_;
    std::string name_;
    char kind_ = 0; // numpy's letter
    std::int64_t bytes_ = 0;
    bool is_swapped_ = false, is_by_columns_ = false;
    std::vector<std::int64_t> shape_;
    std::int64_t done_ = 0;
};

} // namespace perm
