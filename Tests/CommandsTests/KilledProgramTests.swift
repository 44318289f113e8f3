import Foundation
import TestSupport
import Testing

@Suite("Programs that a test kills", .timeLimit(.minutes(5)))
struct KilledProgramTests {
    /// Leaves a process of another group that holds the streams until it is killed, and prints its number.
    private static let holding = "setsid sh -c 'echo $$; exec sleep 1000' & wait"

    @Test("the streams of one that is killed end, whoever else holds them")
    func streams() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let program = try RunningProgram(home, "/bin/sh", ["-c", Self.holding])
        var lines = program.output.makeAsyncIterator()
        let line = await lines.next()
        let holder = try #require(line.flatMap { pid_t($0) })
        defer { kill(holder, SIGKILL) }
        program.send(SIGKILL)
        #expect(await program.status() == -SIGKILL)
        #expect(await lines.next() == nil)
        for await _ in program.errors {}
    }

    @Test("one that is run in a test that is cancelled ends with all of its group")
    func cancelled() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let fifo = try home.directory("fifo") + "/started"
        mkfifo(fifo, 0o600)
        let run = Task {
            try await home.shell("sleep 1000 & echo $! >\(fifo); wait", input: Data(count: 1_000_000))
        }
        let text = try FileHandle(forReadingFrom: URL(filePath: fifo)).readToEnd() ?? Data()
        let child = try #require(pid_t(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)))
        run.cancel()
        #expect(try await run.value.status == SIGKILL)
        // It stays a zombie where nobody waits for the orphans.
        let status = { try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8) }
        while kill(child, 0) == 0, status()?.contains("State:\tZ") == false { await Task.yield() }
    }
}
