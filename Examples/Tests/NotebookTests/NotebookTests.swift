import Foundation
import KVStore
import KVStoreTesting
import Notebook
import Testing

@Suite("Notebook and quota")
struct NotebookTests {
    private let cloud = SimulatedCloud(seed: 1)
    private let phone: CloudDevice
    private let mac: CloudDevice

    init() throws {
        let small = CloudDevice.Options.with { $0.limits = StoreLimits(totalByteCount: 10_000) }
        phone = try cloud.device("phone", small)
        mac = try cloud.device("mac", small)
    }

    private func text(_ count: Int) -> String { String(repeating: "n", count: count) }

    @Test("a setter over the quota keeps the old value and posts reason 2")
    func silentLoss() async throws {
        phone.store.set(text(100), forKey: "note.a")
        phone.store.set(text(20_000), forKey: "note.a")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "note.a") == text(100))
        #expect(phone.notifications.map(\.reason) == [.quotaViolationChange])
        #expect(phone.notifications.map(\.keys) == [["note.a"]])
    }

    @Test("a note that does not fit evicts previews, the largest first")
    func makesRoom() async throws {
        let notebook = Notebook(store: phone.store)
        notebook.setPreview(Data(count: 6_000), of: "big")
        notebook.setPreview(Data(count: 1_000), of: "small")
        #expect(try notebook.save(text(5_000), as: "a") == .everywhere)
        try await cloud.settle()
        #expect(mac.store.keys == ["note.a", "preview.small"])
    }

    @Test("a note that does not fit at all stays on the device and syncs later")
    func staysHere() async throws {
        let notebook = Notebook(store: phone.store)
        #expect(try notebook.save(text(6_000), as: "a") == .everywhere)
        #expect(try notebook.save(text(6_000), as: "b") == .hereOnly)
        #expect(notebook.text(of: "b") == text(6_000))
        try await cloud.settle()
        #expect(mac.store.keys == ["note.a"])

        mac.store.removeObject(forKey: "note.a")
        try await cloud.settle()
        #expect(phone.notifications.last?.keys == ["note.a"])
        try notebook.retry()
        try await cloud.settle()
        #expect(notebook.unsynced.isEmpty)
        #expect(mac.store.keys == ["note.b"])
    }

    @Test("a save throws errors other than the quota's")
    func otherErrors() throws {
        phone.store.close()
        let error = #expect(throws: StoreError.self) {
            try Notebook(store: phone.store).save("text", as: "a")
        }
        #expect(error?.code == .closed)
    }
}
