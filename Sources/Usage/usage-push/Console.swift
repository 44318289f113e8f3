import Essentials
import Commands
import KVStoreEssentials

extension Console {
    enum Volume: Int, Sendable, Comparable {
        case quiet
        case usual
        case verbose

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}

/// What a command has found, as text and as JSON.
protocol Listing {
    associatedtype JSON: Encodable
    var document: JSON { get }
    /// - Parameter width: of the terminal; nil for another program.
    func lines(width: Int?) -> [String]
}

extension Console {
    static func print(_ listing: some Listing, isJSON: Bool) throws {
        if isJSON { return try printJSON(listing.document, isIndented: true) }
        for line in listing.lines(width: Console.outputColumns) { try print(line) }
    }
}

extension CommandFailure {
    /// A push that could not be stored.
    static func push(_ error: StoreError) -> CommandFailure {
        switch error.code {
        case .diskFull, .storage, .quotaExceeded, .tooManyKeys:
            CommandFailure(.ioError, error.description)
        default: CommandFailure(.unavailable, error.description)
        }
    }
}
