/// The tokens of Goose: in a ledger, a row for each answer, and in older versions only the sums of each session.
///
/// docs/log-shapes.md has the shapes.
struct GooseTokens: TokenLog {
    let source = "goose"
    let version = 2

    func roots(in environment: SourceEnvironment) -> [String] {
        let own = environment.absolutePath(variable: "GOOSE_PATH_ROOT").map { $0 + "/data" }
        let earlier =
            [environment.home + "/.local/share/Block/goose"]
            + ["/goose", "/Block/goose", "/Block.goose"].map { environment.applicationSupport + $0 }
        return ([own ?? environment.dataHome + "/goose"] + earlier).map {
            $0 + "/sessions/sessions.db"
        }
    }

    func isWanted(_ name: String) -> Bool { false }

    func reader(of file: TokenFile) -> TokenReader? { .opened(GooseDatabase()) }
}

/// Goose.
struct GooseSource: TokenRecording {
    let providerID = "goose"
    let providerName = "Goose"
    let variables = ["GOOSE_PATH_ROOT"]
    let tokenLogs: [any TokenLog] = [GooseTokens()]
}
