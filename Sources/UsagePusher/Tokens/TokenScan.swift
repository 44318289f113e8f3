import Dispatch
import Essentials
import LocalFiles
import SQLiteReading
import Synchronization

/// Reads files for their tokens, on several threads.
final class TokenScan: Sendable {
    /// A file to read from where an earlier reading stopped.
    struct Job: Sendable {
        var log: any TokenLog
        /// The index in the cache's files.
        var index: Int
        /// As the last reading left it.
        var state: TokenCache.FileState
        /// As it is listed now.
        var status: FileStatus
        var isNew = false
    }

    struct Result: Sendable {
        /// How far each file has been read, by index. One that is missing is gone or was not reached.
        var states: [Int: TokenCache.FileState] = [:]
        /// Indices of files of which earlier records do not count any more.
        var replaced: Set<UInt32> = []
        var issues: [String] = []
        /// Bytes that were read.
        var byteCount = 0
    }

    private static let lineByteLimit = 32 * 1_048_576
    /// What follows in a compressed file is left out.
    private static let decompressedByteLimit = 4 * 1_024 * 1_024 * 1_024
    /// A larger one is not read to find out whether it is small without its long strings.
    private static let documentByteLimit: Int64 = 256 * 1_048_576
    private static let issueLimit = 32

    private let names: TokenNames
    private let spool: TokenSpool
    private let environment: SourceEnvironment
    /// On `environment.monotonicSeconds`.
    private let deadline: Double
    /// Bytes that have been read so far.
    private let byteCount = Atomic<Int>(0)
    private let next = Atomic<Int>(0)
    private let results = Mutex(Result())
    private let largeLines = DispatchSemaphore(value: 1)

    init(names: TokenNames, spool: TokenSpool, environment: SourceEnvironment, deadline: Double) {
        self.names = names
        self.spool = spool
        self.environment = environment
        self.deadline = deadline
    }

    /// Reads the files of the jobs, in their order, until the deadline.
    func run(_ jobs: [Job], progress: @Sendable (Int) -> Void) -> Result {
        let workers = min(jobs.count, ProcessInfo.processInfo.activeProcessorCount, 8)
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            let lines = LineBuffer(lineByteCount: Self.lineByteLimit, largeLines: largeLines)
            while !isOutOfTime {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < jobs.count else { return }
                run(jobs[index], lines, progress)
            }
        }
        var result = results.withLock { $0 }
        result.byteCount = byteCount.load(ordering: .relaxed)
        return result
    }

    private var isOutOfTime: Bool { environment.monotonicSeconds() >= deadline }

    private func run(_ job: Job, _ lines: LineBuffer, _ progress: (Int) -> Void) {
        var state = job.state
        // Gives back what the last file needed.
        lines.begin()
        guard let reader = job.log.reader(of: state.file) else {
            state.restart(as: job.status)
            state.isComplete = true
            return finish(job, state, isReplaced: true)
        }
        state.hasFailed = false
        var sink = TokenSink(
            file: state.file, index: UInt32(job.index), source: job.log.source, names: names, flush: spool.add)
        var isReplaced = false
        do throws(FileError) {
            switch reader {
            case .lines(let reader):
                isReplaced = try read(reader, &state, lines, &sink, progress)
            case .document(let read):
                try LocalFile(state.file.path).withOpen { file throws(FileError) in
                    let document = try document(file, lines, progress)
                    state.restart(as: file.status)
                    isReplaced = true
                    read(document, &sink)
                    state.isComplete = true
                }
            case .opened(let reader):
                try open(reader, &state, &sink, progress)
            }
        } catch {
            if error.isMissing { return }
            report(error)
            state.isComplete = true
            state.hasFailed = true
        }
        sink.finish()
        if !sink.issues.isEmpty { state.hasFailed = true }
        state.leftOutCount &+= sink.leftOutCount
        state.thread = sink.thread ?? state.thread
        report(sink.issues)
        finish(job, state, isReplaced: isReplaced)
    }

    /// A whole document, valid until the next text is read.
    private func document(
        _ file: OpenFile, _ lines: LineBuffer, _ progress: (Int) -> Void
    ) throws(FileError) -> UnsafeRawBufferPointer {
        func tooLarge(_ byteLimit: Int) -> FileError {
            FileError(operation: "read", path: file.path, cause: .tooLarge(byteLimit: byteLimit))
        }
        guard file.status.byteCount <= Self.documentByteLimit else { throw tooLarge(Int(Self.documentByteLimit)) }
        while lines.end < file.status.byteCount {
            let got = try file.read(into: lines.free, at: lines.end)
            if got == 0 { break }
            guard lines.addToDocument(got) else { throw tooLarge(Self.lineByteLimit) }
            count(got, progress)
        }
        try Self.checkEncoding(lines.document, of: file)
        return lines.document
    }

    private static func checkEncoding(_ start: UnsafeRawBufferPointer, of file: OpenFile) throws(FileError) {
        guard TextStart.isWide(start) else { return }
        let reason = "it is in UTF-16; convert it to UTF-8, for example with: iconv -f UTF-16 -t UTF-8"
        throw FileError(operation: "read", path: file.path, cause: .invalid(reason))
    }

    /// - Returns: whether the file is not the one that was read last with more lines.
    private func read<Reader: TokenLineReader>(
        _ new: Reader, _ state: inout TokenCache.FileState, _ lines: LineBuffer,
        _ sink: inout TokenSink, _ progress: (Int) -> Void
    ) throws(FileError) -> Bool {
        try LocalFile(state.file.path).withOpen { file throws(FileError) in
            let isCompressed = state.file.path.hasSuffix(".zst")
            let isReplaced = isCompressed || !state.continues(in: file)
            if isReplaced { state.restart(as: file.status) } else { state.adopt(file.status) }
            var reader = Self.resumed(new, from: state.reader)
            if isCompressed {
                state.isComplete = try readCompressed(file, &reader, lines, &sink)
                count(Int(file.status.byteCount), progress)
                return true
            }
            state.isComplete = false
            lines.begin(at: state.offset, isInsideLongLine: state.isInsideLongLine)
            while !isOutOfTime {
                let got = try file.read(into: lines.free, at: lines.end)
                if got == 0 {
                    lines.passLastLine { line, _ in Self.read(line, &reader, &sink) }
                    state.isComplete = true
                    break
                }
                if lines.end == 0 { try Self.checkEncoding(.init(rebasing: lines.free[..<got]), of: file) }
                let tooLong = lines.add(got) { line, _ in Self.read(line, &reader, &sink) }
                sink.leaveOut(tooLong)
                count(got, progress)
                if lines.isInsideZeros, let next = file.nextData(from: lines.end) {
                    lines.skipZeros(to: next)
                }
            }
            state.offset = lines.resumeOffset
            state.isInsideLongLine = lines.isInsideLongLine
            state.remember(try state.lastBytes(of: file))
            state.reader = Self.encoded(reader)
            return isReplaced
        }
    }

    /// Returns false when the time has ended.
    private func readCompressed<Reader: TokenLineReader>(
        _ file: OpenFile, _ reader: inout Reader, _ lines: LineBuffer, _ sink: inout TokenSink
    ) throws(FileError) -> Bool {
        guard let zstandard = Zstandard.installed else {
            sink.report("\(file.path) is compressed: install \(Zstandard.packageName) to read it")
            return true
        }
        lines.begin()
        var bytesLeft = Self.decompressedByteLimit
        let outcome = try zstandard.decompress(file) { chunk in
            bytesLeft -= chunk.count
            let tooLong = lines.add(chunk) { line, _ in Self.read(line, &reader, &sink) }
            sink.leaveOut(tooLong)
            return bytesLeft > 0 && !isOutOfTime
        }
        if outcome == .stopped, bytesLeft > 0 { return false }
        if outcome == .complete {
            lines.passLastLine { line, _ in Self.read(line, &reader, &sink) }
        } else {
            sink.leaveOut()
        }
        return true
    }

    private static func read<Reader: TokenLineReader>(
        _ line: UnsafeRawBufferPointer, _ reader: inout Reader, _ sink: inout TokenSink
    ) {
        sink.lineOutcome = .nothing
        sink.isWholeLine = false
        // What PowerShell has appended.
        if TextStart.isWide(line) { return sink.leaveOut() }
        reader.add(line, to: &sink)
        guard sink.lineOutcome != .nothing,
            sink.lineOutcome == .rejected || !sink.isWholeLine && TornLine.isSuspected(in: line),
            let last = TornLine.lastObject(of: line)
        else { return }
        reader.add(last, to: &sink)
    }

    private func open<Reader: TokenFileReader>(
        _ new: Reader, _ state: inout TokenCache.FileState, _ sink: inout TokenSink, _ progress: (Int) -> Void
    ) throws(FileError) {
        var reader = Self.resumed(new, from: state.reader)
        if let status = try FileStatus(path: state.file.path) {
            state.adopt(status.includingDatabaseLog(of: state.file.path))
        }
        var isStuck = false
        repeat {
            let start = reader
            var environment = environment
            environment.limits.seconds = max(
                0, min(environment.limits.seconds, deadline - environment.monotonicSeconds()))
            var budget = ScanBudget(environment)
            state.isComplete = try reader.read(state.file, budget: &budget, into: &sink)
            count(budget.bytesRead, progress)
            state.reader = Self.encoded(reader)
            isStuck = reader == start
        } while !state.isComplete && !isStuck && !isOutOfTime
    }

    /// Empty when it cannot be encoded: it begins anew then.
    private static func encoded(_ reader: some Encodable) -> Data {
        (try? JSONEncoder().encode(reader)) ?? Data()  // See above.
    }

    /// One of another version begins anew.
    private static func resumed<Reader: Codable>(_ new: Reader, from data: Data) -> Reader {
        data.isEmpty ? new : (try? JSONDecoder().decode(Reader.self, from: data)) ?? new  // See above.
    }

    private func count(_ count: Int, _ progress: (Int) -> Void) {
        progress(byteCount.add(count, ordering: .relaxed).newValue)
    }

    private func report(_ error: FileError) {
        report(["cannot read \(error.path): \(error.sourceMessage)"])
    }

    private func report(_ issues: [String]) {
        guard !issues.isEmpty else { return }
        results.withLock {
            $0.issues += issues.prefix(max(0, Self.issueLimit - $0.issues.count))
        }
    }

    private func finish(_ job: Job, _ state: TokenCache.FileState, isReplaced: Bool = false) {
        results.withLock {
            $0.states[job.index] = state
            if isReplaced, !job.isNew { $0.replaced.insert(UInt32(job.index)) }
        }
    }
}

extension TokenCache.FileState {
    /// Takes over what the file is when it is opened.
    fileprivate mutating func adopt(_ status: FileStatus) {
        identity = status.identity
        byteCount = status.byteCount
        modified = status.modified
    }

    /// Forgets what was read.
    fileprivate mutating func restart(as status: FileStatus) {
        let since = since
        self = Self(file, source: source, status)
        self.since = since
    }

    /// Whether the file is the one that was read last, with the same bytes where that reading stopped.
    fileprivate func continues(in file: OpenFile) -> Bool {
        guard offset > 0 else { return true }
        guard file.status.identity == identity, file.status.byteCount >= offset,
            let bytes = try? lastBytes(of: file)  // Unlike any: read anew.
        else { return false }
        return bytes.withUnsafeBytes(ContentHash.of) == lastBytesHash
    }

    /// Whether a file with this one's identity is this one, with more or other content if it is no log. A name that has
    /// changed may be that of another file: the identity of one that is gone is used again.
    func continues(as other: TokenFile, _ status: FileStatus) -> Bool {
        guard offset > 0 else { return other.path == file.path }
        if other.path == file.path, isCurrent(status) { return true }
        do throws(FileError) {
            return try LocalFile(other.path).withOpen { file throws(FileError) in continues(in: file) }
        } catch {
            return other.path == file.path
        }
    }

    /// The bytes before `offset`.
    fileprivate func lastBytes(of file: OpenFile) throws(FileError) -> [UInt8] {
        let count = min(512, offset)
        return try file.bytes(at: offset - count, count: Int(count))
    }

    fileprivate mutating func remember(_ bytes: [UInt8]) {
        lastBytesHash = bytes.withUnsafeBytes(ContentHash.of)
    }
}

extension FileStatus {
    /// Nil when there is nothing, or nothing that may be seen, at the path: a source has nothing to read either way,
    /// and says why when it tries.
    static func visible(at path: String, followsLinks: Bool = true) -> FileStatus? {
        try? FileStatus(path: path, followsLinks: followsLinks)  // See above.
    }

    /// The status that changes with a database when its tool has written only to the log beside it.
    func includingDatabaseLog(of path: String) -> FileStatus {
        guard kind == .file, SQLiteFiles.isName(path),
            let log = FileStatus.visible(at: path + "-wal")
        else { return self }
        var status = self
        status.byteCount = byteCount &+ log.byteCount
        status.modified = max(modified, log.modified)
        return status
    }
}
