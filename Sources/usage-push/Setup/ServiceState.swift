/// What starting the service came to.
enum ServiceStart {
    /// With what the user should know.
    case started(notes: [String])
    /// There is no service manager to start it, and why.
    case unavailable(String)
    case failed(String)
}

/// How the service is doing.
struct ServiceState {
    var isActive = false
    var isEnabled = false
    /// In the words of the service manager, or why it is unknown.
    var description: String
    /// The newest lines that the service has logged.
    var messages: [String] = []
}
