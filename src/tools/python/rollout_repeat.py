"""Generated values that repeat on replay. Everything Python draws chance from (`random`, `os.urandom`, `secrets`,
`uuid`, numpy where it is loaded) follows from the rollout's seed and the number of the call; with a start for the
clock, the time does too: a minute later with every call, and still within one. Installed before any server is loaded,
so a server's `from uuid import uuid4` gets the same."""

import datetime
import hashlib
import os
import random
import sys
import time
import uuid

key = b""
drawn = 0
clock_start = None  # seconds since the epoch; None for the real clock
moment = 0.0


def begin(*parts):
    """What is drawn from here on follows from these parts; the last one may be the number of a call."""
    global key, drawn, moment
    text = "/".join(map(str, parts))
    key, drawn = text.encode(), 0
    random.seed(text)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(int.from_bytes(hashlib.sha256(key).digest()[:4], "big"))
    if clock_start is not None:
        moment = clock_start + 60 * (parts[-1] if isinstance(parts[-1], int) else 0)


def install(clock):
    os.urandom = random._urandom = urandom  # `secrets`, `uuid4` and `SystemRandom` all end here
    for version in (1, 6, 7):
        if hasattr(uuid, f"uuid{version}"):
            setattr(uuid, f"uuid{version}", drawn_uuid(version))
    seed_from_system = random.Random.seed

    def seed(self, a=None, version=2):
        seed_from_system(self, int.from_bytes(urandom(32), "big") if a is None else a, version)

    random.Random.seed = seed  # `random.Random()` and `random.seed()` would ask the system
    random.seed = random._inst.seed
    if clock is not None:
        install_clock(clock)


def urandom(size):
    global drawn
    drawn += 1
    return hashlib.shake_256(b"%s/%d" % (key, drawn)).digest(size)


def drawn_uuid(version):
    return lambda *_, **__: uuid.UUID(bytes=urandom(16), version=version)


def install_clock(start):
    global clock_start, moment
    clock_start = moment = start
    real = {name: getattr(time, name) for name in ("localtime", "gmtime", "ctime", "asctime", "strftime")}
    time.time = lambda: moment
    time.time_ns = lambda: int(moment) * 1_000_000_000
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, lambda seconds=None, real=real[name]: real(moment if seconds is None else seconds))
    time.asctime = lambda moment=None: real["asctime"](time.localtime() if moment is None else moment)
    time.strftime = lambda form, moment=None: real["strftime"](form, time.localtime() if moment is None else moment)
    datetime.date, datetime.datetime = seeded_dates(datetime.date, datetime.datetime)


def seeded_dates(real_date, real_datetime):
    """Subclasses that know another now; every real date and datetime counts as an instance of them."""

    def standing_for(real):
        class Standing(type):
            def __instancecheck__(cls, instance):
                return isinstance(instance, real) if cls.__base__ is real else type.__instancecheck__(cls, instance)

            def __subclasscheck__(cls, subclass):
                return issubclass(subclass, real) if cls.__base__ is real else type.__subclasscheck__(cls, subclass)

        return Standing

    class date(real_date, metaclass=standing_for(real_date)):
        @classmethod
        def today(cls):
            return cls.fromtimestamp(moment)

    class datetime_(real_datetime, metaclass=standing_for(real_datetime)):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(moment, tz)

        @classmethod
        def today(cls):
            return cls.fromtimestamp(moment)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(moment, datetime.timezone.utc).replace(tzinfo=None)

    for made, name in ((date, "date"), (datetime_, "datetime")):
        made.__module__, made.__name__, made.__qualname__ = "datetime", name, name
    return date, datetime_
