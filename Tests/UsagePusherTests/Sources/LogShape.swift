import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

/// A shape of a tool's log that was seen in public, and what is read from it. docs/log-shapes.md says where.
struct LogShape: CustomTestStringConvertible, Sendable {
    /// The sentence that must hold.
    let testDescription: String
    let log: String
    /// As `ProviderUsageSnapshot.summary` writes it.
    let reading: String

    /// Shapes as a `ShapeTable` has them.
    static func table(_ text: String) -> [LogShape] {
        ShapeTable(text).rows.map {
            LogShape($0.sentence, $0.lines.joined(separator: "\n"), reads: $0.results[0])
        }
    }

    init(_ sentence: String, _ log: String, reads reading: String) {
        testDescription = sentence
        self.log = log
        self.reading = reading
    }
}

/// Examples in a text: for each a line "# SENTENCE -> RESULT", or "# SENTENCE" and lines "= RESULT", and its lines.
struct ShapeTable {
    struct Row {
        var sentence: String
        var lines: [String] = []
        var results: [String] = []
    }

    private(set) var rows: [Row] = []

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                let parts = line.dropFirst(2).split(separator: " -> ", maxSplits: 1).map(String.init)
                rows.append(Row(sentence: parts[0], results: Array(parts.dropFirst())))
            } else if line.hasPrefix("= ") {
                rows[rows.count - 1].results.append(String(line.dropFirst(2)))
            } else {
                rows[rows.count - 1].lines.append(String(line))
            }
        }
    }
}

extension ProviderUsageSnapshot? {
    /// "session 36 until 18 14:15; weekly 55; plan Plus; credits 12.5": windows, plan, credits, budget and status.
    var summary: String {
        guard let provider = self else { return "nothing" }
        var parts = provider.windows.map { window in
            let length = window.windowMinutes.map {
                [300: "session", 10_080: "weekly"][$0] ?? "\($0) min"
            }
            return [window.label, length, number(window.usedPercent), until(window.resetsAt)]
                .compactMap { $0 }.joined(separator: " ")
        }
        if let plan = provider.loginMethod { parts.append("plan \(plan)") }
        if let credits = provider.credits {
            parts.append("credits \(credits.unlimited ? "unlimited" : number(credits.balance))")
        }
        if let budget = provider.budget {
            parts.append("\(number(budget.usedAmount)) of \(number(budget.limitAmount)) spent")
        }
        if let status = provider.statusMessage { parts.append(status) }
        return parts.isEmpty ? "no numbers" : parts.joined(separator: "; ")
    }

    private func number(_ value: Double?) -> String {
        value.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" } ?? "unknown"
    }

    private func until(_ date: Date?) -> String? {
        date.map {
            "until "
                + $0.formatted(
                    .verbatim(
                        "\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)",
                        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
                        calendar: Calendar(identifier: .gregorian)))
        }
    }
}
