// Every call with every option: it counts, or is refused as the library's own table says
// (PERM_FORMAT_OPTIONS).
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <perm.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using nlohmann::json;

namespace {

using Call = std::function<perm_status(const perm_opts &)>;

const json &table() {
    static const json read = json::parse(perm::info(PERM_FORMAT_OPTIONS));
    return read;
}

bool has(const json &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string machine_text() {
    std::ifstream file(std::filesystem::path(PERM_TEST_SOURCE_DIR) / "../docs/machines/h200.json");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Of a banded matrix, too sparse for the road of small dense ones.
struct Band {
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> value;
    perm_csr csr = PERM_CSR_INIT;

    Band() {
        constexpr std::int64_t n = 12;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 2); ++j) {
                col.push_back(j);
                value.push_back(1 + static_cast<double>((3 * i + 5 * j) % 7) / 8);
            }
            row_ptr.push_back(std::ssize(col));
        }
        csr.n_rows = csr.n_cols = n;
        csr.nnz = row_ptr.back();
        csr.row_ptr = row_ptr.data();
        csr.col_idx = col.data();
        csr.values = value.data();
    }
};

// Of a task, which it frees.
perm_status first_shard(perm_task *task) {
    perm_partial found = PERM_PARTIAL_INIT;
    const perm_status status = perm_task_run_shard(task, 0, &found);
    perm_partial_clear(&found);
    perm_task_destroy(task);
    return status;
}

// By their names in the table; what one needs of another is asked for by default options.
class Calls {
  public:
    Calls() {
        a_["perm_compute"] = [this](const perm_opts &o) {
            perm::Result r;
            return perm_compute(&band_.csr, &o, r.raw());
        };
        a_["perm_compute_product"] = [this](const perm_opts &o) {
            perm_factors a = PERM_FACTORS_INIT;
            a.n = 3;
            a.rank = 2;
            a.u = numbers_;
            a.v = numbers_ + 6;
            perm::Result r;
            return perm_compute_product(&a, &o, r.raw());
        };
        a_["perm_permanents"] = [this](const perm_opts &o) {
            double found = 0;
            return perm_permanents(&dense_, &o, &found, nullptr);
        };
        a_["perm_sub_permanents"] = [this](const perm_opts &o) {
            double found[4];
            return perm_sub_permanents(&tall_, &o, found, nullptr);
        };
        a_["perm_gradients"] = [this](const perm_opts &o) {
            double found[9];
            return perm_gradients(&dense_, &o, found, nullptr, nullptr, nullptr);
        };
        a_["perm_sample_photons"] = [](const perm_opts &o) {
            const double unit[] = {1, 0, 0, 0, 0, 0, 1, 0};
            const std::int64_t photon_modes[] = {0, 1};
            perm_boson boson = PERM_BOSON_INIT;
            boson.modes = boson.inputs = boson.photons = 2;
            boson.amplitudes = unit;
            boson.photon_modes = photon_modes;
            std::int64_t found[2];
            return perm_sample_photons(&boson, &o, 1, 1, found);
        };
        a_["perm_bounds"] = [this](const perm_opts &o) {
            perm_interval found = PERM_INTERVAL_INIT;
            return perm_bounds(&band_.csr, &o, &found);
        };
        a_["perm_sample"] = [this](const perm_opts &o) {
            std::int64_t found[12];
            return perm_sample(&band_.csr, &o, 1, 1, found);
        };
        a_["perm_sampler_create"] = [this](const perm_opts &o) {
            perm_sampler *sampler = nullptr;
            const perm_status status = perm_sampler_create(&band_.csr, &o, 1, 1, &sampler);
            perm_sampler_destroy(sampler);
            return status;
        };
        a_["perm_matchings"] = [this](const perm_opts &o) {
            std::vector<perm_result> found(13, perm_result PERM_RESULT_INIT);
            const perm_status status = perm_matchings(&band_.csr, &o, 13, found.data());
            for (perm_result &r : found) perm_result_clear(&r);
            return status;
        };
        a_["perm_polynomial"] = [this](const perm_opts &o) {
            std::vector<perm_result> found(13, perm_result PERM_RESULT_INIT);
            const perm_status status = perm_polynomial(&band_.csr, band_.csr.values, &o, 13, found.data());
            for (perm_result &r : found) perm_result_clear(&r);
            return status;
        };
        a_["perm_estimate"] = [this](const perm_opts &o) {
            perm_estimated found = PERM_ESTIMATED_INIT;
            return perm_estimate(&band_.csr, &o, nullptr, &found);
        };
        a_["shards of perm_task_estimate"] = [this](const perm_opts &o) {
            perm_task *task = nullptr;
            const perm_status status = perm_task_estimate(&band_.csr, &o, nullptr, &task);
            return status == PERM_OK ? first_shard(task) : status;
        };
        add_of_plans();
        add_periodic();
    }

    const std::map<std::string, Call> &all() const { return a_; }

  private:
    void add_of_plans() {
        const auto add = [this](const char *name, const auto &with_plan) {
            a_[name] = [this, with_plan](const perm_opts &o) {
                perm_plan *plan = nullptr;
                perm_status status = perm_plan_create(&band_.csr, &o, &plan);
                if (status == PERM_OK) status = with_plan(plan, o);
                perm_plan_destroy(plan);
                return status;
            };
        };
        const double *values = band_.value.data();
        add("perm_plan_create", [](perm_plan *, const perm_opts &) { return PERM_OK; });
        add("perm_plan_load", [](perm_plan *plan, const perm_opts &o) {
            std::size_t size = 0;
            perm_status status = perm_plan_save(plan, nullptr, 0, &size);
            std::string bytes(size, '\0');
            if (status == PERM_OK) status = perm_plan_save(plan, bytes.data(), size, nullptr);
            perm_plan *loaded = nullptr;
            if (status == PERM_OK) status = perm_plan_load(bytes.data(), size, &o, &loaded);
            perm_plan_destroy(loaded);
            return status;
        });
        add("perm_plan_execute", [values](perm_plan *plan, const perm_opts &) {
            perm::Result r;
            return perm_plan_execute(plan, values, r.raw());
        });
        add("perm_plan_execute_batch", [values](perm_plan *plan, const perm_opts &) {
            perm::Result r;
            return perm_plan_execute_batch(plan, values, 0, 1, r.raw());
        });
        add("perm_plan_gradient", [this, values](perm_plan *plan, const perm_opts &) {
            std::vector<double> found(band_.value.size());
            return perm_plan_gradient(plan, values, found.data(), nullptr, nullptr);
        });
        add("perm_plan_gradient_batch", [this, values](perm_plan *plan, const perm_opts &) {
            std::vector<double> found(band_.value.size());
            return perm_plan_gradient_batch(plan, values, 0, 1, found.data(), nullptr, nullptr);
        });
        add("perm_plan_hessian_product", [this, values](perm_plan *plan, const perm_opts &) {
            std::vector<double> found(band_.value.size());
            return perm_plan_hessian_product(plan, values, band_.value.data(), found.data(), nullptr);
        });
        add("perm_plan_marginals", [this, values](perm_plan *plan, const perm_opts &) {
            std::vector<double> found(band_.value.size() + 24);
            return perm_plan_marginals(plan, values, found.data(), nullptr, nullptr);
        });
        add("shards of perm_task_plan", [values](perm_plan *plan, const perm_opts &) {
            perm_task *task = nullptr;
            const perm_status status = perm_task_plan(plan, values, &task);
            return status == PERM_OK ? first_shard(task) : status;
        });
    }

    void add_periodic() {
        const auto add = [this](const char *name, const auto &with_plan) {
            a_[name] = [this, with_plan](const perm_opts &o) {
                perm_periodic a = PERM_PERIODIC_INIT;
                a.cell = &cell_;
                perm_periodic_plan *plan = nullptr;
                perm_status status = perm_periodic_create(&a, &o, &plan);
                if (status == PERM_OK) status = with_plan(plan);
                perm_periodic_destroy(plan);
                return status;
            };
        };
        add("perm_periodic_create", [](perm_periodic_plan *) { return PERM_OK; });
        add("perm_periodic_execute", [](perm_periodic_plan *plan) {
            perm::Result r;
            return perm_periodic_execute(plan, 5, r.raw());
        });
        add("perm_periodic_generating_function", [](perm_periodic_plan *plan) {
            return perm_periodic_generating_function(plan, PERM_FORMAT_TEXT, nullptr, 0, nullptr);
        });
        add("perm_periodic_growth",
            [](perm_periodic_plan *plan) { return perm_periodic_growth(plan, nullptr, nullptr, nullptr); });
    }

    static perm_dense dense(std::int64_t rows, const double *values) {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = rows;
        a.n_cols = 3;
        a.values = values;
        return a;
    }

    Band band_;
    double numbers_[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
    perm_dense dense_ = dense(3, numbers_), tall_ = dense(4, numbers_);
    std::int64_t row_ptr_[2] = {0, 3}, col_[3] = {0, 1, 2};
    perm_csr cell_ = [this] {
        perm_csr cell = PERM_CSR_INIT;
        cell.n_rows = 1;
        cell.n_cols = cell.nnz = 3;
        cell.row_ptr = row_ptr_;
        cell.col_idx = col_;
        cell.value_type = PERM_VALUE_PATTERN;
        return cell;
    }();
    std::map<std::string, Call> a_;
};

// An option and a value for it; `name` is that of the table, "" where it is a default.
struct Given {
    std::string option, name;
    std::function<void(perm_opts &)> set;
};

std::vector<Given> given_options(const std::string &checkpoint, const std::string &machine) {
    std::vector<Given> all;
    const auto words = [&](const char *option, const char *perm_opts::*field,
                           std::vector<std::pair<const char *, const char *>> values) {
        for (const auto &[value, name] : values)
            all.push_back({option, name, [field, value = value](perm_opts &o) { o.*field = value; }});
    };
    words("engine", &perm_opts::engine,
          {{"auto", ""}, {"frontier", "frontier"}, {"tree", "tree"}, {"ryser", "ryser"}});
    words("device", &perm_opts::device, {{"auto", ""}, {"cpu", "cpu"}, {"gpu", "gpu"}});
    words("precision", &perm_opts::precision,
          {{"auto", ""},
           {"double", "double"},
           {"kahan", "kahan"},
           {"dq", "dq"},
           {"dd", "dd"},
           {"exact", "exact"},
           {"mod:7", "mod:P"},
           {"mpfr:100", "mpfr:BITS"}});
    words("without", &perm_opts::without, {{"", ""}, {"dm,merge", "some"}});
    words("decompose", &perm_opts::decompose, {{"auto", ""}, {"paper", "paper"}});
    words("chunks", &perm_opts::chunks, {{"ceg", ""}, {"equal", "equal"}});
    words("cache_dir", &perm_opts::cache_dir, {{"", "none"}});
    words("checkpoint", &perm_opts::checkpoint, {{"", ""}, {checkpoint.c_str(), "file"}});
    words("function", &perm_opts::function, {{"permanent", ""}, {"hafnian", "hafnian"}});
    words("machine", &perm_opts::machine, {{machine.c_str(), "another"}});
    const auto add = [&](const char *option, const char *name, const auto &set) {
        all.push_back({option, name, set});
    };
    add("tolerance", "", [](perm_opts &o) { o.tolerance = 1e-9; });
    add("tolerance", "1e-05", [](perm_opts &o) { o.tolerance = 1e-5; });
    add("threads", "1", [](perm_opts &o) { o.threads = 1; });
    add("memory_limit_bytes", "2^30", [](perm_opts &o) { o.memory_limit_bytes = 1 << 30; });
    add("time_limit_seconds", "100", [](perm_opts &o) { o.time_limit_seconds = 100; });
    add("seed", "3", [](perm_opts &o) { o.seed = 3; });
    add("progress", "a function", [](perm_opts &o) { o.progress = [](double, double, void *) {}; });
    add("cancel", "a function", [](perm_opts &o) { o.cancel = [](void *) { return 0; }; });
    add("cache_limit_bytes", "2^20", [](perm_opts &o) { o.cache_limit_bytes = 1 << 20; });
    add("checkpoint_seconds", "5", [&checkpoint](perm_opts &o) {
        o.checkpoint = checkpoint.c_str();
        o.checkpoint_seconds = 5;
    });
    add("gpus", "2", [](perm_opts &o) { o.gpus = 2; });
    return all;
}

// That refuses this value; null: none does.
const json *refusing_rule(const std::string &call, const Given &given) {
    for (const json &rule : table().at("rules")) {
        if (rule.at("status") == PERM_OK || !has(rule.at("calls"), call) ||
            !has(rule.at("options"), given.option))
            continue;
        const std::string values = ", " + rule.at("values").get<std::string>() + ", ";
        if (!given.name.empty() && values.find(", " + given.name + ", ") == std::string::npos) return &rule;
    }
    return nullptr;
}

bool is_a_rules(const std::string &text) {
    const json &rules = table().at("rules");
    return std::any_of(rules.begin(), rules.end(), [&](const json &rule) {
        return text.ends_with(": " + rule.at("why").get<std::string>());
    });
}

} // namespace

TEST_CASE("every call with every option") {
    const TemporaryFolder folder;
    const std::string checkpoint = folder / "kept", machine = machine_text();
    const Calls calls;
    const std::vector<Given> options = given_options(checkpoint, machine);
    for (const json &call : table().at("calls")) // one is no call, but what a command line asks for
        CHECK(calls.all().contains(call.get<std::string>()) != (call == "perm compute --or-estimate"));
    for (const json &option : table().at("options"))
        CHECK(std::ranges::any_of(options, [&](const Given &given) { return option == given.option; }));
    int counting = 0, refused = 0, kept = 0;
    for (const auto &[name, call] : calls.all()) {
        for (const Given &given : options) {
            CAPTURE(name);
            CAPTURE(given.option);
            CAPTURE(given.name);
            for (const char *end : {"", ".previous"}) std::filesystem::remove(checkpoint + end);
            perm_opts o = PERM_OPTS_INIT;
            given.set(o);
            const perm_status status = call(o);
            const std::string text = status == PERM_OK ? "" : perm_last_error();
            CAPTURE(text);
            const bool is_of_graph = given.name == "hafnian"; // which the band is none of
            if (is_of_graph && text.starts_with("a hafnian is of a symmetric matrix")) {
                CHECK(status == PERM_BAD_MATRIX);
            } else if (const json *rule = refusing_rule(name, given)) {
                ++refused;
                CHECK(status == rule->at("status").get<int>());
                CHECK(text.ends_with(": " + rule->at("why").get<std::string>()));
                CHECK(text.starts_with(given.option == "checkpoint_seconds" ? "checkpoint" : given.option));
            } else { // a GPU that is not there, or cannot do this, is no matter of the table
                ++counting;
                CHECK((status == PERM_OK || status == PERM_UNSUPPORTED));
                CHECK_FALSE(is_a_rules(text));
                kept +=
                    std::filesystem::exists(checkpoint) || std::filesystem::exists(checkpoint + ".previous");
                if (o.device == nullptr && o.gpus == 0 && given.option != "precision" && !is_of_graph)
                    CHECK(status == PERM_OK);
            }
        }
    }
    CHECK(kept >= 10);
    MESSAGE(counting, " count, ", refused, " are refused");
    CHECK(counting > 400);
    CHECK(refused > 150);
}

TEST_CASE("each word that the table has is taken, and no other") {
    const Band band;
    const std::map<std::string, const char * perm_opts::*> fields{
        {"engine", &perm_opts::engine},       {"device", &perm_opts::device},
        {"precision", &perm_opts::precision}, {"without", &perm_opts::without},
        {"decompose", &perm_opts::decompose}, {"chunks", &perm_opts::chunks},
        {"function", &perm_opts::function}};
    const std::map<std::string, std::string> others{
        {"gpu:LIST", "gpu:0"}, {"mod:P", "mod:7"}, {"mpfr:BITS", "mpfr:100"}};
    const std::string machine = machine_text(); // which has a GPU
    std::size_t words = 0;
    for (const auto &[name, facts] : table().at("facts").items()) {
        CAPTURE(name);
        const auto values = facts.at("values").get<std::string>();
        CHECK(values.empty() != fields.contains(name));
        if (values.empty()) continue;
        perm_opts o = PERM_OPTS_INIT;
        o.machine = machine.c_str();
        const auto status_of = [&](const std::string &word) {
            o.*fields.at(name) = word.c_str();
            perm_plan *plan = nullptr;
            const perm_status status = perm_plan_create(&band.csr, &o, &plan);
            perm_plan_destroy(plan);
            return status;
        };
        std::istringstream listed(values);
        for (std::string word; std::getline(listed >> std::ws, word, ',');) {
            CAPTURE(word);
            const auto other = others.find(word);
            const bool is_of_graph = word.ends_with("hafnian");
            CHECK(status_of(other == others.end() ? word : other->second) ==
                  (is_of_graph ? PERM_BAD_MATRIX : PERM_OK));
            ++words;
        }
        CHECK(status_of("odd") == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).starts_with("unknown "));
        CHECK(std::string(perm_last_error()).find(values.substr(0, values.find(','))) != std::string::npos);
    }
    CHECK(words > 30);
}

TEST_CASE("numbers are taken up to the most that the table has") {
    const Band band;
    const std::map<std::string, std::function<void(perm_opts &, double)>> fields{
        {"tolerance", [](perm_opts &o, double x) { o.tolerance = x; }},
        {"threads", [](perm_opts &o, double x) { o.threads = static_cast<std::int32_t>(x); }},
        {"memory_limit_bytes",
         [](perm_opts &o, double x) { o.memory_limit_bytes = static_cast<std::int64_t>(x); }},
        {"time_limit_seconds", [](perm_opts &o, double x) { o.time_limit_seconds = x; }},
        {"cache_limit_bytes",
         [](perm_opts &o, double x) { o.cache_limit_bytes = static_cast<std::int64_t>(x); }},
        {"checkpoint_seconds", [](perm_opts &o, double x) { o.checkpoint_seconds = x; }},
        {"gpus", [](perm_opts &o, double x) { o.gpus = static_cast<std::int32_t>(x); }}};
    std::size_t numbers = 0;
    for (const auto &[name, facts] : table().at("facts").items()) {
        CAPTURE(name);
        const auto type = facts.at("type").get<std::string>();
        const bool is_signed_number = type == "double" || type == "int32" || type == "int64";
        CHECK(is_signed_number == fields.contains(name));
        if (!is_signed_number) continue;
        ++numbers;
        const auto is_refused = [&, &name = name](double x) {
            perm_opts o = PERM_OPTS_INIT;
            fields.at(name)(o, x);
            perm_plan *plan = nullptr;
            const perm_status status = perm_plan_create(&band.csr, &o, &plan);
            perm_plan_destroy(plan);
            return status == PERM_BAD_OPTION && std::string(perm_last_error()).starts_with(name + " is ") &&
                   std::string(perm_last_error()).find(facts.at("otherwise")) != std::string::npos;
        };
        CHECK(is_refused(-1));
        CHECK_FALSE(is_refused(0));
        CHECK_FALSE(is_refused(5));
        const bool is_double = type == "double";
        if (is_double) CHECK(is_refused(std::numeric_limits<double>::quiet_NaN()));
        if (facts.at("most").is_null()) continue;
        const auto most = facts.at("most").get<double>();
        CHECK_FALSE(is_refused(most));
        CHECK(is_refused(is_double ? std::numeric_limits<double>::infinity() : most + 1));
    }
    CHECK(numbers == fields.size());
}

TEST_CASE("a time between writes needs a checkpoint") {
    const Calls calls;
    perm_opts o = PERM_OPTS_INIT;
    o.checkpoint_seconds = 5;
    for (const auto &[name, call] : calls.all()) {
        CAPTURE(name);
        CHECK(call(o) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).starts_with("checkpoint_seconds is given without a checkpoint"));
    }
}

TEST_CASE("the numbers of matchings of doubles are decimals, all of them") {
    const Band band;
    perm_opts o = PERM_OPTS_INIT;
    for (const char *precision : {"auto", "exact"}) {
        o.precision = precision;
        std::vector<perm_result> found(13, perm_result PERM_RESULT_INIT);
        REQUIRE(perm_matchings(&band.csr, &o, 13, found.data()) == PERM_OK);
        int fractions = 0;
        for (perm_result &r : found) {
            fractions += std::string(r.text).find('/') != std::string::npos;
            perm_result_clear(&r);
        }
        CHECK((fractions > 0) == (o.precision == std::string("exact")));
    }
}
