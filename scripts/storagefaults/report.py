"""What was tried, how often it hit, and what did not hold."""

import time


class Row:
    def __init__(self, name):
        self.name = name
        self.runs, self.hits, self.seconds = 0, 0, 0.0
        self.violations, self.notes = [], []
        self.not_run = None

    def violate(self, text, where=""):
        self.violations.append(f"{text} [{where}]" if where else text)
        print(f"  VIOLATION {self.name}: {self.violations[-1]}", flush=True)

    def expect(self, condition, text, where=""):
        if not condition:
            self.violate(text, where)
        return bool(condition)


class Report:
    def __init__(self):
        self.rows = []

    def case(self, name, body):
        from .programs import NotRun

        row = Row(name)
        self.rows.append(row)
        start = time.monotonic()
        try:
            body(row)
        except NotRun as reason:
            row.not_run = str(reason)
        except Exception as error:  # A case that breaks has not shown anything.
            import traceback

            traceback.print_exc()
            row.violate(f"the case itself broke: {error!r}")
        row.seconds = time.monotonic() - start
        if not row.not_run and not row.hits and not row.violations:
            row.violate("the fault never hit")
        outcome = f"not run: {row.not_run}" if row.not_run else f"{row.runs} runs"
        print(f"  {name}: {outcome}, {row.seconds:.1f} s", flush=True)
        for note in row.notes:
            print(f"      {note}", flush=True)

    def finish(self):
        """Prints the table; the exit status."""
        width = max(len(row.name) for row in self.rows)
        print(f"\n{'fault':{width}}  {'runs':>5}  {'hit':>5}  violations")
        for row in self.rows:
            if row.not_run:
                print(f"{row.name:{width}}  {'-':>5}  {'-':>5}  not run: {row.not_run}")
            else:
                print(f"{row.name:{width}}  {row.runs:5}  {row.hits:5}  {len(row.violations)}")
        violations = sum(len(row.violations) for row in self.rows)
        not_run = sum(1 for row in self.rows if row.not_run)
        print(f"\n{violations} violations, {not_run} cases not run")
        return 1 if violations else 0
