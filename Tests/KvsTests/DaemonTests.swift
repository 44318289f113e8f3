import Foundation
import HTTPTypes
import TestSupport
import ServerTestSupport
import Testing

/// Two machines and a real daemon.
@Suite("kvs with kvsd", .timeLimit(.minutes(5)))
struct DaemonTests {
    /// A daemon with its devices' tokens; stopped and removed at the end.
    func withDaemon(
        devices: [String], readers: [String] = [], admins: [String] = [], home given: TemporaryHome? = nil,
        _ body: (String, [String: String], TemporaryHome, RunningProgram) async throws -> Void
    ) async throws {
        let home = try given ?? TemporaryHome()
        defer { if given == nil { home.remove() } }
        var tokens: [String: String] = [:]
        for device in devices + readers + admins {
            let scopes =
                (readers.contains(device) ? ["--read-only"] : [])
                + (admins.contains(device) ? ["--admin"] : [])
            let added = try await home.run("kvsd", ["device", "add", device] + scopes)
            let token = added.text.split(separator: "\n").last { $0.hasPrefix("ubq_") }
            tokens[device] = String(try #require(token))
        }
        let portFile = home.path + "/port"
        let daemon = try RunningProgram(home, "kvsd", ["serve", "--listen", "127.0.0.1:0", "--port-file", portFile])
        var log = daemon.errors.makeAsyncIterator()
        while !FileManager.default.fileExists(atPath: portFile), await log.next() != nil {}
        let port = try String(contentsOfFile: portFile, encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let draining = Task { while await log.next() != nil {} }
        do {
            try await body("http://127.0.0.1:\(port)", tokens, home, daemon)
        } catch {
            Issue.record(error)
        }
        daemon.interrupt()
        _ = await daemon.status()
        await draining.value
    }

    func join(_ home: TemporaryHome, _ url: String, _ token: String?) async throws -> TemporaryHome.Outcome {
        try await home.kvs("join", url, "--timeout", "120", input: Data(((token ?? "") + "\n").utf8))
    }

    /// Counters of the daemon.
    private func counts(_ url: String) async throws -> (requests: Int, commits: Int, records: Int) {
        let client = TestClient(port: try #require(URL(string: url)?.port))
        let text = try await client.execute(uri: "/metrics", method: .get).text
        await client.close()
        func value(_ name: String) throws -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix("kvsd_\(name) ") }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(text)")
        }
        return (
            try value("request_seconds_count"), try value("commits_total"), try value("records_stored_total")
        )
    }

    @Test("on a joined machine a set is one request, and what a push writes is one commit")
    func oneRoundTrip() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, _, _ in
            let desk = try TemporaryHome()
            defer { desk.remove() }
            try #require(try await join(desk, url, tokens["desk"]).status == 0)
            // The request for the counters before counts as well.
            func check(_ requests: Int?, records: Int, _ run: () async throws -> TemporaryHome.Outcome) async throws {
                let before = try await counts(url)
                let outcome = try await run()
                let after = try await counts(url)
                #expect(outcome.status == 0, "\(outcome.errors)")
                if let requests { #expect(after.requests - before.requests == requests + 1) }
                #expect(after.commits - before.commits == 1 && after.records - before.records == records)
            }
            try await check(1, records: 1) { try await desk.patiently("set", "a", "1", "--require-sync") }
            let exported = String(decoding: try await desk.kvs("export").output, as: UTF8.self)
            let document = try desk.file("export.json", exported)
            // It asks for newer values first.
            try await check(2, records: 1) { try await desk.patiently("rm", "a", "--require-sync") }
            try await check(1, records: 1) { try await desk.patiently("import", document, "--require-sync") }
            try desk.file(
                ".codex/sessions/2026/09/18/rollout-a.jsonl",
                #"{"timestamp":"\#(Date().formatted(.iso8601))","type":"event_msg","payload":{"#
                    + #""type":"token_count","rate_limits":{"primary":{"used_percent":36,"#
                    + #""window_minutes":300,"resets_at":\#(Int(Date().timeIntervalSince1970) + 7_200)}}}}"# + "\n")
            // The merged limits, this machine's and its history.
            try await check(nil, records: 3) { try await desk.run("usage-push", []) }
        }
    }

    @Test("a value set on one device is read, watched and removed on another")
    func twoMachines() async throws {
        try await withDaemon(devices: ["desk", "phone"]) { url, tokens, _, _ in
            let (desk, phone) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(desk, phone) }
            _ = try await desk.kvs("set", "before", "local")
            let joined = try await join(desk, url, tokens["desk"])
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(joined.text.contains("as device desk"))
            #expect(joined.text.contains("local values of store default are now part of the account"))
            #expect(try await join(phone, url, tokens["phone"]).status == 0)
            #expect(try await phone.kvs("get", "before").text == "local")

            let watch = try RunningProgram(phone, "kvs", ["watch", "--json", "--count", "2"])
            var notes = watch.errors.makeAsyncIterator()
            while let note = await notes.next(), note != "kvs: connected" {}
            #expect(try await desk.patiently("set", "theme", "dark", "--require-sync").status == 0)
            var lines = watch.output.makeAsyncIterator()
            let line = try #require(await lines.next())
            #expect(line.contains("\"key\":\"theme\"") && line.contains("\"removed\":false"))
            #expect(try await desk.patiently("rm", "theme", "--require-sync").status == 0)
            let removed = try #require(await lines.next())
            #expect(removed.contains("\"key\":\"theme\"") && removed.contains("\"removed\":true"))
            #expect(await watch.status() == 0)

            #expect(try await phone.patiently("set", "n", "7", "--int", "--require-sync").status == 0)
            #expect(try await desk.patiently("get", "n", "--fresh").text == "7")
            let status = try await desk.patiently("status")
            #expect(status.text.contains("reachable") && status.text.contains(/pending +0 keys/))
            #expect(try await desk.patiently("sync").text == "sent 0, received 0, pending 0\n")
        }
    }

    @Test("joining keeps the account's value of a key, and the next set replaces it")
    func provisional() async throws {
        try await withDaemon(devices: ["a", "b"]) { url, tokens, _, _ in
            let (first, second) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(first, second) }
            _ = try await join(first, url, tokens["a"])
            #expect(try await first.patiently("set", "k", "account", "--require-sync").status == 0)
            _ = try await second.kvs("set", "k", "default")
            _ = try await join(second, url, tokens["b"])
            #expect(try await second.kvs("get", "k").text == "account")
            #expect(try await second.patiently("set", "k", "new", "--require-sync").status == 0)
            #expect(try await first.patiently("get", "k", "--fresh").text == "new")
        }
    }

    @Test("a rejected token ends with 77, the address and the next step, but not the token")
    func wrongToken() async throws {
        try await withDaemon(devices: []) { url, _, home, _ in
            let outcome = try await join(home, url, "wr0ng-token")
            #expect(outcome.status == 77, "\(outcome.errors)")
            #expect(outcome.errors.contains(url) && outcome.errors.contains("kvsd device add"))
            #expect(!outcome.errors.contains("wr0ng-token"))
            #expect(!FileManager.default.fileExists(atPath: home.path + "/.config"))
        }
    }

    @Test("leaving returns to the local store, and joining another account requires it")
    func leaving() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, home, _ in
            _ = try await join(home, url, tokens["desk"])
            #expect(try await home.patiently("set", "k", "v", "--require-sync").status == 0)
            let again = try await join(home, url, tokens["desk"])
            #expect(again.status == 0, "\(again.errors)")
            let elsewhere = url.replacing("127.0.0.1", with: "localhost")
            let other = try await join(home, elsewhere, tokens["desk"])
            #expect(other.status == 64 && other.errors.contains("kvs leave"), "\(other.errors)")
            let left = try await home.kvs("leave")
            #expect(left.status == 0 && left.text.contains("desk"))
            #expect(left.errors == "")
            #expect(try await home.kvs("ls").text == "")
            _ = try await join(home, url, tokens["desk"])
            #expect(try await home.kvs("ls").text == "k\n")
        }
    }

    @Test("a silent daemon delays a command by no more than its timeout")
    func silentDaemon() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, home, daemon in
            _ = try await join(home, url, tokens["desk"])
            #expect(try await home.patiently("set", "k", "v", "--require-sync").status == 0)
            daemon.suspend()
            defer { daemon.resume() }
            let list = try await home.kvs("ls", "--timeout", "0.1")
            #expect(list.status == 0 && list.text == "k\n")
            #expect(list.errors.contains("no answer within 0.1 seconds"), "\(list.errors)")
            let fresh = try await home.kvs("get", "k", "--fresh", "--timeout", "0.1")
            #expect(fresh.status == 69 && fresh.text == "")
            let get = try await home.kvs("get", "k")
            #expect(get.status == 0 && get.text == "v" && get.errors == "")
            #expect(try await home.kvs("sync", "--timeout", "0.1").status == 69)
            let set = try await home.kvs("set", "k", "w", "--timeout", "0.1", "--require-sync")
            #expect(set.status == 75, "\(set.errors)")
            let view = try await home.run("usage-view", ["--timeout", "0.1", "--json"])
            #expect(view.status == 0 && view.text.contains("\"offline\""), "\(view.text)")
        }
    }

    @Test("a device that may only read receives values although it has written some itself")
    func readOnlyWrites() async throws {
        try await withDaemon(devices: ["desk"], readers: ["wall"]) { url, tokens, _, _ in
            let (desk, wall) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(desk, wall) }
            #expect(try await join(desk, url, tokens["desk"]).status == 0)
            #expect(try await desk.patiently("set", "k", "v", "--require-sync").status == 0)
            #expect(try await join(wall, url, tokens["wall"]).status == 0)
            let set = try await wall.patiently("set", "own", "1", "--require-sync")
            #expect(set.status == 77 && set.errors.contains("(read-only)"), "\(set.errors)")
            #expect(try await desk.patiently("set", "k", "w", "--require-sync").status == 0)
            let sync = try await wall.patiently("sync")
            #expect(sync.text == "sent 0, received 1, pending 1\n", "\(sync.errors)")
            #expect(sync.status == 77 && sync.errors.contains("(read-only)"), "\(sync.errors)")
            #expect(try await desk.patiently("set", "k", "x", "--require-sync").status == 0)
            let get = try await wall.patiently("get", "k", "--fresh")
            #expect(get.status == 0 && get.text == "x", "\(get.errors)")
        }
    }

    /// Puts the bytes as `curl --data-binary` does.
    private func put(_ value: String, _ key: String, _ url: String, _ token: String?) async throws {
        let connection = try await RawConnection.open(port: #require(URL(string: url)?.port))
        try await connection.send(
            """
            PUT /v1/stores/default/keys/\(key) HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token ?? "")\r
            Content-Type: application/octet-stream\r
            Content-Length: \(value.utf8.count)\r
            Connection: close\r
            \r
            \(value)
            """)
        #expect(await connection.rest().hasPrefix("HTTP/1.1 200 "))
    }

    @Test("a value that is not a binary property list is listed as bytes and printed unchanged")
    func foreignBytes() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, home, _ in
            let list = #"<?xml version="1.0"?><plist version="1.0"><true/></plist>"#
            try await put(list, "xml", url, tokens["desk"])
            try await put("text", "raw", url, tokens["desk"])
            _ = try await join(home, url, tokens["desk"])
            #expect(try await home.patiently("get", "xml", "--fresh").text == list)
            let raw = try await home.kvs("get", "raw", "--raw")
            #expect(raw.status == 0 && raw.text == "text", "\(raw.errors)")
            let json = try await home.kvs("get", "raw", "--json")
            #expect(json.text == #"{"bytes":4,"key":"raw","type":"bytes","value":"dGV4dA=="}"# + "\n")
            let lines = try await home.kvs("ls", "--long").text
            #expect(lines.contains(/raw +bytes +4\b/), "\(lines)")
            #expect(lines.contains(/xml +bytes +57\b/), "\(lines)")
            #expect(try await home.kvs("ls", "--json").text.contains(#""type" : "bytes""#))
            #expect(try await home.kvs("get", "missing").status == 1)
        }
    }

    @Test("an export leaves out and names a value that is not a property list")
    func foreignValue() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, home, _ in
            try await put("text", "foreign", url, tokens["desk"])
            _ = try await join(home, url, tokens["desk"])
            #expect(try await home.patiently("set", "k", "v", "--require-sync").status == 0)
            let export = try await home.patiently("export", "--fresh")
            #expect(export.status == 65 && export.errors.contains("foreign"), "\(export.errors)")
            #expect(export.text.contains(#""key" : "k""#), "\(export.text)")
        }
    }
}
