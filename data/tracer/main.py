"""Runs a user's file under the tracing stand-in for torch and hands the graph to C. Started by ascendcraft-trace, isolated."""
import faulthandler
import os
import sys

import _ascendcraft as _c

HERE = os.path.dirname(os.path.abspath(__file__))
_c.out_fd = os.dup(1)
os.dup2(2, 1)  # what the file prints is no part of the answer
sys.path.insert(0, HERE)

DEFAULT_TIMEOUT, DEFAULT_MEMORY = 20.0, 2 << 30
MODULE = "ascendcraft_user_module"


class TimeLimit(BaseException):
    pass


class Refused(PermissionError):
    """The file asked for the network, another program, or a file that is not its own."""


class Stop(Exception):
    """A diagnostic of the driver itself."""

    def __init__(self, code, message, help=None, line=0):
        super().__init__(message)
        self.ac_code, self.ac_help, self.ac_notes = code, [help] if help else [], []
        self.line = line


# ---- command line ----

class Options:
    def __init__(self, argv):
        self.cls = self.dtype = self.init = None
        self.shapes, self.timeout, self.memory, self.file = [], DEFAULT_TIMEOUT, DEFAULT_MEMORY, None
        for a in argv:
            name, eq, value = a.partition("=")
            if not a.startswith("--"):
                if self.file:
                    raise Stop("AC0103", "more than one file: %s" % a)
                self.file = a
            elif not eq or not self.take(name[2:], value):
                raise Stop("AC0103", "unknown option %s" % a, "ascendcraft-trace --help lists them")
        if not self.file:
            raise Stop("AC0103", "no file to trace")
        self.file = os.path.abspath(self.file)

    def take(self, name, value):
        if name == "class":
            self.cls = value
        elif name == "dtype":
            self.dtype = value
        elif name == "init":
            self.init = value
        elif name == "shape":
            self.shapes.append(parse_shape(value))
        elif name == "timeout":
            self.timeout = float(value)
        elif name == "memory":
            self.memory = int(value)
        else:
            return False
        return True


def parse_shape(text):
    """x=7,1003  0=7,1003  x=  x=8,8:float16"""
    name, eq, rest = text.partition("=")
    sizes, _, dtype = rest.partition(":")
    try:
        return name, [int(s) for s in sizes.split(",") if s.strip()], dtype or None
    except ValueError:
        raise Stop("AC0103", "bad shape '%s'" % text, "write --shape=NAME=7,1003") from None


def shape_table(shapes):
    table = {}
    for n, s, d in shapes:
        if n in table:
            raise Stop("AC0103", "--shape gives the shape of %s twice" % n, "give it once")
        table[n] = (s, d)
    return table


# ---- what the file may not do ----

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
NETWORK = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "telnetlib.")
PROCESS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen", "pty.spawn", "os.startfile")
CHANGE = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate", "os.unlink",
          "shutil.", "tempfile.", "os.setxattr", "os.utime", "sqlite3.connect")
OTHER = ("ctypes.dlopen", "os.kill", "os.killpg", "signal.pthread_kill", "os.putenv", "ctypes.dlsym", "ctypes.cdata")


def guard(readable):
    """Audit events give the refusal its reason and its line; the sandbox below holds whether or not they are heeded."""
    def hook(event, args):
        if event == "open":
            path, mode, flags = args
            if not isinstance(path, (str, bytes)):
                return
            path = os.path.abspath(os.fsdecode(path))
            if isinstance(flags, int) and flags & WRITING and path != os.devnull:
                raise Refused("writing %s: a traced file may not write" % path)
            if not path.startswith(readable) and not path.startswith("/dev/"):
                raise Refused("reading %s: a traced file may read its own folder only" % path)
        elif event.startswith(NETWORK):
            raise Refused("network (%s): a traced file has none" % event)
        elif event.startswith(PROCESS):
            raise Refused("starting a process (%s): a traced file may not" % event)
        elif event.startswith(CHANGE):
            raise Refused("changing files (%s): a traced file may not" % event)
        elif event in OTHER:
            raise Refused("%s: a traced file may not" % event)
    sys.addaudithook(hook)


def limits(o):
    import signal

    def expired(*_):
        raise TimeLimit()
    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, o.timeout, 0.25)
    # For loops in C that never come back to the handler above: prints where Python is, and ends.
    faulthandler.enable(2)
    faulthandler.dump_traceback_later(o.timeout + 0.5, exit=True, file=2)


def stdlib():
    return os.path.dirname(os.__file__)


def system_folders():
    return [p for p in ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/proc/self")
            if os.path.exists(p)]


# ---- diagnostics ----

def columns(code, lasti, line):
    """Of one instruction, from 1; Python knows them from 3.11 on."""
    if not hasattr(code, "co_positions"):
        return 0, 0
    for i, (first, last, col, end) in enumerate(code.co_positions()):
        if i == lasti // 2:
            return (col + 1, end + 1 if last == first else 0) if first == line and col is not None else (0, 0)
    return 0, 0


def frames_of(exc, folder):
    """(file, line, function, columns) of the frames in the user's folder, outermost first."""
    out, tb = [], exc.__traceback__
    lib = (HERE + os.sep, stdlib() + os.sep)
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if name.startswith(folder) and not name.startswith(lib):
            code = tb.tb_frame.f_code
            out.append((name, tb.tb_lineno, code.co_name, columns(code, tb.tb_lasti, tb.tb_lineno)))
        tb = tb.tb_next
    return out


def diag(code, message, at, help=(), notes=()):
    """at: (file, line, ..., (column, end column))."""
    d = {"severity": "error", "code": code, "message": message, "help": list(help), "notes": list(notes)}
    file, line, (column, end) = at[0], at[1], at[-1]
    if file:
        d["file"] = file
        if line:
            d["line"] = line
        if line and column:
            d["column"] = column
        if line and end > column:
            d["end_column"] = end
    return d


def where_called(frames):
    return [{"file": f, "line": n, "message": "called from here, in %s" % fn} for f, n, fn, _ in reversed(frames[:-1])
            if not fn.startswith("<module") or len(frames) < 3][:6]


def explain(exc, folder, stage, file, o):
    """One exception as a diagnostic."""
    frames = frames_of(exc, folder)
    at = frames[-1] if frames else (file, 0, "", (0, 0))
    text = str(exc)
    kind = type(exc).__name__
    notes = where_called(frames)
    code = getattr(exc, "ac_code", None)
    if code:
        loc = getattr(exc, "ac_loc", None)
        if loc and loc[0]:
            at = (loc[0], loc[1], "", loc[2:])
        elif isinstance(exc, Stop):
            at = (file, exc.line, "", (0, 0))
        notes = [{"file": f, "line": n, "message": m} if f else {"message": m} for f, n, m in exc.ac_notes] + notes
        return diag(code, text, at, help=exc.ac_help, notes=notes)
    if isinstance(exc, SyntaxError):
        return diag("AC0203", exc.msg or text, (exc.filename or file, exc.lineno or 0, (exc.offset or 0, getattr(exc, "end_offset", None) or 0)))
    if isinstance(exc, TimeLimit):
        return diag("AC0207", "still running after %g s%s" % (o.timeout, " (here, in %s)" % at[2] if at[2] else ""), at,
                    help=["does this loop end? Loops in forward are unrolled: a loop over elements belongs into tensor operations. --trace-timeout raises the limit"],
                    notes=notes)
    if isinstance(exc, MemoryError):
        return diag("AC0208", "the file needs more than %d MiB" % (o.memory >> 20), at,
                    help=["tensors cost nothing while tracing; Python lists and bytes do"], notes=notes)
    if isinstance(exc, ImportError):
        return explain_import(exc, at, notes)
    if isinstance(exc, Refused):
        return diag("AC0209", text, at, help=["tracing only needs the module and its sibling data files (read-only)"], notes=notes)
    if isinstance(exc, OSError) and exc.errno in (1, 11, 13, 30) and frames:
        return diag("AC0209", "%s: %s: refused by the sandbox (no network, no new processes, no writing; reading in its own folder only)"
                    % (kind, text), at, notes=notes)
    if isinstance(exc, SystemExit):
        return diag("AC0204", "the file called exit(%s)" % ("" if exc.code is None else exc.code), at, notes=notes)
    return diag("AC0204", "%s: %s%s" % (stage, kind, ": " + text if text else ""), at, notes=notes)


def explain_import(exc, at, notes):
    name = exc.name or ""
    if name.split(".")[0] == "torch":
        if not isinstance(exc, ModuleNotFoundError):
            import re
            m = re.search(r"cannot import name '([^']*)'", str(exc))
            name = name + "." + m.group(1) if m else name
        return diag("AC0205", "%s is not known to the tracer" % name, at,
                    help=["express it with operations that the tracer knows"], notes=notes)
    if isinstance(exc, ModuleNotFoundError):
        return diag("AC0211", "Python package '%s' is not available while tracing (only the standard library, torch's names and the file's own "
                    "folder are)" % name, at, help=["write it with torch or math, or move the import out of this file"], notes=notes)
    return diag("AC0204", "ImportError: %s" % exc, at, notes=notes)


# ---- the module ----

def load(path):
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        raise Stop("AC0101", "%s: %s" % (path, e.strerror)) from None
    module = type(sys)(MODULE)
    module.__file__ = path
    sys.modules[MODULE] = module
    tree = compile(data, path, "exec", 0x400)  # the syntax tree only: where classes stand
    exec(compile(data, path, "exec"), module.__dict__)
    return module, data, tree


def find_class(module, wanted):
    from torch import nn
    if wanted:
        cls = getattr(module, wanted, None)
        if not isinstance(cls, type) or not issubclass(cls, nn.Module):
            raise Stop("AC0201", "the file has no nn.Module named %s" % wanted)
        return cls
    cls = getattr(module, "Model", None)
    if isinstance(cls, type) and issubclass(cls, nn.Module):
        return cls
    found = [v for v in module.__dict__.values() if isinstance(v, type) and issubclass(v, nn.Module) and v.__module__ == MODULE]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Stop("AC0201", "the file defines no class derived from torch.nn.Module", "define class Model(nn.Module) with forward")
    raise Stop("AC0201", "the file has several modules (%s) and none is called Model" % ", ".join(c.__name__ for c in found),
               "name the one to trace with --class")


def constructor_arguments(module, o):
    if o.init is not None:
        import ast
        try:
            v = ast.literal_eval(o.init)
        except (ValueError, SyntaxError):
            raise Stop("AC0103", "--init is not a Python literal: %s" % o.init, "for example --init='[64, 1e-5]'") from None
        v = [v] if not isinstance(v, (list, tuple, dict)) else v
    else:
        get = getattr(module, "get_init_inputs", None)
        v = get() if get else []
    if isinstance(v, dict):
        return [], v
    v = list(v) if isinstance(v, (list, tuple)) else [v]
    if len(v) == 2 and isinstance(v[0], (list, tuple)) and isinstance(v[1], dict):
        return list(v[0]), v[1]
    return v, {}


def example_inputs(module, o, names):
    import torch
    for fn in ("get_inputs", "get_input_groups"):
        get = getattr(module, fn, None)
        if not get:
            continue
        _c.fresh_sizes(True)
        v = get()
        v = list(v) if hasattr(v, "__next__") else v  # a generator's body runs here
        _c.fresh_sizes(False)
        if fn == "get_input_groups":
            v = list(v)
            if not v:
                raise Stop("AC0215", "get_input_groups() returned no group")
            v = v[0]
        if isinstance(v, dict):
            return v
        return list(v) if isinstance(v, (list, tuple)) else [v]
    if not o.shapes and names:
        raise Stop("AC0215", "the file has neither get_inputs() nor get_input_groups(), and no shape was given",
                   "add get_inputs(), or give the shape of each input: " + " ".join("--shape %s=..." % n for n in names))
    given = shape_table(o.shapes)
    v = []
    for i, n in enumerate(names):
        sd = given.get(n) or given.get(str(i))
        if sd is None:
            break
        _c.fresh_sizes(True)
        dt = torch._dtypes[sd[1]] if sd[1] else torch.float32
        v.append(torch.rand(sd[0], dtype=dt) if dt.is_floating_point else torch.zeros(sd[0], dtype=dt))
        _c.fresh_sizes(False)
    return v


class Signature:
    def __init__(self, fn):
        fn = getattr(fn, "__func__", fn)
        code = getattr(fn, "__code__", None)
        if code is None:
            raise Stop("AC0202", "forward is not a Python function")
        n = code.co_argcount
        self.names = list(code.co_varnames[1:n])
        self.keyword = list(code.co_varnames[n:n + code.co_kwonlyargcount])
        self.star = code.co_varnames[n + code.co_kwonlyargcount] if code.co_flags & 4 else None
        self.required = len(self.names) - len(fn.__defaults__ or ())

    def bind(self, given):
        """[(name, path, value)] in order, and how to call."""
        if isinstance(given, dict):
            bad = [k for k in given if k not in self.names and k not in self.keyword]
            if bad:
                raise Stop("AC0215", "get_inputs() names '%s', which is no argument of forward(%s)" % (bad[0], ", ".join(self.names)))
            return [(k, k, v, True) for k, v in given.items()]
        if len(given) < self.required or (len(given) > len(self.names) and not self.star):
            raise Stop("AC0215", "forward(%s) takes %d inputs, and %d were given" % (", ".join(self.names), self.required, len(given)),
                       "make get_inputs() return one value for each argument of forward")
        out = []
        for i, v in enumerate(given):
            if i < len(self.names):
                out.append((self.names[i], self.names[i], v, False))
            else:
                k = i - len(self.names)
                out.append(("%s_%d" % (self.star, k), "%s[%d]" % (self.star, k), v, False))
        return out


class Inputs:
    """Example inputs become inputs of the graph, lists and dicts leaf by leaf."""

    def __init__(self, o):
        self.shapes = shape_table(o.shapes)
        self.used, self.args, self.seen, self.names, self.leaf = set(), [], set(), set(), 0

    def name(self, want):
        n = "".join(c if c.isalnum() or c == "_" else "_" for c in want)
        while n in self.names:
            n += "_"
        self.names.add(n)
        return n

    def take(self, arg, name, path, v):
        import torch
        if isinstance(v, torch.Tensor):
            return self.tensor(arg, name, path, v)
        if isinstance(v, (list, tuple)):
            items = [self.take(arg, "%s_%d" % (name, i), "%s[%d]" % (path, i), x) for i, x in enumerate(v)]
            return type(v)(items) if not hasattr(v, "_fields") else type(v)(*items)
        if isinstance(v, dict):
            return {k: self.take(arg, "%s_%s" % (name, k), "%s[%r]" % (path, k), x) for k, x in v.items()}
        if isinstance(v, (int, float)) and not isinstance(v, bool):
            n = self.name(name)
            self.note(arg, path, self.leaf)
            self.leaf += 1
            return _c.scalar(n, v)
        self.args.append({"name": arg, "path": path, "input": -1, "literal": repr(v)})
        return v

    def note(self, arg, path, index):
        self.args.append({"name": arg, "path": path, "input": index, "literal": None})

    def tensor(self, arg, name, path, t):
        if id(t) in self.seen:
            t = t.clone()
        self.seen.add(id(t))
        keep = t
        keys = {k for k in (name, arg if path == arg else None, str(self.leaf)) if k in self.shapes}
        if len(keys) > 1:
            raise Stop("AC0103", "--shape gives the shape of %s more than once: as %s" % (path, " and ".join(sorted(keys))), "give it once")
        override = self.shapes[min(keys)] if keys else None
        self.used |= keys
        sizes, dtype = override if override else (None, None)
        _c.input(t, self.name(name), "input", sizes, dtype)
        self.note(arg, path, self.leaf)
        self.leaf += 1
        return keep

    def check(self):
        for n in self.shapes:
            if n not in self.used:
                raise Stop("AC0215", "--shape %s: forward has no tensor input of that name" % n,
                           "its inputs are: " + ", ".join(a["path"] for a in self.args if a["input"] >= 0))


def hidden_finder(model):
    """The attribute path under which a module holds a tensor that was never registered."""
    def find(t):
        for path, m in model.named_modules():
            for k, v in m.__dict__.items():
                if v is t or (isinstance(v, (list, tuple)) and any(x is t for x in v)):
                    return (path + "." if path else "") + k
        return None
    return find


class Results:
    """forward's result, leaf by leaf, and as a Python expression over `out`."""

    def __init__(self):
        self.outs = []

    def take(self, v, name):
        import torch
        if isinstance(v, torch.Tensor):
            self.outs.append((name, v))
            return "out[%d]" % (len(self.outs) - 1)
        if isinstance(v, dict):
            return "{%s}" % ", ".join("%r: %s" % (k, self.take(x, str(k))) for k, x in v.items())
        if isinstance(v, (list, tuple)):
            items = [self.take(x, "%s%d" % (name, i)) for i, x in enumerate(v)]
            return "[%s]" % ", ".join(items) if isinstance(v, list) else "(%s%s)" % (", ".join(items), "," if len(items) == 1 else "")
        if hasattr(v, "__dataclass_fields__"):
            return "%s(%s)" % (type(v).__name__, ", ".join("%s=%s" % (k, self.take(getattr(v, k), k)) for k in v.__dataclass_fields__))
        if v is None or isinstance(v, (bool, str)) or type(v) in (int, float):
            return repr(v)
        if type(v) is _c.SymInt:
            raise Stop("AC0218", "forward returns a size (%s), which is no tensor" % v.symbol(), "return the tensor; its shape tells the size")
        raise Stop("AC0218", "forward returns a %s, which is neither a tensor nor made of tensors" % type(v).__name__,
                   "return a Tensor, or a tuple, list or dict of them")


def class_lines(tree, name):
    for node in tree.body:
        if type(node).__name__ == "ClassDef" and node.name == name:
            return min([node.lineno] + [d.lineno for d in node.decorator_list]), node.end_lineno
    return 0, 0


def graph_name(path, cls):
    """The file's base name as an identifier of C, else the class."""
    stem = os.path.splitext(os.path.basename(path))[0]
    stem = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem).strip("_")
    return "op_" + stem if stem[:1].isdigit() else stem or cls.__name__


def forward_line(cls):
    code = getattr(cls.forward, "__code__", None)
    return code.co_firstlineno if code else 0


def trace(o, state):
    import torch
    hidden = lambda t: state["hidden"](t)  # noqa: E731
    folder = os.path.join(os.path.dirname(o.file), "")
    state["hidden"] = lambda t: None
    _c.setup(folder, (HERE + os.sep, stdlib() + os.sep), o.dtype, torch.Tensor, torch.Size, torch._dtypes, hidden)
    state["stage"] = "loading the file"
    module, data, tree = load(o.file)
    state["stage"] = "looking for the module"
    cls = find_class(module, o.cls)
    if cls.forward is torch.nn.Module.forward:
        raise Stop("AC0202", "%s has no forward" % cls.__name__, "define forward(self, ...) in %s" % cls.__name__, class_lines(tree, cls.__name__)[0])
    state["stage"] = "get_init_inputs()"
    args, kwargs = constructor_arguments(module, o)
    state["stage"] = "%s.__init__" % cls.__name__
    model = cls(*args, **kwargs)
    state["hidden"] = hidden_finder(model)
    signature = Signature(cls.forward)
    state["stage"] = "get_inputs()"
    bound = signature.bind(example_inputs(module, o, signature.names))
    inputs = Inputs(o)
    positional, named = [], {}
    for name, path, v, keyword in bound:
        v = inputs.take(name, name, path, v)
        if keyword:
            named[name] = v
        else:
            positional.append(v)
    inputs.check()
    for name, p in model.named_parameters():
        _c.input(p, name, "parameter", None, None)
    for name, b in model.named_buffers():
        _c.input(b, name, "buffer", None, None)
    state["stage"] = "%s.forward" % cls.__name__
    _c.forward()
    result = model(*positional, **named)
    out = Results()
    try:
        text = out.take(result, "out")
        if not out.outs:
            raise Stop("AC0218", "forward returns no tensor (%s)" % text, "return the result")
    except Stop as e:
        e.line = forward_line(cls)
        raise
    first, last = class_lines(tree, cls.__name__)
    info = {"file": o.file, "text": data.decode("utf-8", "replace"), "class": cls.__name__, "first": first, "last": last, "args": inputs.args,
            "result": text, "python": sys.version.split()[0]}
    _c.finish(graph_name(o.file, cls), out.outs, info)


def main(argv):
    state = {"stage": "starting"}
    o, folder = None, os.sep
    try:
        o = Options(argv)
        folder = os.path.join(os.path.dirname(o.file), "")
        lib = [stdlib(), sys.prefix, sys.base_prefix, sys.exec_prefix]
        readable = [os.path.dirname(o.file), HERE] + [p for p in sys.path if p] + lib[:1]
        missing = _c.sandbox(readable + system_folders() + [os.path.join(p, "lib") for p in lib[1:]], o.memory, int(o.timeout) + 2)
        if missing:
            sys.stderr.write("sandbox: %s\n" % missing)
        import torch  # noqa: F401
        sys.path[0:1] = [HERE, os.path.dirname(o.file)]
        limits(o)
        guard(tuple(p if p.endswith(os.sep) else p + os.sep for p in readable + system_folders()))
        trace(o, state)
        return 0
    except BaseException as e:  # noqa: BLE001: whatever the file raised is the answer
        reserve = None  # noqa: F841
        file = o.file if o else None
        try:
            _c.report([explain(e, folder, state["stage"], file, o)])
        except MemoryError:
            os.write(_c.out_fd, b'{"diags":[{"severity":"error","code":"AC0208","message":"out of memory","notes":[],"help":[]}]}\n')
        return 2


status = main(sys.argv[1:])
sys.stderr.flush()
os._exit(status)  # threads and destructors of the file have no say
