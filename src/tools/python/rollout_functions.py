"""A file of plain functions as a server without state: each function is a tool, which its type hints and docstring
describe. What goes wrong names the line for the file's owner."""

import asyncio
import enum
import inspect
import json
import os
import traceback

from rollout_docs import read_docstring
from rollout_load import Unusable, enter, load_module
from rollout_text import describe
from rollout_types import NotJson, converter, hints_of, schema_of, to_json

NAMELESS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class FunctionServer:
    def __init__(self, functions):
        self.functions = {function.name: function for function in functions}

    def invoke(self, _session, tool, /, **arguments):
        return self.functions[tool].call(arguments)


class Function:
    def __init__(self, name, call):
        self.name = name
        self.function = call
        self.signature = inspect.signature(call)
        hints = hints_of(call)
        text, documented = read_docstring(inspect.getdoc(call) or "")
        properties, required, self.converters = {}, [], {}
        for parameter in self.signature.parameters.values():
            if parameter.kind in NAMELESS:
                raise NotJson(f"takes {NAMELESS[parameter.kind]}{parameter.name}: a tool's parameters need names")
            try:
                hint = hints.get(parameter.name, parameter.empty)
                schema = schema_of(hint)
                self.converters[parameter.name] = converter(hint)
            except NotJson as error:
                raise NotJson(f'has a parameter "{parameter.name}" {error}')
            if parameter.name in documented and "description" not in schema:
                schema = {**schema, "description": documented[parameter.name]}
            if parameter.default is parameter.empty:
                required.append(parameter.name)
            elif is_json(parameter.default):
                schema = {**schema, "default": parameter.default}
            properties[parameter.name] = schema
        parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        self.spec = {"name": name, "description": text, "parameters": parameters}

    def call(self, arguments):
        given = {name: self.converters[name](value) for name, value in arguments.items()}
        positional = []
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in given:
                positional.append(given.pop(parameter.name))
        result = self.function(*positional, **given)
        if inspect.isawaitable(result):
            result = asyncio.run(wait_for(result))
        return result if isinstance(result, str) and not isinstance(result, enum.Enum) else to_json(result)


async def wait_for(result):
    return await result


def is_json(value):
    try:
        json.dumps(value, allow_nan=False)
        return not isinstance(value, (enum.Enum, tuple))
    except (TypeError, ValueError):
        return False


def load_functions(file):
    """Every public function that the file itself defines, or those that its `__all__` names."""
    line = None
    try:
        enter(os.path.dirname(file))
        module = load_module(file)
        functions = []
        for name, value in chosen(module):
            line = line_of(value)
            functions.append(Function(name, value))
        if functions:
            return FunctionServer(functions)
        raise Unusable({"unusable": "has no functions to offer as tools: names that begin with _, imported functions and classes are not", "file": file})
    except Unusable:
        raise
    except NotJson as error:
        raise Unusable({"unusable": f"the function {name} {error}", "file": file, "line": line})
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        syntax = isinstance(error, SyntaxError) and error.filename == file
        at = error.lineno if syntax else lines[-1] if lines else line
        raise Unusable({"unusable": f"cannot be loaded: {describe(error)}", "file": file, "line": at})


def chosen(module):
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [(name, getattr(module, name)) for name in listed if is_function(getattr(module, name, None))]
    return [
        (name, value)
        for name, value in vars(module).items()
        if not name.startswith("_")
        and is_function(value)
        and getattr(value, "__module__", None) == module.__name__
        and getattr(value, "__name__", name) != "<lambda>"
    ]


def is_function(value):
    """Also one in a wrapper, such as functools.lru_cache makes."""
    return inspect.isfunction(value) or (callable(value) and not inspect.isclass(value) and hasattr(value, "__wrapped__"))


def line_of(value):
    code = getattr(inspect.unwrap(value), "__code__", None)
    return code.co_firstlineno if code else None
