package import Essentials
import TerminalText

/// What a person says of a project of past usage, on all machines; see `ProjectRules`.
package struct ProjectRule: Sendable, Hashable {
    /// What to call it; nil for the name that machines know.
    package var name: String?
    /// The project as which it counts.
    package var into: String?
    /// Whether reports put it together with the others that have no name to be seen.
    package var isHidden = false

    package init() {}

    private static let byteLimit = 1_024
    private static let nameLimit = 120

    /// Whether a name is within its bounds.
    package static func isName(_ text: String) -> Bool { VisibleText.isLine(text, byteLimit: nameLimit) }

    /// Nil for what is none.
    fileprivate init?(stored data: Data) {
        guard let rule = StoredJSON.decode(Self.self, from: data, byteLimit: Self.byteLimit) else { return nil }
        self = rule
        name = name.flatMap { Self.isName($0) ? $0 : nil }
    }

    /// What is to be stored; nil when nothing is said.
    package var data: Data? { self == ProjectRule() ? nil : StoredJSON.data(of: self) }
}

extension ProjectRule: Codable {
    private enum CodingKeys: String, CodingKey { case v, name, into, hidden }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        name = try fields.decodeIfPresent(String.self, forKey: .name)
        into = try fields.decodeIfPresent(String.self, forKey: .into)
        isHidden = try fields.decodeIfPresent(Bool.self, forKey: .hidden) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .v)
        try fields.encodeIfPresent(name, forKey: .name)
        try fields.encodeIfPresent(into, forKey: .into)
        if isHidden { try fields.encode(true, forKey: .hidden) }
    }
}

/// The rules of an account, each under a key of its own in the store, so that two machines that state some at the same
/// time both succeed:
///
///     com.codexbar.usage.project.1f3a9c20b5de    {"v":1,"name":"Backend"}
///
/// They change what reports, budgets and the gate make of past usage, and nothing of what is recorded.
package struct ProjectRules: Sendable, Hashable {
    /// By the 12 digits that stand for a project in the ledger.
    package private(set) var rules: [String: ProjectRule] = [:]
    /// The targets of those that count as another one.
    package private(set) var targets: [String: String] = [:]

    package static let countLimit = 256
    private static let keyPrefix = AlertNotice.sharedPrefix + "project."

    package init() {}

    /// - Parameter values: those of the store; what is no rule is ignored.
    package init(stored values: [String: Data]) {
        for (key, data) in values.filter({ Self.isKey($0.key) }).sorted(by: { $0.key < $1.key }) {
            guard rules.count < Self.countLimit, let rule = ProjectRule(stored: data) else { continue }
            rules[String(key.dropFirst(Self.keyPrefix.count))] = rule
        }
        for project in rules.keys {
            let target = Self.target(of: project, by: rules)
            if target != project { targets[project] = target }
        }
    }

    package static func isKey(_ key: String) -> Bool { key.hasPrefix(keyPrefix) }
    package static func storeKey(of project: String) -> String { keyPrefix + project }

    package subscript(project: String) -> ProjectRule { rules[project] ?? ProjectRule() }

    /// The project as which one counts.
    package func target(of project: String) -> String { targets[project] ?? project }

    /// A circle, which two machines can make, leads to the same one on every machine.
    private static func target(of project: String, by rules: [String: ProjectRule]) -> String {
        var path = [project]
        while let last = path.last, let next = rules[last]?.into {
            if let start = path.firstIndex(of: next) { return path[start...].min() ?? next }
            path.append(next)
        }
        return path.last ?? project
    }
}
