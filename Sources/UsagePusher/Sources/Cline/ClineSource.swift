/// Cline, in the editors of the VS Code family and on the command line.
public struct ClineSource: UsageSource, TokenRecording {
    public let providerID = "cline"
    public let providerName = "Cline"

    public init() {}

    var tokenLogs: [any TokenLog] { [ClineTokens()] }
}

/// Roo Code, which began as Cline's copy.
public struct RooCodeSource: UsageSource, TokenRecording {
    public let providerID = "roocode"
    public let providerName = "Roo Code"

    public init() {}

    var tokenLogs: [any TokenLog] { [RooCodeTokens()] }
}

/// Kilo, which began as Roo Code's copy and is OpenCode's since version 7.
public struct KiloSource: UsageSource, TokenRecording {
    public let providerID = "kilo"
    public let providerName = "Kilo"

    public init() {}

    var tokenLogs: [any TokenLog] { [OpenCodeTokens.kilo, RooCodeTokens.kilo] }
}
