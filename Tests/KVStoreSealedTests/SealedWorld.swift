// Sealed values among the devices of a simulated cloud. Not here: the commands for keys (KvsTests).

import Foundation
import KVStore
import KVStoreSealed
import KVStoreTesting
import StoreTestSupport
import Testing

/// Devices of one account with a store of notes. Whoever has another store of the same cloud is the daemon's operator.
struct SealedWorld {
    let cloud: SimulatedCloud
    private let directory: TemporaryDirectory

    init(seed: UInt64 = 25) throws {
        cloud = SimulatedCloud(seed: seed)
        directory = try TemporaryDirectory()
    }

    func device(_ name: String, clockError: Duration = .zero) throws -> Device {
        try Device(name, cloud, directory.file(name), clockError)
    }

    /// A store as the daemon's operator sees and changes it.
    func operatorStore(_ name: String = "notes") throws -> UbiquitousKeyValueStore {
        var options = CloudDevice.Options()
        options.storeName = name
        return try cloud.device("operator of \(name)", options).store
    }

    func path(of name: String, _ file: String) -> String { directory.file(name) + "/" + file }

    struct Device {
        let name: String
        let keys: CloudDevice
        let values: CloudDevice
        let account: SealedAccount
        let notes: SealedStore
        private let files: SealingFiles

        init(_ name: String, _ cloud: SimulatedCloud, _ path: String, _ clockError: Duration) throws {
            func options(_ storeName: String) -> CloudDevice.Options {
                var options = CloudDevice.Options()
                options.storeName = storeName
                options.clockError = clockError
                return options
            }
            self.name = name
            keys = try cloud.device("\(name) keys", options(SealedAccount.storeName))
            values = try cloud.device("\(name) notes", options("notes"))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let clock = values
            files = SealingFiles(directory: path) {
                Int64(clock.now.timeIntervalSince1970 * 1_000)
            }
            account = SealedAccount(keys.store, files)
            notes = try SealedStore(values.store, of: account, files)
        }

        /// The same device after a restart of its programs.
        func reopened() throws -> SealedStore {
            try SealedStore(values.store, of: SealedAccount(keys.store, files), files)
        }

        func read(_ key: String) throws -> String? {
            try notes.propertyList(forKey: key).flatMap {
                if case .string(let text) = $0 { text } else { nil }
            }
        }

        func write(_ text: String?, _ key: String) throws {
            try notes.write(text.map { .string($0) }, forKey: key)
        }

        func goOffline(_ isOffline: Bool) {
            for device in [keys, values] { device.isOffline = isOffline }
        }

        func words() throws -> String { try account.recoveryWords().joined(separator: " ") }
    }

    /// Lets the devices hear of each other's keys, until nothing is left to publish.
    func meet(_ devices: [Device]) async throws {
        for _ in 0..<4 {
            for device in devices { _ = try device.account.status() }
            try await cloud.settle()
        }
    }

    /// Two devices, one of which has written `text` under "note", and that as who runs the daemon sees it.
    func pair(noting text: String) async throws -> (
        desk: Device, laptop: Device, daemon: UbiquitousKeyValueStore, key: String, sealed: Data
    ) {
        let (desk, laptop) = try await pair()
        try desk.write(text, "note")
        try await cloud.settle()
        let daemon = try operatorStore()
        try await cloud.settle()
        let key = try #require(daemon.keys.first)
        return (desk, laptop, daemon, key, try #require(daemon.data(forKey: key)))
    }

    /// A device with a key and another one that has joined it.
    func pair() async throws -> (Device, Device) {
        let (desk, laptop) = (try device("desk"), try device("laptop"))
        try await cloud.settle()
        try desk.account.createKey(deviceNamed: "desk")
        try await cloud.settle()
        try laptop.account.join(words: desk.words(), deviceNamed: "laptop")
        try await cloud.settle()
        return (desk, laptop)
    }
}
