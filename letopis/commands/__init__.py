"""The commands, one module a group: each has ``commands``, which `letopis.cli.GROUPS` lists.

A module holds what people type: arguments, options, help. What a command needs is imported in its
body, so that ``--help`` and the other commands do not pay for it.
"""
