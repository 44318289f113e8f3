/// Qwen Code: the tokens of its requests. It keeps neither limits nor an account.
struct QwenSource: TokenRecording {
    let providerID = "qwen"
    let providerName = "Qwen Code"
    let tokenLogs: [any TokenLog] = [QwenTokens()]

    /// Where it writes, or has written before it was told another directory.
    static func directories(in environment: SourceEnvironment) -> [String] {
        let home = environment.absolutePath(variable: "QWEN_HOME") ?? environment.home + "/.qwen"
        let setting = SideFile(home + "/settings.json").fields?.fields("advanced")?
            .text("runtimeOutputDir")
        let runtime =
            environment.absolutePath(variable: "QWEN_RUNTIME_DIR")
            ?? setting.flatMap { environment.absolutePath($0) }
        return [runtime, home].compactMap { $0 }
    }
}
