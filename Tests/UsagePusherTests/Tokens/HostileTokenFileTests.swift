import Foundation
import LocalFiles
import Synchronization
import Testing

@testable import UsagePusher

/// What must hold for the logs of every tool, whatever is in the place of their files: through the ledger, with its
/// cache.
@Suite("Hostile files of token logs", .timeLimit(.minutes(10)))
struct HostileTokenFileTests {
    private static let prices = ModelPrices.packaged

    private func update(_ log: any TokenLog, in home: SampleHome, entryLimit: Int = 800) -> TokenUsage {
        var environment = home.environment(["XDG_STATE_HOME": home.path(".state")])
        environment.keepsCache = true
        return TokenLedger(logs: [log], environment: environment, entryLimit: entryLimit).update(
            in: environment, prices: Self.prices)
    }

    private func total(_ usage: TokenUsage) -> Int {
        usage.buckets.reduce(0) { $0 + $1.counts.total }
    }

    /// One sample for each log of a source, alone in a home.
    private func alone(_ source: RecordingSource) throws -> [TokenSample] {
        var names = Set<String>()
        return try source.samples().filter {
            names.insert("\($0.isOpened)\($0.isOfLines)\($0.file.root)").inserted
        }.map { sample in
            let home = try SampleHome()
            try home.write(sample.relativePath, Data(sample.bytes))
            let root = home.path + sample.file.root.dropFirst(sample.home.path.count)
            return TokenSample(
                home: home, log: sample.log, file: TokenFile(path: home.path(sample.relativePath), root: root),
                bytes: sample.bytes)
        }
    }

    @Test("what is no file is not waited for", arguments: RecordingSource.all)
    func otherKinds(_ source: RecordingSource) throws {
        for sample in try alone(source) {
            let path = sample.file.path
            func replace(_ make: () throws -> Void) throws -> TokenUsage {
                try FileManager.default.removeItem(atPath: path)
                try make()
                return update(sample.log, in: sample.home)
            }
            #expect(total(update(sample.log, in: sample.home)) > 0)
            let pipe = try replace { #expect(mkfifo(path, 0o600) == 0) }
            #expect(pipe.buckets.isEmpty)
            let directory = try replace { try sample.home.createDirectory(sample.relativePath) }
            #expect(directory.buckets.isEmpty)
            let loop = try replace { try sample.home.link(sample.relativePath, to: path) }
            #expect(loop.buckets.isEmpty && loop.issues.count == 1)
            for target in ["environ", "mem", "maps", "fd/0", "root", "."] {
                let link = try replace {
                    try sample.home.link(sample.relativePath, to: "/proc/self/" + target)
                }
                // Links to directories are followed, as far as a listing goes.
                let isBounded = target == "root" || target == "."
                #expect(link.buckets.isEmpty || isBounded && link.isPartial, "\(target)")
            }
            let device = try replace { try sample.home.link(sample.relativePath, to: "/dev/zero") }
            #expect(device.buckets.isEmpty)
            try FileManager.default.removeItem(atPath: path)
            #expect(update(sample.log, in: sample.home).buckets.isEmpty)
        }
    }

    @Test("a file that may not be read is reported", arguments: RecordingSource.all)
    func permissions(_ source: RecordingSource) throws {
        for sample in try alone(source) {
            chmod(sample.file.path, 0)
            // One file is read on this thread.
            let usage = withoutPrivileges { update(sample.log, in: sample.home) }
            #expect(usage.buckets.isEmpty && usage.gap(of: sample.log.source) != nil)
            #expect(usage.issues.contains { $0.contains("permission denied") })
        }
    }

    @Test("a file that shrinks, grows or is replaced is read as it is now", arguments: RecordingSource.all)
    func changes(_ source: RecordingSource) throws {
        for sample in try alone(source) where !sample.isOpened {
            let bytes = sample.bytes
            let half = bytes.lastIndex(of: 0x0A).map { newline in
                bytes[..<newline].lastIndex(of: 0x0A).map { Array(bytes[...$0]) } ?? []
            }
            let versions = [bytes, half ?? [], bytes, [], Array(bytes.reversed()), bytes]
            for (index, version) in versions.enumerated() {
                try sample.home.write(
                    sample.relativePath, Data(version), modified: sampleNow.addingTimeInterval(Double(index)))
                let fresh = try sample.read(version)
                #expect(total(update(sample.log, in: sample.home)) == fresh.total, "\(index)")
            }
        }
    }

    @Test(
        "50 MB without an end are left out and reported, and what follows a line is read",
        arguments: RecordingSource.all)
    func longLine(_ source: RecordingSource) throws {
        for sample in try alone(source) {
            let full = try sample.read()
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: sample.file.path))
            let start = sample.isOfLines ? [] : sample.bytes
            try handle.truncate(atOffset: UInt64(start.count))
            try handle.truncate(atOffset: UInt64(start.count + 50_000_000))
            if sample.isOfLines {
                try handle.seek(toOffset: 0)
                try handle.write(contentsOf: Data(#"{"type":""#.utf8))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data([0x0A] + sample.bytes))
            }
            try handle.close()
            let usage = update(sample.log, in: sample.home)
            if sample.isOfLines {
                #expect(total(usage) == full.total)
                #expect(usage.leftOut.map(\.count) == [1 + full.leftOutCount])
            } else if !sample.isOpened {
                #expect(usage.buckets.isEmpty)
                #expect(usage.issues.contains { $0.contains("larger than") })
            }
        }
    }

    @Test("a document counts the same with 20 MB of images in it", arguments: RecordingSource.all)
    func largeDocument(_ source: RecordingSource) throws {
        for sample in try alone(source) where sample.isDocument {
            let brace = try #require(sample.bytes.firstIndex(of: UInt8(ascii: "{")))
            let image = "\"\\\"\(String(repeating: "x", count: 999_999))\""
            let images = Array(repeating: image, count: 20).joined(separator: ",")
            let member = Array("\"images\":[\(images)],".utf8)
            try sample.home.write(
                sample.relativePath, Data(sample.replacing(brace + 1..<brace + 1, with: member)))
            let usage = update(sample.log, in: sample.home)
            #expect(try total(usage) == sample.read().total && usage.issues.isEmpty)
        }
    }

    @Test("a document that is cut off anywhere is said to be", arguments: RecordingSource.all)
    func cutDocument(_ source: RecordingSource) throws {
        for sample in try alone(source) where sample.isDocument {
            let end = try #require(sample.bytes.lastIndex { $0 > 0x20 })
            for count in Set([1, end / 3, end / 2, end]) where count > 0 {
                try sample.home.write(sample.relativePath, Data(sample.bytes[..<count]))
                for _ in 0..<2 {
                    let usage = update(sample.log, in: sample.home)
                    let isSaid = usage.issues.contains { $0.contains("\(sample.file.path) is cut off") }
                    #expect(isSaid || !usage.leftOut.isEmpty, "\(sample.relativePath) at byte \(count)")
                }
            }
        }
    }

    @Test("a file in UTF-16 is named with what to do, and lines in it are counted", arguments: RecordingSource.all)
    func wideText(_ source: RecordingSource) throws {
        for sample in try alone(source) where !sample.isOpened {
            let text = String(decoding: sample.bytes, as: UTF8.self).replacing("\n", with: "\r\n")
            let encodings: [(String.Encoding, [UInt8])] = [
                (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16LittleEndian, []), (.utf16BigEndian, [0xFE, 0xFF]),
                (.utf16BigEndian, []),
            ]
            for (encoding, mark) in encodings {
                let wide = try Data(mark) + #require(text.data(using: encoding))
                try sample.home.write(sample.relativePath, wide)
                for _ in 0..<2 {
                    let usage = update(sample.log, in: sample.home)
                    #expect(usage.buckets.isEmpty && usage.gap(of: sample.log.source) != nil)
                    #expect(usage.issues.contains { $0.contains("\(sample.file.path): it is in UTF-16; convert it") })
                }
                guard sample.isOfLines else { continue }
                // As PowerShell appends.
                try sample.home.write(
                    sample.relativePath, Data(sample.bytes) + wide, modified: sampleNow.addingTimeInterval(1))
                let usage = update(sample.log, in: sample.home)
                #expect(try total(usage) == sample.read().total)
                #expect(usage.leftOut.map(\.path) == [sample.file.path])
            }
        }
    }

    @Test("listing ends with the seconds of an update", arguments: RecordingSource.all)
    func seconds(_ source: RecordingSource) throws {
        for sample in try alone(source) where sample.file.path != sample.file.root {
            for index in 0..<20 {
                let name = (sample.relativePath as NSString).deletingLastPathComponent
                // A name that every log enters.
                try sample.home.write("\(name)/ses_\(index)/\(sample.file.name)", Data())
            }
            // Each look at it takes a second.
            let clock = Atomic<Int>(0)
            var environment = sample.home.environment()
            environment.monotonicSeconds = {
                Double(clock.add(1, ordering: .relaxed).newValue)
            }
            let usage = TokenLedger(logs: [sample.log], environment: environment).update(
                in: environment, prices: Self.prices, options: .init(seconds: 8))
            #expect(usage.isPartial)
            #expect(clock.load(ordering: .relaxed) < 60)
        }
    }

    @Test("a directory of very many files is read in part, and that is said", arguments: RecordingSource.all)
    func manyFiles(_ source: RecordingSource) throws {
        for sample in try alone(source) where sample.file.path != sample.file.root {
            let directory = (sample.relativePath as NSString).deletingLastPathComponent
            for index in 0..<60 {
                try sample.home.write("\(directory)/\(index)-\(sample.file.name)", Data())
            }
            let usage = update(sample.log, in: sample.home, entryLimit: 20)
            #expect(usage.isPartial && usage.files.values.reduce(0) { $0 + $1.count } <= 20)
            #expect(usage.issues.contains { $0.contains("more than 20 files") })
            // What was read before stays while it is there.
            let whole = update(sample.log, in: sample.home)
            #expect(!whole.isPartial && total(whole) > 0)
            let later = update(sample.log, in: sample.home, entryLimit: 1)
            #expect(later.isPartial && total(later) == total(whole))
        }
    }
}
