import Foundation
import Testing

@testable import UsagePusher

/// A member that a table of docs/log-shapes.md says is counted.
private struct CountedField: CustomTestStringConvertible, Sendable {
    let provider: String
    let name: String

    var testDescription: String { "\(provider): \(name)" }

    /// The sections about logs of text. Databases are written by the histories of `HistoryTests`.
    private static let providers = [
        "Gemini CLI": "gemini", "Qwen Code": "qwen", "Amp": "amp", "Droid": "factory",
        "Claude Code": "claude", "Codex": "codex",
    ]
    /// What a row says of a member that changes no sum.
    private static let others = [
        "not used", "see below", "–", "key", "another value", "session", "if the event",
    ]

    static let all: [CountedField] = {
        let page = SampleHome.fixture("../../docs/log-shapes.md")
        let text = try! String(contentsOfFile: page, encoding: .utf8)
        var fields: [CountedField] = []
        var provider: String?
        var column: Int?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") {
                provider = providers.first { line.hasPrefix("## \($0.key): tokens") }?.value
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.isEmpty { column = nil }
            if let counted = cells.firstIndex(of: "Counted as") {
                column = counted
            } else if let column, let provider, cells.count > column, !others.contains(where: cells[column].hasPrefix) {
                fields += names(in: cells[0]).map { CountedField(provider: provider, name: $0) }
            }
        }
        return fields
    }()

    /// "`tokens{input, output}`, `a.b`" names `input`, `output` and `b`.
    private static func names(in cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.flatMap { part in
                part.element.split(whereSeparator: { "{},".contains($0) })
                    .map { $0.trimmingCharacters(in: .whitespaces) }
                    .filter { !part.element.contains($0 + "{") }
                    .map { String($0.split(separator: ".").last ?? "") }
            }.filter { !["web_fetch_requests", "operationType", "id"].contains($0) }
    }
}

@Suite("What docs/log-shapes.md says is counted")
struct CountedFieldTests {
    /// Other values of texts.
    private static let texts = [
        "service_tier": "batch", "speed": "fast", "inference_geo": "us", "timestamp": "2026-09-02T03:04:05.000Z",
    ]

    @Test("another value gives another reading", arguments: CountedField.all)
    private func isRead(_ field: CountedField) throws {
        let source = RecordingSource(providerID: field.provider)
        for sample in try source.samples(ofEachKind: .max) where !sample.isOpened {
            let reading = try sample.read().everything
            for isText in [false, true] {
                for (key, range) in sample.literals(strings: isText) where key == field.name {
                    let value = isText ? "\"\(Self.texts[field.name] ?? "other")\"" : "12345"
                    let changed = try sample.read(sample.replacing(range, with: Array(value.utf8)))
                    if changed.everything != reading { return }
                }
            }
        }
        Issue.record("no home of \(field.provider) has '\(field.name)', or its reader passes over it")
    }
}

extension LogEntries {
    /// All that was read.
    fileprivate var everything: [String] { merged.map { "\($0)" } + texts }
}
