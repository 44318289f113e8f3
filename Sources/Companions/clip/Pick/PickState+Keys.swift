import Commands

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
