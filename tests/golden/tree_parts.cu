// ---- This kernel ----------------------------------------------------------------------------------------

struct Values {
    double x[n], a[20]; // entries, then constants
};

struct Rows {
    const Values &v;
    double x0, x1, x2, x3, x4, x5, x6;
    double q0; // products of the rows whose lowest column is the loop's j-th, or higher

    __device__ __forceinline__ Rows(const Values &values) : v(values) {
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
        case 5: x0 = fma(sign, v.a[12], x0); x2 = fma(sign, v.a[13], x2); x5 = fma(sign, v.a[14], x5); x6 = fma(sign, v.a[15], x6); break;
        default: break;
        }
    }

    __device__ __forceinline__ void settle(int j) {
        switch (j) {
        case 0: q0 = 1; [[fallthrough]];
        default: break;
        }
    }

    __device__ __forceinline__ double outer() const { return q0; }

    __device__ __forceinline__ void part0(double &sum, double &absolute) {
        const double t0 = x0 * x1;
        const double t1 = x0 + v.a[0];
        const double t2 = x1 + v.a[1];
        const double t3 = t1 * t2;
        const double t4 = t0 - t3;
        const double t5 = fabs(t0) + fabs(t3);
        const double t6 = x5 + v.a[4];
        const double t7 = t1 + v.a[2];
        const double t8 = t2 + v.a[3];
        const double t9 = t7 * t8;
        const double t10 = t7 - v.a[0];
        const double t11 = t8 - v.a[1];
        const double t12 = t10 * t11;
        const double t13 = t12 - t9;
        const double t14 = fabs(t9) + fabs(t12);
        const double t15 = x5 * t4;
        const double t16 = fma(-t6, t13, t15);
        const double t17 = fabs(x5) * t5;
        const double t18 = fma(fabs(t6), t14, t17);
        x0 = t10 - v.a[2];
        x1 = t11 - v.a[3];
        sum = t16, absolute = t18;
    }

    __device__ __forceinline__ void part1_inner(double &sum, double &absolute) {
        const double t0 = x2 * x4;
        const double t1 = x4 + v.a[6];
        const double t2 = x2 + v.a[5];
        const double t3 = t1 * t2;
        const double t4 = t0 - t3;
        const double t5 = fabs(t0) + fabs(t3);
        const double t6 = x3 + v.a[8];
        const double t7 = t2 + v.a[7];
        const double t8 = t1 * t7;
        const double t9 = t7 - v.a[5];
        const double t10 = x4 * t9;
        const double t11 = t10 - t8;
        const double t12 = fabs(t8) + fabs(t10);
        const double t13 = x3 * t4;
        const double t14 = fma(-t6, t11, t13);
        const double t15 = fabs(x3) * t5;
        const double t16 = fma(fabs(t6), t12, t15);
        x2 = t9 - v.a[7];
        sum = t14, absolute = t16;
    }

    __device__ __forceinline__ void part1_change(int column, double sign) {
        switch (column) {
        case 4: x3 = fma(sign, v.a[9], x3); x4 = fma(sign, v.a[10], x4); x6 = fma(sign, v.a[11], x6); break;
        default: break;
        }
    }

    __device__ __forceinline__ void part1(double &sum, double &absolute) {
        TreeSums sums;
        double q0 = 1;
        const double q1 = 1;
#pragma unroll 1
        for (unsigned m = 0;;) {
            switch (m == 0 ? 0 : lowest_bit(m)) {
            case 0: q0 = q1 * x6; [[fallthrough]];
            default: break;
            }
            double s, q;
            part1_inner(s, q);
            sums.add(m, q0, s, q);
            if (++m == 2u) break;
            const int j = lowest_bit(m);
            part1_change(4 + j, comes_in(m, j) ? 1 : -1);
        }
        part1_change(4, -1);
        sum = sums.sum + sums.error, absolute = sums.absolute;
    }

    __device__ __forceinline__ void inner(double &sum, double &absolute) {
        part0(sum, absolute);
        {
            double s, q;
            part1(s, q);
            sum = sum * s, absolute = absolute * q;
        }
    }

};

extern "C" __global__ void __launch_bounds__(128, 1)
perm_gray(const __grid_constant__ Values v, Launch launch, double *, Partial *partials) {
    Rows rows(v);
    walk_tree(rows, launch, partials);
}
