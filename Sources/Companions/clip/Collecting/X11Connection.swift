import Essentials

/// A connection to an X11 server of this machine: the few requests that watching the clipboard takes.
///
/// Numbers are sent least significant byte first. Answers have 32 bytes and, if they are replies, as many times four
/// more as bytes 4 to 7 say. See "X Window System Protocol", appendix B.
final class X11Connection {
    /// A reply (1), an error (0) or an event (from 2 on) by its first byte.
    struct Answer: Equatable {
        var bytes: [UInt8]

        var isReply: Bool { bytes[0] == 1 }
        var isError: Bool { bytes[0] == 0 }
        /// Without the mark of events that another client has sent.
        var event: UInt8 { bytes[0] & 0x7F }

        func number(at offset: Int) -> UInt32 {
            bytes.withUnsafeBytes {
                UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            }
        }
    }

    let root: UInt32
    private let socket: DisplaySocket
    private let cancellation: Cancellation
    private var received: [UInt8] = []
    /// Events that came before the reply to a request.
    private var events: [Answer] = []

    static let notLocal = SourceError("the X11 display has no socket on this machine")
    private static let answerByteLimit = 1 << 20
    private static let eventLimit = 1_024

    /// - Parameter environment: with `DISPLAY`.
    init(environment: [String: String], _ cancellation: Cancellation) throws(SourceError) {
        let name = environment["DISPLAY"] ?? ""
        guard let display = Self.localDisplay(name) else { throw Self.notLocal }
        guard let socket = DisplaySocket(path: "/tmp/.X11-unix/X\(display)") else {
            throw .system("connect to the X11 display \(name)")
        }
        self.socket = socket
        self.cancellation = cancellation
        let cookie = X11Authority.cookie(display: display, environment: environment)
        root = try Self.setUp(socket, cookie, cancellation)
    }

    /// The number of a display such as `:0` or `:1.0`; nil for one of another machine.
    static func localDisplay(_ name: String) -> Int? {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].isEmpty || parts[0] == "unix" else { return nil }
        return parts[1].split(separator: ".").first.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    // MARK: Setup

    /// Returns the root window of the first screen.
    private static func setUp(
        _ socket: DisplaySocket, _ cookie: [UInt8], _ cancellation: Cancellation
    ) throws(SourceError) -> UInt32 {
        let method = cookie.isEmpty ? [] : Array(X11Authority.method.utf8)
        var request = X11Request()
        request.append(bytes: [UInt8(ascii: "l"), 0])
        for number in [11, 0, method.count, cookie.count, 0] { request.append(short: number) }
        request.append(padded: method)
        request.append(padded: cookie)
        guard socket.send(request.bytes[...], passing: nil) == request.bytes.count else {
            throw .system("write to the X11 display")
        }
        let time = ContinuousClock.now + SourceLimits.time
        let head = try receive(8, socket, cancellation, time)
        let rest = try receive((Int(head[6]) | Int(head[7]) << 8) * 4, socket, cancellation, time)
        guard head[0] == 1 else {
            let reason = String(decoding: rest.prefix(Int(head[1])), as: UTF8.self)
            throw SourceError("the X11 display refuses the connection: \(reason.trimmed())")
        }
        return try root(setup: rest)
    }

    /// The root window, after the vendor's name and the formats of pixmaps.
    static func root(setup: [UInt8]) throws(SourceError) -> UInt32 {
        guard setup.count >= 32 else { throw .malformed }
        let vendor = Int(setup[16]) | Int(setup[17]) << 8
        let offset = 32 + (vendor + 3) & ~3 + Int(setup[21]) * 8
        guard setup[20] > 0, setup.count >= offset + 4 else { throw .malformed }
        return Answer(bytes: setup).number(at: offset)
    }

    private static func receive(
        _ count: Int, _ socket: DisplaySocket, _ cancellation: Cancellation, _ time: ContinuousClock.Instant
    ) throws(SourceError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard cancellation.wait(for: socket.descriptor, until: time) == .ready else {
                throw SourceError("the X11 display does not answer")
            }
            bytes += try socket.receive(byteLimit: count - bytes.count)
        }
        return bytes
    }

    // MARK: Messages

    func send(_ request: X11Request) throws(SourceError) {
        let bytes = request.withLength
        guard socket.send(bytes[...], passing: nil) == bytes.count else { throw .system("write to the X11 display") }
    }

    /// Sends a request and waits for its reply; nil if the server answers with an error. Only one may be under way.
    func reply(to request: X11Request) throws(SourceError) -> Answer? {
        try send(request)
        let time = ContinuousClock.now + SourceLimits.time
        while let answer = try receive(until: time) {
            if answer.isReply { return answer }
            if answer.isError { return nil }
            guard events.count < Self.eventLimit else { throw .malformed }
            events.append(answer)
        }
        throw SourceError("cancelled")
    }

    /// Waits for the next event; nil after a cancellation.
    func nextEvent() throws(SourceError) -> Answer? {
        if !events.isEmpty { return events.removeFirst() }
        while let answer = try receive() {
            if !answer.isReply, !answer.isError { return answer }
        }
        return nil
    }

    /// Whether an event has come already, of those for which `condition` holds.
    func hasEvent(where condition: (Answer) -> Bool) throws(SourceError) -> Bool {
        while let answer = try receive(until: .now, mayEnd: true) {
            guard events.count < Self.eventLimit else { throw .malformed }
            if !answer.isReply, !answer.isError { events.append(answer) }
        }
        return events.contains(where: condition)
    }

    private func receive(
        until time: ContinuousClock.Instant? = nil, mayEnd: Bool = false
    ) throws(SourceError) -> Answer? {
        while true {
            if let answer = try takeAnswer() { return answer }
            switch cancellation.wait(for: socket.descriptor, until: time) {
            case .cancelled: return nil
            case .outOfTime:
                if mayEnd { return nil }
                throw SourceError("the X11 display does not answer")
            case .ready: received += try socket.receive()
            }
        }
    }

    private func takeAnswer() throws(SourceError) -> Answer? {
        guard received.count >= 32 else { return nil }
        var length = 32
        // Replies, and events of extensions, can be longer than 32 bytes.
        if received[0] == 1 || received[0] & 0x7F == 35 {
            let more = Int(Answer(bytes: received).number(at: 4))
            guard more <= Self.answerByteLimit / 4 else { throw .malformed }
            length += more * 4
        }
        guard received.count >= length else { return nil }
        defer { received.removeFirst(length) }
        return Answer(bytes: Array(received.prefix(length)))
    }
}

/// The bytes of a request.
struct X11Request {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// - Parameters:
    ///   - operation: its number, or that of its extension.
    ///   - detail: the second byte.
    ///   - numbers: of 32 bits.
    init(_ operation: UInt8, detail: UInt8 = 0, _ numbers: [UInt32] = []) {
        bytes = [operation, detail, 0, 0]
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
    }

    mutating func append(bytes more: [UInt8]) { bytes += more }

    mutating func append(short number: Int) {
        withUnsafeBytes(of: UInt16(clamping: number).littleEndian) { bytes += $0 }
    }

    /// Bytes, filled up to a multiple of four.
    mutating func append(padded more: [UInt8]) { bytes += more + [UInt8](repeating: 0, count: -more.count & 3) }

    /// With the length of a request, in units of four bytes.
    var withLength: [UInt8] {
        var bytes = bytes
        withUnsafeBytes(of: UInt16(clamping: bytes.count / 4).littleEndian) {
            bytes.replaceSubrange(2..<4, with: $0)
        }
        return bytes
    }
}
