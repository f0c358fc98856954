"""numba.cuda's names on top of the launch half. Before: launch, ufuncs. After: target packages, users.

`names` makes the public names of a target package. `install` puts such a package in numba.cuda's place and
`submodules` what lies below it, `run` and `children` do that for programs and for those that they start. The others
have the names of one module of numba.cuda each, or of several small ones (`module_tables`).
"""
