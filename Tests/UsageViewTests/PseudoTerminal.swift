import Foundation
import Testing

/// The two ends of a pseudo terminal; the test is the person, the session has the other end.
struct PseudoTerminal {
    let person: Int32
    let program: Int32

    init() throws {
        (person, program) = try #require(Self.openPair())
    }

    func closeBoth() {
        close(person)
        close(program)
    }

    /// Canonical input, echo and signals: on in a shell, off in raw mode.
    var localFlags: tcflag_t {
        var attributes = termios()
        tcgetattr(program, &attributes)
        return attributes.c_lflag & tcflag_t(ICANON | ECHO | ISIG)
    }

    func type(_ text: String) { _ = write(person, text, text.utf8.count) }

    /// What the program has written so far; waits for at least one byte.
    func seen() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(person, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads until `text` has come by.
    func wait(toSee text: String) {
        var all = ""
        while !all.contains(text) { all += seen() }
    }
}
