/// A connection to a Wayland compositor: messages in both directions.
///
/// Each is an object's number (32 bits), its length in bytes with these eight (upper half of 32 bits) and operation
/// (lower half), then arguments of 32 bits; numbers are in the byte order of the machine. Texts have their length with
/// a null byte before them and are padded. See "Wire Format" in the specification of the protocol.
final class WaylandConnection {
    struct Message: Equatable {
        var object: UInt32
        var operation: UInt16
        var body: [UInt8]
    }

    private let socket: DisplaySocket
    private var received: [UInt8] = []

    /// - Parameter environment: with `WAYLAND_DISPLAY`.
    init(environment: [String: String]) throws(SourceError) {
        let name = environment["WAYLAND_DISPLAY"] ?? ""
        let directory = environment["XDG_RUNTIME_DIR"] ?? ""
        let path = name.hasPrefix("/") ? name : directory + "/" + name
        guard !name.isEmpty, let socket = DisplaySocket(path: path) else {
            throw .system("connect to the Wayland display \(name)")
        }
        self.socket = socket
    }

    /// Sends a request, with a descriptor that the compositor gets a copy of.
    func send(
        _ object: UInt32, _ operation: UInt16, _ arguments: [Argument] = [], passing descriptor: Int32? = nil
    ) throws(SourceError) {
        var body: [UInt8] = []
        for argument in arguments { argument.append(to: &body) }
        var bytes: [UInt8] = []
        Argument.number(object).append(to: &bytes)
        Argument.number(UInt32(body.count + 8) << 16 | UInt32(operation)).append(to: &bytes)
        bytes += body
        // Requests are few and short: one that does not fit is for a compositor that does not read.
        guard socket.send(bytes[...], passing: descriptor) == bytes.count else {
            throw .system("write to the Wayland display")
        }
    }

    /// Waits for the next event; nil after a cancellation.
    func next(
        _ cancellation: Cancellation, until time: ContinuousClock.Instant? = nil
    ) throws(SourceError) -> Message? {
        while true {
            if let message = try takeMessage() { return message }
            switch cancellation.wait(for: socket.descriptor, until: time) {
            case .cancelled: return nil
            case .outOfTime: throw SourceError("the Wayland display does not answer")
            case .ready: received += try socket.receive()
            }
        }
    }

    private func takeMessage() throws(SourceError) -> Message? {
        guard received.count >= 8 else { return nil }
        let sizes = Argument.number(in: received, at: 4)
        let length = Int(sizes >> 16)
        guard length >= 8, length.isMultiple(of: 4) else { throw .malformed }
        guard received.count >= length else { return nil }
        defer { received.removeFirst(length) }
        return Message(
            object: Argument.number(in: received, at: 0),
            operation: UInt16(truncatingIfNeeded: sizes), body: Array(received[8..<length]))
    }

    enum Argument {
        case number(UInt32)
        case text(String)

        func append(to bytes: inout [UInt8]) {
            switch self {
            case .number(let number): withUnsafeBytes(of: number) { bytes += $0 }
            case .text(let text):
                let content = Array(text.utf8) + [0]
                Self.number(UInt32(content.count)).append(to: &bytes)
                bytes += content + [UInt8](repeating: 0, count: -content.count & 3)
            }
        }

        static func number(in bytes: [UInt8], at offset: Int) -> UInt32 {
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        }
    }
}

extension WaylandConnection.Message {
    /// An argument of 32 bits.
    func number(at offset: Int) throws(SourceError) -> UInt32 {
        guard offset + 4 <= body.count else { throw .malformed }
        return WaylandConnection.Argument.number(in: body, at: offset)
    }

    func text(at offset: Int) throws(SourceError) -> String {
        let count = Int(try number(at: offset))
        guard count > 0, offset + 4 + count <= body.count else { throw .malformed }
        let content = body[(offset + 4)..<(offset + 4 + count - 1)]
        return String(decoding: content, as: UTF8.self)
    }
}
