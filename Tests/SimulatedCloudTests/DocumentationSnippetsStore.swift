import Foundation
import KVStore
import KVStoreTesting
import StoreTestSupport
import Testing

@Suite("Snippets: a store and its values", .timeLimit(.minutes(5)))
struct StoreSnippets {
    private let cloud = SimulatedCloud(seed: 1)
    private let phone: CloudDevice
    private var store: UbiquitousKeyValueStore { phone.store }
    private let print = PrintedLines()

    init() throws { phone = try cloud.device("phone") }

    /// An account without other devices.
    struct Nobody: SyncTransport {
        let epoch = EpochID(rawValue: 1)

        func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
            guard request.changes.isEmpty else { throw .unreachable("nobody keeps them") }
            let end = SyncCursor(epoch: epoch, sequence: 0)
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            return SyncResponse(cursor: end, serverTime: now, isInitial: request.since == nil, lineage: [end])
        }

        func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
            AsyncThrowingStream { $0.yield(.opened) }
        }
    }

    @Test("a transport downloads, and says why it takes no change")
    func transport() async throws {
        try await TemporaryDirectory.use { directory in
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: directory, transport: Nobody()))
            defer { store.close() }
            #expect(try await store.synchronizeNow() == SyncReport())
            #expect(store.status.initialSyncCompleted)
            store.set("dark", forKey: "theme")
            let error = await #expect(throws: StoreError.self) { try await store.synchronizeNow() }
            #expect(error?.code == .unreachable && error?.reason.contains("nobody keeps them") == true)
        }
    }

    @Test("a store is opened with a configuration, observed and read")
    func opening() async throws {
        try await TemporaryDirectory.use { directory in
            let transport = Nobody()
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: directory, transport: transport))
            let observer = Task { for await change in store.changes { print(change.keys) } }
            store.set("dark", forKey: "theme")
            print(store.string(forKey: "theme") ?? "light")
            store.close()
            await observer.value
            #expect(print.lines == ["dark"])
        }
        try TemporaryDirectory.use { directory in
            var configuration = StoreConfiguration(directory: directory, storeName: "notes", isLive: false)
            configuration.onDroppedWrite = { error in print(error) }
            let store = try UbiquitousKeyValueStore(configuration: configuration)
            defer { store.close() }
            store.set(Data(count: 2_000_000), forKey: "picture")
            #expect(print.lines.count == 2 && print.lines[1].contains("picture"))
        }
        try TemporaryDirectory.use { directory in
            let limits = StoreLimits(totalByteCount: 65_536, keyProfile: .classic)
            let configuration = StoreConfiguration(directory: directory, limits: limits)
            let store = try UbiquitousKeyValueStore(configuration: configuration)
            defer { store.close() }
            #expect(throws: StoreError.self) { try store.write(.data(Data(count: 65_537)), forKey: "picture") }
            #expect(throws: StoreError.self) {
                try store.write(.bool(true), forKey: String(repeating: "k", count: 65))
            }
        }
        let directory = StoreDirectories.replica(account: nil, storeName: "notes")
        #expect(directory.hasSuffix("/replicas/local/notes"))
    }

    @Test("values are written together, encoded and read")
    func values() throws {
        store.set("sketch", forKey: "draft")
        try store.write(["title": .string("Notes"), "draft": nil])
        #expect(store.keys == ["title"])
        try store.write(["tags": .array([.string("a"), .string("b")]), "count": .integer(2)])
        if case .array(let tags)? = store.propertyList(forKey: "tags") { print(tags.count) }
        #expect(print.lines == ["2"])
        struct Window: Codable, Equatable {
            var width: Int
            var height: Int
        }
        try store.encode(Window(width: 800, height: 600), forKey: "window")
        let window = try store.decode(Window.self, forKey: "window")
        #expect(window == Window(width: 800, height: 600))
    }

    @Test("a record has the size, time and writer of a value")
    func records() throws {
        store.set("dark", forKey: "theme")
        if let record = store.record(forKey: "theme") {
            print(record.content.byteCount, record.stamp.milliseconds, record.stamp.replica)
        }
        let isMine = store.record(forKey: "theme")?.stamp.replica == store.status.replica
        #expect(isMine)
        #expect(print.lines.count == 1 && print.lines[0].hasSuffix(" \(store.status.replica)"))
        let key: StoreKey = "theme"
        print(KeyProfile.classic.length(of: key) <= KeyProfile.classic.limit)
        #expect(print.lines.last == "true")
    }

    @Test("a view of the settings takes either store")
    func either() {
        final class Settings {
            let store: any KeyValueStoring
            init(store: any KeyValueStoring) { self.store = store }
            var theme: String { store.string(forKey: "theme") ?? "light" }
        }
        let fake = FakeKeyValueStore()
        for store: any KeyValueStoring in [store, fake] {
            #expect(Settings(store: store).theme == "light")
            store.set("dark", forKey: "theme")
            #expect(Settings(store: store).theme == "dark")
        }
    }

    @Test("a store says what it has sent, and what it has used")
    func status() async throws {
        let report = try await store.synchronizeNow()
        if report.pendingKeyCount > 0 { print(report.refusal ?? "the daemon has no room") }
        #expect(print.lines.isEmpty)
        try store.write(.string("dark"), forKey: "theme")
        let isAccepted = try await store.sendNow(within: .seconds(10)).pendingKeyCount == 0
        #expect(isAccepted)
        phone.isOffline = true
        store.set("light", forKey: "theme")
        await cloud.advance(by: .seconds(60))
        if case .offline(let reason) = store.status.connection { print(reason) }
        print("\(store.status.usedByteCount) of \(store.status.limits.totalByteCount) bytes")
        #expect(print.lines == ["phone is offline", "5 of 1048576 bytes"])
    }

    @Test("a change by another device names its keys")
    func changes() async throws {
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let (store, print) = (store, print)
        let reader = Task {
            for await change in store.changes where change.reason == .serverChange {
                print(change.keys.sorted())
            }
        }
        // The stream starts when the task does.
        var count: Int64 = 0
        while print.lines.isEmpty {
            count += 1
            mac.store.set(count, forKey: "count")
            try await cloud.settle()
            await Task.yield()
        }
        store.close()
        await reader.value
        #expect(Set(print.lines) == [#"["count"]"#])
    }

    @Test("errors say what does not fit and what is no property list")
    func errors() throws {
        let store = try cloud.device("small", .with { $0.limits.totalByteCount = 3 }).store
        do throws(StoreError) {
            try store.write(.string("dark"), forKey: "theme")
        } catch {
            print(error.code == .quotaExceeded ? "too much is stored" : error.description)
        }
        do throws(PropertyListError) {
            print(try PropertyListValue(encoded: Data("{}".utf8)))
        } catch {
            print(error)  // invalid binary property list: …
        }
        #expect(print.lines[0] == "too much is stored")
        #expect(print.lines[1].hasPrefix("invalid binary property list: "))
    }
}
