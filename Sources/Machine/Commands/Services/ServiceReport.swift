import TerminalText

/// The state of a service as text or JSON. Pure.
package struct ServiceReport: Sendable, Encodable {
    package var unitFile: String
    var shownFile: String
    package var isInstalled: Bool
    /// Whether the unit is a package's, which is there for every user.
    var isPackaged: Bool
    /// The command that installs the service.
    var installation: String
    package var state: ServiceState

    /// - Parameter details: rows of the program itself.
    package func lines(details: [(name: String, text: String)] = []) -> [String] {
        var table = TextTable(columns: [.init(""), .init("")])
        table.append(["unit", isInstalled ? shownFile : "none; to install it: " + installation])
        table.append(["state", state.description])
        for detail in details { table.append([detail.name, detail.text]) }
        for message in state.messages { table.append(["log", message]) }
        return table.lines()
    }

    /// Fields are added, never renamed or removed.
    private enum CodingKeys: String, CodingKey {
        case schemaVersion, unitFile, isInstalled, isPackaged, isEnabled, isActive, isManaged, endsWithLogin, state
        case messages
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .schemaVersion)
        try container.encode(unitFile, forKey: .unitFile)
        try container.encode(isInstalled, forKey: .isInstalled)
        try container.encode(isPackaged, forKey: .isPackaged)
        try container.encode(state.isEnabled, forKey: .isEnabled)
        try container.encode(state.isActive, forKey: .isActive)
        try container.encode(state.isManaged, forKey: .isManaged)
        try container.encodeIfPresent(state.endsWithLogin, forKey: .endsWithLogin)
        try container.encode(state.description, forKey: .state)
        try container.encode(state.messages, forKey: .messages)
    }
}

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
