import Foundation
import TestSupport
import Testing

/// Three machines with one account and a daemon: real programs, and agents that call the hook as their tool does.
@Suite("The gate of several machines", .temporaryHome, .timeLimit(.minutes(5)))
struct GateMachinesTests {
    @Test("what one passes stops the calls of all, a rule set on one applies to all, and a reset lets all go on")
    func stopping() async throws {
        try await GateMachine.withThree { machines, _ in
            try machines[1].use(60, secondsAgo: 30)
            try machines[0].use(70, secondsAgo: 20)
            for machine in machines { #expect(try await machine.call().isEmpty) }
            try machines[0].use(99, secondsAgo: 10)
            for machine in machines {
                try await machine.waitUntil { $0.contains(#""deny""#) && $0.contains("99 % used (m0") }
            }
            try machines[0].use(50)
            for machine in machines { try await machine.waitUntil(\.isEmpty) }
            let set = try await machines[2].home.run(
                "usage-view", ["gate", "set", "--at", "40", "--then", "stop", "--everywhere"])
            #expect(set.text == "set on all machines: any limit at 40 %: stop\n", "\(set.errors)")
            for machine in machines { try await machine.waitUntil { $0.contains("50 % used (m0") } }
            async let first = machines[1].home.run(
                "usage-view", ["gate", "set", "--at", "60", "--then", "pause", "--everywhere"])
            async let second = machines[2].home.run(
                "usage-view", ["gate", "set", "--at", "30", "--then", "tell", "--everywhere"])
            for outcome in try await [first, second] { #expect(outcome.status == 0, "\(outcome.errors)") }
            for machine in machines {
                func hasBoth() async throws -> Bool {
                    let status = try await machine.home.run("usage-view", ["gate", "status"]).text
                    return ["60 %: pause for at most 6h", "30 %: tell"].allSatisfy {
                        status.contains("any limit at \($0), on all machines")
                    }
                }
                while try await !hasBoth() { try Task.checkCancellation() }
            }
            // The window ends while nobody pushes: time alone lets them go on.
            try machines[0].use(98, resetsIn: 3)
            for machine in machines { try await machine.waitUntil(\.isEmpty) }
        }
    }

    @Test("who waits is seen on every machine, until the wait ends or is ended")
    func waiting() async throws {
        try await GateMachine.withThree { machines, _ in
            let set = ["gate", "set", "--at", "95", "--then", "pause", "--everywhere"]
            #expect(try await machines[0].home.run("usage-view", ["gate", "remove", "2"]).status == 0)
            #expect(try await machines[0].home.run("usage-view", set).status == 0)
            try machines[0].use(96)
            let status = ["gate", "status"]
            while try await !machines[0].home.run("usage-view", status).text.contains("96 % used (m0") {
                try Task.checkCancellation()
            }
            func shows(_ names: [String]) async throws {
                func isShown() async throws -> Bool {
                    let status = try await machines[2].home.run("usage-view", status).text
                    let screen = try await machines[2].home.run("usage-view", ["--plain"]).text
                    let count = names.count == 1 ? "1 agent waits" : "\(names.count) agents wait"
                    return names.allSatisfy {
                        status.contains("codex paused on \($0): Codex Session (5h), resumes in ")
                    }
                        && status.components(separatedBy: " paused on ").count == names.count + 1
                        && screen.contains(names.isEmpty ? " wait" : count) == !names.isEmpty
                }
                while try await !isShown() { try Task.checkCancellation() }
            }
            let program = try #require(TemporaryHome.program("usage-view")).path
            func pause(_ machine: GateMachine) throws -> RunningProgram {
                try machine.home.file(
                    "input", #"{"session_id":"w","cwd":"/tmp","hook_event_name":"PreToolUse","model":"m"}"#)
                return try RunningProgram(
                    machine.home, "/bin/sh", ["-c", "exec '\(program)' gate hook codex < ~/input"])
            }
            let first = try pause(machines[0])
            try await shows(["m0"])
            // It has pushed nothing of its own.
            let second = try pause(machines[1])
            try await shows(["m0", "another machine"])
            first.send(SIGKILL)
            try await shows(["another machine"])
            second.send(SIGKILL)
            try await shows([])
        }
    }

    @Test("no daemon, no pusher and a damaged replica refuse no call that the last numbers allow")
    func unreachable() async throws {
        try await GateMachine.withThree { machines, daemon in
            try machines[0].use(70)
            let status = ["gate", "status"]
            for machine in machines {
                while try await !machine.home.run("usage-view", status).text.contains("70 % used (m0") {
                    try Task.checkCancellation()
                }
            }
            await daemon.stop()
            for machine in machines { #expect(try await machine.call().isEmpty) }
            for machine in machines { machine.pusher.send(SIGKILL) }
            let home = machines[1].home
            let files = try FileManager.default.subpathsOfDirectory(atPath: home.path + "/.local/share/ubiquity")
            for file in files where file.hasSuffix(".log") {
                try home.file(".local/share/ubiquity/" + file, "damage")
            }
            for machine in machines { #expect(try await machine.call().isEmpty) }
        }
    }
}
