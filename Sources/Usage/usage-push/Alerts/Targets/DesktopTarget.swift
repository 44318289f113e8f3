import Commands
import Essentials
import OutgoingHTTP
import Synchronization
import UsagePusher
import UsageState
import TerminalText

/// Shows a notification on the user's desktop by `notify-send`. A later alert about the same window replaces the former
/// one.
final class DesktopTarget: Sendable {
    private let variables: [String: String]
    /// What `notify-send` printed, by subject.
    private let identifiers = Mutex<[String: String]>([:])

    private static let program = "notify-send"
    private static let subjectLimit = 256

    init(variables: [String: String]) { self.variables = variables }

    func deliver(_ alert: Alert, _ text: AlertText) async throws(DeliveryError) {
        let subject = [alert.subject?.providerID, alert.subject?.account, alert.subject?.window]
            .map { $0 ?? "" }.joined(separator: "\n")
        let former = alert.subject == nil ? nil : identifiers.withLock { $0[subject] }
        let usual = Self.arguments(alert, text)
        let replacing = ["--print-id"] + (former.map { ["--replace-id=" + $0] } ?? [])
        var run = await ProgramRun.run(Self.program, replacing + usual, variables: variables)
        // Before version 0.8 it knows neither option.
        if case .exited(let status) = run.end, ![0, 127].contains(status) {
            run = await ProgramRun.run(Self.program, usual, variables: variables)
        }
        if let failure = run.failure(of: Self.program) {
            throw DeliveryError(
                run.end == .exited(127)
                    ? failure + "; install libnotify-bin, or choose another target" : failure)
        }
        let printed = String(decoding: run.output.prefix(16), as: UTF8.self).trimmed()
        guard !printed.isEmpty, printed.allSatisfy(\.isASCII), UInt32(printed) != nil else { return }
        identifiers.withLock {
            if $0.count >= Self.subjectLimit { $0 = [:] }
            $0[subject] = printed
        }
    }

    static func arguments(_ alert: Alert, _ text: AlertText) -> [String] {
        let (urgency, icon) =
            switch alert.urgency {
            case .low: ("low", "dialog-information")
            case .normal: ("normal", "dialog-warning")
            case .high: ("critical", "dialog-error")
            }
        return [
            "--app-name=usage-push", "--urgency=" + urgency, "--icon=" + icon, "--", text.title,
            // Bodies may contain markup.
            XMLText.escape(text.message),
        ]
    }
}
