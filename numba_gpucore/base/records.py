"""Dataclasses that are quick to define. Before: nothing. After: the records of both halves.

The standard decorator compiles the text of each method of each class: half a millisecond a class, 25 ms of each import
of the launch half (`python -X importtime`, Python 3.11). Here the methods are written once, below, for all classes, and
the standard decorator describes a class's fields when somebody asks for them: 60 µs a class, of which a first launch
defines 75 and asks for three. `dataclasses.fields`, `replace` and `asdict` work as ever, and a record behaves as the
standard decorator's (tests/unit/test_base_records.py compares them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
    from dataclasses import dataclass as _describe_fields
    from operator import attrgetter, ge, gt, le, lt
    from threading import Lock

    def dataclass(cls=None, /, *, frozen=False, order=False):
        """`dataclasses.dataclass`, without what no record needs: slots, ClassVar, keyword-only fields, fields without
        `init`. A record may inherit from other records."""
        if cls is None:
            return lambda cls: _make_record(cls, frozen, order)
        return _make_record(cls, frozen, order)

    def _make_record(cls, frozen, order):
        written = cls.__dict__
        given = {name: value for base in cls.__mro__[:0:-1] for name, value in getattr(base, _GIVEN, {}).items()}
        given |= {name: getattr(cls, name, MISSING) for name in cls.__annotations__}
        compared = _getter_of([name for name, value in given.items() if not isinstance(value, Field) or value.compare])
        methods = {
            "__repr__": _repr,
            "__init__": _make_init(cls, given),
            "__eq__": lambda self, other: (
                compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented
            ),
            "__hash__": (lambda self: hash(compared(self))) if frozen else None,
            "__match_args__": tuple(given),
        }
        if frozen:
            methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
        if order:
            methods |= {f"__{one.__name__}__": _make_order(one, compared) for one in (lt, le, gt, ge)}
        for name, method in methods.items():
            if name not in written:
                setattr(cls, name, method)
        setattr(cls, _GIVEN, given)
        setattr(cls, _FIELDS, _LateFields(cls))
        return cls

    #: Of a record's class: what it gives for each field, inherited ones first: a value, `field(...)` or MISSING.
    _GIVEN = "__record_fields__"
    #: Where the standard library looks for a class's fields.
    _FIELDS = "__dataclass_fields__"

    class _LateFields:
        """Replaces itself, as an attribute of `cls`, by what the standard decorator finds."""

        def __init__(self, cls):
            self._cls = cls
            self._lock = Lock()

        def __get__(self, _record, _cls):
            cls = self._cls
            with self._lock:
                if cls.__dict__[_FIELDS] is self:
                    documentation = cls.__doc__
                    cls.__doc__ = documentation or "a record"  # for a class without, the decorator makes one, slowly
                    _describe_fields(init=False, repr=False, eq=False)(cls)
                    cls.__doc__ = documentation
            return cls.__dict__[_FIELDS]

    def _getter_of(names):
        """A function from a record to the tuple of its fields `names`."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda record: tuple(getattr(record, name) for name in names)

    def _make_init(cls, given):
        names = tuple(given)
        defaults, factories = {}, {}
        for name, value in given.items():
            if isinstance(value, Field):
                if value.default_factory is not MISSING:
                    factories[name] = value.default_factory
                value = value.default
            if value is not MISSING:
                defaults[name] = value
        finish = getattr(cls, "__post_init__", None)

        def __init__(self, /, *args, **keywords):
            state = self.__dict__  # a frozen record refuses setattr
            state.update(zip(names, args, strict=False))
            for name in names[len(args) :]:
                if name in keywords:
                    state[name] = keywords.pop(name)
                elif name in defaults:
                    state[name] = defaults[name]
                elif name in factories:
                    state[name] = factories[name]()
                else:
                    raise TypeError(f"{cls.__name__} needs a value for '{name}'")
            if keywords or len(args) > len(names):
                excess = ", ".join(keywords) or f"{len(args)} values"
                raise TypeError(f"{cls.__name__} takes the fields {', '.join(names)}, each once; got {excess}")
            if finish is not None:
                finish(self)

        return __init__

    def _make_order(compare, compared):
        return lambda self, other: (
            compare(compared(self), compared(other)) if other.__class__ is self.__class__ else NotImplemented
        )

    def _repr(self):
        shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
        return f"{self.__class__.__qualname__}({shown})"

    def _refuse_change(self, name, _value=None):
        raise FrozenInstanceError(f"{self.__class__.__qualname__} is frozen: '{name}' stays as it is")


__all__ = ["dataclass", "field"]
