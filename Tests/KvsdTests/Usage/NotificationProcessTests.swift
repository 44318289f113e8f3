import Foundation
import HTTPTypes
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

/// The real daemon, and a push service in this process.
@Suite("Notifications of the daemon", .timeLimit(.minutes(5)))
struct NotificationProcessTests {
    private func until(_ usage: UsageDaemon, _ text: String) async throws {
        try await wait { try await usage.send(.get, "/v1/stores/default/keys").text.contains(text) }
    }

    @Test("after a kill the daemon sends new alerts once, encrypted for the browser")
    func kill() async throws {
        let service = try await TestPushService()
        let phone = service.browser("phone")
        let arguments = ["--set", "push-private-hosts=\(service.origin.trimmingPrefix("http://"))"]
        let usage = try await UsageDaemon(arguments: arguments)
        try await usage.push(usage.snapshot("desk", usage.provider(weekly: 40, observedSecondsAgo: 30)))
        let subscribed = try await usage.send(
            .put, "/v1/notifications", [.contentType: "application/json"],
            body: ByteBuffer(string: "{\"subscription\":\(phone.json)}"))
        try #require(subscribed.status == .ok, "\(subscribed.text)")
        let test = try await usage.send(.post, "/v1/notifications/test")
        #expect(test.text.contains("\"sent\":1"), "\(test.text)")
        let tried = try await phone.decrypt(service.next()[0].body)
        #expect(String(decoding: tried, as: UTF8.self).contains("Test notification"))
        try await until(usage, "com.codexbar.usage.alerts.-kvsd-")
        let next = try await usage.killed(arguments: arguments)
        func titles(used: Double, age: Double, count: Int) async throws -> [String] {
            try await next.push(next.snapshot("desk", next.provider(weekly: used, observedSecondsAgo: age)))
            return try await service.next(count).map { request in
                let text = try JSONSerialization.jsonObject(with: phone.decrypt(request.body))
                return (text as? [String: Any])?["title"] as? String ?? ""
            }
        }
        #expect(
            try await titles(used: 80, age: 20, count: 2) == [
                "Codex · Weekly: 80 % used", "Codex · Weekly: runs out before its reset",
            ])
        #expect(try await titles(used: 95, age: 10, count: 1) == ["Codex · Weekly: 95 % used"])
        #expect(service.requests.count == 4)
    }
}
