import Foundation

/// Counts the tokens that transcripts account for, each answer once.
///
/// Answers are written several times: while they stream, when a session is resumed in another
/// file, and when a side chain replays its parent. The rules, over all files together:
/// - A line without a message id counts as it is; lines of the model "<synthetic>" do not count.
/// - Lines with the same message id and request id are one answer. One of the main chain is
///   preferred to one of a side chain, then the one with more tokens.
/// - A side chain's line whose message id the main chain has too, under any request id, is a
///   replay and does not count.
///
/// The order of lines and files does not matter. The result is an amount, never a percent: see
/// `ClaudeSource`.
struct ClaudeTokenCount: Sendable {
    static let needle = ByteNeedle("\"input_tokens\"")

    struct Tokens: Sendable, Hashable {
        var input = 0
        var output = 0
        var cacheWrite = 0
        var cacheRead = 0

        var total: Int { [input, output, cacheWrite, cacheRead].reduce(0, Self.sum) }

        mutating func add(_ other: Tokens) {
            input = Self.sum(input, other.input)
            output = Self.sum(output, other.output)
            cacheWrite = Self.sum(cacheWrite, other.cacheWrite)
            cacheRead = Self.sum(cacheRead, other.cacheRead)
        }

        private static func sum(_ left: Int, _ right: Int) -> Int {
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? .max : sum
        }
    }

    /// One line that states tokens.
    struct Row: Sendable {
        var at: Date
        var messageID: String?
        var requestID: String?
        var isSidechain: Bool
        var tokens: Tokens

        /// Nil for every other line.
        init?(line: Data) {
            guard let row = JSONFields(line), row.text("type") == "assistant",
                let at = row.date("timestamp"), let message = row.fields("message"),
                message.text("model") != "<synthetic>", let usage = message.fields("usage")
            else { return nil }
            self.at = at
            messageID = message.text("id")
            requestID = row.text("requestId")
            isSidechain = row.flag("isSidechain") ?? false
            func count(_ name: String) -> Int {
                // More than 10¹² tokens in one answer is a mistake, not a number.
                guard let number = usage.number(name), (0...1e12).contains(number) else { return 0 }
                return Int(number)
            }
            tokens = Tokens(
                input: count("input_tokens"), output: count("output_tokens"),
                cacheWrite: count("cache_creation_input_tokens"),
                cacheRead: count("cache_read_input_tokens"))
        }
    }

    private struct Key: Sendable, Hashable {
        var messageID: String
        var requestID: String?
    }

    private var answers: [Key: Row] = [:]
    private var unnamed: [Row] = []

    mutating func add(_ row: Row) {
        guard let messageID = row.messageID else {
            unnamed.append(row)
            return
        }
        let key = Key(messageID: messageID, requestID: row.requestID)
        if let held = answers[key], !Self.isBetter(row, than: held) { return }
        answers[key] = row
    }

    /// The lines that count, in the order of their times.
    var counted: [Row] {
        let onMainChain = Set(answers.values.filter { !$0.isSidechain }.compactMap(\.messageID))
        let kept = answers.values.filter { row in
            !row.isSidechain || !onMainChain.contains(row.messageID ?? "")
        }
        return (kept + unnamed).sorted {
            ($0.at, $0.messageID ?? "", $0.requestID ?? "")
                < ($1.at, $1.messageID ?? "", $1.requestID ?? "")
        }
    }

    var tokens: Tokens {
        counted.reduce(into: Tokens()) { $0.add($1.tokens) }
    }

    /// Of equal lines the earlier stays, so that the order of reading does not show.
    private static func isBetter(_ row: Row, than held: Row) -> Bool {
        if row.isSidechain != held.isSidechain { return !row.isSidechain }
        if row.tokens.total != held.tokens.total { return row.tokens.total > held.tokens.total }
        return row.at < held.at
    }
}
