import Foundation
import TestSupport
import Testing

/// A machine of an account, with a pusher, and Codex, which calls the hook as its tool does.
struct GateMachine {
    var home: TemporaryHome
    var pusher: RunningProgram

    /// Writes the limits of a session of Codex, as the tool does.
    func use(_ percent: Double, secondsAgo: Double = 0, resetsIn seconds: Double = 3_600, minutes: Int = 300) throws {
        let now = Date(timeIntervalSinceNow: -secondsAgo)
        try home.file(
            ".codex/sessions/2026/09/18/rollout-a.jsonl",
            #"{"timestamp":"\#(now.formatted(.iso8601))","type":"event_msg","payload":{"type":"token_count","#
                + #""rate_limits":{"primary":{"used_percent":\#(percent),"window_minutes":\#(minutes),"resets_at":"#
                + #"\#(Int(now.timeIntervalSince1970 + seconds))}}}}"# + "\n")
    }

    /// What the hook before a call answers; empty if the call passes.
    func call() async throws -> String {
        let input = #"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","model":"m"}"#
        let outcome = try await home.run("usage-view", ["gate", "hook", "codex"], input: Data(input.utf8))
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        return outcome.text
    }

    func waitUntil(_ isMet: (String) -> Bool) async throws {
        while try await !isMet(call()) { try Task.checkCancellation() }
    }

    /// Three machines with one account and a daemon.
    static func withThree(
        _ body: (_ machines: [GateMachine], _ daemon: PairedDaemon) async throws -> Void
    ) async throws {
        try await PairedDaemon.withMachines(3) { homes, daemon in
            var machines: [GateMachine] = []
            for home in homes {
                try home.file(".codex/config.toml", "")
                _ = try await home.output("usage-view", ["gate", "install", "--yes"])
                let pusher = try RunningProgram(home, "usage-push", ["--watch", "--verbose"])
                _ = await pusher.errors.first { $0.hasSuffix("connected") }
                machines.append(GateMachine(home: home, pusher: pusher))
            }
            try await body(machines, daemon)
            for machine in machines { machine.pusher.send(SIGTERM) }
        }
    }
}
