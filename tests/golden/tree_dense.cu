// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    Row x[n];
    Row a[12]; // entries, then constants
};

struct Rows : Numbers {
    const Values &v;
    Row x0, x1, x2, x3;
    Number q0, q1; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : Numbers{}, v(values) {
        x0 = v.x[0];
        x1 = v.x[1];
        x2 = v.x[2];
        x3 = v.x[3];
    }

    __device__ __forceinline__ void change(int column, double sign) {
        switch (column) {
        case 2: x0 = add_signed(x0, sign, v.a[8]); x1 = add_signed(x1, sign, v.a[9]); x2 = add_signed(x2, sign, v.a[10]); x3 = add_signed(x3, sign, v.a[11]); break;
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 1: q1 = number(1); [[fallthrough]];
        case 0: q0 = q1; [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ Number outer() const { return q0; }

    __device__ __forceinline__ void inner(Number &sum, double &absolute) {
        const Number t0 = multiply(x0, x1);
        const Number t1 = multiply(x2, t0);
        const Number t2 = multiply(x3, t1);
        const Row t3 = add(x0, v.a[0]);
        const Row t4 = add(x1, v.a[1]);
        const Number t5 = multiply(t3, t4);
        const Row t6 = add(x2, v.a[2]);
        const Number t7 = multiply(t5, t6);
        const Row t8 = add(x3, v.a[3]);
        const Number t9 = multiply(t7, t8);
        const Number t10 = subtract(t2, t9);
        const double t11 = magnitude(t2) + magnitude(t9);
        const Row t12 = add(t3, v.a[4]);
        const Row t13 = add(t4, v.a[5]);
        const Number t14 = multiply(t12, t13);
        const Row t15 = add(t6, v.a[6]);
        const Number t16 = multiply(t14, t15);
        const Row t17 = add(t8, v.a[7]);
        const Number t18 = multiply(t16, t17);
        const Row t19 = subtract(t12, v.a[0]);
        const Row t20 = subtract(t13, v.a[1]);
        const Number t21 = multiply(t19, t20);
        const Row t22 = subtract(t15, v.a[2]);
        const Number t23 = multiply(t21, t22);
        const Row t24 = subtract(t17, v.a[3]);
        const Number t25 = multiply(t23, t24);
        const Number t26 = subtract(t25, t18);
        const double t27 = magnitude(t18) + magnitude(t25);
        const Number t28 = subtract(t10, t26);
        const double t29 = t11 + t27;
        x0 = subtract(t19, v.a[4]);
        x1 = subtract(t20, v.a[5]);
        x2 = subtract(t22, v.a[6]);
        x3 = subtract(t24, v.a[7]);
        sum = t28, absolute = t29;
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, Number *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
