"""Programs with atomics: tried with helpers and without, then run the faster way, and looked at again."""

import pytest

from numba_gpucore.cpu.pace import LOOK_AGAIN, Pace


def run(pace: Pace, launches: int, together_ns: float, alone_ns: float) -> list[bool]:
    """Which of the launches went alone, where a thread takes these times."""
    choices = []
    for _ in range(launches):
        alone = pace.goes_alone()
        pace.note(alone_ns if alone else together_ns, alone)
        choices.append(alone)
    return choices


@pytest.mark.parametrize(("together_ns", "alone_ns", "faster_alone"), [(10.0, 2.5, True), (1.2, 2.0, False)])
def test_both_ways_are_tried_then_the_faster_one_stays(together_ns, alone_ns, faster_alone):
    choices = run(Pace(), LOOK_AGAIN, together_ns, alone_ns)
    assert choices == [False, True] + [faster_alone] * (LOOK_AGAIN - 2)


def test_a_change_is_noticed():
    """The data of later launches may no longer contend."""
    pace = Pace()
    assert run(pace, LOOK_AGAIN, together_ns=10.0, alone_ns=2.5)[-1] is True
    assert run(pace, LOOK_AGAIN, together_ns=1.0, alone_ns=2.5)[-1] is False
