// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    double x[n], a[16]; // entries, then constants
};

struct Rows {
    const Values &v;
    double x0, x1, x2, x3;
    double q0, q1; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : v(values) {
        x0 = v.x[0];
        x1 = v.x[1];
        x2 = v.x[2];
        x3 = v.x[3];
    }

    __device__ __forceinline__ void change(int column, double sign) {
        switch (column) {
        case 2: x0 = fma(sign, v.a[8], x0); x1 = fma(sign, v.a[9], x1); x2 = fma(sign, v.a[10], x2); x3 = fma(sign, v.a[11], x3); break;
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 1: q1 = 1; [[fallthrough]];
        case 0: q0 = q1; [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ double outer() const { return q0; }

    __device__ __forceinline__ void inner(double &sum, double &absolute) {
        const double t0 = x0 * x1;
        const double t1 = x2 * t0;
        const double t2 = x3 * t1;
        const double t3 = x0 + v.a[0];
        const double t4 = x1 + v.a[1];
        const double t5 = t3 * t4;
        const double t6 = x2 + v.a[2];
        const double t7 = t5 * t6;
        const double t8 = x3 + v.a[3];
        const double t9 = t7 * t8;
        const double t10 = t2 - t9;
        const double t11 = fabs(t2) + fabs(t9);
        const double t12 = t3 + v.a[4];
        const double t13 = t4 + v.a[5];
        const double t14 = t12 * t13;
        const double t15 = t6 + v.a[6];
        const double t16 = t14 * t15;
        const double t17 = t8 + v.a[7];
        const double t18 = t16 * t17;
        const double t19 = t12 - v.a[0];
        const double t20 = t13 - v.a[1];
        const double t21 = t19 * t20;
        const double t22 = t15 - v.a[2];
        const double t23 = t21 * t22;
        const double t24 = t17 - v.a[3];
        const double t25 = t23 * t24;
        const double t26 = t25 - t18;
        const double t27 = fabs(t18) + fabs(t25);
        const double t28 = t10 - t26;
        const double t29 = fabs(t11) + fabs(t27);
        x0 = t19 - v.a[4];
        x1 = t20 - v.a[5];
        x2 = t22 - v.a[6];
        x3 = t24 - v.a[7];
        sum = t28, absolute = t29;
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, double *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
