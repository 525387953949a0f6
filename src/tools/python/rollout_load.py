"""Loading a dataset's servers, so that what goes wrong names the file and line for the dataset's owner."""

import importlib.util
import inspect
import os
import sys
import traceback

from rollout_text import describe


class Unusable(Exception):
    """A server that cannot be loaded: for the dataset's owner to mend."""


def load_server(name, file, domain_name):
    made = None
    try:
        enter(os.path.dirname(file))
        module = load_module(file)
        made = getattr(module, name + "Server", None)
        if made is None:
            own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
            others = ", ".join(key for key in own if isinstance(vars(module)[key], type))
            hint = f"; it has {others}" if others else ""
            raise Unusable({"unusable": f'has no class "{name}Server"{hint}', "file": file})
        server = made(domain_name=domain_name)
        if not callable(getattr(server, "invoke", None)):
            needed = f"{name}Server has no method invoke(self, session_id, tool_name, **arguments)"
            raise Unusable({"unusable": needed, "file": file, "line": line_of(made)})
        return server
    except Unusable:
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        syntax = isinstance(error, SyntaxError) and error.filename == file
        line = error.lineno if syntax else lines[-1] if lines else line_of(made)
        raise Unusable({"unusable": f"cannot be loaded: {describe(error)}", "file": file, "line": line})


def line_of(made):
    """Where a class is made, or the line of its constructor."""
    constructor = getattr(getattr(made, "__init__", None), "__code__", None)
    if constructor is not None:
        return constructor.co_firstlineno
    try:
        return inspect.getsourcelines(made)[1]
    except (OSError, TypeError):
        return None


def load_module(file):
    """Under its own name, as an import from a sibling would, so that both get the same module."""
    name = os.path.splitext(os.path.basename(file))[0]
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == file:
        return loaded
    if loaded is not None:
        name += "_server"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


entered = None
put_aside = {}


def enter(folder):
    """Servers import what lies next to them; modules of one dataset never answer for another's of the same name."""
    global entered
    if folder == entered:
        return
    if entered is not None:
        sys.path[:] = [path for path in sys.path if path != entered]
        files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
        theirs = [name for name, file in files.items() if file.startswith(entered + os.sep)]
        put_aside[entered] = {name: sys.modules.pop(name) for name in theirs}
    sys.path.insert(0, folder)
    sys.modules.update(put_aside.pop(folder, {}))
    entered = folder
