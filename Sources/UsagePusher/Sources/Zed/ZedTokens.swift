/// The tokens of the threads of Zed's own agent. Others that run in Zed keep their own logs.
///
/// docs/log-shapes.md has the shapes.
struct ZedTokens: TokenLog {
    let source = "zed"
    let version = 2

    func roots(in environment: SourceEnvironment) -> [String] {
        let data = environment.absolutePath(variable: "FLATPAK_XDG_DATA_HOME") ?? environment.dataHome
        return [data + "/zed", environment.applicationSupport + "/Zed"].map { $0 + "/threads/threads.db" }
    }

    func isWanted(_ name: String) -> Bool { false }

    func reader(of file: TokenFile) -> TokenReader? { .opened(ZedDatabase()) }
}

/// The agent of the editor Zed.
struct ZedSource: TokenRecording {
    let providerID = "zed"
    let providerName = "Zed"
    let variables = ["FLATPAK_XDG_DATA_HOME"]
    let tokenLogs: [any TokenLog] = [ZedTokens()]
}
