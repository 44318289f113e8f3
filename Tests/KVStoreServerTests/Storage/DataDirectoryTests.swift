import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Data directory")
struct DataDirectoryTests {
    @Test("a directory in use cannot be opened until it is closed")
    func inUse() throws {
        let parent = try TemporaryDirectory()
        let directory = DataDirectory(parent.path + "/data")
        try directory.create()
        do {
            let storage = try directory.lockedStorage()
            let ledger = try Ledger(storage: storage, seed: 1)
            let error = #expect(throws: ServerError.self) { _ = try directory.openLedger() }
            #expect(error?.code == .inUse)
            #expect(error?.message.contains(directory.path) == true)
            try ledger.close()
        }
        _ = try directory.lockedStorage()
    }

    @Test("a new data directory is accessible to its owner only")
    func mode() throws {
        let parent = try TemporaryDirectory()
        let directory = DataDirectory(parent.path + "/a/b")
        try directory.create()
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test("damage is an error with file, offset and hint")
    func damage() throws {
        let parent = try TemporaryDirectory()
        let directory = DataDirectory(parent.path)
        let store = StoreID(account: "default", name: "s")
        for index in 0..<3 {
            let ledger = try Ledger(storage: directory.lockedStorage(), seed: 1)
            _ = try ledger.apply(Samples.request([Samples.change("k\(index)")]), to: store, now: Samples.now)
            try ledger.close()
        }
        let path = directory.logPath + "/0000000000000001.log"
        var data = try #require(FileManager.default.contents(atPath: path))
        let location = try #require(data.firstRange(of: Data("k1value".utf8))?.lowerBound)
        data[location] ^= 1
        try data.write(to: URL(filePath: path))
        let error = #expect(throws: ServerError.self) { _ = try directory.openLedger() }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains(path) == true)
        #expect(error?.message.contains("at byte") == true)
        #expect(error?.hint?.contains("backup") == true)
    }
}

@Suite("Permissions of the data directory")
struct PermissionTests {
    private func permissions(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("a directory and a list of devices that others can read are closed to them, and named")
    func repaired() throws {
        let parent = try TemporaryDirectory()
        let directory = DataDirectory(parent.path + "/data")
        try directory.create()
        _ = try directory.deviceFile.add("one", DevicePermissions())
        #expect(try directory.protect().isEmpty)
        let devices = directory.path + "/devices.json"
        for (path, mode) in [(directory.path, 0o755), (devices, 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let changes = try directory.protect()
        #expect(changes.count == 2)
        #expect(changes[0].contains("\(directory.path) ") && changes[0].contains("mode 755"))
        #expect(!changes[0].contains("could write"))
        #expect(changes[1].contains(devices) && changes[1].contains("could write"))
        #expect(try permissions(directory.path) == 0o700)
        #expect(try permissions(devices) == 0o600)
        #expect(try directory.protect().isEmpty)
    }
}
