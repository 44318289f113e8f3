import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Administration of devices", .engines, .timeLimit(.minutes(5)))
struct AdministrationTests {
    private let test = try! TestServer()
    private let store = StoreID(account: "default", name: "s")
    private static let laptop = "/v1/devices/00000000000000a1"
    private static let stranger = "/v1/devices/00000000000000a4"
    private static let admin = "/v1/devices/00000000000000a5"

    private func rename(
        _ client: TestClient, _ path: String, to name: String, as device: String = TestServer.admin
    ) async throws -> TestResponse {
        try await test.send(
            client, .patch, path, as: device, body: ByteBuffer(bytes: WireJSON.encode(DeviceChange(name: name))))
    }

    private func remove(
        _ client: TestClient, _ path: String, as device: String = TestServer.admin
    ) async throws -> TestResponse {
        try await test.send(client, .delete, path, as: device)
    }

    private func open(_ device: String, _ port: Int) async throws -> EventReader {
        _ = try await test.server.engine.sync(Samples.request([Samples.change("k")]), store: store)
        return try await test.openStream(port, "?since=1", as: device)
    }

    @Test("an admin device removes another, whose live stream ends at once")
    func remove() async throws {
        try await test.served { client, port in
            var removed = try await open(TestServer.laptop, port)
            let kept = try await open(TestServer.reader, port)
            let answer = try await remove(client, Self.laptop)
            #expect(answer.status == .noContent && answer.text.isEmpty)
            #expect(answer.headers[.contentLength] == nil && answer.headers[.contentType] == nil)
            #expect(await removed.next() == nil)
            #expect(test.server.devices.presence(of: "00000000000000a2").isConnected)
            await kept.connection.close()
            let me = try await test.send(client, .get, "/v1/me")
            #expect(me.status == .unauthorized)
            let again = try await remove(client, Self.laptop)
            #expect(again.status == .notFound && again.problemCode == "unknown-device")
        }
    }

    @Test("renaming a device keeps its stream, and the list has the new name")
    func rename() async throws {
        try await test.served { client, port in
            var reader = try await open(TestServer.laptop, port)
            let answer = try await rename(client, Self.laptop, to: "Bjørn's desk")
            #expect(answer.status == .ok)
            let renamed = try answer.decoded(DaemonDevice.self)
            #expect(renamed.device == "Bjørn's desk" && renamed.deviceID == "00000000000000a1")
            #expect(renamed.connected)
            _ = try await test.server.engine.sync(Samples.request([Samples.change("l")]), store: store)
            #expect(await reader.next()?.name == "change")
            await reader.connection.close()
            let list = try await test.send(client, .get, "/v1/devices")
            #expect(list.text.contains("Bjørn's desk") && !list.text.contains("\"laptop\""))
        }
    }

    @Test("without the scope admin nothing changes, whichever device is named")
    func notAdmin() async throws {
        try await test.served { client, _ in
            let before = try test.deviceStorage.table(.all)
            for device in [TestServer.laptop, TestServer.reader, TestServer.stranger] {
                for path in [Self.laptop, Self.stranger, "/v1/devices/none"] {
                    for answer in [
                        try await remove(client, path, as: device),
                        try await rename(client, path, to: "x", as: device),
                    ] {
                        #expect(answer.status == .forbidden && answer.problemCode == "no-admin")
                        #expect(answer.text.contains("kvsd device"), "\(answer.text)")
                    }
                }
            }
            #expect(try await remove(client, Self.laptop, as: "nobody").status == .unauthorized)
            #expect(try test.deviceStorage.table(.all) == before)
        }
    }

    @Test("a device of another account is indistinguishable from an unknown one")
    func otherAccount() async throws {
        try await test.served { client, _ in
            let before = try test.deviceStorage.table(.all)
            for (present, unknown) in [
                (try await remove(client, Self.stranger), try await remove(client, "/v1/devices/00000000000000ff")),
                (
                    try await rename(client, Self.stranger, to: "x"),
                    try await rename(client, "/v1/devices/00000000000000ff", to: "x")
                ),
            ] {
                #expect(present.status == .notFound && present.problemCode == "unknown-device")
                #expect(present.body == unknown.body)
            }
            // Nor by its name, although an id may be a name.
            let name = try await remove(client, "/v1/devices/" + TestServer.laptop)
            #expect(name.status == .notFound)
            #expect(try test.deviceStorage.table(.all) == before)
        }
    }

    @Test(
        "an invalid or duplicate name is refused with the name",
        arguments: [
            ("", "bad-device-name", 400, "''"), (" x", "bad-device-name", 400, "' x'"),
            (String(repeating: "n", count: 65), "bad-device-name", 400, "nnnn"),
            ("a\nb", "bad-device-name", 400, "'a b'"),
            ("reader", "duplicate-device-name", 409, "'reader'"),
        ])
    func names(name: String, code: String, status: Int, text: String) async throws {
        try await test.served { client, _ in
            let before = try test.deviceStorage.table(.all)
            let answer = try await rename(client, Self.laptop, to: name)
            #expect(answer.status.code == status && answer.problemCode == code)
            #expect(answer.text.contains(text), "\(answer.text)")
            #expect(try test.deviceStorage.table(.all) == before)
            // Names are unique within an account only, and a device may keep its own.
            #expect(try await rename(client, Self.laptop, to: "stranger").status == .ok)
            #expect(try await rename(client, Self.laptop, to: "stranger").status == .ok)
        }
    }

    @Test(
        "a body that is not a change is malformed",
        arguments: [("", 400), ("{}", 400), ("{\"name\":5}", 400), ("[[[[", 400)])
    func bodies(body: String, status: Int) async throws {
        try await test.served { client, _ in
            let answer = try await test.send(
                client, .patch, Self.laptop, as: TestServer.admin, body: ByteBuffer(string: body))
            #expect(answer.status.code == status && answer.problemCode == "malformed")
            let form = try await test.send(
                client, .patch, Self.laptop, as: TestServer.admin, [.contentType: "text/plain"],
                body: ByteBuffer(string: #"{"name":"x"}"#))
            #expect(form.status == .unsupportedMediaType)
        }
    }

    @Test("a device that removes itself gets the answer, and then nothing more")
    func itself() async throws {
        try await test.served { client, port in
            var reader = try await open(TestServer.admin, port)
            #expect(try await remove(client, Self.admin).status == .noContent)
            #expect(await reader.next() == nil)
            #expect(try await remove(client, Self.laptop).status == .unauthorized)
        }
    }

    @Test("an admin who was removed meanwhile changes nothing")
    func removedMeanwhile() async throws {
        try await test.served { client, _ in
            // The request waits behind this one, with the permissions that it had.
            let gate = DispatchSemaphore(value: 0)
            test.server.fileQueue.async { gate.wait() }
            async let answer = remove(client, Self.laptop)
            try await wait { test.server.devices.presence(of: "00000000000000a5").lastSeen != nil }
            try test.remove(TestServer.admin)
            gate.signal()
            #expect(try await answer.status == .unauthorized)
            #expect(try test.deviceStorage.table(.all).device(id: "00000000000000a1") != nil)
        }
    }

    private func makePairing(_ client: TestClient, _ body: String, token: String) async throws -> TestResponse {
        try await client.execute(
            uri: "/v1/pairings", method: .post, headers: [.authorization: "Bearer \(token)"],
            body: ByteBuffer(string: body))
    }

    private func redeem(_ client: TestClient, _ made: TestResponse) async throws -> TestResponse {
        let code = try made.decoded(PairingCodeAnswer.self).code
        return try await client.execute(
            uri: "/v1/pair", method: .post,
            body: ByteBuffer(bytes: WireJSON.encode(PairingRequest(code: code, device: "tablet"))))
    }

    private func pair(_ client: TestClient, _ body: String, token: String) async throws -> PairingAnswer {
        try await redeem(client, makePairing(client, body, token: token)).decoded(PairingAnswer.self)
    }

    @Test("an admin device pairs devices of its account that may do no more than itself")
    func pairs() async throws {
        try test.deviceStorage.addAccount("work")
        let limited = try test.deviceStorage.add(
            "boss", DevicePermissions(account: "work", stores: ["a", "b"], isAdmin: true)
        ).token
        try await test.served { client, _ in
            let reader = try await pair(client, "{}", token: test.token(TestServer.admin))
            #expect(reader.account == "default" && reader.device == "tablet")
            #expect(reader.scopes == ["read"] && reader.stores == nil)
            let inherited = try await pair(client, "{}", token: limited)
            #expect(inherited.account == "work" && inherited.scopes == ["read", "write"])
            #expect(inherited.stores == ["a", "b"])
            let narrow = try await pair(client, #"{"name":"wall","readOnly":true,"stores":["b"]}"#, token: limited)
            #expect(narrow.device == "wall" && narrow.scopes == ["read"] && narrow.stores == ["b"])
        }
    }

    @Test(
        "a pairing beyond what the caller may do is refused",
        arguments: [
            (TestServer.laptop, "{}", "no-admin"),
            (nil, #"{"stores":["c"]}"#, "unknown-store"),
            (nil, #"{"stores":["../x"]}"#, "bad-store-name"),
            (nil, #"{"name":" x"}"#, "bad-device-name"),
            (nil, #"{"name":"boss"}"#, "device-refused"), (nil, "[]", "malformed"),
            (nil, "{\"stores\":[" + Array(repeating: "\"a\"", count: 101).joined(separator: ",") + "]}", "malformed"),
        ])
    func refusedPairing(device: String?, body: String, code: String) async throws {
        try test.deviceStorage.addAccount("work")
        let limited = try test.deviceStorage.add(
            "boss", DevicePermissions(account: "work", stores: ["a", "b"], isAdmin: true)
        ).token
        try await test.served { client, _ in
            let answer = try await makePairing(client, body, token: device.map(test.token) ?? limited)
            #expect(answer.problemCode == code, "\(answer.text)")
        }
    }

    @Test("a code that a removed device has made adds no device")
    func withdrawn() async throws {
        try await test.served { client, _ in
            let made = try await makePairing(client, "{}", token: test.token(TestServer.admin))
            #expect(try await remove(client, Self.admin).status == .noContent)
            let answer = try await redeem(client, made)
            #expect(answer.status == .gone && answer.problemCode == "void-code")
            #expect(answer.text.contains("has been removed"), "\(answer.text)")
        }
    }

    @Test("while devices.json cannot be written, nothing changes and the answer says where to look", .logOnly)
    func unwritable() async throws {
        try await test.served { client, _ in
            // No file can be created at a path that is a directory.
            let lock = test.directory.path + "/devices.json.lock"
            try FileManager.default.removeItem(atPath: lock)
            try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
            let answer = try await remove(client, Self.laptop)
            #expect(answer.problemCode == "device-change-failed", "\(answer.text)")
            #expect(answer.headers[HTTPField.Name("Ubiquity-Request")!] != nil)
            #expect(try test.deviceStorage.table(.all).device(id: "00000000000000a1") != nil)
        }
    }
}
