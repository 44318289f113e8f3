import Dispatch
import Foundation
import Testing

/// The two ends of a pseudo terminal; the test is the person, the session has the other end.
///
/// Unchecked: the source is only cancelled after `init`, which is safe from any thread.
final class PseudoTerminal: @unchecked Sendable {
    let program: Int32
    private let person: Int32
    /// What the program writes, in pieces; ends when nothing more can come.
    private let shown: AsyncStream<[UInt8]>
    private let reading: any DispatchSourceRead

    init() throws {
        let (person, program) = try #require(Self.openPair())
        self.person = person
        self.program = program
        let (shown, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.shown = shown
        reading = DispatchSource.makeReadSource(
            fileDescriptor: person, queue: DispatchQueue(label: "person"))
        reading.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(person, &buffer, buffer.count)
            if count > 0 {
                continuation.yield(Array(buffer[..<count]))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                continuation.finish()
            }
        }
        reading.setCancelHandler {
            continuation.finish()
            close(person)
        }
        reading.activate()
    }

    func closeBoth() {
        reading.cancel()
        close(program)
    }

    /// Canonical input, echo and signals: on in a shell, off in raw mode.
    var localFlags: tcflag_t {
        var attributes = termios()
        tcgetattr(program, &attributes)
        return attributes.c_lflag & tcflag_t(ICANON | ECHO | ISIG)
    }

    func type(_ text: String) { _ = write(person, text, text.utf8.count) }

    /// Waits until `text` has come by; returns all that came since the last wait. The suite's time
    /// limit is what ends a wait in vain.
    @discardableResult
    func wait(toSee text: String) async -> String {
        var bytes: [UInt8] = []
        for await piece in shown {
            bytes += piece
            let all = String(decoding: bytes, as: UTF8.self)
            if all.contains(text) { return all }
        }
        let all = String(decoding: bytes, as: UTF8.self)
        Issue.record("\(text.debugDescription) did not come, only \(all.debugDescription)")
        return all
    }
}
