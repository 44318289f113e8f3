import Essentials

/// What Codex has answered about its limits. Whose they are is kept as fingerprints.
struct CodexAnswer: Codable, Sendable, Equatable {
    var askedAt: Date
    var answeredAt: Date
    /// The fingerprint of the account's address; nil without one.
    var address: String?
    /// Those of the ids of its workspace.
    var workspaces: [String] = []
    /// As of the question: a login that is newer may not be the one that was asked.
    var readings: [LimitReading]
}

/// The state of asking the Codex of one home, in a file of mode 0600:
///
///     {"version": 1, "askedAt": <unix seconds>, "failureCount": 0, "failure": "no answer within 20 s",
///      "answer": {"askedAt": …, "answeredAt": …, "address": "<16 hex digits>", "workspaces": […], "readings": […]}}
struct CodexAskState: Codable, Sendable, Equatable {
    private var version = Self.currentVersion
    var askedAt: Date
    /// In a row.
    var failureCount = 0
    /// Why the last question has no answer.
    var failure: String?
    /// The last one.
    var answer: CodexAnswer?

    private static let currentVersion = 1

    init(askedAt: Date) { self.askedAt = askedAt }

    /// Nil for anything else.
    init?(_ data: Data) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        // The next question replaces it.
        let state = try? decoder.decode(Self.self, from: data)
        guard let state, state.version == Self.currentVersion else { return nil }
        self = state
    }

    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .secondsSince1970
        return encoder.data(of: self)
    }
}
