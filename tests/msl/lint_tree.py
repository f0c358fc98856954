"""Lint by syntax tree: what clang's C++ for OpenCL takes and Metal does not. Before: syntax_tree.py. After: checker.py.

Sections named below are the MSL specification's. Rules are functions `(notes, node, function)`, called for each node of
the kinds that RULES lists; `function` is the function that the node is in, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.msl.syntax_tree import FUNCTION_KINDS, SPACES, Node, Notes, children, real_type, walk, written_type

Rule = Callable[[Notes, Node, Node | None], None]

#: Names that mean something to Apple's compiler though not to clang ("Scalar Data Types", "Vector Data Types", "Packed
#: Vector Types", "Texture Types", "Function Qualifiers").
_METAL_NAMES = re.compile(
    r"""(?!\w*_$)  # is_reserved, of numba_metal/codegen, makes names usable that way
  (vertex | fragment | object | mesh | visible | stitchable | ray_data | object_data | threadgroup_imageblock | coherent
  | intersection | bool[234] | (half|float|bfloat)[234]x[234] | bfloat[234]? | packed_\w+
  | (texture|depth)(1d|2d|3d|cube|_buffer)\w* | sampler | simdgroup_\w+ | matrix | array | metal | uniform
  | imageblock | patch_control_point | tensor | as_type | u?int(8|16|32|64)_t | size_t | ptrdiff_t | u?intptr_t
  | INFINITY | NAN | MAXFLOAT | HUGE_VALF? | main)$""",
    re.VERBOSE,
)
_VECTOR = re.compile(r"(u?char|u?short|u?int|u?long|half|float)[234]$")


def lint_tree(notes: Notes, unit: Node, msl_version: tuple[int, int]) -> None:
    """Visit every node with the function that it is in. msl_version: (major, minor)."""
    stack: list[tuple[Node, Node | None]] = [(unit, None)]
    while stack:
        node, function = stack.pop()
        kind = node.get("kind", "")
        if node.get("isImplicit") and kind.startswith("CXX"):
            continue
        for rule in RULES.get(kind, ()):
            rule(notes, node, function)
        if kind == "LambdaExpr" and msl_version < (3, 2):  # "Lambda Expressions"
            notes.add(node, "lambda", "lambda expressions need Metal 3.2")
        if kind in FUNCTION_KINDS:
            function = node
        stack.extend((child, function) for child in reversed(list(children(node))))


# ---- names and types


def _check_name(notes: Notes, node: Node, _function: Node | None) -> None:
    if _METAL_NAMES.match(node.get("name", "")):
        notes.add(node, "reserved-name", f"'{node['name']}' has a meaning of its own in Metal; rename it")


def _check_spaces(notes: Notes, node: Node, what: str, type_: str) -> None:
    """ "Address Spaces": a pointer or reference without one is generic to clang and an error to Metal."""
    if "__generic" in type_:
        notes.add(node, "address-space", f"{what}: pointer or reference without an address space ({type_})")
    elif re.search(r"\(\*\)\(", type_):
        notes.add(node, "function-pointer", f"{what}: function pointer ({type_})")


def _check_result(notes: Notes, node: Node, _function: Node | None) -> None:
    _check_spaces(notes, node, f"result of {node.get('name')}", written_type(node).split("(")[0])
    if node.get("variadic"):
        notes.add(node, "variadic", f"{node.get('name')}: variadic function")


def _check_declared_type(notes: Notes, node: Node, _function: Node | None) -> None:
    name = node.get("name", "?")
    _check_spaces(notes, node, f"'{name}'", real_type(node))
    if re.search(r"\bdouble\b", real_type(node)):
        notes.add(node, "no-double", f"'{name}' has type {written_type(node)}")


def _check_cast(notes: Notes, node: Node, _function: Node | None) -> None:
    _check_spaces(notes, node, "cast", real_type(node))


def _own_space(type_: str) -> str | None:
    """Where a variable of this type lives itself, not what it points to."""
    own = re.split(r"[*&]", type_)[-1] if "*" in type_ or "&" in type_ else type_
    found = re.search(r"__global|__constant|__local|__private|__generic", own)
    return SPACES[found[0]] if found else None


def _check_variable(notes: Notes, node: Node, function: Node | None) -> None:
    """ "Address Spaces": program scope holds constants only; "Restrictions": no static variables in functions."""
    name, space = node.get("name", "?"), _own_space(written_type(node))
    if function is None:
        if space != "constant":
            notes.add(node, "program-scope", f"'{name}': a program-scope variable must be in constant address space")
        elif "init" not in node:
            notes.add(node, "program-scope", f"'{name}': constant variable without an initializer")
    elif node.get("storageClass") == "static":
        notes.add(node, "static-local", f"'{name}': variables in function scope cannot be declared static")
    elif space in ("constant", "device"):
        notes.add(node, "automatic-space", f"'{name}': automatic variable in {space} address space")


def _check_record(notes: Notes, node: Node, _function: Node | None) -> None:
    if node.get("bases"):
        notes.add(node, "derived-class", f"struct {node.get('name')}: derived classes are not available in Metal")


# ---- statements and expressions


def _forbid(rule: str, text: str) -> Rule:
    def check(notes: Notes, node: Node, _function: Node | None) -> None:
        notes.add(node, rule, text)

    return check


def _check_endless(notes: Notes, node: Node, _function: Node | None) -> None:
    """C++14 [intro.multithread] lets a compiler assume that loops without side effects end, and Apple's erases those
    that never do."""
    *head, body = children(node)
    condition = head[-1] if node["kind"] == "WhileStmt" and head else None
    if node["kind"] == "DoStmt":
        body, condition = head[0] if head else body, body
    if node["kind"] == "ForStmt":
        if any(part.get("kind") != "DeclStmt" for part in head):
            return
    elif not _is_true(condition):
        return
    if not _can_leave(body):
        notes.add(node, "endless-loop", "loop without an end: no break or return in it")


def _is_true(node: Node | None) -> bool:
    while node and node.get("kind") in ("ImplicitCastExpr", "ParenExpr", "ConstantExpr"):
        node = next(children(node), None)
    if not node or node.get("kind") not in ("CXXBoolLiteralExpr", "IntegerLiteral"):
        return False
    return node["value"] not in (False, "0")


def _can_leave(body: Node) -> bool:
    """Whether a break of this loop, or a return, is in `body`."""
    stack = [(body, False)]
    while stack:
        node, is_nested = stack.pop()
        kind = node.get("kind")
        if kind == "ReturnStmt" or (kind == "BreakStmt" and not is_nested):
            return True
        inner = is_nested or kind in ("ForStmt", "WhileStmt", "DoStmt", "SwitchStmt")
        stack.extend((child, inner) for child in children(node))
    return False


def _check_swizzle(notes: Notes, node: Node, _function: Node | None) -> None:
    """ "Accessing Vector Components": xyzw or rgba, not mixed; OpenCL's .s0, .hi, .lo, .even, .odd are not there."""
    swizzle = notes.text_of_last_token(node)
    if not re.fullmatch(r"[xyzw]{1,4}|[rgba]{1,4}", swizzle):
        notes.add(node, "swizzle", f".{swizzle} is an OpenCL swizzle")


def _check_vector_condition(notes: Notes, node: Node, _function: Node | None) -> None:
    condition = node["inner"][0]
    if "ext_vector_type" in real_type(condition) or _VECTOR.match(written_type(condition)):
        notes.add(node, "vector-select", "?: on a vector condition; use select()")


def _check_vector_compare(notes: Notes, node: Node, _function: Node | None) -> None:
    if node.get("opcode") in ("&&", "||", "<", ">", "<=", ">=", "==", "!=") and (
        _VECTOR.match(written_type(node)) or "ext_vector_type" in real_type(node)
    ):
        notes.add(node, "vector-compare", "vector comparison: integers here, boolN in Metal; compare components")


def _check_method(notes: Notes, node: Node, _function: Node | None) -> None:
    """ "Address Spaces" of member functions: `this` is thread memory unless the function is qualified."""
    member = node["inner"][0]
    for object_ in children(member):
        if (
            object_.get("castKind") == "AddressSpaceConversion"
            and "__private" not in real_type(object_["inner"][0])
            and not member.get("name", "").startswith("operator")
        ):
            text = f"member function {member.get('name')} called on an object outside thread memory"
            notes.add(node, "method-space", text)


_NO_GOTO = _forbid("no-goto", "goto and labels are not available in Metal")
_NO_NEW = _forbid("no-new", "new and delete are not available in Metal")
_NO_EXCEPTIONS = _forbid("no-exceptions", "exceptions are not available in Metal")
_NO_GNU = _forbid("gnu", "a GNU extension")
_CASTS = (
    "CStyleCastExpr",
    "CXXReinterpretCastExpr",
    "CXXStaticCastExpr",
    "CXXConstCastExpr",
    "CXXFunctionalCastExpr",
)

RULES: dict[str, tuple[Rule, ...]] = {
    "FunctionDecl": (_check_name, _check_result),
    "CXXMethodDecl": (_check_name, _check_result),
    "VarDecl": (_check_name, _check_declared_type, _check_variable),
    "ParmVarDecl": (_check_name, _check_declared_type),
    "FieldDecl": (_check_name, _check_declared_type),
    "CXXRecordDecl": (_check_name, _check_record),
    **dict.fromkeys(_CASTS, (_check_cast,)),
    "GotoStmt": (_NO_GOTO,),
    "IndirectGotoStmt": (_NO_GOTO,),
    "LabelStmt": (_NO_GOTO,),
    "CXXNewExpr": (_NO_NEW,),
    "CXXDeleteExpr": (_NO_NEW,),
    "CXXThrowExpr": (_NO_EXCEPTIONS,),
    "CXXTryStmt": (_NO_EXCEPTIONS,),
    "StmtExpr": (_NO_GNU,),
    "AddrLabelExpr": (_NO_GNU,),
    "WhileStmt": (_check_endless,),
    "DoStmt": (_check_endless,),
    "ForStmt": (_check_endless,),
    "ExtVectorElementExpr": (_check_swizzle,),
    "ConditionalOperator": (_check_vector_condition,),
    "BinaryOperator": (_check_vector_compare,),
    "CXXMemberCallExpr": (_check_method,),
}


# ---- calls


def lint_calls(notes: Notes, declared: dict[str, Node], calls: dict[str, set[str]], kernels: set[str]) -> None:
    """Recursion ("Restrictions": not in Metal, in kernels from 2.4 at the cost of a stack), and calls of kernels.

    declared, calls: by the id of a function's first declaration.
    """
    for start, function in declared.items():
        name = function.get("name")
        if _reaches(calls, start, start):
            notes.add(function, "recursion", f"{name} calls itself, directly or not")
        for callee in calls.get(start, set()) & kernels:
            notes.add(function, "kernel-call", f"{name} calls kernel {declared[callee].get('name')}")


def _reaches(calls: dict[str, set[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    pending = list(calls.get(start, ()))
    while pending:
        function = pending.pop()
        if function == goal:
            return True
        if function not in seen:
            seen.add(function)
            pending.extend(calls.get(function, ()))
    return False


def callees(function: Node, first_declaration: dict[str, str]) -> set[str]:
    """Ids of the functions that the body names."""
    found: set[str] = set()
    for node in walk(function):
        referenced = node.get("referencedDecl", {}) if node.get("kind") == "DeclRefExpr" else {}
        if referenced.get("kind") in FUNCTION_KINDS:
            found.add(first_declaration.get(referenced["id"], referenced["id"]))
        elif node.get("kind") == "MemberExpr" and "referencedMemberDecl" in node:
            found.add(node["referencedMemberDecl"])
    return found
