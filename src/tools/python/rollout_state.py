"""A session's tables: shared between the servers of a combination, compared with what they were at first, freed.

A server without `_get_session(id).databases` works too; it just has no tables here."""

import copy
import traceback
import weakref

PRISTINE = "rollout-pristine"


class SharedTables:
    """Tables of the same name are one and the same object in every server that has them: the one of the first server
    in order. All else in a session, above all who is authorised, stays each server's own."""

    def __init__(self, servers, session):
        self.servers = servers
        self.session = session
        self.tables = {}
        self.held = []  # by server: table names that it is known to share
        for server in servers:
            databases = databases_of(server, session)
            for name in list(databases):
                databases[name] = self.tables.setdefault(name, databases[name])
            self.held.append(set(databases))

    def after_call(self, position):
        """A server may put another list in a table's place, or make a table: the others are to see that as well."""
        if len(self.servers) == 1:
            return
        databases = databases_of(self.servers[position], self.session)
        for name, rows in list(databases.items()):
            shared = self.tables.get(name)
            if rows is shared:
                continue
            if name not in self.held[position]:
                self.held[position].add(name)
                if isinstance(shared, list) and isinstance(rows, list):
                    shared.extend(rows)
                    databases[name] = shared
                    continue
            self.replace(name, rows)

    def replace(self, name, rows):
        self.tables[name] = rows
        for server, held in zip(self.servers, self.held):
            if name in held:
                databases_of(server, self.session)[name] = rows

    def now(self):
        return self.tables if len(self.servers) > 1 else databases_of(self.servers[0], self.session)


def databases_of(server, session):
    get_session = getattr(server, "_get_session", None)
    databases = getattr(get_session(session), "databases", None) if get_session else None
    return databases if isinstance(databases, dict) else {}


class Pristine:
    """A table as every new session finds it."""

    def __init__(self, name, rows):
        self.rows = rows
        self.records = index(name, rows)


def take_pristine(servers):
    """The tables of a new session by name, in a copy that no session can write to."""
    try:
        tables = SharedTables(servers, PRISTINE).tables
        return {name: Pristine(name, copy.deepcopy(rows)) for name, rows in tables.items()}
    except Exception:  # such a server may still answer calls; then it has no state to compare
        traceback.print_exc()
        return {}
    finally:
        forget(servers, PRISTINE)


def changes(pristine, tables):
    """A new record whole, of a changed one the fields that changed, for a deleted one None."""
    result = {}
    for table in sorted({*pristine, *tables}):
        first, rows = pristine.get(table), tables.get(table, [])
        if first and first.rows == rows:  # most tables, told apart far sooner than record by record
            continue
        before, after = first.records if first else {}, index(table, rows)
        changed = {}
        for identity, record in after.items():
            if identity not in before:
                changed[identity] = record
            elif before[identity] != record:
                changed[identity] = changed_fields(before[identity], record)
        changed.update((identity, None) for identity in before if identity not in after)
        if changed:
            result[table] = changed
    return result


def changed_fields(before, after):
    return {
        field: after.get(field)
        for field in [*before, *(field for field in after if field not in before)]
        if before.get(field) != after.get(field)
    }


def index(table, rows):
    """Records by identity; one that another record already has gets a number, so that no record is lost."""
    named = rows.items() if isinstance(rows, dict) else ((None, row) for row in rows)
    own = f"{table.lower()}_id"
    result = {}
    seen = {}
    for position, (name, row) in enumerate(named):
        record = row if isinstance(row, dict) else {"value": row}
        identity = str(name if name is not None else identify(own, record, position))
        count = seen[identity] = seen.get(identity, 0) + 1
        result[identity if count == 1 else f"{identity}~{count}"] = record
    return result


def identify(own, record, position):
    for field in (own, "id"):
        if record.get(field) is not None:
            return record[field]
    ids = (value for field, value in record.items() if str(field).endswith("_id") and value is not None)
    return next(ids, position)


def forget(servers, session):
    """Frees what servers keep under a session's id, in whichever of their dicts, or their classes' dicts. Whether nothing
    is left of that for the collector."""
    kept = []
    for server in servers:
        for attributes in [getattr(server, "__dict__", {}), *(vars(kind) for kind in type(server).__mro__)]:
            for held in list(attributes.values()):
                if isinstance(held, dict) and session in held:
                    kept.append(watch(held.pop(session)))
    return bool(kept) and all(there() is None for there in kept)


def watch(made):
    """Tells whether it is still there, or, where that cannot be known (its tables may be its class's), that it is."""
    try:
        return weakref.ref(made) if "databases" in vars(made) else lambda: True
    except TypeError:
        return lambda: True
