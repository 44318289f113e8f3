@testable import clip
import Foundation
import KVStoreHTTP
import StoreTestSupport
import TestSupport
import Testing

/// A private home into which histories are imported; removed with the last reference.
final class ImportHome: Sendable {
    let home: TemporaryHome

    init() throws { home = try TemporaryHome() }

    deinit { home.remove() }

    static let fixtures = Repository.fixtures.appending(path: "clip").path

    struct Summary: Decodable, Equatable {
        var read = 0
        var added = 0
        var alreadyThere = 0
        var leftOut = 0
        var notFitting = 0
        var removed = 0
        var skipped: [String: Int] = [:]
    }

    /// Runs the program, which must succeed.
    func importing(_ arguments: String...) async throws -> Summary {
        let outcome = try await home.run("clip", ["import", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        return try JSONDecoder().decode(Summary.self, from: outcome.output)
    }

    func withStore<Result>(_ body: (HistoryStore) throws -> Result) throws -> Result {
        let store = try HistoryStore(ClipFiles(environment: StoreEnvironment(home: home.path)))
        defer { store.close() }
        return try body(store)
    }

    func items() throws -> [ItemKey: ClipItem] { try withStore { $0.history(HistoryLimits()).items } }

    /// What is in the history, the newest first, as a table.
    func table() throws -> [String] {
        try items().values.sorted { ($0.lastCopied, $0.firstCopied) > ($1.lastCopied, $1.firstCopied) }
            .map(Self.row)
    }

    /// When copied first and last, how often, pin, application, and contents by type.
    private static func row(_ item: ClipItem) -> String {
        let pin =
            switch item.pin.pin {
            case nil: "-"
            case .unlettered: "*"
            case .letter(let letter): String(letter.character)
            }
        let parts = item.contents?.parts.map { part in
            let text = String(validating: part.data, as: UTF8.self)
            return part.type.rawValue + "=" + (text.map { $0.debugDescription } ?? "\(part.data.count) bytes")
        }
        return [
            String(item.firstCopied.milliseconds), String(item.lastCopied.milliseconds), "×\(item.copyCount)", pin,
            item.origin.application ?? "-", parts?.joined(separator: " ") ?? "stub",
        ].joined(separator: " ")
    }
}
