import TestSupport
import Testing

@Suite("kvs and a full account", .timeLimit(.minutes(5)))
struct AccountLimitTests {
    @Test("a refused value stays pending, kvs names the limit, and the value is sent when it is raised")
    func full() async throws {
        try await DaemonTests().withDaemon(devices: ["desk", "phone"]) { url, tokens, server, _ in
            let limit = { (size: String) in
                let outcome = try await server.run("kvsd", ["account", "limit", "default", "--max-bytes", size])
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            let (desk, phone) = (try TemporaryHome(), try TemporaryHome())
            defer { TemporaryHome.remove(desk, phone) }
            for (home, name) in [(desk, "desk"), (phone, "phone")] {
                _ = try await DaemonTests().join(home, url, tokens[name])
            }
            func kvs(_ home: TemporaryHome, _ arguments: String...) async throws -> TemporaryHome.Outcome {
                try await home.run("kvs", arguments + ["--timeout", "120"])
            }
            try await limit("2kB")
            let value = String(repeating: "v", count: 2_000)
            let refused = try await kvs(desk, "set", "k", value, "--require-sync")
            #expect(refused.status != 0)
            #expect(refused.errors.contains("account-full"), "\(refused.errors)")
            #expect(refused.errors.contains("2000 bytes"), "\(refused.errors)")
            #expect(try await kvs(desk, "get", "k").text == value)
            let status = try await kvs(desk, "status").text
            #expect(
                status.contains(/pending +1 key/) && status.contains(/refused +1 key, k; .*account-full/), "\(status)")
            // What is refused keeps nothing from being received, and nothing that has room from being sent.
            _ = try await kvs(phone, "set", "small", "1", "--require-sync")
            #expect(try await kvs(desk, "get", "small", "--fresh").text == "1")
            let tiny = try await kvs(desk, "set", "tiny", "2", "--require-sync")
            #expect(tiny.status == 0 && tiny.errors.isEmpty, "\(tiny.errors)")
            #expect(try await kvs(phone, "get", "tiny", "--fresh").text == "2")
            #expect(try await kvs(desk, "rm", "small", "--require-sync").status == 0)
            #expect(try await kvs(phone, "get", "small", "--fresh").status == 1)
            let unsent = try await kvs(desk, "sync")
            #expect(unsent.status == 75 && unsent.errors.contains("1 key, k; "), "\(unsent.errors)")
            try await limit("1MB")
            #expect(try await kvs(desk, "sync").text.contains("sent 1,"))
            #expect(try await kvs(phone, "get", "k", "--fresh").text == value)
        }
    }
}
