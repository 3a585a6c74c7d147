// The readers of gzip, CSV, .npy and .npz, within 64 MB whatever the bytes say.
#include "tests/fuzz/target.hpp"
#include "tests/support/packed_files.hpp"

#include "compressed.hpp"
#include "file_text.hpp"
#include "matrix_file.hpp"

#include <sstream>

namespace {

using packed::Member, packed::bytes_of, packed::npy;

enum Form { csv, array, archive, members, market_of_gzip, csv_of_gzip, edges, dimacs, forms };

constexpr char end_of_member = '\x1d';

// Members of an archive, a name and its bytes each, without the checksums that a change would break.
std::vector<Member> split(std::string_view text) {
    std::vector<Member> all;
    while (!text.empty() && all.size() < 9) {
        std::string_view one = text.substr(0, text.find(end_of_member));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
        const auto name = std::min(one.find('\n'), one.size());
        all.push_back(
            {std::string(one.substr(0, name)), std::string(one.substr(std::min(name + 1, one.size())))});
    }
    return all;
}

std::string joined(const std::vector<Member> &all) {
    std::string text;
    for (const Member &one : all) text += one.name + "\n" + one.bytes + end_of_member;
    return text;
}

perm::FileMatrix read(Form form, std::string bytes, const perm::ReadOptions &options) {
    if (form == members) bytes = packed::zipped(split(bytes));
    std::istringstream in(std::move(bytes));
    switch (form) {
    case csv:
        return perm::read_csv(in, "fuzz", options);
    case edges:
        return perm::read_edges(in, "fuzz", options);
    case dimacs:
        return perm::read_dimacs(in, "fuzz", options);
    case array:
        return perm::read_npy(in, "fuzz", options);
    case archive:
    case members:
        return perm::read_npz(in, "fuzz", options);
    default: {
        perm::GunzipBuffer buffer(in, "fuzz");
        std::istream text(&buffer);
        text.exceptions(std::ios::badbit);
        return form == csv_of_gzip ? perm::read_csv(text, "fuzz", options)
                                   : perm::read_matrix_market(text, "fuzz", options);
    }
    }
}

void check(const perm::FileMatrix &a) {
    const perm::FileView view(a);
    const perm_csr &csr = view.csr();
    fuzz::require(csr.nnz == a.row_ptr.back(), "the last row ends elsewhere than the entries");
    for (const auto j : a.col_idx) fuzz::require(j >= 0 && j < csr.n_cols, "a column that there is not");
    const std::size_t values = a.values.size() + a.complex_values.size() + a.texts.size();
    fuzz::require(a.pattern || values == a.col_idx.size(), "as many values as entries there are not");
    if (csr.n_rows > 6 || csr.n_cols > 6 || csr.n_rows > csr.n_cols) return;
    perm_result result = PERM_RESULT_INIT;
    fuzz::require(perm_compute(&csr, nullptr, &result) / 100 != 1, perm_last_error());
    perm_result_clear(&result);
}

} // namespace

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const auto form = static_cast<Form>(bytes.integer(0, forms - 1));
    const auto reading = bytes.chance(128) ? perm::Reading::nearest_doubles : perm::Reading::as_written;
    perm::ReadOptions options(reading, 64 << 20);
    options.duplicates = static_cast<perm::Duplicates>(bytes.integer(0, 2));
    try {
        check(read(form, std::string(bytes.rest()), options));
    } catch (const perm::FileError &) {
    } catch (const perm::Error &error) {
        require(error.status() == PERM_REFUSED_MEMORY, error.what());
    }
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> all;
    const auto add = [&](Form form, const std::string &bytes) {
        for (const char reading : {'\0', '\xff'})
            for (const char duplicates : {'\0', '\1', '\2'})
                all.push_back(std::string{static_cast<char>(form), reading, duplicates} + bytes);
    };
    const std::string market = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
    const std::string tables[] = {"a,b,c\n1,0,-2.5e3\n.5,7,9007199254740993\n", "# c\n1/3;2\n-4;0.1\n",
                                  "1+2j\t(3-4j)\n\"5\"\t2i\n"};
    for (const std::string &table : tables) {
        add(csv, table);
        add(csv_of_gzip, packed::gzipped(table));
    }
    add(edges, "1 2\n3 1\n2 1\n");
    add(edges, "1 2 .5\n3 2 9007199254740993\n1 2 7\n");
    add(dimacs, "c x\np edge 3 3\ne 1 2\ne 2 3\ne 2 1\n");
    add(market_of_gzip, packed::gzipped(market));
    add(market_of_gzip, packed::gzipped(market + std::string(1 << 20, ' ')));
    const std::string doubles = npy("<f8", "(2, 2)", bytes_of<double>({1, 0, -3, 0.5}));
    for (const std::string &one :
         {doubles, npy(">i4", "(2, 3)", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}, true), true, 2),
          npy("<c8", "(1, 2)", bytes_of<float>({1, 2, 3, 4}), false, 3),
          npy("<u8", "(1, 1)", bytes_of<std::uint64_t>({~std::uint64_t{0}}))}) {
        add(array, one);
        add(members, joined({{"a.npy", one}}));
        add(archive, packed::zipped({{"a.npy", one}}, true));
    }
    const std::string rows = npy("<i4", "(3,)", bytes_of<std::int32_t>({0, 2, 3})),
                      columns = npy("<i4", "(3,)", bytes_of<std::int32_t>({0, 1, 1})),
                      data = npy("<f8", "(3,)", bytes_of<double>({1, -2, 3}));
    for (const auto &parts :
         {packed::scipy_members("csr", 2, 2, {"indptr.npy", rows}, {"indices.npy", columns}, data),
          packed::scipy_members("csc", 2, 2, {"indptr.npy", rows}, {"indices.npy", columns}, data),
          packed::scipy_members("coo", 3, 2, {"row.npy", rows}, {"col.npy", columns}, data),
          packed::scipy_members("dia", 2, 2, {"offsets.npy", columns}, {"x.npy", rows},
                                npy("<f8", "(3, 1)", bytes_of<double>({1, -2, 3}))),
          packed::scipy_members("bsr", 2, 2,
                                {"indptr.npy", npy("<i4", "(2,)", bytes_of<std::int32_t>({0, 2}))},
                                {"indices.npy", npy("<i4", "(2,)", bytes_of<std::int32_t>({0, 1}))},
                                npy("<f8", "(2, 2, 1)", bytes_of<double>({1, -2, 3, 0})))}) {
        add(members, joined(parts));
        add(archive, packed::zipped(parts, true));
    }
    return all;
}
