import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Hostile home directories")
struct HostileHomeTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    @Test("malformed lines are skipped and the valid line counts")
    func nonsenseLines() throws {
        let good = Data(CodexLines.usual("2026-09-18T11:00:00Z", 36, 55).utf8)
        let limits = { (text: String) in Data(CodexLines.row("2026-09-18T11:30:00Z", text).utf8) }
        var hostile: [Data] = [
            limits(String(repeating: "[", count: 100_000)),
            limits(String(repeating: "{\"a\":", count: 5_000) + "1" + String(repeating: "}", count: 5_000)),
            limits("{\"primary\":{\"used_percent\":1e400,\"window_minutes\":1e400," + "\"resets_at\":1e400}}"),
            limits("{\"primary\":{\"used_percent\":9223372036854775808,\"window_minutes\":-5}}"),
            limits("{\"primary\":[1,2],\"credits\":\"x\",\"limit_id\":7,\"plan_type\":{}}"),
            limits("7"), Data("\"token_count\"\n".utf8), Data("{\"token_count\"\n".utf8),
        ]
        hostile.append(Data("{\"token_count\":\"".utf8) + Data([0xFF, 0xFE, 0xC0]) + Data("\"}\n".utf8))
        hostile.append(Data("\"token_count\"".utf8) + Data(repeating: 0, count: 300) + Data([10]))
        for (index, line) in hostile.enumerated() {
            try home.write(CodexLines.name(index), good + line)
            let provider = home.reading(of: CodexSource()).provider
            #expect(provider?.percents == [36, 55], "line \(index)")
            try home.remove(CodexLines.name(index))
        }
    }

    @Test("a pipe named like a rollout or login file does not block")
    func pipes() throws {
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        #expect(mkfifo(home.path(CodexLines.name(2)), 0o600) == 0)
        #expect(mkfifo(home.path(".codex/auth.json"), 0o600) == 0)
        let reading = home.reading(of: CodexSource())
        #expect(reading.provider?.windows.count == 2)
        #expect(reading.findings.contains { $0.path.hasSuffix("auth.json") })
    }

    @Test("links are followed, and cycles of links end")
    func links() throws {
        let elsewhere = try SampleHome()
        try elsewhere.write(
            String(CodexLines.name(1).dropFirst(".codex/sessions/".count)),
            CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        try home.link(".codex/sessions", to: elsewhere.path)
        try elsewhere.link("2026/again", to: elsewhere.path)
        try elsewhere.link("2026/self", to: "self")
        try elsewhere.link("2026/gone", to: "nowhere")
        let reading = home.reading(of: CodexSource())
        #expect(reading.percents == [36, 55])
        #expect(!reading.isPartial)
        #expect(reading.findings.contains { $0.path.hasSuffix("self") })
    }

    @Test("an unreadable directory is an error that names it")
    func unreadableRoot() throws {
        try home.link(".codex/sessions", to: "sessions")
        let reading = home.reading(of: CodexSource())
        #expect(reading.isInstalled)
        #expect(reading.provider?.isError == true)
        #expect(reading.provider?.statusMessage?.contains(home.path(".codex/sessions")) == true)
    }

    @Test("missing permission is an error, and beside numbers of other files a notice")
    func permissions() throws {
        let name = CodexLines.name(1)
        try home.write(name, CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        chmod(home.path(name), 0)
        var source = CodexSource()
        let denied = withoutPrivileges { source.read(home) }
        #expect(denied.provider?.isError == true)
        #expect(denied.provider?.statusMessage?.contains("permission denied") == true)
        try home.write(CodexLines.name(2), CodexLines.usual("2026-09-18T11:00:00Z", 30, 50))
        let partly = withoutPrivileges { source.read(home) }
        #expect(partly.provider?.isError == false)
        #expect(partly.provider?.statusMessage?.hasPrefix("Numbers may be missing: ") == true)
        #expect(partly.provider?.windows.count == 2)
        #expect(partly.findings.contains { $0.detail.contains("permission denied") })
    }

    @Test("files below the depth limit are ignored, those above it are kept")
    func depth() throws {
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        try home.createDirectory(".codex/sessions/" + String(repeating: "d/", count: 40))
        let reading = home.reading(of: CodexSource())
        #expect(reading.provider?.windows.count == 2)
        #expect(reading.isPartial)
    }

    @Test("text from files is shown on one line, without control characters, and bounded")
    func displayText() {
        #expect("a\u{1B}[31m\nb\u{202E}\u{0}c".displayText() == "a[31mbc")
        #expect(String(repeating: "x", count: 999).displayText(limit: 10)?.count == 10)
        #expect("\u{7}\n ".displayText() == nil)
    }
}
