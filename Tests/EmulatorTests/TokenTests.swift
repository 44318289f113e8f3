import Foundation
import HTTPTypes
import KVStoreEmulator
import KVStoreServer
import KVStoreWire
import ServerTestSupport
import Testing

@Suite("Tokens of the emulator", .timeLimit(.minutes(5)))
struct TokenTests {
    @Test("devices of one world share its stores, and other worlds see nothing of them")
    func worlds() async throws {
        try await EmulatorClient.run { client in
            #expect(try await client.put("green", "color", token: "one/phone").status == .ok)
            #expect(try await client.get("color", token: "one/desk") == "green")
            #expect(try await client.get("color", token: "one") == "green")
            #expect(try await client.get("color", token: "two/phone") == nil)
            let stores = try await client.execute(.get, "/v1/stores", token: "two/phone")
            #expect(stores.text == #"{"stores":[]}"#)
        }
    }

    @Test("a token names a device with all scopes")
    func identity() async throws {
        try await EmulatorClient.run { client in
            let me = try await client.execute(.get, "/v1/me", token: "one/phone").decoded(DaemonIdentity.self)
            #expect(me.account == "one" && me.device == "phone" && me.stores == nil)
            #expect(me.scopes == ["read", "write", "admin"])
            let anonymous = try await client.execute(.get, "/v1/me", token: "one").decoded(DaemonIdentity.self)
            #expect(anonymous.account == "one" && anonymous.device == "device")
            let same = try await client.execute(.get, "/v1/me", token: "one/device").decoded(DaemonIdentity.self)
            #expect(same.deviceID == anonymous.deviceID && same.deviceID != me.deviceID)
            let devices = try await client.execute(.get, "/v1/devices", token: "one/phone")
                .decoded(DeviceList.self).devices
            #expect(devices.map(\.device) == ["phone", "device"])
            #expect(devices.first?.deviceID == me.deviceID)
            #expect(devices.allSatisfy { $0.lastSeen != nil && !$0.connected })
        }
    }

    @Test(
        "any bearer token names a world with a valid name",
        arguments: [
            "ubq_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG", "a.b-c_d", "~+~", "abc==",
            ".hidden", String(repeating: "x", count: 1_024),
            "w/" + String(repeating: "d", count: 99),
            "a/b/c",
        ])
    func names(token: String) async throws {
        try await EmulatorClient.run { client in
            let me = try await client.execute(.get, "/v1/me", token: token).decoded(DaemonIdentity.self)
            for name in [me.account, me.device] {
                #expect(name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}/) != nil, "\(name)")
            }
            // The name is another token for the same world.
            let again = try await client.execute(.get, "/v1/me", token: "\(me.account)/\(me.device)")
                .decoded(DaemonIdentity.self)
            #expect(again.deviceID == me.deviceID)
        }
    }

    @Test("long and odd tokens that differ name different worlds")
    func distinctNames() async throws {
        try await EmulatorClient.run { client in
            let long = String(repeating: "x", count: 100)
            var worlds: Set<String> = []
            for token in [long, long + "y", "~a", "+a", "-a", "..a"] {
                worlds.insert(
                    try await client.execute(.get, "/v1/me", token: token).decoded(DaemonIdentity.self).account)
            }
            #expect(worlds.count == 6)
        }
    }

    @Test(
        "an invalid token is refused with the grammar, however often it is sent",
        arguments: [
            "Bearer ", "Bearer =", "Bearer a b", "Bearer a\"b", "Bearer ä", "Bearer /device",
            "Bearer world/", "Basic d29ybGQ=", "world", "Bearer a=b",
            "Bearer " + String(repeating: "x", count: 1_025),
        ])
    func invalid(authorization: String) async throws {
        try await EmulatorClient.run { client in
            for _ in 0..<20 {
                let answer = try await client.execute(.get, "/v1/me", headers: [.authorization: authorization])
                #expect(answer.status == .unauthorized && answer.problemCode == "unauthorized")
                #expect(answer.text.contains("WORLD/DEVICE"))
            }
            let worlds = try await client.administer(.get, "/worlds")
            #expect(worlds.text == #"{"worlds":[]}"#)
        }
    }

    @Test("a request without a token is refused, except for what needs none in a daemon")
    func noToken() async throws {
        try await EmulatorClient.run { client in
            for path in ["/v1/me", "/v1/devices", "/v1/stores", "/v1/stores/s/keys"] {
                let answer = try await client.execute(.get, path)
                #expect(answer.status == .unauthorized, "\(path)")
            }
            #expect(try await client.execute(.get, "/healthz").status == .ok)
            #expect(try await client.execute(.get, "/metrics").status == .ok)
        }
    }

    @Test("devices cannot be renamed or paired; a removed one is back with its next request")
    func deviceAdministration() async throws {
        try await EmulatorClient.run { client in
            let me = try await client.execute(.get, "/v1/me", token: "w/phone").decoded(DaemonIdentity.self)
            let json: HTTPFields = [.contentType: "application/json"]
            let renamed = try await client.execute(
                .patch, "/v1/devices/\(me.deviceID)", token: "w/desk", headers: json, body: #"{"name":"new"}"#)
            #expect(renamed.status == .forbidden && renamed.problemCode == "emulated-device")
            let code = try await client.execute(.post, "/v1/pairings", token: "w/desk", headers: json, body: "{}")
            #expect(code.status == .forbidden && code.problemCode == "no-pairing")
            let paired = try await client.execute(.post, "/v1/pair", headers: json, body: #"{"code":"x"}"#)
            #expect(paired.problemCode == "no-pairing")
            try await client.put("v", "k", token: "w/desk")
            var reader = try await client.stream("/v1/stores/s/changes", token: "w/phone")
            #expect(await reader.nextEvent()?.name == "opened")
            let removed = try await client.execute(.delete, "/v1/devices/\(me.deviceID)", token: "w/desk")
            #expect(removed.status == .noContent)
            while await reader.nextEvent() != nil {}
            let again = try await client.execute(.get, "/v1/me", token: "w/phone").decoded(DaemonIdentity.self)
            #expect(again.deviceID == me.deviceID)
        }
    }

    @Test(
        "it listens on the loopback interface only, unless hosts are named",
        arguments: ["0.0.0.0", "::", "192.0.2.1", "example.org"])
    func loopback(host: String) throws {
        let address = ListenAddress(host: host, port: 0)
        #expect(throws: ServerError.self) { try Emulator(address: address) }
        _ = try Emulator(address: address, hosts: ["emulator.test", "[2001:db8::7]"])
    }

    @Test(
        "what no URL has as its host is refused with its name",
        arguments: ["", "http://a", "a:80", "a/b", "a b", "[a]:1", "*", "a\u{1B}[2J"])
    func invalidHost(host: String) throws {
        let error = #expect(throws: ServerError.self) { try Emulator(hosts: [host]) }
        #expect(error?.message.hasPrefix("'") == true && error?.message.contains("\u{1B}") == false)
    }
}
