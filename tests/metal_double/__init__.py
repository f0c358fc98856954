"""A stand-in for PyObjC's `Metal` on Linux, so that the Metal driver runs end to end without a Mac.

It has only what PyObjC's own metadata lists (facts.json) or Apple's documentation names, keeps Metal's rules by raising
RuleError where Metal's validation would stop the process, and runs the MSL through tests.msl. `World` says what kind of
Mac to be; `make_modules` gives the modules, `installed` puts them where `import` finds them; the folder `site` does
that for a whole process on PYTHONPATH.
"""

from tests.metal_double.modules import installed, make_modules
from tests.metal_double.objc_objects import RuleError
from tests.metal_double.world import World

__all__ = ["RuleError", "World", "installed", "make_modules"]
