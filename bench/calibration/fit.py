#!/usr/bin/env python3
"""Fits the timing model's few free figures to published device times, and says how good the fit is.

    bench/calibration/fit.py --times CSV --build BUILD --ops-nn DIR --ops-math DIR --opbase DIR [--work DIR] [--iterations N] [--out CSV]

CSV is CANN-Bench's table of times (see rows.py). Each row's vendor kernel runs in the simulator at the row's own shape, with its own tiling, a
few blocks of it. What is minimised is the median-robust error of log(modelled / measured): Gauss-Newton with Huber weights, every operator
with the same total weight, inside the bounds of PARAMETERS. Then every operator is left out in turn, the
others are fitted anew (by the slopes of the last turn), and its rows are simulated with what came out.
Figures of a chip's file are the only result: nothing of a row or an operator goes into the model.
"""
import argparse
import copy
import csv
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, ROOT + "/tests/outside")
import rows  # noqa: E402
import vendor  # noqa: E402

COSTS = json.load(open(ROOT + "/data/chips/costs/arch2201.json"))
SCALAR = ["scalar." + k for k in ("issue_copy", "queue", "get_local", "set_local", "get_gm", "set_gm", "init_buffer")]
TAILS = ["vector." + k + ".tail" for k, v in COSTS["vector"].items() if isinstance(v, dict) and v.get("tail")]
# figures of the cost file that move together (the first is the one that is shown), least and most of the first; fitted by the logarithm
PARAMETERS = [
    (["launch.us"], 0.5, 20),
    (["copy.gm_to_ub.start", "copy.ub_to_gm.start"], 5, 800),
    (["copy.gm_to_ub.burst", "copy.ub_to_gm.burst"], 2, 200),
    (["copy.gm_to_ub.latency", "copy.ub_to_gm.latency"], 60, 3000),
    (["copy.gm_to_ub.bytes_per_cycle"], 20, 128),
    (["copy.ub_to_gm.bytes_per_cycle"], 15, 128),
    (["gm.hbm_gb_s"], 700, 1800),
    (["scalar.issue_v"], 1, 60),
    (SCALAR, 2, 200),
    (TAILS, 4, 100),
]


def get(costs, path):
    for k in path.split("."):
        costs = costs[k]
    return costs


def put(costs, path, value):
    *groups, last = path.split(".")
    for k in groups:
        costs = costs.setdefault(k, {})
    costs[last] = value


class Model:
    def __init__(self, args):
        self.repos = vendor.Repositories(args)
        self.chip = json.load(open(ROOT + "/data/chips/ascend910b2.json"))
        for name, value in (s.split("=") for s in args.set):
            put(self.chip["costs"], name, float(value))
        base = copy.deepcopy(COSTS)
        for k, v in self.chip["costs"].items():
            if isinstance(v, dict):
                base.setdefault(k, {}).update(v)
        self.base = base
        self.start = np.log([float(get(base, p[0])) for p, _, _ in PARAMETERS])
        self.folder = args.work + "/chips"
        os.makedirs(self.folder, exist_ok=True)
        self.n_files = 0
        self.launches = []

    def chip_file(self, x):
        chip = copy.deepcopy(self.chip)
        for (paths, _, _), factor in zip(PARAMETERS, np.exp(x - self.start)):
            for path in paths:
                put(chip["costs"], path, round(float(get(self.base, path) * factor), 3))
        self.n_files += 1
        path = f"{self.folder}/c{self.n_files}.json"
        json.dump(chip, open(path, "w"))
        return path

    def times(self, points, which):
        """Modelled us, one row a launch, one column a point."""
        chips = [self.chip_file(x) for x in points]
        out = np.full((len(self.launches), len(points)), np.nan)
        for i in which:
            op, case, folder, launch, us = self.launches[i]
            r, _ = vendor.run_case(self.repos, folder, dict(launch, chips=chips, blocks=[0, 1], threads=1, hazards="off", timeout=300))
            if "times" not in r or len(r["times"]) != len(points):
                print(f"{op} {case}: {r.get('refused') or r.get('diagnostics', '')[:300]}", flush=True)
            else:
                out[i] = r["times"]
        return out


def weights(ops, which, residual):
    """Operators weigh the same; far rows weigh less (Huber, 25%)."""
    count = {o: sum(ops[i] == o for i in which) for o in set(ops)}
    return np.array([1 / count[ops[i]] for i in which]) * np.minimum(1, 0.25 / np.maximum(np.abs(residual), 1e-9))


def solve(jacobian, residual, w, x, low, high, damp):
    """One damped step that stays inside the bounds."""
    a = jacobian.T @ (w[:, None] * jacobian) + damp * np.eye(len(x))
    step = np.linalg.solve(a, -jacobian.T @ (w * residual))
    return np.clip(x + np.clip(step, -0.5, 0.5), low, high)


def loss(ops, which, residual):
    count = {o: sum(ops[i] == o for i in which) for o in set(ops)}
    h = np.where(np.abs(residual) < 0.25, residual**2, 0.5 * np.abs(residual) - 0.0625)
    return float(sum(h[k] / count[ops[i]] for k, i in enumerate(which)))


def slopes(model, x, which):
    """log us at x, and its derivatives."""
    high = np.log([p[2] for p in PARAMETERS])
    points = [x] + [x + 0.1 * e * (1 if x[k] + 0.1 <= high[k] else -1) for k, e in enumerate(np.eye(len(x)))]
    y = np.log(model.times(points, which))
    return y[:, 0], np.stack([(y[:, k + 1] - y[:, 0]) / (points[k + 1][k] - x[k]) for k in range(len(x))], axis=1)


def bounds():
    return [np.log([p[k] for p in PARAMETERS]) for k in (1, 2)]


def fit(model, which, x, turns):
    """The fitted figures (logarithms), log us there, and the slopes of the last turn."""
    ops = [l[0] for l in model.launches]
    measured = np.log([l[4] for l in model.launches])
    for turn in range(turns):
        y, jacobian = slopes(model, x, which)
        residual = y[which] - measured[which]
        w = weights(ops, which, residual)
        tries = [solve(jacobian[which], residual, w, x, *bounds(), d) for d in (0.02, 0.3, 5)]
        z = np.log(model.times(tries, which))
        losses = [loss(ops, which, z[which, k] - measured[which]) for k in range(len(tries))]
        now, k = loss(ops, which, residual), int(np.argmin(losses))
        print(f"turn {turn}: loss {now:.3f} -> {losses[k]:.3f}, median {np.median(np.abs(np.expm1(residual))):.3f}", flush=True)
        if losses[k] >= now * 0.999:
            break
        x, y = tries[k], z[:, k]
    return x, y, jacobian


def refit(ops, measured, which, x0, y, jacobian, start):
    """The same fit of other rows by the slopes at x0 (no simulation), from the figures before any fit."""
    x = start.copy()
    for _ in range(60):
        residual = (y + jacobian @ (x - x0))[which] - measured[which]
        x = solve(jacobian[which], residual, weights(ops, which, residual), x, *bounds(), 0.02)
    return x


def summary(error):
    return f"median {100 * np.median(error):.0f}%, 90th percentile {100 * np.percentile(error, 90):.0f}%, {len(error)} rows"


def main():
    p = argparse.ArgumentParser()
    for n in ("times", "build", "ops-nn", "ops-math", "opbase"):
        p.add_argument("--" + n, required=True)
    p.add_argument("--work", default="/tmp/ascendcraft-calibration")
    p.add_argument("--iterations", type=int, default=6)
    p.add_argument("--out")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a figure of the cost file that is not fitted")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    m = Model(args)
    m.launches = rows.read(args.times)
    ops = [l[0] for l in m.launches]
    measured = np.array([l[4] for l in m.launches])
    first = m.times([m.start], range(len(ops)))[:, 0]
    which = np.flatnonzero(~np.isnan(first))
    before = np.abs(first[which] / measured[which] - 1)
    for i in which:
        print(f"{ops[i]:28s} {m.launches[i][1]:3d} measured {measured[i]:8.1f} modelled {first[i]:8.1f} {first[i] / measured[i]:.2f}")
    print("before the fit:", summary(before), flush=True)
    if not args.iterations:
        return
    x, y, jacobian = fit(m, which, m.start, args.iterations)
    y = np.exp(y)
    for (paths, _, _), v in zip(PARAMETERS, np.exp(x)):
        print(f"  {paths[0]} {v:.4g}" + (f" and {len(paths) - 1} like it" if len(paths) > 1 else ""))
    print("fitted to all:", summary(np.abs(y[which] / measured[which] - 1)), flush=True)
    print("last chip file:", m.chip_file(x))
    out = np.full(len(ops), np.nan)
    logs = np.log(measured)
    for o in sorted(set(ops[i] for i in which)):
        held = np.array([i for i in which if ops[i] == o])
        xo = refit(ops, logs, np.array([i for i in which if ops[i] != o]), x, np.log(y), jacobian, m.start)
        out[held] = m.times([xo], held)[held, 0]
        print(f"without {o}: " + summary(np.abs(out[held] / measured[held] - 1)), flush=True)
    print("each operator left out:", summary(np.abs(out[which] / measured[which] - 1)))
    if args.out:
        with open(args.out, "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["op", "case", "measured_us", "modelled_us", "error", "left_out_us", "left_out_error"])
            for i in which:
                w.writerow([ops[i], m.launches[i][1], measured[i], round(y[i], 2), round(y[i] / measured[i] - 1, 4), round(out[i], 2),
                            round(out[i] / measured[i] - 1, 4)])


if __name__ == "__main__":
    main()
