import TestSupport
@testable import clip
import Foundation
import KVStoreHTTP
import StoreTestSupport
import Testing

@Suite("Importing files of any bytes")
struct ImportDamageTests {
    private let home: ImportHome

    init() throws { home = try ImportHome() }

    private struct Sample: Sendable {
        var tool: ImportTool
        var file: String
    }

    private static let samples = [
        Sample(tool: .clipse, file: "clipse/clipboard_history.json"),
        Sample(tool: .maccy, file: "maccy/Storage.sqlite"),
        Sample(tool: .cliphist, file: "cliphist/db"),
        Sample(tool: .cliphist, file: "cliphist/db-metadata"),
        Sample(tool: .cliphist, file: "cliphist/db-many"),
        Sample(tool: .copyq, file: "copyq/copyq_tab_JmNsaXBib2FyZA==.dat"),
        Sample(tool: .copyq, file: "copyq/export.cpq"),
    ]

    @Test("a damaged history is an error, or some items within the limits", arguments: 0..<7)
    func damage(index: Int) throws {
        let sample = Self.samples[index]
        let original = [UInt8](try Data(contentsOf: URL(filePath: ImportHome.fixtures + "/" + sample.file)))
        let seed = UInt64.random(in: 0...UInt64.max)
        var randomness = SeededGenerator(seed: seed)
        let path = home.home.path + "/history"
        var outcomes: Set<String> = []
        try home.withStore { store in
            let importing = HistoryImport(recorder: try Recorder(store))
            for round in 0..<150 {
                let bytes = Self.damaged(original, using: &randomness)
                try Data(bytes).write(to: URL(filePath: path))
                do {
                    let items = try sample.tool.read(path)
                    let byteCount = items.items.reduce(0) { $0 + $1.byteCount }
                    #expect(items.items.count <= ImportedItems.itemLimit, "seed \(seed), \(round)")
                    // Elements may share bytes, but not without a limit.
                    #expect(
                        byteCount <= ImportedItems.byteLimit + ImportedItems.itemByteLimit, "seed \(seed), \(round)")
                    if items.items.count < 64 {
                        let summary = try importing.add(items, writtenAt: .now, isDryRun: true)
                        #expect(summary.read == items.readCount, "seed \(seed), \(round)")
                    }
                    outcomes.insert("items")
                } catch is ImportError {
                    outcomes.insert("error")
                }
            }
            #expect(store.history(HistoryLimits()).items.isEmpty)
        }
        #expect(outcomes.contains("error"), "seed \(seed)")
    }

    /// Truncated, with bits flipped, with extreme numbers, or with a part of it copied elsewhere.
    private static func damaged(_ original: [UInt8], using randomness: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &randomness) {
            guard bytes.count > 16 else { break }
            let offset = Int.random(in: 0..<(bytes.count - 8), using: &randomness)
            switch Int.random(in: 0..<4, using: &randomness) {
            case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &randomness))
            case 1: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &randomness)
            case 2:
                let value: UInt8 = [0, 0x7F, 0x80, 0xFF].randomElement(using: &randomness)!
                for index in offset..<(offset + 4) { bytes[index] = value }
            default:
                let source = Int.random(in: 0..<(bytes.count - 8), using: &randomness)
                bytes.replaceSubrange(offset..<(offset + 8), with: bytes[source..<(source + 8)])
            }
        }
        return bytes
    }

    @Test("the image of an item is only read from a file that is an image")
    func otherFiles() throws {
        let secret = try home.home.file(".ssh/id_example", "not for a history")
        let path = try home.home.file(
            "clipboard_history.json", #"{"clipboardHistory": [{"value": "x", "filePath": "\#(secret)"}]}"#)
        let items = try ImportTool.clipse.read(path)
        #expect(items.items.isEmpty)
        #expect(items.unread == ["its image file is no image": 1])
    }
}
