import Foundation
import HTTPTypes
import TestSupport
import ServerTestSupport
import Testing

/// Real replicas and a real daemon.
extension DaemonTests {
    private func port(of url: String) throws -> Int {
        try #require(url.split(separator: ":").last.flatMap { Int($0) })
    }

    @Test("a device that may only read finds a store that does not exist empty, and sees it begin")
    func readsMissingStore() async throws {
        try await withDaemon(devices: ["desk"], readers: ["wall"]) { url, tokens, _, _ in
            let (desk, wall) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(desk, wall) }
            let joined = try await join(wall, url, tokens["wall"])
            #expect(joined.status == 0, "\(joined.errors)")
            let synced = try await wall.patiently("sync")
            #expect(synced.text == "sent 0, received 0, pending 0\n", "\(synced.errors)")
            let list = try await wall.patiently("ls")
            #expect(list.status == 0 && list.text == "", "\(list.errors)")
            let client = TestClient(port: try port(of: url))
            let stores = try await client.execute(
                uri: "/v1/stores", method: .get, headers: [.authorization: "Bearer \(tokens["wall"] ?? "")"])
            #expect(stores.text.contains("\"stores\":[]"), "\(stores.text)")
            await client.close()

            #expect(try await join(desk, url, tokens["desk"]).status == 0)
            #expect(try await desk.patiently("set", "k", "v", "--require-sync").status == 0)
            #expect(try await wall.patiently("get", "k", "--fresh").text == "v")
        }
    }

    @Test("a watching device that may only read receives the first values of a new store")
    func watchesMissingStore() async throws {
        try await withDaemon(devices: ["desk"], readers: ["wall"]) { url, tokens, _, _ in
            let (desk, wall) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(desk, wall) }
            #expect(try await join(wall, url, tokens["wall"]).status == 0)
            let watch = try RunningProgram(wall, "kvs", ["watch", "--json", "--count", "1"])
            var lines = watch.output.makeAsyncIterator()
            #expect(try await join(desk, url, tokens["desk"]).status == 0)
            #expect(try await desk.patiently("set", "theme", "dark", "--require-sync").status == 0)
            let line = try #require(await lines.next())
            #expect(line.contains("\"key\":\"theme\""))
            #expect(await watch.status() == 0)
        }
    }

    @Test("a removed store takes its keys from every device, and no change that was not sent")
    func removesStore() async throws {
        try await withDaemon(devices: ["desk", "phone"], readers: ["wall"]) { url, tokens, _, _ in
            let homes = try ["desk", "phone", "wall"].map { ($0, try TemporaryHome()) }
            defer { for (_, home) in homes { home.remove() } }
            for (name, home) in homes {
                #expect(try await join(home, url, tokens[name]).status == 0)
            }
            let (desk, phone, wall) = (homes[0].1, homes[1].1, homes[2].1)
            #expect(try await desk.patiently("set", "shared", "1", "--require-sync").status == 0)
            for home in [phone, wall] {
                #expect(try await home.patiently("get", "shared", "--fresh").text == "1")
            }
            #expect(try await phone.kvs("set", "unsent", "2", "--no-sync").status == 0)
            let client = TestClient(port: try port(of: url))
            let removed = try await client.execute(
                uri: "/v1/stores/default", method: .delete, headers: [.authorization: "Bearer \(tokens["desk"] ?? "")"])
            #expect(removed.status == .ok, "\(removed.text)")
            await client.close()

            #expect(try await wall.patiently("sync").status == 0)
            #expect(try await wall.kvs("ls").text == "")
            #expect(try await phone.patiently("sync").status == 0)
            #expect(try await phone.kvs("ls").text == "unsent\n")
            for home in [desk, wall] {
                #expect(try await home.patiently("sync").status == 0)
                #expect(try await home.kvs("ls").text == "unsent\n")
            }
        }
    }

    @Test("a stopped daemon's stores are listed and removed")
    func offline() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        #expect(try await home.run("kvsd", ["store", "list"]).status == 66)
        try await withDaemon(devices: ["desk"], home: home) { url, tokens, _, _ async throws in
            #expect(try await join(home, url, tokens["desk"]).status == 0)
            #expect(try await home.patiently("set", "k", "v", "--require-sync").status == 0)
            #expect(try await home.run("kvsd", ["store", "list"]).status == 0)
            #expect(try await home.run("kvsd", ["store", "remove", "default"]).status == 75)
        }
        let list = try await home.run("kvsd", ["store", "list"])
        #expect(list.text.contains(/default +default +1 +/), "\(list.text)")
        #expect(try await home.run("kvsd", ["store", "remove", "other"]).status == 65)
        #expect(try await home.run("kvsd", ["store", "remove", "default"]).status == 0)
        #expect(try await home.run("kvsd", ["store", "list"]).text == "No stores.\n")
    }
}
