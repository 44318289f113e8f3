package import Foundation
package import LocalFiles
package import UsagePusher
package import UsageState

/// What survives a restart: what is known of the windows, and the last alerts with what became of them.
package struct AlertJournal: Sendable, Codable {
    package struct Entry: Sendable, Codable {
        package var at: Date
        package var title: String
        package var message: String
        package var outcomes: [AlertTargets.Outcome]
    }

    /// Names the account and the store that this is about.
    package var store: String
    package var watch: AlertWatch
    /// Oldest first.
    package private(set) var entries: [Entry] = []

    private static let entryLimit = 50

    package init(store: String, deviceID: String) {
        self.store = store
        watch = AlertWatch(deviceID: deviceID)
    }

    mutating func add(_ entry: Entry) { entries = (entries + [entry]).suffix(Self.entryLimit) }
}

/// `alerts.json` in the state directory, mode 0600, and the lock of the one process that uses it.
package struct AlertJournalFile: Sendable {
    private let file: LocalFile
    private static let byteLimit = 8_388_608

    package init(_ environment: SourceEnvironment) {
        file = LocalFile(environment.stateDirectory + "/alerts.json")
    }

    package var path: String { file.path }

    /// Nil without a file, and for one that cannot be used: then all begins anew.
    package func read() throws(FileError) -> AlertJournal? {
        guard let content = try file.read(byteLimit: Self.byteLimit) else { return nil }
        return try? JSONDecoder().decode(AlertJournal.self, from: content.data)
    }

    func write(_ journal: AlertJournal) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(journal) else {
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
