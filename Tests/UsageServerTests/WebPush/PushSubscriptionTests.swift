import Foundation
import KVStoreWire
import ServerTestSupport
import Testing

@testable import UsageServer

@Suite("Subscriptions")
struct PushSubscriptionTests {
    private func subscription(_ endpoint: String, _ key: String, _ secret: String) throws(WireError) -> PushSubscription
    { try WireJSON.decode(from: WireJSON.encode(Fields(endpoint: endpoint, keys: .init(p256dh: key, auth: secret)))) }

    private struct Fields: Encodable {
        struct Keys: Encodable { var p256dh, auth: String }
        var endpoint: String
        var keys: Keys
    }

    private let key = TestBrowser(endpoint: "").publicKey
    private let secret = Data(count: 16).base64URL

    @Test("what the browser gives is read, and written the same")
    func roundTrip() throws {
        let browser = TestBrowser(endpoint: "https://push.example.test/send/abc")
        let found: PushSubscription = try WireJSON.decode(from: Data(browser.json.utf8))
        #expect(found.publicKey == browser.publicKey)
        #expect(try WireJSON.decode(from: WireJSON.encode(found)) == found)
    }

    @Test(
        "an endpoint is a bounded URL of HTTP without a user",
        arguments: [
            "", "push.example.test/1", "ftp://push.example.test/1", "file:///etc/passwd",
            "https://user@push.example.test/1", "https://u:p@push.example.test/1", "https:///1",
            "https://push.example.test/\u{e9}", "https://push.example.test/ 1", "https://push.example.test:0/1",
            "https://push.example.test:65536/", "https://push.example.test/" + String(repeating: "a", count: 2_048),
        ])
    func endpoints(endpoint: String) {
        let error = #expect(throws: WireError.self) { try subscription(endpoint, key.base64URL, secret) }
        #expect(error == .malformed("endpoint is invalid"))
    }

    @Test("keys are a point on the curve and 16 bytes, in base64url")
    func keys() throws {
        let endpoint = "https://push.example.test/1"
        _ = try subscription(endpoint, key.base64URL, secret)
        var other = key
        other[64] ^= 1
        let wrong = [
            ("", secret), (key.base64EncodedString() + "=", secret), (other.base64URL, secret),
            (key.dropLast().base64URL, secret), (Data(count: 65).base64URL, secret), ((key + [0]).base64URL, secret),
            (key.base64URL, ""), (key.base64URL, Data(count: 15).base64URL), (key.base64URL, Data(count: 17).base64URL),
            (key.base64URL, "not base64!"),
        ]
        for (key, secret) in wrong {
            let error = #expect(throws: WireError.self) {
                try subscription(endpoint, key, secret)
            }
            #expect(error == .malformed("keys is invalid"))
        }
    }
}
