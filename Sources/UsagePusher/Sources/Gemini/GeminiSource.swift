import Essentials
import LocalFiles

/// Gemini CLI: the tokens of its chats, and who is logged in. It keeps no limits.
struct GeminiSource: TokenRecording {
    let providerID = "gemini"
    let providerName = "Gemini"
    let toolName = "Gemini CLI"
    let variables = ["GEMINI_CLI_HOME"]
    let tokenLogs: [any TokenLog] = [GeminiTokens()]

    /// In `$GEMINI_CLI_HOME`, or the home directory.
    static func directory(in environment: SourceEnvironment) -> String {
        (environment.absolutePath(variable: "GEMINI_CLI_HOME") ?? environment.home) + "/.gemini"
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let directory = Self.directory(in: environment)
        return watchedLogs(in: environment)
            + ["/settings.json", "/google_accounts.json"].map { WatchedPath(directory + $0) }
    }

    func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        presence(in: environment, at: now) { () throws(FileError) in
            try account(in: environment, at: now)
        }
    }

    /// The address is that of the login with Google; with another kind of login nobody is named.
    private func account(in environment: SourceEnvironment, at now: Date) throws(FileError) -> TokenAccount? {
        let directory = Self.directory(in: environment)
        guard let settings = try SideFile(directory + "/settings.json").read(),
            let fields = JSONFields(settings.data),
            let login = fields.fields("security")?.fields("auth")?.text("selectedType")
                ?? fields.text("selectedAuthType")
        else { return nil }
        if login == "oauth-personal" {
            guard let accounts = try SideFile(directory + "/google_accounts.json").read(),
                let address = JSONFields(accounts.data)?.text("active")
            else { return nil }
            return TokenAccount(email: address, seenAt: min(accounts.status.modificationDate, now))
        }
        let names = [
            "gemini-api-key": "API key", "vertex-ai": "Vertex AI", "cloud-shell": "Cloud Shell",
            "compute-default-credentials": "Default credentials", "gateway": "Gateway",
        ]
        return names[login].map {
            TokenAccount(plan: $0, seenAt: min(settings.status.modificationDate, now))
        }
    }
}
