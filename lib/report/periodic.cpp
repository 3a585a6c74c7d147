#include "lib/report/report.hpp"

#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/answers/terms.hpp"
#include "lib/periodic/period/period_levels.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

// How a plan's operator is stored, a table changed in place, or the rows of a cell as factors, of joined ends
// for each start, and what that takes on the plan's threads: of doubles, of tables of a residue. Squares:
// written out as full matrices and squared: from which length on, blocks, in how many sectors, of so many
// orbits at most.
Json storage_of(const PeriodicPlan &plan) {
    const double threads = plan.options.threads;
    const std::int64_t begin = plan.first_term() + 1;
    if (plan.tables)
        return {{"form", "table"},
                {"seconds_of_cell", exact_seconds(plan, begin, 1, 0) / static_cast<double>(begin) / threads}};
    Json stored{{"form", "factors"}, {"seconds_of_cell", float_seconds(plan, begin, 1, false) / threads}};
    const std::int64_t doubles_from = squared_from(plan, false);
    if (doubles_from == 0) return stored;
    constexpr std::int64_t million = 1000000;
    std::int64_t blocks = 0, sectors = 0;
    std::size_t largest = 0;
    for (const PeriodBlock &block : plan.blocks()) {
        if (block.alike == 0) continue;
        ++blocks;
        for (const Sector &sector : sectors_of(block)) {
            sectors += sector.size() > 0;
            largest = std::max(largest, sector.size());
        }
    }
    stored["squares"] = {{"doubles_from", doubles_from},
                         {"dd_from", squared_from(plan, true)},
                         {"blocks", blocks},
                         {"sectors", sectors},
                         {"largest", largest},
                         {"seconds_of_million", squares_seconds(plan, million, !plan.real, false) / threads}};
    return stored;
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

Json json_of(const PeriodicPlan &plan) {
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
    j["storage"] = storage_of(plan);
    j["nonnegative"] = plan.nonnegative;
    j["integers"] = plan.integers;
    return j;
}

} // namespace

std::string periodic_json(const PeriodicPlan &plan) { return json_of(plan).written(); }

std::string periodic_text(const PeriodicPlan &plan) {
    const Json j = json_of(plan);
    const bool joined = j.flag("joined");
    std::string text = formatted("cells of {} rows, coupled to {} on either side, {} ends\n",
                                 j.integer("rows"), j.integer("reach"), joined ? "joined" : "open");
    text += formatted("frontier over the {}: {} columns open at a cut, {} states, {:.0f} moves a cell\n",
                      j.flag("transposed") ? "columns" : "rows", j.integer("open_columns"),
                      j.integer("states"), j.at("moves").number());
    if (plan.tables)
        text += formatted(
            "not written out: a table of {} slots is changed in place, {} cells until they come round\n",
            plan.tables->slots, plan.tables->periods);
    if (const Json *loops = j.find("loops"))
        text += formatted("{} loops of states, each with a trace of its own\n", loops->integer());
    const Json &stored = j.at("storage");
    text += formatted("stored as {}: about {:.2g} s a cell\n",
                      plan.tables ? "a table of residues" : "the factors that its rows are",
                      stored.at("seconds_of_cell").number());
    if (const Json *squares = stored.find("squares"))
        text +=
            formatted("in doubles squared from {0} cells on, as full matrices, the largest {1} x {1}: about "
                      "{2:.2g} s for a million cells\n",
                      squares->integer("doubles_from"), squares->integer("largest"),
                      squares->at("seconds_of_million").number());
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
