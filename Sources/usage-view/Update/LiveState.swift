/// What the person has done to the live screen. Pure: a key in, what has to happen out.
struct LiveState: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case nothing, redraw, quit
    }

    var options: ViewOptions
    private(set) var isHelpShown = false
    /// The first content line on the screen.
    private(set) var firstLine = 0

    init(options: ViewOptions) { self.options = options }

    /// `contentLines` and `rows` are those of the last drawn screen.
    mutating func handle(_ key: Key, contentLines: Int, rows: Int) -> Outcome {
        let before = self
        switch key {
        case .interrupt, .character("q"), .character("Q"):
            return .quit
        case .escape, .enter:
            isHelpShown = false
        case .character("?"), .character("h"):
            isHelpShown.toggle()
        case .character("u"):
            options.measure = options.measure.other
        case .character("a"):
            options.isAbsolute.toggle()
        case .character("s"):
            options.sortOrder = options.sortOrder.next
        case .up, .character("k"):
            firstLine -= 1
        case .down, .character("j"):
            firstLine += 1
        case .pageUp:
            firstLine -= max(1, rows - 1)
        case .pageDown, .character(" "):
            firstLine += max(1, rows - 1)
        case .home:
            firstLine = 0
        case .end:
            firstLine = contentLines
        case .character, .unknown:
            break
        }
        clampScroll(contentLines: contentLines, rows: rows)
        return self == before ? .nothing : .redraw
    }

    /// Keeps the last line on the screen after a resize or a change of content.
    mutating func clampScroll(contentLines: Int, rows: Int) {
        firstLine = min(max(0, firstLine), max(0, contentLines - rows))
    }
}
