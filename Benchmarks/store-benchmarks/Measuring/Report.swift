import Foundation

/// Formats all findings as Markdown tables or as JSON.
struct Report: Encodable {
    var findings: [Findings] = []

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            struct Document: Encodable {
                var unit = "nanoseconds"
                var measurements: [Measurement]
                var facts: [Fact]
            }
            let document = Document(measurements: findings.flatMap(\.measurements), facts: findings.flatMap(\.facts))
            return String(decoding: try encoder.encode(document), as: UTF8.self)
        }
    }

    /// One Markdown table per group.
    static func table(_ findings: Findings) -> String {
        var lines: [String] = []
        if let group = findings.measurements.first?.group {
            let head = [group, "median", "p99", "slowest", "runs", "ratio"]
            let rows = findings.measurements.map { found in
                [
                    found.subject, duration(found.median), duration(found.p99),
                    duration(found.slowest), String(found.runs),
                    found.ratio.map { String(format: $0 < 10 ? "%.2f" : "%.1f", $0) } ?? "",
                ]
            }
            lines = aligned([head] + rows)
        }
        if !findings.facts.isEmpty { lines.append("") }
        for fact in findings.facts {
            lines.append("- \(fact.name): \(size(fact.byteCount))")
        }
        return lines.joined(separator: "\n")
    }

    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        func line(_ row: [String]) -> String {
            let cells = row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }
            return "| " + cells.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            String(repeating: "-", count: width + (column == 0 ? 2 : 1)) + (column == 0 ? "" : ":")
        }
        return [line(rows[0]), "|" + rule.joined(separator: "|") + "|"] + rows.dropFirst().map(line)
    }

    private static func size(_ byteCount: Int) -> String {
        byteCount < 1_000_000
            ? String(format: "%.1f KB", Double(byteCount) / 1e3)
            : String(format: "%.1f MB", Double(byteCount) / 1e6)
    }

    private static func duration(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: String(format: "%.0f ns", nanoseconds)
        case ..<1e6: String(format: "%.1f µs", nanoseconds / 1e3)
        case ..<1e9: String(format: "%.2f ms", nanoseconds / 1e6)
        default: String(format: "%.2f s", nanoseconds / 1e9)
        }
    }
}
