import Foundation
import FuzzTargets
import Testing

@Suite("Corpora of the fuzzers")
struct CorpusTests {
    private static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures/fuzz")

    @Test("every input that a fuzzer has kept holds", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.directory.appending(path: target.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files { try Data(contentsOf: file).withUnsafeBytes(target.run) }
    }
}
