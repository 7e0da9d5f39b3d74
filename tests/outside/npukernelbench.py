"""NPUKernelBench's shipped AscendC answers (tasks/<level>/<category>/<op>/answer/0), run unmodified in the simulator with their own host code,
and compared with their own golden functions by the task's own tolerance rule.

usage: npukernelbench.py CHECKOUT [TASK ...] [--compile] [--cases N] [--max-elements N] [--jobs N] [--json FILE]
  --compile   compile every answer for every dtype column; run nothing

ModelNew of each task calls kernel_gen_ops.<op>; that module is ours here: it reads the task's pybind.cpp (binding.py) to see which value goes where,
the OpDef for the order of the operator's parameters, and launches the answer in the simulator."""
import argparse
import copy
import csv
import glob
import importlib.util
import json
import multiprocessing
import os
import re
import sys
import tempfile
import traceback
import types

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from binding import Binding, Call, Out
from common import CPP, Refused, Simulator, Tensor, checkout, fault_text, find_entry, simrun_path

sys.dont_write_bytecode = True
KINDS = {'Float': torch.float32, 'Half': torch.float16, 'BFloat16': torch.bfloat16, 'Int': torch.int32, 'Int32': torch.int32, 'Long': torch.int64,
         'Int64': torch.int64, 'Bool': torch.bool, 'Int8': torch.int8, 'UInt8': torch.uint8, 'Byte': torch.uint8, 'Char': torch.int8,
         'Float32': torch.float32, 'Float16': torch.float16, 'Short': torch.int16, 'Int16': torch.int16, 'ComplexFloat': torch.complex64}


def stand_ins():
    """The modules that the tasks import and do not need off the device."""
    for name in ('torch_npu', 'torch_npu.contrib', 'kernel_gen_ops', 'framework', 'framework.utils', 'pandas'):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules['torch_npu'].contrib = sys.modules['torch_npu.contrib']
    sys.modules['torch_npu.contrib'].transfer_to_npu = None
    sys.modules['framework'].utils = sys.modules['framework.utils']
    sys.modules['framework.utils'].check_precision = check_precision
    sys.modules['pandas'].DataFrame = sys.modules['pandas'].Series = object


def flat(x):
    """All tensors of a list of lists, in order."""
    return [t for v in x for t in flat(v)] if isinstance(x, (list, tuple)) else [x]


def check_precision(want, got, max_abs_error, max_rel_error):
    """The benchmark's default rule: an element is wrong when both its absolute and its relative error are too large; nothing may be inf or NaN."""
    want, got = flat(want), flat(got)
    fine, abs_all, rel_all = True, [], []
    for w, g in zip(want, got):
        if g.dtype == torch.bool:
            w, g = w.int(), g.int()
        a = (w - g).abs()
        r = a / (w.abs() + 1e-7)
        fine = fine and bool(torch.isfinite(torch.view_as_real(g) if g.is_complex() else g).all()) and not bool(((a > max_abs_error) & (r > max_rel_error)).any())
        abs_all.append(a.reshape(-1))
        rel_all.append(r.reshape(-1))
    return int(fine), torch.cat(abs_all), torch.cat(rel_all)


def module(path):
    spec = importlib.util.spec_from_file_location('m' + re.sub(r'\W', '_', path), path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def rows_of(path):
    """The cases, with the types that pandas would give a column: integers, floats, booleans, else text; an empty field is NaN."""
    with open(path, newline='') as f:
        rows = [{k: v for k, v in r.items() if k is not None} for r in csv.DictReader(f, delimiter=';')]
    for key in rows[0]:
        column = [r[key] for r in rows]
        for parse in (int, float, lambda x: {'true': True, 'false': False}[x.lower()]):
            try:
                values = [float('nan') if x in ('', None) and parse is float else parse(x) for x in column]
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if parse is float and all(x == int(x) for x in values if x == x) and all(x == x for x in values):
                values = [int(x) for x in values]
            break
        else:
            values = [float('nan') if x in ('', None) else x for x in column]
        for r, v in zip(rows, values):
            r[key] = v
    return rows


class OpDef:
    """Parameter names and attributes, read from the host sources."""

    def __init__(self, text):
        text = re.sub(r'//[^\n]*', '', text)
        self.type = re.search(r'OP_ADD\(\s*(\w+)', text).group(1)
        text = text[text.rindex('class ', 0, text.index('OP_ADD')):]
        parts = re.findall(r'this->(Input|Output|Attr)\(\s*"(\w+)"\s*\)((?:[^;"]|"[^"]*")*);', text)
        self.inputs = [(n, rest) for kind, n, rest in parts if kind == 'Input']
        self.outputs = [(n, rest) for kind, n, rest in parts if kind == 'Output']
        self.attrs = [(n, re.search(r'\.(ListFloat|ListInt|ListBool|Float|Int|Bool|String)\(', rest)) for kind, n, rest in parts if kind == 'Attr']
        self.attrs = [(n, m.group(1) if m else '?') for n, m in self.attrs]


class Task:
    def __init__(self, root, name, folder, scratch):
        self.root, self.name, self.folder, self.scratch = root, name, folder, scratch
        self.answer = os.path.join(folder, 'answer', '0')
        self.kernel, entry = find_entry(os.path.join(self.answer, 'op_kernel'))
        sources = [f for f in sorted(glob.glob(self.answer + '/op_host/*.cpp')) + sorted(glob.glob(self.answer + '/op_host/*.cc'))
                   if not re.search(r'aclnn|_l0\.cpp|fallback', os.path.basename(f))
                   and not re.search(r'#include "(level0|aclnn_kernels)/', open(f, errors='replace').read())]  # the aclnn side
        self.opdef = OpDef(''.join(open(f, errors='replace').read() + '\n' for f in sources))
        hosts = []  # each source behind what the build defines for it
        for i, source in enumerate(sources):
            hosts.append(os.path.join(scratch, 'host%d.cpp' % i))
            with open(hosts[-1], 'w') as f:
                f.write('#define OPS_UTILS_LOG_SUB_MOD_NAME "OP_TILING"\n#define OPS_UTILS_LOG_PACKAGE_TYPE ""\n#include "%s"\n' % source)
        self.op = {'form': 'msopgen', 'op': entry, 'op_type': self.opdef.type, 'kernel': self.kernel, 'host': hosts[0], 'host_more': hosts[1:],
                   'include': [self.answer + '/op_host', root + '/libs/common_include/cann-ops/src/common/inc']}
        self.sim = Simulator(simrun_path(), scratch)

    def files(self):
        """How many source files the kernel has."""
        return len(glob.glob(self.answer + '/op_kernel/**/*.*', recursive=True))

    def read(self, name):
        with open(os.path.join(self.folder, 'validation', name), errors='replace') as f:
            return f.read()


def flat(x):
    return [y for e in x for y in flat(e)] if isinstance(x, (list, tuple)) else [x]


def is_list(x):
    return isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], torch.Tensor)


HALVES = (torch.float16, torch.bfloat16)


def each(x, f):
    """f of every tensor in a nest of lists."""
    if isinstance(x, torch.Tensor):
        return f(x)
    return type(x)(each(y, f) for y in x) if isinstance(x, (list, tuple)) else x


class Halves(torch.overrides.TorchFunctionMode):
    """The half operators that this PyTorch lacks on the CPU: computed in float32 and rounded, as later versions do."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except RuntimeError as e:
            if 'not implemented for' not in str(e):
                raise
            dtypes = []
            each(list(args) + list(kwargs.values()), lambda t: dtypes.append(t.dtype))
            narrow = next((d for d in dtypes if d in HALVES), kwargs.get('dtype'))
            if narrow not in HALVES:
                raise
            widen = lambda t: t.float() if t.dtype in HALVES else t
            kwargs = {k: torch.float32 if v in HALVES else each(v, widen) for k, v in kwargs.items()}
            out = func(*each(list(args), widen), **kwargs)
            return each(out, lambda t: t.to(narrow) if t.dtype == torch.float32 else t)


def golden(model, init, inputs):
    out = model(*copy.deepcopy(init))(*copy.deepcopy(inputs))
    return list(out) if isinstance(out, (list, tuple)) else [out]


class Launcher:
    """What kernel_gen_ops.<op> is here."""

    def __init__(self, task, built, want):
        self.task, self.want, self.result = task, want, {}
        self.columns = [re.findall(r' DTYPE_\w+=(\w+)', c) for c in built['columns']]

    def __call__(self, *values):
        def convert(v, kind):
            return v.to(KINDS[kind]) if isinstance(v, torch.Tensor) and kind in KINDS else v

        call = Call(Binding(self.task.read('pybind.cpp')), values, convert)
        adjust = GLUE.get(self.task.name)
        if adjust:
            adjust(call, self)
        return self.launch(call)

    # ---- which argument is which parameter: the OpDef's inputs, then its attributes, then the outputs that are no inputs

    def launch(self, call):
        opdef, args = self.task.opdef, list(zip(call.exprs, call.args))
        names = [n for n, _ in opdef.inputs]
        inputs = [args.pop(0) if args and not isinstance(args[0][1], Out) else (None, None) for _ in names]
        attrs = [args.pop(0) for _ in opdef.attrs if args and not isinstance(args[0][1], Out)]
        named = {re.sub(r'_', '', (call.root(e) or e).lower()): (e, v) for e, v in attrs}
        wanted = [re.sub(r'_', '', n.lower()) for n, _ in opdef.attrs]
        if set(wanted) >= set(named):  # a hand-written aclnn function may have another order
            attrs = [named.get(n, (None, None)) for n in wanted]
        returned = call.returned(len(self.want))
        given = self.match_types([v for _, v in inputs])
        tensors = []
        for k, ((name, rest), v) in enumerate(zip(opdef.inputs, given)):
            tensors += self.parameter(name, v, k + 1 if 'DYNAMIC' in rest else 0)
        produced = {}  # local of the binding -> positions among the tensors
        for (expr, _), (name, _) in zip(inputs, opdef.inputs):
            root = call.root(expr) if expr else None
            produced[root] = [t for t in tensors if t.name == name]
        golds = dict(zip(returned, self.golds_for(returned)))
        at = 0
        for k, (name, rest) in enumerate(opdef.outputs):
            if name in names:  # in place
                for t in tensors:
                    if t.name == name:
                        at += 1
                        t.role, t.output_at = 'inout', at
                continue
            expr, v = args.pop(0) if args else (None, None)
            root = v.name if isinstance(v, Out) else None
            gold = golds.get(root)
            if gold is None and root:
                gold = self.allocated(call, root)
            made = self.parameter(name, self.shaped(gold, k, len(names)), k + 1 + len(names) if 'DYNAMIC' in rest else 0)
            for t in made:
                at += 1
                t.role, t.output_at = 'out', at
                if root and call.zeroed(root):
                    t.role, t.value = 'filled', torch.zeros_like(t.value)
            tensors += made
            produced[root] = made
        if any(t.role == 'inout' for t in tensors) is False:
            for root in returned:  # returned, written, and no output of the OpDef
                for t in produced.get(root, []):
                    if t.role == 'in':
                        t.role = 'updated'
        self.result.update(self.task.sim.run(self.task.op, tensors, self.attributes(attrs)))
        if not self.result.get('ran'):
            raise Refused(self.result.get('refused') or self.result['diagnostics'])
        written = iter(self.result['outputs'])
        for t in tensors:
            if t.role != 'in' and t.value is not None:
                t.value = next(written)
        got = [[t.value for t in produced.get(root, [])] for root in returned]
        golds = self.golds_for(returned)
        got = [g[0] if len(g) == 1 and not (i < len(golds) and is_list(golds[i])) else g for i, g in enumerate(got)]
        return got if call.returns_list or len(got) != 1 else got[0]

    def allocated(self, call, root):
        """An output that the binding allocates and does not return."""
        found = call.allocation(root)
        if not found:
            return None
        shape, kind, like = found
        like = call.values.get(like)
        dtype = KINDS[kind] if kind in KINDS else like.dtype if isinstance(like, torch.Tensor) else torch.float32
        return torch.empty(shape, dtype=dtype)

    def golds_for(self, returned):
        """The golden value of each returned local; one local may stand for all of a list."""
        return [self.want] if len(returned) == 1 and len(self.want) != 1 else self.want

    def parameter(self, name, v, dynamic):
        if is_list(v):
            return [Tensor(name, x, list=dynamic or 1000) for x in v]
        return [Tensor(name, v, list=dynamic if isinstance(v, torch.Tensor) else 0)]

    def shaped(self, gold, k, n_inputs):
        """Memory for an output, in the type that the OpDef's column has for it."""
        kind = CPP.get(self.column[n_inputs + k]) if self.column and n_inputs + k < len(self.column) else None
        one = lambda g: torch.empty(g.shape, dtype=kind or g.dtype)
        return [one(g) for g in gold] if is_list(gold) else None if gold is None else one(gold)

    def match_types(self, values):
        """Finds the column that the tensors have; values that are no tensors become tensors of its types."""
        self.column = None
        tensor = lambda v: v[0] if is_list(v) else v if isinstance(v, torch.Tensor) else None
        fit = [c for c in self.columns if all(tensor(v) is None or CPP.get(c[k]) == tensor(v).dtype for k, v in enumerate(values))]
        golds = [tensor(g) for g in self.want]
        for c in fit:  # the one that has the outputs, too
            if all(CPP.get(k) == g.dtype for k, g in zip(c[len(values):], golds)):
                self.column = c
                break
        else:
            self.column = fit[0] if fit else None
        if not self.column:  # scalar tensors may come in another type
            for c in self.columns:
                if values and tensor(values[0]) is not None and CPP.get(c[0]) == tensor(values[0]).dtype:
                    self.column = c
                    break
        if not self.column:
            raise Refused('no dtype column fits ' + str([str(tensor(v).dtype) for v in values if tensor(v) is not None]))
        out = []
        for k, v in enumerate(values):
            kind = CPP.get(self.column[k])
            if v is None or (isinstance(v, float) and v != v):
                out.append(None)
            elif is_list(v):
                out.append([x.to(kind) for x in v] if kind else v)
            elif isinstance(v, torch.Tensor):
                out.append(v.to(kind) if kind else v)
            elif isinstance(v, (list, tuple)):
                out.append(torch.tensor(list(v), dtype=kind))
            else:
                out.append(torch.tensor([v], dtype=kind))
        return out

    def attributes(self, given):
        kinds = {'Float': 'f', 'Int': 'i', 'Bool': 'b', 'String': 's', 'ListFloat': 'lf', 'ListInt': 'li', 'ListBool': 'li'}
        out = []
        for (name, kind), (_, v) in zip(self.task.opdef.attrs, given):
            if isinstance(v, torch.Tensor):
                v = v.tolist()
            if v is None or (isinstance(v, float) and v != v):
                continue
            cast = {'Float': float, 'Int': int, 'Bool': bool, 'String': str, 'ListFloat': lambda x: [float(y) for y in x],
                    'ListInt': lambda x: [int(y) for y in x], 'ListBool': lambda x: [bool(y) for y in x]}[kind]
            out.append((name, kinds[kind], cast(v)))
        return out


def gradient_last(call, _):
    """aclnnMseLossBackward takes (gradOutput, self, target); the operator behind it (predict, label, dout)."""
    for v in (call.exprs, call.args):
        v[:3] = [v[1], v[2], v[0]]
    call.args[3] = {0: 'none', 1: 'mean', 2: 'sum'}.get(call.args[3], call.args[3])


GLUE = {'MseLossGradV2': gradient_last}  # tasks whose binding calls a hand-written function with an order of its own


def judge(prepare, row, want, got):
    check = getattr(prepare, 'custom_check_precision', None) or (lambda _, w, g: check_precision(w, g, 1e-3, 1e-3))
    return bool(check(row, want, got)[0])


def worst(want, got):
    text = []
    for i, (w, g) in enumerate(zip(flat(want), flat(got))):
        if w.shape != g.shape:
            text.append('output %d is %s, wanted %s' % (i, tuple(g.shape), tuple(w.shape)))
            continue
        if w.is_complex():
            w, g = torch.view_as_real(w), torch.view_as_real(g)
        e = (w.double() - g.double()).abs().reshape(-1)
        if e.numel() and not bool((e == 0).all()):
            e = torch.where(torch.isnan(e), torch.full_like(e, float('inf')), e)
            k = int(e.argmax())
            text.append('output %d: %d of %d differ, most at %d: %r, wanted %r' % (i, int((e > 0).sum()), e.numel(), k, g.reshape(-1)[k].item(), w.reshape(-1)[k].item()))
    return '; '.join(text)


class NoGolden(Exception):
    pass


def run_case(task, built, prepare, model, row):
    torch.manual_seed(1024)
    try:
        init = list(prepare.get_init_inputs(row, device='cpu')) if hasattr(prepare, 'get_init_inputs') else []
        inputs = prepare.get_inputs(row, device='cpu')
        inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        want = golden(model.Model, init, inputs)
    except Exception as e:
        raise NoGolden(repr(e)[:600]) from e
    launch = Launcher(task, built, want)
    ops = types.ModuleType('kernel_gen_ops')
    ops.__getattr__ = lambda name: launch
    sys.modules['kernel_gen_ops'] = model.kernel_gen_ops = ops
    got = model.ModelNew(*copy.deepcopy(init))(*copy.deepcopy(inputs))
    got = list(got) if isinstance(got, (list, tuple)) else got
    want = want[0] if isinstance(got, torch.Tensor) else want
    r = launch.result
    return {'matches': judge(prepare, row, want, got), 'worst': worst(want, got), 'faults': [fault_text(f) for f in r['faults']],
            'blocks': r['block_dim'], 'key': r['tiling_key'], 'wall': round(r['wall'], 3)}


def elements(row):
    n = 0
    for v in row.values():
        if isinstance(v, str) and re.fullmatch(r'[\s\[\]\d,()]+', v):
            for shape in re.findall(r'\[([\d,\s]*)\]', v):
                k = 1
                for x in shape.split(','):
                    k *= int(x) if x.strip() else 1
                n += k
    return n


def choose(rows, most, limit):
    """The first cases that are small enough; the smallest one in any case."""
    fit = [i for i, r in enumerate(rows) if elements(r) <= limit][:most]
    return fit or [min(range(len(rows)), key=lambda i: elements(rows[i]))]


def run_task(job):
    root, name, folder, opts = job
    out = {'task': name, 'level': folder.split(os.sep)[-3], 'category': folder.split(os.sep)[-2], 'cases': []}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            stand_ins()
            task = Task(root, name, folder, scratch)
            out['files'] = task.files()
            built = task.sim.build(task.op)
            out['built'] = built.get('built', False)
            if not out['built']:
                out['diagnostics'] = built['diagnostics']
                return out
            if opts['compile']:
                return out
            rows = rows_of(os.path.join(folder, 'validation', 'test_cases.csv'))
            prepare = module(os.path.join(folder, 'validation', 'prepare_inputs.py'))
            model = module(os.path.join(folder, 'validation', 'module.py'))
        except Exception:
            out['error'] = traceback.format_exc()[-1500:]
            return out
        for i in choose(rows, len(rows), opts['max_elements']):
            if sum('nogolden' not in c for c in out['cases']) >= opts['cases']:
                break
            case = {'case': i, 'row': {k: v for k, v in rows[i].items()}}
            try:
                with Halves():
                    case.update(run_case(task, built, prepare, model, rows[i]))
            except NoGolden as e:
                case['nogolden'] = str(e)
            except Refused as e:
                case['norun'] = str(e)[:3000]
            except Exception:
                case['error'] = traceback.format_exc()[-1500:]
            out['cases'].append(case)
    return out


def show(t):
    if not t.get('built') or t.get('error'):
        print('%-44s %s' % (t['task'], t.get('error') or 'does not compile\n' + t.get('diagnostics', '')[:6000]))
        return
    if not t['cases']:
        print('%-44s compiles' % t['task'])
    for c in t['cases']:
        word = 'nogold' if 'nogolden' in c else 'norun' if 'norun' in c else 'error' if 'error' in c else 'match' if c['matches'] else 'DIFFER'
        print('%-44s %3d %-7s %s' % (t['task'], c['case'], word, c.get('nogolden') or c.get('norun') or c.get('error') or ('' if c['matches'] else c['worst'])))
        for f in c.get('faults', []):
            print('      ' + f)
    sys.stdout.flush()


def main():
    root = checkout('NPUKERNELBENCH', 'tasks/level1', sys.argv[1:])
    p = argparse.ArgumentParser()
    p.add_argument('checkout', nargs='?')
    p.add_argument('tasks', nargs='*')
    p.add_argument('--compile', action='store_true')
    p.add_argument('--cases', type=int, default=3)
    p.add_argument('--max-elements', type=int, default=4 << 20)
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--json')
    a = p.parse_intermixed_args()
    if 'NPUKERNELBENCH' in os.environ and a.checkout and not os.path.isdir(a.checkout):
        a.tasks.insert(0, a.checkout)
    opts = {'compile': a.compile, 'cases': a.cases, 'max_elements': a.max_elements}
    jobs = [(root, f.split(os.sep)[-3], os.path.dirname(os.path.dirname(f)), opts) for f in sorted(glob.glob(root + '/tasks/*/*/*/answer/0'))]
    jobs = [j for j in jobs if not a.tasks or j[1] in a.tasks]
    done = []
    with multiprocessing.Pool(a.jobs, maxtasksperchild=1) as pool:
        for t in pool.imap_unordered(run_task, jobs, chunksize=1):
            done.append(t)
            show(t)
    cases = [c for t in done for c in t['cases'] if 'nogolden' not in c]
    print('%d answers, %d compile; %d cases: %d match, %d of them without a fault; %d differ; %d did not run' % (
        len(done), sum(bool(t.get('built')) for t in done), len(cases), sum(c.get('matches', False) for c in cases),
        sum(c.get('matches', False) and not c['faults'] for c in cases), sum('matches' in c and not c['matches'] for c in cases),
        sum('matches' not in c for c in cases)))
    if a.json:
        with open(a.json, 'w') as f:
            json.dump(sorted(done, key=lambda t: t['task']), f, indent=1, default=str)
    return 0


if __name__ == '__main__':
    sys.exit(main())
