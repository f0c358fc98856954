"""Messages of Numba that users often meet, in words that fit a kernel. Before: nothing. After: explain.

`pattern` is searched in Numba's message with types written short; `what` (empty: the message itself) may refer to its
groups.
"""

from __future__ import annotations

from numba_gpucore.base.records import dataclass
from numba_gpucore.compile.lower.allocation import NO_CONTAINERS
from numba_gpucore.compile.texts import NO_STRINGS
from numba_gpucore.runtime.methods import NO_HEAP


@dataclass(frozen=True)
class Hint:
    pattern: str
    what: str
    advice: str


_NO_ALLOCATION, _, _USE_ARRAYS = NO_HEAP.partition(": ")
_NO_CONTAINERS = NO_CONTAINERS.partition(": ")[0]
_NO_STRINGS, _, _USE_PRINT = NO_STRINGS.partition(" — ")

#: A type as Numba writes it, which may have commas in parentheses: array(float32, 1d, C), (int64, (int8, int8)).
_TYPE = r"([\w ]*\((?:[^()]|\([^()]*\))*\)|[^,]*)"

#: What to say where a function wants memory, by its name; others are named themselves.
ALLOCATIONS: tuple[Hint, ...] = (
    Hint(r"^(?:str|repr|format|format_value|ascii|chr)$", _NO_STRINGS, _USE_PRINT),
    Hint(r"^(?:hash|list|dict|set)$", _NO_CONTAINERS, _USE_ARRAYS),
    Hint(r"^(?:unicode_\w+|_empty_string)$", _NO_STRINGS, _USE_PRINT),
    Hint(r"^getattr$", "a kernel cannot look attributes up by name", "write value.name"),
    # of Numba's inside: of typed lists and dictionaries (numba/typed), and others
    Hint(r"^impl_\w+$", _NO_CONTAINERS, _USE_ARRAYS),
    Hint(r"^_\w+$", _NO_ALLOCATION, _USE_ARRAYS),
    Hint(r"^norm$", rf"\g<0>: {_NO_ALLOCATION}", "a kernel runs in one thread: write the loop, or use another library "
         "for whole arrays"),
)  # fmt: skip
_FUNCTION = (
    r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'function'>",
    r"'\1' is an ordinary Python function",
)
#: Before HINTS where NUMBA_DISABLE_JIT is set: what `numba.njit` decorates is a plain function then.
HINTS_WITHOUT_JIT: tuple[Hint, ...] = (
    Hint(*_FUNCTION, "unset NUMBA_DISABLE_JIT, with which numba.njit leaves functions as they are; others take "
         "@jit(device=True)"),
)  # fmt: skip
_RANDOM = "use create_xoroshiro128p_states and its kin, or pass random numbers in an array"
_HOST = "call functions of math, cmath, NumPy's scalar ufuncs or the kernel language"

HINTS: tuple[Hint, ...] = (
    Hint(r"^a kernel cannot allocate memory", _NO_ALLOCATION, _USE_ARRAYS),
    Hint(r"^a kernel cannot make a new array: (.*)", "a kernel cannot make a new array",
         "assign the expression to part "
         "of an existing one (out[:] = a + b), or loop over the items"),
    Hint(r"(?:of type |for \w+\()(?:reflected )?(?:list|set|dict|DictType|ListType)\b|no hash for|type\(CPUDispatcher",
         _NO_CONTAINERS, _USE_ARRAYS),
    Hint(r"^no (array|zeros|ones|empty|full|arange|linspace|eye|copy|concatenate|hstack|vstack|stack|sort|argsort|"
         r"unique|repeat|tile|zeros_like|ones_like|empty_like|full_like|asarray|ascontiguousarray|identity|diag|where|"
         r"cumsum|cumprod|diff|flatten|ravel|outer|kron|median|percentile|quantile|histogram|bincount|nonzero|roll|"
         r"searchsorted|interp|cross|convolve|correlate)\b for ", rf"\1: {_NO_ALLOCATION}",
         _USE_ARRAYS),
    Hint(r"have imprecise type: (?:DictType|list|set|reflected)|Unknown attribute 'add' of type range_iter",
         _NO_CONTAINERS, _USE_ARRAYS),  # to Numba the set of a comprehension is the iterator of its loop
    Hint(r"^no unicode_\w+ for ", _NO_STRINGS, _USE_PRINT),
    Hint(r"Int value is too large: (\S+)", r"the integer \1 fits neither int64 nor uint64",
         "as a float it may be larger: write float(…)"),
    Hint(r"Untyped (?:global|free) name '(\w+)': Unsupported array dtype: (.*)",
         r"'\1' is an array of dtype \2, which no kernel can use", "convert it first, as with astype(numpy.float32)"),
    Hint(r"^no [gs]etitem for [gs]etitem\(.*\bpyobject\b", "a kernel cannot use Python objects",
         "use numpy.float32 or another number dtype"),
    Hint(r"Untyped global name 'reversed'", "a kernel has no reversed()", "loop over range(n - 1, -1, -1)"),
    Hint(r"cannot type infer runaway recursion",
         "cannot type infer runaway recursion: a function calls itself, and nothing tells what it returns",
         "return a value before it calls itself"),
    Hint(r"Can't unify return type from the following types: (.*?)(?: Return of:|$)",
         r"a function returns values of different types: \1", "return one type"),
    Hint(r"Unsupported use of cell variable",
         "an inner function uses a variable that has no value yet, as its own name",
         "define it outside of the kernel, with @jit(device=True)"),
    Hint(r"^Cannot cast (.*?) to (.*?): ", r"a value of type \1 cannot be made one of type \2", ""),
    Hint(r"No definition for lowering (\w+)\.(\w+) =", r"\1.\2 cannot be set", ""),
    Hint(r"invalid type in signature: expected a type instance, got \{", "a device function cannot have **keywords",
         "name its parameters"),
    Hint(r"Cannot bind '.*' to signature '(\(.*\*, .*\))'", r"a kernel cannot give keyword-only parameters, as of \1",
         "leave '*' out of the function's parameters"),
    Hint(r"Cannot bind '.*' to signature '(\(.*\))' due to \"TypeError: (.*)\"", r"the call does not fit \1: \2", ""),
    Hint(r"^no mod for \w+\('|Unknown attribute 'format' of type '",
         "a kernel cannot format strings with '%' or 'format'", "use an f-string"),
    Hint(r"^no (?:str|repr|ascii|format|chr) for |name 'format_value' is not defined", _NO_STRINGS, _USE_PRINT),
    Hint(r"^no (\w+\.)?norm for|linalg", "", "a kernel runs in one thread: write the loop, or use another library for "
         "whole arrays"),
    Hint(r"name '(\w+)' is not defined", r"the name '\1' is not defined", "define it before the kernel is called"),
    Hint(r"Variable '(\w+)' is not defined", r"the variable '\1' is read before it has a value",
         "give it a value on every way that leads here"),
    Hint(*_FUNCTION, "decorate it with @jit(device=True)"),
    Hint(r"Untyped global name 'breakpoint'", "a kernel cannot stop by itself",
         "compile it with debug=True and set the breakpoint in gdb or cuda-gdb: break file.py:12"),
    Hint(r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'builtin_function_or_method'>",
         r"no device has the function '\1'", _HOST),
    Hint(r"Untyped (?:global|free) name '(\w+)': Cannot determine Numba type of <class '(?:type|abc\.ABCMeta)'>",
         r"'\1' is a class, of which a kernel cannot make objects", "use numbers, tuples and arrays"),
    Hint(r"OverloadSelector object>, \((?:reflected )?(?:List|Set|Dict|list|set|dict)\b",
         "a kernel cannot use lists, sets and dictionaries of the host", "use a tuple or a NumPy array"),
    Hint(r"OverloadSelector object>, (\(.*\))", r"no device has this for \1", ""),
    Hint(r"^no make_quicksort_impl", "a kernel cannot sort an array", "it runs in one thread: write the loop"),
    Hint(r"Untyped (global|free) name '(\w+)': Cannot determine Numba type of <class 'numba_gpucore\.ufuncs\.",
         r"Untyped \1 name '\2': a ufunc or reduction, which the host calls with whole arrays",
         "call the function itself, decorated with @jit(device=True)"),
    Hint(r"Untyped (?:global|free) name '(\w+)': Cannot determine Numba type of <class '(?:builtins\.)?([\w.]+)'>",
         r"'\1' is an object of \2, which a kernel cannot use",
         "use numbers, tuples and NumPy arrays, or pass what is needed as arguments"),
    Hint(r"Unknown attribute '(\w+)' of type the module random", r"no device has random.\1",
         _RANDOM),
    Hint(r"Unknown attribute '(\w+)' of type the module numpy\.random", r"no device has numpy.random.\1",
         _RANDOM),
    Hint(r"Unknown attribute '(\w+)' of type the module ([\w.]+)", r"no device has \2.\1", _HOST),
    Hint(r"module '([\w.]+)' has no attribute '(\w+)'", r"the module \1 has no '\2'", "check the name"),
    Hint(r"Unknown attribute '\w+' of type ", "", "check the name"),
    Hint(r"^KeyError: '?(\w+)'?$", r"there is no field '\1'", "check the names of the record's dtype"),
    Hint(r"Field '(\w+)' was not found in record", r"the record has no field '\1'", "check the names of its dtype"),
    Hint(r"No type info available for (.*?) as a callable", r"a value of type \1 cannot be called", ""),
    Hint(r"(LOAD_BUILD_CLASS|IMPORT_NAME|IMPORT_FROM|STORE_GLOBAL|DELETE_GLOBAL)",
         "a kernel cannot define a class, import "
         "a module or assign a global variable", "do it outside of the kernel"),
    Hint(r"The 'with \(context manager|Unsupported context manager", "a kernel cannot use 'with'",
         "no device has context managers"),
    Hint(r"CALL_FUNCTION_EX with \*\*kwargs not supported|\(DICT_(?:MERGE|UPDATE)\)|^AssertionError: unreachable$",
         "a call in a kernel cannot have **keywords, nor *values together with keywords",
         "write the arguments one by one"),
    Hint(r"^(\w+): it has no message$",
         r"Numba stopped with \1 and gives no reason, often at a method that is called wrongly, or at an inner "
         "function that is called with keywords",
         "the error's .original shows where it was"),
    Hint(r"Multiple argument raise is not supported", "a kernel cannot chain exceptions", "leave 'from' out"),
    Hint(r"^no single definition for '\$phi", "which exception is raised must be known when the kernel is compiled",
         "write a raise statement for each"),
    Hint(r"unsupported exception constant <class '([\w.]+)'>|raising a string constant",
         "only exceptions can be raised", "raise a class derived from Exception"),
    Hint(r"^Type of variable '\$[^']*' cannot be determined",
         "Numba cannot follow an expression, most often one with (name := value)", "assign on a line of its own"),
    Hint(r"Exception object cannot be stored into variable \((\w+)\)", r"a kernel cannot keep an exception in '\1'",
         "write 'except Exception:' without 'as'"),
    Hint(r"re-raising of an exception is not yet supported", "a kernel cannot raise again what it caught",
         "raise a new exception"),
    Hint(r"Illegal IR, del found at: del (\w+)", r"a kernel cannot delete a variable, as '\1'", "leave the line out"),
    Hint(r"use of yield in a closure is unsupported", "a kernel has no generator expressions", "write the loop"),
    Hint(r"exception_match|no attribute 'exc_class'", "a kernel can only catch Exception",
         "write 'except Exception:' or 'except:'"),
    Hint(r"unsupported constant type used for exception", "only exceptions can be raised", "raise a class derived from "
         "Exception, with constants and numbers as arguments"),
    Hint(r"\(UNPACK_EX\)", "a kernel cannot unpack with '*'", "name each item"),
    Hint(r"\(MATCH_\w+\)", "match in a kernel knows numbers and names only", "write if and elif"),
    Hint(r"\((?:GET_YIELD_FROM_ITER|GET_AWAITABLE|GET_AITER|SEND)\)", "a kernel cannot use 'yield from' and 'await'",
         "write the loop"),
    Hint(r"(?:Use of )?unsupported opcode \((\w+)\)", r"Python's instruction \1 has no meaning on a device", ""),
    Hint(r"Cannot unify (.*) and (.*?) for '\$", r"an expression is \1 on one way and \2 on another",
         "use one type"),
    Hint(r"^Cannot infer the type of variable '(\w+?)(?:\.\d+)?', have imprecise type: "
         r"((?:readonly )?array\(pyobject, .*?\))",
         r"Cannot infer the type of variable '\1': \2",
         "no device has Python objects: use numpy.float32 or another number dtype"),
    Hint(r"failed to unpack (u?int\d+)$", r"a value of type \1 cannot be unpacked",
         "grid(1) is one number, grid(2) are two, grid(3) three"),
    Hint(r"failed to unpack (.*)$", r"a value of type \1 cannot be unpacked", ""),
    Hint(r"Invalid store of (\w+) to (\w+) in <(?:[\w.<>]*\.)?(\w+) object> \(trying to write member #(\d+)\)",
         r"a lowering stores \1 in member \4 of \3, which is \2 (LLVM's types)",
         "convert it to the member's type with context.cast, or declare the member with the type that is stored"),
    Hint(r"^tuple index out of range$", "", "shape and strides have one item for each axis of the array"),
    Hint(r"^no [gs]etitem for [gs]etitem\(((?:u?int|float)\d+x[1-4]), ", r"a vector has no items, as \1",
         "name its components, .x to .w; to change one make a new vector"),
    Hint(r"^no (?:lt|le|gt|ge|eq|ne) for \w+\(.*\b(?:u?int|float)\d+x[1-4]\b", "vectors cannot be compared",
         "compare their components"),
    Hint(r"^no [gs]etitem for [gs]etitem\((u?int\d+|float\d*|bool|complex\d*), ", r"a value of type \1 has no items",
         "only arrays, tuples and records have"),
    Hint(r"Cannot unify (.*) and (.*?) for '(\w+?)(?:\.\d+)?'", r"'\3' is \1 on one way and \2 on another",
         "use one type for a variable"),
    Hint(r"^no setitem for setitem\((.*), (.*?), '(.*)'\)$", r"a string cannot be stored in \1", ""),
    Hint(r"^no setitem for setitem\((?:unaligned )?readonly", "the array is read-only", "pass a writable one"),
    Hint(r"^no setitem for setitem\((?:Tuple)?\(", "the items of a tuple cannot be changed", "make a new tuple"),
    Hint(rf"^no setitem for setitem\({_TYPE}, (.*)\)$",
         r"cannot store into \1 with an index and a value of types (\2)",
         "an index is an integer for each axis at most, the value a number that the array can hold"),
    Hint(r"^no getitem for getitem\(type\(\w+Dispatcher\(", "a kernel cannot launch a kernel",
         "call a function that is decorated with @jit(device=True)"),
    Hint(r"^no getitem for getitem\((?:Tuple)?(\(.*\)), u?int\d+\)$",
         r"the items of the tuple \1 have different types, so that an index into it must be a constant",
         "convert them to one type, or loop with literal_unroll"),
    Hint(rf"^no getitem for getitem\({_TYPE}, (.*)\)$",
         r"cannot read \1[index] with an index of type \2",
         "indices are integers, one for each axis at most"),
    Hint(r"^no delitem for", "items of arrays cannot be deleted", ""),
    Hint(r"^no (add|sub|mul|matmul|truediv|floordiv|mod|pow|lshift|rshift|and_|or_|xor|iadd|isub|imul|lt|le|gt|ge|"
         r"eq|ne|neg|pos|invert) for \w+\((.*,.*)\)$", r"the operator '\1' does not take (\2)",
         "convert the operands first"),
    Hint(r"wrong tuple length for [^:]*: '?, '?expected (\d+), got (\d+)",
         r"\2 values cannot be unpacked into \1 variables",
         ""),
    Hint(r"^(?:no getiter for getiter\(|Invalid use of getiter with parameters \()(\(.*,.*\))\)$",
         r"a tuple of several types, \1, cannot be looped over", "from numba import literal_unroll, and loop over "
         "literal_unroll(the tuple)"),
    Hint(r"^(?:no getiter for getiter\(|Invalid use of getiter with parameters \()(.*)\)$",
         r"a value of type \1 cannot be looped over", "loop over range(n) or an array"),
    Hint(r"Cannot modify readonly array|cannot write to readonly", "the array is read-only", "pass a writable one"),
    Hint(r"^Cannot resolve setattr: \((.*)\)\.(\w+) =", r"\1 has no attribute '\2' that can be set", ""),
    Hint(r"^no ([\w.]+) for (?:[\w.]+|<unknown function>)\((.*)\)$", r"'\1' does not take (\2)",
         "check number and types of what it gets"),
)  # fmt: skip
