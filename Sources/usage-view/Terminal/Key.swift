/// A key press as the viewer understands it.
enum Key: Sendable, Equatable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case enter, escape
    /// Control-C, Control-D or Control-\: leave.
    case interrupt
    /// A complete sequence that means nothing here.
    case unknown
}
