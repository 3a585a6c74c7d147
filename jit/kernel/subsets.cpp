#include "jit/kernel/subsets.hpp"

#include "jit/text/text.hpp"

#include <algorithm>
#include <bit>

namespace libperm {

const char *subset_engine_name(SubsetEngine engine) {
    static constexpr const char *names[] = {"shared", "dense", "purereg", "hybrid", "tree"};
    return names[static_cast<std::size_t>(engine)];
}

const char *summation_name(Summation summation) {
    static constexpr const char *names[] = {"plain", "kahan", "dq"};
    return names[static_cast<std::size_t>(summation)];
}

KernelColumns columns_of(const SubsetKernel &kernel) {
    KernelColumns columns{kernel.column_ptr, kernel.row};
    if (kernel.engine != SubsetEngine::dense) return columns;
    for (std::int32_t j = 0; j <= kernel.n; ++j) columns.column_ptr.push_back(std::int64_t{j} * kernel.n);
    for (std::int32_t e = 0; e < kernel.n * kernel.n; ++e) columns.row.push_back(e % kernel.n);
    return columns;
}

const char *walk_entry(const SubsetKernel &kernel) { return kernel.again ? refined_entry : gray_entry; }

bool refines(const SubsetKernel &kernel) {
    const bool by_split = kernel.arithmetic == Arithmetic::two_grids && kernel.engine == SubsetEngine::tree;
    return (kernel.arithmetic == Arithmetic::real || by_split) && !kernel.equal_chunks;
}

std::int64_t entry_count(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::dense ? std::int64_t{kernel.n} * kernel.n
                                                : static_cast<std::int64_t>(kernel.row.size());
}

std::int64_t value_count(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::tree ? value_count(kernel.tree) : kernel.n + entry_count(kernel);
}

bool rows_in_shared(const SubsetKernel &kernel) {
    // Doubles that leave room for a program's values.
    const int parts = row_parts_of(kernel.arithmetic), few = parts_of(kernel.arithmetic) == 1 ? 80 : 48;
    return kernel.engine == SubsetEngine::tree && parts > 1 && parts * kernel.n > few;
}

std::size_t shared_bytes(const SubsetKernel &kernel, int threads) {
    const auto n = static_cast<std::size_t>(kernel.n);
    const std::size_t number = static_cast<std::size_t>(row_parts_of(kernel.arithmetic)) * sizeof(double);
    if (kernel.engine == SubsetEngine::dense) return n * (n + n % 2) * number;
    if (rows_in_shared(kernel)) return n * static_cast<std::size_t>(kernel.threads) * number;
    if (kernel.engine != SubsetEngine::shared) return 0;
    const std::size_t nnz = kernel.row.size();
    return (nnz + n * static_cast<std::size_t>(threads)) * number + (n + 1 + nnz) * sizeof(int);
}

int threads_of_rows(const SubsetKernel &kernel) {
    constexpr std::size_t most_bytes = 96 << 10; // that nearly all GPUs give a block
    int threads = kernel.threads;
    const std::size_t rows = shared_bytes(kernel, threads) / static_cast<std::size_t>(threads);
    while (threads > 32 && rows * static_cast<std::size_t>(threads) > most_bytes) threads /= 2;
    return threads;
}

int accurate_threads(const SubsetKernel &kernel) { return 1 << std::min(kernel.segment_bits, 6); }

std::int64_t global_rows(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::hybrid ? kernel.n - kernel.k : 0;
}

namespace {

class RegisterRows {
  public:
    explicit RegisterRows(const SubsetKernel &kernel)
        : kernel_(kernel),
          hybrid_(kernel.engine == SubsetEngine::hybrid),
          k_(hybrid_ ? kernel.k : kernel.n) {}

    std::string text() {
        add("struct Values {{\n    Number x[n], a[{}];{}\n}};\n\n",
            std::max<std::size_t>(1, kernel_.row.size()), arithmetic_member(kernel_.arithmetic));
        add("struct Rows : Numbers {{\n    const Values &v;\n");
        names();
        constructor();
        for (std::int32_t j = 0; j + 1 < kernel_.n; ++j) {
            column(j, true);
            column(j, false);
        }
        change();
        settle();
        product();
        block();
        add("}};\n");
        return std::move(text_);
    }

  private:
    template <class... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
        text_ += formatted(format, std::forward<Args>(args)...);
    }

    // A list in lines of a readable length.
    template <class Item>
    void list(const char *indent, std::int32_t count, const char *separator, const Item &item) {
        for (std::int32_t r = 0; r < count; ++r) {
            if (r > 0) text_ += separator;
            if (r > 0 && r % 12 == 0) add("\n{}", indent);
            text_ += item(r);
        }
    }

    void names() {
        if (k_ > 0) {
            add("    Number ");
            list("        ", k_, ", ", [](std::int32_t r) { return formatted("x{}", r); });
            add("; // in registers\n");
        }
        if (!hybrid_) return;
        add("    Number *x;                 // of row k + r: x[threads * r]\n"
            "    Number global_product;     // of these\n"
            "    bool settled;              // it is up to date\n");
    }

    void constructor() {
        add("\n{}Rows(const Values &values{})\n        : Numbers{{{}}}, v(values)", device_method,
            hybrid_ ? ", Number *global_x" : "", arithmetic_argument(kernel_.arithmetic));
        if (hybrid_) add(", x(global_x), global_product(number(1)), settled(false)");
        add(" {{\n");
        for (std::int32_t r = 0; r < k_; ++r) add("        x{0} = v.x[{0}];\n", r);
        if (hybrid_) add("        for (int r = k; r < n; ++r) x[threads * (r - k)] = v.x[r];\n");
        add("    }}\n\n");
    }

    void column(std::int32_t j, bool in) {
        add("{}void c{}_{}() {{", device_method, j, in ? "inc" : "exc");
        for (auto e = kernel_.column_ptr[static_cast<std::size_t>(j)];
             e < kernel_.column_ptr[static_cast<std::size_t>(j) + 1]; ++e) {
            const std::int32_t r = kernel_.row[static_cast<std::size_t>(e)];
            const char *change = in ? "plus" : "minus";
            if (r < k_)
                add(" {}(x{}, v.a[{}]);", change, r, e);
            else
                add(" {}(x[threads * {}], v.a[{}]);", change, r - k_, e);
        }
        if (touches_global(j)) add(" settled = false;");
        add(" }}\n");
    }

    bool touches_global(std::int32_t j) const {
        const auto begin = kernel_.row.begin() + kernel_.column_ptr[static_cast<std::size_t>(j)];
        const auto end = kernel_.row.begin() + kernel_.column_ptr[static_cast<std::size_t>(j) + 1];
        return std::any_of(begin, end, [this](std::int32_t r) { return r >= k_; });
    }

    // By number, of columns that are not unrolled; and of those that come in before the first block.
    void change() {
        add("\n{}void bring_in(int column) {{\n        switch (column) {{\n", device_method);
        for (std::int32_t j = kernel_.equal_chunks ? 0 : std::max(0, kernel_.unrolled - 1); j + 1 < kernel_.n;
             ++j)
            add("        case {0}: c{0}_inc(); break;\n", j);
        add("        default: break;\n        }}\n    }}\n\n");
        add("{}void change(int column, bool in) {{\n        switch (column) {{\n", device_method);
        for (std::int32_t j = kernel_.equal_chunks ? 0 : kernel_.unrolled; j + 1 < kernel_.n; ++j)
            add("        case {0}: if (in) c{0}_inc(); else c{0}_exc(); break;\n", j);
        add("        default: break;\n        }}\n    }}\n\n");
    }

    void settle() {
        if (!hybrid_) {
            add("{}void settle() {{}}\n\n", device_method);
            return;
        }
        add("    // Columns below c leave the product of the rows in global memory as it is.\n"
            "{}void settle() {{\n"
            "        if (settled) return;\n"
            "        Number p[4] = {{number(1), number(1), number(1), number(1)}};\n"
            "#pragma unroll\n"
            "        for (int r = 0; r < n - k; ++r) p[r % 4] = multiply(p[r % 4], x[threads * r]);\n"
            "        global_product = multiply(multiply(p[0], p[1]), multiply(p[2], p[3]));\n"
            "        settled = true;\n    }}\n\n",
            device_method);
    }

    // Four products side by side, so that no multiplication waits for the one before.
    void product() {
        add("{}Number product() const {{\n", device_method);
        const std::int32_t factors = k_ + (hybrid_ ? 1 : 0), chains = std::min(factors, 4);
        const auto factor = [&](std::int32_t r) {
            return r < k_ ? formatted("x{}", r) : std::string("global_product");
        };
        for (std::int32_t chain = 0; chain < chains; ++chain) {
            add("        const Number p{} = times(", chain);
            list("            ", (factors - chain + 3) / 4, ", ",
                 [&](std::int32_t i) { return factor(4 * i + chain); });
            add(");\n");
        }
        static constexpr const char *result[] = {"number(1)", "p0", "multiply(p0, p1)", "times(p0, p1, p2)",
                                                 "multiply(multiply(p0, p1), multiply(p2, p3))"};
        add("        return {};\n    }}\n\n", result[chains]);
    }

    // The 2^unrolled subsets that begin at a multiple of it. Only the highest column's direction depends on
    // which block it is.
    void block() {
        const std::int32_t u = kernel_.unrolled;
        add("    // Block i of the walk: its first subset is in place.\n"
            "{}void block(u64 i, Partial &sums) {{\n        Terms terms(*this, {});\n",
            device_method, u > 0 ? "product()" : "i & 1 ? negate(product()) : product()");
        for (std::uint32_t m = 1; m < std::uint32_t{1} << u; ++m) {
            const int j = std::countr_zero(m);
            if (j == u - 1)
                add("        if (i & 1) c{0}_exc(); else c{0}_inc();", j);
            else
                add("        c{}_{}();", j, m >> j >> 1 & 1 ? "exc" : "inc");
            add(" terms.{}(product());\n", m & 1 ? "minus" : "plus");
        }
        add("        terms.add_to(sums);\n    }}\n");
    }

    const SubsetKernel &kernel_;
    const bool hybrid_;
    const std::int32_t k_; // rows in registers
    std::string text_;
};

} // namespace

const char *arithmetic_member(Arithmetic a) {
    return doubles_of_its_own(a) > 0 ? "\n    Arith arithmetic;" : "";
}

const char *arithmetic_argument(Arithmetic a) { return doubles_of_its_own(a) > 0 ? "values.arithmetic" : ""; }

std::string registers_text(const SubsetKernel &kernel) { return RegisterRows(kernel).text(); }

} // namespace libperm
