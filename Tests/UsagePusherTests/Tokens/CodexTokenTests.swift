import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Codex")
struct CodexTokenTests {
    private static let path = ".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-t1.jsonl"

    private static func meta(_ id: String, _ second: Int = 0, more: String = "") -> String {
        #"{"timestamp":"2026-11-20T09:00:\#(padded(second)).000Z","type":"session_meta","payload":{"id":"\#(id)"\#(more)}}"#
            + "\n" + #"{"type":"turn_context","payload":{"model":"gpt-5.5"}}"# + "\n"
    }

    private static func padded(_ second: Int) -> String { second < 10 ? "0\(second)" : "\(second)" }

    private static func usage(_ input: Int, _ output: Int) -> String {
        #"{"input_tokens":\#(input),"output_tokens":\#(output),"total_tokens":\#(input + output)}"#
    }

    private static func count(_ second: Int, total: (Int, Int)?, last: (Int, Int)? = nil, more: String = "") -> String {
        let members = [
            total.map { #""total_token_usage":\#(usage($0.0, $0.1))"# },
            last.map { #""last_token_usage":\#(usage($0.0, $0.1))"# },
        ].compactMap { $0 }.joined(separator: ",")
        return
            #"{"timestamp":"2026-11-20T09:00:\#(padded(second)).000Z"\#(more),"type":"event_msg","payload":{"type":"token_count","info":{\#(members)}}}"#
            + "\n"
    }

    static let shapes: [GrowingLogShape] = [
        GrowingLogShape(
            "what counts is by how much the total has grown, and at most what the last response used",
            [
                path: meta("t1") + count(5, total: (10, 1), last: (10, 1))
                    + count(9, total: (30, 3), last: (30, 3)) + count(12, total: (50, 5))
                    + count(15, total: (90, 9), last: (15, 1))
            ],
            reads: "gpt-5.5: 4 × input 75, output 7"),
        GrowingLogShape(
            "after a total that falls the last response counts",
            [path: meta("t1") + count(5, total: (100, 10), last: (100, 10)) + count(9, total: (20, 2), last: (7, 2))],
            reads: "gpt-5.5: 2 × input 107, output 12"),
        GrowingLogShape(
            "counts without a total, or without a last response, are read by the other",
            [
                path: meta("t1") + count(5, total: nil, last: (10, 1))
                    + count(6, total: nil, last: (10, 1)) + count(9, total: nil, last: (11, 1)),
                ".codex/sessions/rollout-2026-11-20T09-00-00-t2.jsonl": meta("t2") + count(5, total: (4, 1)),
            ],
            reads: "gpt-5.5: 2 × input 21, output 2", "gpt-5.5: 1 × input 4, output 1"),
        GrowingLogShape(
            "lines before a subagent's first ordinal are copies",
            [
                path: meta("t1", more: #","subagent_history_start_ordinal":4"#)
                    + count(20, total: (10, 1), last: (10, 1), more: #","ordinal":3"#)
                    + count(30, total: (30, 3), last: (20, 2), more: #","ordinal":4"#)
            ],
            reads: "gpt-5.5: 1 × input 20, output 2"),
        GrowingLogShape(
            "two sessions with the same counts are two sessions",
            [
                path: meta("t1") + count(5, total: (10, 1), last: (10, 1)),
                ".codex/sessions/rollout-2026-11-20T09-00-00-t2.jsonl": meta("t2")
                    + count(5, total: (10, 1), last: (10, 1)),
            ],
            reads: "gpt-5.5: 1 × input 10, output 1", "gpt-5.5: 1 × input 10, output 1"),
        GrowingLogShape(
            "a turn whose model is null goes on with the one before, and states what comes after that",
            [
                path: meta("t1")
                    + #"{"type":"turn_context","payload":{"model":null,"service_tier":"priority"}}"#
                    + "\n" + count(5, total: (10, 1), last: (10, 1))
            ],
            reads: "gpt-5.5: 1 × input 10, output 1, priority"),
        GrowingLogShape(
            "a count with no total of its own or with null says nothing",
            [
                path: meta("t1")
                    + #"{"timestamp":"2026-11-20T09:00:05Z","type":"event_msg","payload":{"type":"token_count","info":null}}"#
                    + "\n"
            ]),
    ]

    @Test("shapes", arguments: shapes)
    func shape(_ shape: GrowingLogShape) throws { try shape.check(CodexTokens()) }

    @Test("the sample home gives what was counted by hand")
    func sample() throws {
        let home = try TokenHome(copying: "codex/usual", logs: [CodexTokens()])
        let project = "/home/dev/alpha gpt-6-sample"
        #expect(
            home.usage().summary == [
                "codex 01a0a000-0000-7000-8000-000000000009 \(project): 1 × input 800, output 30, read 100",
                "codex 01a0d000-0000-7000-8000-000000000001 \(project): 2 × input 5200, output 1420 (reasoning 480), read 33900",
                "codex 01a0d000-0000-7000-8000-000000000002 \(project)-spark: 2 × input 5100, output 260 (reasoning 40), read 4800",
                "codex 01a0d000-0000-7000-8000-000000000003 \(project): 1 × input 800, output 20",
                "codex rollout-2025-09-13T10-00-00-01994400-0000-7000-8000-000000000006: 1 × input 3000, output 90",
            ])
    }
}
