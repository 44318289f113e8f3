import Foundation
import NIOCore
import TestSupport

/// The connection to Firefox's Marionette, the protocol that geckodriver translates WebDriver to: messages of JSON,
/// each after its length in decimal digits and a colon. A command is `[0, id, name, parameters]`, its answer `[1, id,
/// error, result]`.
actor Marionette {
    private static let maximumByteCount = 1 << 26

    private let connection: RawConnection
    private var received = ByteBuffer()
    private var lastID = 0

    /// Waits for the greeting.
    init(port: Int) async throws {
        connection = try await RawConnection.open(port: port)
        _ = try await message()
    }

    /// The JSON of a command's answer. One command at a time: answers to other, cancelled commands are skipped.
    func answer(to name: String, _ parameters: Data) async throws -> Data {
        lastID += 1
        let id = lastID
        let command = #"[0,\#(id),"\#(name)",\#(String(decoding: parameters, as: UTF8.self))]"#
        try await connection.send("\(command.utf8.count):\(command)")
        while true {
            let answer = try await message()
            if answer.starts(with: Data("[1,\(id),".utf8)) { return answer }
        }
    }

    func close() async { await connection.close() }

    private func message() async throws -> Data {
        while true {
            let digits = received.readableBytesView.prefix { $0 != UInt8(ascii: ":") }
            guard digits.count < 10 else { throw BrowserFailure(description: "no Marionette") }
            if digits.count < received.readableBytes {
                guard let count = Int(String(decoding: digits, as: UTF8.self)),
                    (0...Self.maximumByteCount).contains(count)
                else { throw BrowserFailure(description: "Marionette sends a length of \(digits)") }
                if received.readableBytes > digits.count + count {
                    received.moveReaderIndex(forwardBy: digits.count + 1)
                    defer { received.discardReadBytes() }
                    return Data(received.readBytes(length: count) ?? [])
                }
            }
            var isOpen = false
            for await bytes in connection.bytes {
                received.writeImmutableBuffer(bytes)
                isOpen = true
                break
            }
            guard isOpen else { throw BrowserFailure(description: "Firefox ended, or an earlier test was cancelled") }
        }
    }
}
