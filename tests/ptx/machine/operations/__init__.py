"""What each instruction computes, in tables by family. Before: numbers/. After: table.py, elementwise.py."""
