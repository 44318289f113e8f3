import Foundation
import HTTPTypes
import KVStoreServer
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

/// Devices of a daemon that is running, changed by the program and over HTTP.
@Suite("Administration of a running daemon", .timeLimit(.minutes(5)))
struct AdministrationTests {
    private let directory = try! TemporaryDirectory()

    private var data: String { directory.path + "/data" }

    private struct Listed: Decodable {
        var id: String
        var name: String
        var scopes: [DeviceScope]
        var trusted: Bool
    }

    private func listed() async throws -> [Listed] {
        let list = try await DaemonProcess.run(["device", "list", "--json", "--data", data])
        return try JSONDecoder().decode([Listed].self, from: Data(list.output.utf8))
    }

    @Test(
        "a mistyped data directory is an error, and nothing is created",
        arguments: [
            ["device", "list"], ["device", "remove", "a"], ["device", "rename", "a", "b"],
            ["device", "trust", "a"], ["account", "list"],
            ["account", "limit", "a", "--max-stores", "1"],
            ["account", "remove", "a", "--yes"], ["store", "list"], ["check"], ["dump"],
            ["backup", "/dev/null/x"],
        ])
    func mistypedDirectory(command: [String]) async throws {
        let result = try await DaemonProcess.run(command + ["--data", data])
        #expect(result.status == 66, "\(result)")
        #expect(result.errors.contains("\(data) contains no data of a daemon"), "\(result.errors)")
        #expect(directory.names.isEmpty)
    }

    @Test("a daemon that starts with a new data directory says so, and with its own does not")
    func newDirectory() async throws {
        let note = "no data in \(data) yet"
        for isNew in [true, false] {
            let daemon = try await DaemonProcess(dataPath: data)
            #expect(daemon.beginning.contains(note) == isNew, "\(daemon.beginning)")
            #expect(await daemon.stop() == 0)
        }
    }

    @Test("devices that are added by the program and renamed over HTTP at once are all kept")
    func concurrentChanges() async throws {
        let admin = try await DaemonProcess.addDevice("admin", dataPath: data, arguments: ["--admin"])
        for index in 0..<6 {
            _ = try await DaemonProcess.addDevice("old-\(index)", dataPath: data)
        }
        let ids = Dictionary(uniqueKeysWithValues: try await listed().map { ($0.name, $0.id) })
        let daemon = try await DaemonProcess(dataPath: data)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<6 {
                group.addTask {
                    _ = try await DaemonProcess.addDevice("added-\(index)", dataPath: data)
                }
                let id = try #require(ids["old-\(index)"])
                group.addTask {
                    let client = TestClient(port: daemon.port)
                    let answer = try await client.execute(
                        uri: "/v1/devices/\(id)", method: .patch,
                        headers: [.authorization: "Bearer \(admin)"],
                        body: ByteBuffer(string: #"{"name":"new-\#(index)"}"#))
                    #expect(answer.status == .ok, "\(answer.text)")
                    await client.close()
                }
            }
            try await group.waitForAll()
        }
        let names = Set(try await listed().map(\.name))
        #expect(names == Set((0..<6).flatMap { ["added-\($0)", "new-\($0)"] } + ["admin"]))
        #expect(await daemon.stop() == 0)
    }

    @Test("the limits of a trusted device are lifted and imposed again while the daemon runs")
    func trust() async throws {
        let token = try await DaemonProcess.addDevice("script", dataPath: data)
        let born = try await DaemonProcess.addDevice("born", dataPath: data, arguments: ["--trusted"])
        let daemon = try await DaemonProcess(
            dataPath: data, arguments: ["--requests-per-second", "1", "--set", "request-burst=1"])
        func statuses(_ token: String) async throws -> Set<Int> {
            let client = TestClient(port: daemon.port)
            var statuses: Set<Int> = []
            for _ in 0..<100 {
                let answer = try await client.execute(
                    uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(token)"])
                statuses.insert(answer.status.code)
            }
            await client.close()
            return statuses
        }
        func trust(_ arguments: String...) async throws -> String {
            let outcome = try await DaemonProcess.run(["device", "trust", "script", "--data", data] + arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output
        }
        #expect(try await statuses(born) == [200])
        #expect(try await statuses(token).contains(429))
        #expect(try await trust().contains("script") == true)
        #expect(try await statuses(token) == [200])
        #expect(try await listed().map(\.trusted) == [true, true])
        #expect(try await trust("--off").contains("no longer trusted"))
        #expect(try await statuses(token).contains(429))
        let list = try await DaemonProcess.run(["device", "list", "--data", data])
        #expect(list.output.contains(/script .+ no .*\n/), "\(list.output)")
        #expect(list.output.contains(/born .+ yes .*\n/), "\(list.output)")
        #expect(await daemon.stop() == 0)
    }

    @Test("adding a device prints its token on a line of its own, and in no command")
    func tokenLine() async throws {
        let added = try await DaemonProcess.run(["device", "add", "laptop", "--data", data])
        let lines = added.output.split(separator: "\n")
        #expect(lines.last?.wholeMatch(of: /ubq_[A-Za-z0-9_-]{43}/) != nil, "\(added.output)")
        #expect(lines.count { $0.contains("ubq_") } == 1)
        #expect(!added.output.contains("://"), "no daemon runs")
        let daemon = try await DaemonProcess(dataPath: data)
        let known = try await DaemonProcess.run(["device", "add", "phone", "--data", data])
        #expect(known.output.contains("  kvs join http://127.0.0.1:\(daemon.port)\n"), "\(known.output)")
        #expect(await daemon.stop() == 0)
        let json = try await DaemonProcess.run(
            ["device", "add", "desk", "--json", "--admin", "--read-only", "--url", "box:8722", "--data", data])
        let document = try JSONDecoder().decode([String: String].self, from: Data(json.output.utf8))
        #expect(Set(document.keys) == ["device", "id", "token", "url"])
        #expect(document["device"] == "desk" && document["url"] == "https://box:8722")
        let devices = try await listed()
        #expect(devices.map(\.scopes) == [[.read, .write], [.read, .write], [.read, .admin]])
        #expect(devices.last?.id == document["id"])
    }
}
