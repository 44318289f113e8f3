import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Codex's sample homes")
struct CodexSampleTests {
    @Test("the order of modification times does not change the result", arguments: 0..<3)
    func anyOrder(shift: Int) throws {
        let home = try SampleHome(copying: "codex/usual")
        let directory = ".codex/sessions/2026/09/18/"
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path(directory))
        for (index, name) in ["11-20-00", "11-48-00", "11-52-00"].enumerated() {
            let file = try #require(files.first { $0.contains(name) })
            try home.touch(directory + file, sampleNow - 60 * Double((index + shift) % 3))
        }
        let card = try home.card(of: CodexSource())
        #expect(card.primary?.usedPercent == 36 && card.lastUpdated == utc("2026-09-18T11:21:35Z"))
    }

    @Test("the oldest format, without resets, counts for the length of its window")
    func flatShape() throws {
        let home = try SampleHome(copying: "codex/usual")
        for later in ["sessions/2026", "sessions/2025/10", "archived_sessions"] { try home.remove(".codex/" + later) }
        for (now, percents) in [("2025-09-13T11:00:00Z", [55.0, 12]), ("2025-09-13T16:00:00Z", [12])] {
            #expect(home.reading(of: CodexSource(), at: utc(now)).percents == percents)
        }
        #expect(home.reading(of: CodexSource()).percents == [])
    }
}
