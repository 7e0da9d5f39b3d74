"""Reads the PyTorch binding of an AscendC operator (pybind C++ around EXEC_NPU_CMD) far enough to call the operator without
compiling it: which Python argument goes where in the aclnn call, which of its arguments are outputs, and what is returned.

What it follows are plain initialisations (TensorList(x), x.c_str(), ConvertType(IntArrayRef(v)), x.to(torch::kFloat), ...): such a local
stands for the value it was made from. A local made by an allocation (empty, empty_like, zeros ...) is an output."""
import re

ALLOC = re.compile(r'\b(empty|empty_like|zeros|zeros_like|ones|ones_like|full|apply_tensor\w*)\s*\(')
TO = re.compile(r'\.to\(\s*(?:torch|at)::k(\w+)')


class Out:
    """An output of the call, by the name of its local in the binding."""

    def __init__(self, name):
        self.name = name


def split(text):
    """Top-level commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in '([{<':
            depth += 1
        elif c in ')]}>':
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    tail = text[start:].strip()
    return parts + [tail] if tail else parts


def balanced(text, at, pair):
    """The text between the bracket at `at` and its partner, and where it ends."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == pair[0]:
            depth += 1
        elif text[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return text[at + 1:i], i + 1
    raise ValueError('unbalanced ' + pair)


class Binding:
    def __init__(self, text):
        text = re.sub(r'//[^\n]*', '', text)
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        self.functions = {}
        for m in re.finditer(r'^[ \t]?[\w:<>&][\w:<>&\*, \t]*?[\s&](\w+)\s*\(', text, re.M):
            if m.group(1) in ('if', 'for', 'while', 'switch'):
                continue
            try:
                params, end = balanced(text, m.end() - 1, '()')
            except ValueError:
                continue
            brace = re.match(r'\s*\{', text[end:])
            if brace:
                body, _ = balanced(text, end + brace.end() - 1, '{}')
                names = [re.sub(r'=.*', '', p).strip() for p in split(params)]
                self.functions[m.group(1)] = ([re.search(r'(\w+)$', p).group(1) for p in names if p], body)

    def function(self):
        """(parameter names, body) of the only function that calls the operator."""
        with_call = [f for f in self.functions.values() if 'EXEC_NPU_CMD' in f[1]]
        if len(with_call) != 1:
            raise ValueError('which function is it?')
        return with_call[0]


class Call:
    """One call of the operator with Python values."""

    def __init__(self, binding, values, convert):
        self.params, self.body = binding.function()
        self.returns_list = False
        self.values = dict(zip(self.params, values))
        self.convert = convert  # (value, "Float") -> value: what .to(torch::kFloat) does
        m = re.search(r'EXEC_NPU_CMD\w*\s*\(', self.body)
        inner, _ = balanced(self.body, m.end() - 1, '()')
        self.aclnn, *exprs = split(inner)
        self.exprs = exprs
        self.args = [self.value(e) for e in exprs]

    def initialiser(self, name):
        """The expression that makes a local; '' when it is declared only; None when there is no such local."""
        m = re.search(r'(?:^|[;{}(,])\s*(?:const\s+)?[\w:]+(?:<[^;=]*?>)?[\s&\*]+' + name + r'\s*(=|\(|\{|;)', self.body)
        if not m:
            return None
        if m.group(1) == ';':
            return ''
        if m.group(1) == '=':
            return self.body[m.end():self.body.index(';', m.end())].strip()
        return balanced(self.body, m.end() - 1, '()' if m.group(1) == '(' else '{}')[0]

    def root(self, expr, seen=()):
        """The parameter or output that an expression stands for, by name; None: neither (a literal, an empty tensor)."""
        names = [n for n in re.findall(r'(?<![\w:.])(?:this->)?([A-Za-z_]\w*)(?!\w|::|\s*\()', expr)]
        for n in names:
            if n in self.values or n in seen:
                return n if n in self.values else None
            made = self.initialiser(n)
            over = re.search(r'for\s*\([^:;()]*\b' + n + r'\s*:\s*(\w+)\s*\)', self.body)
            if made is None and over:  # an element of a list: the list
                made = over.group(1)
            if made is None:
                continue
            pushed = self.pushed(n)
            if ALLOC.search(made) or any(ALLOC.search(p) for p in pushed + self.assigned(n)):
                return n
            if re.fullmatch(r'(at|torch)::Tensor\(\)', made):
                continue
            inner = self.root(made if made else ' '.join(pushed), seen + (n,))
            if inner:
                return inner
        return None

    def pushed(self, name):
        """What is appended to a list, in order."""
        return [balanced(self.body, m.end() - 1, '()')[0] for m in re.finditer(r'\b' + name + r'\.(?:push_back|emplace_back)\s*\(', self.body)]

    def assigned(self, name):
        """What a local is set to after its declaration."""
        return re.findall(r'(?:^|[;{}])\s*' + name + r'\s*=\s*([^;=][^;]*);', self.body)

    # ---- the memory of an output, as the binding allocates it

    def allocation(self, name):
        """(shape, dtype kind or None for that of `like`, like) of an output; None where it cannot be followed."""
        for made in [self.initialiser(name) or ''] + self.assigned(name):
            m = re.search(r'\b(empty|zeros|ones|full)(_like)?\s*\(', made)
            if not m:
                continue
            parts = split(balanced(made, m.end() - 1, '()')[0])
            like = self.root(parts[0])
            like = like if like else self.root(' '.join(parts[1:]))
            kind = re.search(r'dtype\(\s*(?:torch|at)::k(\w+)', ' '.join(self.expanded(p) for p in parts[1:]))
            shape = self.shape_of(parts[0], m.group(2))
            return None if shape is None else (shape, kind.group(1) if kind else None, like)
        return None

    def zeroed(self, name):
        """Whether the output holds zeros before the call."""
        made = ' '.join([self.initialiser(name) or ''] + self.assigned(name))
        return bool(re.search(r'\bzeros(_like)?\s*\(', made) or re.search(r'\b' + name + r'\.zero_\(', self.body))

    def expanded(self, expr):
        made = self.initialiser(expr.strip()) if re.fullmatch(r'\s*\w+\s*', expr) else None
        return made or expr

    def shape_of(self, expr, like):
        if like:
            v = self.values.get(self.root(expr))
            inner = None if v is not None else self.allocation(self.root(expr))
            return list(v.shape) if hasattr(v, 'shape') else inner[0] if inner else None
        if expr.startswith('{'):
            dims = [self.whole(e) for e in split(expr[1:-1])]
            return None if None in dims else dims
        v = self.values.get(expr)
        if isinstance(v, (list, tuple)):
            return list(v)
        base = self.values.get(self.root(expr))
        if not hasattr(base, 'shape'):
            return None
        shape = list(base.shape)
        over = re.search(r'i < (\w+)\.sizes\(\)\.size\(\)[^{]*\{\s*' + expr + r'\[', self.body)
        if over and over.group(1) in self.values:
            k = self.values[over.group(1)].dim()
            shape[len(shape) - k:] = [1] * k
        if re.search(r'\b' + expr + r'(\.back\(\)|\[\s*' + expr + r'\.size\(\)\s*-\s*1\s*\])\s*=\s*1\b', self.body):
            shape[-1] = 1
        return shape

    def whole(self, expr):
        e = expr.strip()
        if re.fullmatch(r'\d+', e):
            return int(e)
        m = re.fullmatch(r'(\w+)\.(?:size\(\s*(-?\d+)\s*\)|numel\(\))', e)
        if m and hasattr(self.values.get(m.group(1)), 'shape'):
            v = self.values[m.group(1)]
            return v.shape[int(m.group(2))] if m.group(2) else v.numel()
        if isinstance(self.values.get(e), int):
            return self.values[e]
        made = self.initialiser(e) if re.fullmatch(r'\w+', e) else None
        return self.whole(made) if made else None

    def value(self, expr):
        root = self.root(expr)
        if root in self.values:
            v = self.values[root]
            chain = expr
            while chain:  # conversions on the way
                for kind in TO.findall(chain):
                    v = self.convert(v, kind)
                names = [n for n in re.findall(r'[A-Za-z_]\w*', chain) if n not in self.values]
                made = [self.initialiser(n) for n in names]
                chain = next((x for x in made if x), None) if not re.search(r'\b' + root + r'\b', chain) else None
            return v
        if root:
            return Out(root)
        e = expr.strip()
        if e in ('true', 'false'):
            return e == 'true'
        if re.fullmatch(r'-?\d+', e):
            return int(e)
        if re.fullmatch(r'-?[\d.]+(e-?\d+)?f?', e):
            return float(e.rstrip('f'))
        if e.startswith('"'):
            return e.strip('"')
        made = self.initialiser(e) if re.fullmatch(r'\w+', e) else None
        return self.value(made) if made else None

    def returned(self, count):
        """Names (parameters or outputs) of what the function returns, in order; of several lists that it may return, the one of `count`."""
        found = re.findall(r'return\s+([^;]+);', self.body)
        if not found:
            return []
        expr = found[-1].strip()
        if re.fullmatch(r'\w+', expr) and expr not in self.values:
            lists = re.findall(r'\b' + expr + r'\s*(?:=\s*)?\{([^;]*)\}\s*;', self.body)
            pushed = self.pushed(expr)
            if lists:
                expr = '{' + next((x for x in lists if len(split(x)) == count), lists[0]) + '}'
            elif pushed and not any(ALLOC.search(p) for p in pushed):
                expr = '{' + ', '.join(pushed) + '}'
        m = re.match(r'(?:[\w:<>]*)\s*[\{\(](.*)[\}\)]$', expr, re.S)
        parts = split(m.group(1)) if m else [expr]
        self.returns_list = bool(m)
        return [self.root(p) for p in parts]
