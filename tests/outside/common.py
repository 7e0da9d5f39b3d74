"""Shared by the scripts of this folder: one launch of somebody's operator in the simulator, with PyTorch tensors in and out.

The kernel and its host code are compiled where they lie; nothing of theirs is copied or changed."""
import json
import os
import re
import subprocess
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {torch.float32: 'float32', torch.float16: 'float16', torch.bfloat16: 'bfloat16', torch.int32: 'int32',
          torch.int64: 'int64', torch.int16: 'int16', torch.int8: 'int8', torch.uint8: 'uint8', torch.bool: 'bool',
          torch.float64: 'float64', torch.complex64: 'int64'}
COMPLEX64 = 17  # ge::DT_COMPLEX64 + 1
CPP = {'float': torch.float32, 'half': torch.float16, 'bfloat16_t': torch.bfloat16, 'int32_t': torch.int32,
       'int64_t': torch.int64, 'int16_t': torch.int16, 'int8_t': torch.int8, 'uint8_t': torch.uint8, 'bool': torch.bool,
       'double': torch.float64, 'complex64': torch.complex64}
WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def to_bytes(t):
    t = t.detach().contiguous().reshape(-1)
    if t.numel() == 0:
        return b''
    if t.dtype == torch.complex64:
        t = torch.view_as_real(t).contiguous().reshape(-1)
    return t.view(WORDS[t.element_size()]).numpy().tobytes()


def from_bytes(data, dtype, shape):
    if len(data) == 0:
        return torch.empty(shape, dtype=dtype)
    if dtype == torch.complex64:
        return torch.view_as_complex(from_bytes(data, torch.float32, list(shape) + [2]))
    word = WORDS[torch.empty(0, dtype=dtype).element_size()]
    t = torch.frombuffer(bytearray(data), dtype=word)
    return (t.view(dtype) if dtype != torch.bool else t != 0).reshape(shape)


class Tensor:
    """A parameter of the launch. `value` None: an optional one that is not given. role: in, out, inout, updated (an input that the kernel
    writes although no output stands for it), filled (an output that holds `value` before). list: neighbours with the same number above 0 are one DYNAMIC parameter."""

    def __init__(self, name, value, role='in', list=0, output_at=0):
        self.name, self.value, self.role, self.list, self.output_at = name, value, role, list, output_at


class Refused(Exception):
    pass


class Simulator:
    def __init__(self, simrun, scratch, include=(), chip='ascend910b2', timeout=120):
        self.simrun, self.scratch, self.include, self.chip, self.timeout = simrun, scratch, list(include), chip, timeout

    def _go(self, spec):
        path = os.path.join(self.scratch, 'spec.json')
        with open(path, 'w') as f:
            json.dump(spec, f)
        r = subprocess.run([self.simrun, path], capture_output=True, text=True)
        if not r.stdout:
            raise RuntimeError('simrun: ' + r.stderr[-500:])
        return json.loads(r.stdout)

    def _spec(self, op, **more):
        return dict(op, include=self.include + op.get('include', []), chip=self.chip, timeout=self.timeout, **more)

    def build(self, op):
        """op: {"form", "op", "op_type", "kernel", "host", "include"}. The result has "built", "diagnostics", "columns" (the dtypes that the
        OpDef declares, by parameter)."""
        return self._go(self._spec(op, build_only=True))

    def run(self, op, tensors, attrs=(), **more):
        """attrs: (name, kind, value). Fills result["outputs"]: the values of the tensors that the kernel may write, in order."""
        rows = []
        for i, t in enumerate(tensors):
            row = {'name': t.name, 'role': t.role, 'list': t.list, 'output_at': t.output_at}
            if t.value is None:
                rows.append(dict(row, absent=True))
                continue
            path = os.path.join(self.scratch, 'tensor%d.bin' % i)
            if t.role != 'out':
                with open(path, 'wb') as f:
                    f.write(to_bytes(t.value))
            rows.append(dict(row, dtype=DTYPES[t.value.dtype], shape=list(t.value.shape), file=path,
                             host_type=COMPLEX64 if t.value.dtype == torch.complex64 else 0))
        r = self._go(self._spec(op, tensors=rows, attrs=[{'name': n, 'kind': k, 'value': v} for n, k, v in attrs], **more))
        if r.get('ran'):
            r['outputs'] = []
            for t, row in zip(tensors, rows):
                if t.role == 'in' or t.value is None:
                    continue
                with open(row['file'], 'rb') as f:
                    r['outputs'].append(from_bytes(f.read(), t.value.dtype, t.value.shape))
        return r


def find_entry(folder):
    """(file, entry) of an op_kernel folder: the file whose name is its entry's, else the last one that has an entry."""
    best = None
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.cpp'):
            continue
        with open(os.path.join(folder, name), errors='replace') as f:
            entries = re.findall(r'extern\s*"C"[^;{]*?void\s+(\w+)\s*\(', f.read())
        if name[:-4] in entries:
            return os.path.join(folder, name), name[:-4]
        if entries:
            best = os.path.join(folder, name), entries[-1]
    return best


def fault_text(f):
    where = '%s:%d: ' % (os.path.basename(f['file']), f['line']) if f.get('file') else ''
    return '%s%s: %s%s' % (where, f['kind'], f['message'], ' (x%d)' % f['count'] if f['count'] > 1 else '')


def checkout(variable, inside, argv):
    """The folder that the caller names (first argument or environment); exit status 77 where there is none."""
    path = os.environ.get(variable)
    if argv and not argv[0].startswith('-') and (not path or os.path.isdir(argv[0])):
        path = argv[0]
    if not path:
        print('skipped: no checkout given; set %s or name its folder' % variable)
        sys.exit(77)
    if not os.path.exists(os.path.join(path, inside)):
        print('%s: not the folder that is meant (it has no %s)' % (path, inside))
        sys.exit(2)
    return os.path.abspath(path)


def simrun_path():
    build = os.environ.get('AC_BUILD') or os.path.join(HERE, '..', '..', 'build')
    path = os.path.join(build, 'simrun')
    if not os.path.exists(path):
        print('skipped: %s is not there; ninja -C %s simrun, or AC_BUILD=FOLDER with another build' % (path, build))
        sys.exit(77)
    return path
