"""Kernels compiled before they are needed. Before: command_line, hatchling. After: launch.store.

`command` is the command line. `compile_modules` compiles what kernels ask for, `ship` and `hatch_hook` do it for a
package's wheel, `archive` carries it, and `workload` prepares for kernels that nobody has written yet.
"""
