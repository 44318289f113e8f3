/// Factory's Droid: the tokens of its sessions. It keeps neither limits nor an account outside its secrets.
struct DroidSource: TokenRecording {
    let providerID = "factory"
    let providerName = "Droid"
    let tokenLogs: [any TokenLog] = [DroidTokens()]
}
