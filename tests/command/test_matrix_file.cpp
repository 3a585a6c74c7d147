// Files of matrices beside Matrix Market: gzip, CSV, .npy and .npz, every form that is good, and every one
// that is refused. Those that numpy, scipy and pandas write are read in tests/python/test_files.py.
#include "tests/support/packed_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>

#include "file_text.hpp"
#include "matrix_file.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using perm::FileMatrix, perm::Reading, perm::ReadOptions;
using Complex = std::complex<double>;
template <class Value> using Dense = std::vector<std::vector<Value>>;
using packed::bytes_of, packed::npy, packed::zipped;

using Reader = FileMatrix (*)(std::istream &, const std::string &, const ReadOptions &);

FileMatrix read(Reader reader, const std::string &bytes, ReadOptions options = {}) {
    std::istringstream in(bytes);
    return reader(in, "m", options);
}

template <class Value> Dense<Value> dense(const FileMatrix &a, const std::vector<Value> &values) {
    REQUIRE(values.size() == a.col_idx.size());
    Dense<Value> all(static_cast<std::size_t>(a.n_rows),
                     std::vector<Value>(static_cast<std::size_t>(a.n_cols)));
    for (std::size_t i = 0; i < all.size(); ++i)
        for (auto k = static_cast<std::size_t>(a.row_ptr[i]); k < static_cast<std::size_t>(a.row_ptr[i + 1]);
             ++k)
            all[i][static_cast<std::size_t>(a.col_idx[k])] = values[k];
    return all;
}

Dense<double> integers(const FileMatrix &a) {
    CHECK(perm::FileView(a).csr().value_type == PERM_VALUE_I64);
    return dense(a, a.values);
}

Dense<double> doubles(const FileMatrix &a) {
    CHECK(perm::FileView(a).csr().value_type == PERM_VALUE_F64);
    return dense(a, a.values);
}

Dense<std::string> texts(const FileMatrix &a) {
    CHECK(perm::FileView(a).csr().value_type == PERM_VALUE_TEXT);
    return dense(a, a.texts);
}

std::string message_of(const std::function<void()> &work) {
    try {
        work();
    } catch (const perm::FileError &error) {
        return error.what();
    } catch (const perm::Error &error) {
        return "status " + std::to_string(error.status()) + " " + error.what();
    }
    return "(none)";
}

void check_words(const std::string &message, const std::vector<std::string> &words) {
    CAPTURE(message);
    for (const std::string &word : words) {
        CAPTURE(word);
        CHECK(message.find(word) != std::string::npos);
    }
}

void check_refused(Reader reader, const std::string &bytes, const std::vector<std::string> &words,
                   ReadOptions options = {}) {
    check_words(message_of([&] { read(reader, bytes, options); }), words);
}

FileMatrix csv(const std::string &text, Reading reading = Reading::nearest_doubles) {
    return read(perm::read_csv, text, reading);
}

} // namespace

TEST_CASE("CSV: separators, comments, header, blanks") {
    const Dense<double> expected{{1, 0, -3}, {4, 5, 0}};
    for (const char *text :
         {"1,0,-3\n4,5,0\n", "1;0;-3\r\n4;5;0\r\n", "1\t0\t-3\n4\t5\t0", " 1 , 0,-3\n\n4,5,0\n\n",
          "# of numpy\n1,0,-3\n# between\n4,5,0\n", "\"1\",\"0\",-3\n4,5,0\n",
          "\xef\xbb\xbf"
          "1,0,-3\n4,5,0\n",
          "\xef\xbb\xbf# of a program\na,b,c\n1,0,-3\n4,5,0\n"})
        CHECK(integers(csv(text)) == expected);
    CHECK(csv("1,0,-3\n4,5,0\n").note.empty());
    CHECK(csv("1,0,-3\n4,5,0\n").col_idx.size() == 4); // zeros are no entries
    const FileMatrix headed = csv("# c\na,\"b, c\",i\n1,0,-3\n4,5,0\n");
    CHECK(integers(headed) == expected);
    check_words(headed.note, {"m:2:", "header"});
    CHECK(integers(csv("7\n-8\n")) == Dense<double>{{7}, {-8}});
}

TEST_CASE("CSV: numbers") {
    CHECK(doubles(csv("1,0.5\n-2e3,.25\n")) == Dense<double>{{1, 0.5}, {-2000, 0.25}});
    CHECK(texts(csv("9007199254740993,1\n0,-7\n")) ==
          Dense<std::string>{{"9007199254740993", "1"}, {"", "-7"}});
    CHECK(doubles(csv("9007199254740993,1.0\n")) == Dense<double>{{9007199254740992.0, 1}});
    CHECK(texts(csv("0.1,1\n", Reading::as_written)) == Dense<std::string>{{"0.1", "1"}});
    CHECK(texts(csv("1/3,+2/4\n-5/6,0/7\n0.1,2\n")) ==
          Dense<std::string>{{"1/3", "2/4"}, {"-5/6", ""}, {"0.1", "2"}});
    CHECK(texts(csv("1/3+2j,1\n")) == Dense<std::string>{{"1/3 2", "1 0"}});
    const FileMatrix a = csv("1+2j,(3-4j),(5+-6j)\n7,2i,1e-3-2.5E+1J\n");
    CHECK(dense(a, a.complex_values) == Dense<Complex>{{{1, 2}, {3, -4}, {5, -6}}, {7, {0, 2}, {1e-3, -25}}});
    CHECK(texts(csv("0.1+2j\n", Reading::as_written)) == Dense<std::string>{{"0.1 +2"}});
}

TEST_CASE("CSV: refused") {
    const auto check = [](const std::string &text, const std::vector<std::string> &words) {
        check_refused(perm::read_csv, text, words);
    };
    check("", {"m:1:", "ends"});
    check("# only\n", {"m:1:", "ends"});
    check("a,b\n", {"m:1:", "header"});
    check("1,2\n3,x\n", {"m:2:", "'x'", "field 2", "1+2j"});
    check("1,x\n3,4\n", {"m:1:", "'x'", "field 2"}); // a header holds no number at all
    check("1,,3\n", {"m:1:", "field 2", "empty", "0 where"});
    check("1,2,\n", {"m:1:", "field 3", "empty"});
    check("1,2\n3\n", {"m:2:", "1 fields", "expected 2", "line 1"});
    check("a,b\n3\n", {"m:2:", "1 fields", "expected 2", "line 1"});
    check("1,5;2,5\n", {"m:1:", "semicolon", "point"});
    check("1;2\n3;4,5\n", {"m:2:", "'4,5'"});
    check("1 2\n3 4\n", {"m:2:", "'3 4'"});
    check("1,nan\n", {"m:1:", "'nan'", "finite"});
    check("1,1/0\n", {"m:1:", "denominator", "'1/0'"});
    check("1,j\n", {"m:1:", "'j'"});
    check("1,1+j\n", {"m:1:", "'1+j'"});
    check("1.5,1e999\n", {"m:1:", "'1e999'", "--decimal"});
    check("1," + std::string(2 << 20, '1') + "\n", {"m:1:", "longer"});
}

TEST_CASE("npy: every kind of number, both orders of bytes, versions 1 to 3") {
    const Dense<double> expected{{1, 0, 3}, {4, 5, 6}};
    int kinds = 0;
    const auto check = [&]<class T>(T, const std::string &type, const auto &values) {
        for (const bool swapped : {false, true})
            for (const int version : {1, 2, 3}) {
                const std::string order = sizeof(T) == 1 ? "|" : swapped ? ">" : "<";
                const std::string bytes = bytes_of<T>({1, 0, 3, 4, 5, 6}, swapped && sizeof(T) > 1);
                CHECK(values(read(perm::read_npy, npy(order + type, "(2, 3)", bytes, false, version))) ==
                      expected);
                const std::string columns = bytes_of<T>({1, 4, 0, 5, 3, 6}, swapped && sizeof(T) > 1);
                CHECK(values(read(perm::read_npy, npy(order + type, "(2, 3)", columns, true, version))) ==
                      expected);
            }
        ++kinds;
    };
    CHECK(integers(read(perm::read_npy, npy("<i4", "(1, 2)", bytes_of<std::int32_t>({-7, 7})))) ==
          Dense<double>{{-7, 7}});
    check(std::int8_t{}, "i1", integers);
    check(std::int16_t{}, "i2", integers);
    check(std::int32_t{}, "i4", integers);
    check(std::int64_t{}, "i8", integers);
    check(std::uint8_t{}, "u1", integers);
    check(std::uint16_t{}, "u2", integers);
    check(std::uint32_t{}, "u4", integers);
    check(std::uint64_t{}, "u8", integers);
    check(float{}, "f4", doubles);
    check(double{}, "f8", doubles);
    CHECK(kinds == 10);
    CHECK(integers(read(perm::read_npy, npy("|b1", "(1, 3)", std::string("\1\0\1", 3)))) ==
          Dense<double>{{1, 0, 1}});
}

TEST_CASE("npy: complex and large numbers") {
    const std::vector<double> parts{1, 2, 0, 0, -3, 0.5, 0, -1};
    const Dense<Complex> expected{{{1, 2}, 0}, {{-3, 0.5}, {0, -1}}};
    for (const bool swapped : {false, true}) {
        const std::string order = swapped ? ">" : "<";
        const FileMatrix a = read(perm::read_npy, npy(order + "c16", "(2, 2)", bytes_of(parts, swapped)));
        CHECK(dense(a, a.complex_values) == expected);
        CHECK(a.col_idx.size() == 3);
        const std::vector<float> singles(parts.begin(), parts.end());
        const FileMatrix b = read(perm::read_npy, npy(order + "c8", "(2, 2)", bytes_of(singles, swapped)));
        CHECK(dense(b, b.complex_values) == expected);
    }
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    CHECK(texts(read(perm::read_npy, npy("<i8", "(1, 2)", bytes_of<std::int64_t>({least, 1})))) ==
          Dense<std::string>{{"-9223372036854775808", "1"}});
    CHECK(texts(read(perm::read_npy, npy("<u8", "(1, 1)", bytes_of<std::uint64_t>({~std::uint64_t{0}})))) ==
          Dense<std::string>{{"18446744073709551615"}});
    // They are what they are, however decimals are to be read.
    CHECK(doubles(read(perm::read_npy, npy("<f8", "(1, 1)", bytes_of<double>({0.1})), Reading::as_written)) ==
          Dense<double>{{0.1}});
    CHECK(read(perm::read_npy, npy("<f8", "(0, 3)", "")).n_cols == 3);
}

TEST_CASE("npy: refused") {
    const auto check = [](const std::string &bytes, const std::vector<std::string> &words) {
        check_refused(perm::read_npy, bytes, words);
    };
    const std::string four = bytes_of<double>({1, 2, 3, 4}), good = npy("<f8", "(2, 2)", four);
    check("", {"m:", "numpy.save"});
    check("%%MatrixMarket", {"numpy.save"});
    for (std::size_t k = 8; k < good.size(); ++k) check(good.substr(0, k), {"truncated"});
    check(good.substr(0, good.size() - 1), {"after 3 elements", "expected 4"});
    check(good + "x", {"extra data", "4 elements"});
    check(npy("<f8", "(2, 2)", four, false, 4), {"version 4"});
    check(npy("|O", "(2, 2)", "pickle"), {"Python objects", "not unpickled", "savetxt"});
    check(npy("<f2", "(2, 2)", four), {"'<f2'", "astype"});
    check(npy("<f16", "(2, 2)", four + four), {"'<f16'"});
    check(npy("<U3", "(2, 2)", four), {"texts"});
    check(npy("<M8[ns]", "(2, 2)", four), {"'<M8[ns]'"});
    check(npy("<", "(2, 2)", four), {"'<'"});
    check(npy("<f8", "(4,)", four), {"(4)", "one matrix"});
    check(npy("<f8", "(1, 2, 2)", four), {"(1, 2, 2)", "one matrix"});
    check(npy("<f8", "()", four), {"()", "one matrix"});
    check(npy("<f8", "(2, 2)", bytes_of<double>({1, 2, NAN, 4})), {"[1, 0]", "nan", "finite"});
    check(npy("<f8", "(2, 2)", bytes_of<double>({1, 2, INFINITY, 4}), true), {"[0, 1]", "inf"});
    for (const char *header :
         {"", "{}", "[1]", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 2)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -2)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'more': 1}",
          "{'descr': '<f8', 'descr': '<f8', 'shape': (2, 2)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)} x",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"})
        check(packed::npy_of_header(header, four), {"header", "fortran_order"});
    check(packed::npy_of_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", four),
          {"records"});
}

TEST_CASE("npy: headers that lie cost no memory") {
    const auto check = [](const std::string &bytes, const std::vector<std::string> &words) {
        check_refused(perm::read_npy, bytes, words);
    };
    check(npy("<f8", "(2000000000, 2000000000)", "12345678"), {"truncated", "after 1 elements"});
    check(npy("<f8", "(2000000000, 0)", ""), {"empty rows"});
    check(npy("<f8", "(3000000000, 1)", ""), {"too many"});
    check(npy("<f8", "(9000000000000000000, 9000000000000000000)", ""), {"too large"});
    check(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12) + "{", {"4294967295 bytes"});
}

namespace {

const std::string data = npy("<f8", "(4,)", bytes_of<double>({1, 2, 3, 4}));

std::string list(const std::vector<std::int64_t> &numbers) {
    return npy("<i8", "(" + std::to_string(numbers.size()) + ",)", bytes_of(numbers));
}

std::string csr(const std::vector<std::int64_t> &ends, const std::vector<std::int64_t> &columns,
                const std::string &values = data, const std::string &format = "csr") {
    return zipped(packed::scipy_members(format, 2, 3, {"indices.npy", list(columns)},
                                        {"indptr.npy", list(ends)}, values));
}

} // namespace

TEST_CASE("npz: as scipy.sparse.save_npz and numpy.savez write them") {
    const Dense<double> expected{{1, 0, 2}, {0, 3, 4}};
    const std::string rows = list({0, 2, 4}), columns = list({0, 2, 1, 2});
    for (const bool deflated : {false, true}) {
        const auto check = [&](const std::vector<packed::Member> &members, Dense<double> what = {}) {
            CHECK(doubles(read(perm::read_npz, zipped(members, deflated))) ==
                  (what.empty() ? expected : what));
        };
        check(packed::scipy_members("csr", 2, 3, {"indices.npy", columns}, {"indptr.npy", rows}, data));
        check(packed::scipy_members("csr", 2, 3,
                                    {"indices.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({2, 0, 1, 2}))},
                                    {"indptr.npy", npy("<i4", "(3,)", bytes_of<std::int32_t>({0, 2, 4}))},
                                    npy("<f8", "(4,)", bytes_of<double>({2, 1, 3, 4}))));
        check(packed::scipy_members("csc", 2, 3, {"indices.npy", list({0, 1, 0, 1})},
                                    {"indptr.npy", list({0, 1, 2, 4})},
                                    npy("<f8", "(4,)", bytes_of<double>({1, 3, 2, 4}))));
        check(packed::scipy_members("coo", 2, 3, {"row.npy", list({1, 0, 1, 0})},
                                    {"col.npy", list({2, 0, 1, 2})},
                                    npy("<f8", "(4,)", bytes_of<double>({4, 1, 3, 2}))));
        check({{"arr_0.npy", npy("<f8", "(2, 3)", bytes_of<double>({1, 0, 2, 0, 3, 4}))}});
        const std::vector<std::int64_t> by_rows{1, 0, 1, 0, 2, 0, 1, 2}, by_columns{1, 2, 0, 0, 1, 1, 0, 2};
        for (const bool is_by_columns : {false, true}) {
            const auto &places = is_by_columns ? by_columns : by_rows;
            packed::Member coords{"coords.npy", npy("<i8", "(2, 4)", bytes_of(places), is_by_columns)};
            check(packed::scipy_members("coo", 2, 3, coords, {"_is_array.npy", npy("|b1", "()", "\1")},
                                        npy("<f8", "(4,)", bytes_of<double>({4, 1, 3, 2}))));
        }
        check(packed::scipy_members("bsr", 2, 3, {"indices.npy", list({0, 2})}, {"indptr.npy", list({0, 2})},
                                    npy("<f8", "(2, 2, 1)", bytes_of<double>({1, 0, 2, 4}))),
              {{1, 0, 2}, {0, 0, 4}});
        // The diagonals -1, 0 and 2, the latter without what lies outside; a corner of them holds no entry.
        check(packed::scipy_members("dia", 2, 3, {"offsets.npy", list({-1, 0, 2})},
                                    {"_is_array.npy", npy("|b1", "()", "\1")},
                                    npy("<f8", "(3, 3)", bytes_of<double>({5, 8, 8, 1, 3, 9, 9, 9, 2}))),
              {{1, 0, 2}, {5, 3, 0}});
    }
    // More is stored than indptr speaks of.
    CHECK(doubles(read(perm::read_npz, csr({0, 2, 3}, {0, 2, 1, 0}))) == Dense<double>{{1, 0, 2}, {0, 3, 0}});
}

TEST_CASE("npz: refused") {
    const auto check = [](const std::string &bytes, const std::vector<std::string> &words) {
        check_refused(perm::read_npz, bytes, words);
    };
    const std::string good = csr({0, 2, 4}, {0, 2, 1, 2});
    check("PK", {"directory"});
    // The last three bytes are zeros that are not needed: of an offset, and of the length of a comment.
    for (std::size_t k = 0; k + 3 < good.size(); ++k) {
        CAPTURE(k);
        CHECK(message_of([&] { read(perm::read_npz, good.substr(0, k)); }) != "(none)");
    }
    std::string damaged = good;
    damaged[good.rfind("(4,), }   \n") + 11] ^= 1; // of the first value
    check(damaged, {"data.npy", "checksum"});
    check(csr({0, 2, 4}, {0, 2, 1, 3}), {"indices", "[3] is 3", "0 to 2"});
    check(csr({0, 2, 4}, {0, -2, 1, 2}), {"indices", "[1] is -2"});
    check(csr({0, 3, 2}, {0, 2, 1, 2}), {"indptr", "2 rows", "3 numbers"});
    check(csr({1, 3, 4}, {0, 2, 1, 2}), {"indptr"});
    check(csr({0, 4}, {0, 2, 1, 2}), {"indptr"});
    check(csr({}, {0, 2, 1, 2}), {"indptr"});
    check(csr({0, 2, 5}, {0, 2, 1, 2}), {"ends with 5", "4 numbers"});
    check(csr({0, 2, 4}, {0, 2, 2, 2}),
          {"duplicate", "[1, 2]", "number 2", "number 3", "sum_duplicates", "--duplicates sum"});
    check(csr({0, 2, 4}, {0, 2, 1, 2}, list({1, 2, 3})), {"data", "(3)", "4 entries"});
    check(csr({0, 2, 4}, {0, 2, 1, 2}, npy("|O", "(4,)", "x")), {"data", "not unpickled"});
    check(csr({0, 2, 4}, {0, 2, 1, 2}, data, "lil"), {"'lil'", "tocsr"});
    check(csr({0, 2, 4}, {0, 2, 1, 2}, data, "bsr"), {"(4)", "blocks that divide 2 x 3"});
    check(csr({0, 1}, {1}, npy("<f8", "(1, 2, 2)", bytes_of<double>({1, 2, 3, 4})), "bsr"), {"divide 2 x 3"});
    check(csr({0, 1}, {3}, npy("<f8", "(1, 2, 1)", bytes_of<double>({1, 2})), "bsr"), {"[0] is 3", "0 to 2"});
    check(csr({0, 2}, {0, 1}, npy("<f8", "(1, 2, 1)", bytes_of<double>({1, 2})), "bsr"),
          {"(1, 2, 1)", "2 of"});
    check(zipped(packed::scipy_members("coo", 2, 3,
                                       {"coords.npy", npy("<i8", "(2, 1)", bytes_of<std::int64_t>({0, 3}))},
                                       {"x", ""}, npy("<f8", "(1,)", bytes_of<double>({1})))),
          {"coords", "[1, 0] is 3", "0 to 2"});
    check(zipped(packed::scipy_members("coo", 2, 3, {"coords.npy", list({0, 3})}, {"x", ""}, data)),
          {"coords", "two rows"});
    check(zipped({}), {"directory", "savez"});
    check(zipped({{"a.npy", data}, {"b.npy", data}}), {"2 members"});
    check(zipped({{"a.npy", data}}), {"a.npy", "one matrix"});
    check(zipped({{"format.npy", npy("|S3", "()", "csr")}}), {"shape.npy", "not in the archive"});
    check(zipped({{"format.npy", list({1})}}), {"format", "no text"});
}

TEST_CASE("edges of graphs") {
    const auto edges = [](const std::string &text, Reading reading = Reading::nearest_doubles) {
        return read(perm::read_edges, text, reading);
    };
    CHECK(edges("# a\n3 5\n% b\n\n5 -1\n").pattern);
    const FileMatrix path = edges("\xef\xbb\xbf"
                                  "3 5\n5\t-1\n5 5\n"); // -1, 3, 5
    CHECK(dense(path, std::vector<double>(5, 1.0)) == Dense<double>{{0, 0, 1}, {0, 0, 1}, {1, 1, 1}});
    CHECK(integers(edges("1 2 -7\n2 3 +8\n")) == Dense<double>{{0, -7, 0}, {-7, 0, 8}, {0, 8, 0}});
    CHECK(doubles(edges("0 1 7\n1 2 9007199254740993\n0 2 .5\n")) ==
          Dense<double>{{0, 7, 0.5}, {7, 0, 9007199254740992}, {0.5, 9007199254740992, 0}});
    CHECK(texts(edges("1 2 9007199254740993\n2 3 1\n")) ==
          Dense<std::string>{{"", "9007199254740993", ""}, {"9007199254740993", "", "1"}, {"", "1", ""}});
    CHECK(texts(edges("1 2 3\n2 3 .1\n", Reading::as_written)) ==
          Dense<std::string>{{"", "3", ""}, {"3", "", ".1"}, {"", ".1", ""}});
    const auto check = [](Reader reader, const std::string &bytes, const std::vector<std::string> &words) {
        check_refused(reader, bytes, words);
    };
    check(perm::read_edges, "", {"m:1", "'u v w'"});
    check(perm::read_edges, "1 2\n3\n", {"m:2", "1 words"});
    check(perm::read_edges, "1 2 3 4\n", {"m:1", "4 words"});
    check(perm::read_edges, "1 2\n2 3 1\n", {"m:2", "of all or of none"});
    check(perm::read_edges, "1 b\n", {"m:1", "bad vertex 'b'"});
    check(perm::read_edges, "1 2 x\n", {"m:1", "bad number 'x'"});
    check(perm::read_edges, "1 2\n2 3\n2 1\n", {"m:3", "duplicate edge 1 2", "line 1", "--duplicates once"});

    const FileMatrix graph = read(perm::read_dimacs, "c x\np edge 4 2\ne 1 2\ne 4 2\n");
    CHECK(graph.pattern);
    CHECK(graph.n_rows == 4);
    CHECK(graph.row_ptr == std::vector<std::int64_t>{0, 1, 3, 3, 4});
    CHECK(read(perm::read_dimacs, "p col 3 2\ne 1 2\n").col_idx.size() == 2); // counted twice
    CHECK(integers(read(perm::read_dimacs, "p edge 2 1\ne 2 1 5\n")) == Dense<double>{{0, 5}, {5, 0}});
    check(perm::read_dimacs, "", {"m:1", "p edge"});
    check(perm::read_dimacs, "e 1 2\n", {"m:1", "'e'", "p edge"});
    check(perm::read_dimacs, "p sp 2 1\n", {"m:1", "p col"});
    check(perm::read_dimacs, "p edge 2 1\na 1 2 3\n", {"m:2", "'a'", "'e u v'"});
    check(perm::read_dimacs, "p edge 2 1\ne 1 3\n", {"m:2", "'3'", "1 to 2"});
    check(perm::read_dimacs, "p edge 3 3\ne 1 3\n", {"after 1 edges", "expected 3"});
    check(perm::read_dimacs, "p edge 99999999999 3\ne 1 3\n", {"bad size line"});
    check(perm::read_dimacs, "p edge 2000000000 1\ne 1 3\n", {"nearly all empty"});

    ReadOptions options;
    options.duplicates = perm::Duplicates::once;
    CHECK(read(perm::read_dimacs, "p edge 2 2\ne 1 2\ne 2 1\n", options).col_idx.size() == 2);
    const std::string unequal = message_of([&] { read(perm::read_edges, "1 2 3\n2 1 4\n", options); });
    check_words(unequal, {"m:2", "duplicate edge 1 2", "equal numbers", "--duplicates sum"});
    CHECK(unequal.find("--duplicates once") == std::string::npos);
    options.duplicates = perm::Duplicates::sum;
    CHECK(integers(read(perm::read_edges, "1 2\n2 1\n", options)) == Dense<double>{{0, 2}, {2, 0}});
}

TEST_CASE("by name, packed or not") {
    const TemporaryFolder folder;
    const auto write = [&](const std::string &name, const std::string &bytes) {
        whole_file::write(folder / name, bytes);
        return folder / name;
    };
    const std::string market = "%%MatrixMarket matrix array real general\n1 2\n3\n4\n";
    const std::string array = npy("<f8", "(1, 2)", bytes_of<double>({3, 4}));
    const Dense<double> expected{{3, 4}};
    const std::string half = market.substr(0, 30), rest = market.substr(30);
    for (const auto &[name, bytes] : std::vector<std::pair<std::string, std::string>>{
             {"a.mtx", market},
             {"a.mtx.gz", packed::gzipped(market)},
             {"two.mtx.gz", packed::gzipped(half) + packed::gzipped(rest)},
             {"A.MTX.GZ", packed::gzipped(market)},
             {"a.csv", "3.0,4\n"},
             {"a.tsv", "3.0\t4\n"},
             {"a.csv.gz", packed::gzipped("3.0,4\n")},
             {"header.csv", "Place,b\n3.0,4\n"},
             {"a.npy", array},
             {"a.npy.gz", packed::gzipped(array)},
             {"a.npz", zipped({{"a.npy", array}}, true)}}) {
        CAPTURE(name);
        CHECK(doubles(perm::read_matrix_file(write(name, bytes))) == expected);
    }
    ReadOptions as_edges;
    as_edges.format = "edges";
    for (const auto &[name, bytes] : std::vector<std::pair<std::string, std::string>>{
             {"a.mtx", "1 2\n"}, {"a.csv.gz", packed::gzipped("1 2\n")}, {"a", "1 2\n"}})
        CHECK(perm::read_matrix_file(write(name, bytes), as_edges).n_rows == 2);
    for (const char *name : {"g.edges", "G.EDGES.GZ"})
        CHECK(
            perm::read_matrix_file(write(name, name[0] == 'g' ? "1 2\n" : packed::gzipped("1 2\n"))).n_rows ==
            2);
    for (const char *name : {"g.dimacs", "g.col"})
        CHECK(perm::read_matrix_file(write(name, "p edge 3 1\ne 1 2\n")).n_rows == 3);
    const auto check = [&](const std::string &name, const std::string &bytes,
                           const std::vector<std::string> &words) {
        CAPTURE(name);
        check_words(message_of([&] { perm::read_matrix_file(write(name, bytes)); }), words);
    };
    const std::string gz = packed::gzipped(market);
    check("b.mtx", gz, {"b.mtx", "Matrix Market", "data of gzip", ".gz"});
    check("b.mtx", array, {"array of numpy", ".npy"});
    check("b.csv", array, {"CSV", "array of numpy"});
    check("b.mtx.gz", market, {"does not begin as data of gzip"});
    check("b.npy", market, {"does not begin as an array of numpy"});
    check("b.npz", array, {"begins as an array of numpy"});
    check("b.npz.gz", packed::gzipped("PK"), {"gunzip"});
    check("b.mtx.gz", "", {"truncated"});
    for (std::size_t k = 1; k < gz.size(); ++k) check("b.mtx.gz", gz.substr(0, k), {"truncated"});
    check("b.mtx.gz", gz + "more", {"damaged", "behind their end"});
    std::string damaged = gz;
    damaged[gz.size() - 6] ^= 1; // of the checksum
    check("b.mtx.gz", damaged, {"damaged"});
}

TEST_CASE("bombs are refused within the memory limit") {
    const TemporaryFolder folder;
    constexpr std::int64_t limit = 1 << 20;
    const auto check = [&](const std::string &name, const std::string &bytes) {
        CAPTURE(name);
        whole_file::write(folder / name, bytes);
        check_words(message_of([&] {
                        perm::read_matrix_file(folder / name, {Reading::nearest_doubles, limit});
                    }),
                    {"status 201", name, "limit", "--memory"});
    };
    std::string rows;
    for (int k = 0; k < 1000; ++k) rows += "1" + std::string(999, ' ') + "\n";
    std::string entries = "%%MatrixMarket matrix coordinate real general\n300 300 90000\n";
    for (int k = 0; k < 90000; ++k) entries += "1 1 1\n";
    check("bomb.mtx.gz", packed::gzipped(entries));
    std::string table;
    for (int k = 0; k < 100000; ++k) table += "1\n";
    check("bomb.csv.gz", packed::gzipped(table));
    check("bomb.npy.gz", packed::gzipped(npy("|u1", "(1000, 100)", std::string(100000, '\1'))));
    check("bomb.npz", zipped({{"a.npy", npy("|u1", "(1000, 100)", std::string(100000, '\1'))}}, true));
    const std::string zeros = npy("<i8", "(1000000,)", std::string(8000000, '\0'));
    check("sparse.npz",
          zipped(packed::scipy_members("coo", 2, 3, {"row.npy", zeros}, {"col.npy", zeros}, data), true));
    // What is within it is read.
    whole_file::write(folder / "good.csv.gz", packed::gzipped(rows));
    CHECK(perm::read_matrix_file(folder / "good.csv.gz", {Reading::nearest_doubles, limit}).n_rows == 1000);
}
