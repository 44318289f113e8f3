import Foundation
import Testing

@testable import UsagePusher

/// Lines of a tool's log that were seen in public, and the requests that are read from them. docs/log-shapes.md says
/// where.
struct GrowingLogShape: CustomTestStringConvertible, Sendable {
    /// The sentence that must hold.
    let testDescription: String
    /// By path in the home.
    let files: [String: String]
    /// "MODEL: N × COUNTS" for each session and model, sorted, without what names the session.
    let reading: [String]

    init(_ sentence: String, _ files: [String: String], reads reading: String...) {
        testDescription = sentence
        self.files = files
        self.reading = reading
    }

    /// What is read, in one go and, of the same files, line by line.
    func check(_ log: any TokenLog) throws {
        let whole = try TokenHome(logs: [log])
        for (path, text) in files { try whole.home.write(path, text) }
        let usage = whole.usage()
        let lines = usage.buckets.map { bucket in
            (usage.model(of: bucket) ?? "no model") + ": \(bucket.requestCount) × "
                + bucket.counts.summary
                + (bucket.key.tier == .standard ? "" : ", \(bucket.key.tier)")
        }
        #expect(lines.sorted() == reading.sorted())

        let growing = try TokenHome(logs: [log])
        var time = 0.0
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            try growing.home.write(path, "")
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                time += 1
                try growing.home.append(path, line + "\n", modified: sampleNow.addingTimeInterval(time))
                _ = growing.usage()
            }
        }
        #expect(growing.usage().summary == usage.summary)
    }
}
