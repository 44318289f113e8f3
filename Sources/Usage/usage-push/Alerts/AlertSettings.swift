// Alerts beyond the decision that one is due: settings, secrets, delivery to targets, following a store. Not here:
// rules, words and which machine delivers (UsageState), commands (usage-push).

import Essentials
import LocalFiles
import UsagePusher
import UsageState

/// The member "alerts" of the pusher's configuration:
///
///     {"desktop": true, "command": ["/home/user/bin/warn", "limits"], "ntfy": {"server": "https://ntfy.sh"},
///      "webhook": true, "privateHosts": ["10.0.0.5"], "quiet": "22:00-07:30", "independent": false,
///      "rules": {"thresholds": [50, 75, 90]}}
///
/// What is missing or cannot be used has its default.
struct AlertSettings: Sendable, Equatable {
    struct Ntfy: Sendable, Equatable, Codable {
        /// Without the topic, which is a secret.
        var server: String
        /// Opened when the notification is tapped.
        var click: String?
    }

    var desktop = false
    /// Program and arguments.
    var command: [String]?
    var ntfy: Ntfy?
    var webhook = false
    /// Hosts that may be on this machine or in a private network, in lower case.
    var privateHosts: [String] = []
    var quiet: QuietHours?
    /// Whether this machine delivers whatever the others do.
    var independent = false
    var rules = AlertRules()

    init() {}

    /// Whether there is anywhere to deliver to.
    var isConfigured: Bool { !targets.isEmpty }

    var targets: [AlertTargetKind] {
        AlertTargetKind.allCases.filter { kind in
            switch kind {
            case .desktop: desktop
            case .command: command?.isEmpty == false
            case .ntfy: ntfy != nil
            case .webhook: webhook
            }
        }
    }

    var watch: AlertWatch.Settings { AlertWatch.Settings(rules: rules, quiet: quiet, isIndependent: independent) }
}

/// In the order in which they are used and shown.
enum AlertTargetKind: String, Sendable, CaseIterable, Codable {
    case desktop, command, ntfy, webhook
}

extension AlertSettings: Codable {
    private enum CodingKeys: CodingKey {
        case desktop, command, ntfy, webhook, privateHosts, quiet, independent, rules
    }

    init(from decoder: any Decoder) throws {
        self.init()
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        desktop = fields.setting(.desktop) ?? false
        command = fields.setting(.command)
        ntfy = fields.setting(.ntfy)
        webhook = fields.setting(.webhook) ?? false
        privateHosts = fields.setting(.privateHosts) ?? []
        quiet = fields.setting(.quiet)
        independent = fields.setting(.independent) ?? false
        rules = fields.setting(.rules) ?? rules
    }
}

extension PusherConfigurationFile {
    private static var alertsMember: String { "alerts" }

    func readAlerts() throws(FileError) -> AlertSettings {
        guard let data = try section(Self.alertsMember) else { return AlertSettings() }
        return (try? JSONDecoder().decode(AlertSettings.self, from: data)) ?? AlertSettings()  // As described.
    }

    func writeAlerts(_ settings: AlertSettings) throws(FileError) {
        try setSection(Self.alertsMember, to: settings == AlertSettings() ? nil : settings)
    }
}
