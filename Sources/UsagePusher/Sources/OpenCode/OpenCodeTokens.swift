import LocalFiles

/// The tokens in the databases of OpenCode, and in the files that came before them.
///
/// docs/log-shapes.md has the shapes.
struct OpenCodeTokens: TokenLog {
    let source = "opencode"

    private static let entryLimit = 1_024

    func roots(in environment: SourceEnvironment) -> [String] {
        databases(in: environment) + [directory(in: environment) + "/storage/message"]
    }

    /// The main database, present or not, those of other channels, and the one that the environment names.
    func databases(in environment: SourceEnvironment) -> [String] {
        let directory = directory(in: environment)
        let entries = try? LocalDirectory(directory).entries(limit: Self.entryLimit).entries
        let channels = (entries ?? []).map(\.name).filter {
            $0.hasPrefix("opencode-") && $0.hasSuffix(".db")
        }
        var paths = (["opencode.db"] + channels.sorted()).map { directory + "/" + $0 }
        if let named = environment.variables["OPENCODE_DB"], !named.isEmpty, named != ":memory:",
            let path = environment.absolutePath(named)
                ?? environment.absolutePath(directory + "/" + named),
            !paths.contains(path)
        {
            paths.append(path)
        }
        return paths
    }

    private func directory(in environment: SourceEnvironment) -> String {
        (environment.absolutePath(variable: "XDG_DATA_HOME") ?? environment.home + "/.local/share")
            + "/opencode"
    }

    func isWanted(_ name: String) -> Bool { name.hasSuffix(".json") }

    func reader(of file: TokenFile) -> TokenReader? {
        guard file.name.hasSuffix(".json") else { return .opened(OpenCodeDatabase(source: source)) }
        return .document { [source] bytes, sink in
            let message = OpenCodeMessage(bytes)
            let directory = file.components.dropLast().last.map(String.init)
            guard message.isCounted else { return }
            guard let record = message.record(source: source) else { return sink.leaveOut() }
            sink.add(
                record,
                session: sink.session(
                    message.session ?? directory ?? "unknown", project: message.project),
                model: sink.model(message.model))
        }
    }
}
