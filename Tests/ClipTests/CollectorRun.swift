@testable import clip
import Foundation
import KVStoreHTTP
import LocalFiles
import TestSupport
import Testing

/// A running `clip collect` with a history of its own.
struct CollectorRun {
    let session: ClipboardSession
    let home: TemporaryHome
    let program: RunningProgram
    let store: HistoryStore
    /// The owners of the clipboard so far.
    private let owners = Owners()

    private final class Owners { var all: [SessionProcess] = [] }

    /// - Parameter prepare: called before it starts.
    init(
        _ session: ClipboardSession, prepare: (ClipFiles) throws -> Void = { _ in }
    ) async throws {
        self.session = session
        home = try session.newHome()
        let files = ClipFiles(environment: StoreEnvironment(home: home.path))
        try prepare(files)
        store = try HistoryStore(files, isWatched: true)
        program = try RunningProgram(home, "clip", ["collect"])
        for await line in program.errors {
            if line.hasPrefix("collecting copies") { return }
            Issue.record("\(line)")
        }
        try #require(Bool(false), "the collector has ended")
    }

    func end() async {
        program.send(SIGTERM)
        #expect(await program.status() == 0)
        remove()
    }

    func remove() {
        store.close()
        home.remove()
    }

    func copy(_ contents: KeyValuePairs<String, ClipboardOwner.Content>) async throws {
        owners.all.append(try await ClipboardOwner.start(in: session, contents))
    }

    func endOwner() { owners.all.last?.kill() }

    /// Items from the oldest, once the history satisfies a condition.
    @discardableResult
    func items(until condition: ([ClipItem]) -> Bool) async throws -> [ClipItem] {
        let changes = store.changes
        if condition(present) { return present }
        for await _ in changes where condition(present) { return present }
        return try #require(nil, "the history did not change: \(present)")
    }

    /// Waits until what is counted beside the items satisfies a condition.
    func wait(until condition: (HistoryState) -> Bool) async throws { try await items { _ in condition(store.state) } }

    private var present: [ClipItem] {
        store.entries().values.compactMap(\.item).sorted { $0.lastCopied < $1.lastCopied }
    }

    /// All texts, after one more copy has been kept: what was copied before it has been decided.
    func textsAfterAnotherCopy() async throws -> [String] {
        let last = "last \(UUID())"
        try await copy(["UTF8_STRING": .data(Data(last.utf8))])
        return try await items { $0.contains { $0.text == last } }.compactMap(\.text).filter { $0 != last }
    }
}

/// Whether a file of the home has these bytes.
func isOnDisk(_ text: String, _ home: TemporaryHome) throws -> Bool {
    let files = (FileManager.default.enumerator(atPath: home.path)?.allObjects ?? []).compactMap {
        FileManager.default.contents(atPath: "\(home.path)/\($0)")
    }
    try #require(!files.isEmpty)
    return files.contains { $0.range(of: Data(text.utf8)) != nil }
}

extension ClipItem {
    var text: String? { contents?.text(.text) }
    var copies: UInt32 { counts.values.reduce(0, +) }
}
