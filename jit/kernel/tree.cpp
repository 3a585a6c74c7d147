#include "jit/kernel/tree.hpp"

#include "jit/kernel/leaf.hpp"
#include "jit/number/index.hpp"
#include "jit/program/tree.hpp"
#include "jit/text/text.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Numbers of the first parameter behind the row sums. The columns above a segment's are most of all and
// change least. They stand there in full, an entry or 0 for each row, and all have one code: a switch over
// them takes half of the compiler's time. But rows in shared memory are changed in a loop over entries.
struct Layout {
    std::int64_t entries, constants;
    std::int32_t full_columns;
};

Layout layout_of(const SubsetKernel &kernel) {
    const Tree &tree = kernel.tree;
    const std::int32_t full_columns = rows_in_shared(kernel) ? 0 : tree.n - 1 - tree.segment_bits;
    return {tree.column_ptr[at(tree.n - 1 - full_columns)],
            static_cast<std::int64_t>(constants_read(tree).size()), full_columns};
}

class TreeRows {
  public:
    explicit TreeRows(const SubsetKernel &kernel)
        : tree_(kernel.tree),
          arithmetic_(kernel.arithmetic),
          in_shared_(rows_in_shared(kernel)),
          layout_(layout_of(kernel)),
          constants_(constants_read(tree_)) {}

    std::string text() {
        const std::int64_t numbers = layout_.entries + layout_.constants;
        add("struct Values {{\n    Row x[n];");
        if (numbers > 0) add("\n    Row a[{}]; // entries, then constants", numbers);
        if (layout_.full_columns > 0) add("\n    Row full[{}][n]; // columns", layout_.full_columns);
        add("{}\n}};\n\nstruct Rows : {} {{\n    const Values &v;\n", arithmetic_member(arithmetic_),
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

    // Sums are exact, so that a sign does not cost a rounding.
    void change(std::int32_t begin, std::int32_t end, const std::string &name) {
        add("{}void {}(int column, double sign) {{\n", device_method, name);
        if (in_shared_) { // a loop: code for each column would be longer than all the rest
            add("        if (column < 0) return;\n#pragma unroll 1\n"
                "        for (int e = pattern_column_ptr[column]; e < pattern_column_ptr[column + 1]; ++e)\n"
                "            change_row(pattern_row[e], sign, v.a[e]);\n    }}\n\n");
            return;
        }
        const std::int32_t full_from = tree_.n - 1 - layout_.full_columns;
        add("        switch (column) {{\n");
        for (std::int32_t c = begin; c < std::min(end, full_from); ++c) {
            add("        case {}:", c);
            for (auto e = tree_.column_ptr[at(c)]; e < tree_.column_ptr[at(c) + 1]; ++e)
                add(" x{0} = add_signed(x{0}, sign, v.a[{1}]);", tree_.row[at(e)], e);
            add(" break;\n");
        }
        if (end > full_from) change_of_full_columns(full_from);
        add("        default: break;\n        }}\n    }}\n\n");
    }

    // Named one by one, they are compiled faster than as all others.
    void change_of_full_columns(std::int32_t from) {
        for (std::int32_t c = from; c + 1 < tree_.n; ++c)
            add("        case {}:{}", c, c + 2 < tree_.n ? "\n" : "");
        add(" {{\n            const Row *a = v.full[column - {}];\n           ", from);
        for (std::int32_t r = 0; r < tree_.n; ++r) add(" x{0} = add_signed(x{0}, sign, a[{0}]);", r);
        add(" break;\n        }}\n");
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
        return layout_.entries + (found - constants_.begin());
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

    // What an instruction comes to.
    std::string result(const StraightLine &program, const Instruction &i, const RowSum &sum) const {
        const auto v = [&](std::int32_t operand) { return value(program, operand); };
        const auto n = [&](std::int32_t operand) { return number(program, operand); };
        const auto absolute = [&](std::int32_t operand) { return size(program, operand); };
        switch (i.op) {
        case Op::add:
            return formatted("{}({}, v.a[{}])", sum.in ? "add" : "subtract", v(sum.from),
                             sum.entry < 0 ? place_of(i.b) : sum.entry);
        case Op::multiply:
            return formatted("multiply({}, {})", v(i.a), v(i.b));
        case Op::subtract: // of numbers, also where they are row sums
            return formatted("subtract({}, {})", n(i.a), n(i.b));
        case Op::nmadd:
            return formatted("nmadd({}, {}, {})", v(i.a), v(i.b), v(i.c));
        case Op::plus:
            return formatted("add({}, {})", n(i.a), n(i.b));
        case Op::madd:
            return formatted("madd({}, {}, {})", v(i.a), v(i.b), v(i.c));
        case Op::add_absolute:
            return formatted("{} + {}", absolute(i.a), absolute(i.b));
        case Op::multiply_absolute:
            return formatted("{} * {}", absolute(i.a), absolute(i.b));
        case Op::madd_absolute:
        case Op::derivative_absolute:
            return formatted("fma({}, {}, {})", absolute(i.a), absolute(i.b), absolute(i.c));
        case Op::least:
            return formatted("least({}, {})", v(i.a), v(i.b));
        case Op::reciprocal:
            return formatted("reciprocal({})", v(i.a));
        }
        return "";
    }

    void leaf(const StraightLine &program) {
        if (program.outputs.empty()) {
            add("        sum = number(1), absolute = 1;\n");
            return;
        }
        const auto [row_sums, restored] = row_sums_of(tree_, program);
        for (std::size_t k = 0; k < program.code.size(); ++k) {
            const Instruction &i = program.code[k];
            add("        const {} t{} = {};\n",
                is_absolute(i.op) ? "double"
                : i.op == Op::add ? "Row"
                                  : "Number",
                k, result(program, i, row_sums[k]));
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
    const Layout layout_;
    const std::vector<std::int32_t> constants_; // of the tree; they follow the entries
    std::int32_t loops_ = 0, parts_ = 0;
    std::string text_;
};

} // namespace

std::string tree_text(const SubsetKernel &kernel) { return TreeRows(kernel).text(); }

std::int64_t tree_parameter_count(const SubsetKernel &kernel) {
    const Layout layout = layout_of(kernel);
    return layout.entries + layout.constants + kernel.tree.n * (std::int64_t{1} + layout.full_columns);
}

std::int64_t tree_text_size(const SubsetKernel &kernel) {
    const Tree &tree = kernel.tree;
    const Layout layout = layout_of(kernel);
    const std::int32_t begin = tree.root.parts.empty() ? tree.root.loop : 0;
    return leaf_code(tree) + layout.entries - tree.column_ptr[at(begin)] +
           (layout.full_columns > 0 ? tree.n : 0);
}

std::vector<double> tree_parameters(const SubsetKernel &kernel, const std::vector<double> &values) {
    const Tree &tree = kernel.tree;
    const Layout layout = layout_of(kernel);
    const auto parts = static_cast<std::ptrdiff_t>(row_parts_of(kernel.arithmetic));
    const auto number = [&](std::ptrdiff_t k) { return values.begin() + parts * k; };
    const auto entry = [&](std::int64_t e) { return number(tree.n + e); };
    std::vector<double> parameters(number(0), entry(layout.entries));
    for (const std::int32_t c : constants_read(tree)) {
        const auto constant = entry(static_cast<std::int64_t>(tree.row.size()) + c);
        parameters.insert(parameters.end(), constant, constant + parts);
    }
    for (std::int32_t c = tree.n - 1 - layout.full_columns; c + 1 < tree.n; ++c) {
        const auto column = static_cast<std::ptrdiff_t>(parameters.size());
        parameters.resize(parameters.size() + at(parts * tree.n));
        for (auto e = tree.column_ptr[at(c)]; e < tree.column_ptr[at(c) + 1]; ++e)
            std::copy(entry(e), entry(e + 1), parameters.begin() + column + parts * tree.row[at(e)]);
    }
    parameters.insert(parameters.end(), values.end() - doubles_of_its_own(kernel.arithmetic), values.end());
    return parameters;
}

std::string shape_text(const TreePart &part) {
    std::string text = formatted("{} {} {}", part.begin, part.loop, part.end);
    for (const TreePart &p : part.parts) text += " (" + shape_text(p) + ")";
    return text;
}

} // namespace libperm
