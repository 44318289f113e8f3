package import Commands
package import Essentials
package import LocalFiles
package import SnapshotModels

/// Asks the Codex of each home for its limits, and keeps the answers for `CodexSource`.
///
/// Codex uses its own login and network. Nothing under its home is opened here.
package struct CodexAsking: Sendable {
    package static let id = "codex"
    package static let program = "codex"
    package static let limits = BoundedProcess.Limits(seconds: 20)

    private let environment: SourceEnvironment
    private let limits: BoundedProcess.Limits
    private let directory: LocalDirectory

    private static let byteLimit = 262_144
    /// A server loads the configuration of the project that it is started in.
    private static let script = #"cd / && exec "$0" app-server"#

    package init(_ environment: SourceEnvironment, limits: BoundedProcess.Limits = Self.limits) {
        self.environment = environment
        self.limits = limits
        directory = LocalDirectory(Self.directory(in: environment))
    }

    static func directory(in environment: SourceEnvironment) -> String { environment.stateDirectory + "/asking" }

    static func path(of home: String, in environment: SourceEnvironment) -> String {
        "\(directory(in: environment))/\(id)-\(home.fingerprint).json"
    }

    /// Nil when it has not been asked, and for a damaged file, which the next question replaces.
    static func state(of home: String, in environment: SourceEnvironment) -> CodexAskState? {
        // See above.
        let content = try? LocalFile(path(of: home, in: environment)).read(byteLimit: byteLimit)
        return content.flatMap { CodexAskState($0.data) }
    }

    /// The homes that are there, without those of other programs that are not configured: these ask with a login of
    /// their own.
    package var homes: [String] {
        let configured = environment.additionalHomes[Self.id] ?? []
        let others = LauncherHomes.of(Self.id, in: environment).filter { !configured.contains($0) }
        return CodexPaths.homes(in: environment).map(\.root).filter {
            // What cannot be inspected is no home.
            (try? FileStatus(path: $0))?.kind == .directory && !others.contains($0)
        }
    }

    /// When to ask the Codex of a home.
    ///
    /// - Parameters:
    ///   - usage: of all machines.
    ///   - device: this machine's id.
    package func due(
        _ home: String, _ settings: AskSettings, usage: MergedUsage?, device: String, at now: Date
    ) -> Date {
        let state = Self.state(of: home, in: environment)
        let login = AccountHistoryFile(environment).read().entries.last {
            $0.providerID == Self.id && $0.home == home
        }
        let name = login?.card?.accountKey
        let account = usage?.providers.first { provider in
            provider.snapshot.providerID == Self.id
                && provider.parts.contains {
                    $0.deviceID?.lowercased() == device.lowercased() && $0.account == name
                }
        }
        var timing = AskTiming(settings, account: account, device: device, own: state?.answer?.askedAt, at: now)
        timing.lastQuestion = state?.askedAt
        timing.failureCount = state?.failureCount ?? 0
        return timing.due(at: now)
    }

    /// Asks it, unless another process does, or has done so since the question was due. Blocks the thread.
    package func ask(
        _ home: String, _ settings: AskSettings, dueAt due: Date, isCancelled: () -> Bool = { false }
    ) {
        let file = LocalFile(Self.path(of: home, in: environment))
        // Without a place for the answer nothing is asked.
        guard (try? directory.create()) != nil, let lock = try? FileLock("\(directory.path)/\(Self.id).lock"),
            (try? lock.lockIfAvailable()) == true  // Else another process asks.
        else { return }
        defer { lock.unlock() }
        let former = Self.state(of: home, in: environment)
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        if let former, former.askedAt >= due, former.askedAt <= now { return }
        var state = CodexAskState(askedAt: now)
        state.failureCount = former?.failureCount ?? 0
        state.answer = former?.answer
        state.failure = "stopped before it answered"
        // First, so that a service that is restarted again and again does not ask each time.
        guard (try? file.replace(with: state.data, durability: .cached)) != nil else { return }
        do throws(CodexRefusal) {
            state.answer = try answer(home, settings, at: now, path: file.path, isCancelled)
            state.failureCount = 0
            state.failure = nil
        } catch {
            if isCancelled() { return }
            state.failureCount += 1
            state.failure = error.reason
            if error.isLogout { state.answer = nil }
        }
        try? file.replace(with: state.data, durability: .cached)  // The next question tries again.
    }

    /// Forgets all questions and answers.
    package func forget() throws(FileError) {
        let listing = try? directory.entries()  // Without a directory there is nothing to forget.
        for entry in listing?.entries ?? [] where entry.name.hasPrefix(Self.id + "-") {
            try LocalFile("\(directory.path)/\(entry.name)").remove()
        }
    }

    private func answer(
        _ home: String, _ settings: AskSettings, at now: Date, path: String, _ isCancelled: () -> Bool
    ) throws(CodexRefusal) -> CodexAnswer {
        let found = SearchPath.isProgram(settings.program) ? settings.program : nil
        guard let program = found ?? SearchPath(environment.variables).path(of: Self.program) else {
            throw CodexRefusal(
                reason: "codex is not installed (no \(settings.program); "
                    + "if it has moved, run usage-push config ask codex again)")
        }
        var conversation = CodexConversation()
        let process = BoundedProcess(
            "/bin/sh", arguments: ["-c", Self.script, program], input: CodexConversation.requests,
            variables: variables(home, program), limits: limits, isCancelled: isCancelled,
            isAnswered: { conversation.read($0) })
        _ = conversation.read(process.output)
        if let answer = try conversation.answer(askedAt: now, answeredAt: Date(), path: path) { return answer }
        throw CodexRefusal(reason: failure(of: process))
    }

    private func failure(of process: BoundedProcess) -> String {
        let error = process.firstErrorLine.map { ": " + $0 } ?? ""
        return switch process.end {
        case .exited(let status): "it ended with status \(status) before it answered" + error
        case .outOfTime: "no answer within \(Int(limits.seconds ?? 0)) s"
        case .tooMuchOutput: "stopped, since it printed more than 1 MiB"
        case .cancelled: "stopped with this program"
        case .notStarted(let code): "codex cannot be started: " + String(cString: strerror(code))
        }
    }

    /// Those of this program without what is meant for itself alone.
    private func variables(_ home: String, _ program: String) -> [String: String] {
        var variables = environment.variables.filter { !$0.key.hasPrefix("UBIQUITY_") }
        variables["HOME"] = environment.home
        variables["CODEX_HOME"] = home
        // A launcher in JavaScript is mostly beside its interpreter, which without its compiler runs in a service, too.
        let path = variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        variables["PATH"] = LocalFile(program).directory.path + ":" + path
        variables["NODE_OPTIONS"] = "--jitless"
        return variables
    }
}
