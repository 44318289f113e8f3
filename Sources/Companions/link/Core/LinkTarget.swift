/// What is opened instead of a link.
enum LinkTarget: Equatable, Sendable {
    case url(String)
    /// A program and its arguments.
    case command([String])

    /// - Parameter command: that of this machine, for `custom`.
    /// - Throws: what makes the link invalid, or `openFailed(.noCommand)`.
    init(_ link: AirmailLink, as form: LinkForm, command: CommandTemplate? = nil) throws(LinkError) {
        switch form {
        case .hook: self = .url("hook://email/" + link.encodedID)
        case .message: self = .url("message://%3C\(try link.bareID())%3E")
        case .mid:
            // Thunderbird compares what follows the colon with its messages, and decodes nothing.
            self = .url("mid:" + URLCharacters.encodeAll(try link.decodedID()))
        case .custom:
            guard let command else { throw .openFailed(.noCommand) }
            self = .command(try command.arguments(for: link))
        }
    }
}

/// What the user should know of a link that is opened nevertheless.
enum LinkWarning: Equatable, Sendable {
    /// An Exchange item id, for example.
    case notAMessageID

    /// Nil if there is nothing to say.
    init?(_ link: AirmailLink, as form: LinkForm) {
        // Opening it has thrown that already.
        guard form == .mid, (try? link.decodedID())?.utf8.contains(UInt8(ascii: "@")) == false else { return nil }
        self = .notAMessageID
    }

    var message: String {
        "the id in the link has no '@', so it is no Message-ID (Exchange has ids of its own), and a mail "
            + "client may not find the message"
    }
}
