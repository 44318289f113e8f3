// What an 'airmail:' link becomes, and the texts of the desktop that decide who opens it. Pure.
// Not here: where settings are kept, programs that are started, and anything that is printed (link).

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
