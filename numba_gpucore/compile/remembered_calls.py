"""What calls resolve to, remembered from kernel to kernel. Before: Numba's templates. After: contexts mix this in.

Numba asks every template of a function again for each call, once in type inference and again when it lowers an
operator; each that does not fit formats its signatures for a message. A quarter of the time of a second kernel went
there. The answer depends on the templates, the types of the arguments and the flags, and on nothing else.
"""

from __future__ import annotations

from numba_gpucore.compile.numba_api import targetconfig, types


class RememberingFunction(types.Function):
    """A function of Numba's typing that answers a question which it has heard before from memory.

    New templates make a new type (`augment`), which remembers nothing. Refusals are not remembered.
    """

    def __init__(self, template):
        super().__init__(template)
        self.name = f"{types.Function.__name__}({self.typing_key})"  # messages speak of Numba's
        self._found = {}

    def augment(self, other):
        if isinstance(other, types.Function) and other.typing_key == self.typing_key:
            return type(self)(self.templates + other.templates)
        return None

    def get_call_type(self, context, args, kws):
        question = (context, tuple(args), tuple(kws.items()), targetconfig.ConfigStack.top_or_none())
        found, implementation = self._found.get(question, (None, None))
        if found is None:
            found = super().get_call_type(context, args, kws)
            if found is not None:
                flags = question[-1]
                self._found[(*question[:-1], flags and flags.copy())] = found, self._impl_keys.get(found.args)
        elif implementation is not None:
            # Numba has one such type for all contexts, and notes in it which implementation the last answer meant.
            self._impl_keys[found.args] = implementation
        return found


class RememberedCalls:
    """Makes a typing context remember."""

    def _insert_global(self, gv, gty):
        if type(gty) is types.Function:
            gty = RememberingFunction(gty.templates)
        super()._insert_global(gv, gty)
