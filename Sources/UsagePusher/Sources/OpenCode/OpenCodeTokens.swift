import LocalFiles
import SQLiteReading

/// The tokens in the databases of OpenCode, and of Kilo as its fork, and in the files that came before them.
///
/// docs/log-shapes.md has the shapes.
struct OpenCodeTokens: TokenLog {
    let source: String
    let version = 4
    /// A variable of the environment, which may name another database.
    private let variable: String

    static let kilo = OpenCodeTokens(source: "kilo", variable: "KILO_DB")
    private static let entryLimit = 1_024

    init(source: String = "opencode", variable: String = "OPENCODE_DB") {
        self.source = source
        self.variable = variable
    }

    /// With the directory in place of its databases, since another channel may add one.
    func roots(in environment: SourceEnvironment) -> [String] {
        [directory(in: environment), messages(in: environment)] + [named(in: environment)].compactMap { $0 }
    }

    func places(in environment: SourceEnvironment) -> [String] {
        databases(in: environment) + [messages(in: environment)]
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        watchedDatabases(in: environment) + [WatchedPath(messages(in: environment), isRecursive: true)]
    }

    /// The directory that the databases are in, and the one that the environment names.
    func watchedDatabases(in environment: SourceEnvironment) -> [WatchedPath] {
        [WatchedPath(directory(in: environment))]
            + SQLiteFiles.watchedPaths(of: [named(in: environment)].compactMap { $0 })
    }

    /// The main database, present or not, those of other channels, and the one that the environment names.
    func databases(in environment: SourceEnvironment) -> [String] {
        let directory = directory(in: environment)
        // What keeps it from being listed keeps the main database from being opened, which says so.
        let entries = try? LocalDirectory(directory).entries(limit: Self.entryLimit).entries
        let channels = (entries ?? []).map(\.name).filter(isChannel)
        var paths = ([source + ".db"] + channels.sorted()).map { directory + "/" + $0 }
        if let named = named(in: environment), !paths.contains(named) { paths.append(named) }
        return paths
    }

    private func directory(in environment: SourceEnvironment) -> String {
        environment.dataHome + "/" + source
    }

    private func messages(in environment: SourceEnvironment) -> String {
        directory(in: environment) + "/storage/message"
    }

    private func named(in environment: SourceEnvironment) -> String? {
        guard let name = environment.variables[variable], !name.isEmpty, name != ":memory:" else { return nil }
        return environment.absolutePath(name) ?? environment.absolutePath(directory(in: environment) + "/" + name)
    }

    private func isChannel(_ name: String) -> Bool {
        name.hasPrefix("opencode-") && name.hasSuffix(".db")
    }

    private func isMessage(_ name: String) -> Bool {
        name.hasPrefix("msg_") && name.hasSuffix(".json")
    }

    func isWanted(_ name: String) -> Bool {
        isMessage(name) || isChannel(name) || name == source + ".db"
    }

    /// Messages are in directories for each session; nothing else that is beside the databases.
    func isEntered(_ name: String) -> Bool { name.hasPrefix("ses_") }

    func reader(of file: TokenFile) -> TokenReader? {
        guard isMessage(file.name) else { return .opened(OpenCodeDatabase(source: source)) }
        // Beside the databases there are none.
        guard file.components.count > 1 else { return nil }
        return .document { [source] bytes, sink in
            let message = OpenCodeMessage(bytes)
            let directory = file.components.dropLast().last.map(String.init)
            guard message.isCounted else { return }
            guard var record = message.record(source: source) else { return sink.leaveOut() }
            // Files were copied into the database once, and what changed later is there only
            // [anomalyco/opencode, packages/opencode/src/storage/json-migration.ts].
            record.role = .sidechain
            sink.add(
                record,
                session: sink.session(message.session ?? directory ?? "unknown", project: message.project),
                model: sink.model(message.model))
        }
    }
}
