import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what is kept, what collects it, and whether it is shared.")

    @Flag(help: "Print a JSON object.")
    var json = false

    private struct Document: Encodable {
        struct Sharing: Encodable {
            var isOn: Bool
            /// Whether this machine has joined another account since sharing was turned on.
            var isOtherAccount = false
            var pendingItems = 0
            var lastSync: Date?
        }

        var items: Int
        var pinned: Int
        var stubs: Int
        var bytes: Int
        var byteLimit: Int
        var historySize: Int
        var isCollecting: Bool
        /// How copies are collected in this session, and what that cannot do.
        var backend: String
        var limits: [String]
        /// Why nothing is collected although a collector runs.
        var problem: String?
        var isPaused: Bool
        var skipped: [String: Int]
        /// Items that went for others: by `size`, by `bytes`, and `elsewhere`.
        var dropped: [String: Int]
        var droppedText: [String]
        var invalidRules: [String]
        var sharing: Sharing
    }

    func run() throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        let document = try Self.document(opened)
        if json { return try Console.printJSON(document, isIndented: true) }
        for line in Self.lines(document) { try Console.print(VisibleText.escape(line)) }
    }

    private static func document(_ opened: OpenedHistory) throws -> Document {
        let (history, state) = (opened.list.history, opened.store.state)
        let environment = opened.store.files.environment
        var sharing = Document.Sharing(isOn: state.sharedWith != nil)
        if let directory = state.sharedWith {
            sharing.isOtherAccount = try environment.accountDirectory(environment.credentials()) != directory
            sharing.pendingItems = opened.store.entries().values.count {
                if case .item(_, isShared: true) = $0 { false } else { true }
            }
            let shared = try UbiquitousKeyValueStore.openReplica(
                storeNamed: SharedHistory.storeName, environment: environment)
            defer { shared?.close() }
            if let status = shared?.status, !sharing.isOtherAccount {
                sharing.pendingItems += status.pendingKeyCount
                sharing.lastSync = status.lastSyncMilliseconds.map {
                    Date(timeIntervalSince1970: Double($0) / 1_000)
                }
            }
        }
        let backend = opened.device.backend.flatMap(CollectCommand.Backend.init)?.requested ?? .detect()
        let isCollecting = Collector.isRunning(opened.store.files)
        return Document(
            items: history.items.count, pinned: history.items.values.count(where: \.isPinned),
            stubs: history.items.values.count { $0.contents == nil }, bytes: history.byteCount,
            byteLimit: history.limits.byteLimit, historySize: opened.settings.size,
            isCollecting: isCollecting, backend: backend.name, limits: backend.limits,
            problem: isCollecting ? state.displayProblem : nil, isPaused: state.pause.isPaused,
            skipped: state.skipped, dropped: state.dropped ?? [:],
            droppedText: state.droppedText(history.limits),
            invalidRules: IgnoreRules(opened.settings.rules).invalid.map {
                "rule \($0.index + 1): \($0.error.reason)"
            }, sharing: sharing)
    }

    private static func lines(_ document: Document) -> [String] {
        var lines = [
            "\(document.items.items), \(document.pinned) pinned, of \(document.historySize); "
                + "\(ItemLabel.byteCount(UInt64(document.bytes))) of "
                + ItemLabel.byteCount(UInt64(document.byteLimit))
        ]
        if document.stubs > 0 {
            lines.append("\(document.stubs) are too large for the history, and on one machine only")
        }
        lines.append(
            document.isPaused
                ? "paused: copies are not kept; \(ProgramName.text) resume"
                : document.problem.map { "a collector runs, without a display: \($0)" }
                    ?? (document.isCollecting
                        ? "copies are collected"
                            + (document.backend == "none" ? "" : " (\(document.backend))")
                        : "no collector runs; start it with \(ProgramName.text) collect"))
        lines += document.limits.map { "  " + $0 }
        let skipped = document.skipped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if !skipped.isEmpty {
            lines.append("skipped \(skipped.reduce(0) { $0 + $1.value }):")
            lines += skipped.map { "  \($0.value) × \($0.key)" }
        }
        lines += document.droppedText
        lines += document.invalidRules.map { "not used, \($0)" }
        let sharing = document.sharing
        lines.append(
            !sharing.isOn
                ? "not shared with other machines; \(ProgramName.text) sync on"
                : sharing.isOtherAccount
                    ? "shared with another account than the joined one; \(ProgramName.text) sync on"
                    : sharing.pendingItems > 0
                        ? "shared; \(sharing.pendingItems) changes are not sent yet"
                        : "shared"
                            + (sharing.lastSync.map {
                                ", synced " + DurationFormatter.age(of: $0, at: Date())
                            } ?? ""))
        return lines
    }
}
