import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// `Examples/python`, with the Python and the programs of this machine.
@Suite("The Python replica", .timeLimit(.minutes(5)))
struct PythonReplicaTests {
    private static let directory = Repository.root.appending(path: "Examples/python")

    @Test("has at most 60 lines, which fit a screen")
    func size() throws {
        let file = Self.directory.appending(path: "replica.py")
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 60)
        #expect(lines.allSatisfy { $0.count <= 100 })
    }

    @Test("passes its tests in the emulator, those with kvs included")
    func tests() async throws {
        var home = try TemporaryHome()
        defer { home.remove() }
        let programs = try #require(TemporaryHome.program("kvs")).deletingLastPathComponent().path
        home.variables = ["PATH": "\(programs):/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"]
        let outcome = try await home.run(
            "kvsd",
            [
                "emulator", "exec", "--", "python3", "-W", "error", "-m", "unittest", "discover",
                "--start-directory", Self.directory.path,
            ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.hasSuffix("\nOK\n"), "a test was skipped, or none ran: \(outcome.errors)")
    }
}
