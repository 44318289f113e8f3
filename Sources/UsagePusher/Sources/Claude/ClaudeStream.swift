package import Essentials
import SnapshotModels

/// Finds what Claude Code says of its limits in the output of `--output-format stream-json`, in pieces of any size.
///
/// Lines are not relied upon: some versions write a `rate_limit_event` with its newline into a string of another line
/// (https://github.com/anthropics/claude-code/issues/49640). Its quotes are not escaped there, as those of all strings
/// are, so where one begins is certain.
package struct ClaudeStream: Sendable {
    /// How the objects begin that are looked for. The first line of a stream, which is of the second kind, names the
    /// session. None has a brace but its first byte.
    private static let marks = [#"{"type":"rate_limit_event""#, #"{"type":"system""#].map { Array($0.utf8) }
    static let byteLimit = 1_048_576

    /// Bytes of each mark that the last bytes are.
    private var matched = Self.marks.map { _ in 0 }
    /// The object that has begun; empty without one.
    private var object: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    package init() {}

    /// The objects that end in the next bytes. One that is too long, too deep or has a newline is left out.
    package mutating func objects(in bytes: UnsafeRawBufferPointer) -> [Data] {
        var found: [Data] = []
        for byte in bytes {
            if begins(byte) { continue }
            guard !object.isEmpty else { continue }
            object.append(byte)
            count(byte)
            if depth == 0 { found.append(Data(object)) }
            if depth == 0 || depth > JSONFields.depthLimit || object.count >= Self.byteLimit
                || byte == UInt8(ascii: "\n")
            {
                object = []
            }
        }
        return found
    }

    /// Whether a mark ends with this byte: what follows is one of its objects.
    private mutating func begins(_ byte: UInt8) -> Bool {
        for (index, mark) in Self.marks.enumerated() {
            matched[index] = byte == mark[matched[index]] ? matched[index] + 1 : byte == mark[0] ? 1 : 0
            guard matched[index] == mark.count else { continue }
            matched[index] = 0
            (object, depth, isInString, isEscaped) = (mark, 1, false, false)
            return true
        }
        return false
    }

    private mutating func count(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if isInString {
            isEscaped = byte == UInt8(ascii: "\\")
            isInString = byte != UInt8(ascii: "\"")
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
    }
}

/// An object of `ClaudeStream`. What the tool's schema says of it is in `docs/agent-hooks.md`.
package struct ClaudeStreamMessage: Sendable, Equatable {
    struct Window: Sendable, Equatable {
        var usedPercent: Double
        var resetsAt: Date?
    }

    /// The limit because of which requests are refused.
    package struct Rejection: Sendable, Equatable {
        /// "session", "Opus weekly"; nil for one that is not known.
        package var limit: String?
        package var resetsAt: Date?
    }

    /// Such that it needs no quotes in a shell.
    package let session: String?
    /// Whether it is about limits.
    package let isAboutLimits: Bool
    package private(set) var rejection: Rejection?
    /// Those whose name is known, and of which a percentage is stated or follows.
    private(set) var windows: [String: Window] = [:]

    /// Nil for what is no JSON.
    package init?(_ object: Data) {
        guard let document = JSONFields(object) else { return nil }
        session = document.text("session_id").flatMap { id in
            let isPlain = id.allSatisfy { $0 == "-" || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            return isPlain && (1...128).contains(id.utf8.count) ? id : nil
        }
        let limits = document.text("type") == "rate_limit_event" ? document.fields("rate_limit_info") : nil
        isAboutLimits = limits != nil
        guard let limits else { return }
        let all = limits.fields("unifiedWindows")
        for name in all?.names ?? [] { add(name, all?.fields(name)) }
        // The status of a window does not say whether requests are refused.
        let isRejected = limits.text("status") == "rejected"
        let name = limits.text("rateLimitType")
        if let name, windows[name] == nil { add(name, limits, usedPercent: isRejected ? 100 : nil) }
        guard isRejected else { return }
        let reset = limits.reset("resetsAt") ?? name.flatMap { windows[$0]?.resetsAt }
        rejection = Rejection(limit: name.flatMap { ClaudeWindow(name: $0)?.limit }, resetsAt: reset)
    }

    private mutating func add(_ name: String, _ fields: JSONFields?, usedPercent: Double? = nil) {
        // A fraction, which may exceed 1.
        let stated = fields?.number("utilization").map { ($0 * 1e6).rounded() / 1e4 }
        guard let percent = stated ?? usedPercent, ClaudeWindow(name: name) != nil else { return }
        windows[name] = Window(usedPercent: percent, resetsAt: fields?.reset("resetsAt"))
    }
}
