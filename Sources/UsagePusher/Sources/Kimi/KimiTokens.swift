import Essentials

/// The tokens in the sessions of Kimi CLI and Kimi Code.
struct KimiTokens: TokenLog {
    let source = "kimi"
    let version = 3

    func roots(in environment: SourceEnvironment) -> [String] {
        let older = environment.absolutePath(variable: "KIMI_SHARE_DIR") ?? environment.home + "/.kimi"
        let newer = environment.absolutePath(variable: "KIMI_CODE_HOME") ?? environment.home + "/.kimi-code"
        let desktop =
            environment.applicationSupport + "/kimi-desktop/daimon-share/daimon"
            + "/runtime/kimi-code/home"
        return [older + "/sessions", older + "/imported_sessions"] + [newer, desktop].map { $0 + "/sessions" }
    }

    func isWanted(_ name: String) -> Bool { name == "wire.jsonl" }

    /// For Kimi Code "<project>/<session>/agents/<agent>/wire.jsonl"; for Kimi CLI "<project>/<session>/wire.jsonl",
    /// and "<session>/wire.jsonl" of imported ones. Kimi CLI's subagents also have files, but their steps are in the
    /// session's.
    func reader(of file: TokenFile) -> TokenReader? {
        let parts = file.components.map(String.init)
        let home = String(file.root.prefix(upTo: file.root.lastIndex(of: "/") ?? file.root.endIndex))
        if parts.count == 5, parts[2] == "agents" {
            let state = SideFile("\(file.root)/\(parts[0])/\(parts[1])/state.json").fields
            return .lines(
                KimiCodeReader(
                    session: parts[1], agent: parts[3], project: state?.text("workDir") ?? parts[0],
                    origin: state?.text("forkedFrom"), models: KimiConfiguration(home: home).models))
        }
        guard parts.count == 2 || parts.count == 3, !parts.contains("subagents") else { return nil }
        return .lines(
            KimiCLIReader(
                directory: String(file.path.dropLast("/wire.jsonl".count)), session: parts[parts.count - 2],
                project: parts.count == 3 ? parts[0] : nil, model: KimiConfiguration(home: home).model))
    }
}

/// Which models a home of the tools is set to use; only names are read.
struct KimiConfiguration {
    /// The models' own names by the names that the user gave them.
    private(set) var models: [String: String] = [:]
    private var chosen: String?

    /// The one that is chosen now: the logs of Kimi CLI name none.
    var model: String { chosen.map { models[$0] ?? $0 } ?? "kimi-for-coding" }

    private static let modelLimit = 64

    init(home: String) {
        if let text = SideFile(home + "/config.toml").text {
            read(text)
        } else if let fields = SideFile(home + "/config.json").fields {
            chosen = fields.text("model") ?? fields.text("default_model")
            for name in fields.fields("models")?.names.prefix(Self.modelLimit) ?? [] {
                models[name] = fields.fields("models")?.fields(name)?.text("model")
            }
        }
    }

    /// What is needed of TOML: `default_model`, and `model` in the tables `[models.NAME]`.
    private mutating func read(_ text: String) {
        var table: String?
        for line in text.split(whereSeparator: \.isNewline) {
            if let match = line.firstMatch(of: /^\s*\[\s*([^\[\]]*?)\s*\]/) {
                table = String(match.1)
            } else if let match = line.firstMatch(
                of: /^\s*(default_model|model)\s*=\s*["']([^"']*)["']/)
            {
                if match.1 == "default_model", table == nil {
                    chosen = String(match.2)
                } else if match.1 == "model", let table, table.hasPrefix("models."), models.count < Self.modelLimit {
                    let name = table.dropFirst("models.".count)
                    models[name.trimmed { $0 == "\"" || $0 == "'" }] = String(match.2)
                }
            }
        }
    }
}
