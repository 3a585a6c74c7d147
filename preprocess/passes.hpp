#pragma once

namespace libperm {

// Which of the reductions are on.
struct Passes {
    bool matching = true;                  // none: 0 at once, not block by block
    bool dulmage_mendelsohn = true;        // blocks, and entries in no perfect matching
    bool degree_1 = true, degree_2 = true; // compression
    bool forbert_marx = true;              // expansion along lines of degree 3 and 4
    bool merging = true;                   // of repeated rows and columns
    bool scaling = true;                   // by powers of two, before an engine starts
    bool periodic = true;                  // long matrices of equal cells, by the operator of one
    bool structure = true;                 // what a block's values have in common is looked for
    friend bool operator==(const Passes &, const Passes &) = default;
};

} // namespace libperm
