// What an 'airmail:' link becomes, and the texts of the desktop that decide who opens it. Pure.
// Not here: where settings are kept, programs that are started, and anything that is printed (link).

import Essentials

/// What is opened instead of a link.
enum LinkTarget: Equatable, Sendable {
    case url(String)
    /// A program and its arguments.
    case command([String])

    /// The URL, or the command.
    var words: [String] {
        switch self {
        case .url(let url): [url]
        case .command(let words): words
        }
    }

    /// - Parameter command: that of this machine, for `custom`.
    /// - Throws: what makes the link invalid, or `openFailed(.noCommand)`.
    init(_ link: AirmailLink, as form: LinkForm, command: CommandTemplate? = nil) throws(LinkError) {
        switch form {
        case .hook: self = .url("hook://email/" + link.encodedID)
        case .message: self = .url("message://%3C\(try link.bareID())%3E")
        case .mid:
            // Thunderbird compares what follows the colon with its messages, and decodes nothing.
            self = .url("mid:" + PercentEncoding.encode(try link.decodedID(), keeping: AirmailLink.isPathCharacter))
        case .custom:
            guard let command else { throw .openFailed(.noCommand) }
            self = .command(try command.arguments(for: link))
        }
    }
}

extension AirmailLink {
    /// What the user should know of a link that is opened nevertheless; nil if there is nothing to say.
    func warning(as form: LinkForm) -> String? {
        // Opening it has thrown that already.
        guard form == .mid, (try? decodedID())?.utf8.contains(UInt8(ascii: "@")) == false else { return nil }
        // An Exchange item id, for example.
        return "the id in the link has no '@', so it is no Message-ID (Exchange has ids of its own), and a mail "
            + "client may not find the message"
    }
}

/// What a link is opened as.
enum LinkForm: String, CaseIterable, Sendable, Codable {
    /// `hook://email/ID`, for Hookmark.
    case hook
    /// `message://%3CID%3E`, for Apple's Mail.
    case message
    /// `mid:ID` (RFC 2392), for Thunderbird and other mail clients.
    case mid
    /// A command that the user has set on this machine.
    case custom

    /// The key of the user's choice for all machines.
    static let key = "selectedURIScheme"

    /// - Parameter stored: the value of `key`. Anything that this version does not know counts as none.
    init(stored: String?) {
        self = stored.flatMap(Self.init(rawValue:)) ?? .hook
    }

    /// The scheme of its URLs; nil for a command.
    var scheme: String? { self == .custom ? nil : rawValue }
}
