import Foundation
import HTTPTypes
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@testable import KVStoreServer

@Suite("Pairing codes", .engines, .timeLimit(.minutes(5)))
struct PairingTests {
    private static let start: Int64 = 1_789_732_800_000

    /// A pairing with a code, and the code with another secret part.
    private func codes(
        _ test: TestServer, at now: Int64 = start, name: String? = nil, isReadOnly: Bool = false,
        stores: [String]? = nil
    ) throws -> (right: String, wrong: String) {
        let code = try test.deviceStorage.addPairing(
            name: name, DevicePermissions(isReadOnly: isReadOnly, stores: stores), now: now)
        return (code.text, code.id + String(repeating: "A", count: 22))
    }

    private func pair(
        _ client: TestClient, _ code: String, _ device: String = "tablet", former: String? = nil
    ) async throws -> TestResponse {
        let body = WireJSON.encode(PairingRequest(code: code, device: device, former: former))
        return try await client.execute(uri: "/v1/pair", method: .post, body: ByteBuffer(bytes: body))
    }

    /// Guesses without the limit of an address.
    private static var limits: ServerLimits {
        var limits = TestServer.patient
        limits.failedAuthenticationsPerMinute = 1_000
        return limits
    }

    @Test("a device cannot use up the codes of the others, and codes that have ended make room")
    func codeCount() throws {
        func pairing(_ id: Int, maker: String?, at time: Int64 = Self.start) -> Pairing {
            Pairing(id: "\(id)", codeSHA256: TokenDigest(of: "\(id)"), maker: maker, created: time)
        }
        var table = PairingTable()
        for id in 0..<PairingTable.countPerMaker {
            try table.add(pairing(id, maker: "admin"), now: Self.start)
        }
        #expect(throws: ServerError.self) {
            try table.add(pairing(99, maker: "admin"), now: Self.start)
        }
        for id in 100..<100 + PairingTable.count - PairingTable.countPerMaker {
            try table.add(pairing(id, maker: nil), now: Self.start)
        }
        #expect(throws: ServerError.self) {
            try table.add(pairing(98, maker: nil), now: Self.start)
        }
        let later = Self.start + Pairing.lifetimeMilliseconds
        try table.add(pairing(98, maker: nil, at: later), now: later)
        #expect(table.pairings.count == 1)
    }

    @Test("a code gives a token with the permissions of the pairing, once")
    func once() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let (code, _) = try codes(test, isReadOnly: true, stores: ["s"])
            let answer = try await pair(client, code).decoded(PairingAnswer.self)
            #expect(answer.device == "tablet" && answer.scopes == ["read"])
            #expect(answer.stores == ["s"])
            let me = try await client.execute(
                uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(answer.token)"])
            #expect(try me.decoded(DaemonIdentity.self).deviceID == answer.deviceID)
            let again = try await pair(client, code)
            #expect(again.status == .gone && again.problemCode == "used-code")
        }
    }

    @Test("a page whose cookie the browser would not keep does not use up its code")
    func insecurePage() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let code = try test.deviceStorage.addPairing(name: nil, DevicePermissions(isPage: true), now: Self.start)
            let body = WireJSON.encode(PairingRequest(code: code.text, device: "phone"))
            func signIn(_ headers: HTTPFields) async throws -> TestResponse {
                try await client.execute(
                    uri: "/v1/session", method: .post, headers: headers, body: ByteBuffer(bytes: body))
            }
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for headers in [[:], [site: "none"], [site: "cross-site"]] as [HTTPFields] {
                #expect(try await signIn(headers).problemCode == "insecure-page")
            }
            #expect(try await signIn([site: "same-origin"]).status == .ok)
        }
    }

    private struct PageSecret: Decodable {
        var secret: String
    }

    @Test(
        "a page's cookie, which every server of its host gets, is worth nothing without what its origin keeps, and the other way round"
    )
    func halves() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let (site, session) = (
                try #require(HTTPField.Name("Sec-Fetch-Site")), try #require(HTTPField.Name("Ubiquity-Session"))
            )
            func signIn() async throws -> (cookie: String, secret: String) {
                let code = try test.deviceStorage.addPairing(
                    name: nil, DevicePermissions(isPage: true), now: Self.start)
                let answer = try await client.execute(
                    uri: "/v1/session", method: .post, headers: [site: "same-origin"],
                    body: ByteBuffer(bytes: WireJSON.encode(PairingRequest(code: code.text, device: "phone"))))
                let cookies = answer.headers[values: .setCookie]
                #expect(cookies.count == 1 && cookies[0].contains("; HttpOnly; "))
                let secret = try answer.decoded(PageSecret.self).secret
                return (String(cookies[0].prefix { $0 != ";" }), secret)
            }
            func status(_ headers: HTTPFields) async throws -> Int {
                try await client.execute(uri: "/v1/me", method: .get, headers: headers).status.code
            }
            let (own, other) = (try await signIn(), try await signIn())
            let value = String(own.cookie.drop { $0 != "=" }.dropFirst())
            #expect(!value.contains(own.secret) && !own.secret.contains(value))
            let whole: HTTPFields = [site: "same-origin", .cookie: own.cookie, session: own.secret]
            #expect(try await status(whole) == 200)
            for headers in [
                [site: "same-origin", .cookie: own.cookie],
                [site: "same-origin", .cookie: own.cookie, session: ""],
                [site: "same-origin", .cookie: own.cookie, session: other.secret],
                [site: "same-origin", .cookie: own.cookie, session: value],
                [site: "same-origin", session: own.secret],
                [site: "same-site", .cookie: own.cookie, session: own.secret],
                [.cookie: own.cookie, session: own.secret],
                [.authorization: "Bearer \(value)"],
                [.authorization: "Bearer \(own.secret)"],
                [.authorization: "Bearer \(value)\(own.secret)"],
            ] as [HTTPFields] {
                #expect(try await [401, 429].contains(status(headers)), "\(headers)")
            }
            #expect(try await status(whole) == 200)
        }
    }

    @Test("the token of a page of an earlier version, which was in its cookie, is worth nothing")
    func formerPages() async throws {
        let test = try TestServer(now: { Self.start })
        var random = SystemRandomNumberGenerator()
        let token = DeviceToken(using: &random)
        let page = Device(
            "phone", DevicePermissions(isPage: true), id: "00000000000000b1", created: 1, tokenSHA256: token.digest)
        try test.deviceStorage.change(.account("default")) { table throws(ServerError) in
            try table.add(page)
        }
        try await test.served { client, _ in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            let session = try #require(HTTPField.Name("Ubiquity-Session"))
            let (start, end) = (token.text.prefix(9), token.text.dropFirst(9))
            for headers in [
                [.authorization: "Bearer \(token.text)"],
                [.authorization: "Page \(token.text)"],
                [site: "same-origin", .cookie: "__Host-ubiquity=\(token.text)"],
                [site: "same-origin", .cookie: "__Host-ubiquity=\(start)", session: "\(end)"],
            ] as [HTTPFields] {
                let answer = try await client.execute(uri: "/v1/me", method: .get, headers: headers)
                #expect(answer.status == .unauthorized, "\(headers)")
            }
        }
    }

    @Test("requests without a token, which a foreign page causes, do not keep anyone from signing in")
    func withoutToken() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for headers in [
                [:], [site: "cross-site"], [.authorization: "Basic dTpw"],
                [site: "same-origin", .cookie: "__Host-ubiquity=x"],
            ] as [HTTPFields] {
                for _ in 0..<20 {
                    let answer = try await client.execute(uri: "/v1/me", method: .get, headers: headers)
                    #expect(answer.problemCode == "unauthorized", "\(headers)")
                }
            }
            let (right, _) = try codes(test)
            #expect(try await pair(client, right).status == .ok)
        }
    }

    @Test("a code ends after ten minutes, and a clock that was set back does not prolong it")
    func expired() async throws {
        let now = Mutex(Self.start)
        let test = try TestServer(now: { now.withLock { $0 } })
        try await test.served { client, _ in
            let (code, _) = try codes(test)
            for time in [Self.start + 600_000, Self.start - 3_600_000] {
                now.withLock { $0 = time }
                #expect(try await pair(client, code).problemCode == "expired-code")
            }
            now.withLock { $0 = Self.start + 599_999 }
            #expect(try await pair(client, code).status == .ok)
        }
    }

    @Test("the tenth wrong code makes its pairing void, and no other")
    func guesses() async throws {
        let test = try TestServer(limits: Self.limits, now: { Self.start })
        try await test.served { client, _ in
            let (attacked, bystander) = (try codes(test), try codes(test))
            for _ in 0..<9 {
                #expect(try await pair(client, attacked.wrong).problemCode == "wrong-code")
            }
            #expect(try await pair(client, "AAAAAAAA" + attacked.wrong.dropFirst(8)).problemCode == "wrong-code")
            #expect(try await pair(client, attacked.wrong).problemCode == "wrong-code")
            // Says nothing to those who do not know the code.
            #expect(try await pair(client, attacked.wrong).problemCode == "wrong-code")
            #expect(try await pair(client, attacked.right).problemCode == "void-code")
            #expect(try await pair(client, bystander.right).status == .ok)
        }
    }

    @Test("an address that has failed too often waits, even with the right code")
    func failures() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let (right, _) = try codes(test)
            for _ in 0..<10 {
                #expect(try await pair(client, "guess").problemCode == "wrong-code")
            }
            #expect(try await pair(client, right).problemCode == "failed-authentications")
        }
    }

    @Test("a name that is taken gets a number; an invalid one does not use up the code")
    func names() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            let (code, _) = try codes(test)
            #expect(try await pair(client, code, "a\nb").problemCode == "bad-device-name")
            let answer = try await pair(client, code, TestServer.laptop)
            #expect(try answer.decoded(PairingAnswer.self).device == "laptop-2")
        }
    }

    @Test("a machine keeps its name however often it joins again, and takes no other machine's with a token of its own")
    func formerName() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, _ in
            func join(_ name: String, former: String? = nil) async throws -> PairingAnswer {
                try await pair(client, codes(test).right, name, former: former).decoded(PairingAnswer.self)
            }
            func name(_ token: String) async throws -> String {
                try await client.execute(uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(token)"])
                    .decoded(DaemonIdentity.self).device
            }
            let other = try await join("desk")
            var former = try await join("lap").token
            for _ in 0..<3 {
                let present = try await join("lap", former: former)
                #expect(present.device == "lap" && present.token != former)
                // Until the machine removes it, which may be cut off before that.
                #expect(try await name(former).hasPrefix("lap-"))
                former = present.token
            }
            #expect(try await join("desk", former: former).device == "desk-2")
            #expect(try await join("lap", former: "ubq_none").device == "lap-5")
            #expect(try await name(other.token) == "desk")
            #expect(try await name(former) == "lap")
        }
    }

    @Test("a body without a length or over 4 KiB is refused unread")
    func bodies() async throws {
        let test = try TestServer(now: { Self.start })
        try await test.served { client, port in
            let long = try await client.execute(
                uri: "/v1/pair", method: .post, body: ByteBuffer(string: String(repeating: " ", count: 4_097)))
            #expect(long.problemCode == "body-too-large")
            let raw = try await RawConnection.open(
                port: port, sending: "POST /v1/pair HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n")
            try await raw.wait(for: "body-too-large")
            await raw.close()
        }
    }
}
