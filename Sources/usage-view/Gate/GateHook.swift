import Commands
import Essentials
import LocalFiles
import UsagePusher
import UsageState

/// `usage-view gate hook TOOL`: asked by an agent's tool before each call.
///
/// It reads three small files, never the replica, the network or a credential, and never fails: whatever is missing,
/// damaged or slow lets the call pass, with exit status 0.
struct GateHook {
    private let tool: GateTool
    private let files = GateFiles()

    /// After this time without a decision the call passes.
    private static let microseconds = 200_000
    private static let inputLimit = 1_048_576

    /// The hook that the arguments name; nil for another command. The parser of arguments is not asked: it would take
    /// most of the time.
    init?(arguments: [String]) {
        guard arguments.count == 3, arguments[0] == "gate", arguments[1] == "hook",
            let tool = GateTool(rawValue: arguments[2])
        else { return nil }
        self.tool = tool
    }

    func run() {
        Self.setDeadline(microseconds: Self.microseconds)
        let madeAt = Date()
        guard let call = GateCall(Self.input(), of: tool) else { return }
        var session = GateSession(reading: files.session(call.session).flatMap(files.read))
        if call.event == .start {
            session.model = call.model
            files.removeOldSessions(at: madeAt)
            // From now on the usage is written for the hooks.
            save(session, of: call)
        }
        let request = GateRequest(
            provider: tool.rawValue, model: call.model ?? session.model, directory: call.directory, madeAt: madeAt)
        let decision = decide(request)
        guard let verdict = decision.verdict else { return }
        if verdict.rule.action == .pause, call.event.canWait {
            Self.setDeadline(microseconds: 0)
            return wait(verdict.rule, decision, request, call, &session)
        }
        guard
            let reply = GateReply(
                decision, to: call, isNew: { session.shouldNotify(of: verdict, now: madeAt) }, now: madeAt)
        else { return }
        note(decision, in: &session, at: madeAt)
        save(session, of: call)
        print(reply)
    }

    private func decide(_ request: GateRequest) -> GateDecision {
        let usage = GateUsage(reading: files.read(files.usage))
        return GateDecision(
            usage, own: GateRules(reading: files.read(files.rules)), request.located(for: usage), now: Date())
    }

    /// Waits until the call may resume, or the tool has exited. An interruption ends this process.
    private func wait(
        _ rule: GateRule, _ first: GateDecision, _ request: GateRequest, _ call: GateCall, _ session: inout GateSession
    ) {
        let (parent, start) = (getppid(), Date())
        var wait = GateWait(rule, session: call.session, now: start)
        note(first, in: &session, at: start, waiting: wait.until)
        save(session, of: call)
        var decision = first
        while getppid() == parent, case .waiting(let next) = wait.progress(decision, now: Date()) {
            let seconds = min(max(next.timeIntervalSinceNow, 0.01), GateWait.interval)
            usleep(UInt32(seconds * 1e6))
            decision = decide(request)
        }
        session.last?.waiting = nil
        save(session, of: call)
        // A stricter rule may apply by now.
        guard decision.action == .stop else { return }
        if let reply = GateReply(decision, to: call, isNew: { true }, now: Date()) { print(reply) }
    }

    private func note(
        _ decision: GateDecision, in session: inout GateSession, at now: Date, waiting until: Date? = nil
    ) {
        guard let action = decision.action else { return }
        session.last = GateSession.Note(
            at: now, tool: tool.rawValue, action: action, sentence: decision.userMessage(now: now),
            waiting: until.map { end in
                let reset = decision.verdict?.window?.resetsAt ?? end
                return GateSession.Waiting(
                    limit: decision.verdict?.limit ?? "", account: decision.verdict?.account?.account,
                    until: min(reset, end), process: getpid())
            })
    }

    private func save(_ session: GateSession, of call: GateCall) {
        guard let file = files.session(call.session) else { return }
        try? files.write(session.data, to: file)  // Without it the session is notified again.
    }

    private func print(_ reply: GateReply) {
        try? Console.write(reply.data)  // A tool that does not read it has gone.
    }

    /// The first megabyte of standard input. The rest is read and discarded, so that the tool can write it.
    private static func input() -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return data }
            data.append(contentsOf: buffer[..<min(count, inputLimit - data.count)])
        }
    }

    /// Ends this process after that time, wherever it is then; 0 for no end.
    private static func setDeadline(microseconds: Int) {
        signal(SIGALRM) { _ in _exit(0) }
        var timer = itimerval()
        timer.it_value.tv_usec = .init(microseconds)
        // ITIMER_REAL, which C libraries declare with different types.
        setitimer(0, &timer, nil)
    }
}
