// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    Row x[n];
    Row a[12]; // entries, then constants
    Row full[1][n]; // columns
};

struct Rows : Numbers {
    const Values &v;
    Row x0, x1, x2, x3, x4, x5, x6;
    Number q0; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : Numbers{}, v(values) {
        x0 = v.x[0];
        x1 = v.x[1];
        x2 = v.x[2];
        x3 = v.x[3];
        x4 = v.x[4];
        x5 = v.x[5];
        x6 = v.x[6];
    }

    __device__ __forceinline__ void change(int column, double sign) {
        switch (column) {
        case 5: {
            const Row *a = v.full[column - 5];
            x0 = add_signed(x0, sign, a[0]); x1 = add_signed(x1, sign, a[1]); x2 = add_signed(x2, sign, a[2]); x3 = add_signed(x3, sign, a[3]); x4 = add_signed(x4, sign, a[4]); x5 = add_signed(x5, sign, a[5]); x6 = add_signed(x6, sign, a[6]); break;
        }
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 0: q0 = number(1); [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ Number outer() const { return q0; }

    __device__ __forceinline__ void part0(Number &sum, double &absolute) {
        const Number t0 = multiply(x0, x1);
        const Row t1 = add(x0, v.a[0]);
        const Row t2 = add(x1, v.a[1]);
        const Number t3 = multiply(t1, t2);
        const Number t4 = subtract(t0, t3);
        const double t5 = magnitude(t0) + magnitude(t3);
        const Row t6 = add(x5, v.a[4]);
        const Row t7 = add(t1, v.a[2]);
        const Row t8 = add(t2, v.a[3]);
        const Number t9 = multiply(t7, t8);
        const Row t10 = subtract(t7, v.a[0]);
        const Row t11 = subtract(t8, v.a[1]);
        const Number t12 = multiply(t10, t11);
        const Number t13 = subtract(t12, t9);
        const double t14 = magnitude(t9) + magnitude(t12);
        const Number t15 = multiply(x5, t4);
        const Number t16 = nmadd(t6, t13, t15);
        const double t17 = magnitude(x5) * t5;
        const double t18 = fma(magnitude(t6), t14, t17);
        x0 = subtract(t10, v.a[2]);
        x1 = subtract(t11, v.a[3]);
        sum = t16, absolute = t18;
    }

    __device__ __forceinline__ void part1_inner(Number &sum, double &absolute) {
        const Number t0 = multiply(x2, x4);
        const Row t1 = add(x4, v.a[6]);
        const Row t2 = add(x2, v.a[5]);
        const Number t3 = multiply(t1, t2);
        const Number t4 = subtract(t0, t3);
        const double t5 = magnitude(t0) + magnitude(t3);
        const Row t6 = add(x3, v.a[8]);
        const Row t7 = add(t2, v.a[7]);
        const Number t8 = multiply(t1, t7);
        const Row t9 = subtract(t7, v.a[5]);
        const Number t10 = multiply(x4, t9);
        const Number t11 = subtract(t10, t8);
        const double t12 = magnitude(t8) + magnitude(t10);
        const Number t13 = multiply(x3, t4);
        const Number t14 = nmadd(t6, t11, t13);
        const double t15 = magnitude(x3) * t5;
        const double t16 = fma(magnitude(t6), t12, t15);
        x2 = subtract(t9, v.a[7]);
        sum = t14, absolute = t16;
    }

    __device__ __forceinline__ void part1_change(int column, double sign) {
        switch (column) {
        case 4: x3 = add_signed(x3, sign, v.a[9]); x4 = add_signed(x4, sign, v.a[10]); x6 = add_signed(x6, sign, v.a[11]); break;
        default: break;
        }
    }

    __device__ __forceinline__ void part1(Number &sum, double &absolute) {
        Partial sums = sum_of_nothing<Arith>();
        Number q0 = number(1);
        const Number q1 = number(1);
#pragma unroll 1
        for (unsigned m = 0;;) {
            switch (m == 0 ? 0 : lowest_bit(m)) {
            case 0: q0 = times(q1, x6); [[fallthrough]];
            default: break;
            }
            Number s;
            double q;
            part1_inner(s, q);
            add_turn(*this, sums, m, q0, s, q);
            if (++m == 2u) break;
            const int j = lowest_bit(m);
            part1_change(4 + j, comes_in(m, j) ? 1 : -1);
        }
        part1_change(4, -1);
        sum = total(sums.sum), absolute = sums.absolute;
    }

    __device__ __forceinline__ void inner(Number &sum, double &absolute) {
        part0(sum, absolute);
        {
            Number s;
            double q;
            part1(s, q);
            sum = multiply(sum, s), absolute = absolute * q;
        }
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, Number *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
