import ClockZones
import Foundation
import Testing

@testable import UsagePusher

/// Homes of tools of which pushes see every state.
@Suite("Past usage that moves to another day or session")
struct LedgerMoveTests {
    private final class Machine {
        let home: TokenHome
        private let name: String

        init(_ name: String = "a") throws {
            self.name = name
            home = try TokenHome(logs: [ClaudeTokens(), ClineTokens(), DroidTokens()])
        }

        func push(_ store: inout [String: Data]) throws {
            try home.push(as: name, to: &store, today: LedgerMoveTests.day + 20)
        }

        /// A sum of a session as Droid keeps it.
        func writeSum(_ tokens: Int, on day: Int) throws {
            let path = ".factory/sessions/-p/s1"
            try home.home.write(
                path + ".settings.json", #"{"model":"m","tokenUsage":{"inputTokens":\#(tokens)}}"#, modified: Date())
            try home.home.write(
                path + ".jsonl",
                #"{"type":"session_start","id":"s1","cwd":"/p"}"# + "\n"
                    + #"{"type":"message","id":"m","timestamp":"\#(time(day))","message":{"role":"assistant"}}"# + "\n")
        }

        /// Requests of 10,000 tokens each as Claude Code states them.
        func write(
            _ session: String, _ ids: [String], from origin: String? = nil, on day: Int = 0, output: Int = 0
        ) throws {
            let mark = origin.map { #","forkedFrom":{"sessionId":"\#($0)","messageUuid":"u"}"# } ?? ""
            let lines = ids.map { id in
                #"{"type":"assistant","timestamp":"\#(time(day))","sessionId":"\#(session)","requestId":"r\#(id)","#
                    + #""message":{"id":"m\#(id)","model":"claude-sonnet-5","usage":{"input_tokens":10000,"#
                    + #""output_tokens":\#(output)}}\#(id.hasPrefix("own") ? "" : mark)}"# + "\n"
            }
            try home.home.append(path(session), lines.joined(), modified: Date())
        }

        func remove(_ session: String) throws {
            try FileManager.default.removeItem(atPath: home.home.path(path(session)))
        }

        func create(_ session: String) throws { try home.home.write(path(session), "", modified: Date()) }

        private func path(_ session: String) -> String { ".claude/projects/-p/\(session).jsonl" }

        private func time(_ day: Int) -> String { "\(CalendarDay(number: LedgerMoveTests.day + day))T23:59:58.000Z" }
    }

    private static let day = 20_700

    private static func tokens(_ store: [String: Data]) -> [Int: Int] {
        var ledger = LedgerUsage(LedgerPages(store), zone: .gmt)
        return ledger.usage(for: .day, .init(device: { $0 }, project: { $0 })).buckets.reduce(into: [:]) {
            $0[Int($1.key.quarter) / 96 - day, default: 0] += $1.counts.total
        }
    }

    @Test("a sum of a session counts on the last of its days, also if its log or the cache is deleted then")
    func sums() throws {
        let machine = try Machine()
        var store: [String: Data] = [:]
        for day in 0..<5 {
            try machine.writeSum(1_000 * (day + 1), on: day)
            try machine.push(&store)
            #expect(Self.tokens(store) == [day: 1_000 * (day + 1)])
        }
        for path in ["s1.settings.json", "s1.jsonl"] {
            try FileManager.default.removeItem(atPath: machine.home.home.path(".factory/sessions/-p/" + path))
            try machine.push(&store)
        }
        try FileManager.default.removeItem(atPath: machine.home.cachePath)
        for day in 10..<12 {
            try machine.create("other")
            try machine.write("other", ["o"], on: day)
            try machine.push(&store)
            #expect(Self.tokens(store) == [4: 5_000, day: 10_000])
        }
    }

    @Test("of a sum that was copied and continued elsewhere the larger one counts, on its day")
    func copiedSums() throws {
        let machines = [try Machine("a"), try Machine("b")]
        var store: [String: Data] = [:]
        for machine in machines {
            try machine.writeSum(1_000, on: 0)
            try machine.push(&store)
        }
        try machines[1].writeSum(3_000, on: 2)
        for _ in 0..<2 { for machine in machines { try machine.push(&store) } }
        #expect(Self.tokens(store) == [2: 3_000])
    }

    @Test("an answer that ends on the next day counts once")
    func midnight() throws {
        let machine = try Machine()
        var store: [String: Data] = [:]
        try machine.create("s")
        try machine.write("s", ["a"], output: 1)
        try machine.push(&store)
        try machine.write("s", ["a"], on: 1, output: 900)
        try machine.push(&store)
        #expect(Self.tokens(store).values.reduce(0, +) == 10_900)
    }

    @Test("what a restored task of Cline has used counts on the day that it states then")
    func restoredTask() throws {
        let machine = try Machine()
        var store: [String: Data] = [:]
        let start = Int64(Self.day) * 86_400_000 + 3_600_000
        func row(_ say: String, _ time: Int64, _ tokens: Int) -> String {
            #"{"ts":\#(time),"type":"say","say":"\#(say)","text":"{\"tokensIn\":\#(tokens),\"tokensOut\":0}"}"#
        }
        for rows in [
            [row("api_req_started", start, 1_000), row("api_req_started", start + 9, 2_000)],
            [row("deleted_api_reqs", start + 86_400_000, 3_000), row("api_req_started", start + 86_400_009, 500)],
        ] {
            try machine.home.home.write(
                ".cline/data/tasks/1795165200000/ui_messages.json", "[" + rows.joined(separator: ",") + "]",
                modified: Date())
            try machine.push(&store)
        }
        #expect(Self.tokens(store) == [1: 3_500])
    }

    @Test("a session and its copy count once, with a mark or without, whichever is there first", arguments: 0..<8)
    func copies(number: Int) throws {
        let (original, copy) = ("original\(number)", "copy\(number)")
        for order in [[original, copy], [copy, original]] {
            for mark in [nil, original] {
                let machine = try Machine()
                var store: [String: Data] = [:]
                for session in order {
                    try machine.create(session)
                    if session == copy {
                        try machine.write(copy, ["1", "2", "own"], from: mark)
                    } else {
                        try machine.write(original, ["1", "2"])
                    }
                    try machine.push(&store)
                }
                #expect(Self.tokens(store) == [0: 30_000], "\(order), \(mark ?? "no mark")")
                try machine.remove(original)
                try machine.push(&store)
                if mark != nil { try FileManager.default.removeItem(atPath: machine.home.cachePath) }
                try machine.push(&store)
                #expect(Self.tokens(store) == [0: 30_000], "\(order), \(mark ?? "no mark")")
            }
        }
    }

    @Test("a session that another machine has with its unmarked copy counts once")
    func machines() throws {
        let machines = [try Machine("a"), try Machine("b")]
        var store: [String: Data] = [:]
        for number in 0..<8 {
            for machine in machines {
                try machine.create("original\(number)")
                try machine.write("original\(number)", ["\(number)"])
            }
            try machines[1].create("copy\(number)")
            try machines[1].write("copy\(number)", ["\(number)"])
        }
        for _ in 0..<2 { for machine in machines { try machine.push(&store) } }
        #expect(Self.tokens(store) == [0: 80_000])
    }
}
