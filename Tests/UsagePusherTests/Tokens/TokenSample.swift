import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

/// A source that states tokens, with the valid files of its fixture homes.
struct RecordingSource: CustomTestStringConvertible, Sendable {
    let providerID: String

    var testDescription: String { providerID }

    static let all = UsageSources.all.filter { $0 is any TokenRecording }.map {
        RecordingSource(providerID: $0.providerID)
    }

    var logs: [any TokenLog] {
        let source = UsageSources.all.first { $0.providerID == providerID }
        return (source as? any TokenRecording)?.tokenLogs ?? []
    }

    /// The samples of the homes that are not made to be hard to read, of each kind of file the richest ones.
    ///
    /// - Parameters:
    ///   - limit: bytes of a sample.
    ///   - count: of each kind.
    func samples(limit: Int = 65_536, ofEachKind count: Int = 2) throws -> [TokenSample] {
        let homes = SourceHome.all.filter { home in
            home.providerID == providerID && !["empty", "half-written", "hostile"].contains { home.name.hasPrefix($0) }
        }
        var samples: [TokenSample] = []
        for fixture in homes {
            let home = try SampleHome(copying: fixture.testDescription)
            for log in logs {
                for file in LogEntries.files(of: log, in: home.environment()) {
                    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
                    guard bytes.count <= limit, !file.name.hasSuffix(".zst") else { continue }
                    let sample = TokenSample(home: home, log: log, file: file, bytes: bytes)
                    if try !sample.read().entries.isEmpty { samples.append(sample) }
                }
            }
        }
        let counts = try samples.map { try ($0, $0.read().entries.count) }
        return Dictionary(grouping: counts) { $0.0.kind }.sorted { $0.key < $1.key }.flatMap {
            $0.value.sorted { $0.1 > $1.1 }.prefix(count).map(\.0)
        }
    }
}

/// A file from which a log reads at least one record.
struct TokenSample {
    let home: SampleHome
    let log: any TokenLog
    let file: TokenFile
    let bytes: [UInt8]

    var relativePath: String { String(file.path.dropFirst(home.path.count + 1)) }

    /// The same for files that are read in the same way, as far as their names say that.
    fileprivate var kind: String {
        "\(log.source) \(isOpened) " + file.name.filter { !$0.isHexDigit && $0 != "-" }
    }

    /// Whether its reader opens the file itself.
    var isOpened: Bool {
        if case .opened? = log.reader(of: file) { return true }
        return false
    }

    var isDocument: Bool { !isOpened && !isOfLines }

    var isOfLines: Bool {
        if case .lines? = log.reader(of: file) { return true }
        return false
    }

    /// What is read of other bytes at the same place.
    func read(_ changed: [UInt8]? = nil) throws -> LogEntries {
        if isOpened, let changed { try home.write(relativePath, Data(changed)) }
        let entries = LogEntries(log)
        try entries.read(file, of: log, as: isOpened ? [] : changed ?? bytes)
        return entries
    }

    /// How many lines a reader of lines rejects although it leaves out no record of theirs.
    func unreadableLineCount(in changed: [UInt8]) -> Int {
        guard case .lines(var reader)? = log.reader(of: file) else { return 0 }
        var sink = TokenSink(file: file, index: 0, source: log.source, names: TokenNames()) { _ in }
        return changed.split(separator: UInt8(ascii: "\n")).count { line in
            let leftOutCount = sink.leftOutCount
            sink.lineOutcome = .nothing
            line.withUnsafeBytes { reader.add($0, to: &sink) }
            return sink.lineOutcome == .rejected && sink.leftOutCount == leftOutCount
        }
    }

    /// The ranges of all numbers, or of all strings with their quotes, that are values; with the key before them.
    func literals(strings: Bool) -> [(key: String, range: Range<Int>)] {
        var literals: [(String, Range<Int>)] = []
        var key = ""
        var index = 0
        // Quotes of JSON that is the text of a string are escaped.
        let escape = bytes.contains(UInt8(ascii: "\\"))
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                var end = index + 1
                while end < bytes.count, bytes[end] != byte || bytes[end - 1] == 0x5C { end += 1 }
                let isKey = bytes[min(end + 1, bytes.count)...].first { $0 != 0x20 } == 0x3A
                let text = String(decoding: bytes[index + 1..<min(end, bytes.count)], as: UTF8.self)
                if isKey {
                    key = text
                } else if strings {
                    literals.append((key, index..<min(end + 1, bytes.count)))
                } else if escape {
                    literals += Self.nestedNumbers(in: bytes[index..<min(end, bytes.count)])
                }
                index = end + 1
            } else if !strings, byte == 0x2D || byte.isDigit {
                var end = index + 1
                while end < bytes.count, bytes[end].isDigit || bytes[end] == 0x2E { end += 1 }
                literals.append((key, index..<end))
                index = end
            } else {
                index += 1
            }
        }
        return literals
    }

    /// `\"key\":12` inside a string.
    private static func nestedNumbers(in bytes: ArraySlice<UInt8>) -> [(String, Range<Int>)] {
        var numbers: [(String, Range<Int>)] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index].isDigit, let before = bytes[..<index].last(where: { $0 != 0x20 }), before == 0x3A else {
                index += 1
                continue
            }
            var end = index + 1
            while end < bytes.endIndex, bytes[end].isDigit || bytes[end] == 0x2E { end += 1 }
            let key = bytes[..<index].split(separator: UInt8(ascii: "\"")).dropLast().last ?? []
            numbers.append((String(decoding: key, as: UTF8.self), index..<end))
            index = end
        }
        return numbers
    }

    /// The bytes with others in place of a range.
    func replacing(_ range: Range<Int>, with text: [UInt8]) -> [UInt8] {
        bytes[..<range.lowerBound] + text + bytes[range.upperBound...]
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self &- 0x30 < 10 }
}

extension LogEntries {
    var total: Int { merged.reduce(0) { $0 + $1.total } }
}
