import Commands
import Essentials
import Synchronization

/// Where copies come from. Calls block the thread.
protocol ClipboardSource: AnyObject {
    /// Waits for the next copy and reads it, each type within bounds on its bytes and time.
    ///
    /// - Parameter choose: of the types that are offered, those that are read.
    /// - Returns: nil after a cancellation.
    func next(_ choose: ([String]) throws -> [String], _ cancellation: Cancellation) throws -> Offer?
}

/// Why copies cannot be collected at present.
struct SourceError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static let closed = SourceError("the display has closed the connection")
    static let malformed = SourceError("the display has sent what is no message of its protocol")

    static func system(_ operation: String, code: Int32 = errno) -> SourceError {
        SourceError("cannot \(operation): \(String(cString: strerror(code)).lowercased())")
    }
}

/// What is read of a copy at most.
enum SourceLimits {
    static let byteCount = ContentCache.contentsByteLimit
    /// The time to read one type.
    static let time = Duration.seconds(2)
    /// After which no other type is asked for.
    static let copyTime = Duration.seconds(4)
    /// Names of types; more are no copy of a program that means well.
    static let nameCount = 1_024
    static let nameByteCount = 1_024

    /// Reads types of a copy, one after the other, as long as there is time and room for it.
    ///
    /// - Parameter read: the data of a type, of at most so many bytes, or why there is none.
    static func read(
        _ names: [String], _ read: (_ name: String, _ byteLimit: Int) throws -> Result<Data, Offer.Unread>
    ) rethrows -> (data: [(name: String, data: Data)], unread: Set<Offer.Unread>) {
        var rest = byteCount
        var data: [(name: String, data: Data)] = []
        var unread: Set<Offer.Unread> = []
        let end = ContinuousClock.now + copyTime
        for name in names {
            guard .now < end else {
                unread.insert(.notAnswered)
                break
            }
            switch try read(name, rest) {
            case .success(let part):
                rest -= part.count
                data.append((name, part))
            case .failure(let reason): unread.insert(reason)
            }
        }
        return (data, unread)
    }
}

/// Ends waits for descriptors. Safe to call from any thread.
final class Cancellation: Sendable {
    private let ends: PipeEnds
    private let cancelled = Atomic(false)

    init() {
        guard let ends = PipeEnds() else {
            preconditionFailure("cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        self.ends = ends
    }

    deinit {
        var ends = ends
        ends.close()
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        _ = write(ends.writing, &byte, 1)
    }

    enum Wait { case ready, outOfTime, cancelled }

    /// Blocks until a descriptor is ready, the time is over, or it is cancelled.
    ///
    /// - Parameters:
    ///   - descriptor: negative to wait for the time alone.
    ///   - time: nil for no end.
    func wait(for descriptor: Int32 = -1, until time: ContinuousClock.Instant? = nil) -> Wait {
        while true {
            var slots = [
                pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let rest = time.map { max(.zero, $0 - ContinuousClock.now) }
            let milliseconds = rest.map { Int32(($0 / .milliseconds(1)).rounded(.up)) } ?? -1
            let count = poll(&slots, 2, milliseconds)
            if isCancelled { return .cancelled }
            if slots[1].revents != 0 { return .ready }
            if count == 0 { return .outOfTime }
        }
    }
}
