/// What a user does at a terminal, and what the terminal reports.
enum Key: Sendable, Equatable {
    /// A visible character or a space.
    case character(Character)
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, tab, backTab, backspace, delete
    /// F1 and so on.
    case function(Int)
    /// A letter together with Control, in lower case, unless one of the following.
    case control(Character)
    /// Control-C, Control-D or Control-\.
    case interrupt
    /// Control-Z.
    case suspend
    /// Control-L: draw everything.
    case redraw
    case mouse(MouseEvent)
    /// Pasted text on one line, without anything invisible; long text is cut.
    case paste(String)
    /// The terminal's answer to the question for a private mode.
    case mode(Int, isSupported: Bool)
    /// A complete sequence without a meaning here.
    case unknown
}

/// A click or a turn of the wheel.
struct MouseEvent: Sendable, Equatable {
    enum Action: Sendable { case press, wheelUp, wheelDown }

    var action: Action
    /// From 0, at the top left.
    var column: Int
    var row: Int
}
