import UsageState

/// The interactive state of the live screen. Pure: a key in, an outcome out.
struct LiveState: Sendable, Equatable {
    enum Outcome: Sendable {
        case nothing, redraw, quit
    }

    var options: ViewOptions
    private(set) var isHelpShown = false
    /// The first content line in the window.
    private(set) var firstLine = 0
    /// The size of the drawn content, and of the window on it.
    private var contentLines = 0
    private var rows = 0

    init(options: ViewOptions) { self.options = options }

    mutating func handle(_ key: Key) -> Outcome {
        let before = self
        let page = max(1, rows - 1)
        switch key {
        case .interrupt, .character("q"), .character("Q"): return .quit
        case .escape, .enter: isHelpShown = false
        case .character("?"), .character("h"): isHelpShown.toggle()
        case .character("u"): options.measure = options.measure == .used ? .left : .used
        case .character("a"): options.isAbsolute.toggle()
        case .character("s"):
            options.sortOrder = options.sortOrder == .name ? .tightest : .name
        case .mouse(let event):
            switch event.action {
            case .wheelUp: firstLine -= 3
            case .wheelDown: firstLine += 3
            case .press: break
            }
        case .up, .character("k"): firstLine -= 1
        case .down, .character("j"): firstLine += 1
        case .pageUp: firstLine -= page
        case .pageDown, .character(" "): firstLine += page
        case .home: firstLine = 0
        case .end: firstLine = contentLines
        default: break
        }
        clampScroll()
        return self == before ? .nothing : .redraw
    }

    /// Adapts to a resize or a change of content.
    mutating func fit(contentLines: Int, rows: Int) {
        self.contentLines = contentLines
        self.rows = rows
        clampScroll()
    }

    /// Keeps the window inside the content.
    private mutating func clampScroll() {
        firstLine = min(max(0, firstLine), max(0, contentLines - rows))
    }
}
