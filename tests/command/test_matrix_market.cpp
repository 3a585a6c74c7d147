// Matrix Market files: every form that is good, and every one that is refused, with the line it names.
#include <doctest/doctest.h>

#include "matrix_file.hpp"

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Dense = std::vector<std::vector<double>>;

using Complex = std::complex<double>;
using perm::Reading;

perm::FileMatrix read(const std::string &text, Reading reading = Reading::nearest_doubles) {
    std::istringstream in(text);
    return perm::read_matrix_market(in, "m.mtx", reading);
}

// Of a matrix with these values. Also checks what every Csr must hold.
template <class Value>
std::vector<std::vector<Value>> to_dense(const perm::Csr &a, const std::vector<Value> &values) {
    REQUIRE(a.row_ptr.size() == static_cast<std::size_t>(a.n_rows) + 1);
    REQUIRE(a.row_ptr.front() == 0);
    REQUIRE(a.row_ptr.back() == static_cast<std::int64_t>(a.col_idx.size()));
    REQUIRE(values.size() == a.col_idx.size());
    std::vector<std::vector<Value>> dense(static_cast<std::size_t>(a.n_rows),
                                          std::vector<Value>(static_cast<std::size_t>(a.n_cols)));
    for (std::size_t i = 0; i < dense.size(); ++i) {
        const auto begin = static_cast<std::size_t>(a.row_ptr[i]),
                   end = static_cast<std::size_t>(a.row_ptr[i + 1]);
        for (std::size_t k = begin; k < end; ++k) {
            if (k > begin) REQUIRE(a.col_idx[k - 1] < a.col_idx[k]);
            dense[i][static_cast<std::size_t>(a.col_idx[k])] = values[k];
        }
    }
    return dense;
}

Dense to_dense(const perm::Csr &a) {
    REQUIRE(a.complex_values.empty());
    if (!a.pattern) return to_dense(a, a.values);
    REQUIRE(a.values.empty());
    return to_dense(a, std::vector<double>(a.col_idx.size(), 1.0));
}

using ComplexDense = std::vector<std::vector<Complex>>;

ComplexDense read_complex(const std::string &text) {
    const perm::FileMatrix a = read(text);
    REQUIRE(a.values.empty());
    REQUIRE(a.texts.empty());
    CHECK(perm::FileView(a).csr().value_type == PERM_VALUE_C128);
    return to_dense(a, a.complex_values);
}

using Texts = std::vector<std::vector<std::string>>; // "" where there is no entry

Texts read_texts(const std::string &text, Reading reading) {
    const perm::FileMatrix a = read(text, reading);
    REQUIRE(a.values.empty());
    REQUIRE(a.complex_values.empty());
    const perm::FileView view(a);
    REQUIRE(view.csr().value_type == PERM_VALUE_TEXT);
    const auto *given = static_cast<const char *const *>(view.csr().values);
    return to_dense(a, std::vector<std::string>(given, given + view.csr().nnz));
}

Texts read_decimals(const std::string &text) { return read_texts(text, Reading::as_written); }
Texts read_integers(const std::string &text) { return read_texts(text, Reading::nearest_doubles); }

Dense read_dense(const std::string &text) { return to_dense(read(text)); }

// "m.mtx:LINE: ..." with every one of the words.
void check_refused(const std::string &text, int line, const std::vector<std::string> &words,
                   Reading reading = Reading::nearest_doubles) {
    CAPTURE(text.substr(0, 300));
    std::string message = "(none)";
    try {
        read(text, reading);
    } catch (const perm::FileError &error) {
        message = error.what();
    }
    CAPTURE(message);
    CHECK(message.rfind("m.mtx:" + std::to_string(line) + ": ", 0) == 0);
    for (const std::string &word : words) {
        CAPTURE(word);
        CHECK(message.find(word) != std::string::npos);
    }
}

const std::string coordinate = "%%MatrixMarket matrix coordinate ";
const std::string array = "%%MatrixMarket matrix array ";
const std::string real = coordinate + "real general\n";
const std::string complex = "complex general\n";

} // namespace

TEST_CASE("coordinate files") {
    SUBCASE("real general, not square, in any order, explicit zeros kept") {
        const perm::Csr a = read(real + "2 3 4\n2 3 -1.5e2\n1 3 +.5\n1 1 1.\n2 1 0\n");
        CHECK(to_dense(a) == Dense{{1, 0, 0.5}, {0, 0, -150}});
        CHECK(a.col_idx.size() == 4);
        CHECK_FALSE(a.pattern);
    }
    SUBCASE("integer") {
        CHECK(read_dense(coordinate + "integer general\n2 2 2\n1 2 -7\n2 1 +9007199254740992\n") ==
              Dense{{0, -7}, {9007199254740992.0, 0}});
    }
    SUBCASE("integer without signs") {
        CHECK(read_dense(array + "unsigned-integer general\n1 2\n4294967295\n0\n") == Dense{{4294967295, 0}});
        CHECK(read_integers(coordinate + "unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n") ==
              Texts{{"18446744073709551615"}});
    }
    SUBCASE("pattern") {
        const perm::Csr a = read(coordinate + "pattern general\n2 2 3\n2 2\n1 2\n1 1\n");
        CHECK(a.pattern);
        CHECK(to_dense(a) == Dense{{1, 1}, {0, 1}});
    }
    SUBCASE("symmetric, the lower triangle") {
        CHECK(read_dense(coordinate + "real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n") ==
              Dense{{1, 2, 0}, {2, 0, 3}, {0, 3, 0}});
    }
    SUBCASE("symmetric, entries above the diagonal are taken too") {
        CHECK(read_dense(coordinate + "real symmetric\n2 2 1\n1 2 5\n") == Dense{{0, 5}, {5, 0}});
    }
    SUBCASE("symmetric pattern") {
        CHECK(read_dense(coordinate + "pattern symmetric\n2 2 2\n2 1\n2 2\n") == Dense{{0, 1}, {1, 1}});
    }
    SUBCASE("skew-symmetric") {
        CHECK(read_dense(coordinate + "integer skew-symmetric\n2 2 1\n2 1 3\n") == Dense{{0, -3}, {3, 0}});
    }
    SUBCASE("real Hermitian is symmetric") {
        CHECK(read_dense(coordinate + "real hermitian\n2 2 1\n2 1 3\n") == Dense{{0, 3}, {3, 0}});
    }
    SUBCASE("no entries, no rows") {
        CHECK(read_dense(real + "2 2 0\n") == Dense{{0, 0}, {0, 0}});
        CHECK(read_dense(real + "0 0 0\n").empty());
        CHECK(read_dense(coordinate + "pattern symmetric\n0 0 0").empty());
    }
}

TEST_CASE("array files") {
    SUBCASE("general, column by column, zeros left out") {
        const perm::Csr a = read(array + "real general\n2 3\n1\n2\n0\n4\n-0.0\n6\n");
        CHECK(to_dense(a) == Dense{{1, 0, 0}, {2, 4, 6}});
        CHECK(a.col_idx.size() == 4);
    }
    SUBCASE("symmetric, the lower triangle with its diagonal") {
        CHECK(read_dense(array + "integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n") ==
              Dense{{1, 2, 3}, {2, 4, 5}, {3, 5, 6}});
    }
    SUBCASE("skew-symmetric, strictly below the diagonal") {
        CHECK(read_dense(array + "real skew-symmetric\n3 3\n1\n2\n3\n") ==
              Dense{{0, -1, -2}, {1, 0, -3}, {2, 3, 0}});
    }
    SUBCASE("no rows") {
        CHECK(read_dense(array + "real general\n0 0\n").empty());
        CHECK(read_dense(array + "real skew-symmetric\n1 1\n") == Dense{{0}});
    }
}

TEST_CASE("complex files") {
    const Complex a{1, 2}, b{-3, 0.5}, c{0, -1}, o;
    SUBCASE("general") {
        CHECK(read_complex(coordinate + complex + "2 3 3\n2 3 1 2\n1 1 -3.0 .5\n2 1 0 -1\n") ==
              ComplexDense{{b, o, o}, {c, o, a}});
        CHECK(read_complex(array + complex + "2 2\n1 2\n0 0\n-3 .5\n0 -1\n") == ComplexDense{{a, b}, {o, c}});
    }
    SUBCASE("symmetric: not conjugated") {
        for (const std::string &text :
             {coordinate + "complex symmetric\n2 2 3\n1 1 1 2\n2 1 -3 .5\n2 2 0 -1\n",
              array + "complex symmetric\n2 2\n1 2\n-3 .5\n0 -1\n"})
            CHECK(read_complex(text) == ComplexDense{{a, b}, {b, c}});
    }
    SUBCASE("skew-symmetric: negated, not conjugated") {
        for (const std::string &text : {coordinate + "complex skew-symmetric\n2 2 1\n2 1 1 2\n",
                                        array + "complex skew-symmetric\n2 2\n1 2\n"})
            CHECK(read_complex(text) == ComplexDense{{o, -a}, {a, o}});
    }
    SUBCASE("Hermitian: conjugated") {
        for (const std::string &text :
             {coordinate + "complex hermitian\n2 2 3\n1 1 7 0\n2 1 1 2\n2 2 -1 -0.0\n",
              coordinate + "complex hermitian\n2 2 3\n1 1 7 0\n1 2 1 -2\n2 2 -1 0\n",
              array + "complex hermitian\n2 2\n7 0\n1 2\n-1 0e5\n"})
            CHECK(read_complex(text) == ComplexDense{{{7, 0}, std::conj(a)}, {a, {-1, 0}}});
    }
    SUBCASE("zeros") {
        const perm::FileMatrix m =
            read(coordinate + complex + "2 2 4\n1 1 0 -0\n1 2 0 1\n2 1 1 0\n2 2 0 0\n");
        CHECK(m.col_idx.size() == 4);
        const perm::FileMatrix fewer = perm::without_zeros(m);
        CHECK(to_dense(fewer, fewer.complex_values) == ComplexDense{{o, {0, 1}}, {1, o}});
        CHECK(fewer.col_idx.size() == 2);
    }
    SUBCASE("none at all") {
        for (const char *size : {"0 0 0\n", "2 2 0\n"})
            for (const Reading reading : {Reading::nearest_doubles, Reading::as_written})
                CHECK(perm::FileView(read(coordinate + complex + size, reading)).csr().nnz == 0);
    }
}

TEST_CASE("integers are integers, of any length") {
    const std::string integer = coordinate + "integer general\n";
    SUBCASE("within 2^53") {
        for (const Reading reading : {Reading::nearest_doubles, Reading::as_written}) {
            const perm::FileMatrix a =
                read(integer + "2 2 2\n1 2 -9007199254740992\n2 1 9007199254740992\n", reading);
            const perm::FileView view(a);
            REQUIRE(view.csr().value_type == PERM_VALUE_I64);
            const auto *values = static_cast<const std::int64_t *>(view.csr().values);
            CHECK(values[0] == -9007199254740992);
            CHECK(values[1] == 9007199254740992);
            CHECK(to_dense(a) == Dense{{0, -9007199254740992.0}, {9007199254740992.0, 0}});
        }
    }
    SUBCASE("beyond, all are texts") {
        for (const char *big : {"9007199254740993", "-9007199254740993", "9223372036854775808",
                                "+123456789012345678901234567890"})
            CHECK(read_integers(integer + "2 2 4\n1 1 -7\n1 2 " + big + "\n2 1 0\n2 2 9007199254740992\n") ==
                  Texts{{"-7", big}, {"0", "9007199254740992"}});
        const std::string many(100000, '9');
        CHECK(read_integers(integer + "1 1 1\n1 1 " + many + "\n") == Texts{{many}});
    }
    SUBCASE("mirrored") {
        const std::string big = "123456789012345678901234567890";
        const std::string skew = coordinate + "integer skew-symmetric\n2 2 1\n2 1 ";
        CHECK(read_integers(skew + big + "\n") == Texts{{"", "-" + big}, {big, ""}});
        CHECK(read_integers(skew + "-" + big + "\n") == Texts{{"", big}, {"-" + big, ""}});
        CHECK(read_integers(skew + "+" + big + "\n") == Texts{{"", "-" + big}, {"+" + big, ""}});
        CHECK(read_integers(coordinate + "integer symmetric\n2 2 1\n2 1 " + big + "\n") ==
              Texts{{"", big}, {big, ""}});
    }
}

TEST_CASE("decimals as they are written") {
    CHECK(read_decimals(array + "real general\n1 6\n0.1\n+1.25E+2\n-.5\n5.\n1e-400\n-1e100000\n") ==
          Texts{{"0.1", "+1.25E+2", "-.5", "5.", "1e-400", "-1e100000"}});
    CHECK(read_decimals(coordinate + complex + "1 2 2\n1 1 0.1 \t -1e400\n1 2 1 +2\n") ==
          Texts{{"0.1 -1e400", "1 +2"}});
    CHECK(read_decimals(coordinate + "real skew-symmetric\n2 2 1\n2 1 1e-400\n") ==
          Texts{{"", "-1e-400"}, {"1e-400", ""}});
    CHECK(read_decimals(array + "complex skew-symmetric\n2 2\n.1 -2\n") ==
          Texts{{"", "-.1 2"}, {".1 -2", ""}});
    CHECK(read_decimals(array + "complex symmetric\n2 2\n1 2\n.1 -2\n0 0.0\n") ==
          Texts{{"1 2", ".1 -2"}, {".1 -2", ""}});
    CHECK(read_decimals(array + "complex hermitian\n2 2\n1 0.0\n.1 -2e400\n3 0\n") ==
          Texts{{"1 0.0", ".1 2e400"}, {".1 -2e400", "3 0"}});
    CHECK(read_decimals(array + "complex hermitian\n2 2\n1 0\n.1 +2\n3 0e7\n") ==
          Texts{{"1 0", ".1 -2"}, {".1 +2", "3 0e7"}});

    const perm::FileMatrix a = perm::without_zeros(
        read(real + "1 5 5\n1 1 0\n1 2 -0.00e9\n1 3 1e-999\n1 4 +.0\n1 5 10\n", Reading::as_written));
    CHECK(a.texts == std::vector<std::string>{"1e-999", "10"});
    CHECK(a.col_idx == std::vector<std::int64_t>{2, 4});
    CHECK(a.row_ptr == std::vector<std::int64_t>{0, 2});

    const perm::FileMatrix pattern = read(coordinate + "pattern general\n1 1 1\n1 1\n", Reading::as_written);
    CHECK(perm::FileView(pattern).csr().value_type == PERM_VALUE_PATTERN);
    CHECK(perm::FileView(pattern).csr().values == nullptr);
}

TEST_CASE("freedom of form") {
    const Dense expected{{1, 0}, {0, 2.5}};
    SUBCASE("case of the banner") {
        CHECK(read_dense("%%matrixmarket MATRIX Coordinate REAL General\n2 2 2\n1 1 1\n2 2 2.5\n") ==
              expected);
    }
    SUBCASE("comments before the size line") {
        CHECK(read_dense(real + "% one\n%\n   % two\n%%three\n2 2 2\n1 1 1\n2 2 2.5\n") == expected);
    }
    SUBCASE("blank lines") {
        CHECK(read_dense(real + "\n  \n2 2 2\n\n1 1 1\n\t\n2 2 2.5\n\n\n") == expected);
    }
    SUBCASE("blanks around words") {
        CHECK(read_dense(real + "  2\t2  2 \n 1 1\t1\n\t2 2    2.5  \n") == expected);
    }
    SUBCASE("line ends of other systems, and none at the end") {
        CHECK(read_dense(
                  "%%MatrixMarket matrix coordinate real general\r\n%c\r\n\r\n2 2 2\r\n1 1 1\r\n2 2 2.5") ==
              expected);
    }
    SUBCASE("a banner with one %, and a byte order mark before it") {
        CHECK(read_dense("\xef\xbb\xbf" + real + "2 2 2\n1 1 1\n2 2 2.5\n") == expected);
        CHECK(read_dense("%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2.5\n") ==
              expected);
    }
    SUBCASE("exponents of Fortran") {
        CHECK(read_dense(array + "real general\n1 4\n1D3\n-.25d+1\n5.D-1\n0d0\n") ==
              Dense{{1000, -2.5, 0.5, 0}});
        CHECK(read_complex(array + "complex general\n1 1\n1d0 -2D0\n") == ComplexDense{{{1, -2}}});
        CHECK(read_decimals(array + "real general\n1 1\n1.5D-400\n") == Texts{{"1.5e-400"}});
    }
    SUBCASE("numbers") {
        CHECK(
            read_dense(array + "real general\n1 9\n1e3\n+1.25E+2\n-.5\n5.\n0.1\n1e-320\n0e-999\n+0\n1E0\n") ==
            Dense{{1000, 125, -0.5, 5, 0.1, 1e-320, 0, 0, 1}});
    }
}

TEST_CASE("bad banner") {
    check_refused("", 1, {"banner"});
    check_refused("\n\n", 2, {"banner"});
    check_refused("2 2 1\n1 1 1\n", 1,
                  {"banner", "missing", "--format", ".csv", ".tsv", ".npy", ".npz", ".edges", ".dimacs"});
    check_refused("% MatrixMarket matrix coordinate real general\n", 1, {"banner", "missing"});
    check_refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, {"banner", "4 words"});
    check_refused("%%MatrixMarket matrix coordinate real general now\n1 1 0\n", 1, {"banner", "6 words"});
    check_refused("%%MatrixMarket vector coordinate real general\n1 1 0\n", 1, {"object", "'vector'"});
    check_refused("%%MatrixMarket matrix elemental real general\n1 1 0\n", 1,
                  {"format", "'elemental'", "array"});
    check_refused(coordinate + "quaternion general\n1 1 0\n", 1, {"field", "'quaternion'", "pattern"});
    check_refused(coordinate + "real diagonal\n1 1 0\n", 1, {"symmetry", "'diagonal'", "skew-symmetric"});
    check_refused(array + "pattern general\n1 1\n", 1, {"array", "pattern"});
    check_refused(coordinate + "pattern skew-symmetric\n1 1 0\n", 1, {"pattern", "skew-symmetric"});
}

TEST_CASE("bad size line") {
    check_refused(real, 1, {"ends", "size line"});
    check_refused(real + "% only a comment\n", 2, {"ends", "size line"});
    check_refused(real + "2 2\n", 2, {"size line", "rows columns entries"});
    check_refused(real + "2 2 2 2\n", 2, {"size line", "4 words"});
    check_refused(array + "real general\n2 2 4\n", 2, {"size line", "rows columns"});
    check_refused(real + "%\n2 two 2\n", 3, {"columns", "'two'"});
    check_refused(real + "2.0 2 2\n", 2, {"rows", "'2.0'"});
    check_refused(real + "-2 2 2\n", 2, {"rows", "'-2'"});
    check_refused(real + "2 2 -1\n", 2, {"entries", "'-1'"});
    check_refused(coordinate + "real symmetric\n2 3 1\n1 1 1\n", 2, {"2 x 3", "not square"});
    check_refused(array + "real skew-symmetric\n3 2\n1\n", 2, {"3 x 2", "not square"});
}

TEST_CASE("size lines that lie") {
    SUBCASE("more entries than places") {
        check_refused(real + "2 2 5\n", 2, {"5 entries", "at most 4"});
        check_refused(coordinate + "real symmetric\n2 2 4\n", 2, {"4 entries", "at most 3"});
        check_refused(coordinate + "real skew-symmetric\n2 2 4\n", 2, {"4 entries", "at most 3"});
    }
    SUBCASE("absurd sizes cost no memory") {
        check_refused(real + "100000000 100000000 1000000000000000\n1 1 1\n", 3, {"truncated", "after 1 "});
        check_refused(array + "real general\n2000000000 2000000000\n1\n", 3, {"truncated", "after 1 "});
        check_refused(real + "2147483647 2147483647 1\n1 1 1\n", 2, {"2147483647", "empty"});
    }
    SUBCASE("beyond what is read at all") {
        check_refused(real + "2147483648 1 0\n", 2, {"'2147483648'", "rows", "2147483647"});
        check_refused(real + "1 99999999999999999999 0\n", 2, {"'99999999999999999999'", "columns"});
        check_refused(real + "1 1 99999999999999999999\n", 2, {"'99999999999999999999'", "entries"});
    }
    SUBCASE("fewer entries in the file") {
        check_refused(real + "2 2 2\n", 2, {"truncated", "after 0 ", "expected 2"});
        check_refused(real + "2 2 2\n1 1 1\n\n", 4, {"truncated", "after 1 ", "expected 2"});
        check_refused(array + "real general\n2 2\n1\n2\n3\n", 5, {"truncated", "after 3 ", "expected 4"});
        check_refused(array + "real symmetric\n2 2\n1\n2\n", 4, {"truncated", "expected 3"});
    }
    SUBCASE("more entries in the file") {
        check_refused(real + "2 2 1\n1 1 1\n\n2 2 1\n", 5, {"extra data"});
        check_refused(array + "real general\n1 1\n1\n2\n", 4, {"extra data"});
        check_refused(array + "real skew-symmetric\n2 2\n1\n2\n", 4, {"extra data"});
        check_refused(real + "0 0 0\nx\n", 3, {"extra data"});
    }
}

TEST_CASE("bad entries") {
    SUBCASE("indices") {
        check_refused(real + "2 2 2\n1 1 1\n0 1 1\n", 4, {"row", "'0'", "1 to 2"});
        check_refused(real + "2 2 1\n3 1 1\n", 3, {"row", "'3'"});
        check_refused(real + "2 2 1\n1 3 1\n", 3, {"column", "'3'"});
        check_refused(real + "2 2 1\n1 -1 1\n", 3, {"column", "'-1'"});
        check_refused(real + "2 2 1\n1 99999999999999999999 1\n", 3, {"column", "out of range"});
        check_refused(real + "2 2 1\n1.5 1 1\n", 3, {"row", "'1.5'"});
    }
    SUBCASE("words") {
        check_refused(real + "2 2 1\n1 1\n", 3, {"2 words", "row column value"});
        check_refused(real + "2 2 1\n1 1 1 junk\n", 3, {"4 words"});
        check_refused(coordinate + "pattern general\n2 2 1\n1 1 1\n", 3, {"3 words", "'row column'"});
        check_refused(array + "real general\n1 2\n1 2\n", 3, {"2 words", "one number a line"});
    }
    SUBCASE("numbers") {
        for (const char *bad : {"one", "1.0x", "1,5", "1d", "d3", "1d3d", "1e3d", "0x10", "--1", "+-1", "++1",
                                "+", "-", "1e", "."})
            check_refused(real + "1 1 1\n1 1 " + bad + "\n", 3, {"bad number", std::string("'") + bad + "'"});
        for (const char *bad : {"nan", "NaN", "inf", "-inf", "+Infinity"})
            check_refused(real + "1 1 1\n1 1 " + bad + "\n", 3, {"not finite", std::string("'") + bad + "'"});
        for (const char *bad : {"1e400", "-1e309", "1e-400"})
            check_refused(real + "1 1 1\n1 1 " + bad + "\n", 3,
                          {"out of range", std::string("'") + bad + "'"});
        check_refused(array + "real general\n1 2\n1\nx\n", 4, {"bad number", "'x'"});
    }
    SUBCASE("integers") {
        for (const char *bad : {"1.0", "1e3", "x"})
            check_refused(coordinate + "integer general\n1 1 1\n1 1 " + bad + "\n", 3,
                          {"bad number", "integer"});
        for (const char *bad :
             {"99999999999999999999.", "9999999999999999999e9", "-+9", "99999999999999999x"})
            for (const Reading reading : {Reading::nearest_doubles, Reading::as_written})
                check_refused(coordinate + "integer general\n1 1 1\n1 1 " + bad + "\n", 3,
                              {"bad number", "expected an integer", bad}, reading);
    }
    SUBCASE("complex numbers") {
        check_refused(coordinate + complex + "1 1 1\n1 1 1\n", 3, {"3 words", "'row column re im'"});
        check_refused(coordinate + complex + "1 1 1\n1 1 1 2 3\n", 3, {"5 words", "'row column re im'"});
        check_refused(array + complex + "1 1\n1\n", 3, {"1 words", "'re im'"});
        check_refused(array + complex + "1 1\n1 2 3\n", 3, {"3 words", "'re im'"});
        for (const Reading reading : {Reading::nearest_doubles, Reading::as_written}) {
            for (const char *bad : {"i", "1i", "2+3i", "(1,2)", "1,", "--1", "1e"})
                for (const std::string &value : {std::string(bad) + " 1", std::string("1 ") + bad})
                    check_refused(array + complex + "1 2\n0 0\n" + value + "\n", 4,
                                  {"bad number", std::string("'") + bad + "'"}, reading);
            check_refused(array + complex + "1 1\n1 nan\n", 3, {"not finite", "'nan'"}, reading);
            check_refused(array + complex + "1 1\n-inf 1\n", 3, {"not finite", "'-inf'"}, reading);
        }
        check_refused(array + complex + "1 1\n1 1e400\n", 3, {"out of range", "'1e400'", "--decimal"});
    }
    SUBCASE("diagonal of a Hermitian matrix") {
        for (const Reading reading : {Reading::nearest_doubles, Reading::as_written}) {
            check_refused(coordinate + "complex hermitian\n2 2 1\n2 2 1 -3e-300\n", 3,
                          {"(2, 2)", "'-3e-300'", "expected 0", "Hermitian"}, reading);
            check_refused(array + "complex hermitian\n2 2\n1 0\n1 1\n2 1\n", 5, {"(2, 2)", "'1'"}, reading);
        }
        check_refused(coordinate + "complex skew-symmetric\n2 2 1\n2 2 0 1\n", 3, {"(2, 2)", "diagonal"});
        check_refused(coordinate + "complex hermitian\n2 3 1\n1 1 1 0\n", 2, {"2 x 3", "not square"});
        check_refused(coordinate + "complex hermitian\n2 2 2\n1 2 1 1\n2 1 1 -1\n", 4, {"duplicate"});
        check_refused(array + "complex hermitian\n2 2\n1 0\n1 1\n", 4, {"truncated", "expected 3"});
    }
    SUBCASE("decimals") {
        for (const char *bad : {"one", "0x10", "1/3", "1e", "+-1", ".", "1_000", "1e+"})
            check_refused(real + "1 1 1\n1 1 " + bad + "\n", 3, {"bad number", std::string("'") + bad + "'"},
                          Reading::as_written);
        for (const char *bad : {"1e100001", "0e-100001", "1e-2147483648", "1E+99999999999999999999"})
            check_refused(real + "1 1 1\n1 1 " + bad + "\n", 3,
                          {"out of range", std::string("'") + bad + "'", "exponent from -100000 to 100000"},
                          Reading::as_written);
    }
    SUBCASE("duplicates") {
        check_refused(real + "2 2 3\n1 2 1\n2 2 1\n1 2 3\n", 5,
                      {"duplicate", "(1, 2)", "line 3", "--duplicates sum"});
        check_refused(coordinate + "real symmetric\n3 3 2\n3 1 1\n1 3 1\n", 4,
                      {"duplicate", "line 3", "mirrored"});
        check_refused(coordinate + "integer skew-symmetric\n3 3 2\n3 1 1\n1 3 -1\n", 4,
                      {"duplicate", "line 3"});
        // Of several, the one that comes first in the file.
        check_refused(real + "2 2 4\n2 2 1\n1 1 1\n2 2 1\n1 1 3\n", 5, {"duplicate", "(2, 2)", "line 3"});
    }
    SUBCASE("diagonal of a skew-symmetric matrix") {
        check_refused(coordinate + "real skew-symmetric\n2 2 1\n2 2 1\n", 3, {"(2, 2)", "diagonal"});
        CHECK(read_dense(coordinate + "real skew-symmetric\n2 2 3\n1 1 0\n2 1 3\n2 2 -0.0\n") ==
              Dense{{0, -3}, {3, 0}});
    }
    SUBCASE("a comment among the entries") {
        check_refused(real + "2 2 1\n% here\n1 1 1\n", 3, {"bad entry"});
    }
    SUBCASE("a line without an end, and bytes that are no text") {
        check_refused(real + "1 1 1\n1 1 " + std::string(3 << 20, '1') + "\n", 3, {"longer"});
        check_refused(real + "1 1 1\n1 1 \x1b[31m\n", 3, {"bad number", "'?[31m'"});
        check_refused(real + "1 1 1\n1 1 " + std::string(1, '\0') + "\n", 3, {"bad number", "'?'"});
    }
}

TEST_CASE("entries given more than once") {
    const auto read_with = [](const std::string &text, perm::Duplicates duplicates,
                              Reading reading = Reading::nearest_doubles) {
        perm::ReadOptions options(reading);
        options.duplicates = duplicates;
        std::istringstream in(text);
        return perm::read_matrix_market(in, "m.mtx", options);
    };
    const auto summed = [&](const std::string &text) {
        return to_dense(read_with(text, perm::Duplicates::sum));
    };
    CHECK(summed(real + "2 2 4\n1 2 1\n2 2 1\n1 2 3.5\n1 1 4\n") == Dense{{4, 4.5}, {0, 1}});
    CHECK(summed(coordinate + "real symmetric\n2 2 3\n2 1 1\n1 2 2\n1 1 4\n") == Dense{{4, 3}, {3, 0}});
    // The nearest double: added in their order, these would come to 0.
    CHECK(summed(real + "1 1 4\n1 1 1e300\n1 1 1e-300\n1 1 -1e300\n1 1 1e-300\n") == Dense{{2e-300}});
    CHECK(summed(real + "1 1 3\n1 1 1\n1 1 1.1102230246251565e-16\n1 1 1e-40\n") == Dense{{1 + 0x1p-52}});
    const perm::FileMatrix ones =
        read_with(coordinate + "pattern general\n1 1 3\n1 1\n1 1\n1 1\n", perm::Duplicates::sum);
    CHECK(ones.integers);
    CHECK(to_dense(ones) == Dense{{3}});
    const auto texts = [&](const std::string &text, Reading reading) {
        return read_with(text, perm::Duplicates::sum, reading).texts;
    };
    CHECK(texts(coordinate + "integer general\n1 1 2\n1 1 9007199254740992\n1 1 1\n",
                Reading::nearest_doubles) == std::vector<std::string>{"9007199254740993"});
    CHECK(texts(coordinate + "integer general\n1 1 2\n1 1 100000000000000000000\n1 1 -1\n",
                Reading::nearest_doubles) == std::vector<std::string>{"99999999999999999999"});
    CHECK(texts(real + "1 1 2\n1 1 0.1\n1 1 .2\n", Reading::as_written) == std::vector<std::string>{"3/10"});
    const perm::FileMatrix complex_sum =
        read_with(coordinate + complex + "1 1 3\n1 1 1 2\n1 1 1e-30 -5\n1 1 -1 0\n", perm::Duplicates::sum);
    CHECK(complex_sum.complex_values == std::vector<Complex>{{1e-30, -3}});

    CHECK(to_dense(read_with(real + "1 2 3\n1 2 7\n1 1 1\n1 2 7.0\n", perm::Duplicates::once)) ==
          Dense{{1, 7}});
    std::string message;
    try {
        read_with(real + "1 2 3\n1 2 7\n1 2 7\n1 2 8\n", perm::Duplicates::once);
    } catch (const perm::FileError &error) {
        message = error.what();
    }
    CHECK(message.find("m.mtx:5: duplicate entry (1, 2): line 4") == 0);
}

TEST_CASE("a damaged file is read or refused, nothing else") {
    std::string good;
    SUBCASE("real") { good = coordinate + "real symmetric\n% c\n3 3 3\n1 1 1.5\n3 1 -2e3\n3 2 +4\n"; }
    SUBCASE("complex") {
        good = coordinate + "complex hermitian\n% c\n3 3 3\n1 1 1.5 0\n3 1 -2e3 1\n3 2 +4 .5\n";
    }
    SUBCASE("integer") { good = array + "integer general\n2 2\n12345678901234567890\n-7\n+0\n1\n"; }
    int refused = 0, taken = 0;
    const auto feed_as = [&](const std::string &text, Reading reading) {
        try {
            const perm::FileMatrix a = perm::without_zeros(read(text, reading));
            const perm::FileView view(a);
            perm::Result result; // that the library does not find fault with
            if (a.n_rows <= a.n_cols) {
                const perm_status status = perm_compute(&view.csr(), nullptr, result.raw());
                CHECK_MESSAGE(status / 100 != 1, perm_last_error());
            }
            ++taken;
        } catch (const perm::FileError &) {
            ++refused;
        }
    };
    const auto feed = [&](const std::string &text) {
        feed_as(text, Reading::nearest_doubles);
        feed_as(text, Reading::as_written);
    };
    for (std::size_t i = 0; i <= good.size(); ++i) {
        feed(good.substr(0, i));
        if (i == good.size()) break;
        feed(good.substr(0, i) + good.substr(i + 1));
        for (char c : {'\0', '\n', ' ', '%', '-', '.', '0', '9', 'e', '\xff'}) {
            std::string text = good;
            text[i] = c;
            feed(text);
        }
    }
    CHECK(refused > 100);
    CHECK(taken > 10);
}

TEST_CASE("files by name") {
    const auto folder = std::filesystem::temp_directory_path();
    const std::string path = (folder / "perm_test_matrix_market.mtx").string();
    {
        std::ofstream out(path);
        out << real << "1 1 1\n1 1 4\n";
    }
    CHECK(to_dense(perm::read_matrix_file(path)) == Dense{{4}});
    std::filesystem::remove(path);

    const auto message_of = [](const std::string &name) -> std::string {
        try {
            perm::read_matrix_file(name);
        } catch (const perm::FileError &error) {
            return error.what();
        }
        return "(none)";
    };
    CHECK(message_of(path) == path + ": the file cannot be opened: No such file or directory");
    CHECK(message_of(folder.string()).find("directory") != std::string::npos);
}
