/// Cline, in the editors of the VS Code family and on the command line.
struct ClineSource: UsageSource, TokenRecording {
    let providerID = "cline"
    let providerName = "Cline"
    let variables = ["CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"]

    var tokenLogs: [any TokenLog] { [ClineTokens()] }
}

/// Roo Code, which began as Cline's copy.
struct RooCodeSource: UsageSource, TokenRecording {
    let providerID = "roocode"
    let providerName = "Roo Code"

    var tokenLogs: [any TokenLog] { [RooCodeTokens()] }
}

/// Kilo, which began as Roo Code's copy and is OpenCode's since version 7.
struct KiloSource: UsageSource, TokenRecording {
    let providerID = "kilo"
    let providerName = "Kilo"
    let variables = ["KILO_DB"]

    var tokenLogs: [any TokenLog] { [OpenCodeTokens.kilo, RooCodeTokens.kilo] }
}
