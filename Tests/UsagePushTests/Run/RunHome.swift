import Foundation
import TestSupport
import Testing
import UsagePusher

@testable import UsageState

/// A home with a tool `claude`, which is a script.
struct RunHome {
    let home: TemporaryHome
    let reset = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 7_200).rounded())

    init() {
        var home = TemporaryHome.ofTest
        home.variables["PATH"] = home.path + "/bin:/usr/bin:/bin"
        self.home = home
    }

    /// Pushes that this much of Claude's session is used.
    func push(_ used: Double) async throws {
        try? FileManager.default.removeItem(atPath: home.path + "/.local/state/ubiquity/claude-statusline")
        let line =
            #"{"session_id":"s","rate_limits":{"five_hour":{"used_percentage":\#(used),"#
            + #""resets_at":\#(Int(reset.timeIntervalSince1970))}}}"#
        try #require(try await home.run("usage-push", ["claude-statusline", "--"], input: Data(line.utf8)).status == 0)
        let pushed = try await home.run("usage-push", ["--quiet"])
        try #require(pushed.status == 0, "\(pushed.errors)")
    }

    func rules(_ rules: GateRule...) throws {
        try home.file(".config/ubiquity/gate.json", String(decoding: GateRules(rules).data, as: UTF8.self))
    }

    func run(_ arguments: String..., input: Data? = nil) async throws -> TemporaryHome.Outcome {
        try await home.run("usage-push", ["run"] + arguments, input: input)
    }

    func start(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(home, "usage-push", ["run"] + arguments)
    }

    /// Starts a runner whose delay after a reset is short: it depends on the number of the process.
    func startEarly(_ arguments: String...) throws -> RunningProgram {
        let next = Int(getpid())
        let early = (Array(2...3_000) + Array(next...next + 20_000)).filter { GateWait.delay(of: "\($0)") < 0.6 }
        let numbers = try home.file("numbers", early.map { "\($0)\n" }.joined())
        let loop =
            #"while :; do sh -c 'grep -qx $$ "$0" || exit 99; exec "$@"' "$0" "$@"; s=$?; [ $s = 99 ] || exit $s; done"#
        let program = try #require(TemporaryHome.program("usage-push")).path
        return try RunningProgram(home, "/bin/sh", ["-c", loop, numbers, program, "run"] + arguments)
    }

    /// A line of Claude Code's stream.
    func event(_ status: String, _ used: Double, reset: Date? = nil) -> String {
        let seconds = Int((reset ?? self.reset).timeIntervalSince1970)
        return #"{"type":"rate_limit_event","rate_limit_info":{"status":"\#(status)","resetsAt":\#(seconds),"#
            + #""rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":\#(used),"#
            + #""resetsAt":\#(seconds)}}},"uuid":"u","session_id":"s-1"}"#
    }
}
