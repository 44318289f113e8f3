import Essentials

/// What an owner of the clipboard offers.
struct Offer: Sendable {
    /// As `wl-paste --watch` states it in `CLIPBOARD_STATE`; `unknown` where nothing states it.
    enum State: String, Sendable { case data, sensitive, `nil`, clear, unknown }

    var state = State.unknown
    /// All names of types, as they were offered.
    var typeNames: [String]
    /// What was read, of all parts of the offer, by the name that was asked for.
    var data: [(name: String, data: Data)]
    /// The program in front, where that is known.
    var application: String?
    /// Why types that were asked for are not in the data.
    var unread: Set<Unread> = []

    enum Unread: Error, Sendable { case tooLarge, notAnswered }
}

extension Offer {
    /// Plain text that is Latin-1.
    static let latinName = "STRING"

    /// What was read of a copy. `STRING` becomes plain text.
    init(
        typeNames: [String], read: [(name: String, data: Data)], application: String? = nil, unread: Set<Unread>
    ) {
        self.init(typeNames: typeNames, data: [], application: application, unread: unread)
        data = read.map { part in
            guard part.name == Self.latinName else { return part }
            self.typeNames.append(ContentType.text.rawValue)
            let text = String(String.UnicodeScalarView(part.data.map { Unicode.Scalar($0) }))
            return (ContentType.text.rawValue, Data(text.utf8))
        }
    }

    /// An offer of types that are all read.
    init(_ data: [(name: String, data: Data)], application: String? = nil) {
        self.init(typeNames: data.map(\.name), data: data, application: application)
    }
}

/// Why a copy is not kept.
enum SkipReason: Hashable, Sendable, CustomStringConvertible {
    case paused
    case cleared
    case markedSensitive
    /// A type by which programs ask that a copy is not kept.
    case ignoredType(String)
    case ignoredApplication(String)
    /// Data of a type that is not in the list of types: the clipboard has changed in between.
    case typesDisagree
    case noEnabledType
    /// Nothing is offered, or nothing is in what is.
    case empty
    case tooLarge
    /// The owner of the clipboard did not send it in time, or at all.
    case notAnswered
    case onlyWhitespace
    case token(String)
    /// The rule by its index in the setting, and whether it could not be evaluated in time.
    case rule(Int, timedOut: Bool)
    /// There are rules, and no library for regular expressions.
    case rulesNotChecked

    /// Whether it counts as a skipped secret.
    var isSecret: Bool {
        switch self {
        case .markedSensitive, .ignoredType, .typesDisagree, .token, .rule, .rulesNotChecked: true
        case .paused, .cleared, .ignoredApplication, .noEnabledType, .empty, .tooLarge, .notAnswered, .onlyWhitespace:
            false
        }
    }

    /// Names no contents.
    var description: String {
        switch self {
        case .paused: "collecting is paused"
        case .cleared: "the clipboard was cleared"
        case .markedSensitive: "marked as sensitive"
        case .ignoredType(let name): "has the ignored type \(name)"
        case .ignoredApplication(let name): "copied in the ignored application \(name)"
        case .typesDisagree: "the clipboard changed while it was read"
        case .noEnabledType: "has no type that is kept"
        case .empty: "it is empty"
        case .tooLarge: "too large to be read"
        case .notAnswered: "the program that has copied it did not send it"
        case .onlyWhitespace: "only white space"
        case .token(let name): "looks like \(name)"
        case .rule(let index, let timedOut):
            timedOut
                ? "ignore rule \(index + 1) took too long, which counts as a match"
                : "matches ignore rule \(index + 1)"
        case .rulesNotChecked:
            "ignore rules cannot be checked, which counts as a match; install \(ExpressionLibrary.packageName)"
        }
    }
}
