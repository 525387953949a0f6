"""Loading a dataset's servers, so that what goes wrong names the file and line for the dataset's owner."""

import importlib.util
import os
import sys
import traceback

from rollout_text import describe


class Unusable(Exception):
    """A server that cannot be loaded: for the dataset's owner to mend."""


def load_server(name, file, domain_name):
    try:
        enter(os.path.dirname(file))
        module = load_module(file)
        made = getattr(module, name + "Server", None)
        if made is None:
            raise Unusable({"unusable": f'has no class "{name}Server"', "file": file})
        return made(domain_name=domain_name)
    except Unusable:
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        syntax = isinstance(error, SyntaxError) and error.filename == file
        line = error.lineno if syntax else lines[-1] if lines else None
        raise Unusable({"unusable": f"cannot be loaded: {describe(error)}", "file": file, "line": line})


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
