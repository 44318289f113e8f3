/// How starting the service ended.
enum ServiceStart {
    /// With what the user should know.
    case started(notes: [String])
    /// There is no service manager to start it, and why.
    case unavailable(String)
    case failed(String)
}

/// How the service is doing.
package struct ServiceState: Sendable, Equatable {
    package var isActive = false
    package var isEnabled = false
    /// Whether a service manager answers.
    package var isManaged = true
    /// Whether it ends with the last login of its user; nil if that is unknown.
    package var endsWithLogin: Bool?
    /// As the service manager describes it, or why it is unknown.
    package var description: String
    /// The newest lines that the service has logged.
    package var messages: [String] = []
}
