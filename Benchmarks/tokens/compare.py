#!/usr/bin/env python3
"""Measure 'usage-push report' on a generated home of Claude Code beside programs that only count its lines.

The home is written first, so its files are in the page cache if memory suffices. Each round runs all programs in turns; the
table shows the medians, and their ratio to 'wc -l'. A reading without a cache is complete; "unchanged" has one; before
"appended" a line was added to one file.
"""
import argparse, datetime, os, random, shutil, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--gib", type=float, default=1, help="the size of the home (default 1)")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--bin", metavar="DIRECTORY", action="append",
                    help="take usage-push from there instead of building it; several are measured in turns")
parser.add_argument("--folder", help="directory for the home, on the disk to be measured")
parser.add_argument("--home", help="measure this home, made by an earlier run with --keep")
parser.add_argument("--keep", action="store_true", help="keep the home, and print where it is")
options = parser.parse_args()
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

WORDS = ("let func return if else for in guard var self file_name read_line the of and error json \\\"value\\\" token "
         "count path/to/file.swift index_of struct\\n \\n\\n {}() => -> == 0x1f 42 import // what it does").split(" ")
LINE = ('{"parentUuid":"%032x","isSidechain":false,"userType":"external","cwd":"/home/dev/p","sessionId":"%s","version":"2.1.300",'
        '"gitBranch":"main",')
ANSWER = ('"message":{"model":"%s","id":"msg_%024x","type":"message","role":"assistant","content":[{"type":"text","text":"%s"}],'
          '"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":300,'
          '"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":0},'
          '"output_tokens":%d,"service_tier":"standard"}},"requestId":"req_%024x","type":"assistant","uuid":"%032x",'
          '"timestamp":"%s"}\n')
RESULT = ('"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%x","type":"tool_result","content":"%s"}]},'
          '"uuid":"%032x","timestamp":"%s","toolUseResult":{"stdout":"%s","stderr":"","interrupted":false}}\n')


def generate(home, byte_count, seed):
    """Sessions of 0.2 to 40 MB: an answer in one to three lines, then a tool's result, most of the bytes."""
    numbers = random.Random(seed)
    texts = [" ".join(numbers.choices(WORDS, k=numbers.choice([20, 60, 150, 400]))) for _ in range(400)]
    results = [" ".join(numbers.choices(WORDS, k=numbers.choice([800, 2000, 6000]))) for _ in range(120)]
    models = ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001"]
    total = session = rows = requests = 0
    while total < byte_count:
        directory = os.path.join(home, ".claude/projects/-home-dev-p%02d" % numbers.randrange(30))
        os.makedirs(directory, exist_ok=True)
        name = "%08x-1111-4111-8111-%012x" % (session, numbers.getrandbits(48))
        session += 1
        size = min(max(int(numbers.lognormvariate(14.6, 1.1)), 200_000), 40_000_000)
        moment = datetime.datetime(2026, 8, 20) + datetime.timedelta(minutes=numbers.randrange(90 * 24 * 60))
        lines, written = [], 0
        while written < size:
            moment += datetime.timedelta(seconds=numbers.randrange(2, 60))
            stamp = moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % numbers.randrange(1000)
            head = LINE % (numbers.getrandbits(128), name)
            answer, request = numbers.getrandbits(96), numbers.getrandbits(96)
            model = models[numbers.randrange(3)] if len(lines) % 7 == 0 else models[0]
            copies, read, output = numbers.choice([1, 1, 2, 3]), numbers.randrange(20000, 150000), numbers.randrange(20, 2000)
            requests += 1
            for copy in range(copies):
                rows += 1
                lines.append(head + ANSWER % (model, answer, numbers.choice(texts), read, output if copy == copies - 1 else 3,
                                              request, numbers.getrandbits(128), stamp))
                written += len(lines[-1])
            text = numbers.choice(results if numbers.randrange(3) == 0 else texts)
            lines.append(head + RESULT % (requests, text, numbers.getrandbits(128), stamp, numbers.choice(texts)))
            written += len(lines[-1])
        with open(os.path.join(directory, name + ".jsonl"), "w") as file:
            file.write("".join(lines))
        total += written
    print(f"{total / 2**30:.1f} GiB, {session} files, {rows} rows of {requests} requests", file=sys.stderr)


def measure(command, environment=None):
    """Seconds, seconds of CPU and the largest resident size in MiB."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} failed with status {status}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


home = options.home or tempfile.mkdtemp(prefix="tokens-", dir=options.folder)
try:
    if not options.home:
        generate(home, options.gib * 2**30, options.seed)
    directories = options.bin
    if not directories:
        build = [os.path.join(root, "scripts/build-release"), "usage-push"]
        directories = [subprocess.run(build, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()]
    environment = dict(os.environ, HOME=home)
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        environment.pop(name, None)
    files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(home) for name in names if name.endswith(".jsonl"))

    def report(index, fresh=False):
        state = os.path.join(home, f"state{index}")
        if fresh:
            shutil.rmtree(state, ignore_errors=True)
        program = os.path.join(directories[index], "usage-push")
        return measure([program, "report", "daily", "--json"], dict(environment, XDG_STATE_HOME=state))

    def appended(index):
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        with open(files[0], "a") as file:
            file.write(LINE % (1, "appended") + ANSWER % ("claude-sonnet-5", time.monotonic_ns(), "", 1, 1, 1, 1, stamp))
        return report(index)

    programs = {"wc -l": lambda: measure(["wc", "-l"] + files)}
    if shutil.which("rg"):
        programs["rg -c output_tokens"] = lambda: measure(["rg", "-c", "output_tokens"] + files)
    for index in range(len(directories)):
        name = "usage-push report" + (f" ({index + 1})" if len(directories) > 1 else "")
        programs[name + ", no cache"] = lambda index=index: report(index, fresh=True)
        programs[name + ", unchanged"] = lambda index=index: report(index)
        programs[name + ", appended"] = lambda index=index: appended(index)
    rounds = [{name: run() for name, run in programs.items()} for _ in range(options.rounds)]
    print(f"{'':34} {'seconds':>8} {'CPU':>8} {'MiB':>6} {'ratio':>6}")
    base = statistics.median(round["wc -l"][0] for round in rounds)
    for name in programs:
        seconds, cpu, size = (statistics.median(round[name][index] for round in rounds) for index in range(3))
        print(f"{name:34} {seconds:8.3f} {cpu:8.3f} {size:6.0f} {seconds / base:6.2f}")
finally:
    if options.keep or options.home:
        print(home, file=sys.stderr)
    else:
        shutil.rmtree(home)
