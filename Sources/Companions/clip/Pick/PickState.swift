import Commands

/// The list of `clip pick`: what is searched for, found and selected. Pure: a key in, an outcome out.
struct PickState: Sendable {
    /// What is shown instead of the list.
    enum Overlay: Sendable { case help, clearing }

    let settings: ClipSettings
    /// Whether every copy is one without formatting.
    let isPlain: Bool
    private let timer: MatchTimer

    private(set) var history = ClipHistory()
    /// All items in the order of the list.
    private(set) var keys: [ItemKey] = []
    /// Stubs whose contents this machine has.
    private(set) var localContents: Set<ItemKey> = []
    /// What is found, by the index of the key.
    private(set) var hits: [SearchHit] = []
    private(set) var isCutShort = false
    private(set) var invalidPattern: String?

    var query = ""
    var mode: SearchMode
    var selection: ItemKey?
    var overlay: Overlay?
    /// On the last line until the next key.
    var message: String?

    var size = ScreenSize(columns: 80, rows: 24) { didSet { scroll() } }
    /// The index of the hit in the first row.
    private(set) var top = 0

    private var titles: [ItemKey: (body: ClipItem.Body, title: String)] = [:]
    /// Indexes the titles of `keys`; nil if they have changed.
    private var index: SearchIndex?

    static let queryLimit = 1_000

    /// - Parameter timer: limits regular expressions.
    init(settings: ClipSettings, isPlain: Bool = false, timer: MatchTimer) {
        (self.settings, self.isPlain, self.timer) = (settings, isPlain, timer)
        mode = settings.searchMode
    }

    // MARK: Items

    /// Shows another state of the history. The selection stays on its item, or goes to the nearest one of those left.
    mutating func show(_ history: ClipHistory, localContents: Set<ItemKey>) {
        let former = hits.map { self.keys[$0.index] }
        let keys = history.sorted(by: settings.order, pins: settings.pins)
        if keys != self.keys || !keys.allSatisfy({ isUnchanged($0, history) }) { index = nil }
        self.history = history
        self.keys = keys
        self.localContents = localContents
        find()
        select(nearestIn: former)
    }

    private func isUnchanged(_ key: ItemKey, _ other: ClipHistory) -> Bool {
        history.items[key]?.body == other.items[key]?.body
    }

    private mutating func select(nearestIn former: [ItemKey]) {
        let found = Set(hits.map { keys[$0.index] })
        var former = former
        var position = selection.flatMap { former.firstIndex(of: $0) }
        while let at = position, !found.contains(former[at]) {
            position = ListSelection.afterRemoving(at, of: former.count)
            former.remove(at: at)
        }
        guard let position else { return selectInitial() }
        selection = former[position]
        scroll()
    }

    func item(at hit: SearchHit) -> ClipItem? { history.items[keys[hit.index]] }

    /// What is searched, and shown of an item that has text.
    func title(of key: ItemKey) -> String {
        history.items[key].map { ItemTitle.title(of: $0, symbols: settings.showsSymbols) } ?? ""
    }

    func label(at hit: SearchHit) -> ItemLabel? {
        let key = keys[hit.index]
        return history.items[key].map { item in
            let title = titles[key].flatMap { $0.body == item.body ? $0.title : nil }
            return ItemLabel(
                of: item, title: title ?? self.title(of: key),
                isHere: item.contents != nil || localContents.contains(key))
        }
    }

    // MARK: Searching

    /// Prepares searching, which takes milliseconds for a long list; best done while nobody waits for the screen.
    mutating func prepareSearch() {
        guard index == nil else { return }
        var titles: [ItemKey: (body: ClipItem.Body, title: String)] = [:]
        for key in keys {
            guard let item = history.items[key] else { continue }
            if let known = self.titles[key], known.body == item.body {
                titles[key] = known
            } else {
                titles[key] = (item.body, title(of: key))
            }
        }
        self.titles = titles
        index = SearchIndex(keys.map { titles[$0]?.title ?? "" })
    }

    /// Searches again, and selects as after a change of the query.
    mutating func search() {
        find()
        selectInitial()
    }

    private mutating func find() {
        (isCutShort, invalidPattern) = (false, nil)
        guard !query.isEmpty else {
            hits = keys.indices.map { SearchHit(index: $0) }
            return
        }
        prepareSearch()
        guard let results = index?.search(query, mode: mode, timer: timer) else { return }
        hits = results.hits
        (isCutShort, invalidPattern) = (results.isCutShort, results.invalidPattern)
    }

    // MARK: Selection

    var selectedIndex: Int? { selection.flatMap { key in hits.firstIndex { keys[$0.index] == key } } }

    private mutating func selectInitial() {
        top = 0
        select(ListSelection.initial(query: query, isPinned: isPinned))
    }

    private var isPinned: [Bool] { hits.map { item(at: $0)?.isPinned == true } }

    mutating func select(_ position: Int?) {
        selection = position.map { keys[hits[$0].index] }
        scroll()
    }

    mutating func move(by step: Int) {
        guard let selectedIndex else { return }
        select(min(max(0, selectedIndex + step), hits.count - 1))
    }

    /// The digits of the items found, each selected by it together with Alt.
    var digits: [Int?] { ListSelection.digits(isPinned: isPinned) }

    /// The item that a digit or a letter selects.
    func key(for character: Character) -> ItemKey? {
        if let digit = character.wholeNumberValue, character.isASCII {
            return digits.firstIndex(of: digit).map { keys[hits[$0].index] }
        }
        return PinLetter(character).flatMap { history.pinned($0) }
    }

    // MARK: Rows

    private var rows: Int { max(1, size.rows ?? 24) }

    /// Includes the line above the preview; 0 where there is no room.
    var previewRows: Int { rows < 10 ? 0 : min(12, rows / 3) }

    /// Between the query and the preview.
    var listRows: Int { max(1, rows - 2 - previewRows) }

    private mutating func scroll() {
        let last = max(0, hits.count - listRows)
        top = min(top, last)
        guard let selectedIndex else { return }
        top = min(max(top, selectedIndex - listRows + 1), selectedIndex)
    }
}

extension PickState {
    /// What the caller is to do after a key.
    enum Outcome: Sendable, Equatable {
        case draw
        case leave
        case copy(ItemKey, isPlain: Bool)
        /// Add the query to the history, and copy it.
        case add(String)
        case delete(ItemKey)
        case togglePin(ItemKey)
        case clear(withPins: Bool)
    }

    mutating func handle(_ key: Key) -> Outcome {
        message = nil
        if key == .interrupt { return .leave }
        if let overlay { return handle(key, in: overlay) }
        switch key {
        case .escape:
            if query.isEmpty { return .leave }
            setQuery("")
        case .enter: return copySelected(isPlain: isPlain)
        case .chordEnter:
            if !query.isEmpty { return .add(query) }
            message = "type a text first; it becomes a new item and is copied"
        case .alt("v"): return copySelected(isPlain: true)
        case .alt(let character):
            if let key = self.key(for: character) { return .copy(key, isPlain: isPlain) }
            message = "no item has that digit or letter"
        case .up, .control("p"), .control("k"): move(by: -1)
        case .down, .control("n"), .control("j"): move(by: 1)
        case .pageUp: move(by: -listRows)
        case .pageDown: move(by: listRows)
        case .home: move(by: -hits.count)
        case .end: move(by: hits.count)
        case .tab: changeMode(by: 1)
        case .backTab: changeMode(by: -1)
        case .control("d"), .delete: return selection.map(Outcome.delete) ?? .draw
        case .control("t"): return togglePin()
        case .control("x"): if !keys.isEmpty { overlay = .clearing }
        case .function(1): overlay = .help
        default: edit(key)
        }
        return .draw
    }

    private mutating func handle(_ key: Key, in overlay: Overlay) -> Outcome {
        self.overlay = nil
        guard overlay == .clearing else { return .draw }
        switch key {
        case .character("y"), .character("Y"): return .clear(withPins: false)
        case .character("a"), .character("A"): return .clear(withPins: true)
        default: message = "no item was removed"
        }
        return .draw
    }

    private mutating func copySelected(isPlain: Bool) -> Outcome {
        if let selection, selectedIndex != nil { return .copy(selection, isPlain: isPlain) }
        if !query.isEmpty { message = "no item is selected; \(Self.addHint)" }
        return .draw
    }

    static let addHint = "Control-Enter or Alt-Enter copies the query as a new item"

    private mutating func togglePin() -> Outcome {
        guard let selection else { return .draw }
        let selected = selection
        setQuery("")
        select(hits.firstIndex { keys[$0.index] == selected })
        return .togglePin(selected)
    }

    private mutating func changeMode(by step: Int) {
        let modes = SearchMode.allCases
        let position = (modes.firstIndex(of: mode) ?? 0) + step + modes.count
        mode = modes[position % modes.count]
        search()
    }

    // MARK: The query

    private mutating func edit(_ key: Key) {
        switch key {
        case .character(let character): setQuery(query + String(character))
        case .paste(let text): setQuery(query + text)
        case .backspace: setQuery(String(query.dropLast()))
        case .control("u"): setQuery("")
        case .control("w"):
            let end = query.lastIndex { $0 != " " } ?? query.startIndex
            let space = query[..<end].lastIndex(of: " ")
            setQuery(space.map { String(query[...$0]) } ?? "")
        default: break
        }
    }

    private mutating func setQuery(_ text: String) {
        guard text != query else { return }
        query = String(text.prefix(Self.queryLimit))
        search()
    }
}

/// Where the selection of a list goes.
enum ListSelection {
    /// After a change of the query: the first that is not pinned for an empty one, else the first.
    static func initial(query: String, isPinned: [Bool]) -> Int? {
        guard !isPinned.isEmpty else { return nil }
        return query.isEmpty ? isPinned.firstIndex(of: false) ?? 0 : 0
    }

    /// After the item at an index was removed from so many: the nearest, and the next of two.
    static func afterRemoving(_ index: Int, of count: Int) -> Int? {
        guard count > 1, (0..<count).contains(index) else { return nil }
        return min(index, count - 2)
    }

    /// The digits that select the first nine visible items that are not pinned; nil for the others.
    static func digits(isPinned: [Bool]) -> [Int?] {
        var next = 1
        return isPinned.map { pinned in
            guard !pinned, next <= 9 else { return nil }
            defer { next += 1 }
            return next
        }
    }
}
