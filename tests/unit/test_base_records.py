"""base.records behaves as dataclasses.dataclass; expected values are those of the standard decorator."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from numba_gpucore.base import records
from numba_gpucore.base.argtypes import ScalarType


def make(dataclass: Any, field: Any, **arguments: Any) -> Any:
    """The same class by one of the two decorators."""

    @dataclass(**arguments)
    class Point:
        """A place."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="s", repr=False)

    return Point


PAIRS = [
    (make(records.dataclass, records.field, **arguments), make(dataclasses.dataclass, dataclasses.field, **arguments))
    for arguments in ({}, {"frozen": True}, {"frozen": True, "order": True})
]


@pytest.mark.parametrize(("ours", "standard"), PAIRS)
def test_behaves_as_the_standard_decorator(ours: Any, standard: Any) -> None:
    def describe(cls: Any) -> list[Any]:
        one, two = cls(1), cls(1, y=3, tags=["a"])
        return [
            repr(one).rpartition(".")[2],
            repr(two).rpartition(".")[2],
            one == cls(1, 2, ["other"]),
            one == two,
            one == (1, 2),
            cls.__hash__ is None,
            cls.y,
            dataclasses.asdict(two),
            dataclasses.replace(one, y=5).y,
            [field.name for field in dataclasses.fields(cls)],
            cls.__match_args__,
        ]

    assert describe(ours) == describe(standard)


def test_frozen_records_are_hashed_and_stay_as_they_are() -> None:
    ours, _standard = PAIRS[1]
    assert len({ours(1), ours(1, 2, ["other"]), ours(2)}) == 2
    point = ours(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point.x == 1


def test_records_in_order_compare_as_tuples() -> None:
    ours, standard = PAIRS[2]
    for cls in (ours, standard):
        assert cls(1, 2) < cls(1, 3) <= cls(2, 0)
        assert cls(2, 0) > cls(1, 3) >= cls(1, 3)
        with pytest.raises(TypeError):
            assert cls(1) < 2


@pytest.mark.parametrize("cls", [cls for pair in PAIRS for cls in pair])
def test_wrong_values_are_refused(cls: Any) -> None:
    for arguments, keywords in [((), {}), ((1, 2, [], "s", 5), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]:
        with pytest.raises(TypeError):
            cls(*arguments, **keywords)


def test_mutable_defaults_are_not_shared() -> None:
    ours, _standard = PAIRS[0]
    first = ours(1)
    first.tags.append("a")
    assert ours(1).tags == []


def test_fields_are_described_when_they_are_asked_for() -> None:
    ours = make(records.dataclass, records.field)
    ours(1)
    assert not isinstance(vars(ours)["__dataclass_fields__"], dict)
    assert dataclasses.is_dataclass(ours)
    assert list(vars(ours)["__dataclass_fields__"]) == ["x", "y", "tags", "secret"]


def test_records_can_be_pickled() -> None:
    scalar = ScalarType("int32", 4)
    assert pickle.loads(pickle.dumps(scalar)) == scalar


def test_written_methods_and_post_init_are_kept() -> None:
    @records.dataclass
    class Counter:
        n: int

        def __post_init__(self) -> None:
            self.n += 1

        def __repr__(self) -> str:
            return f"{self.n}!"

    assert repr(Counter(1)) == "2!"


def test_subclasses_inherit_fields() -> None:
    @records.dataclass(frozen=True)
    class Base:
        a: int = 1

    @records.dataclass(frozen=True)
    class Derived(Base):
        b: int = 2

    class Undecorated(Derived):
        pass

    assert [one.name for one in dataclasses.fields(Undecorated)] == ["a", "b"]
    assert repr(Derived(b=3)).rpartition(".")[2] == "Derived(a=1, b=3)"
    assert Undecorated(2) != Derived(2)
    assert Derived() != Base()
