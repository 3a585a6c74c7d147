// What a caller's perm_plan points to.
#pragma once

#include "lib/execute/plan_gradient.hpp"
#include "lib/glynn/calls/glynn_plan.hpp"
#include "lib/plan/plan.hpp"
#include "lib/polynomial/hessian_product.hpp"
#include "lib/tape/on_device.hpp"
#include "lib/tape/tape_run.hpp"

#include <memory>

struct perm_plan {
    libperm::Plan plan;
    // Null where there is no such way.
    std::unique_ptr<const libperm::GlynnPlan> glynn;
    std::unique_ptr<const libperm::TapePlan> direct;
    libperm::PlanGradient gradient;
    libperm::LazyHessianProduct hessian;
    libperm::IdleTapes idle_tapes;
    double seconds_check = 0, seconds_plan = 0;
    // Of a computation that was made: of the entries as that took them, not as the caller gave them.
    bool is_account = false;
};
