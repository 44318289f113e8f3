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
