import LocalFiles

/// Receives the records of one file, from one thread.
struct TokenSink {
    /// The path, for a reader whose records are told apart by it.
    let file: TokenFile
    private let fileIndex: UInt32
    private let source: String
    private let names: TokenNames
    private let flush: ([TokenEntry]) -> Void
    private var entries: [TokenEntry] = []
    /// By hash: what was looked up before, for texts that repeat in every record.
    private var sessions: [UInt64: UInt32] = [:]
    private var models: [UInt64: UInt16] = [:]
    private var lastSession: (hash: UInt64, index: UInt32)?
    /// Nil until it is declared.
    private(set) var thread: TokenLineage.Thread?
    /// Invalid records: a number that no request has, a line without end.
    private(set) var leftOutCount = 0
    /// What the reader has made of the line that it got last.
    var lineOutcome = LineOutcome.nothing
    /// Whether the reader knows that nothing follows the object that the line begins with.
    var isWholeLine = false
    /// Why the file was not read, or not as a whole.
    private(set) var issues: [String] = []

    enum LineOutcome {
        case nothing
        /// At least a record was added, and none was left out.
        case added
        /// A record was left out, or the line is no JSON.
        case rejected
    }

    private static let bufferCount = 2_048
    private static let issueLimit = 8

    init(file: TokenFile, index: UInt32, source: String, names: TokenNames, flush: @escaping ([TokenEntry]) -> Void) {
        self.file = file
        fileIndex = index
        self.source = source
        self.names = names
        self.flush = flush
    }

    /// Adds a record. `session` and `model` are the numbers of names.
    mutating func add(_ record: TokenRecord, session: UInt32, model: UInt16 = TokenEntry.noModel) {
        guard let entry = TokenEntry(record, file: fileIndex, session: session, model: model) else { return leaveOut() }
        if lineOutcome == .nothing { lineOutcome = .added }
        // A reply that is written again while it grows.
        if let last = entries.last, last.isGrowth(of: entry) {
            let isLarger = entry.outranks(last)
            entries[entries.count - 1] = isLarger ? entry : last
            entries[entries.count - 1].absorb(isLarger ? last : entry)
            return
        }
        if entries.count >= Self.bufferCount { finish() }
        entries.append(entry)
    }

    /// Counts records that are not added because something in them is invalid.
    mutating func leaveOut(_ count: Int = 1) {
        leftOutCount &+= count
        if count > 0 { rejectLine() }
    }

    /// Marks a line that is not JSON from its beginning to its end, as torn ones are not.
    mutating func rejectLine() { lineOutcome = .rejected }

    /// Says of which thread the file's records are, and which one's lines the file has too.
    ///
    /// - Parameters:
    ///   - thread: an id of the tool's; nil where each session is a thread.
    ///   - origin: nil for none.
    mutating func declare(thread: String? = nil, origin: String?) {
        func id(_ name: String?) -> UInt64 { name.map { ContentHash.of(source, $0) } ?? 0 }
        self.thread = TokenLineage.Thread(id: id(thread), origin: id(origin))
    }

    /// Reports why the file was not read, in a sentence with its path.
    mutating func report(_ issue: String) {
        if issues.count < Self.issueLimit { issues.append(issue) }
    }

    /// Reports a document that ends, or has something that is no JSON, before its end.
    mutating func reportTorn() {
        report("\(file.path) is cut off or damaged: what is not whole in it does not count")
        rejectLine()
    }

    /// Reports a file beside this one that says more about it; one that is missing says nothing.
    mutating func report(_ error: FileError) {
        if !error.isMissing { report("cannot read \(error.path): \(error.sourceMessage)") }
    }

    /// Passes on what was added last.
    mutating func finish() {
        guard !entries.isEmpty else { return }
        flush(entries)
        entries.removeAll(keepingCapacity: true)
    }

    /// The number of a session.
    ///
    /// - Parameter project: the directory that it was started in, if that is known.
    mutating func session(_ id: String, project: String? = nil) -> UInt32 {
        let name = id.displayText(limit: 120) ?? "unknown"
        return names.index(of: TokenSession(id: name, project: project?.displayText(limit: 240), source: source))
    }

    /// The number of a session, whose project is the same in the whole file.
    mutating func session(_ id: JSONCursor.Text, project: String? = nil) -> UInt32 {
        let hash = id.hash
        if let lastSession, lastSession.hash == hash { return lastSession.index }
        let index = sessions[hash] ?? session(id.displayText ?? "unknown", project: project)
        if sessions.count < Self.bufferCount { sessions[hash] = index }
        lastSession = (hash, index)
        return index
    }

    /// The number of a model.
    mutating func model(_ name: String?) -> UInt16 {
        guard let name = name?.displayText(limit: 96) else { return TokenEntry.noModel }
        return names.index(ofModel: name)
    }

    /// The number of a model.
    mutating func model(_ name: JSONCursor.Text?) -> UInt16 {
        guard let name else { return TokenEntry.noModel }
        let hash = name.hash
        if let index = models[hash] { return index }
        let index = model(name.displayText)
        if models.count < Self.bufferCount { models[hash] = index }
        return index
    }
}
