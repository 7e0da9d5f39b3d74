"""The table of operators: each is generated, compiled and verified in each dtype, and timed by the frozen model.

usage: bench/operators.py [--build DIR] [--dtypes LIST] [--times] [--json FILE] [-o FILE] [CATEGORY|NAME|FILE.py ...]

Verified: at the shapes of 2025 (own shape), the ladder of verify, and the test shapes of tests/operators/expected.json; a result counts
only when all cases pass. Times are modelled, at the module's own (current) shapes, with two blocks of each launch run.
Beside the times stand two bounds: what must move once (each input read, each output written), and what the schedule moves."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', default=os.path.join(ROOT, 'build'), help='folder with the ascendcraft command')
    p.add_argument('--dtypes', default='float32,float16,bfloat16', help='comma-separated')
    p.add_argument('--times', action='store_true', help='model the times at the current shapes, too (hours of large tensors)')
    p.add_argument('--only-times', action='store_true', help='nothing is verified')
    p.add_argument('--jobs', type=int, default=max(1, (os.cpu_count() or 2) // 2))
    p.add_argument('--json', help='all figures, for machines')
    p.add_argument('-o', '--output', help='Markdown file (default: standard output)')
    p.add_argument('what', nargs='*', help='categories, names or files (default: all of tests/operators)')
    return p.parse_args()


def rows(what):
    table = json.load(open(os.path.join(ROOT, 'tests/operators/expected.json')))
    for r in table:
        r['file'] = os.path.join(ROOT, 'tests/operators', r['category'], r['name'] + '.py')
    if not what:
        return table
    files = [{'category': 'file', 'name': os.path.basename(f)[:-3], 'file': f, 'shapes_2025': {}, 'shapes_test': [], 'init_2025': None}
             for f in what if f.endswith('.py')]
    return [r for r in table if r['name'] in what or r['category'] in what] + files


def command(o, *args):
    """One run: exit code, its JSON object, the text of its messages."""
    done = subprocess.run([os.path.join(o.build, 'ascendcraft'), *args, '--json'], capture_output=True, text=True, cwd=ROOT)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return done.returncode, {}, done.stderr


def shape_options(shapes):
    return [x for name, dims in shapes.items() for x in ('--shape', f"{name}={','.join(map(str, dims))}")]


def first_error(result, text):
    for d in result.get('diagnostics', []):
        if d.get('severity', 'error') == 'error':
            return d.get('message', '?')
    return text.strip().split('\n')[-1] if text.strip() else '?'


def counts(found, verify):
    for k in ('passed', 'failed', 'refused', 'skipped'):
        found[k] += verify.get(k, 0)
    for c in verify.get('cases', []):
        if c.get('verdict') == 'pass':
            found['worst'] = max(found['worst'], c.get('max_rel') or 0)
        elif c.get('verdict') == 'fail' and 'why' not in found:
            found['why'] = f"{c.get('shapes')}: {c.get('name')}"


def launches_of(folder):
    for name in os.listdir(folder):
        if name.endswith('.craft'):
            text = open(os.path.join(folder, name)).read()
            return text.count('@ascend_kernel'), text.count('# Stage ') or 1
    return 0, 0


def check(o, row, dtype, folder):
    found = dict(category=row['category'], name=row['name'], dtype=dtype, passed=0, failed=0, refused=0, skipped=0, worst=0.0)
    init = ['--init', repr(row['init_2025'])] if row['init_2025'] else []
    args = [row['file'], '-f', '-o', folder, '-d', dtype, *init, *shape_options(row['shapes_2025'])]
    code, result, text = command(o, 'gen', *args, *(['--no-verify'] if o.only_times else []))
    if code and not result.get('verify'):
        return found | dict(result='refused' if code == 3 else f'exit {code}', why=first_error(result, text))
    counts(found, result.get('verify', {}))
    verdicts = [v.get('verdict') for v in result.get('verdicts', [])]
    found['proved'] = f"{verdicts.count('proved')}/{len(verdicts)}" if verdicts else ''
    warnings = [d for d in result.get('diagnostics', []) if d.get('severity') == 'warning']
    found['open'] = len(warnings)
    found['kernels'], found['stages'] = launches_of(folder)
    for shapes in [] if o.only_times or init else row['shapes_test']:
        code, result, text = command(o, 'verify', folder, '--only', *shape_options(shapes))
        if code == 2:  # another way of broadcasting, or sizes that the module's own arguments fix: another project, or none
            code, result, text = command(o, 'gen', row['file'], '-f', '-o', folder + '2', '-d', dtype, *shape_options(shapes))
            found['skipped'] += code == 2
        counts(found, result.get('verify', {}))
        if code not in (0, 2) and not result.get('verify'):
            found['failed'] += 1
            found['why'] = first_error(result, text)
    found['result'] = 'not verified' if o.only_times else 'fail' if found['failed'] else 'pass'
    return found


def time(o, row, dtype):
    code, result, text = command(o, 'profile', row['file'], '-d', dtype, '--sample-blocks', '2')
    p = result.get('profile')
    if not p:
        return {'time_why': first_error(result, text)}
    scale = p['blocks'] / p['blocks_run'] if p['blocks_run'] else 1
    must, moved = (p['must_in'] + p['must_out']) * scale, (p['bytes_in'] + p['bytes_out']) * scale
    bound = must / p['hbm_gb_s'] / 1e3
    return dict(us=p['us'], bound_us=bound, passes_us=moved / p['hbm_gb_s'] / 1e3, share=bound / p['us'] if p['us'] else 0)


def one(o, row, dtype):
    with tempfile.TemporaryDirectory() as work:
        found = check(o, row, dtype, os.path.join(work, 'p'))
    if (o.times or o.only_times) and found['result'] in ('pass', 'not verified'):
        found |= time(o, row, dtype)
    return found


def line(f):
    us = f"{f['us']:.0f} | {f['bound_us']:.0f} | {f['passes_us']:.0f} | {100 * f['share']:.0f}%" if 'us' in f else '| | |'
    return (f"| {f['category']} | {f['name']} | {f['dtype']} | {f['result']} | {f['passed']} | {f['worst']:.1e} | {f.get('open', '')} "
            f"| {f.get('kernels', '')} | {f.get('stages', '')} | {us} | {f.get('why', f.get('time_why', ''))} |")


def commit():
    got = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True, text=True, cwd=ROOT)
    return got.stdout.strip() or 'unknown'


def markdown(found):
    done = sum(f['result'] == 'pass' for f in found)
    shares = sorted(f['share'] for f in found if 'share' in f)
    text = [f"# Operators\n\nMade by `bench/operators.py` at commit {commit()}. {done} of {len(found)} verified.\n",
            'Results are simulated.' + (' Times are modelled at the current shapes (us, ascend910b2): "once" is what must move once at the\n'
                                        'memory\'s bandwidth, "passes" what the schedule moves, "share" once over time.' if shares else '') + '\n']
    if shares:
        text.append(f'Share of the roofline: median {100 * shares[len(shares) // 2]:.0f}%, least {100 * shares[0]:.0f}%.\n')
    text.append('| category | operator | dtype | result | cases | largest relative error | not proved | kernels | stages | us | once | passes | share | remark |')
    text.append('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|')
    return '\n'.join(text + [line(f) for f in found]) + '\n'


def main():
    o = arguments()
    jobs = [(r, d) for r in rows(o.what) for d in o.dtypes.split(',')]
    if not jobs:
        sys.exit('operators.py: nothing of that name in tests/operators')
    found = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for i, f in enumerate(pool.map(lambda j: one(o, *j), jobs)):
            found.append(f)
            print(f"[{i + 1}/{len(jobs)}] {f['name']} {f['dtype']}: {f['result']} {f.get('why', '')}", file=sys.stderr, flush=True)
    if o.json:
        json.dump(found, open(o.json, 'w'), indent=1)
    text = markdown(found)
    if o.output:
        open(o.output, 'w').write(text)
    else:
        sys.stdout.write(text)
    sys.exit(any(f['result'] not in ('pass', 'not verified') for f in found))


main()
