"""Type hints as JSON Schema, arguments as what the hints promise, and results as JSON."""

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing


class NotJson(Exception):
    """A sentence's end: what cannot be had from a model."""


PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
LISTS += (collections.abc.MutableSequence, collections.abc.Set)
MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def hints_of(function):
    """Also where hints are texts, as after `from __future__ import annotations`."""
    try:
        return typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception as error:
        raise NotJson(f"has type hints that cannot be read: {error}")


def schema_of(hint, around=()):
    if hint is inspect.Parameter.empty or hint is typing.Any or hint is object:
        return {}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hasattr(hint, "__supertype__"):
        return schema_of(hint.__supertype__, around)
    if hasattr(hint, "__metadata__"):
        return {**schema_of(arguments[0], around), **described(hint.__metadata__)}
    if origin in (getattr(typing, "Required", None), getattr(typing, "NotRequired", None)) and arguments:
        return schema_of(arguments[0], around)
    if origin is typing.Literal:
        return enumeration(list(arguments))
    if origin in UNIONS:
        return union([schema_of(argument, around) for argument in arguments])
    if origin in LISTS or hint in LISTS:
        return list_schema(origin or hint, arguments, around)
    if origin in MAPS or hint in MAPS:
        values = schema_of(arguments[1], around) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": values or True}
    if hint in around:
        raise NotJson(f"whose type {name_of(hint)} holds itself")
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return enumeration([member.value for member in hint])
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return record(field_hints(hint), required_fields(hint), (*around, hint))
    if is_typed_dict(hint):
        return record(field_hints(hint), sorted(hint.__required_keys__), (*around, hint))
    raise NotJson(f"of the type {name_of(hint)}, which a model cannot write as JSON")


def described(metadata):
    for each in metadata:
        text = each if isinstance(each, str) else getattr(each, "description", None) or getattr(each, "documentation", None)
        if isinstance(text, str):
            return {"description": text}
    return {}


def enumeration(values):
    if not all(value is None or isinstance(value, (str, int, float, bool)) for value in values):
        raise NotJson("with choices that are neither text nor numbers")
    kinds = {PLAIN[type(value)] for value in values if type(value) in PLAIN}
    return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": values}


def union(schemas):
    flat = []
    for schema in schemas:
        if schema == {}:
            return {}
        if schema not in flat:
            flat.append(schema)
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def list_schema(kind, arguments, around):
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        items = union([schema_of(argument, around) for argument in arguments])
        return {"type": "array", "items": items, "minItems": len(arguments), "maxItems": len(arguments)}
    items = schema_of(arguments[0], around) if arguments else {}
    return {"type": "array", "items": items} if items else {"type": "array", "items": {}}


def record(hints, required, around):
    properties = {name: schema_of(hint, around) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def field_hints(hint):
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except Exception as error:
        raise NotJson(f"whose type {name_of(hint)} cannot be read: {error}")
    if not dataclasses.is_dataclass(hint):
        return hints
    return {field.name: hints[field.name] for field in dataclasses.fields(hint) if field.init}


def required_fields(hint):
    missing = dataclasses.MISSING
    fields = [field for field in dataclasses.fields(hint) if field.init]
    return [field.name for field in fields if field.default is missing and field.default_factory is missing]


def is_typed_dict(hint):
    return isinstance(hint, type) and issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def name_of(hint):
    return getattr(hint, "__name__", None) or str(hint)


def same(value):
    return value


def converter(hint):
    """From JSON that fits the schema to what the hint promises: members of enums, dataclasses, sets, tuples."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__supertype__"):
        return converter(hint.__supertype__)
    if hasattr(hint, "__metadata__"):
        return converter(arguments[0])
    if origin in UNIONS:
        return one_of([(argument, converter(argument)) for argument in arguments])
    kind = origin or hint
    if kind in LISTS:
        inner = converter(arguments[0]) if arguments else same
        made = kind if kind in (tuple, set, frozenset) else set if kind is collections.abc.Set else list
        if kind is tuple and arguments and arguments[-1] is not Ellipsis:
            each = [converter(argument) for argument in arguments]
            return lambda value: tuple(turn(item) for turn, item in zip(each, value))
        return lambda value: made(inner(item) for item in value)
    if kind in MAPS and len(arguments) == 2:
        inner = converter(arguments[1])
        return lambda value: {key: inner(item) for key, item in value.items()}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        inner = {name: converter(field) for name, field in field_hints(hint).items()}
        return lambda value: hint(**{name: inner[name](item) for name, item in value.items()})
    if is_typed_dict(hint):
        inner = {name: converter(field) for name, field in field_hints(hint).items()}
        return lambda value: {name: inner.get(name, same)(item) for name, item in value.items()}
    return same


def one_of(choices):
    """The first choice that the value can be."""

    def convert(value):
        for hint, turn in choices:
            if hint is type(None):
                if value is None:
                    return None
                continue
            if hint in PLAIN:
                exact = type(value) is hint or (hint is float and type(value) is int)
                if exact:
                    return value
                continue
            try:
                return turn(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        return value

    return convert


def to_json(value):
    """Dataclasses and the like as JSON has them; everything else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_json(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()} if holds_more(value.values()) else value
    if isinstance(value, (set, frozenset)):
        return [to_json(item) for item in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value] if holds_more(value) else value
    if inspect.isgenerator(value):
        return [to_json(item) for item in value]
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    return value


def holds_more(values):
    return any(not isinstance(value, (str, int, float, bool, type(None))) or isinstance(value, enum.Enum) for value in values)
