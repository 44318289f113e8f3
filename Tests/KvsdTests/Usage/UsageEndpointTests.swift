import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import ServerTestSupport
import SnapshotModels
import Testing
import UsageState

@Suite("GET /v1/usage", .timeLimit(.minutes(5)))
struct UsageEndpointTests {
    /// Without members that depend on time or that only the daemon knows.
    private static func comparable(_ json: Data) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: json)
        var document = try #require(object as? [String: Any])
        document["generatedAt"] = nil
        func without(_ names: String..., in list: Any?) throws -> [[String: Any]] {
            try #require(list as? [[String: Any]]).map { element in
                element.filter { !names.contains($0.key) }
            }
        }
        document["devices"] = try without("ageSeconds", "availability", in: document["devices"])
        document["providers"] = try without("ageSeconds", in: document["providers"]).map {
            var provider = $0
            provider["windows"] = try without("resetsInSeconds", in: $0["windows"])
            return provider
        }
        return document
    }

    @Test("the JSON is what usage-view --json prints of the same store")
    func equalsViewer() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(
            usage.snapshot("desk", usage.provider(cost: usage.cost), usage.provider("claude", "Claude")))
        try await usage.push(
            usage.snapshot("laptop", pushedSecondsAgo: 4_000, usage.provider(session: 99.6, observedSecondsAgo: 4_000)))
        try await usage.pushHistory(of: usage.provider(), quarters: 1_920)
        var home = try TemporaryHome()
        defer { home.remove() }
        home.variables = [
            "UBIQUITY_DAEMON": "http://127.0.0.1:\(usage.daemon.port)",
            "UBIQUITY_TOKEN": usage.token,
        ]
        let viewer = try await home.run("usage-view", ["--json", "--timeout", "30"])
        try #require(viewer.status == 0, "\(viewer.errors)")
        let response = try await usage.get()
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        let expected = try Self.comparable(viewer.output)
        let found = try Self.comparable(Data(response.body.readableBytesView))
        #expect((expected["providers"] as? [Any])?.count == 2)
        #expect((expected["devices"] as? [Any])?.count == 2)
        // Learned from the history.
        #expect(try await usage.report().providers.contains { $0.windows[0].pace?.basis != nil })
        #expect(HTTPExamples.matches(expected, found), "\(response.text)\n\(viewer.text)")
    }

    @Test("only a token that may read the store is answered")
    func authorization() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(usage.snapshot("desk", usage.provider()))
        let unknown = try await usage.get(token: "ubq_unknown")
        #expect(unknown.status == .unauthorized && unknown.problemCode == "unauthorized")
        let reader = try await usage.addDevice("reader", "--read-only")
        #expect(try await usage.get(token: reader).status == .ok)
        let limited = try await usage.addDevice("limited", "--store", "notes")
        for store in ["default", "absent"] {
            let refused = try await usage.get("?store=\(store)", token: limited)
            #expect(refused.status == .notFound && refused.problemCode == "unknown-store")
        }
        _ = try await DaemonProcess.run([
            "account", "add", "other", "--data", usage.daemon.dataPath,
        ])
        let stranger = try await usage.addDevice("stranger", "--account", "other")
        let own = try await usage.get("?format=text", token: stranger)
        #expect(own.text.hasPrefix("Waiting for the first push"))
        #expect(!own.text.contains("Codex"))
    }

    @Test("a page of another site is refused, and no page may read an answer")
    func origins() async throws {
        let usage = try await UsageDaemon()
        let origin = try #require(HTTPField.Name("Origin"))
        let foreign = try await usage.get("", [origin: "https://site.example.test"])
        #expect(foreign.status == .forbidden && foreign.problemCode == "foreign-origin")
        let own = try await usage.get("", [origin: "http://localhost"])
        #expect(own.status == .ok)
        for response in [foreign, own] {
            let names = response.headers.map(\.name.rawName)
            #expect(!names.contains { $0.lowercased().hasPrefix("access-control") })
        }
    }

    @Test("the socket in the data directory answers too")
    func socket() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(usage.snapshot("desk", usage.provider()))
        let client = TestClient(socketPath: usage.socketPath)
        let response = try await client.execute(
            uri: "/v1/usage?format=text", method: .get, headers: [.authorization: "Bearer \(usage.token)"])
        #expect(response.status == .ok && response.text.contains("36 % used"))
        await client.close()
    }

    @Test(
        "a wrong query is refused with what is wrong and what to do",
        arguments: [
            ("?format=xml", 400, "bad-query", "'xml'", "format=json"),
            ("?left=maybe", 400, "bad-query", "'maybe'", "left=true"),
            ("?zone=Mars", 400, "bad-query", "'Mars'", "zone=+02:00"),
            ("?provider=%FF", 400, "bad-query", "provider", "%25"),
            ("?store=.hidden", 400, "bad-store-name", "128", "another name"),
            ("?store=absent", 404, "unknown-store", "store", "GET /v1/stores"),
            ("?provider=cdoex", 404, "unknown-usage", "provider 'cdoex'", "'codex', 'Codex'"),
            ("?account=x&format=svg", 404, "unknown-usage", "account 'x'", "'dev@example.test'"),
            ("?window=opus&format=text", 404, "unknown-usage", "window 'opus'", "'Session (5h)'"),
        ])
    func wrongQuery(query: String, status: Int, code: String, detail: String, hint: String) async throws {
        let usage = try await UsageDaemon()
        try await usage.push(usage.snapshot("desk", usage.provider()))
        let response = try await usage.get(query)
        #expect(response.status.code == status && response.problemCode == code)
        #expect(response.headers[.contentType] == "application/problem+json")
        let problem = try #require(
            try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView))
                as? [String: Any])
        #expect((problem["detail"] as? String)?.contains(detail) == true, "\(response.text)")
        #expect((problem["hint"] as? String)?.contains(hint) == true, "\(response.text)")
    }

    @Test("only GET and HEAD are answered")
    func methods() async throws {
        let usage = try await UsageDaemon()
        let post = try await usage.send(.post, UsageDaemon.path)
        #expect(post.status == .methodNotAllowed && post.headers[.allow] == "GET, HEAD")
        let head = try await usage.send(.head, UsageDaemon.path)
        let get = try await usage.get()
        #expect(head.status == .ok && head.text == "" && get.text != "")
        #expect(head.headers[.eTag] == get.headers[.eTag])
        #expect(head.headers[.contentType] == "application/json")
    }

    @Test("an answer that the client has is not sent again until something changes")
    func entityTags() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(usage.snapshot("desk", usage.provider()))
        for query in ["", "?format=svg", "?provider=codex"] {
            let tag = try #require(try await usage.get(query).headers[.eTag])
            for tags in [tag, "\"other\", \(tag)", "*", "W/" + tag.drop { $0 != "\"" }] {
                let response = try await usage.get(query, [.ifNoneMatch: tags])
                #expect(response.status == .notModified && response.text == "", "\(query) \(tags)")
                #expect(response.headers[.eTag] == tag)
            }
            #expect(try await usage.get(query, [.ifNoneMatch: "\"other\""]).status == .ok)
        }
        let former = try await usage.get().headers[.eTag]
        try await usage.push(usage.snapshot("desk", usage.provider(session: 37)))
        let changed = try await usage.get("", [.ifNoneMatch: former ?? ""])
        #expect(changed.status == .ok && changed.headers[.eTag] != former)
        #expect(try await usage.report().providers[0].windows[0].usedPercent == 37)
    }

    @Test("the answer for a store without usage says why and what to do")
    func emptyStates() async throws {
        let usage = try await UsageDaemon()
        func check(_ situation: ViewModel.Situation, _ text: String, _ badge: String) async throws {
            #expect(try await usage.report("?provider=codex").situation == situation)
            #expect(try await usage.report().connection == .online)
            #expect(try await usage.get("?format=text").text.contains(text))
            #expect(try await usage.get("?format=svg").text.contains(badge))
        }
        try await check(.waitingForFirstPush, "start usage-push", ": waiting for the first push")
        try await usage.put(Data("{".utf8), key: SyncedUsageSnapshot.storeKey)
        try await check(.unreadable, "cannot be read: push again", ": unreadable")
        try await usage.push(usage.snapshot("desk"))
        try await check(.noProviders, "usage-push sources", ": no providers")
        // Neither a foreign value nor an unreadable device's key hides the others.
        try await usage.put(Data([0xFF]), key: SyncedUsageSnapshot.storeKey(deviceID: "broken"))
        try await usage.push(usage.snapshot("laptop", usage.provider()))
        #expect(try await usage.report().situation == .ready)
    }

    @Test("availability is what the daemon knows of a device, otherwise the age of its last push")
    func connections() async throws {
        let usage = try await UsageDaemon()
        _ = try await usage.addDevice("laptop")
        for device in ["desk.home.example.test", "laptop", "elsewhere"] {
            try await usage.push(usage.snapshot(device, usage.provider()))
        }
        var reader = try await EventReader(
            port: usage.daemon.port, path: "/v1/stores/default/changes", token: usage.token)
        #expect(await reader.next()?.name == "opened")
        let devices = try await usage.report().devices
        #expect(devices.map(\.name) == ["desk", "elsewhere", "laptop"])
        #expect(devices.map(\.availability) == [.online, .active, .offline])
        #expect(devices.map(\.presence) == [.active, .active, .active])
        await reader.connection.close()
    }

    @Test("pushes with the daemon's id belong to that device, whatever its name is")
    func identity() async throws {
        let usage = try await UsageDaemon()
        for name in ["laptop", "tower"] {
            var snapshot = usage.snapshot(name, usage.provider())
            snapshot.deviceName = "desk"
            snapshot.daemonDeviceID = try await usage.deviceID(token: usage.addDevice(name))
            try await usage.push(snapshot)
        }
        func cards() async throws -> [[String]] {
            struct Cards: Decodable {
                struct Device: Decodable { var name: String, daemonID: String?, pushes: Bool }
                var devices: [Device]
            }
            let response = try await usage.get("?format=cards")
            let data = Data(response.body.readableBytesView)
            return try JSONDecoder().decode(Cards.self, from: data).devices
                .map { [$0.name, $0.daemonID ?? "", $0.pushes ? "pushes" : ""] }
                .sorted { $0[0] < $1[0] }
        }
        let others = try await cards()
        #expect(others.map { $0[0] } == ["desk", "laptop", "tower"])
        #expect(others.map { $0[2] } == ["", "pushes", "pushes"])
        #expect(Set(others.map { $0[1] }).count == 3)
        #expect(try await usage.report().devices.count == 2)
        // An older pusher of "desk" beside them.
        try await usage.push(usage.snapshot("desk", usage.provider()))
        #expect(try await cards().map { $0[2] } == ["pushes", "pushes", "pushes"])
        #expect(try await cards().map { $0[1] } == others.map { $0[1] })
    }

    @Test("every form has the daemon's names, and nothing of a removed device")
    func namesAndRemoval() async throws {
        let usage = try await UsageDaemon()
        let attic = try await usage.deviceID(token: usage.addDevice("attic"))
        for (name, id) in [("desk", try await usage.deviceID()), ("attic", attic)] {
            var snapshot = usage.snapshot(name, usage.provider(account: name + "@example.test", cost: usage.cost))
            snapshot.deviceName = "ip-of-" + name
            snapshot.daemonDeviceID = id
            try await usage.push(snapshot)
        }
        let names = ["json", "cards", "details", "spending", "text", "svg"]
        func forms() async throws -> [String: String] {
            var forms: [String: String] = [:]
            for name in names { forms[name] = try await usage.get("?format=\(name)").text }
            return forms
        }
        for (name, text) in try await forms() {
            #expect(!text.contains("ip-of-"), "\(name): \(text)")
            let isNamed = text.contains(/"(desk|attic)"/)
            #expect(isNamed == ["json", "cards", "details", "spending"].contains(name), "\(name): \(text)")
        }
        let removed = try await DaemonProcess.run(["device", "remove", "attic", "--data", usage.daemon.dataPath])
        #expect(removed.status == 0, "\(removed)")
        for (name, text) in try await forms() {
            for left in ["attic", attic] {
                #expect(!text.contains(left), "\(name): \(text)")
            }
        }
        #expect(try await usage.report().providers.map(\.account) == ["desk@example.test"])
    }

    @Test("every documented example is answered as documented")
    func documentation() async throws {
        let messages = try HTTPExamples("docs/usage-endpoint.md").messages()
        try #require(messages.count == 4)
        let usage = try await UsageDaemon()
        var snapshot = usage.snapshot("desk", usage.provider(cost: usage.cost))
        snapshot.daemonDeviceID = try await usage.deviceID()
        try await usage.push(snapshot)
        for index in stride(from: 0, to: messages.count, by: 2) {
            let (request, answer) = (messages[index], messages[index + 1])
            let response = try await usage.send(.get, String(request.start.dropFirst(4)))
            #expect(answer.start.hasPrefix("HTTP/1.1 \(response.status.code) "))
            for (name, value) in answer.headers {
                #expect(response.headers[try #require(HTTPField.Name(name))] == value)
            }
            let found = try HTTPExamples.json(response.text)
            #expect(
                HTTPExamples.matches(try HTTPExamples.json(answer.body), found),
                "\(request.location): \(response.text)")
        }
    }
}
