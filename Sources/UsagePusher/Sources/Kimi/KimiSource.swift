/// Kimi: the tokens of its command line tools, the older Kimi CLI and Kimi Code. They keep neither limits nor an
/// account outside their credentials.
struct KimiSource: TokenRecording {
    let providerID = "kimi"
    let providerName = "Kimi"
    let variables = ["KIMI_CODE_HOME", "KIMI_SHARE_DIR"]
    let tokenLogs: [any TokenLog] = [KimiTokens()]
}
