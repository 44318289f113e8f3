import Dispatch
import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import StoreTestSupport
import Testing

/// The real program.
@Suite("Process", .timeLimit(.minutes(5)))
struct ProcessTests {
    private let directory = try! TemporaryDirectory()

    /// Writes one key after another until an answer fails to come; returns why it did.
    private static func write(
        _ life: Int, as writer: Int, _ token: String, to daemon: DaemonProcess, _ acknowledged: Acknowledged
    ) async -> String {
        do {
            return try await withClient(of: daemon) { client in
                var answer = try await client.sync(token, Samples.request())
                for index in 0..<Int.max {
                    let key = "k \(writer) \(life) \(index % 300)"
                    let stamp = StoreStamp(
                        milliseconds: Int64(index), counter: 0, replica: ReplicaID(rawValue: UInt64(writer + 1)))
                    let change = Samples.change(key, stamp, String(repeating: "v", count: 400))
                    answer = try await client.sync(token, Samples.request([change], since: answer.cursor))
                    #expect(answer.rejections.isEmpty)
                    acknowledged.record(change.key, change.stamp)
                }
                return "no more numbers"
            }
        } catch {
            return "\(error)"
        }
    }

    private static func withClient<Value: Sendable>(
        of daemon: DaemonProcess, _ body: @escaping @Sendable (TestClient) async throws -> Value
    ) async throws -> Value {
        let client = TestClient(port: daemon.port)
        let result: Result<Value, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    @Test("every acknowledged put survives three kill -9")
    func killed() async throws {
        let data = directory.path + "/data"
        let tokens = [
            try await DaemonProcess.addDevice("one", dataPath: data),
            try await DaemonProcess.addDevice("two", dataPath: data),
        ]
        let acknowledged = Acknowledged()
        for life in 0..<3 {
            let daemon = try await DaemonProcess(dataPath: data, arguments: ["--set", "segment-bytes=65536"])
            // Before anything is written, so that it is never more than there will be.
            let target = acknowledged.count + 60
            await withTaskGroup(of: String?.self) { group in
                for (writer, token) in tokens.enumerated() {
                    group.addTask {
                        await Self.write(life, as: writer, token, to: daemon, acknowledged)
                    }
                }
                group.addTask {
                    for await count in acknowledged.counts where count >= target { break }
                    await daemon.kill()
                    return nil
                }
                // Writers end when the daemon is killed, and not before.
                for await complaint in group {
                    if let complaint, acknowledged.count < target {
                        Issue.record("before it was killed: \(complaint)")
                        group.cancelAll()
                    }
                }
            }
        }
        let daemon = try await DaemonProcess(dataPath: data)
        let found = try await Self.withClient(of: daemon) { client in
            var stamps: [StoreKey: StoreStamp] = [:]
            var answer = try await client.sync(tokens[0], Samples.request())
            while true {
                for change in answer.changes { stamps[change.record.key] = change.record.stamp }
                guard answer.hasMore else { return stamps }
                answer = try await client.sync(tokens[0], Samples.request(since: answer.cursor))
            }
        }
        for (key, stamp) in acknowledged.stamps {
            #expect(found[key].map { $0 >= stamp } == true, "\(key) was acknowledged and is gone")
        }
        #expect(await daemon.stop() == 0)
        let check = try await DaemonProcess.run(["check", data])
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test("a second daemon on one directory exits with 75 and names it")
    func secondDaemon() async throws {
        let data = directory.path + "/data"
        let daemon = try await DaemonProcess(dataPath: data)
        let second = try await DaemonProcess.run([
            "serve", "--data", data, "--listen", "127.0.0.1:0",
        ])
        #expect(second.status == 75)
        #expect(second.errors.contains(data))
        let check = try await DaemonProcess.run(["check", data])
        #expect(check.status == 0 && check.output.contains("while the daemon runs"))
        let dump = try await DaemonProcess.run(["dump", "--data", data])
        #expect(dump.status == 0)
        let removal = try await DaemonProcess.run(["store", "remove", "s", "--data", data])
        #expect(removal.status == 75)
        #expect(await daemon.stop() == 0)
    }

    @Test(
        "options for TLS that contradict each other or lack a file are errors",
        arguments: [
            (["--tls", "--insecure-allow-plain-http"], 78, "--insecure-allow-plain-http"),
            (["--tls-key", "key.pem"], 78, "--tls-certificate"),
            (["--tls-certificate", "/no/c.pem", "--tls-key", "/no/k.pem"], 74, "/no/c.pem"),
        ])
    func contradictions(options: [String], status: Int32, text: String) async throws {
        let refused = try await DaemonProcess.run(
            ["serve", "--data", directory.path + "/data", "--listen", "127.0.0.1:0"] + options)
        #expect(refused.status == status)
        #expect(refused.errors.contains(text), "\(refused.errors)")
    }

    @Test("limits on requests, streams and connections given as options are in force")
    func limits() async throws {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        // Each is different from its default: 50, 64 and 4,096.
        let daemon = try await DaemonProcess(
            dataPath: data,
            arguments: [
                "--requests-per-second", "1000", "--streams-per-device", "65",
                "--connections", "66",
            ])
        try await Self.withClient(of: daemon) { client in
            _ = try await client.sync(token, Samples.request())
            let authorization: HTTPFields = [.authorization: "Bearer \(token)"]
            for _ in 0..<400 {
                try #require(
                    try await client.execute(uri: "/v1/me", method: .get, headers: authorization).status == .ok)
            }
            var streams: [RawConnection] = []
            for _ in 0..<65 {
                let stream = try await RawConnection.open(port: daemon.port)
                try await stream.send(
                    """
                    GET /v1/stores/s/changes HTTP/1.1\r
                    Host: localhost\r
                    Authorization: Bearer \(token)\r
                    \r

                    """)
                try await stream.wait(for: "event: opened")
                streams.append(stream)
            }
            let refused = try await client.execute(uri: "/v1/stores/s/changes", method: .get, headers: authorization)
            #expect(refused.status == .tooManyRequests)
            let surplus = try await RawConnection.open(
                port: daemon.port, sending: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await surplus.wait(for: "HTTP/1.1 503 ")
            for connection in streams + [surplus] { await connection.close() }
        }
        #expect(await daemon.stop() == 0)
    }

    @Test(
        "limits that are not positive are usage errors",
        arguments: [
            "--requests-per-second", "--streams-per-device", "--connections",
        ])
    func invalidLimit(option: String) async throws {
        let refused = try await DaemonProcess.run([
            "serve", "--data", directory.path + "/data", "--listen", "127.0.0.1:0", option, "0",
        ])
        #expect(refused.status == 64)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/data"))
    }

    @Test("a damaged log makes every command exit with 74 and name file and offset")
    func damage() async throws {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        try await Self.withClient(of: daemon) { client in
            for index in 0..<3 {
                _ = try await client.sync(token, Samples.request([Samples.change("k\(index)", Samples.past)]))
            }
        }
        #expect(await daemon.stop() == 0)
        let path = data + "/log/0000000000000001.log"
        var bytes = try #require(FileManager.default.contents(atPath: path))
        let location = try #require(bytes.firstRange(of: Data("k1value".utf8))?.lowerBound)
        bytes[location] ^= 4
        try bytes.write(to: URL(filePath: path))
        for command in [["serve", "--listen", "127.0.0.1:0"], ["check"], ["dump"]] {
            let result = try await DaemonProcess.run(command + ["--data", data])
            #expect(result.status == 74)
            #expect(result.errors.contains(path) && result.errors.contains("at byte"))
        }
    }

    @Test("check reports an incomplete write and changes nothing, and --repair removes it")
    func repair() async throws {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        try await Self.withClient(of: daemon) { client in
            _ = try await client.sync(token, Samples.request([Samples.change("k", Samples.past)]))
        }
        #expect(await daemon.stop() == 0)
        let path = data + "/log/0000000000000001.log"
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[try #require(bytes.firstRange(of: Data("kvalue".utf8))?.lowerBound)] ^= 4
        try bytes.write(to: URL(filePath: path))
        for command in [["check"], ["check"], ["check", "--repair"]] {
            let found = try await DaemonProcess.run(command + ["--data", data])
            #expect(found.status != 0)
            #expect(found.output.contains("\(path): incomplete write at byte"), "\(found.output)")
            #expect(FileManager.default.contents(atPath: path) == bytes)
        }
        let repaired = try await DaemonProcess.run(["check", "--repair", "--yes", "--data", data])
        #expect(repaired.status == 0 && repaired.output.contains("To do: cut"))
        #expect(try await DaemonProcess.run(["check", "--data", data]).status == 0)
    }

    @Test("devices can be added, listed, renamed and removed while the daemon runs")
    func devices() async throws {
        let data = directory.path + "/data"
        let daemon = try await DaemonProcess(dataPath: data)
        let token = try await DaemonProcess.addDevice("laptop", dataPath: data)
        func status() async throws -> HTTPResponse.Status {
            try await Self.withClient(of: daemon) { client in
                try await client.execute(
                    uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(token)"]
                ).status
            }
        }
        #expect(try await status() == .ok)
        let renamed = try await DaemonProcess.run([
            "device", "rename", "laptop", "desk", "--data", data,
        ])
        #expect(renamed.status == 0)
        let list = try await DaemonProcess.run(["device", "list", "--json", "--data", data])
        #expect(list.output.contains("\"desk\"") && !list.output.contains("laptop"))
        let file = try String(contentsOfFile: data + "/devices.json", encoding: .utf8)
        for text in [list.output, file] { #expect(!text.contains(token.dropFirst(4))) }
        #expect(try await status() == .ok)
        #expect(try await DaemonProcess.run(["device", "remove", "desk", "--data", data]).status == 0)
        #expect(try await status() == .unauthorized)
        #expect(try await DaemonProcess.run(["device", "remove", "desk", "--data", data]).status == 65)
        #expect(await daemon.stop() == 0)
    }

    @Test("dump prints every record, with values only on request")
    func dump() async throws {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("one", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        try await Self.withClient(of: daemon) { client in
            _ = try await client.sync(
                token,
                Samples.request([
                    Samples.change("a", Samples.past), Samples.change("b", Samples.past, nil),
                ]))
        }
        #expect(await daemon.stop() == 0)
        let value = Data("value".utf8).base64EncodedString()
        let plain = try await DaemonProcess.run(["dump", "--data", data])
        #expect(plain.output.split(separator: "\n").count == 2)
        #expect(!plain.output.contains(value))
        #expect(try await DaemonProcess.run(["dump", "--values", "--data", data]).output.contains(value))
    }
}

/// The last stamp of each key that a daemon has acknowledged.
private final class Acknowledged: Sendable {
    private let state = Mutex<[StoreKey: StoreStamp]>([:])
    /// How many keys there are, as it changes; one reader at a time.
    let counts: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
        (counts, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var stamps: [StoreKey: StoreStamp] { state.withLock { $0 } }
    var count: Int { state.withLock { $0.count } }

    func record(_ key: StoreKey, _ stamp: StoreStamp) {
        let count = state.withLock { state in
            state[key] = stamp
            return state.count
        }
        continuation.yield(count)
    }
}

extension Samples {
    /// Earlier than any clock of a machine that runs this.
    fileprivate static let past = StoreStamp(milliseconds: 1, counter: 0, replica: replica)
}
