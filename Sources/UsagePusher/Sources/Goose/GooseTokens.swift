/// The tokens of Goose: in a ledger, a row for each answer, and in older versions only the sums of each session.
///
/// docs/log-shapes.md has the shapes.
struct GooseTokens: TokenLog {
    let source = "goose"

    func roots(in environment: SourceEnvironment) -> [String] {
        let home = environment.home
        let data = environment.absolutePath(variable: "XDG_DATA_HOME") ?? home + "/.local/share"
        let support = home + "/Library/Application Support"
        let own = environment.absolutePath(variable: "GOOSE_PATH_ROOT").map { $0 + "/data" }
        let earlier =
            [home + "/.local/share/Block/goose"]
            + ["/goose", "/Block/goose", "/Block.goose"].map { support + $0 }
        return ([own ?? data + "/goose"] + earlier).map { $0 + "/sessions/sessions.db" }
    }

    func isWanted(_ name: String) -> Bool { false }

    func reader(of file: TokenFile) -> TokenReader? { .opened(GooseDatabase()) }
}

/// Goose.
public struct GooseSource: TokenRecording {
    public let providerID = "goose"
    public let providerName = "Goose"
    let tokenLogs: [any TokenLog] = [GooseTokens()]

    public init() {}
}
