"""What a careful client remembers, and what it may find after a fault."""

import http.client

NO_ANSWER = object()


class Memory:
    """For each key the values that may stand there: the last acknowledged one, and each one sent
    since then whose fate is unknown."""

    def __init__(self):
        self.allowed = {}
        self.acknowledged = {}
        # The epoch and cursor of the last answer; no fault may make them useless.
        self.place = None
        self.highest = 0
        self.violations = []

    def attempt(self, key, value):
        self.allowed.setdefault(key, [None]).append(value)

    def refuse(self, key):
        """The daemon said that it stored nothing."""
        self.allowed[key].pop()

    def acknowledge(self, key, value, sequence):
        if sequence <= self.highest:
            self.violations.append(
                f"{key} was given number {sequence} after {self.highest} had been given")
        self.allowed[key] = [value]
        self.acknowledged[key] = sequence
        self.highest = max(self.highest, sequence)

    def tell(self, told):
        """What live readers were told is as good as acknowledged."""
        for sequence, key, value in told:
            if sequence > self.acknowledged.get(key, 0):
                self.acknowledged[key] = sequence
                values = self.allowed.get(key, [None])
                if value not in values:
                    self.violations.append(f"a reader was told a value of {key} nobody had sent")
                else:
                    self.allowed[key] = values[values.index(value):]
                self.highest = max(self.highest, sequence)

    def compare(self, client):
        """Everything, and that the place up to which all was known still counts."""
        if self.place:
            answer = client.sync(*self.place)
            # After a torn write everybody starts over; the place is of the same history all the same.
            is_known = answer.status == 200 and (
                not answer.json["initial"] or any(
                    epoch["epoch"] == self.place[0] and epoch["end"] >= self.place[1]
                    for epoch in answer.json["lineage"]))
            if not is_known:
                self.violations.append(
                    f"a cursor at {self.place[1]} is told to start over ({answer})")
        epoch, cursor, found = client.everything()
        if self.highest and cursor < self.highest:
            self.violations.append(f"the cursor went back from {self.highest} to {cursor}")
        for key, values in self.allowed.items():
            sequence, value = found.get(key, (0, None))
            if value not in values:
                was = "nothing" if value is None else f"{len(value)} other bytes"
                self.violations.append(f"{key} holds {was}; {len(values)} values are allowed")
            if sequence < self.acknowledged.get(key, 0):
                self.violations.append(
                    f"{key} has number {sequence}, it had {self.acknowledged[key]}")
            self.allowed[key] = [value]
        for key in found.keys() - self.allowed.keys():
            self.violations.append(f"{key} was never written")
        numbers = [sequence for sequence, _ in found.values()]
        if len(set(numbers)) != len(numbers):
            self.violations.append("a sequence number stands for two keys")
        self.place, self.highest = (epoch, cursor), max(self.highest, cursor)

    def write(self, client, key, value):
        """Puts (or deletes, for None) and notes the outcome; returns the answer, or NO_ANSWER."""
        self.attempt(key, value)
        try:
            answer = client.delete(key) if value is None else client.put(key, value)
        except (OSError, http.client.HTTPException):
            return NO_ANSWER
        if answer.status == 200:
            self.acknowledge(key, value, answer.json["seq"])
        elif answer.status in (404, 409):
            self.refuse(key)
        return answer
