import Essentials
import LocalFiles
import UsagePusher
import UsageState

/// What survives a restart: what is known of the windows, and the last alerts with what became of them.
struct AlertJournal: Sendable, Codable {
    struct Entry: Sendable, Codable {
        var at: Date
        var title: String
        var message: String
        var outcomes: [AlertTargets.Outcome]
    }

    /// Names the account and the store that this is about.
    var store: String
    var watch: AlertWatch
    /// Oldest first.
    private(set) var entries: [Entry] = []

    private static let entryLimit = 50

    init(store: String, deviceID: String) {
        self.store = store
        watch = AlertWatch(deviceID: deviceID)
    }

    mutating func add(_ entry: Entry) { entries = (entries + [entry]).suffix(Self.entryLimit) }
}

/// What became of the last `usage-push alerts test`: `alert-test.json` in the state directory, mode 0600. The journal
/// belongs to the process that warns.
struct AlertTestFile: Sendable {
    private let file: LocalFile

    init(_ environment: SourceEnvironment) { file = LocalFile(environment.stateDirectory + "/alert-test.json") }

    /// Nil without a file, and for one that cannot be used.
    func read() throws(FileError) -> AlertJournal.Entry? {
        guard let content = try file.read(byteLimit: 65_536) else { return nil }
        return try? JSONDecoder().decode(AlertJournal.Entry.self, from: content.data)  // As described.
    }

    func write(_ entry: AlertJournal.Entry) throws {
        try file.directory.create()
        try file.replace(with: JSONEncoder().encode(entry), durability: .cached)
    }
}

/// `alerts.json` in the state directory, mode 0600, and the lock of the one process that uses it.
struct AlertJournalFile: Sendable {
    private let file: LocalFile
    private static let byteLimit = 8_388_608

    init(_ environment: SourceEnvironment) { file = LocalFile(environment.stateDirectory + "/alerts.json") }

    var path: String { file.path }

    /// Nil without a file, and for one that cannot be used: then all begins anew.
    func read() throws(FileError) -> AlertJournal? {
        guard let content = try file.read(byteLimit: Self.byteLimit) else { return nil }
        return try? JSONDecoder().decode(AlertJournal.self, from: content.data)  // As described.
    }

    func write(_ journal: AlertJournal) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(journal) else {  // There is one reason.
            throw FileError(operation: "write", path: path, cause: .invalid("a number is not finite"))
        }
        try file.directory.create()
        try file.replace(with: data, durability: .cached)
    }

    /// Nil while another process has it.
    func lock() throws(FileError) -> FileLock? {
        try file.directory.create()
        let lock = try FileLock(path + ".lock")
        return try lock.lockIfAvailable() ? lock : nil
    }
}
