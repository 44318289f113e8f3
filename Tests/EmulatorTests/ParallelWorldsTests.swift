import Foundation
import KVStore
import KVStoreHTTP
import KVStoreEmulator
import KVStoreServer
import Testing

@Suite("Stores of apps with an emulator", .timeLimit(.minutes(10)))
struct ParallelWorldsTests {
    /// A store of a device as an app opens it.
    private func open(
        _ emulator: RunningEmulator, _ world: String, _ device: String, _ directory: String
    ) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore.open(
            isLive: false,
            environment: StoreEnvironment(
                home: directory, variables: emulator.environment(world: world, device: device)))
    }

    @Test("a hundred worlds converge in parallel in one emulator and see nothing of each other")
    func worlds() async throws {
        let directory = NSTemporaryDirectory() + "emulator-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await Emulator.run { emulator in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let world = "world-\(index)"
                        let phone = try open(emulator, world, "phone", directory)
                        let desk = try open(emulator, world, "desk", directory)
                        defer {
                            phone.close()
                            desk.close()
                        }
                        #expect(phone.configuration.directory != desk.configuration.directory)
                        phone.set(world, forKey: "name")
                        desk.set(index, forKey: "number")
                        for store in [phone, desk, phone] { _ = try await store.synchronizeNow() }
                        for store in [phone, desk] {
                            #expect(store.keys == ["name", "number"])
                            #expect(store.string(forKey: "name") == world)
                            #expect(store.longLong(forKey: "number") == Int64(index))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a value that one device sets reaches another one live")
    func live() async throws {
        let directory = NSTemporaryDirectory() + "emulator-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await Emulator.run { emulator in
            let phone = try open(emulator, "w", "phone", directory)
            let desk = try UbiquitousKeyValueStore.open(
                environment: StoreEnvironment(
                    home: directory, variables: emulator.environment(world: "w", device: "desk")))
            defer {
                phone.close()
                desk.close()
            }
            let changes = desk.changes
            _ = try await desk.synchronizeNow()
            phone.set("green", forKey: "color")
            _ = try await phone.synchronizeNow()
            for await _ in changes where desk.string(forKey: "color") == "green" { break }
        }
    }

    @Test("the result and the error of the body are those of run, and the port is free afterwards")
    func results() async throws {
        struct Failure: Error {}
        let url = try await Emulator.run { $0.url }
        #expect(url.hasPrefix("http://127.0.0.1:"))
        await #expect(throws: Failure.self) {
            try await Emulator.run { _ in throw Failure() }
        }
        let port = try #require(Int(url.split(separator: ":").last ?? ""))
        let emulator = try Emulator(address: ListenAddress(host: "127.0.0.1", port: port))
        async let serving: Void = emulator.run()
        #expect(try await emulator.running.url == url)
        await emulator.stop()
        try await serving
    }
}
