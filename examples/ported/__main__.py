"""All programs of this folder, or those named: `python -m numba_metal run examples/ported [name …]`."""

import importlib
import sys
from pathlib import Path

for name in sys.argv[1:] or sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")):
    importlib.import_module(name).main()
