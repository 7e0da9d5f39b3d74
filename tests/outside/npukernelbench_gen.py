"""NPUKernelBench's tasks as operators: each task's own Model (validation/module.py), unmodified, with the inputs of its own cases, goes through
`ascendcraft gen`: planned, compiled, verified. With --plan it is only planned.

usage: npukernelbench_gen.py CHECKOUT [TASK ...] [--plan] [--cases N] [--max-elements N] [--json FILE]

What a task's file imports from its benchmark is left out, and ModelNew with it; get_inputs is written anew with the shapes, dtypes and numbers that
prepare_inputs.py gives for the case."""
import argparse
import ast
import glob
import json
import os
import subprocess
import sys
import tempfile

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import checkout
from npukernelbench import choose, module, rows_of, stand_ins

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('AC_BUILD') or os.path.join(HERE, '..', '..', 'build')
OF_THE_BENCHMARK = ('torch_npu', 'kernel_gen_ops', 'framework')


def literal(v):
    """Python text of an input: tensors as random ones of the same shape, dtype and range."""
    if isinstance(v, torch.Tensor):
        shape, dtype = list(v.shape), str(v.dtype)
        if v.dtype == torch.bool:
            return f'torch.rand({shape}) > 0.5'
        if v.dtype.is_floating_point or v.dtype.is_complex:
            return f'torch.rand({shape}, dtype={dtype})'
        low, high = (int(v.min()), int(v.max())) if v.numel() else (0, 1)
        return f'torch.randint({min(low, 0)}, {max(high, 1) + 1}, {shape}, dtype={dtype})'
    if isinstance(v, (list, tuple)):
        return '[' + ', '.join(literal(x) for x in v) + ']'
    return str(v) if isinstance(v, torch.dtype) else repr(v)


def of_the_benchmark(node):
    if isinstance(node, ast.ClassDef):
        return node.name == 'ModelNew'
    names = [a.name for a in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
    if isinstance(node, ast.ImportFrom):
        names.append(node.module or '')
    return any(n.split('.')[0] in OF_THE_BENCHMARK for n in names)


def operator(folder, row):
    with open(folder + '/validation/module.py') as f:
        tree = ast.parse(f.read())
    prepare = module(folder + '/validation/prepare_inputs.py')
    inputs, init = prepare.get_inputs(row, 'cpu'), prepare.get_init_inputs(row, 'cpu')
    tree.body = [n for n in tree.body if not of_the_benchmark(n)]
    return (ast.unparse(tree) + f'\n\ndef get_inputs():\n    return {literal(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])}\n'
            + f'\n\ndef get_init_inputs():\n    return {literal(list(init))}\n')


def generate(text, name, plan):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, name.lower() + '.py')
        with open(path, 'w') as f:
            f.write(text)
        command = [os.path.join(BUILD, 'ascendcraft'), 'gen', path, '-f', '-o', work + '/p', '--json', *(['--no-verify'] if plan else [])]
        done = subprocess.run(command, capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        result = {}
    errors = [d['message'] for d in result.get('diagnostics', []) if d.get('severity', 'error') == 'error']
    verify = result.get('verify', {})
    failed = [f"{c.get('shapes')}, {c.get('name')}" for c in verify.get('cases', []) if c.get('verdict') == 'fail']
    return {'exit': done.returncode, 'passed': verify.get('passed', 0), 'failed': verify.get('failed', 0),
            'why': (errors + failed + [done.stderr.strip().split('\n')[-1] if done.returncode else ''])[0]}


def main():
    root = checkout('NPUKERNELBENCH', 'tasks/level1', sys.argv[1:])
    p = argparse.ArgumentParser()
    p.add_argument('checkout', nargs='?')
    p.add_argument('tasks', nargs='*')
    p.add_argument('--plan', action='store_true')
    p.add_argument('--cases', type=int, default=1)
    p.add_argument('--max-elements', type=int, default=1 << 20)
    p.add_argument('--json')
    a = p.parse_intermixed_args()
    stand_ins()
    done = []
    for folder in sorted(glob.glob(root + '/tasks/level[12]/*/*')):
        name = os.path.basename(folder)
        if a.tasks and name not in a.tasks:
            continue
        rows = rows_of(folder + '/validation/test_cases.csv')
        for i in choose(rows, a.cases, a.max_elements):
            try:
                found = generate(operator(folder, rows[i]), name, a.plan)
            except Exception as e:  # the benchmark's own code, or this torch, cannot
                found = {'exit': -1, 'passed': 0, 'failed': 0, 'why': 'no inputs: ' + str(e).split('\n')[0]}
            found |= {'task': name, 'case': i}
            done.append(found)
            verdict = {0: 'planned' if a.plan else 'verified', -1: 'left out', 3: 'refused'}.get(found['exit'], 'FAILED')
            print(f"{name} {i}: {verdict} {found['why'][:200]}".rstrip(), flush=True)
    good = sum(f['exit'] == 0 for f in done)
    out = sum(f['exit'] == -1 for f in done)
    print(f"{len(done)} cases: {good} {'planned' if a.plan else 'verified'}, {sum(f['exit'] == 3 for f in done)} refused, "
          f"{len(done) - good - out - sum(f['exit'] == 3 for f in done)} failed, {out} left out")
    if a.json:
        with open(a.json, 'w') as f:
            json.dump(done, f, indent=1)


main()
