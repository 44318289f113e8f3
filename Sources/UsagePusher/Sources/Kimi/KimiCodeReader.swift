/// Reads the file of an agent of Kimi Code.
///
/// A fork begins with a copy of the other session's file, and goes on after a line "forked". What tells a line apart is
/// therefore not the session but the agent, the line's number, its time and its counts: copies have the original's id.
struct KimiCodeReader: TokenLineReader {
    private let session: String
    private let agent: String
    private let project: String
    /// The session whose lines a fork has too.
    private let origin: String?
    private var isCopy: Bool
    /// The models' own names by those in the lines.
    private var models: [String: String]
    /// Named by the last request that names one.
    private var requested: String?
    private var lineCount: UInt64 = 0

    private static let modelLimit = 64

    init(session: String, agent: String, project: String, origin: String?, models: [String: String]) {
        self.session = session
        self.agent = agent
        self.project = project
        self.origin = origin
        isCopy = origin != nil
        self.models = models
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var type: JSONCursor.Text?
        var time: Int64?
        var model: JSONCursor.Text?
        var alias: JSONCursor.Text?
        var counts = TokenCounts()
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "type": type = cursor.text()
            case "time": time = cursor.milliseconds()
            case "model": model = cursor.text()
            case "modelAlias": alias = cursor.text()
            case "usage": cursor.readCounts(Self.names, into: &counts)
            default: cursor.skip()
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        lineCount &+= 1
        guard let type else { return }
        if type == "forked" { isCopy = false }
        if type == "llm.request", let name = model?.displayText, !Self.isPlaceholder(name) {
            requested = name
            if let alias = alias?.displayText, models.count < Self.modelLimit || models[alias] != nil {
                models[alias] = name
            }
        }
        guard type == "usage.record", counts != TokenCounts() || cursor.hasImpossibleCount else { return }
        guard let time, !cursor.hasImpossibleCount else { return sink.leaveOut() }
        if sink.thread == nil { sink.declare(thread: session, origin: origin) }
        var hash = ContentHash()
        hash.add("kimi-code")
        hash.add(agent)
        hash.add(lineCount)
        hash.add(UInt64(bitPattern: time))
        hash.add(counts)
        let name = model?.displayText
        sink.add(
            TokenRecord(time: time, counts: counts, id: hash.value, role: isCopy ? .sidechain : .main),
            session: sink.session(session, project: project),
            model: sink.model(name.map { models[$0] ?? (Self.isPlaceholder($0) ? requested ?? $0 : $0) }))
    }

    /// Whether it stands for a model that the environment names, as `kimi-code/__kimi_env_model__` does.
    private static func isPlaceholder(_ name: String) -> Bool {
        let last = name.split(separator: "/").last ?? ""
        return last.hasPrefix("__") && last.hasSuffix("__")
    }

    private static let names: JSONCursor.CountNames = [
        ("inputOther", \.input), ("output", \.output), ("inputCacheRead", \.cacheRead),
        ("inputCacheCreation", \.cacheWrite5m),
    ]
}
