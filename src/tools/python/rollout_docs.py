"""What a docstring says about a function and its parameters, in the styles of Google, NumPy and reST."""

import re

SECTION = re.compile(
    r"^(args|arguments|parameters|params|other parameters|keyword args|keyword arguments|returns?|yields?|raises"
    r"|examples?|notes?|attributes|see also|references|warnings?|warns|todo)\s*:?\s*$",
    re.IGNORECASE,
)
OF_PARAMETERS = re.compile(r"^(args|arguments|parameters|params|other parameters|keyword arg\w*)\b", re.IGNORECASE)
FIELD = re.compile(r"^:(\w+)\s*([^:]*):\s*(.*)$")
UNDERLINE = re.compile(r"^\s*[-=~]{3,}\s*$")
GOOGLE = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")


def read_docstring(text):
    """The description, and what is said about each parameter."""
    description, sections, fields = split(text.split("\n"))
    parameters = {}
    for title, is_numpy, lines in sections:
        if OF_PARAMETERS.match(title):
            parameters.update(read_entries(lines, NUMPY if is_numpy else GOOGLE))
    for line in fields:
        kind, names, said = FIELD.match(line).groups()
        if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and names.split():
            parameters[names.split()[-1]] = said
    return tidy(description), {name: tidy([said]) for name, said in parameters.items() if said.strip()}


def split(lines):
    description, sections, fields = [], [], []
    current = description
    index = 0
    while index < len(lines):
        line = lines[index]
        below = lines[index + 1] if index + 1 < len(lines) else ""
        is_title = SECTION.match(line) and not line.startswith((" ", "\t"))
        if is_title and (UNDERLINE.match(below) or line.rstrip().endswith(":")):
            is_numpy = bool(UNDERLINE.match(below))
            current = []
            sections.append((line.strip(), is_numpy, current))
            index += 2 if is_numpy else 1
            continue
        if FIELD.match(line):
            fields.append(line)
            current = None
        elif current is None and fields and line.strip() and line.startswith((" ", "\t")):
            fields[-1] += " " + line.strip()
        elif current is not None:
            current.append(line)
        elif line.strip():
            current = description
            current.append(line)
        index += 1
    return description, sections, fields


def read_entries(lines, pattern):
    """An entry begins at the section's own indentation; what is indented further belongs to it."""
    written = [line for line in lines if line.strip()]
    margin = min((indent(line) for line in written), default=0)
    entries, names = {}, []
    for line in written:
        match = pattern.match(line.strip()) if indent(line) == margin else None
        if match:
            names = [name.strip().lstrip("*") for name in match.group(1).split(",")]
            for name in names:
                entries[name] = match.group(2) if pattern is GOOGLE else ""
        else:
            for name in names:
                entries[name] = f"{entries[name]} {line.strip()}"
    return entries


def indent(line):
    return len(line) - len(line.lstrip())


def tidy(lines):
    text = "\n".join(line.rstrip() for line in lines).strip()
    return re.sub(r"[ \t]*\n(?!\s*\n)(?!\s*[-*\d])(?<!\n\n)[ \t]*", " ", text) if text else ""
