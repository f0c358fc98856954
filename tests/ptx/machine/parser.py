"""Step 2: PTX text into a Module. Before: lexer.py, stream.py. After: program.py links it.

PTX ISA, "Directives". Debug sections, files and locations are skipped; other unknown directives are errors.
"""

from __future__ import annotations

from .body import BodyParser
from .declarations import take_params, take_variables
from .errors import UnsupportedInstruction
from .stream import TokenStream
from .syntax import Function, Module, Variable

_LINKING = (".visible", ".extern", ".weak", ".common")
#: PTX ISA, "Performance-Tuning Directives" and the ABI attributes of functions; all take integers or nothing.
_FUNCTION_DIRECTIVES = (
    "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "noreturn", "explicitcluster",
    "reqnctapercluster", "maxclusterrank", "blocksareclusters",
)  # fmt: skip


def parse_module(text: str) -> Module:
    """Raises PtxSyntaxError or UnsupportedInstruction, naming the line."""
    return _ModuleParser(text).parse()


class _ModuleParser:
    def __init__(self, text: str):
        self.stream = TokenStream(text)
        self.version = ""
        self.target = ""
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}

    def parse(self) -> Module:
        while not self.stream.at_end:
            self._directive()
        return Module(self.version, self.target, self.variables, self.functions, self.aliases)

    def _directive(self) -> None:
        stream = self.stream
        linking = set()
        while token := stream.try_take(*_LINKING):
            linking.add(token.text)
        token = stream.take()
        match token.text:
            case ".version":
                self.version = stream.take().text
            case ".target":
                self.target = stream.take_word()
                stream.skip_line(token.line)
            case ".address_size":
                if stream.take_int() != 64:
                    raise UnsupportedInstruction(token.line, self._line(token.line), "only 64-bit addresses are known")
            case ".file":
                stream.skip_line(token.line)
            case ".section":
                stream.take_word()
                stream.skip_braces()
            case ".pragma":
                while stream.take().text != ";":
                    pass
            case ".alias":
                new = stream.take_word()
                stream.expect(",")
                self.aliases[new] = stream.take_word()
                stream.expect(";")
            case ".entry" | ".func":
                self._function(token.text == ".entry")
            case ".global" | ".const" | ".shared":
                for variable in take_variables(stream, token.text[1:], ".extern" in linking):
                    self.variables[variable.name] = variable
            case _:
                raise UnsupportedInstruction(token.line, self._line(token.line), "unknown directive")

    def _line(self, line: int) -> str:
        return self.stream.lines[line - 1].strip()

    def _function(self, is_entry: bool) -> None:
        stream = self.stream
        line = stream.next.line
        directives = self._function_directives()
        returns = take_params(stream) if stream.next.text == "(" else ()
        name = stream.take_word()
        params = take_params(stream) if stream.next.text == "(" else ()
        directives |= self._function_directives()
        body = None if stream.try_take(";") else BodyParser(stream).parse()
        if body is not None or name not in self.functions:
            self.functions[name] = Function(name, is_entry, returns, params, directives, body, line)

    def _function_directives(self) -> dict[str, tuple[int, ...]]:
        stream = self.stream
        found: dict[str, tuple[int, ...]] = {}
        while stream.next.text.startswith("."):
            token = stream.take()
            word = token.text[1:]
            if word == "pragma":
                stream.take()
                stream.expect(";")
                continue
            if word not in _FUNCTION_DIRECTIVES:
                raise UnsupportedInstruction(token.line, self._line(token.line), "unknown directive")
            numbers = []
            while stream.next.kind == "number":
                numbers.append(stream.take_int())
                stream.try_take(",")
            found[word] = tuple(numbers)
        return found
