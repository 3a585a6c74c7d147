#include "jit/tree_kernel.hpp"

#include "jit/row_sums.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace libperm {
namespace {

constexpr const char *method = "    __device__ __forceinline__ ";

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class TreeRows {
  public:
    explicit TreeRows(const GrayKernel &kernel) : tree_(kernel.tree), constants_(constants_read(tree_)) {}

    std::string text() {
        const std::int64_t numbers = tree_parameter_count(tree_) - tree_.n;
        add("struct Values {{\n    double x[n], a[{}]; // entries, then constants\n}};\n\n"
            "struct Rows {{\n    const Values &v;\n",
            std::max<std::int64_t>(1, numbers));
        add("    double x0");
        for (std::int32_t r = 1; r < tree_.n; ++r) add("{}x{}", r % 16 == 0 ? ",\n        " : ", ", r);
        add(";\n");
        const TreePart &root = tree_.root;
        loops_ = tree_.segment_bits - root.loop;
        add("    double q0");
        for (std::int32_t j = 1; j <= loops_; ++j) add(", q{}", j);
        add("; // products of the rows whose lowest column is the loop's j-th, or higher\n\n");
        add("{}Rows(const Values &values) : v(values) {{\n", method);
        for (std::int32_t r = 0; r < tree_.n; ++r) add("        x{0} = v.x[{0}];\n", r);
        add("    }}\n\n");
        change(root.loop, tree_.n - 1, "change");
        settle();
        add("{}double outer() const {{ return q0; }}\n\n", method);
        inner(root, "inner");
        add("}};\n");
        return std::move(text_);
    }

  private:
    template <class... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }

    // Sums are exact, so that a sign does not cost a rounding.
    void change(std::int32_t begin, std::int32_t end, const std::string &name) {
        add("{}void {}(int column, double sign) {{\n        switch (column) {{\n", method, name);
        for (std::int32_t c = begin; c < end; ++c) {
            add("        case {}:", c);
            for (auto e = tree_.column_ptr[at(c)]; e < tree_.column_ptr[at(c) + 1]; ++e)
                add(" x{0} = fma(sign, v.a[{1}], x{0});", tree_.row[at(e)], e);
            add(" break;\n");
        }
        add("        default: break;\n        }}\n    }}\n\n");
    }

    // Multiplies by the rows' sums, from left to right.
    std::string times(std::string product, const std::vector<std::int32_t> &rows) {
        for (const std::int32_t r : rows) product += fmt::format("{}x{}", product.empty() ? "" : " * ", r);
        return product;
    }

    // After the loop's j-th column has changed, or for j = loops, one above it.
    void settle() {
        const TreePart &root = tree_.root;
        std::string top = times("", tree_.fixed_rows);
        for (std::size_t j = root.level.size(); j-- > at(loops_);) top = times(std::move(top), root.level[j]);
        add("{}void settle(int j) {{\n        switch (j) {{\n", method);
        add("        case {0}: q{0} = {1}; [[fallthrough]];\n", loops_, top.empty() ? "1" : top);
        levels("        ", root, loops_);
        add("        default: break;\n        }}\n    }}\n\n");
    }

    void levels(const char *indent, const TreePart &part, std::int32_t loops) {
        for (std::int32_t j = loops; j-- > 0;)
            add("{0}case {1}: q{1} = {2}; [[fallthrough]];\n", indent, j,
                times(fmt::format("q{}", j + 1), part.level[at(j)]));
    }

    void inner(const TreePart &part, const std::string &name) {
        std::vector<std::string> parts;
        for (const TreePart &p : part.parts) parts.push_back(looped(p));
        add("{}void {}(double &sum, double &absolute) {{\n", method, name);
        if (parts.empty()) {
            leaf(part.leaf);
        } else {
            add("        {}(sum, absolute);\n", parts.front());
            for (std::size_t k = 1; k < parts.size(); ++k)
                add("        {{\n            double s, q;\n            {}(s, q);\n            sum = sum * s, "
                    "absolute = absolute * q;\n        }}\n",
                    parts[k]);
        }
        add("    }}\n\n");
    }

    // The function of a part of another.
    std::string looped(const TreePart &part) {
        std::string name = fmt::format("part{}", parts_++);
        const std::int32_t loops = part.end - part.loop;
        if (loops == 0) {
            inner(part, name);
            return name;
        }
        inner(part, name + "_inner");
        change(part.loop, part.end, name + "_change");
        add("{}void {}(double &sum, double &absolute) {{\n        TreeSums sums;\n        double ", method,
            name);
        for (std::int32_t j = 0; j < loops; ++j) add("{}q{} = 1", j > 0 ? ", " : "", j);
        add(";\n        const double q{} = 1;\n", loops);
        add("#pragma unroll 1\n        for (unsigned m = 0;;) {{\n            switch (m == 0 ? {} : "
            "lowest_bit(m)) {{\n",
            loops - 1);
        levels("            ", part, loops);
        add("            default: break;\n            }}\n"
            "            double s, q;\n            {0}_inner(s, q);\n            sums.add(m, q0, s, q);\n"
            "            if (++m == {1}u) break;\n            const int j = lowest_bit(m);\n"
            "            {0}_change({2} + j, comes_in(m, j) ? 1 : -1);\n        }}\n"
            "        {0}_change({3}, -1);\n"
            "        sum = sums.sum + sums.error, absolute = sums.absolute;\n    }}\n\n",
            name, std::uint32_t{1} << loops, part.loop, part.end - 1);
        return name;
    }

    std::string value(const StraightLine &program, std::int32_t v) const {
        return v < program.inputs ? fmt::format("x{}", v) : fmt::format("t{}", v - program.inputs);
    }

    std::int64_t place_of(std::int32_t constant) const {
        const auto found = std::lower_bound(constants_.begin(), constants_.end(), constant);
        return static_cast<std::int64_t>(tree_.row.size()) + (found - constants_.begin());
    }

    void leaf(const StraightLine &program) {
        if (program.outputs.empty()) {
            add("        sum = 1, absolute = 1;\n");
            return;
        }
        const auto [row_sums, restored] = row_sums_of(tree_, program);
        for (std::size_t k = 0; k < program.code.size(); ++k) {
            const Instruction &i = program.code[k];
            const std::string a = value(program, i.a);
            add("        const double t{} = ", k);
            switch (i.op) {
            case Op::add:
                add("{} {} v.a[{}];\n", value(program, row_sums[k].from), row_sums[k].in ? '+' : '-',
                    row_sums[k].entry < 0 ? place_of(i.b) : row_sums[k].entry);
                break;
            case Op::multiply:
                add("{} * {};\n", a, value(program, i.b));
                break;
            case Op::subtract:
                add("{} - {};\n", a, value(program, i.b));
                break;
            case Op::nmadd:
                add("fma(-{}, {}, {});\n", a, value(program, i.b), value(program, i.c));
                break;
            case Op::add_absolute:
                add("fabs({}) + fabs({});\n", a, value(program, i.b));
                break;
            case Op::multiply_absolute:
                add("fabs({}) * {};\n", a, value(program, i.b));
                break;
            case Op::madd_absolute:
                add("fma(fabs({}), {}, {});\n", a, value(program, i.b), value(program, i.c));
                break;
            }
        }
        for (const Restored &r : restored)
            add("        x{} = {} - v.a[{}];\n", r.row, value(program, r.value), r.entry);
        add("        sum = {}, absolute = {};\n", value(program, program.outputs[0]),
            value(program, program.outputs[1]));
    }

    const Tree &tree_;
    const std::vector<std::int32_t> constants_; // of the tree; they follow the entries
    std::int32_t loops_ = 0, parts_ = 0;
    std::string text_;
};

} // namespace

std::string tree_text(const GrayKernel &kernel) { return TreeRows(kernel).text(); }

std::int64_t tree_parameter_count(const Tree &tree) {
    return tree.n + static_cast<std::int64_t>(tree.row.size() + constants_read(tree).size());
}

std::vector<double> tree_parameters(const Tree &tree, const std::vector<double> &numbers) {
    const auto constants = numbers.begin() + tree.n + static_cast<std::ptrdiff_t>(tree.row.size());
    std::vector<double> parameters(numbers.begin(), constants);
    for (const std::int32_t c : constants_read(tree)) parameters.push_back(constants[c]);
    return parameters;
}

std::string shape_text(const TreePart &part) {
    std::string text = fmt::format("{} {} {}", part.begin, part.loop, part.end);
    for (const TreePart &p : part.parts) text += " (" + shape_text(p) + ")";
    return text;
}

} // namespace libperm
