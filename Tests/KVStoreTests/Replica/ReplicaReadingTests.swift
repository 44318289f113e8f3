import Foundation
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Replicas read without opening them")
struct ReplicaReadingTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("replica")))
    }

    private func read() throws -> [String: Data] {
        try ReplicaReading(directory: directory.file("replica")) { $0.hasPrefix("a") }.values
    }

    private var log: String { "replica/0000000000000001.log" }

    @Test("a directory that is missing has no values and stays missing")
    func missing() throws {
        #expect(try read().isEmpty)
        #expect(!ReplicaReading.hasValues(in: directory.file("replica")))
        #expect(directory.names.isEmpty)
    }

    @Test("the values are those of an open store after each write, only data and wanted keys")
    func values() throws {
        let store = try open()
        defer { store.close() }
        for number in 0..<50 {
            store.set(Data("\(number)".utf8), forKey: "a\(number % 5)")
            store.set("text", forKey: "a-text")
            store.set(Data(), forKey: "b")
            if number % 7 == 0 { store.removeObject(forKey: "a\(number % 3)") }
            var expected: [String: Data] = [:]
            for key in store.keys where key.hasPrefix("a") {
                expected[key] = store.data(forKey: key)
            }
            #expect(try read() == expected)
        }
    }

    @Test("a replica has values from the first one to the removal of the last")
    func hasValues() throws {
        let store = try open()
        defer { store.close() }
        func hasValues() -> Bool { ReplicaReading.hasValues(in: directory.file("replica")) }
        #expect(!hasValues())
        for key in ["a", "b"] { store.set("1", forKey: key) }
        #expect(hasValues())
        store.removeObject(forKey: "a")
        #expect(hasValues())
        store.removeObject(forKey: "b")
        #expect(!hasValues())
    }

    @Test("reading changes nothing, and no lock is waited for")
    func readOnly() throws {
        let store = try open()
        store.set(Data("1".utf8), forKey: "a")
        store.close()
        let (names, bytes) = (try fileNames(), directory.bytes(log))
        let lock = Foundation.open(directory.file("replica/lock"), O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try read() == ["a": Data("1".utf8)])
        #expect(try fileNames() == names && directory.bytes(log) == bytes)
    }

    @Test("an incomplete write at the end is left out, and left there")
    func tornWrite() throws {
        let store = try open()
        store.set(Data("1".utf8), forKey: "a")
        store.close()
        var bytes = directory.bytes(log)
        let end = try #require(bytes.lastIndex { $0 != 0 }) + 1
        bytes[end + 16] = 1
        try directory.write(bytes, to: log)
        #expect(try read() == ["a": Data("1".utf8)])
        #expect(directory.bytes(log) == bytes)
    }

    @Test("damage is an error, and is left for a program that opens the store")
    func damaged() throws {
        let store = try open()
        store.set(Data("first".utf8), forKey: "a")
        store.set(Data("second".utf8), forKey: "a")
        store.close()
        var bytes = directory.bytes(log)
        let place = try #require(bytes.firstRange(of: Array("first".utf8)))
        bytes[place.lowerBound] ^= 1
        try directory.write(bytes, to: log)
        let error = #expect(throws: StoreError.self) { try read() }
        #expect(error?.code == .damaged && ReplicaReading.hasValues(in: directory.file("replica")))
        #expect(directory.bytes(log) == bytes)
        try open().close()
        #expect(try read() == ["a": Data("second".utf8)])
    }

    private func fileNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.file("replica")).sorted()
    }
}
