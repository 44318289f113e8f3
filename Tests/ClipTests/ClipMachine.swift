import Foundation
import TestSupport
import Testing

/// A machine with a history, on which the real programs are run.
struct ClipMachine: Sendable {
    let home: TemporaryHome

    /// Runs `clip`, which has to succeed, and returns its output.
    @discardableResult
    func clip(_ arguments: String..., input: String = "") async throws -> String {
        let outcome = try await home.run("clip", arguments, input: Data(input.utf8))
        try #require(outcome.status == 0, "clip \(arguments): \(outcome)")
        return outcome.text
    }

    @discardableResult
    func kvs(_ arguments: String..., input: String = "") async throws -> String {
        let outcome = try await home.run("kvs", arguments, input: Data(input.utf8))
        try #require(outcome.status == 0, "kvs \(arguments): \(outcome)")
        return outcome.text
    }

    /// Runs `clip`, which may fail.
    func outcome(_ arguments: String..., input: String = "") async throws -> TemporaryHome.Outcome {
        try await home.run("clip", arguments, input: Data(input.utf8))
    }

    func add(_ text: String) async throws { try await clip("add", input: text) }

    /// The titles of the list, each with its pin and number of copies where these are not none and one.
    func list(_ arguments: String...) async throws -> [String] {
        let outcome = try await home.run("clip", ["list", "--format", "title|pin|copies"] + arguments)
        try #require(outcome.status == 0, "\(outcome)")
        return outcome.text.split(separator: "\n").map { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            return parts[0] + (parts[1].isEmpty ? "" : " [\(parts[1])]") + (parts[2] == "1" ? "" : " ×\(parts[2])")
        }
    }

    static func with(_ body: (ClipMachine) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await body(ClipMachine(home: home))
    }
}

/// Two machines of one account with a content key, and their daemon.
struct ClipMachines {
    let daemon: PairedDaemon
    let desk: ClipMachine
    let laptop: ClipMachine
    let words: String

    /// - Parameter sharing: whether both share their history.
    static func with(sharing: Bool = true, _ body: (ClipMachines) async throws -> Void) async throws {
        let homes = try (0..<3).map { _ in try TemporaryHome() }
        defer { for home in homes { home.remove() } }
        let daemon = try await PairedDaemon(homes[0])
        do {
            let (desk, laptop) = (ClipMachine(home: homes[1]), ClipMachine(home: homes[2]))
            try await desk.kvs("join", "--name", "desk", daemon.pair())
            try await laptop.kvs("join", "--name", "laptop", daemon.pair())
            try await desk.kvs("seal", "create", "--name", "desk")
            let words = try await desk.kvs("seal", "show")
            try await laptop.kvs("seal", "join", "--name", "laptop", input: words)
            if sharing {
                for machine in [desk, laptop] { try await machine.clip("sync", "on", "--yes") }
            }
            try await body(ClipMachines(daemon: daemon, desk: desk, laptop: laptop, words: words))
        } catch { Issue.record(error) }
        await daemon.stop()
    }
}
