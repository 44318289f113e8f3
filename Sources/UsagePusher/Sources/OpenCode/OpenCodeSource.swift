/// OpenCode, whose files state tokens and costs; see `OpenCodeGoSource` for the limits of one of its providers.
public struct OpenCodeSource: TokenRecording {
    public let providerID = "opencode"
    public let providerName = "OpenCode"
    let tokenLogs: [any TokenLog] = [OpenCodeTokens()]

    public init() {}
}
