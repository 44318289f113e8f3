import Essentials

/// What contradicts that a reading is of the account that is logged in: its numbers are then nobody's, and never shown
/// as those of that account.
enum LoginConflict: Sendable, Equatable {
    /// The reading names another account.
    case account
    /// The reading names another plan, and the login is newer.
    case plan
    /// The login is newer than the reading.
    case login

    /// Completes "the last reading is …".
    var reason: String {
        switch self {
        case .account: "from before you switched accounts"
        case .plan: "from before you switched accounts or plans"
        case .login: "from before the last login, perhaps of another account"
        }
    }
}
