"""The worked AscendC examples of MultiKernelBench (prompts/): five operator projects of the vector unit and two direct-launch ones, run
unmodified in the simulator and compared with their own PyTorch models by the benchmark's own rule (allclose, 1e-4).

usage: multikernelbench.py CHECKOUT [--json FILE]       (or MULTIKERNELBENCH in the environment)"""
import json
import os
import re
import sys
import tempfile
import types

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from binding import Binding, Call, Out
from common import Simulator, Tensor, checkout, fault_text, simrun_path

# Example, its model, further inputs beside the model's own: sizes where tails, several cores and one core are at work.
PROJECTS = {'add': [(64, 4096), (2048,), (37, 1024)], 'leaky_relu': [None, (4, 1024)], 'layer_norm': [None, (1000, 1024), (97, 512)],
            'mse_loss': [None, (100, 100), (8192,)], 'reduce_sum': [None, (64,), (512,), (2048,)]}
DIRECT = {'add': [(1024, 1024), (1000003,), (7,)], 'relu': [(1024, 1024), (1000003,), (7,)]}
RULE = dict(atol=1e-4, rtol=1e-4)


def quiet_modules():
    for name in ('torch_npu', 'custom_ops_lib', 'benchmark_ops'):
        sys.modules[name] = types.ModuleType(name)


def inputs_of(model, shape):
    torch.manual_seed(1024)
    if shape is None:
        return model['get_inputs']()
    count = 2 if 'b = torch' in model['source'] else 1
    return [torch.randn(shape) for _ in range(count)]


def source(path):
    with open(path) as f:
        text = f.read()
    space = {'source': text}
    exec(compile(text, path, 'exec'), space)
    return space


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    return path


def project(root, name, work, model, shape):
    """One run of a custom-operator project through its own binding and ModelNew."""
    six = source(os.path.join(root, 'prompts', 'ascendc_new_model_%s.py' % name))
    op = '%s_custom' % name
    write('%s/op_host/%s_tiling.h' % (work, op), six['host_tiling_src'])
    spec = {'form': 'msopgen', 'op': op, 'op_type': re.search(r'OP_ADD\((\w+)', six['host_operator_src']).group(1),
            'kernel': write('%s/op_kernel/%s.cpp' % (work, op), six['kernel_src']),
            'host': write('%s/op_host/%s.cpp' % (work, op), six['host_operator_src'])}
    described = json.loads(six['project_json_src'])[0]
    sim = Simulator(simrun_path(), work)
    inputs = inputs_of(model, shape)
    init = list(model['get_init_inputs']()) if shape is None or name != 'layer_norm' else [shape[-1]]
    torch.manual_seed(1024)
    want = model['Model'](*init)(*inputs)
    result = {}

    def call(*values):
        c = Call(Binding(six['python_bind_src']), values, None)
        given = [v for v in c.args if not isinstance(v, Out)]
        tensors, attrs, rest = [], [], list(given)
        for d in described['input_desc']:
            tensors.append(Tensor(d['name'], rest.pop(0)))
        for d in described.get('attr', []):
            attrs.append((d['name'], {'float': 'f', 'int': 'i', 'bool': 'b'}[d['type'][0] if isinstance(d['type'], list) else d['type']], rest.pop(0)))
        tensors.append(Tensor(described['output_desc'][0]['name'], torch.empty_like(want), 'out'))
        result.update(sim.run(spec, tensors, attrs))
        if not result.get('ran'):
            raise RuntimeError(result.get('refused') or result['diagnostics'])
        return result['outputs'][0]

    setattr(sys.modules['custom_ops_lib'], op, call)
    space = {}
    exec(six['model_src'], space)
    torch.manual_seed(1024)
    with torch.no_grad():
        got = space['ModelNew'](*init)(*inputs)
    return result, got, want


GLUE = '''// The host side of PyTorch's binding, with plain pointers.
#include "%(kernel)s"
extern "C" int32_t bench_workspace(uint32_t, uint64_t, const int64_t *const *, const int32_t *, const double *, int64_t *bytes, char *, uint32_t) {
  *bytes = 0;
  return 0;
}
extern "C" int32_t bench_run(uint32_t, uint64_t, const int64_t *const *shapes, const int32_t *ranks, const double *, void *const *data, void *, void *stream, char *, uint32_t) {
  int64_t total = 1;
  for (int32_t i = 0; i < ranks[0]; i++) total *= shapes[0][i];
  auto [blocks, length, tile] = calc_%(op)s_tiling_params(total);
  launch_%(op)s_kernel_%(type)s(%(args)s, total, blocks, length, (uint32_t)tile, stream);
  return 0;
}
'''


def direct(root, name, work, model, shape, dtype):
    """One run of a direct-launch project: its kernel file, its launcher and its tiling, called as its pybind11.cpp does."""
    with open(os.path.join(root, 'prompts', 'ascendc_direct_launch_model_%s.json' % name)) as f:
        for s in json.load(f)['sources']:
            write(os.path.join(work, s['path']), s['content'])
    inputs = [x.to(dtype) for x in inputs_of(model, shape)]
    want = model['Model']()(*[x.float() for x in inputs]).to(dtype)
    args = ', '.join('(GM_ADDR)data[%d]' % i for i in range(len(inputs) + 1))
    word = {torch.float32: 'float', torch.float16: 'half', torch.int32: 'int32'}[dtype]
    glue = write('%s/bench_%s.cpp' % (work, word), GLUE % {'kernel': '%s/kernel/%s_kernel.cpp' % (work, name), 'op': name, 'type': word, 'args': args})
    sim = Simulator(simrun_path(), work)
    tensors = [Tensor('in%d' % i, x) for i, x in enumerate(inputs)] + [Tensor('out', torch.empty_like(want), 'out')]
    r = sim.run({'form': 'direct', 'op': 'bench', 'kernel': glue}, tensors)
    if not r.get('ran'):
        raise RuntimeError(r.get('refused') or r['diagnostics'])
    return r, r['outputs'][0], want


def record(rows, kernel, case, run):
    row = {'kernel': kernel, 'case': case}
    try:
        r, got, want = run()
        row['matches'] = got.shape == want.shape and bool(torch.allclose(got.double(), want.double(), **RULE))
        row['max_error'] = float((got.double() - want.double()).abs().max())
        row['blocks'], row['faults'] = r['block_dim'], [fault_text(f) for f in r['faults']]
    except Exception as e:
        row['matches'], row['faults'], row['error'] = False, [], str(e)[:1500]
    rows.append(row)
    print('%-28s %-16s %-7s %s' % (kernel, case, 'match' if row['matches'] else 'DIFFER', row.get('error', 'max error %.3g' % row.get('max_error', -1))))
    for f in row['faults']:
        print('    ' + f)


def main(argv):
    root = checkout('MULTIKERNELBENCH', 'prompts/ascendc_new_model_add.py', argv)
    quiet_modules()
    rows = []
    for name, shapes in PROJECTS.items():
        model = source('%s/prompts/cuda_model_%s.py' % (root, name))
        for shape in shapes:
            with tempfile.TemporaryDirectory() as work:
                record(rows, name, 'its own' if shape is None else str(shape), lambda: project(root, name, work, model, shape))
    models = {'add': '%s/prompts/cuda_model_add.py' % root, 'relu': '%s/reference/activation/relu.py' % root}
    for name, shapes in DIRECT.items():
        for dtype in (torch.float32, torch.float16) + ((torch.int32,) if name == 'add' else ()):
            for shape in shapes:
                with tempfile.TemporaryDirectory() as work:
                    record(rows, name + ' (direct launch)', '%s %s' % (shape, str(dtype)[6:]), lambda: direct(root, name, work, source(models[name]), shape, dtype))
    if '--json' in argv:
        with open(argv[argv.index('--json') + 1], 'w') as f:
            json.dump(rows, f, indent=1)
    return 0 if all(r['matches'] for r in rows) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
