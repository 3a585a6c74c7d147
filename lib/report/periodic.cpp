#include "lib/report/periodic.hpp"

#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
#include "lib/periodic/answers/float_terms.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/answers/squares.hpp"
#include "lib/periodic/period/sectors.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

// How a plan's operator is stored, and what that takes: chosen for each request by predicted time.
struct PeriodicStorage {
    // A table changed in place, or the rows of a cell as factors; of joined ends for each start.
    bool is_table = false;
    double seconds_of_cell = 0; // of doubles (tables: of a residue), on the plan's threads
    // Written out as full matrices and squared: blocks, in how many sectors, of so many orbits at most.
    struct Squares {
        std::int64_t doubles_from = 0, dd_from = 0; // the least length; 0: not at any
        std::size_t blocks = 0, sectors = 0, largest = 0;
        double seconds_of_million = 0; // cells, in doubles
    } squares;
};

PeriodicStorage storage_of(const PeriodicPlan &plan) {
    PeriodicStorage out;
    const double threads = plan.options.threads;
    const std::int64_t begin = plan.first_term() + 1;
    if (plan.tables) {
        out.is_table = true;
        out.seconds_of_cell = exact_seconds(plan, begin, 1, 0) / static_cast<double>(begin) / threads;
        return out;
    }
    out.seconds_of_cell = float_seconds(plan, begin, 1, false) / threads;
    PeriodicStorage::Squares &squares = out.squares;
    squares.doubles_from = squared_from(plan, false);
    squares.dd_from = squared_from(plan, true);
    if (squares.doubles_from == 0) return out;
    constexpr std::int64_t million = 1000000;
    squares.seconds_of_million = squares_seconds(plan, million, !plan.real, false) / threads;
    for (const PeriodBlock &block : plan.blocks()) {
        if (block.alike == 0) continue;
        ++squares.blocks;
        for (const Sector &sector : sectors_of(block)) {
            squares.sectors += sector.size() > 0;
            squares.largest = std::max(squares.largest, sector.size());
        }
    }
    return out;
}

// "1 - 3 x^2 + 1/2 x^3"
std::string polynomial(const std::vector<mpq_class> &coefficients) {
    std::string text;
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
        const mpq_class &c = coefficients[k];
        if (c == 0) continue;
        const mpq_class size = abs(c);
        const std::string_view sign = text.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
        const std::string factor = k > 0 && size == 1 ? "" : size.get_str();
        const std::string power = k == 0 ? "" : k == 1 ? "x" : formatted("x^{}", k);
        text += formatted("{}{}{}{}", sign, factor, factor.empty() || power.empty() ? "" : " ", power);
    }
    return text.empty() ? "0" : text;
}

Json texts(const std::vector<mpq_class> &coefficients) {
    Json list = Json::Array();
    for (const mpq_class &c : coefficients) list.push_back(c.get_str());
    return list;
}

} // namespace

std::string periodic_json(const PeriodicPlan &plan) {
    const PeriodicMatrix &a = plan.matrix;
    Json j{
        {"rows", a.rows}, {"reach", a.reach}, {"joined", a.joined}, {"transposed", plan.program.transposed}};
    Json rows = Json::Array(), behind = Json::Array();
    for (const PeriodRow &row : plan.program.rows) {
        rows.push_back(row.row);
        behind.push_back(row.shift);
    }
    j["order"] = std::move(rows);
    j["cells_behind"] = std::move(behind);
    j["open_columns"] = plan.program.open_columns();
    j["states"] = static_cast<std::int64_t>(plan.states());
    j["moves"] = plan.moves();
    j["written_out"] = !plan.tables.has_value();
    if (a.joined && !plan.tables) j["loops"] = static_cast<std::int64_t>(plan.loops.size());
    const PeriodicStorage storage = storage_of(plan);
    Json stored{{"form", storage.is_table ? "table" : "factors"},
                {"seconds_of_cell", storage.seconds_of_cell}};
    if (const PeriodicStorage::Squares &squares = storage.squares; squares.doubles_from > 0)
        stored["squares"] = Json{{"doubles_from", squares.doubles_from},
                                 {"dd_from", squares.dd_from},
                                 {"blocks", static_cast<std::int64_t>(squares.blocks)},
                                 {"sectors", static_cast<std::int64_t>(squares.sectors)},
                                 {"largest", static_cast<std::int64_t>(squares.largest)},
                                 {"seconds_of_million", squares.seconds_of_million}};
    j["storage"] = std::move(stored);
    j["nonnegative"] = plan.nonnegative;
    j["integers"] = plan.integers;
    return j.written();
}

std::string periodic_text(const PeriodicPlan &plan) {
    const PeriodicMatrix &a = plan.matrix;
    std::string text = formatted("cells of {} rows, coupled to {} on either side, {} ends\n", a.rows, a.reach,
                                 a.joined ? "joined" : "open");
    text += formatted("frontier over the {}: {} columns open at a cut, {} states, {:.0f} moves a cell\n",
                      plan.program.transposed ? "columns" : "rows", plan.program.open_columns(),
                      plan.states(), plan.moves());
    if (plan.tables)
        text += formatted(
            "not written out: a table of {} slots is changed in place, {} cells until they come round\n",
            plan.tables->slots, plan.tables->periods);
    if (a.joined && !plan.tables)
        text += formatted("{} loops of states, each with a trace of its own\n", plan.loops.size());
    const PeriodicStorage storage = storage_of(plan);
    text += formatted("stored as {}: about {:.2g} s a cell\n",
                      storage.is_table ? "a table of residues" : "the factors that its rows are",
                      storage.seconds_of_cell);
    if (const PeriodicStorage::Squares &squares = storage.squares; squares.doubles_from > 0)
        text += formatted("in doubles squared from {} cells on, as full matrices, the largest {} x {}: about "
                          "{:.2g} s for a million cells\n",
                          squares.doubles_from, squares.largest, squares.largest, squares.seconds_of_million);
    return text;
}

std::string generating_function_json(const GeneratingFunction &f) {
    Json j{{"numerator", texts(f.numerator)},
           {"denominator", texts(f.denominator)},
           {"order", f.order},
           {"states", f.states},
           {"proven", f.proven},
           {"checked", f.checked}};
    return j.written();
}

std::string generating_function_text(const GeneratingFunction &f) {
    return formatted(
        "({})\n/ ({})\norder {}: no shorter recurrence has these terms, and this one is proven for all "
        "of them\n",
        polynomial(f.numerator), polynomial(f.denominator), f.order);
}

} // namespace libperm
