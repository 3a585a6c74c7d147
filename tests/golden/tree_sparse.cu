// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    double x[n], a[16]; // entries, then constants
};

struct Rows {
    const Values &v;
    double x0, x1, x2, x3, x4, x5;
    double q0, q1; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : v(values) {
        x0 = v.x[0];
        x1 = v.x[1];
        x2 = v.x[2];
        x3 = v.x[3];
        x4 = v.x[4];
        x5 = v.x[5];
    }

    __device__ __forceinline__ void change(int column, double sign) {
        switch (column) {
        case 3: x0 = fma(sign, v.a[6], x0); x2 = fma(sign, v.a[7], x2); x3 = fma(sign, v.a[8], x3); x5 = fma(sign, v.a[9], x5); break;
        case 4: x2 = fma(sign, v.a[10], x2); x5 = fma(sign, v.a[11], x5); break;
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 1: q1 = 1; [[fallthrough]];
        case 0: q0 = q1 * x2 * x5; [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ double outer() const { return q0; }

    __device__ __forceinline__ void inner(double &sum, double &absolute) {
        const double t0 = x0 * x3;
        const double t1 = x1 + v.a[0];
        const double t2 = x1 - t1;
        const double t3 = fabs(x1) + fabs(t1);
        const double t4 = x4 + v.a[2];
        const double t5 = t1 + v.a[1];
        const double t6 = t5 - v.a[0];
        const double t7 = t6 - t5;
        const double t8 = fabs(t5) + fabs(t6);
        const double t9 = x4 * t2;
        const double t10 = fma(-t4, t7, t9);
        const double t11 = fabs(x4) * t3;
        const double t12 = fma(fabs(t4), t8, t11);
        const double t13 = x0 + v.a[3];
        const double t14 = x3 + v.a[4];
        const double t15 = t13 * t14;
        const double t16 = t4 + v.a[5];
        const double t17 = t16 - v.a[2];
        const double t18 = t2 * t17;
        const double t19 = fma(-t7, t16, t18);
        const double t20 = fabs(t17) * t3;
        const double t21 = fma(fabs(t16), t8, t20);
        const double t22 = t0 * t10;
        const double t23 = fma(-t15, t19, t22);
        const double t24 = fabs(t0) * t12;
        const double t25 = fma(fabs(t15), t21, t24);
        x0 = t13 - v.a[3];
        x3 = t14 - v.a[4];
        x4 = t17 - v.a[5];
        sum = t23, absolute = t25;
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, double *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
