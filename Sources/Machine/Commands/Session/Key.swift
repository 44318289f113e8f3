// A terminal in raw mode: taking it over and giving it back, keys, signals of job control. Not here:
// what is drawn (TerminalText) and what a key means (the programs).

/// What a user does at a terminal, and what the terminal reports.
package enum Key: Sendable, Equatable {
    /// A visible character or a space.
    case character(Character)
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, tab, backTab, backspace, delete
    /// F1 and so on.
    case function(Int)
    /// A letter together with Control, in lower case, unless one of the following.
    case control(Character)
    /// Together with Alt; only where chords are recognized.
    case alt(Character)
    /// Enter together with Control or Alt; only where chords are recognized.
    case chordEnter
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
package struct MouseEvent: Sendable, Equatable {
    package enum Action: Sendable { case press, wheelUp, wheelDown }

    package var action: Action
    /// From 0, at the top left.
    package var column: Int
    package var row: Int

    package init(action: Action, column: Int, row: Int) {
        (self.action, self.column, self.row) = (action, column, row)
    }
}
