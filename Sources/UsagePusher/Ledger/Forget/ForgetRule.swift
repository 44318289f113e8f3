package import Essentials
import UsageState

/// What of past usage no machine publishes and no reader counts: a value of the store `usage-ledger`, under its `key`.
///
/// Machines have caches from which they would publish it again; therefore it is not enough to remove their pages. All
/// conditions hold of what a rule covers.
package struct ForgetRule: Sendable, Hashable, Codable {
    /// The 48 bits that stand for a project in keys of `LedgerProjects`, as 12 digits; nil for all usage.
    package var project: String?
    /// The id of the device that publishes it; nil for all devices.
    package var device: String?
    /// Inclusive, since 1970; nil for everything before `last`.
    package var first: Int?
    package var last: Int
    /// Seconds since 1970.
    package var stated: Int

    package init(project: String?, device: String?, first: Int?, last: Int, stated: Int) {
        self.project = project
        self.device = device
        self.first = first
        self.last = last
        self.stated = stated
    }

    private static let prefix = "forget."
    private static let byteLimit = 1_024
    /// Rules of an account.
    package static let countLimit = 64

    package static func isKey(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Equal for rules that cover the same.
    package var id: String {
        let text = [project ?? "", device ?? "", first.map(String.init) ?? "", String(last)].joined(separator: "/")
        return LedgerProjects.hex(SessionDay.hash(ContentHash.of("forget", text)))
    }

    package var key: String { Self.prefix + id }
    package var value: Data { StoredJSON.data(of: self) }

    /// Those of a store that can be read, in the order in which they were stated, at most `countLimit`.
    package static func rules(in values: [String: Data]) -> [ForgetRule] {
        let rules = values.compactMap { key, value -> ForgetRule? in
            // What another version has written may be of another form.
            guard isKey(key), let rule = StoredJSON.decode(Self.self, from: value, byteLimit: byteLimit),
                rule.key == key, rule.isValid
            else { return nil }
            return rule
        }
        return Array(rules.sorted { ($0.stated, $0.id) < ($1.stated, $1.id) }.prefix(countLimit))
    }

    private var isValid: Bool {
        let days = 0...1_000_000
        return days.contains(last) && days.contains(first ?? 0) && project?.utf8.count ?? 12 == 12
    }

    /// Whether days of a device and project are covered.
    func covers(_ days: ClosedRange<Int>, device: String, project: String?) -> Bool {
        days.upperBound <= last && days.lowerBound >= first ?? .min && isAbout(device: device, project: project)
    }

    /// Whether any day of a device and project can be covered.
    func isAbout(device: String, project: String?) -> Bool {
        guard device == self.device ?? device else { return false }
        return self.project == nil || self.project == project.map(LedgerProjects.hash(ofKey:))
    }
}
