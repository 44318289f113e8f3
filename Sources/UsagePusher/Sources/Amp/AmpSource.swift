/// Amp: the tokens of its threads. It keeps neither limits nor an account outside its secrets.
struct AmpSource: TokenRecording {
    let providerID = "amp"
    let providerName = "Amp"
    let tokenLogs: [any TokenLog] = [AmpTokens()]
}
