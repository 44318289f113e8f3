import Foundation
import KVStoreServer
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import kvsd

@Suite("kvsd status", .timeLimit(.minutes(5)))
struct StatusTests {
    private let directory = try! TemporaryDirectory()

    @Test("status shows the running daemon, its devices and sizes, and never a token")
    func running() async throws {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("laptop", dataPath: data)
        _ = try await DaemonProcess.addDevice("phone", dataPath: data)
        let daemon = try await DaemonProcess(dataPath: data)
        let stream = try await RawConnection.open(port: daemon.port)
        let head = "Host: localhost\r\nAuthorization: Bearer \(token)\r\n"
        try await stream.send(
            "PUT /v1/stores/s/keys/k HTTP/1.1\r\n\(head)Content-Type: application/octet-stream\r\n"
                + "Content-Length: 1\r\n\r\nv"
                + "GET /v1/stores/s/changes HTTP/1.1\r\n\(head)\r\n")
        try await stream.wait(for: "event: opened")

        let text = try await DaemonProcess.run(["status", "--data", data])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains(/address +http:\/\/127\.0\.0\.1:\d+\n/))
        #expect(text.output.contains(/writes +accepted\n/))
        #expect(text.output.contains(/streams +1\nconnections +1\n/))
        #expect(text.output.contains(/laptop +default +[0-9a-f]{16} +connected\n/))
        #expect(text.output.contains(/phone +default +[0-9a-f]{16} +not since the start\n/))

        let json = try await DaemonProcess.run(["status", "--json", "--data", data])
        let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(document["url"] as? String == "http://127.0.0.1:\(daemon.port)")
        #expect(document["storeCount"] as? Int == 1 && document["streamCount"] as? Int == 1)
        #expect(document["logByteCount"] as? Int ?? 0 > 0)
        #expect(document["diskFreeByteCount"] as? Int ?? 0 > 0)
        #expect(!json.output.contains(token) && !json.output.contains("SHA256"))
        let socket = try FileManager.default.attributesOfItem(atPath: data + "/status.sock")
        #expect(socket[.posixPermissions] as? Int == 0o600)

        await stream.close()
        #expect(await daemon.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: data + "/status.sock"))
    }

    @Test(
        "status shows the last error, and since when writes are accepted again",
        arguments: [
            (nil, "refused", "5 min ago: the disk is full"),
            (1_000_240_000, "accepted", "5 min ago: the disk is full; recovered 1 min ago"),
        ] as [(Int?, String, String)])
    func incident(recovered: Int?, writes: String, error: String) throws {
        let end = recovered.map { ", \"recovered\": \($0)" } ?? ""
        let json = """
            {"schemaVersion": 1, "version": "1", "processID": 2, "url": "http://127.0.0.1:3",
             "started": 0, "devices": [], "streamCount": 0, "connectionCount": 0, "storeCount": 0,
             "memoryByteCount": 1500000, "memoryByteLimit": 1000000000, "logByteCount": 999,
             "incident": {"text": "the disk is full", "time": 1000000000\(end)}}
            """
        let report = try JSONDecoder().decode(ServerReport.self, from: Data(json.utf8))
        let lines = StatusCommand.lines(report, data: "/d", free: 0, now: Date(timeIntervalSince1970: 1_000_300))
        #expect(lines.contains("writes       \(writes)"), "\(lines)")
        #expect(lines.contains("last error   \(error)"))
        #expect(lines.contains("memory       1.5 MB of 1.0 GB"))
        #expect(lines.contains("log          999 bytes, 0 bytes free on the disk"))
    }

    @Test("status finds the daemon of a directory whose path is too long for a socket")
    func longPath() async throws {
        let data = directory.path + "/" + String(repeating: "d", count: 120)
        let daemon = try await DaemonProcess(dataPath: data)
        let status = try await DaemonProcess.run(["status", "--data", data])
        #expect(status.status == 0 && status.output.contains(data), "\(status.errors)")
        let socket = try FileManager.default.attributesOfItem(atPath: data + "/status.sock")
        #expect(socket[.posixPermissions] as? Int == 0o600)
        #expect(await daemon.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: data + "/status.sock"))
        #expect(try await DaemonProcess.run(["status", "--data", data]).status == 69)
    }

    @Test("without a daemon, also after kill -9, status exits with 69 and names the directory")
    func stopped() async throws {
        let data = directory.path + "/data"
        let daemon = try await DaemonProcess(dataPath: data)
        await daemon.kill()
        #expect(FileManager.default.fileExists(atPath: data + "/status.sock"))
        let status = try await DaemonProcess.run(["status", "--data", data])
        #expect(status.status == 69 && status.errors.contains(data))
        // The socket of the former daemon is not in the way of the next.
        let next = try await DaemonProcess(dataPath: data)
        #expect(try await DaemonProcess.run(["status", "--data", data]).status == 0)
        #expect(await next.stop() == 0)
    }
}
