/// OpenCode, whose files state tokens and costs; see `OpenCodeGoSource` for the limits of one of its providers.
struct OpenCodeSource: TokenRecording {
    let providerID = "opencode"
    let providerName = "OpenCode"
    let variables = ["OPENCODE_DB"]
    let tokenLogs: [any TokenLog] = [OpenCodeTokens()]
}
