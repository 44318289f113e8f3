import Essentials
import LocalFiles

/// The tokens in the sessions of Droid: one sum for each, in a document that is written again.
struct DroidTokens: TokenLog {
    let source = "factory"
    let version = 2

    fileprivate static let suffix = ".settings.json"

    func roots(in environment: SourceEnvironment) -> [String] {
        [environment.home + "/.factory/sessions"]
    }

    func isWanted(_ name: String) -> Bool { name.hasSuffix(Self.suffix) }

    func reader(of file: TokenFile) -> TokenReader? {
        .document { if !$0.isEmpty { DroidSession($0).add(to: &$1) } }
    }
}

private struct DroidSession {
    private var model: String?
    private var counts = TokenCounts()
    private var isWhole = false
    private var isImpossible = false

    init(_ settings: UnsafeRawBufferPointer) {
        var cursor = JSONCursor(settings)
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "model": model = cursor.text()?.displayText
            case "tokenUsage": cursor.readCounts(Self.names, into: &counts)
            default: cursor.skip()
            }
        }
        // Thinking is beside output.
        counts.output &+= counts.reasoning
        isWhole = !cursor.isFailed
        isImpossible = cursor.hasImpossibleCount
    }

    private static let names: JSONCursor.CountNames = [
        ("inputTokens", \.input), ("outputTokens", \.output), ("thinkingTokens", \.reasoning),
        ("cacheReadTokens", \.cacheRead), ("cacheCreationTokens", \.cacheWrite5m),
    ]

    func add(to sink: inout TokenSink) {
        guard isWhole else { return sink.reportTorn() }
        guard counts != TokenCounts() || isImpossible else { return }
        if isImpossible { return sink.leaveOut() }
        let path = sink.file.path
        let name = String(sink.file.name.dropLast(DroidTokens.suffix.count))
        let chat = DroidChat(String(path.dropLast(DroidTokens.suffix.count)) + ".jsonl", &sink)
        let written = FileStatus.visible(at: path)?.modificationDate.timeIntervalSince1970
        guard let time = chat.lastTime ?? written.flatMap(Timestamp.milliseconds(unixTime:)) else {
            return sink.leaveOut()
        }
        sink.add(
            TokenRecord(time: time, counts: counts, id: ContentHash.of("droid", name), isCoarse: true),
            session: sink.session(name, project: chat.directory ?? Self.directoryName(of: sink.file)),
            model: sink.model(model.map(Self.modelName) ?? chat.model))
    }

    /// The name that Droid gave the session's directory; early sessions are in none.
    private static func directoryName(of file: TokenFile) -> String? {
        let parts = file.components
        return parts.count > 1 ? String(parts[0]) : nil
    }

    /// "claude-sonnet-5" of "custom:claude-sonnet-5-[Anthropic]-0": a model of the user's own has a number.
    private static func modelName(_ name: String) -> String {
        var name = name.replacing(/\[[^\]]*\]/, with: "")
        if name.hasPrefix("custom:") {
            name = String(name.dropFirst("custom:".count)).replacing(/-\d+$/, with: "")
        }
        return name.replacing(/[\s-]+$/, with: "")
    }
}

/// What the chat beside a session's settings says of it. It has no counts.
private struct DroidChat {
    /// Milliseconds since 1970 of the last message.
    private(set) var lastTime: Int64?
    private(set) var directory: String?
    /// What a text at the beginning calls "Claude Sonnet 5", in the words of the settings.
    private(set) var model: String?

    private static let headByteCount = 262_144
    private static let lineByteCount = 1_048_576
    private static let tailByteCount = 8 * 1_048_576

    init(_ path: String, _ sink: inout TokenSink) {
        do throws(FileError) {
            try LocalFile(path).withOpen { file throws(FileError) in
                try readHead(file)
                readTail(file)
            }
        } catch {
            // The settings count without it.
            sink.report(error)
        }
    }

    private mutating func readHead(_ file: OpenFile) throws(FileError) {
        let bytes = try file.bytes(at: 0, count: Self.headByteCount)
        bytes.withUnsafeBytes { bytes in
            let end = Newline.firstOffset(in: bytes) ?? bytes.count
            var cursor = JSONCursor(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            if cursor.enterObject() {
                while let key = cursor.nextKey() {
                    if key == "cwd" {
                        directory = cursor.text()?.displayText
                    } else {
                        cursor.skip()
                    }
                }
            }
            guard let name = ByteNeedle("Model: ").firstOffset(in: bytes, from: 0, to: bytes.count) else { return }
            let text = bytes[(name + "Model: ".utf8.count)...].prefix(96)
                .prefix { $0 != 0x22 && $0 != 0x5C && $0 != 0x5B && $0 >= 0x20 }
            model = String(validating: text, as: UTF8.self)?.displayText()?.lowercased().replacing(" ", with: "-")
        }
    }

    private mutating func readTail(_ file: OpenFile) {
        var limits = ScanLimits()
        limits.byteCount = Self.tailByteCount
        var budget = ScanBudget(limits: limits)
        var tail = TailReader(
            byteCount: file.status.byteCount, needles: [ByteNeedle("\"timestamp\"")], lineByteCount: Self.lineByteCount)
        var time: Int64?
        while time == nil,
            tail.readChunk(
                of: file, budget: &budget, line: { line, _ in time = time ?? line.withUnsafeBytes(Self.time) })
        {}
        lastTime = time
    }

    private static func time(of line: UnsafeRawBufferPointer) -> Int64? {
        var cursor = JSONCursor(line)
        var time: Int64?
        guard cursor.enterObject() else { return nil }
        while let key = cursor.nextKey() {
            switch key {
            case "type": guard let type = cursor.text(), type == "message" else { return nil }
            case "timestamp": time = cursor.milliseconds()
            default: cursor.skip()
            }
        }
        return cursor.isFailed ? nil : time
    }
}
