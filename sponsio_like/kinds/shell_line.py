"""The pattern of a plain line of a shell program.

It takes a tenth of a second to compile, so this module is imported when a contract names a shell
command (it is one of the modules that the kind needs), and not with the package.
"""

from __future__ import annotations

import re

END = r"(?=[ \n|;]|&&|\Z)"
NAME = r"[A-Za-z_]\w*+"
VARIABLE = rf"\$(?:{NAME}|\{{{NAME}\}}|[0-9](?!\w))"
SINGLE = r"'[^'\x7f-\U0010ffff]*+'"
DOUBLE = rf'"(?:[^"$`\\!\x7f-\U0010ffff]++|{VARIABLE})*+"'
ODD = rf"{SINGLE}|{DOUBLE}|{VARIABLE}"
SIGNS = r"[\w./:=,@%*?+~^-]++"
WORD = rf"(?:(?!=|-[ ]+2>){SIGNS}|{ODD})(?:{SIGNS}|{ODD})*+{END}"
FILE = r"[A-Za-z./][\w./-]*+"
PLACE = rf"(?:{FILE}|{ODD})++"
INTO = rf"(?:2>&1|2>[ ]?/dev/null|>>?[ ]?{PLACE}){END}"
COMMAND = rf"{PLACE}{END}(?:[ ]++{WORD})*+(?:[ ]++{INTO})*+"
PIPELINE = rf"{COMMAND}(?:[ ]*+\|[ ]*+{COMMAND})*+"
CHAIN = rf"{PIPELINE}(?:[ ]*+\|\|[ \n]*+{PIPELINE})*+"
SET = rf"(?!_=){NAME}=(?:{SIGNS}|{ODD})*+{END}"
REMARK = r"\#[^\n\\]*+(?=\n|\Z)"
GAP = rf"\n*+(?:(?<![^\n])[ ]*+{REMARK}\n*+)*+[ ]*+"
STOP = r"(?:\n++|;(?![;&])[ ]*+\n*+|&&[ \n]*+(?!\Z)|\Z)"
LINE = re.compile(rf"{GAP}(?:({CHAIN})|({SET}))(?:[ ]++{REMARK}|[ ]*+){STOP}", re.ASCII)
"""An assignment, or pipelines of plain commands, and what ends it."""
REMARKS = re.compile(GAP)
TOKEN = re.compile(rf"""\|\|?|{INTO}|(?:'[^']*+'|"[^"]*+"|[^ \n|'"]++)++""", re.ASCII)
