// perm_compute, perm_plan_create and what is asked of plans over all kinds of matrices and options.
#include "tests/fuzz/inputs.hpp"

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const perm_opts opts = options(bytes);
    const bool by_plan = bytes.chance(64);
    const Matrix a(bytes);
    perm_result result = PERM_RESULT_INIT;
    if (!by_plan) return check_call(perm_compute(&a.csr, &opts, &result), result);
    perm_plan *plan = nullptr;
    const perm_status status = perm_plan_create(&a.csr, &opts, &plan);
    if (status == PERM_INTERNAL) fail(perm_last_error());
    require((status == PERM_OK) == (plan != nullptr), "a plan, or a failure, but not both");
    if (!plan) return;
    std::size_t needed = 0;
    for (const perm_format format : {PERM_FORMAT_TEXT, PERM_FORMAT_JSON, PERM_FORMAT_PICTURE})
        require(perm_plan_explain(plan, format, nullptr, 0, &needed) == PERM_OK, perm_last_error());
    check_call(perm_plan_execute(plan, a.csr.values, &result), result);
    // Of entries, rows and columns, complex numbers at most.
    std::vector<double> numbers(2 * (a.col_idx.size() + 24)), bounds(numbers.size());
    check_call(perm_plan_gradient(plan, a.csr.values, numbers.data(), bounds.data(), &result), result);
    check_call(perm_plan_marginals(plan, a.csr.values, numbers.data(), bounds.data(), &result), result);
    perm_plan_destroy(plan);
    check_call(perm_marginals(&a.csr, &opts, numbers.data(), bounds.data(), &result), result);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> all;
    for (const char fill : {'\x01', '\x21', '\x42', '\x63', '\x84', '\x05', '\x46'})
        for (const int size : {40, 200, 600}) {
            std::string input(static_cast<std::size_t>(size), fill);
            for (std::size_t k = 0; k < input.size(); ++k)
                input[k] = static_cast<char>(fill * (k % 7 + 1) + (k % 5));
            all.push_back(std::move(input));
        }
    return all;
}
