import Essentials
import KVStoreCore
import KVStoreWire
package import NIOCore
package import NIOHTTP1

/// An answer with its whole body.
package struct Answer {
    package var status = HTTPResponseStatus.ok
    /// Nil without a body.
    package var type: String?
    package var fields: [(name: String, value: String)] = []
    /// The stamp of the value that this shows, whatever the form, so that it serves as a precondition of a change.
    var stamp: StoreStamp?
    package var body: ByteBuffer
    /// Whether a browser may keep it, and use it once the server has confirmed its entity tag.
    package var isRevalidated = false
    /// The size of the resource, for HEAD; `body` is empty then.
    var byteCount: Int
    /// Closes the connection after the answer.
    var isLast = false
    /// Nil unless this is an error answer.
    var problemCode: String?

    /// 204, without a body.
    package static var noContent: Answer {
        var answer = Answer(nil, ByteBuffer())
        answer.status = .noContent
        return answer
    }

    /// 304, without a body.
    package static func notModified(_ fields: [(name: String, value: String)] = []) -> Answer {
        var answer = Answer(nil, ByteBuffer())
        answer.status = .notModified
        answer.fields = fields
        return answer
    }

    package init(_ type: String?, _ body: ByteBuffer) {
        self.type = type
        self.body = body
        byteCount = body.readableBytes
    }

    package static func json(_ document: some Encodable) -> Answer {
        Answer(MediaType.json, ByteBuffer(bytes: WireJSON.encode(document)))
    }

    static func json(_ document: some JSONDocument) -> Answer {
        Answer(MediaType.json, ByteBuffer(bytes: WireJSON.bytes(of: document)))
    }

    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Answer {
        Answer(type, ByteBuffer(string: text))
    }

    init(_ problem: Problem) {
        self.init(MediaType.problem, ByteBuffer(bytes: problem.json))
        status = HTTPResponseStatus(statusCode: problem.status)
        problemCode = problem.code
        if let seconds = problem.retryAfterSeconds {
            fields.append(("Retry-After", "\(seconds)"))
        }
        if problem.status == 401 { fields.append(("WWW-Authenticate", "Bearer")) }
    }

    /// Leaves out the body, as the answer to HEAD does.
    mutating func dropBody() { body.clear() }

    /// Writes head and body.
    func write(to buffer: inout ByteBuffer, date: String) {
        buffer.reserveCapacity(minimumWritableBytes: 256 + body.readableBytes)
        Self.writeStart(status, type: type, isRevalidated, date: date, to: &buffer)
        Self.write(fields, to: &buffer)
        if let stamp {
            buffer.writeStaticString("Vary: Accept\r\nETag: \"")
            buffer.writeString(stamp.description)
            buffer.writeStaticString("\"\r\n")
        }
        // Not with 204 (RFC 9110, section 8.6).
        if type != nil {
            buffer.writeStaticString("Content-Length: ")
            buffer.writeString("\(byteCount)")
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString(isLast ? "Connection: close\r\n\r\n" : "\r\n")
        buffer.writeImmutableBuffer(body)
    }

    private static func write(_ fields: [(name: String, value: String)], to buffer: inout ByteBuffer) {
        for field in fields {
            buffer.writeString(field.name)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
    }

    private static func writeStart(
        _ status: HTTPResponseStatus, type: String?, _ isRevalidated: Bool = false, date: String,
        to buffer: inout ByteBuffer
    ) {
        if status == .ok {
            buffer.writeStaticString("HTTP/1.1 200 OK\r\n")
        } else {
            buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
        if let type {
            buffer.writeStaticString("Content-Type: ")
            buffer.writeString(type)
            buffer.writeStaticString("\r\n")
        }
        // A browser takes no answer for another type than it says.
        buffer.writeStaticString("X-Content-Type-Options: nosniff\r\n")
        buffer.writeStaticString(
            isRevalidated
                ? "Cache-Control: no-cache\r\nDate: " : "Cache-Control: no-store\r\nDate: ")
        buffer.writeString(date)
        buffer.writeStaticString("\r\n")
    }

    /// Writes the head of a live stream. Its body is in chunks, or for HTTP/1.0 ends with the connection.
    static func writeStreamHead(
        isChunked: Bool, _ fields: [(name: String, value: String)], date: String, to buffer: inout ByteBuffer
    ) {
        writeStart(.ok, type: MediaType.eventStream, date: date, to: &buffer)
        write(fields, to: &buffer)
        // Reverse proxies must not buffer events.
        buffer.writeStaticString("X-Accel-Buffering: no\r\n")
        buffer.writeStaticString(isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Connection: close\r\n\r\n")
    }
}

extension ByteBuffer {
    /// Writes one chunk of a chunked body (RFC 9112, section 7.1). An empty one would end the body.
    mutating func writeChunk(_ bytes: some Collection<UInt8>) {
        reserveCapacity(minimumWritableBytes: bytes.count + 16)
        writeString(String(bytes.count, radix: 16))
        writeStaticString("\r\n")
        writeBytes(bytes)
        writeStaticString("\r\n")
    }
}
