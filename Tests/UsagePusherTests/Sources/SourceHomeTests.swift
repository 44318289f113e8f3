import Foundation
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// `UPDATE_READINGS=1 swift test` rewrites the expectations; review the diff.
@Suite("Fixture homes")
struct SourceHomeTests {
    @Test("every home is read as its expectation says", arguments: SourceHome.all)
    func expected(_ home: SourceHome) throws {
        if home.needsZstandard, Zstandard.installed == nil { return }
        if home.needsSQLite, SQLiteLibrary.installed == nil { return }
        let outcome = try home.outcome()
        if ProcessInfo.processInfo.environment["UPDATE_READINGS"] == "1" {
            try Data(outcome.utf8).write(to: home.expectation)
        }
        let expected = (try? String(contentsOf: home.expectation, encoding: .utf8)) ?? ""
        #expect(outcome == expected, "differs from \(home.expectation.path)")
    }
}
