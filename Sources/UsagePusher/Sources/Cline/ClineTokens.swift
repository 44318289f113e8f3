import LocalFiles

/// The tokens in Cline's tasks (extension up to 3) and sessions (command line, extension from 4 on).
struct ClineTokens: TokenLog {
    let source = "cline"
    let version = 2

    func roots(in environment: SourceEnvironment) -> [String] {
        let home = environment.absolutePath(variable: "CLINE_DIR") ?? environment.home + "/.cline"
        let data = environment.absolutePath(variable: "CLINE_DATA_DIR") ?? home + "/data"
        let sessions = environment.absolutePath(variable: "CLINE_SESSION_DATA_DIR") ?? data + "/sessions"
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

/// The tokens in the tasks of Roo Code, and of Kilo up to version 5, which was its copy.
struct RooCodeTokens: TokenLog {
    let source: String
    let version = 2
    private let extensionID: String
    /// In the home directory, besides what is in the editors' storage.
    private let directories: [String]

    static let kilo = RooCodeTokens(
        source: "kilo", extensionID: "kilocode.kilo-code", directories: [".kilocode/cli/global"])

    init(source: String = "roocode", extensionID: String = "rooveterinaryinc.roo-cline", directories: [String] = []) {
        self.source = source
        self.extensionID = extensionID
        self.directories = directories
    }

    func roots(in environment: SourceEnvironment) -> [String] {
        let storage = EditorStorage.directories(of: extensionID, in: environment)
        return (storage + directories.map { environment.home + "/" + $0 }).map { $0 + "/tasks" }
    }

    func isWanted(_ name: String) -> Bool { name == ClineTask.fileName }

    func isEntered(_ name: String) -> Bool { name != ClineTask.checkpoints }

    func reader(of file: TokenFile) -> TokenReader? {
        .document { [source] in ClineTask(prompt: .byProtocol, source: source).read($0, to: &$1) }
    }
}
