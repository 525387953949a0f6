class CounterAPI:
    def __init__(self):
        self.counts = {}
        self._secret = object()

    def _load_scenario(self, scenario, long_context=False):
        self.counts = scenario.get("counts", {})
        self.filler = "long" if long_context else "short"

    def add(self, name, amount=1):
        if name not in self.counts:
            return {"error": "no counter " + name}
        self.counts[name] += amount
        return {"name": name, "count": self.counts[name]}

    def names(self):
        return list(self.counts)

    def divide(self, name, by):
        return self.counts[name] / by
