"""What is made of a function whose statements wait: Note [Effects].

It is one that returns what they need, and the rest of each statement. Functions that it calls are made other
ones as well, if they have such statements: these are given the list that all of them add to.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dis
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from .around import Around, Unknown, number
from .counting import COUNT, COUNTED, Count, counted, counts_in
from .last import add_last, takes_out
from .texts import Text, codes_in, compiled, text_of
from .waiting import ARGUMENT, DONE, NUMBER, Finder, Parts, Place, Position, position

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .around import Callee
    from .waiting import Path

_EFFECT = "rushlight_effect_"
_CALLED = "rushlight_called_"
_LOOKING = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""What would see that there are other variables."""
_WRITING = frozenset(
    code
    for name, code in dis.opmap.items()
    if name.startswith("FORMAT_") or name in ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR")
)
_TAKING = frozenset("append appendleft add extend print item tolist float int".split())  # noqa: SIM905
"""Instructions and names of which a statement that waits has at least one."""
_TAKING_OUT = frozenset({"item", "tolist", "float", "int", "print"})
_APART = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What has variables of its own."""
_DEEPEST = 4
"""So many functions at most that call each other are looked into."""

At = tuple[types.CodeType, Position]
"""In which code a statement stands, and where."""
Span = tuple[int, int, int, int]
Found = dict[Position, tuple[Parts, ast.stmt]]


class Statement(NamedTuple):
    """What is left of a statement."""

    code: types.CodeType
    places: tuple[Place, ...]
    calculates: tuple[bool, ...]
    """Of each argument, whether something is calculated or written with it, so that it has to be a number."""
    at: At
    lines: range
    around: Around
    within: types.CodeType
    """The code that was made of the code that it stands in."""


class Made(NamedTuple):
    """What is made of a function, and of its statements that wait."""

    function: types.FunctionType
    statements: dict[str, Statement]
    """By name, also those of functions that it calls."""
    codes: dict[types.CodeType, types.CodeType]
    """Of code that was made, what it was made of."""
    checks: list[tuple[Any, ...]]
    """What says that functions that it calls are what they were."""
    counts: dict[str, Count]
    """Numbers that statements count, of which it knows what they are by their names."""
    takes_out: bool
    """Whether it does something with numbers besides."""


class _Call(NamedTuple):
    """A call of a function of which another one was made."""

    name: str
    owner: ast.expr | None
    """What it is a method of."""
    made: Made


class _Pieces(NamedTuple):
    """Of what another function is made."""

    found: Found
    """Statements that wait."""
    calls: dict[Span, _Call]
    counts: dict[str, Count]
    """Numbers that are counted, by their texts."""
    name: str
    """Names of what is made begin with it; it is empty unless it is called by what is made."""


class _Rewriter(ast.NodeTransformer):
    """Puts what is given to the statements that wait in their place, and into what is returned."""

    def __init__(self, pieces: _Pieces) -> None:
        self._found, self._calls, counts, name = pieces
        self._names = {at: f"{name}{place}" for place, at in enumerate(self._found)}
        self._counts = {text: (f"{COUNT}{place}", f"{name}{place}") for place, text in enumerate(counts)}
        self._is_called = bool(name)

    def body(self, node: ast.FunctionDef) -> None:
        """Rewrite a function."""
        has_text = ast.get_docstring(node, clean=False) is not None
        self.generic_visit(node)
        named = [NUMBER, COUNTED, *(call.name for call in self._calls.values())]
        first: list[ast.stmt] = []
        if self._is_called:
            named.append(DONE)
        else:
            first.append(ast.Assign([ast.Name(DONE, ast.Store())], ast.List([], ast.Load())))
            node.body.append(self.visit_Return(ast.Return(None)))
        for variable, key in self._counts.values():
            value = ast.Call(ast.Name(COUNTED, ast.Load()), [ast.Constant(key)], [])
            first.append(ast.Assign([ast.Name(variable, ast.Store())], value))
        node.body[int(has_text) : int(has_text)] = first
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        node.body = [one for one in node.body if not _is_idle(one, used)]
        node.args.kwonlyargs.extend(ast.arg(name) for name in named)
        node.args.kw_defaults.extend(ast.Constant(None) for _ in named)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and position(node) in self._names:
            parts, _ = self._found[position(node)]
            given: list[ast.expr] = [ast.Constant(self._names[position(node)]), *parts.given]
            done = ast.List([ast.Tuple(given, ast.Load())], ast.Load())
            later = ast.copy_location(ast.AugAssign(ast.Name(DONE, ast.Store()), ast.Add(), done), node)
            if isinstance(node, ast.AugAssign) and (count := self._counts.get(ast.unparse(node.target))):
                node.target = ast.copy_location(ast.Name(count[0], ast.Store()), node.target)
                return [node, later]
            return later
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return node
        if isinstance(node, (ast.Name, ast.Attribute)) and (count := self._counts.get(ast.unparse(node))):
            return ast.copy_location(ast.Name(count[0], ast.Load()), node)
        return super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        call = self._calls.get(_span(node))
        if call is not None:
            node.func = ast.copy_location(ast.Name(call.name, ast.Load()), node.func)
            node.args[:0] = [] if call.owner is None else [call.owner]
            node.keywords.append(ast.keyword(DONE, ast.Name(DONE, ast.Load())))
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        self.generic_visit(node)
        if self._is_called:
            return node
        value = node.value or ast.Constant(None)
        done = ast.Tuple([ast.Starred(ast.Name(DONE, ast.Load()), ast.Load())], ast.Load())
        return ast.copy_location(ast.Return(ast.Tuple([value, done], ast.Load())), node)


def _span(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _is_idle(node: ast.stmt, used: set[str]) -> bool:
    """Tell whether a statement declares nothing but names that are not used; these are taken off it."""
    if not isinstance(node, ast.Nonlocal):
        return False
    node.names = [name for name in node.names if name in used]
    return not node.names


def _effect(number: int, parts: Parts, left: ast.stmt) -> ast.FunctionDef:
    """Return what is left of a statement, as a function."""
    arguments = [ast.arg(f"{ARGUMENT}{place}") for place in range(len(parts.given))]
    declared: list[ast.stmt] = [
        (ast.Global if scope == "global" else ast.Nonlocal)([name])
        for scope, name in dict.fromkeys(parts.stored)
    ]
    node = ast.FunctionDef(
        f"{_EFFECT}{number}",
        ast.arguments([], arguments, None, [], [], None, []),
        [*declared, left],
        [],
        None,
    )
    node.type_params = []  # type: ignore[attr-defined, unused-ignore]
    return ast.copy_location(node, left)


def _may_wait(code: types.CodeType) -> bool:
    """Tell whether there may be a statement that can wait, as far as that is seen without the text."""
    return not (_TAKING.isdisjoint(code.co_names) and _WRITING.isdisjoint(code.co_code[::2]))


def _named_like(code: types.CodeType, other: types.CodeType) -> types.CodeType:
    """Return code with the name of another: who writes a log says in which function that was."""
    named = {name: getattr(code, name) for name in ("co_name", "co_qualname") if hasattr(code, name)}
    return other.replace(**named)


class Maker:
    """Makes functions whose statements wait, of some that ran.

    Some statements are left where they are. Only where it goes `deep` are functions made of those that are
    called, and is what takes numbers out, and is called in the end, done later.
    """

    def __init__(self, ran: Iterable[types.CodeType], left: frozenset[At], deep: bool) -> None:
        self._ran = frozenset(ran)
        self._left = left
        self._deep = deep
        self._within: list[types.CodeType] = []

    def make(self, function: types.FunctionType, around: Around, name: str = "") -> Made | None:
        """Return what is made of a function; None if no statement can wait, or there is no text.

        It has a name if it is called by another one that is made.
        """
        code = function.__code__
        among = self._ran if self._deep else [code]
        if not any(map(_may_wait, among)) or not _LOOKING.isdisjoint(code.co_names):
            return None
        text = text_of(code)
        if text is None:
            return None
        body = text.function.body
        left = frozenset(at for own, at in self._left if own == code)
        finder = Finder(code, text.function, around.scope, left)
        found = finder.found(body)
        self._within.append(code)
        calls = self._calls(finder, around, _calls_in(body, found), name) if self._deep else {}
        self._within.pop()
        if not name:
            add_last(finder, body, found, lambda call: self._takes_out(call, finder, around, calls))
            lasting = [left for _, left in found.values()]
            calls = {
                span: call for span, call in calls.items() if not any(_has(one, span) for one in lasting)
            }
        if not found and not calls:
            return None
        counts = {
            of: Count(
                found[position(all[0])][0].places[0], around, tuple((code, position(one)) for one in all)
            )
            for of, all in counts_in(finder, text.function, found).items()
        }
        return _made(code, around, copy.deepcopy(text), _Pieces(found, calls, counts, name))

    def _calls(
        self, finder: Finder, around: Around, calls: Iterable[ast.Call], name: str
    ) -> dict[Span, _Call]:
        """Return which calls are of functions of which others are made."""
        found: dict[Span, _Call] = {}
        for call in calls:
            path = finder.path(call.func)
            callee = None if path is None else self._callee(path, around)
            if path is None or callee is None:
                continue
            function, owner, is_method = callee
            inner = Around(function, _parameters(callee, call, finder, around))
            made = self.make(function, inner, f"{name}{len(found)}.")
            if made is not None:
                first = getattr(call.func, "value", None) if is_method else call.func
                if owner is None:
                    made.checks.extend(around.checks(path, function))
                named = f"{_CALLED}{len(found)}"
                found[_span(call)] = _Call(named, None if owner is None else first, made)
        return found

    def _callee(self, path: Path, around: Around) -> Callee | None:
        """Return what is called by a path, if it ran and may be looked into."""
        callee = around.called(path)
        if callee is None or len(self._within) >= _DEEPEST:
            return None
        code = callee.function.__code__
        return callee if code in self._ran and code not in self._within else None

    def _takes_out(self, node: ast.Call, finder: Finder, around: Around, calls: dict[Span, _Call]) -> bool:
        """Tell whether a function that is called takes numbers out with which nothing waits."""
        if not self._deep:
            return False
        if (call := calls.get(_span(node))) is not None:
            return call.made.takes_out
        path = finder.path(node.func)
        callee = None if path is None else self._callee(path, around)
        return callee is not None and not _TAKING_OUT.isdisjoint(callee.function.__code__.co_names)


def _calls_in(body: list[ast.stmt], found: Found) -> Iterator[ast.Call]:
    """Yield the calls in statements of a function that do not wait, and whose failures are not caught."""
    for statement in body:
        if position(statement) in found or isinstance(statement, (ast.Try, ast.FunctionDef, ast.ClassDef)):
            continue
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Call):
                yield node
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
                yield from _calls_in([*node.body, *getattr(node, "orelse", [])], found)
            within = ast.iter_child_nodes(node)
            waiting.extend(one for one in within if not isinstance(one, (ast.stmt, *_APART)))


def _parameters(callee: Callee, call: ast.Call, finder: Finder, around: Around) -> dict[str, Any]:
    """Return the parameters of what is called, as far as it is known what they are."""
    code = callee.function.__code__
    given: list[ast.expr | None] = [None] * (callee.owner is not None)
    for one in call.args:
        if isinstance(one, ast.Starred):
            break
        given.append(one)
    named = dict(zip(code.co_varnames[: code.co_argcount], given, strict=False))
    named.update({one.arg: one.value for one in call.keywords if one.arg is not None})
    found = {}
    for name, node in named.items():
        path = None if node is None else finder.path(node)
        with contextlib.suppress(Unknown):
            if path is not None:
                found[name] = around.find(path)
            elif node is None:
                found[name] = callee.owner
    return found


def _has(node: ast.stmt, span: Span) -> bool:
    """Tell whether something is in a statement."""
    end = node.end_lineno or 0, node.end_col_offset or 0
    return position(node) <= span[:2] and span[2:] <= end


def _made(code: types.CodeType, around: Around, text: Text, pieces: _Pieces) -> Made:
    """Return what is made of a function."""
    found, calls, counts, name = pieces
    tree, body, place = text
    _Rewriter(pieces).body(text.function)
    takes = any(map(_does_more, ast.walk(text.function)))
    body[place + 1 : place + 1] = [_effect(number, *found[at]) for number, at in enumerate(found)]
    made = list(codes_in(compiled(ast.fix_missing_locations(tree), code.co_filename)))
    own = next(
        one for one in made if (one.co_name, one.co_firstlineno) == (code.co_name, code.co_firstlineno)
    )
    effects = {one.co_name: one for one in made if one.co_name.startswith(_EFFECT)}
    statements = {
        f"{name}{number}": Statement(
            _named_like(code, effects[f"{_EFFECT}{number}"]),
            tuple(parts.places),
            tuple(parts.calculates),
            (code, at),
            range(one.lineno, (one.end_lineno or one.lineno) + 1),
            around,
            own,
        )
        for number, (at, (parts, one)) in enumerate(found.items())
    }
    codes, checks = {own: code}, []
    of_counts = {f"{name}{place}": count for place, count in enumerate(counts.values())}
    for call in calls.values():
        statements.update(call.made.statements)
        codes.update(call.made.codes)
        checks.extend(call.made.checks)
        of_counts.update(call.made.counts)
    functions = {call.name: call.made.function for call in calls.values()}
    function = around.function_of(own, {NUMBER: number, COUNTED: counted, **functions})
    return Made(function, statements, codes, checks, of_counts, takes)


def _does_more(node: ast.AST) -> bool:
    """Tell whether a statement that does not wait takes a number out."""
    is_statement = isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Return))
    is_own = isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == DONE
    return is_statement and not is_own and any(map(takes_out, ast.walk(node)))
