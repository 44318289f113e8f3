import LocalFiles

/// The tokens in Cline's tasks (extension up to 3) and sessions (command line, extension from 4 on).
struct ClineTokens: TokenLog {
    let source = "cline"

    func roots(in environment: SourceEnvironment) -> [String] {
        let home =
            environment.absolutePath(variable: "CLINE_DIR") ?? environment.home + "/.cline"
        let data = environment.absolutePath(variable: "CLINE_DATA_DIR") ?? home + "/data"
        let sessions =
            environment.absolutePath(variable: "CLINE_SESSION_DATA_DIR") ?? data + "/sessions"
        let storage = EditorStorage.directories(of: "saoudrizwan.claude-dev", in: environment)
        return (storage + [data]).map { $0 + "/tasks" } + [sessions]
    }

    func isWanted(_ name: String) -> Bool {
        name == ClineTask.fileName || name.hasSuffix(ClineSession.suffix)
    }

    func isEntered(_ name: String) -> Bool { name != ClineTask.checkpoints }

    func reader(of file: TokenFile) -> TokenReader? {
        if file.name == ClineTask.fileName {
            return .document { ClineTask(prompt: .withoutCache, source: source).read($0, to: &$1) }
        }
        return .document { ClineSession.read($0, to: &$1) }
    }
}

/// The tokens in Roo Code's tasks.
struct RooCodeTokens: TokenLog {
    let source = "roocode"

    func roots(in environment: SourceEnvironment) -> [String] {
        EditorStorage.directories(of: "rooveterinaryinc.roo-cline", in: environment).map {
            $0 + "/tasks"
        }
    }

    func isWanted(_ name: String) -> Bool { name == ClineTask.fileName }

    func isEntered(_ name: String) -> Bool { name != ClineTask.checkpoints }

    func reader(of file: TokenFile) -> TokenReader? {
        .document { ClineTask(prompt: .byProtocol, source: source).read($0, to: &$1) }
    }
}

/// The tokens in Kilo's database (from version 7 on) and in the files that it had before.
struct KiloTokens: TokenLog {
    let source = "kilo"
    private static let databaseLimit = 256

    func roots(in environment: SourceEnvironment) -> [String] {
        let data =
            (environment.absolutePath(variable: "XDG_DATA_HOME")
                ?? environment.home + "/.local/share") + "/kilo"
        let storage = EditorStorage.directories(of: "kilocode.kilo-code", in: environment)
        return databases(data, in: environment) + [data + "/storage/message"]
            + (storage + [environment.home + "/.kilocode/cli/global"]).map { $0 + "/tasks" }
    }

    private func databases(_ data: String, in environment: SourceEnvironment) -> [String] {
        let entries = try? LocalDirectory(data).entries(limit: Self.databaseLimit).entries
        let channels = (entries ?? []).map(\.name).filter {
            $0.hasPrefix("opencode-") && $0.hasSuffix(".db")
        }
        var paths = (["kilo.db"] + channels.sorted()).map { data + "/" + $0 }
        if let own = environment.variables["KILO_DB"], !own.isEmpty, own != ":memory:" {
            let path = environment.absolutePath(own) ?? environment.absolutePath(data + "/" + own)
            if let path, !paths.contains(path) { paths.append(path) }
        }
        return paths
    }

    func isWanted(_ name: String) -> Bool {
        name == ClineTask.fileName || name.hasSuffix(".json") && name.hasPrefix("msg_")
    }

    func isEntered(_ name: String) -> Bool { name != ClineTask.checkpoints }

    func reader(of file: TokenFile) -> TokenReader? {
        if file.name == ClineTask.fileName {
            return .document { ClineTask(prompt: .byProtocol, source: source).read($0, to: &$1) }
        }
        if file.path == file.root { return .opened(KiloDatabase()) }
        return .document { KiloMessage.readFile($0, to: &$1) }
    }
}
