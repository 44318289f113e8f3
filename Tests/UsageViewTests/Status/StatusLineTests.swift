import ClockZones
import Foundation
import SnapshotModels
import Testing
import UsageState

@testable import usage_view

@Suite("What a status line says")
struct StatusLineTests {
    private let usage = InventedUsage()

    private func line(
        _ data: UsageData, providers: [String] = [], window: String? = nil,
        account: String? = nil, minutesLater: Double = 0
    ) -> UsageLine {
        UsageLine(
            usage.model(data, minutesLater: minutesLater),
            selection: UsageSelection(providers: providers, window: window, account: account))
    }

    @Test("without a provider it is the window that ends first, of now or by an old number that is critical")
    func tightest() throws {
        #expect(try usage.line("plain", usage.several) == "!! Gemini 5h ~97 % used (2 h ago) · 1h 30m")
        let ofNow = usage.data(
            usage.account("codex", [usage.window(40), usage.window(81, minutes: 10_080, resetsIn: 4_620)]),
            usage.account("gemini", [usage.window(89)], minutesAgo: 120))
        #expect(try usage.line("plain", ofNow) == "! Codex 7d 81 % used · ▲ out Sat 09:20 · 3d 5h")
        #expect(try usage.line("plain", ofNow, measure: .left) == "! Codex 7d 19 % left · ▲ out Sat 09:20 · 3d 5h")
    }

    @Test("what is not parsed means the same as what is; what is no single line is left to the parser")
    func plainArguments() {
        func printing(_ arguments: String...) -> StatusPrinting? { StatusPrinting(arguments: ["status"] + arguments) }
        #expect(printing() != nil && printing() == printing("--used"))
        for format in ["tmux", "waybar", "{left}"] {
            #expect(printing("--format", format) == printing("--used", "--format", format), "\(format)")
            #expect(printing("--format", format) == printing("--format=" + format), "\(format)")
        }
        for arguments in [["--format", "{nothing}"], ["--format", "--json"], ["--follow"], ["--help"], ["more"]] {
            #expect(StatusPrinting(arguments: ["status"] + arguments) == nil, "\(arguments)")
        }
        #expect(StatusPrinting(arguments: ["check"]) == nil && StatusPrinting(arguments: []) == nil)
    }

    @Test("old numbers are shown only where there is none of now, then those that were reset")
    func lessKnown() throws {
        let old = usage.account("gemini", [usage.window(97)], minutesAgo: 120)
        let reset = usage.account("cursor", [usage.window(99, resetsIn: -10)])
        #expect(try usage.line("plain", usage.data(old, reset)) == "!! Gemini 5h ~97 % used (2 h ago) · 1h 30m")
        #expect(try usage.line("plain", usage.data(reset)) == "Cursor 5h reset 10 min ago")
    }

    @Test("named providers show all their windows, in the order of the names")
    func named() throws {
        #expect(
            try usage.line("plain", usage.several, providers: ["CLAUDE", "codex", "claude"])
                == "Claude 5h 22 % used · 1h 30m | Codex 5h 40 % used · 1h 30m"
                + " | ! Codex 7d 81 % used · ▲ out Sat 09:20 · 3d 5h")
    }

    @Test("estimates, old numbers, resets and errors are marked")
    func marks() throws {
        func text(_ provider: String) throws -> String { try usage.line("plain", usage.several, providers: [provider]) }
        #expect(try text("kimi") == "Kimi 5h ~50 % used · 1h 30m")
        #expect(try text("gemini") == "!! Gemini 5h ~97 % used (2 h ago) · 1h 30m")
        #expect(try text("cursor") == "Cursor 5h reset 10 min ago")
        #expect(try text("amp") == "Amp error")
        #expect(try text("nobody") == "–")
    }

    @Test("a window is selected by kind, length or label", arguments: ["weekly", "7D", "Weekly"])
    func windows(name: String) {
        let items = line(usage.several, providers: ["codex"], window: name).items
        #expect(items.map(\.window?.label.short) == ["7d"])
    }

    @Test("an account selects among several of one provider")
    func accounts() {
        let data = usage.data(
            usage.account("codex", [usage.window(10)], account: "a@example.test"),
            usage.account("codex", [usage.window(20)], account: "b@example.test"))
        #expect(line(data, account: "A@example.test").items.map(\.usedPercent) == [10])
        #expect(line(data, account: "c@example.test").items.isEmpty)
    }

    @Test(
        "a line stays as it is until the time that it names, and is another one then",
        arguments: [[], ["codex", "claude", "gemini", "cursor", "kimi"]])
    func nextChange(providers: [String]) throws {
        let data = usage.several
        var now = usage.now
        let formats = ["plain", "{provider} {percent} {reset} {age} {level} {pace} {warning}"]
        let renderers = try formats.map { format in
            StatusRenderer(
                format: try StatusFormat(format),
                choice: StatusChoice(
                    measure: .used, isAbsolute: false, selection: UsageSelection(providers: providers)),
                maxWidth: nil, isRedacted: false, isUnicode: true, isTwelveHour: false,
                zone: .fixed(secondsFromGMT: 0))
        }
        for _ in 1...300 {
            let lines = try renderers.map { try $0.line(data, now: now) }
            let next = try #require(lines[0].nextChange)
            #expect(next > now)
            let before = next.addingTimeInterval(-0.01)
            for (renderer, line) in zip(renderers, lines) where before > now {
                #expect(try renderer.line(data, now: before).text == line.text, "\(now)")
            }
            now = next
        }
        // Over the reset of the session windows and the time when numbers become old.
        #expect(now > usage.now.addingTimeInterval(2 * 3_600))
    }

    @Test("redaction leaves no name of an account or device in any form")
    func redaction() throws {
        let data = usage.data(usage.account("codex", [usage.window(10)], account: "someone@secret.example"))
        for format in ["waybar", "{account}"] {
            let line = try usage.line(format, data, isRedacted: true)
            #expect(line.contains("@example.test") && !line.contains("secret"), "\(line)")
        }
    }
}
