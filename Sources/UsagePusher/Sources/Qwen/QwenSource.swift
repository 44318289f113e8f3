import Essentials
import LocalFiles

/// Qwen Code: the tokens of its requests. It keeps neither limits nor an account.
struct QwenSource: TokenRecording {
    let providerID = "qwen"
    let providerName = "Qwen Code"
    let variables = ["QWEN_HOME", "QWEN_RUNTIME_DIR"]
    let tokenLogs: [any TokenLog] = [QwenTokens()]

    func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        presence(in: environment, at: now) { () throws(FileError) in
            // They may name another directory.
            _ = try SideFile(Self.settings(in: environment)).read()
            return nil
        }
    }

    static func home(in environment: SourceEnvironment) -> String {
        environment.absolutePath(variable: "QWEN_HOME") ?? environment.home + "/.qwen"
    }

    private static func settings(in environment: SourceEnvironment) -> String {
        home(in: environment) + "/settings.json"
    }

    /// Where it writes, or has written before it was told another directory.
    static func directories(in environment: SourceEnvironment) -> [String] {
        let setting = SideFile(settings(in: environment)).fields?.fields("advanced")?.text("runtimeOutputDir")
        let runtime =
            environment.absolutePath(variable: "QWEN_RUNTIME_DIR")
            ?? setting.flatMap { environment.absolutePath($0) }
        return [runtime, home(in: environment)].compactMap { $0 }
    }
}
