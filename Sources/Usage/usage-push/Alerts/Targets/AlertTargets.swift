import Commands
import Essentials
import OutgoingHTTP
import UsagePusher
import UsageState

/// The targets that are configured. Safe from any thread.
struct AlertTargets: Sendable {
    /// What became of an alert at one target.
    struct Outcome: Sendable, Equatable, Codable {
        var target: AlertTargetKind
        /// Why it was not delivered, without secrets; nil if it was.
        var failure: String?
    }

    private let settings: AlertSettings
    private let secrets: AlertSecrets
    private let desktop: DesktopTarget
    private let command: CommandTarget
    private let http: HTTPDelivery

    /// - Parameter variables: of the environment.
    init(_ settings: AlertSettings, _ secrets: AlertSecrets, variables: [String: String], http: HTTPDelivery? = nil) {
        self.settings = settings
        self.secrets = secrets
        let variables = ProgramRun.variables(from: variables)
        desktop = DesktopTarget(variables: variables)
        command = CommandTarget(arguments: settings.command ?? [], variables: variables)
        self.http =
            http
            ?? HTTPDelivery(privateHosts: settings.privateHosts, permission: "usage-push alerts set --private-host ")
    }

    /// Delivers to all targets at the same time, each within about a minute.
    func deliver(_ alert: Alert, _ text: AlertText) async -> [Outcome] {
        await withTaskGroup(of: Outcome.self) { group in
            for kind in settings.targets {
                group.addTask { await outcome(of: kind, alert, text) }
            }
            var outcomes: [AlertTargetKind: Outcome] = [:]
            for await outcome in group { outcomes[outcome.target] = outcome }
            return settings.targets.compactMap { outcomes[$0] }
        }
    }

    private func outcome(of kind: AlertTargetKind, _ alert: Alert, _ text: AlertText) async -> Outcome {
        do throws(DeliveryError) {
            switch kind {
            case .desktop: try await desktop.deliver(alert, text)
            case .command: try await command.deliver(alert, text)
            case .ntfy: try await http.deliver(ntfyPost(alert, text))
            case .webhook: try await http.deliver(webhookPost(alert, text))
            }
            return Outcome(target: kind)
        } catch {
            return Outcome(target: kind, failure: secrets.masked(error.description))
        }
    }

    private func webhookPost(_ alert: Alert, _ text: AlertText) throws(DeliveryError) -> HTTPPost {
        guard let url = secrets[.webhookURL] else { throw .missing(.webhookURL) }
        guard let address = HTTPAddress(url) else { throw .invalid(.webhookURL) }
        guard let headers = AlertSecrets.headers(in: secrets[.webhookHeaders] ?? "") else {
            throw .invalid(.webhookHeaders)
        }
        return HTTPPost(address: address, headers: headers, body: AlertDocument(alert, text: text).data)
    }

    private func ntfyPost(_ alert: Alert, _ text: AlertText) throws(DeliveryError) -> HTTPPost {
        guard let topic = secrets[.ntfyTopic] else { throw .missing(.ntfyTopic) }
        guard let address = HTTPAddress(settings.ntfy?.server ?? "") else {
            throw DeliveryError("the server is not an address that begins with https:// or http://")
        }
        let message = NtfyMessage(alert, text, topic: topic, click: settings.ntfy?.click)
        let headers = secrets[.ntfyToken].map { [("Authorization", "Bearer " + $0)] } ?? []
        return HTTPPost(address: address, headers: headers.map { (name: $0.0, value: $0.1) }, body: message.data)
    }
}

extension DeliveryError {
    fileprivate static func missing(_ name: AlertSecrets.Name) -> DeliveryError {
        DeliveryError("\(name.rawValue) is not set; run usage-push alerts secret \(name.rawValue)")
    }

    fileprivate static func invalid(_ name: AlertSecrets.Name) -> DeliveryError {
        DeliveryError("\(name.rawValue) is invalid; run usage-push alerts secret \(name.rawValue)")
    }
}

/// What ntfy's server publishes, in the JSON form of its interface, which carries any text.
struct NtfyMessage: Encodable {
    private var topic: String
    private var title: String
    private var message: String
    /// 1 to 5; 3 is usual.
    private var priority: Int
    /// Names of emoji are shown as such.
    private var tags: [String]
    private var click: String?

    init(_ alert: Alert, _ text: AlertText, topic: String, click: String?) {
        self.topic = topic
        title = text.title
        message = text.message
        priority =
            switch alert.urgency {
            case .low: 2
            case .normal: 3
            case .high: 4
            }
        let sign =
            switch alert.kind {
            case .threshold, .runsOut: "warning"
            case .reached, .removed: "no_entry"
            case .reset: "white_check_mark"
            case .silent: "mute"
            case .paused: "double_vertical_bar"
            case .summary: "sunrise"
            case .test: "bell"
            }
        // A tag with a comma would be two.
        let provider = alert.subject.map { String($0.providerID.filter { $0 != "," }.prefix(40)) }
        tags = [sign] + [provider].compactMap { $0 }
        self.click = click
    }

    var data: Data { JSONEncoder().data(of: self) }
}

/// Runs a program with the alert as JSON on its standard input.
struct CommandTarget: Sendable {
    /// The program first.
    let arguments: [String]
    let variables: [String: String]

    func deliver(_ alert: Alert, _ text: AlertText) async throws(DeliveryError) {
        guard let program = arguments.first else { throw DeliveryError("there is no program") }
        do throws(TrustedProgram.Refusal) {
            let path = program.contains("/") ? program : SearchPath(variables).path(of: program)
            // One that is not found is reported when it is run.
            if let path { try TrustedProgram.check(path) }
        } catch {
            throw DeliveryError("\(program) is not run: \(error.reason)")
        }
        let run = await ProgramRun.run(
            program, Array(arguments.dropFirst()),
            input: AlertDocument(alert, text: text).data + Data("\n".utf8), variables: variables)
        if let failure = run.failure(of: program) { throw DeliveryError(failure) }
    }
}
