#include "jit/kernel/tree.hpp"

#include "jit/kernel/leaf_order.hpp"
#include "jit/kernel/row_sums.hpp"
#include "jit/kernel/subset_registers.hpp"
#include "jit/number/index.hpp"
#include "jit/program/tree_program.hpp"
#include "jit/text/text.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Where the code of the columns from c on ends, of `end`: those of the same rows have one that takes their
// entries from where the column says, if they stand side by side above a segment's, which change most.
std::int32_t end_of_code(const Tree &tree, std::int32_t c, std::int32_t end) {
    std::int32_t next = c + 1;
    if (c >= tree.segment_bits)
        while (next < end && have_same_rows(tree, c, next)) ++next;
    return next;
}

class TreeRows {
  public:
    explicit TreeRows(const SubsetKernel &kernel)
        : tree_(kernel.tree),
          arithmetic_(kernel.arithmetic),
          in_shared_(rows_in_shared(kernel)),
          constants_(constants_read(tree_)) {}

    std::string text() {
        const std::int64_t numbers = tree_parameter_count(tree_) - tree_.n;
        add("struct Values {{\n    Row x[n], a[{}]; // entries, then constants{}\n}};\n\n"
            "struct Rows : {} {{\n    const Values &v;\n",
            std::max<std::int64_t>(1, numbers), arithmetic_member(arithmetic_),
            in_shared_ ? "SharedRows" : "Numbers");
        if (!in_shared_) {
            add("    Row x0");
            for (std::int32_t r = 1; r < tree_.n; ++r) add("{}x{}", r % 16 == 0 ? ",\n        " : ", ", r);
            add(";\n");
        }
        const TreePart &root = tree_.root;
        loops_ = tree_.segment_bits - root.loop;
        add("    Number q0");
        for (std::int32_t j = 1; j <= loops_; ++j) add(", q{}", j);
        add("; // products of the rows whose lowest column is the loop's j-th, or higher\n\n");
        constructor();
        change(root.loop, tree_.n - 1, "change");
        settle();
        add("{}Number outer() const {{ return q0; }}\n\n", device_method);
        inner(root, "inner");
        add("}};\n");
        return std::move(text_);
    }

  private:
    template <class... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
        text_ += formatted(format, std::forward<Args>(args)...);
    }

    void constructor() {
        if (in_shared_) {
            add("{}Rows(const Values &values, unsigned char *shared) : SharedRows(values.x, shared), "
                "v(values) {{}}\n\n",
                device_method);
            return;
        }
        add("{}Rows(const Values &values) : Numbers{{{}}}, v(values) {{\n", device_method,
            arithmetic_argument(arithmetic_));
        for (std::int32_t r = 0; r < tree_.n; ++r) add("        x{0} = v.x[{0}];\n", r);
        add("    }}\n\n");
    }

    std::string row(std::int32_t r) const {
        return in_shared_ ? formatted("row({})", r) : formatted("x{}", r);
    }

    // Sums are exact, so that a sign does not cost a rounding. Columns of the same rows that stand side by
    // side have one code.
    void change(std::int32_t begin, std::int32_t end, const std::string &name) {
        add("{}void {}(int column, double sign) {{\n", device_method, name);
        if (in_shared_) { // a loop: code for each column would be longer than all the rest
            add("        if (column < 0) return;\n#pragma unroll 1\n"
                "        for (int e = pattern_column_ptr[column]; e < pattern_column_ptr[column + 1]; ++e)\n"
                "            change_row(pattern_row[e], sign, v.a[e]);\n    }}\n\n");
            return;
        }
        add("        switch (column) {{\n");
        for (std::int32_t c = begin, next; c < end; c = next) {
            next = end_of_code(tree_, c, end);
            const std::int64_t first = tree_.column_ptr[at(c)], last = tree_.column_ptr[at(c) + 1];
            const bool is_alone = next == c + 1;
            for (std::int32_t k = c; k < next; ++k) add("        case {}:{}", k, k + 1 < next ? "\n" : "");
            if (!is_alone)
                add(" {{\n            const Row *a = v.a + {} + (column - {}) * {};\n           ", first, c,
                    last - first);
            for (auto e = first; e < last; ++e)
                add(" x{0} = add_signed(x{0}, sign, {1}[{2}]);", tree_.row[at(e)], is_alone ? "v.a" : "a",
                    is_alone ? e : e - first);
            add(" break;\n");
            if (!is_alone) add("        }}\n");
        }
        add("        default: break;\n        }}\n    }}\n\n");
    }

    // The product of this and the rows' sums, from left to right.
    std::string times(const std::string &first, const std::vector<std::int32_t> &rows) const {
        if (rows.empty()) return first.empty() ? "number(1)" : first;
        std::string factors = first;
        for (const std::int32_t r : rows) factors += (factors.empty() ? "" : ", ") + row(r);
        return "times(" + factors + ")";
    }

    // After the loop's j-th column has changed, or for j = loops, one above it.
    void settle() {
        const TreePart &root = tree_.root;
        std::vector<std::int32_t> top = tree_.fixed_rows;
        for (std::size_t j = root.level.size(); j-- > at(loops_);)
            top.insert(top.end(), root.level[j].begin(), root.level[j].end());
        add("{}void settle(int j) {{\n        switch (j) {{\n", device_method);
        add("        case {0}: q{0} = {1}; [[fallthrough]];\n", loops_, times("", top));
        levels("        ", root, loops_);
        add("        default: break;\n        }}\n    }}\n\n");
    }

    void levels(const char *indent, const TreePart &part, std::int32_t loops) {
        for (std::int32_t j = loops; j-- > 0;)
            add("{0}case {1}: q{1} = {2}; [[fallthrough]];\n", indent, j,
                times(formatted("q{}", j + 1), part.level[at(j)]));
    }

    void inner(const TreePart &part, const std::string &name) {
        std::vector<std::string> parts;
        for (const TreePart &p : part.parts) parts.push_back(looped(p));
        add("{}void {}(Number &sum, double &absolute) {{\n", device_method, name);
        if (parts.empty()) {
            leaf(in_shared_ ? least_alive(tree_, part.leaf, arithmetic_) : part.leaf);
        } else {
            add("        {}(sum, absolute);\n", parts.front());
            for (std::size_t k = 1; k < parts.size(); ++k)
                add("        {{\n            Number s;\n            double q;\n            {}(s, q);\n"
                    "            sum = multiply(sum, s), absolute = absolute * q;\n        }}\n",
                    parts[k]);
        }
        add("    }}\n\n");
    }

    // The function of a part of another.
    std::string looped(const TreePart &part) {
        std::string name = formatted("part{}", parts_++);
        const std::int32_t loops = part.end - part.loop;
        if (loops == 0) {
            inner(part, name);
            return name;
        }
        inner(part, name + "_inner");
        change(part.loop, part.end, name + "_change");
        add("{}void {}(Number &sum, double &absolute) {{\n"
            "        Partial sums = sum_of_nothing<Arith>();\n        Number ",
            device_method, name);
        for (std::int32_t j = 0; j < loops; ++j) add("{}q{} = number(1)", j > 0 ? ", " : "", j);
        add(";\n        const Number q{} = number(1);\n", loops);
        add("#pragma unroll 1\n        for (unsigned m = 0;;) {{\n            switch (m == 0 ? {} : "
            "lowest_bit(m)) {{\n",
            loops - 1);
        levels("            ", part, loops);
        add("            default: break;\n            }}\n"
            "            Number s;\n            double q;\n            {0}_inner(s, q);\n"
            "            add_turn(*this, sums, m, q0, s, q);\n"
            "            if (++m == {1}u) break;\n            const int j = lowest_bit(m);\n"
            "            {0}_change({2} + j, comes_in(m, j) ? 1 : -1);\n        }}\n"
            "        {0}_change({3}, -1);\n"
            "        sum = total(sums.sum), absolute = sums.absolute;\n    }}\n\n",
            name, std::uint32_t{1} << loops, part.loop, part.end - 1);
        return name;
    }

    std::string value(const StraightLine &program, std::int32_t v) const {
        return v < program.inputs ? row(v) : formatted("t{}", v - program.inputs);
    }

    std::int64_t place_of(std::int32_t constant) const {
        const auto found = std::lower_bound(constants_.begin(), constants_.end(), constant);
        return static_cast<std::int64_t>(tree_.row.size()) + (found - constants_.begin());
    }

    std::string number(const StraightLine &program, std::int32_t v) const {
        const bool is_row = v < program.inputs || program.code[at(v - program.inputs)].op == Op::add;
        return is_row ? formatted("Number({})", value(program, v)) : value(program, v);
    }

    // |v|, a double.
    std::string size(const StraightLine &program, std::int32_t v) const {
        const bool is_size = v >= program.inputs && is_absolute(program.code[at(v - program.inputs)].op);
        return is_size ? value(program, v) : formatted("magnitude({})", value(program, v));
    }

    void leaf(const StraightLine &program) {
        if (program.outputs.empty()) {
            add("        sum = number(1), absolute = 1;\n");
            return;
        }
        const auto [row_sums, restored] = row_sums_of(tree_, program);
        for (std::size_t k = 0; k < program.code.size(); ++k) {
            const Instruction &i = program.code[k];
            const auto v = [&](std::int32_t operand) { return value(program, operand); };
            const auto absolute = [&](std::int32_t operand) { return size(program, operand); };
            add("        const {} t{} = ",
                is_absolute(i.op) ? "double"
                : i.op == Op::add ? "Row"
                                  : "Number",
                k);
            switch (i.op) {
            case Op::add:
                add("{}({}, v.a[{}]);\n", row_sums[k].in ? "add" : "subtract", v(row_sums[k].from),
                    row_sums[k].entry < 0 ? place_of(i.b) : row_sums[k].entry);
                break;
            case Op::multiply:
                add("multiply({}, {});\n", v(i.a), v(i.b));
                break;
            case Op::subtract: // of numbers, also where they are row sums
                add("subtract({}, {});\n", number(program, i.a), number(program, i.b));
                break;
            case Op::nmadd:
                add("nmadd({}, {}, {});\n", v(i.a), v(i.b), v(i.c));
                break;
            case Op::plus:
                add("add({}, {});\n", number(program, i.a), number(program, i.b));
                break;
            case Op::madd:
                add("madd({}, {}, {});\n", v(i.a), v(i.b), v(i.c));
                break;
            case Op::add_absolute:
                add("{} + {};\n", absolute(i.a), absolute(i.b));
                break;
            case Op::multiply_absolute:
                add("{} * {};\n", absolute(i.a), absolute(i.b));
                break;
            case Op::madd_absolute:
                add("fma({}, {}, {});\n", absolute(i.a), absolute(i.b), absolute(i.c));
                break;
            case Op::least:
                add("least({}, {});\n", v(i.a), v(i.b));
                break;
            case Op::reciprocal:
                add("reciprocal({});\n", v(i.a));
                break;
            case Op::derivative_absolute:
                add("fma({}, {}, {});\n", absolute(i.a), v(i.b), absolute(i.c));
                break;
            }
        }
        for (const Restored &r : restored) {
            if (in_shared_) break; // they have not gone
            add("        x{} = subtract({}, v.a[{}]);\n", r.row, value(program, r.value), r.entry);
        }
        add("        sum = {}, absolute = {};\n", value(program, program.outputs[0]),
            program.outputs.size() > 1 ? size(program, program.outputs[1]) : "0");
    }

    const Tree &tree_;
    const Arithmetic arithmetic_;
    const bool in_shared_;
    const std::vector<std::int32_t> constants_; // of the tree; they follow the entries
    std::int32_t loops_ = 0, parts_ = 0;
    std::string text_;
};

} // namespace

std::string tree_text(const SubsetKernel &kernel) { return TreeRows(kernel).text(); }

std::int64_t tree_parameter_count(const Tree &tree) {
    return tree.n + static_cast<std::int64_t>(tree.row.size() + constants_read(tree).size());
}

std::int64_t tree_text_size(const Tree &tree) {
    std::int64_t size = leaf_code(tree);
    for (std::int32_t c = tree.root.parts.empty() ? tree.root.loop : 0; c + 1 < tree.n;
         c = end_of_code(tree, c, tree.n - 1))
        size += tree.column_ptr[at(c + 1)] - tree.column_ptr[at(c)];
    return size;
}

std::vector<double> tree_parameters(const Tree &tree, const std::vector<double> &values,
                                    Arithmetic arithmetic) {
    const auto parts = static_cast<std::ptrdiff_t>(row_parts_of(arithmetic));
    const auto constants = values.begin() + parts * (tree.n + static_cast<std::ptrdiff_t>(tree.row.size()));
    std::vector<double> parameters(values.begin(), constants);
    for (const std::int32_t c : constants_read(tree))
        parameters.insert(parameters.end(), constants + parts * c, constants + parts * (c + 1));
    parameters.insert(parameters.end(), values.end() - doubles_of_its_own(arithmetic), values.end());
    return parameters;
}

std::string shape_text(const TreePart &part) {
    std::string text = formatted("{} {} {}", part.begin, part.loop, part.end);
    for (const TreePart &p : part.parts) text += " (" + shape_text(p) + ")";
    return text;
}

} // namespace libperm
