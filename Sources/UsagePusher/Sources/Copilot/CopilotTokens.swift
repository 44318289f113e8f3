/// The tokens of Copilot CLI: in a store, a row for each request, and in the log of a session, when it ends, the sums
/// by model.
///
/// A session's sums count only if the store has no requests of it. docs/log-shapes.md has the shapes.
struct CopilotTokens: TokenLog {
    let source = "copilot"
    let version = 3

    static func home(in environment: SourceEnvironment) -> String {
        environment.absolutePath(variable: "COPILOT_HOME") ?? environment.home + "/.copilot"
    }

    func roots(in environment: SourceEnvironment) -> [String] {
        let home = Self.home(in: environment)
        return [home + "/session-store.db", home + "/session-state"]
    }

    func isWanted(_ name: String) -> Bool { name == "events.jsonl" }

    func reader(of file: TokenFile) -> TokenReader? {
        guard file.name == "events.jsonl" else { return .opened(CopilotStore()) }
        guard let session = file.components.dropLast().last else { return nil }
        return .lines(CopilotLog(session: String(session)))
    }

    /// The id of all records of a session.
    static func id(ofSession session: String) -> UInt64 { ContentHash.of("copilot", session) }
}

/// GitHub Copilot's command line. What its plan allows is not on the disk.
struct CopilotSource: TokenRecording {
    let providerID = "copilot"
    let providerName = "Copilot"
    let toolName = "Copilot CLI"
    let variables = ["COPILOT_HOME"]
    let tokenLogs: [any TokenLog] = [CopilotTokens()]
}
