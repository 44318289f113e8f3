import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import TestSupport
import ServerTestSupport
import Synchronization
import StoreTestSupport
import Testing

/// Backup and restore with the real programs.
@Suite("Backup processes", .timeLimit(.minutes(5)))
struct BackupProcessTests {
    private let directory = try! TemporaryDirectory()
    private var data: String { directory.file("data") }
    private var backup: String { directory.file("backup") }

    private func kvsd(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await DaemonProcess.run(arguments)
    }

    private func kvs(_ home: TemporaryHome, _ arguments: String...) async throws -> String {
        let outcome = try await home.run("kvs", arguments + ["--timeout", "120"])
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.text
    }

    private func join(_ home: TemporaryHome, _ daemon: DaemonProcess, _ token: String) async throws {
        _ = try await kvs(home, "join", "http://127.0.0.1:\(daemon.port)", "--token", token)
    }

    /// The last milliseconds that a writer has had acknowledged for each key; it writes until it is stopped.
    private final class Progress: Sendable {
        private let state = Mutex((keys: [String: Int64](), isStopped: false))
        /// How many writes there were; ends with the writer.
        let counts: AsyncStream<Int64>
        private let continuation: AsyncStream<Int64>.Continuation

        init() {
            (counts, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        var keys: [String: Int64] { state.withLock { $0.keys } }
        var isStopped: Bool { state.withLock { $0.isStopped } }

        func stop() { state.withLock { $0.isStopped = true } }

        func end() { continuation.finish() }

        func record(_ key: String, _ milliseconds: Int64) {
            state.withLock { $0.keys[key] = milliseconds }
            continuation.yield(milliseconds)
        }
    }

    private static func write(_ progress: Progress, _ token: String, port: Int) async throws {
        defer { progress.end() }
        let client = TestClient(port: port)
        var milliseconds: Int64 = 0
        var cursor: SyncCursor?
        while !progress.isStopped {
            milliseconds += 1
            let key = "w\(milliseconds % 200)"
            let change = Samples.change(
                key, StoreStamp(milliseconds: milliseconds, counter: 0, replica: Samples.replica),
                String(repeating: "v", count: 200))
            let answer = try await client.sync(token, Samples.request([change], since: cursor), store: "default")
            try #require(answer.rejections.isEmpty)
            cursor = answer.cursor
            progress.record(key, milliseconds)
        }
        await client.close()
    }

    /// The keys that `kvsd dump` prints, with the milliseconds of their stamps.
    private func keys(_ data: String) async throws -> [String: Int64] {
        struct Line: Decodable {
            var key: String
            var stamp: String
        }
        let dump = try await kvsd("dump", "--data", data)
        try #require(dump.status == 0, "\(dump.errors)")
        return Dictionary(
            uniqueKeysWithValues: try dump.output.split(separator: "\n").map {
                let line = try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                return (line.key, try #require(StoreStamp(line.stamp)).milliseconds)
            })
    }

    /// The keys of which `found` has nothing, or something older.
    private func missing(_ expected: [String: Int64], in found: [String: Int64]) -> [String] {
        expected.filter { found[$0.key, default: -1] < $0.value }.map(\.key)
    }

    @Test("nothing acknowledged before a backup is missing in it, and a replica sends what came later")
    func restored() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let tokens = [
            try await DaemonProcess.addDevice("replica", dataPath: data),
            try await DaemonProcess.addDevice("writer", dataPath: data),
        ]
        let daemon = try await DaemonProcess(
            dataPath: data, arguments: ["--set", "segment-bytes=65536", "--requests-per-second", "100000"])
        try await join(home, daemon, tokens[0])
        _ = try await kvs(home, "set", "before", "1", "--require-sync")
        let progress = Progress()
        async let writing: Void = Self.write(progress, tokens[1], port: daemon.port)
        // Enough for several segments, so that some are compacted away while the log is read.
        for await count in progress.counts where count >= 1_500 { break }

        for number in 0..<3 {
            let acknowledged = progress.keys
            let made = try await kvsd("backup", backup, "--replace", "--data", data, "--json")
            #expect(made.status == 0, "\(made.errors)")
            let present = try await keys(data)
            #expect(missing(acknowledged, in: present).isEmpty)
            let copy = directory.file("copy \(number)")
            #expect(try await kvsd("restore", backup, "--data", copy).status == 0)
            let restored = try await keys(copy)
            #expect(missing(acknowledged, in: restored).isEmpty && restored["before"] != nil)
        }
        #expect(progress.keys.count == 200)
        progress.stop()
        try await writing
        for number in 0..<3 {
            _ = try await kvs(home, "set", "after\(number)", "1", "--require-sync")
        }
        await daemon.kill()

        let fresh = directory.file("fresh")
        let result = try await kvsd("restore", backup, "--data", fresh)
        #expect(result.status == 0, "\(result.errors)")
        let found = try await keys(fresh)
        #expect(found["before"] != nil && found["after0"] == nil)
        let second = try await DaemonProcess(dataPath: fresh, arguments: ["--listen", "127.0.0.1:\(daemon.port)"])
        _ = try await kvs(home, "sync")
        // The replica has received everything that the writer wrote, also after the backup.
        let merged = try await keys(fresh)
        #expect(missing(progress.keys, in: merged).isEmpty)
        #expect(missing(found, in: merged).isEmpty)
        for key in ["before", "after0", "after1", "after2"] { #expect(merged[key] != nil) }
        #expect(await second.stop() == 0)
        #expect(try await kvsd("check", fresh).status == 0)
    }

    @Test("commands that change data are refused beside a daemon, and those that read it are not")
    func besideDaemon() async throws {
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        let home = try TemporaryHome()
        defer { home.remove() }
        try await join(home, daemon, token)
        _ = try await kvs(home, "set", "k", "1", "--require-sync")
        #expect(try await kvsd("backup", backup, "--data", data).status == 0)
        #expect(try await kvsd("backup", backup, "--data", data).status == 73)
        #expect(try await kvsd("check", backup).output.contains("All intact"))
        #expect(try await kvsd("store", "list", "--data", data).output.contains("default"))
        #expect(try await Array(keys(data).keys) == ["k"])
        let refused = try await kvsd("restore", backup, "--data", data, "--replace", "--yes")
        #expect(refused.status == 75)
        #expect(await daemon.stop() == 0)
        #expect(try await kvsd("restore", backup, "--data", data).status == 73)
        let unasked = try await kvsd("restore", backup, "--data", data, "--replace")
        #expect(unasked.status == 64 && unasked.output.contains("1 key"), "\(unasked)")
        #expect(try await kvsd("device", "remove", "one", "--data", data).status == 0)
        _ = try await DaemonProcess.addDevice("two", dataPath: data)
        #expect(try await kvsd("account", "add", "family", "--data", data).status == 0)
        let restored = try await kvsd("restore", backup, "--data", data, "--replace", "--yes")
        #expect(restored.status == 0 && restored.output.contains("The former data is in \(data)/before-"))
        #expect(restored.output.contains("Admitted again: the device one"))
        for name in ["account family", "device two"] {
            #expect(restored.output.contains("To do: lock out the \(name)"), "\(restored.output)")
        }
        #expect(restored.output.contains("--keep-devices") && restored.output.contains("Locked out: the device two"))
        #expect(try await Array(keys(data).keys) == ["k"])
    }

    @Test("a file that is no intact backup is refused with 65 and changes nothing")
    func invalid() async throws {
        _ = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        #expect(try await kvsd("backup", backup, "--data", data).status == 0)
        #expect(await daemon.stop() == 0)
        var bytes = directory.bytes("backup")
        bytes[bytes.count / 2] ^= 1
        try directory.write(bytes, to: "backup")
        for arguments in [["restore", backup, "--data", data + "2"], ["check", backup]] {
            let result = try await DaemonProcess.run(arguments)
            #expect(result.status == 65)
            #expect(result.errors.contains(backup) && result.errors.contains("at byte"))
        }
        #expect(directory.names == ["backup", "data"])
    }

    /// Leaves a value that takes a full disk, or a limit on the size of files, to fail to copy.
    private func storeLargeValue(_ home: TemporaryHome) async throws {
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        try await join(home, daemon, token)
        _ = try await kvs(home, "set", "k", String(repeating: "v", count: 10_000), "--require-sync")
        #expect(await daemon.stop() == 0)
    }

    @Test("the next backup to a directory removes what a killed one has left there")
    func killed() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await storeLargeValue(home)
        let program = try #require(TemporaryHome.program("kvsd")).path
        // The system kills it while it writes, unless whoever runs the tests has it ignore the signal.
        let killed = try await home.shell(
            """
            env --default-signal=XFSZ true 2>/dev/null && reset=--default-signal=XFSZ
            ulimit -c 0; ulimit -f 16
            exec env $reset '\(program)' backup '\(backup)' --data '\(data)'
            """)
        let names = directory.names
        #expect(names.count == 2 && names.contains { $0.hasSuffix(".tmp") }, "\(names) \(killed)")
        #expect(try await kvsd("backup", directory.file("other"), "--data", data).status == 0)
        #expect(directory.names == ["data", "other"])
    }

    @Test("a full disk leaves the former backup and the former data")
    func fullDisk() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await storeLargeValue(home)
        #expect(try await kvsd("backup", backup, "--data", data).status == 0)
        let former = directory.bytes("backup")
        let program = try #require(TemporaryHome.program("kvsd")).path
        /// A limit on the size of files takes the place of a disk that is full after 8 KiB.
        func limited(_ command: String) async throws -> TemporaryHome.Outcome {
            try await home.shell("trap '' XFSZ; ulimit -f 16; exec '\(program)' \(command)")
        }
        let made = try await limited("backup '\(backup)' --replace --data '\(data)'")
        #expect(made.status == 74, "\(made.errors)")
        let result = try await limited("restore '\(backup)' --replace --yes --data '\(data)'")
        #expect(result.status == 74, "\(result.errors)")
        #expect(directory.bytes("backup") == former)
        #expect(directory.names == ["backup", "data"])
        #expect(try await Array(keys(data).keys) == ["k"])
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(!names.contains { $0.hasPrefix("restore") || $0.hasPrefix("before") }, "\(names)")
    }
}
