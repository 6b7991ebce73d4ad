"""One file per command, with a function of the command's name: its arguments and its help.

The functions import what they run when they run, so that ``isthmus --help`` stays fast. A new
command is a file here and a word in :data:`isthmus.cli.app.COMMANDS`.
"""
