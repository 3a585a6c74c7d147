// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    Row x[n];
    Row a[10]; // entries, then constants
    Row full[1][n]; // columns
};

struct Rows : Numbers {
    const Values &v;
    Row x0, x1, x2, x3, x4, x5;
    Number q0, q1; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : Numbers{}, v(values) {
        x0 = v.x[0];
        x1 = v.x[1];
        x2 = v.x[2];
        x3 = v.x[3];
        x4 = v.x[4];
        x5 = v.x[5];
    }

    __device__ __forceinline__ void change(int column, double sign) {
        switch (column) {
        case 3: x0 = add_signed(x0, sign, v.a[6]); x2 = add_signed(x2, sign, v.a[7]); x3 = add_signed(x3, sign, v.a[8]); x5 = add_signed(x5, sign, v.a[9]); break;
        case 4: {
            const Row *a = v.full[column - 4];
            x0 = add_signed(x0, sign, a[0]); x1 = add_signed(x1, sign, a[1]); x2 = add_signed(x2, sign, a[2]); x3 = add_signed(x3, sign, a[3]); x4 = add_signed(x4, sign, a[4]); x5 = add_signed(x5, sign, a[5]); break;
        }
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 1: q1 = number(1); [[fallthrough]];
        case 0: q0 = times(q1, x2, x5); [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ Number outer() const { return q0; }

    __device__ __forceinline__ void inner(Number &sum, double &absolute) {
        const Number t0 = multiply(x0, x3);
        const Row t1 = add(x1, v.a[0]);
        const Number t2 = subtract(Number(x1), Number(t1));
        const double t3 = magnitude(x1) + magnitude(t1);
        const Row t4 = add(x4, v.a[2]);
        const Row t5 = add(t1, v.a[1]);
        const Row t6 = subtract(t5, v.a[0]);
        const Number t7 = subtract(Number(t6), Number(t5));
        const double t8 = magnitude(t5) + magnitude(t6);
        const Number t9 = multiply(x4, t2);
        const Number t10 = nmadd(t4, t7, t9);
        const double t11 = magnitude(x4) * t3;
        const double t12 = fma(magnitude(t4), t8, t11);
        const Row t13 = add(x0, v.a[3]);
        const Row t14 = add(x3, v.a[4]);
        const Number t15 = multiply(t13, t14);
        const Row t16 = add(t4, v.a[5]);
        const Row t17 = subtract(t16, v.a[2]);
        const Number t18 = multiply(t2, t17);
        const Number t19 = nmadd(t7, t16, t18);
        const double t20 = magnitude(t17) * t3;
        const double t21 = fma(magnitude(t16), t8, t20);
        const Number t22 = multiply(t0, t10);
        const Number t23 = nmadd(t15, t19, t22);
        const double t24 = magnitude(t0) * t12;
        const double t25 = fma(magnitude(t15), t21, t24);
        x0 = subtract(t13, v.a[3]);
        x3 = subtract(t14, v.a[4]);
        x4 = subtract(t17, v.a[5]);
        sum = t23, absolute = t25;
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, Number *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
