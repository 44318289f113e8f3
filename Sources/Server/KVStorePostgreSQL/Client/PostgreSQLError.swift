import Essentials
import TerminalText

/// Why the database did not do what was asked; safe to log: the message never contains a password or a parameter.
package struct PostgreSQLError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The connection is closed; what was running may have been committed or not.
        case disconnected
        /// The deadline passed and the connection is closed; what was running may have been committed or not.
        case timeout
        /// No connection was made; nothing was executed.
        case cannotConnect
        /// No connection was made: the server has no TLS or is not the expected one, or a certificate or key cannot be
        /// used.
        case cannotEncrypt
        /// libpq cannot read the address.
        case invalidAddress
        case authentication
        case readOnly
        /// A serialization failure, deadlock or lock that was not available: to be repeated by the caller.
        case conflict
        /// By `statement_timeout`, an administrator or a cancel request.
        case canceled
        case diskFull
        /// Memory, connections or another configured limit.
        case outOfResources
        /// A table, function, column or schema does not exist.
        case undefined
        /// A pooler changed the server's connection; see `usesPreparedStatements`.
        case missingPreparedStatement
        case other
    }

    package var kind: Kind
    /// The five characters of the server's code, if the server reported the error.
    package var sqlState: String?
    /// One printable line.
    package var message: String

    package var description: String { message }

    /// - Parameter text: of several lines or any characters.
    package init(_ kind: Kind, sqlState: String? = nil, _ text: String) {
        self.kind = kind
        self.sqlState = sqlState
        let words = text.split { $0.isWhitespace }.joined(separator: " ")
        message = VisibleText.escape(String(words.prefix(Self.messageLimit)))
    }

    /// In characters.
    static let messageLimit = 500

    static func kind(ofState state: String) -> Kind {
        switch state {
        // The server ends the session after these.
        case "25P03": .disconnected
        case _ where state.hasPrefix("57P"): .disconnected
        case "57014": .canceled
        case "25006": .readOnly
        case "40001", "40P01", "55P03": .conflict
        case "53100": .diskFull
        case "42P01", "42883", "42703", "42704", "3F000", "3D000": .undefined
        case "26000", "42P05": .missingPreparedStatement
        case _ where state.hasPrefix("08"): .disconnected
        case _ where state.hasPrefix("28"): .authentication
        case _ where state.hasPrefix("53"): .outOfResources
        default: .other
        }
    }
}
