import Essentials
import LocalFiles

/// Reads a segment that is a file of its own, from the first frame to the last. Stricter than a log: every byte of the
/// file belongs to the header or to a valid frame, so one changed bit or a missing end is damage.
package final class SegmentReader {
    package let path: String
    package let byteCount: Int
    private let scanner: SegmentScanner
    private var offset = SegmentHeader.byteCount
    /// The zeros between the last frame and the next.
    private var padding = 0..<0

    package init(path: String) throws(LogError) {
        self.path = path
        let file: FileLogFile
        do throws(FileError) {
            file = try FileLogFile(Descriptor(opening: path, flags: O_RDONLY))
        } catch {
            throw .storage(error)
        }
        let header = try SegmentHeader.read(file, segment: SegmentEncoder.segment, path: path)
        byteCount = file.byteCount
        scanner = SegmentScanner(file: file, logID: header.logID, segment: SegmentEncoder.segment)
        guard header.byteCount == byteCount else {
            throw damage(
                at: min(header.byteCount, byteCount), "the file has \(byteCount) bytes instead of \(header.byteCount)")
        }
    }

    /// The next frame, valid until the next call; nil at the end of the file.
    package func next() throws(LogError) -> LogFrame? {
        let isZero = try attempt { () throws(FileError) in
            try scanner.bytes(at: padding.lowerBound, count: padding.count)?.allSatisfy { $0 == 0 }
        }
        guard isZero == true else {
            throw damage(at: padding.lowerBound, "bytes between two records")
        }
        guard offset < byteCount else { return nil }
        let finding = try attempt { () throws(FileError) in try scanner.finding(at: offset) }
        guard case .frame(let frame, let next) = finding else {
            throw damage(at: offset, "an invalid record")
        }
        padding = offset + FrameFormat.headerByteCount + frame.payload.count..<next
        offset = next
        return frame
    }

    private func attempt<Result>(_ body: () throws(FileError) -> Result) throws(LogError) -> Result {
        do throws(FileError) { return try body() } catch { throw .storage(error) }
    }

    package func damage(at offset: Int, _ detail: String) -> LogError {
        .damaged(LogDamage(path: path, offset: offset, detail: detail))
    }
}
