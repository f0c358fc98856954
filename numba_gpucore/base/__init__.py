"""What the steps hand on to each other: records, contracts, errors, settings. Standard library only.

`artifact` is what compiling asks for and gives, `backend` what runs it, `target` what programs mean, `params` how
arguments lie in memory, `mailbox` and `print_ring` what threads leave for the host.
"""
