import Foundation
import TestSupport
import Testing

/// Three machines of one account and a daemon with TLS, all as programs.
@Suite("Sealed values of kvs", .timeLimit(.minutes(5)))
struct SealTests {
    private func withMachines(
        _ body: (PairedDaemon, _ desk: TemporaryHome, _ laptop: TemporaryHome, _ phone: TemporaryHome)
            async throws -> Void
    ) async throws {
        let homes = try (0..<4).map { _ in try TemporaryHome() }
        defer { for home in homes { home.remove() } }
        let daemon = try await PairedDaemon(homes[0])
        do {
            for home in homes.dropFirst() {
                _ = try await run(home, "join", daemon.pair())
            }
            try await body(daemon, homes[1], homes[2], homes[3])
        } catch { Issue.record(error) }
        await daemon.stop()
    }

    private func run(_ home: TemporaryHome, _ arguments: String..., input: String = "") async throws -> String {
        let outcome = try await home.run("kvs", arguments, input: Data(input.utf8))
        try #require(outcome.status == 0, "kvs \(arguments): \(outcome.errors)")
        return outcome.text
    }

    @Test("a value sealed on one machine is read on another, and no file of the daemon has any of it")
    func sharing() async throws {
        try await withMachines { daemon, desk, laptop, phone in
            _ = try await run(desk, "seal", "create", "--name", "desk")
            let words = try await run(desk, "seal", "show")
            #expect(words.split(separator: " ").count == 12)
            let joined = try await run(laptop, "seal", "join", "--name", "laptop", input: words)
            #expect(joined == (try await run(desk, "seal", "status")).split(separator: "\n")[0] + "\n")
            _ = try await run(desk, "set", "--sealed", "shopping", "milk and honey", "--require-sync")
            #expect(try await run(laptop, "get", "--sealed", "--fresh", "shopping") == "milk and honey")
            #expect(try await run(laptop, "ls", "--sealed") == "shopping\n")
            let stranger = try await phone.run("kvs", ["get", "--sealed", "--fresh", "shopping"])
            #expect(stranger.status == 78 && stranger.errors.contains("kvs seal join"))
            let log = await daemon.stop()
            let files = try #require(
                FileManager.default.enumerator(atPath: daemon.path(""))?.compactMap {
                    $0 as? String
                })
            for secret in ["milk", "shopping", words] {
                #expect(!log.contains(secret))
                for file in files {
                    let bytes = FileManager.default.contents(atPath: daemon.path(file)) ?? Data()
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
                }
            }
        }
    }

    @Test("a device that is left out reads nothing new, and the others need no words")
    func rotation() async throws {
        try await withMachines { _, desk, laptop, phone in
            _ = try await run(desk, "seal", "create", "--name", "desk")
            let words = try await run(desk, "seal", "show")
            for (home, name) in [(laptop, "laptop"), (phone, "phone")] {
                _ = try await run(home, "seal", "join", "--name", name, input: words)
            }
            _ = try await run(desk, "set", "--sealed", "note", "old", "--require-sync")
            #expect(try await run(phone, "get", "--sealed", "--fresh", "note") == "old")
            let rotated = try await desk.run("kvs", ["seal", "rotate", "--without", "phone"])
            #expect(rotated.status == 0 && rotated.errors.contains("Sealed 1 value again."))
            _ = try await run(desk, "set", "--sealed", "note", "new", "--require-sync")
            #expect(try await run(laptop, "get", "--sealed", "--fresh", "note") == "new")
            #expect(try await phone.run("kvs", ["get", "--sealed", "--fresh", "note"]).status == 78)
            let status = try await run(laptop, "seal", "status")
            #expect(status.contains("laptop") && !status.contains("phone"))
            _ = try await run(laptop, "rm", "--sealed", "note", "--require-sync")
            #expect(try await desk.run("kvs", ["get", "--sealed", "--fresh", "note"]).status == 1)
        }
    }

    @Test(
        "mistakes are answered with the next step",
        arguments: [
            (["seal", "show"], 78, "kvs seal join"), (["seal", "rotate"], 78, "kvs seal join"),
            (["set", "--sealed", "k", "v"], 78, "kvs seal join"), (["seal", "join"], 64, "a key has 12 words"),
            (["get", "--sealed", "k"], 1, "no value"),
        ])
    func mistakes(arguments: [String], status: Int32, text: String) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run("kvs", arguments, input: Data("some words\n".utf8))
        #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome.errors)")
    }
}
