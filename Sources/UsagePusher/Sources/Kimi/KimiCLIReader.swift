/// Reads a session of Kimi CLI: a line states the tokens of one step of the model, or of a subagent's step.
struct KimiCLIReader: TokenLineReader {
    /// Where the session's files are.
    private let directory: String
    private let session: String
    private let project: String?
    private let model: String
    /// By subagent.
    private var agentModels: [String: String] = [:]

    private static let depthLimit = 16
    private static let agentLimit = 64

    init(directory: String, session: String, project: String?, model: String) {
        self.directory = directory
        self.session = session
        self.project = project
        self.model = model
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var time: Int64?
        var message: JSONCursor?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "timestamp" {
                time = cursor.milliseconds()
            } else {
                if key == "message" { message = cursor }
                cursor.skip()
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        guard let message, let update = Self.update(in: message),
            update.counts != TokenCounts() || update.isImpossible
        else { return }
        guard let time, !update.isImpossible else { return sink.leaveOut() }
        // Over all sessions: a fork copies lines with their times.
        var hash = ContentHash()
        hash.add("kimi")
        if let id = update.id { hash.add(id) }
        hash.add(UInt64(bitPattern: time))
        hash.add(update.counts)
        sink.add(
            TokenRecord(time: time, counts: update.counts, id: hash.value),
            session: sink.session(session, project: project),
            model: sink.model(update.agent.map { model(ofAgent: $0) } ?? model))
    }

    private struct Update {
        var id: JSONCursor.Text?
        var agent: JSONCursor.Text?
        var counts = TokenCounts()
        var isImpossible = false
    }

    /// The update in a message, or in the event of a subagent that it passes on, at any depth.
    private static func update(in message: JSONCursor) -> Update? {
        var message = message
        var update = Update()
        for _ in 0..<depthLimit {
            var type: JSONCursor.Text?
            var payload: JSONCursor?
            guard message.enterObject() else { return nil }
            while let key = message.nextKey() {
                if key == "type" {
                    type = message.text()
                } else {
                    if key == "payload" { payload = message }
                    message.skip()
                }
            }
            guard let type, var payload, payload.enterObject() else { return nil }
            if type == "StatusUpdate" {
                read(&update, &payload)
                return update
            }
            guard type == "SubagentEvent" else { return nil }
            var event: JSONCursor?
            while let key = payload.nextKey() {
                if key == "agent_id" {
                    update.agent = payload.text()
                } else {
                    if key == "event" { event = payload }
                    payload.skip()
                }
            }
            guard let event else { return nil }
            message = event
        }
        return nil
    }

    private static func read(_ update: inout Update, _ payload: inout JSONCursor) {
        while let key = payload.nextKey() {
            switch key {
            case "message_id": update.id = payload.text()
            case "token_usage": payload.readCounts(names, into: &update.counts)
            default: payload.skip()
            }
        }
        update.isImpossible = payload.hasImpossibleCount
    }

    private static let names: JSONCursor.CountNames = [
        ("input_other", \.input), ("output", \.output), ("input_cache_read", \.cacheRead),
        ("input_cache_creation", \.cacheWrite5m),
    ]

    private mutating func model(ofAgent agent: JSONCursor.Text) -> String {
        guard let name = agent.displayText, !name.contains("/"), name != ".." else { return model }
        if let known = agentModels[name] { return known }
        let meta = SideFile("\(directory)/subagents/\(name)/meta.json").fields
        let model = meta?.fields("launch_spec")?.text("effective_model") ?? model
        if agentModels.count < Self.agentLimit { agentModels[name] = model }
        return model
    }
}
