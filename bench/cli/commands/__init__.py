"""The commands: a module NAME with a click command `command` is ``evictbench NAME``.

Modules import nothing heavy at their top, since ``evictbench --help`` imports every one of them.
"""
