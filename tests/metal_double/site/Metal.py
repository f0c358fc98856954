"""`import Metal` for a process with this folder on PYTHONPATH: the double, as the environment says."""

import sys

from tests.metal_double import World, make_modules

sys.modules["Metal"], sys.modules["objc"] = make_modules(World.from_environment())
