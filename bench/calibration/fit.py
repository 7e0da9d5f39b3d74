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
import concurrent.futures
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
# Figures of the cost file that move together (the first is the one that is shown), where the fit starts, least and most of the first;
# fitted by the logarithm. What is not here keeps the value of its source.
PARAMETERS = [
    (["launch.us"], 6, 0.5, 20),
    (["launch.core_us"], 0.02, 0.002, 0.1),
    (["copy.gm_to_ub.burst", "copy.ub_to_gm.burst"], 40, 2, 200),  # below 30 no row feels it
    (["gm.hbm_gb_s"], 1200, 800, 1600),  # asc-devkit docs/zh: about 1.6 TB/s
    (["gm.share"], 1.5, 1, 4),
]
# the benchmark empties L2 before each call (hicann/cann-bench d59d44c, docs/design/perf_collection_design.md, section 7)
COLD = "gm.resident=0"
STEP = 0.1  # of the slopes, in logarithms


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
        for name, value in (s.split("=") for s in [COLD] + args.set):
            put(self.chip["costs"], name, float(value))
        base = copy.deepcopy(COSTS)
        for k, v in self.chip["costs"].items():
            if isinstance(v, dict):
                base.setdefault(k, {}).update(v)
        self.base = base
        self.frozen = np.log([max(float(get(base, p[0][0])), 1e-9) for p in PARAMETERS])
        self.start = np.log([p[1] for p in PARAMETERS])
        self.folder = args.work + "/chips"
        os.makedirs(self.folder, exist_ok=True)
        self.n_files = 0
        self.launches = []

    def chip_file(self, x):
        chip = copy.deepcopy(self.chip)
        for (paths, *_), first in zip(PARAMETERS, np.exp(x)):
            for path in paths:
                like = 1 if path == paths[0] else get(self.base, path) / get(self.base, paths[0])
                put(chip["costs"], path, round(float(first * like), 4))
        self.n_files += 1
        path = f"{self.folder}/c{self.n_files}.json"
        json.dump(chip, open(path, "w"))
        return path

    def times(self, points, which):
        """Modelled us, one row a launch, one column a point."""
        chips = [self.chip_file(x) for x in points]
        out = np.full((len(self.launches), len(points)), np.nan)

        def one(i):
            op, case, folder, launch, us = self.launches[i]
            case_of = dict(launch, chips=chips, blocks=[0, 1], threads=1, hazards="off", timeout=300, folder=folder)
            r, _ = vendor.run_case(self.repos, f"{folder}/{case}", case_of)
            if "times" not in r or len(r["times"]) != len(points):
                print(f"{op} {case}: {r.get('refused') or r.get('diagnostics', '')[:300]}", flush=True)
            else:
                out[i] = r["times"]

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(one, which))
        return out


def weights(ops, which, residual):
    """Operators weigh the same; far rows weigh less (Huber, 25%)."""
    count = {o: sum(ops[i] == o for i in which) for o in set(ops)}
    return np.array([1 / count[ops[i]] for i in which]) * np.minimum(1, 0.25 / np.maximum(np.abs(residual), 1e-9))


class Near:
    """The model near x0: the launch's overhead exactly, the rest (log us of the work) by its slopes."""

    def __init__(self, x0, y, jacobian):
        us = np.exp(y)
        self.x0 = x0
        self.cores = us * np.expm1(STEP * jacobian[:, 1]) / (np.exp(x0[1]) * np.expm1(STEP))
        self.work = us - np.exp(x0[0]) - np.exp(x0[1]) * self.cores
        self.slopes = jacobian[:, 2:] * (us / self.work)[:, None]

    def at(self, x, which):
        """log us, and its derivatives."""
        work = self.work[which] * np.exp(self.slopes[which] @ (x - self.x0)[2:])
        us = np.exp(x[0]) + np.exp(x[1]) * self.cores[which] + work
        d = np.stack([np.exp(x[0]) + 0 * us, np.exp(x[1]) * self.cores[which], *(work[:, None] * self.slopes[which]).T], axis=1)
        return np.log(us), d / us[:, None]


def solve(near, ops, measured, which, x, low, high):
    """Gauss-Newton with damping, inside the bounds."""
    damp = 1e-3
    for _ in range(200):
        y, d = near.at(x, which)
        residual = y - measured[which]
        w = weights(ops, which, residual)
        a = d.T @ (w[:, None] * d) + damp * np.eye(len(x))
        z = np.clip(x + np.clip(np.linalg.solve(a, -d.T @ (w * residual)), -0.3, 0.3), low, high)
        if loss(ops, which, near.at(z, which)[0] - measured[which]) < loss(ops, which, residual):
            x, damp = z, max(damp / 3, 1e-6)
        else:
            damp *= 10
    return x


def loss(ops, which, residual):
    count = {o: sum(ops[i] == o for i in which) for o in set(ops)}
    h = np.where(np.abs(residual) < 0.25, residual**2, 0.5 * np.abs(residual) - 0.0625)
    return float(sum(h[k] / count[ops[i]] for k, i in enumerate(which)))


def slopes(model, x, which):
    """The model near x, and log us there."""
    y = np.log(model.times([x] + [x + STEP * e for e in np.eye(len(x))], which))
    return Near(x, y[:, 0], (y[:, 1:] - y[:, :1]) / STEP), y[:, 0]


def bounds():
    return [np.log([p[k] for p in PARAMETERS]) for k in (2, 3)]


def fit(model, which, x, turns):
    """The fitted figures (logarithms), log us there, and the model near them."""
    ops = [l[0] for l in model.launches]
    measured = np.log([l[4] for l in model.launches])
    low, high = bounds()
    near, y = slopes(model, x, which)
    for turn in range(turns):
        now = loss(ops, which, y[which] - measured[which])
        tries = [solve(near, ops, measured, which, x, np.maximum(low, x - d), np.minimum(high, x + d)) for d in (0.8, 0.3, 0.1)]
        z = np.log(model.times(tries, which))
        losses = [loss(ops, which, z[which, k] - measured[which]) for k in range(len(tries))]
        k = int(np.argmin(losses))
        print(f"turn {turn}: loss {now:.4f} -> {losses[k]:.4f}", flush=True)
        if losses[k] >= now * 0.998:
            break
        x = tries[k]
        near, y = slopes(model, x, which)
    return x, y, near


def summary(error):
    return f"median {100 * np.median(error):.0f}%, 90th percentile {100 * np.percentile(error, 90):.0f}%, {len(error)} rows"


def main():
    p = argparse.ArgumentParser()
    for n in ("times", "build", "ops-nn", "ops-math", "opbase"):
        p.add_argument("--" + n, required=True)
    p.add_argument("--work", default="/tmp/ascendcraft-calibration")
    p.add_argument("--iterations", type=int, default=4, help="0: the figures of the chip's file, no fit")
    p.add_argument("--out")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a figure of the cost file that is not fitted")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    m = Model(args)
    m.launches = rows.read(args.times)
    for folder in sorted(set(l[2] for l in m.launches)):
        m.repos.stage(folder, m.repos.folders[folder])  # before the threads
    ops = [l[0] for l in m.launches]
    measured = np.array([l[4] for l in m.launches])
    first = m.times([m.start if args.iterations else m.frozen], range(len(ops)))[:, 0]
    which = np.flatnonzero(~np.isnan(first))
    before = np.abs(first[which] / measured[which] - 1)
    for i in which:
        print(f"{ops[i]:28s} {m.launches[i][1]:3d} measured {measured[i]:8.1f} modelled {first[i]:8.1f} {first[i] / measured[i]:.2f}")
    print("before the fit:" if args.iterations else "the figures of the chip's file:", summary(before), flush=True)
    if not args.iterations:
        return
    x, y, near = fit(m, which, m.start, args.iterations)
    y = np.exp(y)
    for (paths, *_), v in zip(PARAMETERS, np.exp(x)):
        print(f"  {paths[0]} {v:.4g}" + (f" and {len(paths) - 1} like it" if len(paths) > 1 else ""))
    print("fitted to all:", summary(np.abs(y[which] / measured[which] - 1)), flush=True)
    print("last chip file:", m.chip_file(x))
    out = np.full(len(ops), np.nan)
    logs = np.log(measured)
    for o in sorted(set(ops[i] for i in which)):
        held = np.array([i for i in which if ops[i] == o])
        xo = solve(near, ops, logs, np.array([i for i in which if ops[i] != o]), m.start, *bounds())
        out[held] = m.times([xo], held)[held, 0]
        print("  " + ", ".join(f"{p[0][0]} {v:.4g}" for p, v in zip(PARAMETERS, np.exp(xo))))
        print(f"without {o}: " + summary(np.abs(out[held] / measured[held] - 1)), flush=True)
    print("each operator left out:", summary(np.abs(out[which] / measured[which] - 1)))
    if args.out:
        with open(args.out, "w", newline="") as f:
            w = csv.writer(f)
            w.writerow("op case dtypes shapes measured_us modelled_us error left_out_us left_out_error".split())
            for i in which:
                e = m.launches[i]
                w.writerow([ops[i], e[1], *e.said, measured[i], *(v for u in (y[i], out[i]) for v in (round(u, 2), round(u / measured[i] - 1, 3)))])


if __name__ == "__main__":
    main()
