"""What could be written wrongly: every small change of a module, one at a time.

Wrong signs and operators, numbers and bounds that are off by one, masks, clamps, detaches and
arguments forgotten or exchanged, guards that never or always act. Knows nothing of how a
mutant is tested.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import CodeType

SWAPPED_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
REVERSED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
SWAPPED_NAMES = {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sum": "mean",
    "mean": "sum",
    "sqrt": "square",
    "rsqrt": "sqrt",
    "square": "abs",
    "exp": "expm1",
    "expm1": "exp",
}
# A call of these becomes its receiver or its argument: a mask, a clamp or a detach forgotten.
DROPPED_CALLS = {"_keep": 0, "where": 1, "_clamp": 0, "reversed": 0, "_at_least_fp32": 0}
DROPPED_METHODS = {"clamp", "detach", "double", "float", "bool", "abs", "sum", "logsumexp"}
# Names that hold a mask: everything counts instead.
MASKS = ("mask", "usable", "is_action", "is_last", "members", "was_clipped", "inside")
# What has no sign.
NO_NUMBERS = (ast.Dict, ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr, type(None))


@dataclass(frozen=True)
class Place:
    """Where a node stands: a field of its parent, the smallest statement or named argument around
    both, and the function or class around that.
    """

    node: ast.AST
    parent: ast.AST
    field: str
    number: int | None
    statement: ast.AST
    scope: str

    def put(self, node: ast.AST) -> None:
        """Let another node stand here."""
        if self.number is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.number] = node


@dataclass(frozen=True)
class Mutant:
    """A module with one change, given as the statement before and after."""

    module: str
    scope: str
    line: int
    change: str
    tree: ast.Module
    place: Place
    node: ast.AST

    @property
    def name(self) -> str:
        """How it is listed."""
        return f"{self.module}{self.scope}: {self.change}"

    def compile(self) -> CodeType:
        """Change the tree that all mutants of the module share, for good, and compile it."""
        self.place.put(self.node)
        return compile(ast.fix_missing_locations(self.tree), f"{self.module}.py", "exec")


def mutants(module: str, source: str, function: str | None = None) -> list[Mutant]:
    """Every change of a module, or of one function or method of it; no two of the same name."""
    tree = ast.parse(source)
    nodes = ast.walk(tree) if function is not None else ()
    root = next((node for node in nodes if getattr(node, "name", "") == function), tree)
    found: dict[str, Mutant] = {}
    for place in places(root, root):
        before = text_of(place.statement)
        for node in changes(place.node):
            if place.node is place.statement:
                after = text_of(node)
            else:
                place.put(node)
                after = text_of(place.statement)
                place.put(place.node)
            if after != before:
                line, change = getattr(place.node, "lineno", 0), f"{before}  ->  {after}"
                mutant = Mutant(module, place.scope, line, change, tree, place, node)
                twin = found.get(mutant.name)
                if twin is not None and twin.place.statement is not place.statement:
                    mutant = replace(mutant, change=f"{change}  (once more)")
                found.setdefault(mutant.name, mutant)
    return list(found.values())


def places(parent: ast.AST, statement: ast.AST, scope: str = "") -> Iterator[Place]:
    """Where something is computed: no types, no decorators, no words of an error."""
    if isinstance(parent, ast.FunctionDef | ast.ClassDef):
        scope = f"{scope}.{parent.name}"
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for number, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST) and not isinstance(node, ast.Raise | ast.JoinedStr):
                own = node if isinstance(node, ast.stmt | ast.keyword) else statement
                is_list = isinstance(value, list)
                yield Place(node, parent, field, number if is_list else None, own, scope)
                yield from places(node, own, scope)


def text_of(statement: ast.AST) -> str:
    """A statement, of one that holds others its head."""
    if isinstance(statement, ast.FunctionDef):
        return f"def {statement.name}({ast.unparse(statement.args)})"
    if isinstance(statement, ast.For):
        return f"for {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
    if isinstance(statement, ast.If):
        return f"if {ast.unparse(statement.test)}"
    return ast.unparse(statement)


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node could wrongly be."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        yield from changed_operations(node)
    if isinstance(node, ast.Compare):
        yield from changed_comparisons(node)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield from changed_numbers(node)
    if isinstance(node, ast.If | ast.IfExp):
        yield with_(node, test=ast.Constant(value=True))
        yield with_(node, test=ast.Constant(value=False))
    if isinstance(node, ast.Return | ast.Assign):
        yield from changed_sign(node)
    if isinstance(node, ast.Subscript):
        yield from changed_bounds(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from no_mask(node)
    if isinstance(node, ast.Call):
        yield from changed_calls(node)
        yield from changed_arguments(node)


def changed_sign(node: ast.Return | ast.Assign) -> Iterator[ast.AST]:
    """The opposite of a number; zeros have none."""
    value = node.value
    function = value.func if isinstance(value, ast.Call) else None
    is_zero = isinstance(function, ast.Attribute) and function.attr in ("zeros_like", "new_zeros")
    if not is_zero and not isinstance(value, NO_NUMBERS):
        yield with_(node, value=ast.UnaryOp(op=ast.USub(), operand=value))


def no_mask(node: ast.Name) -> Iterator[ast.AST]:
    """Everything counts."""
    if node.id.startswith(MASKS):
        ones = ast.Attribute(value=ast.Name(id="torch", ctx=ast.Load()), attr="ones_like")
        yield ast.Call(func=with_(ones, ctx=ast.Load()), args=[copy.copy(node)], keywords=[])


def changed_operations(node: ast.BinOp | ast.BoolOp | ast.AugAssign) -> Iterator[ast.AST]:
    """Another operator, the other way round, or half of a condition."""
    if type(node.op) in SWAPPED_OPERATORS:
        yield with_(node, op=SWAPPED_OPERATORS[type(node.op)]())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div):
        yield with_(node, left=node.right, right=node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield node.left
        yield node.right


def changed_comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    """With or without equality; the other direction."""
    for table in (SWAPPED_OPERATORS, REVERSED):
        for place, operator in enumerate(node.ops):
            if type(operator) in table:
                ops = [*node.ops[:place], table[type(operator)](), *node.ops[place + 1 :]]
                yield with_(node, ops=ops)


def changed_numbers(node: ast.Constant) -> Iterator[ast.AST]:
    """One more, one less; the other truth."""
    if isinstance(node.value, bool):
        yield with_(node, value=not node.value)
    elif isinstance(node.value, int | float):
        yield with_(node, value=node.value + 1)
        yield with_(node, value=node.value - 1)


def changed_bounds(node: ast.Subscript) -> Iterator[ast.AST]:
    """A bound that is no number itself, one off."""
    if isinstance(node.slice, ast.Slice):
        for field in ("lower", "upper"):
            for bound in one_off(getattr(node.slice, field)):
                yield with_(node, slice=with_(node.slice, **{field: bound}))
    elif isinstance(node.slice, ast.Tuple):
        for place, index in enumerate(node.slice.elts):
            for other in one_off(index) if isinstance(index, ast.Name) else ():
                elts = [*node.slice.elts[:place], other, *node.slice.elts[place + 1 :]]
                yield with_(node, slice=with_(node.slice, elts=elts))


def one_off(bound: ast.expr | None) -> Iterator[ast.expr]:
    """One more and one less; numbers are changed elsewhere."""
    if bound is not None and not isinstance(bound, ast.Constant | ast.Slice):
        for operator in (ast.Add(), ast.Sub()):
            yield ast.BinOp(left=bound, op=operator, right=ast.Constant(value=1))


def changed_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Another function of the like, none, or a range that is one off."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in SWAPPED_NAMES:
        field = "attr" if isinstance(function, ast.Attribute) else "id"
        yield with_(node, func=with_(function, **{field: SWAPPED_NAMES[name]}))
    if name in DROPPED_CALLS and len(node.args) > DROPPED_CALLS[name]:
        yield node.args[DROPPED_CALLS[name]]
    elif name in DROPPED_METHODS and isinstance(function, ast.Attribute):
        yield function.value
    if name in ("range", "arange"):
        for place, bound in enumerate(node.args):
            for other in one_off(bound):
                yield with_(node, args=[*node.args[:place], other, *node.args[place + 1 :]])


def changed_arguments(node: ast.Call) -> Iterator[ast.AST]:
    """The first two the other way round, or a named one forgotten; numbers are changed elsewhere.

    Of the smaller and the larger of two the order is nothing.
    """
    first = node.args[:2]
    is_symmetric = getattr(node.func, "attr", "") in ("minimum", "maximum")
    if all(isinstance(a, ast.Name | ast.Attribute) for a in first) and not is_symmetric:
        yield with_(node, args=[*reversed(first), *node.args[2:]])
    for place, keyword in enumerate(node.keywords):
        if not isinstance(keyword.value, ast.Constant):
            yield with_(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])


def with_(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
